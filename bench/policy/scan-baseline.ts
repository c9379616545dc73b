/**
 * What a scan cannot do without, alone, in its own process: `lines` finds the lines of the files, `parse` parses
 * each of them as JSON, too. Prints seconds and bytes as JSON.
 */
import { closeSync, openSync, readSync } from 'node:fs';

const CHUNK = 2 * 1024 * 1024;
const NEWLINE = 0x0a;

const [what, ...files] = process.argv.slice(2);
const buffer = Buffer.allocUnsafeSlow(64 * CHUNK);
const begun = performance.now();
let bytes = 0;
let lines = 0;
for (const file of files) {
  const descriptor = openSync(file, 'r');
  let filled = 0;
  for (;;) {
    const count = readSync(descriptor, buffer, filled, CHUNK, null);
    if (count === 0) break;
    bytes += count;
    filled += count;
    const view = buffer.subarray(0, filled);
    let start = 0;
    for (let end = view.indexOf(NEWLINE); end >= 0; end = view.indexOf(NEWLINE, start)) {
      if (what === 'parse') JSON.parse(view.toString('utf8', start, end));
      lines++;
      start = end + 1;
    }
    buffer.copyWithin(0, start, filled);
    filled -= start;
  }
  closeSync(descriptor);
}
process.stdout.write(`${JSON.stringify({ seconds: (performance.now() - begun) / 1000, bytes, lines })}\n`);
