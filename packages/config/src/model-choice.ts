/** Models that the user can switch to while a session is open. */
import { type Fault, failed, fault, ok, type Result } from '@cordon/core';
import { type Configuration, isModelReachable } from './config.ts';
import { suggestion } from './reading/nearest.ts';
import { BUILT_IN_PRICES } from './settings/limits-config.ts';
import { modelProblem, OBEDIENT_MODEL, providerOf, usualModels } from './settings/provider-config.ts';

/** Those that the configuration names, and the usual one of each provider, as far as Cordon can reach their providers. */
export function modelChoices(configuration: Configuration): readonly string[] {
  const { model, apps, asking, prices } = configuration;
  const named = [model, ...apps.map((app) => app.model), asking.model, ...prices.keys()];
  const reachable = [...named, ...usualModels()].filter(
    (name) => name !== null && isModelReachable(configuration, name),
  );
  return [...new Set([...reachable.filter((name) => name !== null), OBEDIENT_MODEL])];
}

/**
 * The configuration with another model, of a provider that it knows: keys and addresses stay as they are. A provider alone
 * stands for its only model among the choices.
 */
export function withModel(configuration: Configuration, typed: string): Result<Configuration, Fault> {
  const choices = modelChoices(configuration);
  const ofProvider = choices.filter((choice) => providerOf(choice) === typed);
  const model = ofProvider.length === 1 ? (ofProvider[0] ?? typed) : typed;
  const problem = modelProblem(model, configuration.providers.keys(), false);
  if (problem !== null) {
    const help = `the models here: ${choices.join(', ')}`;
    return failed(fault('usage', problem.message, suggestion(model, choices, help)));
  }
  const { limits, prices } = configuration;
  if (limits.cost !== null && !prices.has(model) && !BUILT_IN_PRICES.has(model)) {
    const help = `add it to \`prices\`: {"${model}": {"input": …, "output": …}}, for a million tokens each`;
    return failed(fault('usage', `a query has a cost limit, and the price of \`${model}\` is unknown`, help));
  }
  return ok({ ...configuration, model });
}
