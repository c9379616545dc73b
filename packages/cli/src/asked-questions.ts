/**
 * Questions of rules outside of a session: no hub is there to put them. They go straight to whom the configuration names, and
 * only because the user said so (`--ask-models`).
 *
 * Ring 1.
 */
import { type Fault, failed, type Json, type Model, ok, type Question, type Result } from '@cordon/core';
import type { Asking } from '@cordon/detectors';
import type { Answering } from '@cordon/hub';
import type { Configuration } from './config.ts';
import { broker } from './models.ts';
import { answeringOf, askingOf } from './rules.ts';

/** One answer may lead to the next question. */
const MOST_ROUNDS = 8;
const AT_ONCE = 4;

/** By digest: what has to be answered before a rule can be decided. */
export type Awaited = Map<string, Question>;

export interface Answerers {
  /** What detectors see of them. */
  readonly asking: Asking;
  /** Judges again and again until nobody is waited for; what nobody answers stays undecided. */
  readonly judged: <T>(judge: (awaited: Awaited) => T) => Promise<T>;
}

/** Who answers what rules ask; null: the configuration names nobody. */
export function answerersFor(configuration: Configuration): Answerers | null {
  const answering = answeringOf(configuration.asking);
  const asking = askingOf(answering);
  if (answering === null || asking === undefined) return null;
  const { model } = broker(configuration, []);
  return { asking, judged: (judge) => judgedWithAnswers(judge, answering, model) };
}

async function judgedWithAnswers<T>(
  judge: (awaited: Awaited) => T,
  answering: Answering,
  model: Model,
): Promise<T> {
  for (let round = 0; ; round++) {
    const awaited: Awaited = new Map();
    const judgement = judge(awaited);
    if (awaited.size === 0 || round >= MOST_ROUNDS) return judgement;
    const left = [...awaited.values()];
    const work = async () => {
      for (let next = left.shift(); next !== undefined; next = left.shift())
        answering.book.keep(next, await answerTo(next, answering, model));
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
  }
}

async function answerTo(
  question: Question,
  { model: name, services, seconds }: Answering,
  model: Model,
): Promise<Result<Json, string>> {
  const { service, input } = question;
  const signal = AbortSignal.timeout(seconds * 1000);
  // Policies of these commands look at long texts at once.
  if (service === 'thread') return failed('nobody answers');
  if (service !== 'llm') return told(await services.get(service)?.answer(question, signal));
  if (name === null) return failed('nobody answers');
  const text = (value: Json | undefined) => (typeof value === 'string' ? value : '');
  const messages = [
    { role: 'system', text: text(input.system) },
    { role: 'user', text: text(input.prompt) },
  ] as const;
  const answer = await model.complete({ model: name, role: 'agent', messages, tools: [] }, { signal });
  return answer.ok ? ok(answer.value.text) : failed(answer.fault.message);
}

function told(answer: Result<Json, Fault> | undefined): Result<Json, string> {
  if (answer === undefined) return failed('nobody answers');
  return answer.ok ? answer : failed(answer.fault.message);
}
