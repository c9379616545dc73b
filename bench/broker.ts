/**
 * What it costs to call a provider through its confined process, and to dial through the dialling process: the same call, by turns, in
 * this process, through a provider process, and through one whose connections the dialling process makes, to a server on this machine;
 * the first call, which starts the processes; and a connection by itself.
 */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import { openBroker } from '@cordon/broker';
import { DEFAULT_RETRY_LIMITS, type Model, type ProviderConfig } from '@cordon/core';
import { type Dialler, HERE } from '@cordon/dialler';
import { callsHere, type ProviderRoute, providerAccess, sleep } from '@cordon/llm';
import { openSandbox } from '@cordon/sandbox';
import { openDialling } from '@cordon/testkit/dialling-process.ts';
import { CODE_ROOT } from './places.ts';
import { type Summary, summary } from './sample.ts';

const WARM_UP = 50;
/** More than so much at the median is too slow. */
const MOST_MORE_MS = 0.5;

const { values: options } = parseArgs({
  options: { rounds: { type: 'string', default: '1000' }, json: { type: 'boolean', default: false } },
});

// In a thread, so that the provider is somebody else for both.
const server = new Worker(new URL('./broker-server.ts', import.meta.url));
const port: number = await new Promise((resolve) => server.once('message', resolve));
const config: ProviderConfig = { kind: 'openai-compatible', baseUrl: `http://127.0.0.1:${port}/v1` };
const route: ProviderRoute = { name: 'local', modelId: 'm', config };

const folder = mkdtempSync(join(tmpdir(), 'cordon-bench-'));
const sandbox = openSandbox({ node: process.execPath, cacheFile: join(folder, 'sandbox.json') });
await sandbox.probe();
const dialling = openDialling();
const brokers = [HERE.dial, dialling.dialler.dial].map((dial) =>
  openBroker({ sandbox, dial, codeRoot: CODE_ROOT }),
);
const [inside, dialled] = brokers.map((broker) =>
  broker.provider('local', providerAccess(route, DEFAULT_RETRY_LIMITS)),
);
if (inside === undefined || dialled === undefined) throw new Error('there are two brokers');
const here = callsHere({
  fetch: (input, init) => fetch(input, init),
  random: Math.random,
  clock: Date.now,
  sleep,
})(route);

try {
  const first = { here: await timed(here), inside: await timed(inside), dialled: await timed(dialled) };
  const rounds = Number(options.rounds);
  const [inHub, inProcess, throughDialler] = await byTurns(rounds, [
    () => timed(here),
    () => timed(inside),
    () => timed(dialled),
  ]);
  const [direct, indirect] = await byTurns(rounds, [
    () => connection(HERE),
    () => connection(dialling.dialler),
  ]);
  const more = inProcess.median - inHub.median;
  if (options.json)
    console.log(JSON.stringify({ first, inHub, inProcess, throughDialler, direct, indirect, more }));
  else {
    console.log(line('call, in the process of the hub', inHub));
    console.log(line('call, through a provider process', inProcess));
    console.log(`more at the median: ${more.toFixed(2)} ms (at most ${MOST_MORE_MS} ms)`);
    console.log(line('the same, dialled by a process', throughDialler));
    console.log(`of that without: ${ratio(throughDialler, inProcess)}`);
    console.log(line('connection, from the hub', direct));
    console.log(line('connection, dialled by a process', indirect));
    console.log(`of that without: ${ratio(indirect, direct)}`);
    console.log(
      `first call: ${first.here.toFixed(0)} ms in the process, ${first.inside.toFixed(0)} ms with the start of one, ${first.dialled.toFixed(0)} ms with that of the dialling process, too`,
    );
  }
  process.exitCode = more <= MOST_MORE_MS ? 0 : 1;
} finally {
  await Promise.all(brokers.map((broker) => broker.close()));
  dialling.leave();
  await server.terminate();
  rmSync(folder, { recursive: true, force: true });
}

type Summaries<T> = { readonly [K in keyof T]: Summary };

/** What each way takes, one after the other in every round. */
async function byTurns<const T extends readonly (() => Promise<number>)[]>(
  rounds: number,
  ways: T,
): Promise<Summaries<T>> {
  const times: readonly number[][] = ways.map(() => []);
  for (let round = -WARM_UP; round < rounds; round++)
    for (const [at, way] of ways.entries()) {
      const time = await way();
      if (round >= 0) times[at]?.push(time);
    }
  // One for each way.
  return times.map(summary) as Summaries<T>;
}

/** A new connection, open and over. */
async function connection({ dial }: Dialler): Promise<number> {
  const began = performance.now();
  const opened = await dial('127.0.0.1', port);
  const took = performance.now() - began;
  if (!opened.ok) throw new Error(opened.fault.message);
  opened.value.destroy();
  return took;
}

function ratio(one: Summary, other: Summary): string {
  return `${(one.median / other.median).toFixed(2)} ×`;
}

async function timed(model: Model): Promise<number> {
  const request = {
    model: 'local/m',
    role: 'agent',
    messages: [{ role: 'user', text: '2 + 2?' }],
    tools: [],
  } as const;
  const began = performance.now();
  const answer = await model.complete(request, { signal: new AbortController().signal });
  const took = performance.now() - began;
  // A run that failed is no number.
  if (!answer.ok) throw new Error(answer.fault.message);
  return took;
}

function line(what: string, { median, quartiles, runs }: Summary): string {
  const [lower, upper] = quartiles.map((value) => value.toFixed(2));
  return `${what.padEnd(33)} ${median.toFixed(2)} ms (${lower} to ${upper}, ${runs} calls)`;
}
