/**
 * How much the tests try. `npm test` runs a sample of what is exhaustive, `npm run test:full` (`CORDON_CASES=full`) all of
 * it, and `CORDON_CASES=all` also what takes hours.
 */
import type { TestContext } from 'node:test';

const LEVELS = ['sample', 'full', 'all'] as const;
const LEVEL = levelOf(process.env.CORDON_CASES ?? 'sample');

function levelOf(wanted: string): (typeof LEVELS)[number] {
  const level = LEVELS.find((one) => one === wanted);
  if (level === undefined) throw new Error(`CORDON_CASES is ${LEVELS.join(', ')}, not ${wanted}`);
  return level;
}

/** How many cases to generate at each level. */
export function runs(sample: number, full: number, all: number = full): number {
  return { sample, full, all }[LEVEL];
}

/** All of them, or in the sample those that are meant. */
export function sampled<T>(all: readonly T[], isInSample: (one: T, index: number) => boolean): readonly T[] {
  return LEVEL === 'sample' ? all.filter(isInSample) : all;
}

/** Whether a test is left to `npm run test:full`. `npm test` reports it as skipped then, so that nobody takes it for passed. */
export function isLeftOut(t: TestContext, isInSample = false): boolean {
  const isLeft = LEVEL === 'sample' && !isInSample;
  if (isLeft) t.skip('npm run test:full');
  return isLeft;
}

/** Whether a test is left to `CORDON_CASES=all`, which no command of the project runs by itself: one of many that are alike and take long. */
export function isLeftToAll(t: TestContext, isInFull: boolean): boolean {
  const isLeft = LEVEL !== 'all' && !isInFull;
  if (isLeft) t.skip('CORDON_CASES=all');
  return isLeft;
}
