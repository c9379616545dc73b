/** The models of a configuration, the built-in one among them. Ring 0. */
import { readFileSync } from 'node:fs';
import { type Configuration, OBEDIENT_MODEL } from '@cordon/config';
import { type Diagnostic, failed, type Model, ok, type Result } from '@cordon/core';
import { createModelBroker, sleep } from '@cordon/llm';
import { createObedientModel, parseScenario, type Scenario } from '@cordon/obedient-model';

/** What the built-in model follows. A failure holds what is wrong in any of the files. */
export function readScenarios(files: readonly string[]): Result<readonly Scenario[], readonly Diagnostic[]> {
  const read = files.map((file) => parseScenario(readFileSync(file, 'utf8'), file));
  const problems = read.flatMap((scenario) => (scenario.ok ? [] : scenario.fault));
  if (problems.length > 0) return failed(problems);
  return ok(read.flatMap((scenario) => (scenario.ok ? [scenario.value] : [])));
}

/** The models of a configuration, and what would be wrong with calls of one. */
export function broker(
  configuration: Pick<Configuration, 'providers' | 'retries'>,
  scenarios: readonly Scenario[],
) {
  const obedient: Model = createObedientModel({ scenarios, variant: 'obedient' });
  const model = createModelBroker({
    providers: configuration.providers,
    limits: configuration.retries,
    models: new Map([[OBEDIENT_MODEL, obedient]]),
    // Not `globalThis.fetch` itself: to read that loads Node's HTTP client, 20 ms before the prompt.
    fetch: (input, init) => fetch(input, init),
    random: Math.random,
    clock: Date.now,
    sleep,
  });
  return { model, check: (id: string) => model.check(id) };
}
