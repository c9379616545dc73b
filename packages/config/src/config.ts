/**
 * The one place that reads files of configuration and the environment. What comes out is complete and checked;
 * nothing behind it looks at `process.env` or at `cordon.json` again.
 *
 * See docs/cli.md for the format and the codes.
 */
import { createHash } from 'node:crypto';
import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import {
  type AppId,
  DEFAULT_RETRY_LIMITS,
  DEFAULT_TURN_LIMITS,
  type Diagnostic,
  type Fault,
  failed,
  type InstalledApp,
  type ModelPrice,
  type ModelPrices,
  ok,
  type ProviderConfig,
  type ReadSecret,
  type Result,
  type RetryLimits,
  type ToolLabelEntry,
  type TurnLimits,
} from '@cordon/core';
import type { StoreKey } from '@cordon/trace';
import { type AnswerRule, parseAnswers } from './answers.ts';
import {
  type AppEntry,
  addressProblem,
  type HandedVariable,
  providerAddressProblem,
  readApps,
} from './apps/app-config.ts';
import { readFunctionalityList } from './apps/functionality-config.ts';
import { readInstallable } from './apps/installable-config.ts';
import { readLabels } from './apps/label-file.ts';
import type { KnownFunctionalities, KnownFunctionality } from './apps/manifest-config.ts';
import { isMarked } from './apps/marks.ts';
import {
  JOURNAL_KEY_FILE_VARIABLE,
  JOURNAL_KEY_VARIABLE,
  keyFiles,
  readJournalKey,
} from './keys/journal-key.ts';
import { keptSecret } from './keys/kept-secrets.ts';
import { secretReader } from './keys/secret.ts';
import { KEY_FILE_VARIABLE, KEY_VARIABLE, keySource, readStoreKey } from './keys/store-key.ts';
import { ConfigReader, type Located, type Problem, quoted } from './reading/config-reader.ts';
import { suggestion } from './reading/nearest.ts';
import {
  absolutePath,
  configurationCandidates,
  defaultDataFolder,
  isFile,
  ownPaths,
  type Places,
  realPath,
  writtenFolders,
} from './reading/paths.ts';
import { type Folders, readPath } from './reading/placeholders.ts';
import { parseJsonFile, readTextFile } from './reading/text-file.ts';
import { ASKS_NOBODY, type AskingSettings, readAsking } from './settings/asking-config.ts';
import { type LimitOptions, readLimits, readPrices, withLimitOptions } from './settings/limits-config.ts';
import { type MemorySettings, readMemorySettings, SILENT_MEMORY } from './settings/memory-config.ts';
import { type ModuleSettings, moduleAt } from './settings/module-settings.ts';
import { NO_PACKAGE_SETTINGS, type PackageSettings, readPackages } from './settings/package-config.ts';
import { DEFAULT_PACKS, PACKS } from './settings/packs.ts';
import {
  assembleProviders,
  keyVariables,
  modelProblem,
  OBEDIENT_MODEL,
  type OutsideProblem,
  type ProviderEntry,
  providerOf,
  readBaseURL,
  readProviders,
  readRetries,
  secretKey,
} from './settings/provider-config.ts';
import { type WantedLayer, wantedLayers } from './settings/wanted-layer.ts';

/** From the command line; paths are relative to the current folder. */
export interface ConfigurationOptions extends LimitOptions {
  readonly config?: string | undefined;
  readonly model?: string | undefined;
  readonly baseURL?: string | undefined;
  /** Added to the file's. */
  readonly policy?: readonly string[] | undefined;
  readonly scenario?: readonly string[] | undefined;
  /** Modules of the user's predicates, beside the file's; they reach no host. */
  readonly detectors?: readonly string[] | undefined;
  readonly data?: string | undefined;
  /** `weaker=LAYER,LAYER` */
  readonly sandbox?: string | undefined;
  /** No file counts, whoever wrote it. */
  readonly withoutFile?: boolean | undefined;
  /** Looks for no file in the current folder. */
  readonly withoutFound?: boolean | undefined;
}

export interface ConfigurationSources extends Places {
  readonly options: ConfigurationOptions;
}

