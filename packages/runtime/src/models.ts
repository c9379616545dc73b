/** The models of a configuration, the built-in one among them. */

import { readFileSync } from 'node:fs';
import { type Configuration, OBEDIENT_MODEL } from '@cordon/config';
import { type Diagnostic, failed, type Model, ok, type Result } from '@cordon/core';
import { type ModelBroker, routeModels } from '@cordon/llm';
import { createObedientModel, parseScenario, type Scenario } from '@cordon/obedient-model';
import type { Providers } from './machine/providers.ts';
/** What the built-in model follows. A failure holds what is wrong in any of the files. */
export function readScenarios(files: readonly string[]): Result<readonly Scenario[], readonly Diagnostic[]> {
  const read = files.map((file) => parseScenario(readFileSync(file, 'utf8'), file));
  const problems = read.flatMap((scenario) => (scenario.ok ? [] : scenario.fault));
  if (problems.length > 0) return failed(problems);
  return ok(read.flatMap((scenario) => (scenario.ok ? [scenario.value] : [])));
}

/** The models of a configuration: those of providers, and the built-in one, which needs no network and no code of others. */
export function openModels(
  { providers }: Pick<Configuration, 'providers'>,
  scenarios: readonly Scenario[],
  outside: Providers,
): ModelBroker {
  const obedient: Model = createObedientModel({ scenarios, variant: 'obedient' });
  return routeModels({ providers, models: new Map([[OBEDIENT_MODEL, obedient]]) }, outside.model);
}
