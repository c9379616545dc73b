/**
 * Predicates of the user's own in a program that uses the policy library: they run in that program, without a sandbox.
 */
import { type Clock, failed, isJsonObject, type Json, type JsonObject, ok, type Result } from '@cordon/core';
import type { Detector } from '@cordon/policy';
import { KeptAnswers } from '../asking/answer-book.ts';
import type { Asking } from '../asking/asking.ts';
import { evaluated } from './inside/evaluate.ts';
import { type Awaited, judgedWithAnswers } from './judged.ts';
import { type DetectorModule, readDeclared } from './module.ts';
import { predicatesOf } from './predicates.ts';

export interface OwnDetectors {
  /** For `loadPolicy`, beside those of the standard library. */
  readonly detectors: readonly Detector[];
  /** Judges again until all that the functions are asked is answered, e.g. `(awaited) => monitor.decide(events, awaited)`. */
  readonly judged: <T>(judge: (awaited: Awaited) => T) => Promise<T>;
}

export interface OwnDetectorsOptions {
  /** Milliseconds since the epoch: a failure is kept for half a minute, an answer as long as there is room. */
  readonly clock: Clock;
  /** How long one call may take; 30 if it is absent. */
  readonly seconds?: number;
}

/** Throws where the module declares what no rule can call. A function that fails or is late leaves its rule undecided. */
export function ownDetectors(module: DetectorModule, options: OwnDetectorsOptions): OwnDetectors {
  const { clock, seconds = 30 } = options;
  const declared = Object.entries(module).map(([name, { parameters }]): [string, Json] => [
    name,
    [...parameters],
  ]);
  const functions = readDeclared(Object.fromEntries(declared));
  if (!functions.ok) throw new TypeError(`the module cannot be used: ${functions.fault}`);
  const book = new KeptAnswers(clock);
  const asking: Asking = { book, offers: new Set(['predicate']), model: null };
  return {
    detectors: predicatesOf({ digest: 'this program', functions: functions.value }, asking),
    judged: (judge) =>
      judgedWithAnswers(judge, book, ({ input }) =>
        answerOf(module, input, AbortSignal.timeout(seconds * 1000)),
      ),
  };
}

async function answerOf(
  module: DetectorModule,
  { name, values }: JsonObject,
  late: AbortSignal,
): Promise<Result<Json, string>> {
  if (typeof name !== 'string' || !isJsonObject(values)) return failed('there is no such function');
  const isLate = Promise.withResolvers<{ readonly reason: string }>();
  late.addEventListener('abort', () => isLate.resolve({ reason: `\`${name}\` gave no answer in time` }));
  const predicate = Object.hasOwn(module, name) ? module[name] : undefined;
  const said = await Promise.race([evaluated(predicate, name, values), isLate.promise]);
  return 'answer' in said ? ok(said.answer) : failed(said.reason);
}
