/**
 * Questions of rules about recorded traces: no hub is there to put them, and nothing happens that could be denied. They go
 * straight to whom the configuration names, and only because the user said so.
 *
 * Ring 1.
 */
import { type Fault, failed, type Json, type Model, ok, type Question, type Result } from '@cordon/core';
import type { Answering } from '@cordon/hub';
import type { Analysis, Policy, TraceEvent } from '@cordon/policy';

/** One answer may lead to the next question. */
const MOST_ROUNDS = 8;
const AT_ONCE = 4;

/** Analyses again and again until nobody is waited for; what nobody answers stays undecided. */
export async function analysisWithAnswers(
  policy: Policy,
  events: readonly TraceEvent[],
  parameters: Parameters<Policy['analyzeEvents']>[1],
  answering: Answering,
  model: Model,
): Promise<Analysis> {
  for (let round = 0; ; round++) {
    const awaited = new Map<string, Question>();
    const analysis = policy.analyzeEvents(events, parameters, awaited);
    if (awaited.size === 0 || round >= MOST_ROUNDS) return analysis;
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
