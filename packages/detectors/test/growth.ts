/**
 * Whether the work of a detector grows with the text and not faster: compared are texts of one kind, the second four times
 * as long. `growth` is quick and by the clock, so that a busy machine may make a text look slow; `workGrowth` is by the
 * processor's time of this thread, which other work does not add to, and says the last word.
 */

import { sampled } from '../../../tools/cases.ts';
import type { FindIn } from '../src/text/finding.ts';

const RUNS = 3;
/** Of the last word: a busy machine adds to most of them, and to none it takes away. */
const WORK_RUNS = 12;
/** Of the shorter text, at least, in microseconds: the clock of a thread may tick in milliseconds. */
const ENOUGH = 24_000;

/** What hostile texts are made of; of many alike, `npm test` tries every fourth. */
export function tried(units: readonly string[]): readonly string[] {
  return sampled(units, (_, index) => index % 4 === 0);
}

/** About 4 for a linear detector, 16 for a quadratic one. */
export function growth(find: FindIn, unit: string, length: number): number {
  const [small, large] = textsOf(unit, length);
  find(small);
  let [least, most] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let run = 0; run < RUNS; run++) {
    least = Math.min(least, timed(find, small));
    most = Math.min(most, timed(find, large));
  }
  return most / least;
}

/** The same, whatever else the machine does. */
export function workGrowth(find: FindIn, unit: string, length: number): number {
  const [small, large] = textsOf(unit, length);
  let times = 1;
  let least = worked(find, small, times);
  while (least < ENOUGH) {
    times *= 2;
    least = worked(find, small, times);
  }
  // The first time also pays for memory that was never touched before.
  let most = Number.POSITIVE_INFINITY;
  for (let run = 0; run < WORK_RUNS; run++) {
    least = Math.min(least, worked(find, small, times));
    most = Math.min(most, worked(find, large, times));
  }
  return most / least;
}

function textsOf(unit: string, length: number): readonly [small: string, large: string] {
  return [unit.repeat(Math.ceil(length / unit.length)), unit.repeat(Math.ceil((4 * length) / unit.length))];
}

function timed(find: FindIn, text: string): number {
  const started = performance.now();
  find(text);
  return performance.now() - started;
}

function worked(find: FindIn, text: string, times: number): number {
  const before = process.threadCpuUsage();
  for (let time = 0; time < times; time++) find(text);
  const { user, system } = process.threadCpuUsage(before);
  return user + system;
}
