/**
 * What a hub is put together on: the journal, the model, and the rules that the user wrote. All that may be wrong with a
 * configuration shows here, and nothing here loads the hub: a chat shows its prompt when this stands.
 *
 * Ring 1.
 */
import { type Diagnostic, type Fault, failed, fault, type Model, ok, type Result } from '@cordon/core';
import type { Sandbox } from '@cordon/sandbox';
import type { LayerName } from '@cordon/sandbox/layers';
import type { Store } from '@cordon/trace';
import { type Configuration, modelInUse } from './config.ts';
import { openJournal } from './journal.ts';
import { openModels, readScenarios } from './models.ts';
import { openProviders, type Providers } from './providers.ts';
import type { Rules } from './rules.ts';
import { sandboxOnDemand } from './sandbox-on-demand.ts';
import { readWeaker } from './weaker.ts';

export interface Ground {
  readonly store: Store;
  readonly model: Model;
  readonly providers: Providers;
  readonly sandbox: Sandbox;
  /** `provider/model` */
  readonly modelId: string;
  /** Layers of the sandbox that nothing here has. */
  readonly weaker: readonly LayerName[];
  /** Null: only those that come with this program are in force. A test loads each of them, so they are read with the hub. */
  readonly rules: Rules | null;
}

/** What stands in the way: texts that a person wrote, or something outside. */
export type Obstacle =
  | { readonly kind: 'diagnostics'; readonly diagnostics: readonly Diagnostic[] }
  | { readonly kind: 'fault'; readonly fault: Fault };

/** Opens the journal and starts the user's predicates, so whoever is given this leaves it. Nothing is open after a refusal. */
export async function layGround(configuration: Configuration): Promise<Result<Ground, Obstacle>> {
  const weaker = readWeaker(configuration.weaker);
  if (!weaker.ok) return refused(weaker.fault);
  const sandbox = sandboxOnDemand(configuration, weaker.value);
  const providers = openProviders(configuration, sandbox);
  const rules = await readUsersRules(configuration, providers);
  if (!rules.ok) return refused(rules.fault);
  const laid = layUnder(configuration, { sandbox, providers, weaker: weaker.value, rules: rules.value });
  if (!laid.ok) await rules.value?.own?.close();
  return laid;
}

function layUnder(
  configuration: Configuration,
  laid: Pick<Ground, 'sandbox' | 'providers' | 'weaker' | 'rules'>,
): Result<Ground, Obstacle> {
  const scenarios = readScenarios(configuration.scenarioFiles);
  if (!scenarios.ok) return refused(scenarios.fault);
  const store = openJournal(configuration);
  if (!store.ok) return failed({ kind: 'fault', fault: store.fault });

  keepWithin(store.value, configuration);
  const modelId = modelInUse(configuration);
  const model = openModels(configuration, scenarios.value, laid.providers);
  const wrong = model.check(modelId);
  if (wrong !== null) {
    store.value.close();
    return failed({ kind: 'fault', fault: fault('model-failure', wrong.message, wrong.help) });
  }
  return ok({ ...laid, store: store.value, model, modelId });
}

/** Ends what the ground has running, and closes the store. */
export async function leaveGround({
  store,
  providers,
  rules,
}: Pick<Ground, 'store' | 'providers' | 'rules'>): Promise<void> {
  await Promise.all([rules?.own?.close(), providers.close()]);
  store.close();
}

export function refused(diagnostics: readonly Diagnostic[]): Result<never, Obstacle> {
  return failed({ kind: 'diagnostics', diagnostics });
}

/** Loaded for those who wrote some: the language takes 60 ms, and the ready-made rules 40. */
async function readUsersRules(
  configuration: Configuration,
  providers: Providers,
): Promise<Result<Rules | null, readonly Diagnostic[]>> {
  const { policyFiles, asking, namedModules } = configuration;
  if (policyFiles.length + asking.modules.length + namedModules.length === 0) return ok(null);
  const { ownPredicates, readRules } = await import('./rules.ts');
  const own = await ownPredicates(configuration);
  if (!own.ok) return own;
  const rules = readRules(configuration, providers, own.value);
  if (!rules.ok) await own.value?.close();
  return rules;
}

/** What is older or more than the configuration keeps goes at every start, from the file too. */
function keepWithin(store: Store, { memory }: Configuration): void {
  const { turns, summaries, facts } = store.memories.prune(memory.retention);
  if (turns + summaries + facts > 0) store.scrub();
}
