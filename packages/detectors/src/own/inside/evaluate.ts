/**
 * One call of a predicate of the user's own, in a confined process or in a program that uses the library.
 *
 * Imports nothing at run time: it is mounted into the sandbox alone with its neighbour.
 */
import type { Json, JsonObject } from '@cordon/core';
import type { OwnPredicate } from '../module.ts';

/** `reason` names no content. */
export type Evaluated = { readonly answer: Json } | { readonly reason: string };

/** Never rejects. What is not JSON (a map, a date, NaN) is no answer: as an empty object it would let all pass. */
export async function evaluated(
  predicate: OwnPredicate | undefined,
  name: string,
  values: JsonObject,
): Promise<Evaluated> {
  if (predicate === undefined) return { reason: `there is no function \`${name}\`` };
  try {
    const answer: unknown = await predicate.evaluate(deeplyFrozen(structuredClone(values)));
    return isAnswer(answer) ? { answer } : { reason: `\`${name}\` answered with what is no JSON` };
  } catch {
    return { reason: `\`${name}\` failed` };
  }
}

function deeplyFrozen(values: JsonObject): JsonObject {
  const open: Json[] = [values];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    if (typeof at !== 'object' || at === null) continue;
    Object.freeze(at);
    for (const inner of Object.values(at)) open.push(inner);
  }
  return values;
}

function isAnswer(answer: unknown): answer is Json {
  if (answer === null || typeof answer === 'boolean' || typeof answer === 'string') return true;
  if (typeof answer === 'number') return Number.isFinite(answer);
  if (Array.isArray(answer)) return answer.every(isAnswer);
  if (typeof answer !== 'object') return false;
  const prototype: unknown = Object.getPrototypeOf(answer);
  const isPlain = prototype === null || prototype === Object.prototype;
  return isPlain && Object.values(answer).every(isAnswer);
}
