const lines = 'tick tock '.repeat(100).concat('\n').repeat(64);
const write = () => {
  while (process.stdout.write(lines));
};
process.stdout.on('drain', write);
write();
