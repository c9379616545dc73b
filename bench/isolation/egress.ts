/**
 * `node bench/isolation/egress.ts`: what a fetch costs an app that goes through the hub's proxy, beside the same program
 * without a sandbox and without a proxy. The server is on this machine, so what is measured is the way and not the
 * network. Each request is decided, counted and told as in a session; the decision itself is a plain yes.
 *
 * Exit codes: 0 the aim is met, 1 it is missed.
 */

import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import { parseArgs, promisify } from 'node:util';
import { openRig, PROGRAMS } from '@cordon/testkit/isolation/rig.ts';
import { summary } from '../sample.ts';
import { confined } from './confined-program.ts';

/** Milliseconds, p50, of a request on a connection that is kept. */
const AIM_MS = 3;
const PROGRAM = 'fetch-times.mjs';

interface Times {
  readonly kept: readonly number[];
  readonly fresh: readonly number[];
}

async function bare(address: string, count: number): Promise<Times> {
  const args = [`${PROGRAMS}/${PROGRAM}`, address, String(count)];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return JSON.parse(stdout);
}

const { values } = parseArgs({ options: { requests: { type: 'string', default: '300' } } });
const count = Number(values.requests);
const server = createServer((_, response) => response.end('x'.repeat(200)));
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
const bound = server.address();
const address = `http://127.0.0.1:${typeof bound === 'object' ? bound?.port : 0}/`;
const rig = await openRig();
try {
  const [plain, proxied] = [
    await bare(address, count),
    await confined<Times>(rig, PROGRAM, [address, String(count)], new URL(address).host),
  ];
  const rows = { 'bare, connection kept': plain.kept, 'bare, each anew': plain.fresh };
  const through = {
    'through the proxy, connection kept': proxied.kept,
    'through the proxy, each anew': proxied.fresh,
  };
  for (const [name, times] of Object.entries({ ...rows, ...through })) {
    const { median, quartiles } = summary(times);
    const p99 = [...times].sort((a, b) => a - b)[Math.floor(times.length * 0.99)] ?? 0;
    const shown = [median, ...quartiles, p99].map((value) => value.toFixed(2).padStart(7));
    console.log(`${name.padEnd(36)} p50 ${shown[0]}  quartiles ${shown[1]} ${shown[2]}  p99 ${shown[3]} ms`);
  }
  process.exitCode = summary(proxied.kept).median < AIM_MS ? 0 : 1;
} finally {
  rig.remove();
  server.close();
  server.closeAllConnections();
}