export interface Configuration {
  /** Null if there is none; `apps` is then empty. */
  readonly file: string | null;
  /** The file's folder, or the current one: relative paths of the file begin here. */
  readonly folder: string;
  /**
   * How the file came to count: `named` on the command line, `own`, in the user's own folder, or `found` in the current
   * folder, where someone else may have put it. `none`: there is no file.
   */
  readonly origin: 'named' | 'own' | 'found' | 'none';
  /** SHA-256 of the file's text, in hexadecimal; empty where there is none. */
  readonly digest: string;
  /** Where the user keeps data, whatever the file says: what is remembered about files stands there. */
  readonly ownDataFolder: string;
  /** Keeps what any app of the user was ever granted for writing, whatever the file and `--data` say. */
  readonly writtenFolders: string;
  /** Where a file was looked for, in order. */
  readonly searched: readonly string[];
  readonly apps: readonly InstalledApp[];
  /** Of each app: its entry as it is in the file, and the `pin`. */
  readonly entries: ReadonlyMap<AppId, AppEntry>;
  readonly disabledApps: readonly AppId[];
  /** Which variables of the user's environment the apps are given; for `cordon apps`. */
  readonly handedVariables: readonly HandedVariable[];
  /** Files that hold keys and secrets; no app sees one. */
  readonly secretFiles: readonly string[];
  /** `provider/model`, or null where none is configured: `modelInUse` then says `obedient`. */
  readonly model: string | null;
  /** For the model broker. Holds the keys: for the requests' headers and nothing else. */
  readonly providers: ReadonlyMap<string, ProviderConfig>;
  /** How often and how long a model call is tried. */
  readonly retries: RetryLimits;
  /** What one query may use. */
  readonly limits: TurnLimits;
  /** What models cost, where the file says it. */
  readonly prices: ModelPrices;
  /** Entries of `installable`, those that were installed by now among them: these are `apps` too. */
  readonly installableApps: readonly InstalledApp[];
  /** Names of apps of `installable`, by the functionality that each would serve. */
  readonly installable: ReadonlyMap<string, readonly string[]>;
  /** Where `cordon apps search` looks; null: nowhere. */
  readonly appRegistry: string | null;
  /** Where packages of apps come from, besides what npm and pip are configured for. */
  readonly packages: PackageSettings;
  /** Functionalities that every spoke knows besides the built-in ones. */
  readonly functionalities: KnownFunctionalities;
  /** The ready-made policies that are in force, by name. */
  readonly packs: readonly string[];
  /** Absolute paths of files that exist. */
  readonly policyFiles: readonly string[];
  readonly scenarioFiles: readonly string[];
  readonly memory: MemorySettings;
  /** Who answers what detectors of rules ask. */
  readonly asking: AskingSettings;
  /** Modules of predicates that the command line names, beside those of the file. */
  readonly namedModules: readonly ModuleSettings[];
  /** The key of the store, read when it is asked for; null: the store has none. */
  readonly readKey: () => Result<StoreKey | null, Fault>;
  /** The key that signs the journal; null: it is not signed. */
  readonly readJournalKey: () => Result<Uint8Array | null, Fault>;
  readonly dataFolder: string;
  /** Not checked here: the names are those of the sandbox, which most commands never load. See weaker.ts. */
  readonly weaker: readonly WantedLayer[];
  /** The text of a secret that a manifest's credential names; read when it is asked for. */
  readonly readSecret: ReadSecret;
  readonly warnings: readonly Diagnostic[];
}

/**
 * Finds and reads the configuration. Failure holds every problem that was found, errors and warnings; success holds
 * the warnings. Never throws, whatever the files hold. Creates and changes nothing.
 */
