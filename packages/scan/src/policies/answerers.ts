/**
 * Questions of rules outside of a session: no hub is there to put them. They go straight to whom the configuration names
 * (`--ask-models`) and to the modules that the command line names (`--detectors`), only because the user said so.
 */

import type { Configuration } from '@cordon/config';
import {
  type Diagnostic,
  type Fault,
  failed,
  type Json,
  type Model,
  ok,
  type Question,
  type Result,
} from '@cordon/core';
import { type Asking, type Awaited, judgedWithAnswers } from '@cordon/detectors';
import type { Dialler } from '@cordon/dialler';
import type { Answering } from '@cordon/hub';
import { CONFINES_PROVIDERS, openModels, openProviders, sandboxOnDemand } from '@cordon/runtime';
import { answeringOf, askingOf, ownPredicates } from '@cordon/runtime/rules';
import { readWeaker } from '@cordon/runtime/weaker';
export interface Answerers {
  /** What detectors see of them. */
  readonly asking: Asking;
  /** Judges again until no answer is missing; what gets no answer stays undecided. */
  readonly judged: <T>(judge: (awaited: Awaited) => T) => Promise<T>;
  /** Digests of the user's modules that answer: with other code, other answers. */
  readonly modules: readonly string[];
  /** Ends the processes of modules and of providers. */
  readonly close: () => Promise<void>;
}

/** Who answers what rules ask; null if the configuration names none. */
export async function answerersFor(
  configuration: Configuration,
  dialler: Dialler,
): Promise<Result<Answerers | null, readonly Diagnostic[]>> {
  const weaker = readWeaker(configuration.weaker);
  if (!weaker.ok) return weaker;
  const sandbox = sandboxOnDemand(configuration, weaker.value, dialler);
  const own = await ownPredicates(configuration, sandbox, dialler);
  if (!own.ok) return own;
  const providers = openProviders(configuration, sandbox, CONFINES_PROVIDERS, dialler.dial);
  const answering = answeringOf(configuration.asking, providers, own.value);
  const asking = askingOf(answering, own.value);
  if (answering === null || asking === undefined) return ok(null);
  const models = openModels(configuration, [], providers);
  return ok({
    asking,
    judged: (judge) =>
      judgedWithAnswers(judge, answering.book, (question) => answerTo(question, answering, models)),
    modules: (own.value?.modules ?? []).map(({ digest }) => digest),
    close: async () => {
      await Promise.all([own.value?.close(), providers.close()]);
    },
  });
}

async function answerTo(
  question: Question,
  { model: name, services, seconds }: Answering,
  model: Model,
): Promise<Result<Json, string>> {
  const { service, input } = question;
  const signal = AbortSignal.timeout(seconds * 1000);
  // Policies of these commands look at long texts at once.
  if (service === 'text') return failed('nobody answers');
  if (service !== 'llm') return answerOrReason(await services.get(service)?.answer(question, signal));
  if (name === null) return failed('nobody answers');
  const text = (value: Json | undefined) => (typeof value === 'string' ? value : '');
  const messages = [
    { role: 'system', text: text(input.system) },
    { role: 'user', text: text(input.prompt) },
  ] as const;
  const answer = await model.complete({ model: name, role: 'agent', messages, tools: [] }, { signal });
  return answer.ok ? ok(answer.value.text) : failed(answer.fault.message);
}

function answerOrReason(answer: Result<Json, Fault> | undefined): Result<Json, string> {
  if (answer === undefined) return failed('nobody answers');
  return answer.ok ? answer : failed(answer.fault.message);
}
