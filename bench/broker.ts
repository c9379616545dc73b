/**
 * What it costs to call a provider through its confined process: the same call, by turns, in this process and through a provider
 * process, to a server on this machine; and the first call, which starts the process.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import { openBroker } from '@cordon/broker';
import { DEFAULT_RETRY_LIMITS, type Model, type ProviderConfig } from '@cordon/core';
import { HERE } from '@cordon/dialler';
import { callsHere, type ProviderRoute, providerAccess, sleep } from '@cordon/llm';
import { openSandbox } from '@cordon/sandbox';
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
const broker = openBroker({ sandbox, dial: HERE.dial, codeRoot: CODE_ROOT });
const inside = broker.provider('local', providerAccess(route, DEFAULT_RETRY_LIMITS));
const here = callsHere({
  fetch: (input, init) => fetch(input, init),
  random: Math.random,
  clock: Date.now,
  sleep,
})(route);

try {
  const first = { here: await timed(here), inside: await timed(inside) };
  const [inHub, inProcess] = await byTurns(Number(options.rounds));
  const more = inProcess.median - inHub.median;
  if (options.json) console.log(JSON.stringify({ first, inHub, inProcess, more }));
  else {
    console.log(line('in the process of the hub', inHub));
    console.log(line('through a provider process', inProcess));
    console.log(`more at the median: ${more.toFixed(2)} ms (at most ${MOST_MORE_MS} ms)`);
    console.log(
      `first call: ${first.here.toFixed(0)} ms in the process, ${first.inside.toFixed(0)} ms with the start of one`,
    );
  }
  process.exitCode = more <= MOST_MORE_MS ? 0 : 1;
} finally {
  await broker.close();
  await server.terminate();
  rmSync(folder, { recursive: true, force: true });
}

async function byTurns(rounds: number): Promise<readonly [Summary, Summary]> {
  const times: readonly [number[], number[]] = [[], []];
  for (let round = -WARM_UP; round < rounds; round++) {
    const one = await timed(here);
    const other = await timed(inside);
    if (round < 0) continue;
    times[0].push(one);
    times[1].push(other);
  }
  return [summary(times[0]), summary(times[1])];
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
  return `${what.padEnd(28)} ${median.toFixed(2)} ms (${lower} to ${upper}, ${runs} calls)`;
}
