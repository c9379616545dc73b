/**
 * The one place that reads files of configuration and the environment. What comes out is complete and checked;
 * nothing behind it looks at `process.env` or at `cordon.json` again.
 *
 * Ring 0; see docs/cli.md for the format and the codes.
 */
import { createHash } from 'node:crypto';
import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import {
  type AppId,
  type Diagnostic,
  type Fault,
  failed,
  type InstalledApp,
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
  type AppsResult,
  type HandedVariable,
  providerAddressProblem,
  readAddress,
  readApps,
} from './apps/app-config.ts';
import { readFunctionalityList } from './apps/functionality-config.ts';
import { readInstallable, withEntries } from './apps/installable-config.ts';
import { readLabels } from './apps/label-file.ts';
import {
  type KnownFunctionalities,
  type KnownFunctionality,
  type OwnPath,
  readPath,
} from './apps/manifest-config.ts';
import { isMarked } from './apps/marks.ts';
import {
  JOURNAL_KEY_FILE_VARIABLE,
  JOURNAL_KEY_VARIABLE,
  keyFiles,
  readJournalKey,
} from './keys/journal-key.ts';
import { secretReader } from './keys/secret.ts';
import { KEY_FILE_VARIABLE, KEY_VARIABLE, keySource, readStoreKey } from './keys/store-key.ts';
import { ConfigReader, type Located, type Problem, quoted } from './reading/config-reader.ts';
import type { JsonNode } from './reading/json-text.ts';
import { suggestion } from './reading/nearest.ts';
import {
  absolutePath,
  cacheFolder,
  configurationCandidates,
  defaultDataFolder,
  isFile,
  type Places,
  PROGRAM_FOLDERS,
  realPath,
  writtenFolders,
} from './reading/paths.ts';
import { parseJsonFile, readTextFile } from './reading/text-file.ts';
import { ASKS_NOBODY, type AskingSettings, readAsking } from './settings/asking-config.ts';
import { type LimitOptions, readLimits, readPrices, withLimitOptions } from './settings/limits-config.ts';
import { type MemorySettings, readMemorySettings, SILENT_MEMORY } from './settings/memory-config.ts';
import { type ModuleSettings, moduleAt } from './settings/module-settings.ts';
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
  const found = findFile(sources);
  const text = found.file === null ? ok(null) : readTextFile(found.file);
  if (!text.ok) return failed([text.fault]);
  const tree = found.file === null || text.value === null ? ok(null) : parseJsonFile(found.file, text.value);
  if (!tree.ok) return failed([tree.fault]);
  const reader = new ConfigReader(found.file ?? 'cordon.json', text.value ?? '');
  const content = readContent(reader, tree.value, sources, found);
  const model = chooseModel(sources, content, report);
  const optionLayers = wantedLayers(sources.options.sandbox);
  if (!optionLayers.ok) outside.push(optionLayers.fault);
  const configuration: Configuration = {
    file: found.file,
    folder: found.file === null ? sources.cwd : dirname(found.file),
    origin: found.origin,
    digest: text.value === null ? '' : digestOfText(text.value),
    ownDataFolder: ownDataFolderOf(sources),
    writtenFolders: writtenFolders(defaultDataFolder(sources)),
    searched: found.searched,
    ...content.apps,
    dataFolder: content.dataFolder,
    retries: content.retries,
    limits: withLimitOptions(content.limits, sources.options, report),
    prices: content.prices,
    installable: content.installable,
    installableApps: content.installableApps,
    functionalities: content.functionalities,
    appRegistry: content.appRegistry,
    model,
    providers: assembleProviders(
      {
        environment: sources.environment,
        entries: content.providers,
        fileAddress: content.address,
        optionAddress: optionAddress(sources, model, report),
      },
      report,
    ),
    packs: content.packs,
    policyFiles: distinctFiles([...content.policyFiles, ...optionFiles(sources, 'policy', report)]),
    scenarioFiles: distinctFiles([...content.scenarioFiles, ...optionFiles(sources, 'scenario', report)]),
    readSecret: secretReader(sources.environment),
    memory: content.memory,
    asking: content.asking,
    namedModules: optionModules(sources, [content.dataFolder, ...folderOf(found.file)], report),
    readJournalKey: () => readJournalKey(sources.environment),
    readKey: () => readStoreKey(keySource(sources.environment, content.memory.key), sources.environment),
    weaker: [...content.weaker, ...(optionLayers.ok ? optionLayers.value : [])],
    warnings: [],
  };
  for (const problem of missingKeys(configuration)) report(problem);
  const diagnostics = [...outside, ...[...reader.diagnostics].sort(byPlace)];
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
  const provider = configuration.providers.get(providerOf(modelInUse(configuration)));
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

