/** Many agent loops at once, all idle: is the hub still there, and what do they cost? */
import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import { DEFAULT_TURN_LIMITS } from '@cordon/core';
import { SpokeLink } from '@cordon/hub/parts';
import { must, type Rig } from '@cordon/testkit/isolation/rig.ts';
import { availableMegabytes } from './memory.ts';

/** Starts at once: as many as there are cores. */
const AT_ONCE = 2;
const WATCHED_MS = 5_000;

export interface ManySpokes {
  readonly spokes: number;
  readonly startsPerSecond: number;
  /** Milliseconds of delay of the hub's event loop, beyond the 10 ms that it is looked at. */
  readonly delay: { readonly p50: number; readonly p99: number; readonly most: number };
  /** Share of one core that the hub uses while nothing happens. */
  readonly busy: number;
  /** MB by which the machine's available memory fell, for one spoke. */
  readonly megabytesEach: number;
  /** Milliseconds until all are gone. */
  readonly endedIn: number;
}

export async function manySpokes(rig: Rig, count: number, say: (text: string) => void): Promise<ManySpokes> {
  const links: SpokeLink[] = [];
  const ended: Promise<string>[] = [];
  const memory = availableMegabytes();
  const began = performance.now();
  const startOne = async () => {
    const loop = must(await rig.loops.launch(new AbortController().signal));
    const link = new SpokeLink(loop, DEFAULT_TURN_LIMITS);
    links.push(link);
    ended.push(loop.ended);
    if (!(await link.ready)) throw new Error('a loop was not ready');
    if (links.length % 100 === 0) say(`${links.length} of ${count} spokes`);
  };
  const startSome = async (some: number) => {
    for (let at = 0; at < some; at++) await startOne();
  };
  try {
    await Promise.all(Array.from({ length: AT_ONCE }, () => startSome(count / AT_ONCE)));
    const startsPerSecond = (1000 * links.length) / (performance.now() - began);
    const megabytesEach = (memory - availableMegabytes()) / links.length;
    const { delay, busy } = await watched();
    return {
      spokes: links.length,
      startsPerSecond,
      delay,
      busy,
      megabytesEach,
      endedIn: await allEnded(links, ended),
    };
  } finally {
    for (const link of links) link.close();
  }
}

async function allEnded(links: readonly SpokeLink[], ended: readonly Promise<string>[]): Promise<number> {
  const began = performance.now();
  for (const link of links) link.close();
  await Promise.all(ended);
  return performance.now() - began;
}

async function watched() {
  const resolution = 10;
  const histogram = monitorEventLoopDelay({ resolution });
  histogram.enable();
  const before = performance.eventLoopUtilization();
  await new Promise((resolve) => setTimeout(resolve, WATCHED_MS));
  const { utilization } = performance.eventLoopUtilization(before);
  histogram.disable();
  const beyond = (nanoseconds: number) => Math.max(0, nanoseconds / 1e6 - resolution);
  const { max } = histogram;
  const delay = {
    p50: beyond(histogram.percentile(50)),
    p99: beyond(histogram.percentile(99)),
    most: beyond(max),
  };
  return { delay, busy: utilization };
}
