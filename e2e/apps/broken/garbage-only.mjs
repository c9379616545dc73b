console.log('Welcome to Notes 3.1! Type help.');
setInterval(() => {}, 1000);