export function loadConfiguration(
  sources: ConfigurationSources,
): Result<Configuration, readonly Diagnostic[]> {
  const outside: Diagnostic[] = [];
  const report = (problem: OutsideProblem) => outside.push(outsideDiagnostic(problem));
  const { environment, options } = sources;
  const found = findFile(sources);
  const { file } = found;
  const text = file === null ? ok('') : readTextFile(file);
  if (!text.ok) return failed([text.fault]);
  const tree = file === null ? ok(null) : parseJsonFile(file, text.value);
  if (!tree.ok) return failed([tree.fault]);
  const reader = new ConfigReader(file ?? 'cordon.json', text.value);
  const root = tree.value === null ? null : reader.root(tree.value);
  const { settings, providers, address } = readContent(root, sources, found);
  const model = chooseModel(sources, settings.model, providers, report);
  const optionLayers = wantedLayers(options.sandbox);
  if (!optionLayers.ok) outside.push(optionLayers.fault);
  const configuration: Configuration = {
    ...found,
    ...settings,
    digest: file === null ? '' : digestOfText(text.value),
    ownDataFolder: ownDataFolderOf(sources),
    writtenFolders: writtenFolders(defaultDataFolder(sources)),
    limits: withLimitOptions(settings.limits, options, report),
    model,
    providers: assembleProviders(
      {
        environment,
        entries: providers,
        fileAddress: address,
        optionAddress: optionAddress(sources, model, report),
      },
      report,
    ),
    policyFiles: distinctFiles([...settings.policyFiles, ...optionFiles(sources, 'policy', report)]),
    scenarioFiles: distinctFiles([...settings.scenarioFiles, ...optionFiles(sources, 'scenario', report)]),
    readSecret: secretReader(environment),
    namedModules: optionModules(sources, [settings.dataFolder, ...folderOf(file)], report),
    readJournalKey: () => readJournalKey(environment),
    readKey: () => readStoreKey(keySource(environment, settings.memory.key), environment),
    weaker: [...settings.weaker, ...(optionLayers.ok ? optionLayers.value : [])],
    warnings: [],
  };
  for (const problem of missingKeys(configuration)) report(problem);
  const diagnostics = [...outside, ...reader.diagnostics.toSorted(byPlace)];
  if (diagnostics.some(({ severity }) => severity === 'error')) return failed(diagnostics);
  return ok({ ...configuration, warnings: diagnostics });
}

function byPlace(a: Diagnostic, b: Diagnostic): number {
  return (a.range?.line ?? 0) - (b.range?.line ?? 0) || (a.range?.column ?? 0) - (b.range?.column ?? 0);
}

