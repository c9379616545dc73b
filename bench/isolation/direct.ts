/**
 * `node bench/isolation/direct.ts`: what a connection costs a program that connects directly, beside the same program without a
 * sandbox, in turns. The server is on this machine, so the way is measured and not the network. Each connection is decided and counted
 * as in a session; the decision itself is a plain yes.
 */
import { execFile, spawn } from 'node:child_process';
import { parseArgs, promisify } from 'node:util';
import { openRig, PROGRAMS } from '@cordon/testkit/isolation/rig.ts';
import { summary } from '../sample.ts';
import { confined } from './confined-program.ts';

const PROGRAM = 'connection-times.mjs';
const HOST = '127.0.0.1';

/** Milliseconds. */
interface Times {
  readonly connections: readonly number[];
  readonly roundTrips: readonly number[];
  readonly transfer: readonly number[];
}

async function bare(args: readonly string[]): Promise<Times> {
  const { stdout } = await promisify(execFile)(process.execPath, [`${PROGRAMS}/${PROGRAM}`, ...args]);
  return JSON.parse(stdout);
}

const { values } = parseArgs({
  options: { count: { type: 'string', default: '200' }, rounds: { type: 'string', default: '3' } },
});
const server = spawn(process.execPath, [`${PROGRAMS}/${PROGRAM}`, 'serve'], {
  stdio: ['ignore', 'pipe', 'inherit'],
});
const port = await new Promise<string>((resolve) =>
  server.stdout.once('data', (data) => resolve(String(data).trim())),
);
const rig = await openRig();
try {
  const args = [HOST, port, values.count] as const;
  const rounds: { readonly without: Times; readonly within: Times }[] = [];
  for (let round = 0; round < Number(values.rounds); round++)
    rounds.push({
      without: await bare(args),
      within: await confined<Times>(rig, PROGRAM, args, `${HOST}:${port}`),
    });
  for (const [name, key] of [
    ['connection with 100 bytes of answer', 'connections'],
    ['100 bytes of answer on one connection', 'roundTrips'],
    ['16 MB of answer on one connection', 'transfer'],
  ] as const) {
    const [without, within] = [
      summary(rounds.flatMap((round) => round.without[key])),
      summary(rounds.flatMap((round) => round.within[key])),
    ];
    const shown = [without, within].map(
      ({ median, quartiles }) =>
        `${median.toFixed(2)} (${quartiles.map((value) => value.toFixed(2)).join('–')})`,
    );
    const ratio = (within.median / without.median).toFixed(1);
    console.log(`${name.padEnd(38)} ${shown[0]} ms without, ${shown[1]} ms in the sandbox: ${ratio} times`);
  }
} finally {
  server.kill();
  rig.remove();
}
