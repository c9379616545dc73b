/**
 * What a run with a model of a provider will come to, told before it starts: by what was measured, where earlier records
 * of the run are there, else by assumptions that are said to be such.
 */
import { isJsonObject, type Json, type JsonObject } from '@cordon/core';
import type { Unit } from '../evaluation/suite.ts';
import { ASKED } from './played-model.ts';

export interface Estimate {
  readonly units: number;
  readonly calls: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly seconds: number;
  /** By units of this run that were measured before; else by assumptions. */
  readonly isMeasured: boolean;
}

/** Means of a call. Tokens: of the sets, isolated and in the shared context; seconds: of a hosted model. */
const ASSUMED = { inputTokens: 1_500, outputTokens: 100, seconds: 3 } as const;

/**
 * @param left the units that have no record yet
 * @param jobs how many run at the same time
 */
export function estimateOf(
  left: readonly Unit[],
  records: ReadonlyMap<string, JsonObject>,
  jobs: number,
): Estimate {
  const known = [...records.values()].flatMap(usedIn);
  const total = (of: (used: Used) => number) => known.reduce((sum, used) => sum + of(used), 0);
  const expected = left.reduce((sum, { calls = 0 }) => sum + calls, 0);
  const measured = total(({ calls }) => calls);
  const isMeasured = measured > 0;
  const calls = isMeasured ? Math.round((left.length * measured) / known.length) : expected;
  const mean = (of: (used: Used) => number, assumed: number) => (isMeasured ? total(of) / measured : assumed);
  return {
    units: left.length,
    calls,
    inputTokens: Math.round(calls * mean((used) => used.inputTokens, ASSUMED.inputTokens)),
    outputTokens: Math.round(calls * mean((used) => used.outputTokens, ASSUMED.outputTokens)),
    seconds: Math.round((calls * mean((used) => used.seconds, ASSUMED.seconds)) / Math.max(1, jobs)),
    isMeasured,
  };
}

interface Used {
  readonly calls: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly seconds: number;
}

function usedIn(record: JsonObject): readonly Used[] {
  const asked = record[ASKED];
  if (!isJsonObject(asked)) return [];
  const answers = Array.isArray(asked.answers) ? asked.answers : [];
  const milliseconds = answers.reduce(
    (sum: number, one: Json) => sum + (isJsonObject(one) ? numberAt(one, 'milliseconds') : 0),
    0,
  );
  return [
    {
      calls: numberAt(asked, 'calls'),
      inputTokens: numberAt(asked, 'inputTokens'),
      outputTokens: numberAt(asked, 'outputTokens'),
      seconds: milliseconds / 1000,
    },
  ];
}

function numberAt(object: JsonObject, key: string): number {
  const value = object[key];
  return typeof value === 'number' ? value : 0;
}