/** Of a configuration file, as agreements name it. */
export function digestOfText(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** The session's model: the configured one, else the built-in obedient one. */
export function modelInUse(configuration: Configuration): string {
  return configuration.model ?? OBEDIENT_MODEL;
}

/** Whether the session's model is a real one that can be reached: it has a key, or an address that may need none. */
export function isProviderConfigured(configuration: Configuration): boolean {
  return isModelReachable(configuration, modelInUse(configuration));
}

/** Whether this is a model of a provider that has a key, or an address that may need none. */
export function isModelReachable({ providers }: Pick<Configuration, 'providers'>, model: string): boolean {
  const provider = providers.get(providerOf(model));
  return provider !== undefined && isReachable(provider);
}

function isReachable(provider: ProviderConfig): boolean {
  return provider.kind === 'openai-compatible' || (provider.key ?? '') !== '';
}

/** Reads and parses `--answers FILE`, whose path is relative to the current folder; its rules name installed apps. */
export function loadAnswers(
  file: string,
  places: Pick<ConfigurationSources, 'cwd' | 'home'>,
  { apps, disabledApps }: Pick<Configuration, 'apps' | 'disabledApps'>,
): Result<readonly AnswerRule[], readonly Diagnostic[]> {
  const text = readTextFile(absolutePath(file, places.cwd, places.home));
  if (!text.ok) return failed([text.fault]);
  return parseAnswers(file, text.value, [...apps.map(({ id }) => id), ...disabledApps]);
}

/** A file that both the configuration and an option name is read once: twice, its attacks would come twice. */
function distinctFiles(files: readonly string[]): readonly string[] {
  return [...new Map(files.map((file) => [realPath(file), file])).values()];
}

type Found = Pick<Configuration, 'file' | 'folder' | 'searched' | 'origin'>;

function findFile(sources: ConfigurationSources): Found {
  const { options, cwd, home } = sources;
  const none = { file: null, folder: cwd, origin: 'none' } as const;
  if (options.withoutFile === true) return { ...none, searched: [] };
  if (options.config !== undefined) {
    const file = absolutePath(options.config, cwd, home);
    return { file, folder: dirname(file), searched: [file], origin: 'named' };
  }
  const candidates = configurationCandidates(sources);
  const searched = options.withoutFound === true ? candidates.slice(-1) : candidates;
  const file = searched.find(exists);
  if (file === undefined) return { ...none, searched };
  const isOwn = realPath(file) === realPath(candidates.at(-1) ?? '');
  return { file, folder: dirname(file), searched, origin: isOwn ? 'own' : 'found' };
}

/** A folder or a broken link of that name is reported when it is read, not passed over. */
function exists(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
}

/** What a file says, by itself: the fields of the configuration, and for the providers what options may still change. */
function readContent(root: Located | null, sources: ConfigurationSources, { file, folder, origin }: Found) {
  const { environment, cwd, home, options } = sources;
  const object = root?.object() ?? null;
  const get = (key: string) => object?.get(key) ?? null;
  const read = <T>(key: string, reading: (at: Located) => T) => object?.read(key, reading) ?? null;
  const folders: Folders = { home, config: folder, state: '' };
  const dataPath = read('data', (at) => readPath(at, folders)) ?? defaultDataFolder(sources);
  const dataFolder = options.data === undefined ? dataPath : absolutePath(options.data, cwd, home);
  const ownDataFolder = ownDataFolderOf(sources);
  const policyFiles = read('policy', (at) => readFileList(at, folders)) ?? [];
  const providers = read('providers', readProviders) ?? new Map<string, ProviderEntry>();
  const baseURL = object === null ? null : readBaseURL(object);
  const model = read('model', (at) => at.checked(modelCheck(providers, baseURL !== null)));
  // The provider of the session's model may answer rules, too, at the address that the file gives.
  const addressed = baseURL === null || model === null ? null : providerOf(model);
  const readJudge = (at: Located) =>
    at.checked((name) => modelProblem(name, providers.keys(), providerOf(name) === addressed));
  const memory =
    read('memory', (at) => readMemorySettings(at, { folders, isFound: origin === 'found' })) ?? SILENT_MEMORY;
  const closed = [dataFolder, ...folderOf(file)];
  const asking =
    read('detectors', (at) => readAsking(at, environment, readJudge, { folder, home, closed })) ??
    ASKS_NOBODY;
  const functionalities =
    read('functionalities', (at) => readFunctionalityList(at, namesIn(APP_SECTIONS.map(get)))) ??
    new Map<string, KnownFunctionality>();
  const secret = (name: string) => keptSecret({ ownDataFolder, folder }, name);
  const { apps, installable, ...others } = readApps(
    { apps: get('apps'), mcpServers: get('mcpServers'), installable: get('installable') },
    {
      folder,
      home,
      environment,
      dataFolder,
      ownPaths: ownPaths(
        sources,
        [
          [dataFolder, 'the data folder'],
          [ownDataFolder, 'your own data folder'],
        ],
        file === null ? [] : [file],
        policyFiles,
      ),
      keyFiles: keyFiles(sources, memory.key),
      readModel: (at) => at.checked(modelCheck(providers, false)),
      known: functionalities,
      secret,
      keyVariables: new Set([
        ...keyVariables(providers),
        KEY_VARIABLE,
        KEY_FILE_VARIABLE,
        JOURNAL_KEY_VARIABLE,
        JOURNAL_KEY_FILE_VARIABLE,
      ]),
    },
  );
  const { entries, disabledApps } = others;
  const labels = read('labels', readLabels) ?? [];
  read('labels', (at) => reportStrangers(at, labels, [...entries.keys(), ...disabledApps]));
  const installableApps = installable.map((app) => withLabels(app, labels));
  const installed = installableApps.filter(({ id: app }) =>
    isMarked({ ownDataFolder, folder, app, configured: entries.get(app)?.configured ?? null }),
  );
  const settings = {
    ...others,
    apps: [...apps.map((app) => withLabels(app, labels)), ...installed],
    installableApps,
    installable: readInstallable(get('installable'), new Set<string>(entries.keys()), installableApps),
    dataFolder,
    model,
    retries: read('retries', readRetries) ?? DEFAULT_RETRY_LIMITS,
    limits: read('limits', readLimits) ?? DEFAULT_TURN_LIMITS,
    prices: read('prices', readPrices) ?? new Map<string, ModelPrice>(),
    functionalities,
    appRegistry: read('appRegistry', (at) => at.checked(addressProblem)),
    packages: read('packages', (at) => readPackages(at, secret)) ?? NO_PACKAGE_SETTINGS,
    packs: read('packs', readPacks) ?? DEFAULT_PACKS,
    policyFiles,
    scenarioFiles: read('scenario', (at) => readFileList(at, folders)) ?? [],
    memory,
    asking,
    weaker: read('sandbox', readSandbox) ?? [],
  };
  get('$schema');
  object?.finish(foreignSection);
  const address = baseURL === null ? null : { provider: providerOf(model ?? 'openai'), baseURL };
  return { settings, providers, address };
}

function modelCheck(providers: ReadonlyMap<string, ProviderEntry>, hasAddress: boolean) {
  return (name: string) => modelProblem(name, providers.keys(), hasAddress);
}

const APP_SECTIONS = ['apps', 'mcpServers', 'installable'] as const;

/** The names of all apps, whether what stands behind them can be read or not. */
function namesIn(sections: readonly (Located | null)[]): readonly string[] {
  return sections.flatMap((at) => (at?.node.kind === 'object' ? at.node.members.map(({ key }) => key) : []));
}

/** Names of packs, each once. An unknown one is an error: what it was to stop would not be stopped. */
function readPacks(at: Located): readonly string[] {
  const known = PACKS.map(({ name }) => name);
  const named = at.list('a list of names of packs', (item) =>
    item.word(known, (name) => ({
      code: 'CFG045',
      message: `there is no pack ${quoted(name)}`,
      help: suggestion(name, known, `packs: ${known.join(', ')}`),
    })),
  );
  return [...new Set(named)];
}

/** What the labels say of an app's tools, by tool alone: what they say of this app comes last, and so applies. */
function withLabels(app: InstalledApp, labels: readonly ToolLabelEntry[]): InstalledApp {
  const any = labels.filter((entry) => entry.app === null);
  const own = labels.filter((entry) => entry.app === app.id).map((entry) => ({ ...entry, app: null }));
  return any.length + own.length === 0
    ? app
    : { ...app, manifest: { ...app.manifest, labels: [...any, ...own] } };
}

/** Labels of an app that is not there are a slip: the app that was meant would keep the strict ones, unseen. */
function reportStrangers(at: Located, labels: readonly ToolLabelEntry[], apps: readonly string[]): void {
  for (const name of new Set(labels.map(({ app }) => app))) {
    if (name === null || apps.includes(name)) continue;
    const help = suggestion(name, apps, `installed apps: ${apps.join(', ')}`);
    at.report({ code: 'LAB003', message: `no app ${quoted(name)} is installed`, help });
  }
}

function foreignSection(key: string): Problem | null {
  if (key === 'servers' || key === 'mcp') {
    const message = `the key ${quoted(key)} is unknown`;
    return { code: 'CFG006', message, help: 'write `mcpServers` or `apps`' };
  }
  return secretKey(key);
}

/** The user's own data folder. The file cannot say otherwise. */
export function ownDataFolderOf(sources: ConfigurationSources): string {
  const { options, cwd, home } = sources;
  return options.data === undefined ? defaultDataFolder(sources) : absolutePath(options.data, cwd, home);
}

/** `{"weaker": ["watchdog"]}` */
function readSandbox(at: Located): WantedLayer[] {
  const object = at.object();
  const weaker = object?.read('weaker', (layers) =>
    layers.list('an array of layers', (item) => {
      const name = item.string();
      return name === null ? null : { name, place: item.place };
    }),
  );
  object?.finish();
  return weaker ?? [];
}

/** One path or a list of them; each must be a file that exists. */
function readFileList(at: Located, folders: Folders): string[] {
  const items = at.node.kind === 'string' ? [at] : at.items('a path or an array of paths');
  return items.flatMap((item) => {
    const path = readPath(item, folders);
    const problem = path === null || isFile(path) ? null : missingFile(path, 'the folder of this file');
    return (problem === null ? path : item.report(problem)) ?? [];
  });
}

function missingFile(path: string, start: string): Problem {
  const message = `there is no file ${quoted(path)}`;
  return { code: 'CFG020', message, help: `paths are relative to ${start}` };
}

function optionFiles(
  sources: ConfigurationSources,
  name: 'policy' | 'scenario',
  report: (problem: OutsideProblem) => void,
): string[] {
  return (sources.options[name] ?? []).flatMap((given) => {
    const path = absolutePath(given, sources.cwd, sources.home);
    if (isFile(path)) return [path];
    report({ source: 'command line', name: `--${name}`, ...missingFile(path, 'the current folder') });
    return [];
  });
}

/** Of a configuration file, where there is one. */
function folderOf(file: string | null): readonly string[] {
  return file === null ? [] : [dirname(file)];
}

function optionModules(
  { options, cwd, home }: ConfigurationSources,
  closed: readonly string[],
  report: (problem: OutsideProblem) => void,
): readonly ModuleSettings[] {
  return (options.detectors ?? []).flatMap((path) => {
    const module = moduleAt(path, [], { folder: cwd, home, closed });
    if (module.ok) return [module.value];
    report({ code: 'CFG050', source: 'command line', name: '--detectors', ...module.fault });
    return [];
  });
}

/** The command line, then `CORDON_MODEL`, then the file. */
function chooseModel(
  { options, environment }: ConfigurationSources,
  ofFile: string | null,
  providers: ReadonlyMap<string, ProviderEntry>,
  report: (problem: OutsideProblem) => void,
): string | null {
  const variable = environment.CORDON_MODEL === '' ? undefined : environment.CORDON_MODEL;
  const given = options.model ?? variable;
  if (given === undefined) return ofFile;
  const problem = modelProblem(given, providers.keys(), options.baseURL !== undefined);
  if (problem === null) return given;
  report({
    ...problem,
    ...(options.model === undefined
      ? { source: 'environment', name: 'CORDON_MODEL' }
      : { source: 'command line', name: '--model' }),
  });
  return null;
}

function optionAddress(
  sources: ConfigurationSources,
  model: string | null,
  report: (problem: OutsideProblem) => void,
): { provider: string; baseURL: string } | null {
  const given = sources.options.baseURL;
  if (given === undefined) return null;
  const problem =
    providerAddressProblem(given) ?? (model === null || model === OBEDIENT_MODEL ? UNUSED_ADDRESS : null);
  if (problem !== null) report({ ...problem, source: 'command line', name: '--base-url' });
  if (problem !== null && problem.severity !== 'warning') return null;
  return { provider: providerOf(model ?? 'openai'), baseURL: given };
}

const UNUSED_ADDRESS: Problem = {
  code: 'CFG012',
  message: 'a server address was given without a model',
  help: 'add `--model openai/NAME` with the name that the server knows',
};

/** Every model that is named needs a provider that can be reached; said early, because `401` says less. */
function missingKeys(configuration: Configuration): OutsideProblem[] {
  const models = [
    configuration.model,
    configuration.asking.model,
    ...configuration.apps.map(({ model }) => model),
  ];
  const names = new Set(models.flatMap((model) => (model === null ? [] : providerOf(model))));
  return [...names].flatMap((name) => {
    const provider = configuration.providers.get(name);
    const variable = provider?.keyVariable;
    if (provider === undefined || variable === undefined || isReachable(provider)) return [];
    return {
      code: 'CFG025',
      severity: 'warning',
      source: 'environment',
      name: variable,
      message: `the models of \`${name}\` need a key, and there is none in \`${variable}\``,
      help: `\`export ${variable}=…\`, or give an address that needs none with \`--base-url\``,
    };
  });
}

function outsideDiagnostic(problem: OutsideProblem): Diagnostic {
  const { source, name, severity = 'error', ...rest } = problem;
  return { severity, file: source, path: name, ...rest };
}
