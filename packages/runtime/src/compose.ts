/** The composition root: from a configuration to a hub, with every part that acts made here and passed in. */

import { BUILT_IN_PRICES, type Configuration, isProviderConfigured, modelInUse } from '@cordon/config';
import { CODE_ROOT, realPath, stateFolder } from '@cordon/config/reading';
import { type AppId, type Consent, type Diagnostic, type InstalledApp, ok, type Result } from '@cordon/core';
import type { Dialler } from '@cordon/dialler';
import {
  AppLogins,
  appLauncher,
  CATALOGUE,
  type CatalogueEntry,
  Hub,
  loopLauncher,
  type ModelChoice,
  type Reviewer,
  readDescription,
  StoredPins,
} from '@cordon/hub';
import type { Installer } from '@cordon/install';
import { PLANNER } from '@cordon/planner';
import type { Store } from '@cordon/trace';
import { installablesOf } from './installables.ts';
import { lookAtPath } from './machine/files.ts';
import { closeRuntime, openRuntime, type Runtime, refused, type SetupError } from './open-runtime.ts';
import { readRules } from './rules/rules.ts';

/** A hub with the runtime that it stands on. */
export interface Composed extends Runtime {
  readonly hub: Hub;
  readonly pins: StoredPins;
  /** What the policy files do that their author may not mean. */
  readonly warnings: readonly Diagnostic[];
}

/** Who looks at new apps. */
export interface Reviewing {
  /** Null: no person can be asked. */
  readonly reviewer: Reviewer | null;
  /** Takes apps that were never seen at their word: the user said so. */
  readonly pinsUnseen: boolean;
  /** Fetches packages when the user has an app installed. */
  readonly installer?: () => Promise<Installer>;
}

const NOBODY: Reviewing = { reviewer: null, pinsUnseen: false };

/** What a front end adds to a configuration. */
export interface FrontEnd {
  readonly consent: Consent;
  /** The user's home folder. */
  readonly home: string;
  /** Absent: those of the configuration. */
  readonly apps?: readonly InstalledApp[];
  /** Absent: nobody looks at new apps. */
  readonly reviewing?: Reviewing;
}

/** Opens a runtime and puts a hub together. The caller closes both with `closeRuntime`. */
export async function compose(
  configuration: Configuration,
  frontEnd: FrontEnd,
  dialler?: Dialler,
): Promise<Result<Composed, SetupError>> {
  const runtime = await openRuntime(configuration, dialler);
  if (!runtime.ok) return runtime;
  const composed = composeOn(runtime.value, configuration, frontEnd);
  if (!composed.ok) await closeRuntime(runtime.value);
  return composed;
}

/** Puts a hub together on an open runtime, whose store stays open whatever happens. */
export function composeOn(
  runtime: Runtime,
  configuration: Configuration,
  { consent, home, apps = configuration.apps, reviewing = NOBODY }: FrontEnd,
): Result<Composed, SetupError> {
  const { store, providers, model, sandbox, dialler, weaker, ending } = runtime;
  const rules =
    runtime.rules === null ? readRules(configuration, sandbox, providers, ending.signal) : ok(runtime.rules);
  if (!rules.ok) return refused(rules.fault);
  const { policy, answering, texts } = rules.value;
  const installable = configuration.installableApps.filter(({ id }) => apps.every((app) => app.id !== id));
  const pins = storedPins(configuration, store, [...apps, ...installable], reviewing);
  const hub = new Hub({
    store,
    apps,
    model,
    ...modelChoiceOf(configuration),
    planner: PLANNER,
    policy,
    launcher: appLauncher({
      sandbox,
      command: {
        configFolder: configuration.folder,
        dataFolder: configuration.dataFolder,
        home,
        closed: configuration.secretFiles,
        writable: everyApp(configuration).flatMap(({ manifest }) => manifest.files.write),
        writtenFolders: configuration.writtenFolders,
      },
      stateFolder: (app) => stateFolder(configuration.dataFolder, app.id),
    }),
    spokes: loopLauncher(sandbox, CODE_ROOT),
    pins,
    readSecret: configuration.readSecret,
    limits: configuration.limits,
    prices: new Map([...BUILT_IN_PRICES, ...configuration.prices]),
    consent,
    weaker,
    answering,
    texts,
    installables: installablesOf(configuration, reviewing.installer ?? null),
    functionalities: functionalitiesOf(configuration),
    dialler,
    lookAt: lookAtPath,
    logins: storedLogins(configuration, store),
    clock: Date.now,
    // A call in vain costs little, unless money is counted.
    speculates: isFree(configuration),
    history: configuration.memory.history,
  });
  return ok({ ...runtime, hub, pins, warnings: policy.warnings });
}

/** The model of a configuration; the built-in one neither sums up nor finds facts. */
export function modelChoiceOf(configuration: Configuration): ModelChoice {
  const { facts, summaries } = configuration.memory;
  const hasProvider = isProviderConfigured(configuration);
  return {
    modelId: modelInUse(configuration),
    facts: facts ?? (hasProvider && isFree(configuration) ? 'model' : 'patterns'),
    summaries: summaries ?? (hasProvider ? 'model' : 'extract'),
  };
}

function isFree({ limits }: Configuration): boolean {
  return limits.cost === null;
}

/** The same for every spoke, whatever is installed: the built-in list, with the user's additions and changes. */
function functionalitiesOf({ functionalities }: Configuration): readonly CatalogueEntry[] {
  const all = new Map(CATALOGUE.map(({ name, description }) => [name, description]));
  for (const [name, { description }] of functionalities) all.set(name, description);
  return [...all].map(([name, description]) => ({ name, description }));
}

/** Those that are installed, and those that could be. */
function everyApp({ apps, installableApps }: Configuration): readonly InstalledApp[] {
  return [...new Map([...apps, ...installableApps].map((app) => [app.id, app])).values()];
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

/** The user's logins to the apps of a configuration. */
export function storedLogins({ folder }: Configuration, { logins }: Store): AppLogins {
  return new AppLogins({ logins, place: realPath(folder) });
}

/** An app of a configuration; its tools, as far as they are known. */
export interface OtherApp {
  readonly id: AppId;
  readonly tools: readonly string[];
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
