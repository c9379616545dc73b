/**
 * The composition root: from a configuration to a hub, with every part that acts made here and handed in.
 *
 * Ring 1.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type Consent,
  type Diagnostic,
  type Fault,
  failed,
  fault,
  type InstalledApp,
  type Model,
  ok,
  type Result,
  type Service,
  type ServiceName,
} from '@cordon/core';
import { type Asking, KeptAnswers } from '@cordon/detectors';
import {
  type Answering,
  appLauncher,
  Hub,
  loopLauncher,
  type OtherApp,
  type Reviewer,
  readDescription,
  StoredPins,
} from '@cordon/hub';
import {
  createModelBroker,
  createObedientModel,
  createService,
  type EndpointKind,
  parseScenario,
  type Scenario,
  sleep,
} from '@cordon/llm';
import { type LayerName, openSandbox, type Sandbox } from '@cordon/sandbox';
import { openStore, type Store } from '@cordon/trace';
import type { AskingSettings } from './asking-config.ts';
import { type Configuration, isProviderConfigured, modelInUse } from './config.ts';
import { BUILT_IN_PRICES } from './limits-config.ts';
import { realPath, stateFolder } from './paths.ts';
import { CODE_ROOT, readPolicies } from './policy-in-force.ts';
import { OBEDIENT_MODEL } from './provider-config.ts';
import { readWeaker } from './weaker.ts';

export interface Composed {
  readonly hub: Hub;
  readonly store: Store;
  readonly pins: StoredPins;
  /** `provider/model` */
  readonly modelId: string;
  /** Layers of the sandbox that nothing here has. */
  readonly weaker: readonly LayerName[];
  /** What the policy files do that their author may not mean. */
  readonly warnings: readonly Diagnostic[];
}

/** What stands in the way: texts that a person wrote, or something outside. */
export type Obstacle =
  | { readonly kind: 'diagnostics'; readonly diagnostics: readonly Diagnostic[] }
  | { readonly kind: 'fault'; readonly fault: Fault };

/** Who looks at apps that nobody has agreed to. */
export interface Reviewing {
  /** Null: nobody can be asked. */
  readonly reviewer: Reviewer | null;
  /** Takes apps that were never seen at their word: the user said so. */
  readonly pinsUnseen: boolean;
}

const NOBODY: Reviewing = { reviewer: null, pinsUnseen: false };

export function compose(
  configuration: Configuration,
  consent: Consent,
  home: string,
  apps: readonly InstalledApp[] = configuration.apps,
  reviewing: Reviewing = NOBODY,
): Result<Composed, Obstacle> {
  const answering = answeringOf(configuration.asking);
  const { packs, policyFiles } = configuration;
  const asking = askingOf(answering);
  const policy = readPolicies({ packs, files: policyFiles, asking });
  if (!policy.ok) return refused(policy.fault);
  const scenarios = readScenarios(configuration.scenarioFiles);
  if (!scenarios.ok) return refused(scenarios.fault);
  const weaker = readWeaker(configuration.weaker);
  if (!weaker.ok) return refused(weaker.fault);
  const store = openJournal(configuration);
  if (!store.ok) return failed({ kind: 'fault', fault: store.fault });

  keepWithin(store.value, configuration);
  const modelId = modelInUse(configuration);
  const { model, check } = broker(configuration, scenarios.value);
  const wrong = check(modelId);
  if (wrong !== null) {
    store.value.close();
    return failed({ kind: 'fault', fault: fault('model-failure', wrong.message, wrong.help) });
  }
  const sandbox = sandboxOnDemand(configuration, weaker.value);
  const pins = storedPins(configuration, store.value, apps, reviewing);
  const hub = new Hub({
    store: store.value,
    apps,
    model,
    modelId,
    policy: policy.value,
    launcher: appLauncher({
      sandbox,
      command: {
        configFolder: configuration.folder,
        dataFolder: configuration.dataFolder,
        home,
        closed: configuration.secretFiles,
        writable: configuration.apps.flatMap(({ manifest }) => manifest.files.write),
      },
      stateFolder: (app) => stateFolder(configuration.dataFolder, app.id),
      socketFolder: join(configuration.dataFolder, 'sockets'),
    }),
    spokes: loopLauncher(sandbox, CODE_ROOT, join(configuration.dataFolder, 'loop')),
    pins,
    readSecret: configuration.readSecret,
    limits: configuration.limits,
    prices: new Map([...BUILT_IN_PRICES, ...configuration.prices]),
    consent,
    weaker: weaker.value,
    answering,
    installable: configuration.installable,
    clock: Date.now,
    // A call in vain costs little, unless money is counted.
    foresees: configuration.limits.cost === null,
    summaries: configuration.memory.summaries ?? (isProviderConfigured(configuration) ? 'model' : 'extract'),
  });
  return ok({
    hub,
    store: store.value,
    pins,
    modelId,
    weaker: weaker.value,
    warnings: policy.value.warnings,
  });
}

