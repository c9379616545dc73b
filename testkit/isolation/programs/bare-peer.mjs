/** A peer on a bare pipe: asks, waits for the answer, asks again. Parses and serialises, and checks nothing. */
const [times, bytes] = process.argv.slice(2).map(Number);
const text = 'x'.repeat(bytes);
let left = times;
let rest = '';

const ask = () =>
  process.stdout.write(`${JSON.stringify({ type: 'tool', id: left, name: 'echo', arguments: { text } })}\n`);
process.stdin.on('data', (chunk) => {
  const lines = (rest + chunk).split('\n');
  rest = lines.pop();
  for (const line of lines) if (JSON.parse(line).text.length !== bytes) process.exit(1);
  if (lines.length === 0) return;
  if (--left > 0) ask();
  else process.stdout.write('{"type":"done"}\n', () => process.exit(0));
});
ask();