interface Content {
  readonly apps: Pick<Configuration, 'apps' | 'entries' | 'disabledApps' | 'handedVariables' | 'secretFiles'>;
  readonly dataFolder: string;
  readonly model: string | null;
  readonly providers: ReadonlyMap<string, ProviderEntry>;
  readonly retries: RetryLimits;
  readonly limits: TurnLimits;
  readonly prices: ModelPrices;
  readonly installable: Configuration['installable'];
  readonly installableApps: Configuration['installableApps'];
  readonly functionalities: Configuration['functionalities'];
  readonly appRegistry: string | null;
  readonly address: { readonly provider: string; readonly baseURL: string } | null;
  readonly packs: readonly string[];
  readonly policyFiles: readonly string[];
  readonly scenarioFiles: readonly string[];
  readonly memory: MemorySettings;
  readonly asking: AskingSettings;
  readonly weaker: readonly WantedLayer[];
}

type Found = Pick<Configuration, 'file' | 'searched' | 'origin'>;

function findFile(sources: ConfigurationSources): Found {
  const { options, cwd, home } = sources;
  if (options.withoutFile === true) return { file: null, searched: [], origin: 'none' };
  if (options.config !== undefined) {
    const file = absolutePath(options.config, cwd, home);
    return { file, searched: [file], origin: 'named' };
  }
  const candidates = configurationCandidates(sources);
  const searched = options.withoutFound === true ? candidates.slice(-1) : candidates;
  const file = searched.find(exists) ?? null;
  const own = searched.at(-1);
  const isOwn = file !== null && own !== undefined && realPath(file) === realPath(own);
  return { file, searched, origin: file === null ? 'none' : isOwn ? 'own' : 'found' };
}

/** A folder or a broken link of that name is reported when it is read, not passed over. */
function exists(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
}