/** Who answers questions of rules, with what is known of their answers; null: the configuration gives nobody. */
export function answeringOf({ model, endpoints, seconds }: AskingSettings): Answering | null {
  if (model === null && endpoints.size === 0) return null;
  const services = [...endpoints].map(([kind, endpoint]): [EndpointKind, Service] => [
    kind,
    createService(kind, endpoint, (input, init) => fetch(input, init)),
  ]);
  return { book: new KeptAnswers(Date.now), model, services: new Map(services), seconds };
}

/** The same as detectors see it. */
export function askingOf(answering: Answering | null): Asking | undefined {
  if (answering === null) return undefined;
  const { book, model, services } = answering;
  const offers: ReadonlySet<ServiceName> = new Set([
    ...(model === null ? [] : ['llm' as const]),
    ...services.keys(),
  ]);
  return { book, offers, model };
}

/** What was agreed to of the apps of a configuration. */
export function storedPins(
  { folder, entries }: Configuration,
  store: Store,
  apps: readonly InstalledApp[],
  { reviewer, pinsUnseen }: Reviewing = NOBODY,
): StoredPins {
  return new StoredPins({
    pins: store.pins,
    place: realPath(folder),
    apps,
    configured: ({ id }) => entries.get(id)?.configured ?? null,
    demanded: (app) => entries.get(app)?.pin ?? null,
    reviewer,
    pinsUnseen,
  });
}

/** The apps of a configuration with the tools that are known of them, to find what one says about another. */
export function knownApps({ folder, apps }: Configuration, store: Store): readonly OtherApp[] {
  const place = realPath(folder);
  return apps.map(({ id }) => {
    const pin = store.pins.find(place, id);
    const description = pin === null ? null : readDescription(pin.description);
    return { id, tools: description?.tools.map(({ name }) => name) ?? [] };
  });
}

/** The result of a passed self-test is kept among the hub's own files, where no app can write. */
export function machineSandbox(
  { dataFolder }: Pick<Configuration, 'dataFolder'>,
  weaker: readonly LayerName[] = [],
): Sandbox {
  return openSandbox({ node: process.execPath, cacheFile: join(dataFolder, 'sandbox.json'), weaker });
}

/** Opened when the first process is to be confined: to see what the machine has takes 10 ms, and the prompt needs none of it. */
function sandboxOnDemand(configuration: Configuration, weaker: readonly LayerName[]): Sandbox {
  let opened: Sandbox | null = null;
  const sandbox = () => {
    opened ??= machineSandbox(configuration, weaker);
    return opened;
  };
  return { probe: () => sandbox().probe(), spawn: (spec, signal) => sandbox().spawn(spec, signal) };
}

/** What is older or more than the configuration keeps goes at every start, from the file too. */
function keepWithin(store: Store, { memory }: Configuration): void {
  const { turns, summaries, facts } = store.memories.prune(memory.retention);
  if (turns + summaries + facts > 0) store.scrub();
}

/** The store; creates the data folder. */
export function openJournal({
  dataFolder,
  readKey,
  readJournalKey,
}: Pick<Configuration, 'dataFolder' | 'readKey' | 'readJournalKey'>): Result<Store, Fault> {
  const key = readKey();
  if (!key.ok) return key;
  const journalKey = readJournalKey();
  if (!journalKey.ok) return journalKey;
  const opened = openStore(dataFolder, Date.now, { key: key.value, journalKey: journalKey.value });
  if (opened.ok) return opened;
  const { message, help } = opened.fault;
  return failed(fault('journal-unavailable', message, help));
}

function refused(diagnostics: readonly Diagnostic[]): Result<never, Obstacle> {
  return failed({ kind: 'diagnostics', diagnostics });
}

function readScenarios(files: readonly string[]): Result<readonly Scenario[], readonly Diagnostic[]> {
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
