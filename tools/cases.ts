/**
 * How much the tests try. `npm test` runs a sample of what is exhaustive, `npm run test:full` (`CORDON_CASES=full`) all of
 * it, and `CORDON_CASES=all` also what takes hours. With `CORDON_FULL_UNTIL` (seconds since 1970) the full command goes on as `npm test`
 * from that time on, so that it ends on a slow machine, too; the runner counts what was left out for that.
 */
import type { TestContext } from 'node:test';

const LEVELS = ['sample', 'full', 'all'] as const;
const LEVEL = levelOf(process.env.CORDON_CASES ?? 'sample');

function levelOf(wanted: string): (typeof LEVELS)[number] {
  const level = LEVELS.find((one) => one === wanted);
  if (level === undefined) throw new Error(`CORDON_CASES is ${LEVELS.join(', ')}, not ${wanted}`);
  return level;
}

/** The reason of what is left out because there is no time left for it; the runner counts it. */
export const NO_TIME_LEFT = 'no time left: npm run test:full';
const FULL_UNTIL = timeOf(process.env.CORDON_FULL_UNTIL);

/** Milliseconds since 1970; absent: never. */
function timeOf(seconds: string | undefined): number {
  if (seconds === undefined || seconds === '') return Number.POSITIVE_INFINITY;
  if (/^\d+$/.test(seconds)) return Number(seconds) * 1000;
  throw new Error(`CORDON_FULL_UNTIL is a number of seconds since 1970, not ${seconds}`);
}

function levelNow(): (typeof LEVELS)[number] {
  return LEVEL === 'full' && Date.now() >= FULL_UNTIL ? 'sample' : LEVEL;
}

/** How many cases to generate at each level. */
export function runs(sample: number, full: number, all: number = full): number {
  return { sample, full, all }[levelNow()];
}

/** All of them, or in the sample those that are meant. */
export function sampled<T>(all: readonly T[], isInSample: (one: T, index: number) => boolean): readonly T[] {
  return levelNow() === 'sample' ? all.filter(isInSample) : all;
}

/** Whether a test is left to `npm run test:full`. `npm test` reports it as skipped then, so that nobody takes it for passed. */
export function isLeftOut(t: TestContext, isInSample = false): boolean {
  const isLeft = levelNow() === 'sample' && !isInSample;
  if (isLeft) t.skip(LEVEL === 'sample' ? 'npm run test:full' : NO_TIME_LEFT);
  return isLeft;
}

/** Whether a test is left to `CORDON_CASES=all`, which no command of the project runs by itself: one of many that are alike and take long. */
export function isLeftToAll(t: TestContext, isInFull: boolean): boolean {
  const isLeft = LEVEL !== 'all' && !isInFull;
  if (isLeft) t.skip('CORDON_CASES=all');
  return isLeft;
}