function readContent(
  reader: ConfigReader,
  root: JsonNode | null,
  sources: ConfigurationSources,
  { file, origin }: Found,
): Content {
  const { environment, cwd, home, options } = sources;
  const folder = file === null ? cwd : dirname(file);
  const object = root === null ? null : reader.object({ node: root, path: '' });
  const get = (key: string) => object?.get(key) ?? null;
  const values = { state: '', config: folder, environment: null };
  const dataAt = get('data');
  const dataPath = dataAt === null ? null : readPath(reader, dataAt, home, values);
  const dataFolder =
    options.data !== undefined
      ? absolutePath(options.data, cwd, home)
      : (dataPath ?? defaultDataFolder(sources));
  const packsAt = get('packs');
  const packs = packsAt === null ? DEFAULT_PACKS : readPacks(reader, packsAt);
  const policyFiles = readFileList(reader, get('policy'), home, folder);
  const scenarioFiles = readFileList(reader, get('scenario'), home, folder);
  const providersAt = get('providers');
  const providers =
    providersAt === null ? new Map<string, ProviderEntry>() : readProviders(reader, providersAt);
  const readModel = (at: Located) => readModelName(reader, at, providers, false);
  const baseURL = object === null ? null : readBaseURL(reader, object);
  const modelAt = get('model');
  const model = modelAt === null ? null : readModelName(reader, modelAt, providers, baseURL !== null);
  const retries = readRetries(reader, get('retries'));
  const limits = readLimits(reader, get('limits'));
  const prices = readPrices(reader, get('prices'));
  const memoryAt = get('memory');
  const memory =
    memoryAt === null
      ? SILENT_MEMORY
      : readMemorySettings(reader, memoryAt, { home, folder, isFound: origin === 'found' });
  const askingAt = get('detectors');
  // The provider of the session's model may answer rules, too, at the address that the file gives.
  const addressed = baseURL === null || model === null ? null : providerOf(model);
  const readJudge = (at: Located) =>
    readModelName(
      reader,
      at,
      providers,
      at.node.kind === 'string' && providerOf(at.node.value) === addressed,
    );
  const asking =
    askingAt === null
      ? ASKS_NOBODY
      : readAsking(reader, askingAt, environment, readJudge, {
          folder,
          home,
          closed: [dataFolder, ...folderOf(file)],
        });
  const labelsAt = get('labels');
  const labels = labelsAt === null ? [] : readLabels(reader, labelsAt);
  const functionalitiesAt = get('functionalities');
  const functionalities =
    functionalitiesAt === null
      ? new Map<string, KnownFunctionality>()
      : readFunctionalityList(reader, functionalitiesAt, namesIn(APP_SECTIONS.map(get)));
  const read = readApps(
    reader,
    { apps: get('apps'), mcpServers: get('mcpServers'), installable: get('installable') },
    {
      folder,
      home,
      environment,
      dataFolder,
      ownPaths: ownPaths(sources, dataFolder, file, policyFiles),
      keyFiles: keyFiles(sources, memory.key),
      readModel,
      known: functionalities,
      keyVariables: new Set([
        ...keyVariables(providers),
        KEY_VARIABLE,
        KEY_FILE_VARIABLE,
        JOURNAL_KEY_VARIABLE,
        JOURNAL_KEY_FILE_VARIABLE,
      ]),
    },
  );
  const installableApps = read.installable.map((app) => withLabels(app, labels));
  const isInstalled = ({ id }: InstalledApp) =>
    isMarked({
      ownDataFolder: ownDataFolderOf(sources),
      folder,
      app: id,
      configured: read.entries.get(id)?.configured ?? null,
    });
  const own = read.apps.map((app) => withLabels(app, labels));
  const apps = { ...read, apps: [...own, ...installableApps.filter(isInstalled)] };
  if (labelsAt !== null)
    reportStrangers(reader, labelsAt, labels, [...apps.entries.keys(), ...apps.disabled]);
  const installed: ReadonlySet<string> = new Set(apps.entries.keys());
  const named = readInstallable(reader, get('installable'), installed);
  const installable = withEntries(named, installableApps);
  const registryAt = get('appRegistry');
  const sandboxAt = get('sandbox');
  get('$schema');
  object?.finish(foreignSection);
  return {
    apps: contentOf(apps),
    dataFolder,
    model,
    providers,
    retries,
    limits,
    prices,
    installable,
    installableApps,
    functionalities,
    appRegistry: registryAt === null ? null : readAddress(reader, registryAt),
    address: baseURL === null ? null : { provider: providerOf(model ?? 'openai'), baseURL },
    packs,
    policyFiles,
    scenarioFiles,
    memory,
    asking,
    weaker: sandboxAt === null ? [] : readSandbox(reader, sandboxAt),
  };
}

const APP_SECTIONS = ['apps', 'mcpServers', 'installable'] as const;

/** The names of all apps, whether what stands behind them can be read or not. */
function namesIn(sections: readonly (Located | null)[]): readonly string[] {
  return sections.flatMap((at) => (at?.node.kind === 'object' ? at.node.members.map(({ key }) => key) : []));
}

