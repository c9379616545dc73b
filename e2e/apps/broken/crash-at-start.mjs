console.error('reading the licence');
console.error('there is no licence file');
process.exit(3);
