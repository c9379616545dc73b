// Reads nothing, says nothing, and does not mind that its input ends.
process.on('SIGTERM', () => {});
setInterval(() => {}, 1000);
