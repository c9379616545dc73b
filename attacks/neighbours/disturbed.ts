/**
 * What one app's bombs, floods and hangs do to the app beside it and to the hub: the neighbour's calls are timed
 * before, meanwhile and after, and the hub's own memory and event loop are watched. Real hub code, real sandboxes.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import { setTimeout as wait } from 'node:timers/promises';
import type { InstalledApp } from '@cordon/core';
import { HARMS as FLOODS } from '@cordon/testkit/isolation/disturbance.ts';
import { MeasuredHost, must, programApp, type Rig } from '@cordon/testkit/isolation/rig.ts';

/** Those of one process that talks too much or not at all, and those of many processes. */
export const HARMS = [...FLOODS, 'spin-swarm', 'memory-swarm', 'zombie-swarm', 'disk-fill'] as const;
export type Harm = (typeof HARMS)[number];

export interface Disturbed {
  readonly harm: Harm;
  /** 99th percentiles of the neighbour's calls, in milliseconds, in peace and meanwhile. */
  readonly calm: number;
  readonly meanwhile: number;
  /** Of the calls in peace. */
  readonly slowest: number;
  /** Milliseconds of CPU time that the hub's event loop took meanwhile, less what the same calls cost it in peace. */
  readonly busy: number;
  readonly calls: number;
  /** Of the hub: mebibytes that it held more than in peace, at most. */
  readonly memoryMiB: number;
  /** The longest time in milliseconds that its event loop stood still, meanwhile and in peace. */
  readonly stall: number;
  readonly calmStall: number;
  /** How the harmful app ended. */
  readonly reason: string;
}

/** A busy machine may take seconds to do the harm. What ends it is meant to be the limit that it reaches, not the time of its call. */
const LIMITS = {
  ...{ callSeconds: 30, silentSeconds: 5, memoryMiB: 400, processes: 24, cpuSeconds: 4 },
  ...{ storageMiB: 64, fileMiB: 64 },
};

/** `calls`: how many are timed in peace. */
export async function disturb(rig: Rig, harm: Harm, calls: number): Promise<Disturbed> {
  const measured = new MeasuredHost(rig);
  try {
    return await disturbIn(measured, rig, harm, calls);
  } finally {
    await measured.host.stop();
  }
}

async function disturbIn(measured: MeasuredHost, rig: Rig, harm: Harm, calls: number): Promise<Disturbed> {
  const neighbour = programApp('echo.mjs', { messagesPerSecond: 1_000 });
  const hostile = harmful(harm, rig);
  must(await measured.host.start(neighbour));
  must(await measured.host.start(hostile));
  await timed(measured, neighbour, () => false, 100); // what the first calls are slowed by
  const calm = await timed(measured, neighbour, () => false, calls);
  let isOver = false;
  const ending = measured.call(hostile, harm.replaceAll(' ', '-')).then(async (outcome) => {
    // A harmful app that fails its call is ended; its process may need a moment.
    for (let waited = 0; measured.stopped.length === 0 && waited < 5_000; waited += 10) await wait(10);
    isOver = true;
    return outcome;
  });
  const meanwhile = await timed(measured, neighbour, () => isOver, Number.POSITIVE_INFINITY);
  const outcome = await ending;
  const after = await timed(measured, neighbour, () => false, calls);
  const normal = [...calm.times, ...after.times];
  const perCall = (calm.busy + after.busy) / normal.length;
  return {
    harm,
    busy: Math.max(0, meanwhile.busy - meanwhile.times.length * perCall),
    calm: percentile(normal, 0.99),
    slowest: Math.max(...normal),
    meanwhile: percentile(meanwhile.times, 0.99),
    calls: meanwhile.times.length,
    memoryMiB: Math.max(0, meanwhile.memoryMiB - calm.memoryMiB),
    stall: meanwhile.stall,
    calmStall: Math.max(calm.stall, after.stall),
    reason: outcome.ok ? 'it answered' : outcome.fault.message,
  };
}

function harmful(harm: Harm, { dataFolder }: Rig): InstalledApp {
  if (!harm.includes('swarm') && harm !== 'disk-fill') return programApp('trouble.mjs', LIMITS);
  const app = programApp('swarm.mjs', LIMITS);
  const args = [join(import.meta.dirname, 'swarm.mjs')];
  const state = join(dataFolder, 'apps', app.id);
  rmSync(state, { recursive: true, force: true }); // what an earlier round left there
  const files = { read: [], write: [state] };
  return {
    ...app,
    source: { kind: 'command', command: 'node', args, env: {}, cwd: null },
    manifest: { ...app.manifest, files, node: ['child-process'] },
  };
}

interface Timed {
  readonly times: readonly number[];
  readonly busy: number;
  readonly memoryMiB: number;
  readonly stall: number;
}

/** One call after the other, with a pause as between two thoughts, until `isOver` or there are enough. */
async function timed(
  measured: MeasuredHost,
  app: InstalledApp,
  isOver: () => boolean,
  most: number,
): Promise<Timed> {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  // CPU time of this thread: what else the machine does must not count.
  const before = process.threadCpuUsage();
  const times: number[] = [];
  let bytes = 0;
  while (!isOver() && times.length < most) {
    const began = performance.now();
    must(await measured.call(app, 'echo', { text: 'hello' }));
    times.push(performance.now() - began);
    bytes = Math.max(bytes, process.memoryUsage.rss());
    await wait(2);
  }
  delay.disable();
  const { user, system } = process.threadCpuUsage(before);
  return { times, busy: (user + system) / 1_000, memoryMiB: bytes / (1024 * 1024), stall: delay.max / 1e6 };
}

export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
