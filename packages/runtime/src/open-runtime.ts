/**
 * Opens what a hub needs: the journal, the model, and the rules that the user wrote. Everything that may be wrong with a
 * configuration shows here, and nothing here loads the hub, so a chat can show its prompt before.
 */

import { type Configuration, modelInUse } from '@cordon/config';
import { type Diagnostic, type Fault, failed, fault, ok, type Result } from '@cordon/core';
import { type Dialler, HERE } from '@cordon/dialler';
import type { ModelBroker } from '@cordon/llm';
import type { Sandbox } from '@cordon/sandbox';
import type { LayerName } from '@cordon/sandbox/layers';
import type { Store } from '@cordon/trace';
import { openJournal } from './journal.ts';
import { CONFINES_PROVIDERS, openProviders, type Providers } from './machine/providers.ts';
import { sandboxOnDemand } from './machine/sandbox-on-demand.ts';
import { readWeaker } from './machine/weaker.ts';
import { openModels, readScenarios } from './models.ts';
import type { Rules } from './rules/rules.ts';
/** What a hub needs. The caller closes it with `closeRuntime`. */
export interface Runtime {
  readonly store: Store;
  readonly model: ModelBroker;
  readonly providers: Providers;
  readonly sandbox: Sandbox;
  readonly dialler: Dialler;
  /** `provider/model` */
  readonly modelId: string;
  /** Layers of the sandbox that nothing here has. */
  readonly weaker: readonly LayerName[];
  /** Null: only those that come with this program are in force. A test loads each of them, so they are read with the hub. */
  readonly rules: Rules | null;
  /** Aborts when the runtime is closed: processes that look at texts end then. */
  readonly ending: AbortController;
}

/** Why no hub can start: mistakes in texts that a person wrote, or one fault outside of them. */
export type SetupError =
  | { readonly kind: 'diagnostics'; readonly diagnostics: readonly Diagnostic[] }
  | { readonly kind: 'fault'; readonly fault: Fault };

/**
 * Opens the journal and starts the user's predicates. After a refusal nothing is open.
 * @param dialler all that the hub has of the network; by default it dials from this process
 */
export async function openRuntime(
  configuration: Configuration,
  dialler: Dialler = HERE,
): Promise<Result<Runtime, SetupError>> {
  const weaker = readWeaker(configuration.weaker);
  if (!weaker.ok) return refused(weaker.fault);
  const sandbox = sandboxOnDemand(configuration, weaker.value, dialler);
  const providers = openProviders(configuration, sandbox, CONFINES_PROVIDERS, dialler.dial);
  const ending = new AbortController();
  const rules = await readUsersRules(configuration, { sandbox, providers, dialler, ending });
  if (!rules.ok) return refused(rules.fault);
  const parts = { sandbox, providers, dialler, weaker: weaker.value, rules: rules.value, ending };
  const opened = openWith(configuration, parts);
  if (!opened.ok) await rules.value?.own?.close();
  return opened;
}

function openWith(
  configuration: Configuration,
  opened: Pick<Runtime, 'sandbox' | 'providers' | 'dialler' | 'weaker' | 'rules' | 'ending'>,
): Result<Runtime, SetupError> {
  const scenarios = readScenarios(configuration.scenarioFiles);
  if (!scenarios.ok) return refused(scenarios.fault);
  const store = openJournal(configuration);
  if (!store.ok) return failed({ kind: 'fault', fault: store.fault });

  keepWithin(store.value, configuration);
  const modelId = modelInUse(configuration);
  const model = openModels(configuration, scenarios.value, opened.providers);
  const wrong = modelFault(model, modelId);
  if (wrong !== null) {
    store.value.close();
    return failed({ kind: 'fault', fault: wrong });
  }
  return ok({ ...opened, store: store.value, model, modelId });
}

/** What is wrong with a model, as far as that is known without a call; null: nothing. */
export function modelFault(model: ModelBroker, name: string): Fault | null {
  const wrong = model.check(name);
  return wrong === null ? null : fault('model-failure', wrong.message, wrong.help);
}

/** Ends the user's predicates and the processes of providers and detectors, and closes the store. */
export async function closeRuntime({
  store,
  providers,
  rules,
  ending,
}: Pick<Runtime, 'store' | 'providers' | 'rules' | 'ending'>): Promise<void> {
  ending.abort();
  await Promise.all([rules?.own?.close(), providers.close()]);
  store.close();
}

export function refused(diagnostics: readonly Diagnostic[]): Result<never, SetupError> {
  return failed({ kind: 'diagnostics', diagnostics });
}

/** Loaded for those who wrote some: the language takes 60 ms, and the ready-made rules 40. */
async function readUsersRules(
  configuration: Configuration,
  { sandbox, providers, dialler, ending }: Pick<Runtime, 'sandbox' | 'providers' | 'dialler' | 'ending'>,
): Promise<Result<Rules | null, readonly Diagnostic[]>> {
  const { policyFiles, asking, namedModules } = configuration;
  if (policyFiles.length + asking.modules.length + namedModules.length === 0) return ok(null);
  const { ownPredicates, readRules } = await import('./rules/rules.ts');
  const own = await ownPredicates(configuration, sandbox, dialler);
  if (!own.ok) return own;
  const rules = readRules(configuration, sandbox, providers, ending.signal, own.value);
  if (!rules.ok) await own.value?.close();
  return rules;
}

/** What is older or more than the configuration keeps goes at every start, from the file too. */
function keepWithin(store: Store, { memory }: Configuration): void {
  const { turns, summaries, facts } = store.memories.prune(memory.retention);
  if (turns + summaries + facts > 0) store.scrub();
}
