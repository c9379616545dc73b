/** Which units of a suite a run measures: all, or those that `--only` and `--every` choose. */
import { createHash } from 'node:crypto';
import { type Fault, failed, fault, ok, type Result } from '@cordon/core';
import type { BenchRequest, SuiteId, Unit } from '../suite.ts';

export type Choice = Pick<BenchRequest, 'only' | 'every'>;

/** In their order; refused if the choice leaves none of units that there are. */
export function chosenUnits(
  suite: SuiteId,
  units: readonly Unit[],
  { only, every }: Choice,
): Result<readonly Unit[], Fault> {
  const named = units.filter(({ key }) => only === undefined || key.includes(only));
  if (only !== undefined && named.length === 0) {
    const help = `keys are such as \`${units[0]?.key ?? ''}\``;
    return failed(fault('usage', `no unit of \`${suite}\` has \`${only}\` in its key`, help));
  }
  const chosen = every === undefined ? named : named.filter(({ key }) => isInSample(key, every));
  if (every !== undefined && chosen.length === 0) {
    const help = `choose more: there are ${named.length}`;
    return failed(fault('usage', `no unit of \`${suite}\` is in the sample of one in ${every}`, help));
  }
  return ok(chosen);
}

/** The choice as records and results keep it: without what was not chosen. */
export function choiceOf({ only, every }: Choice): Choice {
  return { ...(only === undefined ? {} : { only }), ...(every === undefined ? {} : { every }) };
}

/**
 * By the digest of the key alone: the same units each time, also if others come or go. Counting units in their order
 * would always choose the same column, or the same attacks of each task, where their number has a divisor in common with N.
 */
function isInSample(key: string, every: number): boolean {
  return createHash('sha256').update(key).digest().readUInt32BE(0) % every === 0;
}
