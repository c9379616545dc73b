/**
 * Spokes started and ended again and again: an agent loop and an app, one of them with the network. Afterwards nothing
 * may be left of them: no process, no descriptor, no socket file, no temporary folder.
 *
 *   node bench/isolation/soak.ts               1,000 spokes, with the time that is left
 *   node bench/isolation/soak.ts --spokes 30   a short one, as in `npm test`
 *
 * Exit codes: 0 nothing is left, 1 something is, 2 it could not be run.
 */

import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { DEFAULT_TURN_LIMITS } from '@cordon/core';
import { HERE } from '@cordon/dialler';
import { AppNetwork, SpokePool } from '@cordon/hub/parts';
import { fail, MeasuredHost, must, openRig, programApp, type Rig } from '@cordon/testkit/isolation/rig.ts';
import { descendants } from './memory.ts';
import { ECHO } from './starts.ts';

/** Each second one is killed in the middle of a call, and each tenth has the network. */
const KILLED_EVERY = 2;
const NETWORK_EVERY = 10;
const WARM = { apps: 1, loops: 1, idleSeconds: 60, freeMiB: 0 };
const ONLINE = { ...ECHO, manifest: { ...ECHO.manifest, network: ['example.com'] } };
const TROUBLE = programApp('trouble.mjs');

/** What a process may leave behind, counted. */
interface Traces {
  readonly processes: number;
  readonly descriptors: number;
  readonly temporary: number;
}

/** @param rig whose folder is no leak */
function tracesOf(rig: Rig): Traces {
  return {
    processes: descendants().length,
    descriptors: readdirSync('/proc/self/fd').length,
    temporary: readdirSync(tmpdir()).filter((name) => basename(rig.folder) !== name).length,
  };
}

async function spoke(rig: Rig, number: number): Promise<void> {
  const isOnline = number % NETWORK_EVERY === 0;
  const isKilled = number % KILLED_EVERY === 1;
  const app = isOnline ? ONLINE : isKilled ? TROUBLE : ECHO;
  const network = isOnline ? new AppNetwork({ app, door: SHUT, dialler: HERE }) : null;
  const measured = new MeasuredHost(rig, WARM, network);
  const pool = new SpokePool(rig.loops, DEFAULT_TURN_LIMITS, WARM);
  pool.warm();
  measured.host.startAhead([app]);
  const loop = must(await pool.take());
  const running = must(await measured.host.start(app));
  if (running.tools.length === 0) fail('the app has no tools');
  if (isKilled) {
    const ending = new AbortController();
    setTimeout(() => ending.abort(), 5);
    const outcome = await measured.call(app, 'silence', {}, ending.signal);
    if (outcome.ok) fail('a call that was stopped has a result');
  } else must(await measured.call(app, 'echo', { text: 'hello' }));
  pool.release(loop);
  pool.close();
  await measured.host.stop();
}

/** Nothing leaves: what is measured is the way to the door. */
const SHUT = {
  decide: () => Promise.resolve(false),
  onRefused: () => undefined,
  onClosed: () => undefined,
  onQuiet: () => undefined,
};

const SETTLE_MS = 60_000;

/** The ends of the last processes are not waited for one by one. */
async function settled(rig: Rig, before: Traces): Promise<Traces> {
  const deadline = performance.now() + SETTLE_MS;
  let now = tracesOf(rig);
  while (!isClean(before, now) && performance.now() < deadline) {
    await new Promise((resolve) => setTimeout(resolve, 100));
    now = tracesOf(rig);
  }
  return now;
}

function isClean(before: Traces, after: Traces): boolean {
  return (
    after.processes <= before.processes &&
    after.descriptors <= before.descriptors &&
    after.temporary <= before.temporary
  );
}

function described(traces: Traces): string {
  return Object.entries(traces)
    .map(([name, count]) => `${count} ${name}`)
    .join(', ');
}

async function main(): Promise<number> {
  const { values } = parseArgs({ options: { spokes: { type: 'string', default: '1000' } } });
  const count = Number(values.spokes);
  if (!Number.isInteger(count) || count < 1) {
    console.error('--spokes takes a whole number');
    return 2;
  }
  // A temporary folder of its own: others come and go in the machine's.
  const own = mkdtempSync(join(tmpdir(), 'cordon-soak-'));
  process.env.TMPDIR = own;
  const rig = await openRig();
  try {
    // One of each kind first: what the hub loads and keeps once is no leak.
    for (const number of [NETWORK_EVERY, 1, 2]) await spoke(rig, number);
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    const before = tracesOf(rig);
    const memory = heldMegabytes();
    const began = performance.now();
    for (let number = 1; number <= count; number++) {
      await spoke(rig, number);
      if (number % 10 === 0 || number === count) progress(number, count, performance.now() - began);
    }
    const after = await settled(rig, before);
    const grown = (heldMegabytes() - memory).toFixed(1);
    const took = ((performance.now() - began) / 1000).toFixed(0);
    console.log(
      `${count} spokes in ${took} s\nbefore: ${described(before)}\nafter:  ${described(after)}\nthe hub holds ${grown} MB more`,
    );
    return isClean(before, after) ? 0 : 1;
  } finally {
    rig.remove();
    rmSync(own, { recursive: true, force: true });
  }
}

/** What is still referred to, on the heap and beside it. */
function heldMegabytes(): number {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / 1e6;
}

function progress(done: number, count: number, took: number): void {
  const left = Math.round(((count - done) * took) / done / 1000);
  console.error(`… ${done} of ${count} spokes, ${left} s left`);
}

try {
  process.exitCode = await main();
} catch (error) {
  console.error(error);
  process.exitCode = 2;
}