/** Names of packs, each once. An unknown one is an error: what it was to stop would not be stopped. */
function readPacks(reader: ConfigReader, at: Located): readonly string[] {
  const known = PACKS.map(({ name }) => name);
  const named = reader.items(at, 'a list of names of packs').flatMap((item) => {
    const name = reader.string(item);
    if (name === null || known.includes(name)) return name ?? [];
    const help = suggestion(name, known, `packs: ${known.join(', ')}`);
    reader.reportAt(item, { code: 'CFG045', message: `there is no pack ${quoted(name)}`, help });
    return [];
  });
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
function reportStrangers(
  reader: ConfigReader,
  at: Located,
  labels: readonly ToolLabelEntry[],
  apps: readonly string[],
): void {
  const strangers = labels.filter((entry) => entry.app !== null && !apps.includes(entry.app));
  for (const name of new Set(strangers.map((entry) => entry.app ?? ''))) {
    const help = suggestion(name, apps, `installed apps: ${apps.join(', ')}`);
    reader.reportAt(at, { code: 'LAB003', message: `no app ${quoted(name)} is installed`, help });
  }
}

function contentOf({ disabled, ...apps }: AppsResult): Content['apps'] {
  const { entries, handedVariables, secretFiles } = apps;
  return { apps: apps.apps, entries, disabledApps: disabled, handedVariables, secretFiles };
}

function foreignSection(key: string): Problem | null {
  if (key === 'servers' || key === 'mcp') {
    const message = `the key ${quoted(key)} is unknown`;
    return { code: 'CFG006', message, help: 'write `mcpServers` or `apps`' };
  }
  return secretKey(key);
}

/** The file cannot say otherwise. */
function ownDataFolderOf(sources: ConfigurationSources): string {
  const { options, cwd, home } = sources;
  return options.data === undefined ? defaultDataFolder(sources) : absolutePath(options.data, cwd, home);
}

function ownPaths(
  sources: ConfigurationSources,
  dataFolder: string,
  file: string | null,
  policyFiles: readonly string[],
): OwnPath[] {
  const closed = (path: string, name: string) => ({
    path: realPath(path),
    name,
    closedFor: 'read and write' as const,
  });
  const readable = (path: string, name: string) => ({
    path: realPath(path),
    name,
    closedFor: 'write' as const,
  });
  return [
    closed(dataFolder, 'the data folder'),
    closed(ownDataFolderOf(sources), 'your own data folder'),
    closed(defaultDataFolder(sources), 'the default data folder'),
    readable(cacheFolder(sources), 'the cache folder'),
    ...PROGRAM_FOLDERS.map((folder) => readable(folder, 'the program')),
    ...(file === null ? [] : [readable(file, 'the configuration')]),
    ...policyFiles.map((policy) => readable(policy, 'a policy')),
  ];
}

function readModelName(
  reader: ConfigReader,
  at: Located,
  providers: ReadonlyMap<string, ProviderEntry>,
  hasAddress: boolean,
): string | null {
  const model = reader.string(at);
  if (model === null) return null;
  const problem = modelProblem(model, providers.keys(), hasAddress);
  if (problem === null) return model;
  reader.reportAt(at, problem);
  return null;
}

/** `{"weaker": ["watchdog"]}` */
function readSandbox(reader: ConfigReader, at: Located): WantedLayer[] {
  const object = reader.object(at);
  const weaker = object?.get('weaker') ?? null;
  object?.finish();
  if (weaker === null) return [];
  return reader.items(weaker, 'an array of layers').flatMap((item) => {
    const name = reader.string(item);
    return name === null ? [] : [{ name, place: reader.placeOf(item) }];
  });
}

/** One path or a list of them; each must be a file that exists. */
function readFileList(reader: ConfigReader, at: Located | null, home: string, folder: string): string[] {
  if (at === null) return [];
  const items = at.node.kind === 'string' ? [at] : reader.items(at, 'a path or an array of paths');
  return items.flatMap((item) => {
    const path = readPath(reader, item, home, { state: '', config: folder, environment: null });
    if (path === null) return [];
    if (isFile(path)) return [path];
    reader.reportAt(item, {
      code: 'CFG020',
      message: `there is no file ${quoted(path)}`,
      help: 'paths are relative to the folder of this file',
    });
    return [];
  });
}

function optionFiles(
  sources: ConfigurationSources,
  name: 'policy' | 'scenario',
  report: (problem: OutsideProblem) => void,
): string[] {
  return (sources.options[name] ?? []).flatMap((given) => {
    const path = absolutePath(given, sources.cwd, sources.home);
    if (isFile(path)) return [path];
    report({
      code: 'CFG020',
      source: 'command line',
      name: `--${name}`,
      message: `there is no file ${quoted(path)}`,
      help: 'paths are relative to the current folder',
    });
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
  sources: ConfigurationSources,
  content: Content,
  report: (problem: OutsideProblem) => void,
): string | null {
  const { options, environment } = sources;
  const variable = environment.CORDON_MODEL === '' ? undefined : environment.CORDON_MODEL;
  const given = options.model ?? variable;
  if (given === undefined) return content.model;
  const problem = modelProblem(given, content.providers.keys(), options.baseURL !== undefined);
  if (problem === null) return given;
  const isOption = options.model !== undefined;
  report({
    ...problem,
    source: isOption ? 'command line' : 'environment',
    name: isOption ? '--model' : 'CORDON_MODEL',
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
