/**
 * The entries of `apps` and `mcpServers`. Both have the shape that MCP clients share; in `mcpServers` the keys of
 * other clients are tolerated with a warning, except those that take rights away: to ignore these would give rights.
 */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: messages name placeholders as people write them
import { createHash } from 'node:crypto';
import {
  type AppId,
  type AppSource,
  type InstalledApp,
  id,
  isJsonObject,
  isThisMachine,
  type Json,
  type JsonObject,
  NAME_PATTERN,
  SILENT_MANIFEST,
} from '@cordon/core';
import {
  isVariableName,
  type Located,
  nameProblem,
  type ObjectReader,
  type Problem,
  plainJson,
  quoted,
  unnamed,
} from '../reading/config-reader.ts';
import type { JsonNode } from '../reading/json-text.ts';
import {
  absolutePath,
  covers,
  type Environment,
  type OwnPath,
  ownPath,
  realPath,
  stateFolder,
} from '../reading/paths.ts';
import { type Folders, namesState, readPath, replacePlaceholders } from '../reading/placeholders.ts';
import { type KnownFunctionalities, readManifest, readProse } from './manifest-config.ts';

/** A variable of the user's environment that an app is given. Its value is shown nowhere. */
export interface HandedVariable {
  readonly app: AppId;
  /** The key in the app's `env` or `headers`. */
  readonly key: string;
  /** Its name, or `secret NAME` for one that the user typed. */
  readonly variable: string;
}

/** What of an app's entry is no part of how it is started. */
export interface AppEntry {
  /** Command and manifest as they are in the file, and a digest instead of each value that may be a secret. */
  readonly configured: JsonObject;
  /** `pin`: the digest of what the app must say of itself; null: none is demanded. */
  readonly pin: string | null;
}

export interface AppsResult {
  readonly apps: InstalledApp[];
  /** Entries of `installable` that can be installed. */
  readonly installable: InstalledApp[];
  readonly entries: Map<AppId, AppEntry>;
  readonly disabledApps: AppId[];
  readonly handedVariables: HandedVariable[];
  /** Files that hold keys and secrets: no app may see one, wherever it lies. */
  readonly secretFiles: readonly string[];
}

export interface AppsPlace {
  /** The folder of the configuration file. */
  readonly folder: string;
  readonly home: string;
  readonly environment: Environment;
  readonly dataFolder: string;
  readonly ownPaths: readonly OwnPath[];
  /** Files of keys that Cordon itself reads. */
  readonly keyFiles: readonly OwnPath[];
  /** Checks the name of a model and reports it where it is wrong. */
  readonly readModel: (at: Located) => string | null;
  /** What the configuration says of functionalities. */
  readonly known: KnownFunctionalities;
  /** Variables that hold the keys of model providers. */
  readonly keyVariables: ReadonlySet<string>;
  /** What the user typed once for this file. */
  readonly secret: (name: string) => string | null;
}

type Section = 'apps' | 'mcpServers' | 'installable';

const MOST_INSTRUCTIONS = 20_000;

/** Reads all sections; what is wrong is reported and left out. */
export function readApps(sections: Readonly<Record<Section, Located | null>>, place: AppsPlace): AppsResult {
  const listed = [
    ...entriesOf('apps', sections.apps),
    ...entriesOf('mcpServers', sections.mcpServers),
    // A list instead of an entry names what the app would serve, and nothing that could be started.
    ...entriesOf('installable', sections.installable).filter(({ at }) => at.node.kind === 'object'),
  ];
  const appNames = listed.map(({ name }) => name);
  const credentials = listed.flatMap(({ name, at }) => credentialFiles(name, at, place));
  const result: AppsResult = {
    apps: [],
    installable: [],
    entries: new Map(),
    disabledApps: [],
    handedVariables: [],
    secretFiles: [...place.keyFiles, ...credentials].map(({ path }) => path),
  };
  const seen = new Map<string, Section>();
  for (const { section, name, at } of listed) {
    const problem = nameProblem(name, 'an app') ?? takenProblem(name, seen.get(name.toLowerCase()));
    seen.set(name.toLowerCase(), section);
    if (problem !== null) at.reportKey(problem);
    // Its own credentials are reported at their place.
    const others = credentials.filter((one) => one.app !== name);
    const ownPaths = [...place.ownPaths, ...place.keyFiles, ...others];
    const folders = foldersOf(name, place);
    const read = readEntry(at, { section, name, appNames, place: { ...place, ownPaths }, folders });
    if (read === null || problem !== null) continue;
    if (read === 'disabled') result.disabledApps.push(id(name));
    else {
      const { app, pin, handed } = read;
      (section === 'installable' ? result.installable : result.apps).push(app);
      result.entries.set(app.id, { configured: configuredEntry(at.node, app, place.known), pin });
      result.handedVariables.push(...handed);
    }
  }
  return result;
}

function entriesOf(section: Section, at: Located | null) {
  return (at?.entries() ?? []).map(([name, entry]) => ({ section, name, at: entry }));
}

function foldersOf(app: string, { home, folder, dataFolder }: AppsPlace): Folders {
  return { home, config: folder, state: stateFolder(dataFolder, NAME_PATTERN.test(app) ? app : '_') };
}

/**
 * Attack: an app that may read a folder in which another app's credential lies, or the key of the store. Looked for before any
 * manifest is read, in whatever order they stand; what is wrong with one is reported where it is read.
 */
function credentialFiles(app: string, at: Located, place: AppsPlace): (OwnPath & { readonly app: string })[] {
  const entry = plainJson(at.node);
  const manifest = isJsonObject(entry) ? entry.manifest : null;
  const credentials = isJsonObject(manifest) ? manifest.credentials : null;
  if (!isJsonObject(credentials)) return [];
  const { home, config, state } = foldersOf(app, place);
  return Object.values(credentials).flatMap((credential) => {
    const file = isJsonObject(credential) ? credential.file : null;
    if (typeof file !== 'string' || file === '' || file.includes('\0')) return [];
    const written = file.replaceAll('${state}', state).replaceAll('${config}', config);
    const path = absolutePath(written, config, home);
    return [{ app, ...ownPath('read and write', path, 'the file of a credential') }];
  });
}

/** Names differ in more than case: each is a folder, and some file systems do not tell case apart. */
function takenProblem(name: string, taken: Section | undefined): Problem | null {
  if (taken === undefined) return null;
  return {
    code: 'CFG010',
    message: `an app ${quoted(name)} stands in \`${taken}\` already`,
    help: 'rename or remove one of them',
  };
}

/** One entry of a section. */
interface Entry {
  readonly section: Section;
  readonly name: string;
  readonly appNames: readonly string[];
  readonly place: AppsPlace;
  readonly folders: Folders;
}

interface ReadEntry extends Pick<AppEntry, 'pin'> {
  readonly app: InstalledApp;
  readonly handed: readonly HandedVariable[];
}

function readEntry(at: Located, entry: Entry): ReadEntry | 'disabled' | null {
  const object = at.object();
  if (object === null) return null;
  const { section, name, place, folders } = entry;
  const handed: HandedVariable[] = [];
  const isDisabled = object.boolean('disabled') === true;
  const source = readSource(object, entry, handed);
  const manifest =
    object.read('manifest', (inner) =>
      readManifest(inner, {
        ...entry,
        hasVariable: (variable) => (place.environment[variable] ?? '') !== '',
        ownPaths: place.ownPaths,
        known: place.known,
      }),
    ) ?? SILENT_MANIFEST;
  const model = object.read('model', place.readModel);
  const pin = object.read('pin', (inner) => inner.checked(pinProblem));
  object.finish(section === 'mcpServers' ? foreignKey : nativeKey);
  if (isDisabled) return 'disabled';
  if (source === null) return null;
  reportSecretInState(at, entry);
  if (usesState(object) && !manifest.files.write.includes(folders.state)) at.reportStart(UNWRITABLE);
  if (source.kind === 'instructions') reportUseless(object);
  if (source.kind === 'instructions' && section === 'installable') at.reportStart(NOTHING_TO_INSTALL);
  return { app: { id: id(name), source, manifest, model }, pin, handed };
}

const NOTHING_TO_INSTALL: Problem = {
  code: 'CFG009',
  message: 'an app of instructions alone has nothing to install',
  help: 'put it under `apps`',
};

const UNWRITABLE: Problem = {
  code: 'CFG032',
  severity: 'warning',
  message: 'the app gets the name of `${state}`, but its manifest does not give it that folder',
  help: 'add `"${state}"` to `manifest.files.write`',
};

/** Whether an argument, a variable or a header of the app contains `${state}`. */
function usesState(object: ObjectReader): boolean {
  return ['args', 'env', 'headers'].some((key) =>
    object
      .get(key)
      ?.strings()
      .some(({ node }) => node.kind === 'string' && namesState(node.value)),
  );
}

/** An app's own folder is open to it without being asked for. */
function reportSecretInState(at: Located, { folders, place }: Entry): void {
  const state = realPath(folders.state);
  const found = place.keyFiles.find(({ path }) => covers(state, path));
  if (found === undefined) return;
  at.reportStart({
    code: 'CFG017',
    message: `${found.name} lies in the folder of this app`,
    help: 'keep it where no app is, and make a new one',
  });
}

function pinProblem(text: string): Problem | null {
  if (/^sha256:[0-9a-f]{64}$/.test(text)) return null;
  return {
    code: 'CFG041',
    message: `${quoted(text)} is not a digest of an app’s description`,
    help: '`cordon apps show` prints it: `sha256:` and 64 digits',
  };
}

function readSource(object: ObjectReader, entry: Entry, handed: HandedVariable[]): AppSource | null {
  const command = object.get('command');
  const url = object.get('url');
  const given = [command, url, object.get('instructions')].filter((source) => source !== null).length;
  checkType(object.get('type'), command, url);
  if (given !== 1) object.at.reportStart(sourcesProblem(given));
  else checkParts(object, command !== null, url !== null);
  const read = {
    command: object.read('command', (at) => readCommand(at, entry.folders)),
    args: object.read('args', (at) => readArguments(at, entry.folders)) ?? [],
    env: object.read('env', (at) => readVariables(at, 'env', entry, handed)) ?? {},
    cwd: object.read('cwd', (at) => readPath(at, entry.folders)),
    headers: object.read('headers', (at) => readVariables(at, 'headers', entry, handed)) ?? {},
    url: object.read('url', (at) => at.checked(addressProblem)),
    instructions: object.read('instructions', (at) => readProse(at, MOST_INSTRUCTIONS)),
  };
  if (given !== 1) return null;
  if (read.command !== null) {
    return { kind: 'command', command: read.command, args: read.args, env: read.env, cwd: read.cwd };
  }
  if (read.url !== null) return { kind: 'url', url: read.url, headers: read.headers };
  return read.instructions === null ? null : { kind: 'instructions', instructions: read.instructions };
}

function sourcesProblem(count: number): Problem {
  return {
    code: 'CFG009',
    message:
      count === 0
        ? 'the app has neither `command` nor `url` nor `instructions`'
        : 'the app has more than one of `command`, `url` and `instructions`',
    help: 'give exactly one of them',
  };
}

/** `type` of other clients is redundant; where it contradicts, the person must say what is meant. */
function checkType(at: Located | null, command: Located | null, url: Located | null): void {
  const type = at?.string() ?? null;
  if (at === null || type === null) return;
  const wants = TRANSPORTS.get(type);
  if (wants === undefined || (wants === 'command' ? command : url) === null) {
    at.report({
      code: 'CFG009',
      message: `the type ${quoted(type)} does not fit this app`,
      help: 'use `stdio` with `command` and `http` with `url`, or leave `type` out',
    });
  } else if (type === 'sse') {
    at.report({
      code: 'CFG035',
      severity: 'warning',
      message: 'the old `sse` transport is not supported; Cordon tries Streamable HTTP at this address',
      help: "use the server's Streamable HTTP address and `http`",
    });
  }
}

function checkParts(object: ObjectReader, isCommand: boolean, isUrl: boolean): void {
  for (const key of [...(isCommand ? [] : ['args', 'env', 'cwd']), ...(isUrl ? [] : ['headers'])])
    object.get(key)?.reportKey({
      code: 'CFG009',
      message: `\`${key}\` has no meaning for this app`,
      help: key === 'headers' ? '`headers` go with `url`' : `\`${key}\` goes with \`command\``,
    });
}

/** A name is looked up in the app's PATH; anything with a slash is a path. */
function readCommand(at: Located, folders: Folders): string | null {
  if (at.node.kind === 'string' && at.node.value.includes('/')) return readPath(at, folders);
  return at.checked((text) =>
    /^[\w.+@-]{1,128}$/.test(text) && !text.startsWith('-')
      ? null
      : {
          code: 'CFG016',
          message: `${quoted(text)} is no command`,
          help: text.includes(' ') ? 'write the arguments in `args`' : 'name a program, or its path',
        },
  );
}

function readArguments(at: Located, folders: Folders): string[] {
  return at.list('an array of strings', (item) => {
    const text = item.checked(unpassable);
    return text === null ? null : replacePlaceholders(item, text, folders);
  });
}

/** The values of `env` or `headers`: the two places that can hold the user's own variables. */
function readVariables(
  at: Located,
  kind: 'env' | 'headers',
  { name: app, place, folders }: Entry,
  handed: HandedVariable[],
): Record<string, string> {
  const values: [string, string][] = [];
  for (const [key, inner] of at.entries()) {
    const what = kind === 'env' ? 'an environment variable' : 'a header';
    if (!(kind === 'env' ? isVariableName(key) : HEADER_NAME.test(key))) inner.reportKey(unnamed(key, what));
    const text = inner.checked(kind === 'env' ? unpassable : unpassableHeader);
    if (text === null) continue;
    const value = replacePlaceholders(inner, text, {
      ...folders,
      environment: place.environment,
      onVariable: (variable) => {
        handed.push({ app: id(app), key, variable });
        if (place.keyVariables.has(variable)) inner.report(keyHanded(variable));
      },
      secret: (secret) => {
        handed.push({ app: id(app), key, variable: `secret ${secret}` });
        return place.secret(secret);
      },
    });
    if (value !== null) values.push([key, value]);
  }
  return Object.fromEntries(values);
}

function unpassable(text: string): Problem | null {
  return text.includes('\0') ? UNPASSABLE : null;
}

function unpassableHeader(text: string): Problem | null {
  return /[\r\n]/.test(text) ? UNPASSABLE : unpassable(text);
}

const UNPASSABLE: Problem = {
  code: 'CFG022',
  message: 'the text holds a character that cannot be passed on',
  help: 'remove the null character or line break',
};

function keyHanded(variable: string): Problem {
  return {
    code: 'CFG031',
    severity: 'warning',
    message: `this app gets the key of a model provider, ${quoted(variable)}`,
    help: 'give the app its own key',
  };
}

/** Keys of a manifest that bound or describe a process. */
const OF_PROCESSES = [
  ...['network', 'credentials', 'files', 'limits', 'node', 'unixSockets'],
  ...['irreversible', 'untrusted', 'private'],
];

/** An app without code can use neither network nor files: a user who grants them expects something else. */
function reportUseless(object: ObjectReader): void {
  const useless = { code: 'CFG036', severity: 'warning', help: 'remove it' } as const;
  const message = 'the whole description of this app is in this file, so `pin` has no effect';
  object.get('pin')?.reportKey({ ...useless, message });
  const manifest = object.get('manifest');
  for (const key of OF_PROCESSES)
    manifest?.member(key)?.reportKey({
      ...useless,
      message: `an app of instructions has no process, so \`${key}\` has no effect`,
    });
}

/** Values that are nothing but placeholders: what they stand for is the machine's, and shown nowhere. */
const PLACEHOLDERS_ONLY = /^(?:\$\{[^}]*\}|[/.])*$/;
/** Neither starts the app another way. */
const NO_PART: ReadonlySet<string> = new Set(['pin', 'disabled']);

/**
 * The entry as it stands, for comparing and showing. Values of `env` and `headers` may be secrets: they are distinguished
 * by their digests.
 */
function configuredEntry(
  node: JsonNode,
  { manifest }: InstalledApp,
  known: KnownFunctionalities,
): JsonObject {
  if (node.kind !== 'object') return {};
  // Attack: what an app serves is changed where its entry does not say it, and agreements and grants stay.
  const shared = manifest.functionalities.filter(({ name }) => known.has(name));
  const functionalities = Object.fromEntries(
    shared.map(({ name, description, request, response }) => [name, { description, request, response }]),
  );
  const members = node.members.filter(({ key }) => !NO_PART.has(key));
  const entry = Object.fromEntries(
    members.map(({ key, value }) => [
      key,
      key === 'env' || key === 'headers' ? withoutSecrets(plainJson(value)) : plainJson(value),
    ]),
  );
  return shared.length === 0 ? entry : { ...entry, functionalities };
}

function withoutSecrets(value: Json): Json {
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key,
      typeof inner === 'string' && !PLACEHOLDERS_ONLY.test(inner)
        ? `sha256:${createHash('sha256').update(inner).digest('hex')}`
        : inner,
    ]),
  );
}

const HEADER_NAME = /^[A-Za-z0-9][A-Za-z0-9-]{0,127}$/;

const TRANSPORTS: ReadonlyMap<string, 'command' | 'url'> = new Map([
  ['stdio', 'command'],
  ['http', 'url'],
  ['streamable-http', 'url'],
  ['streamableHttp', 'url'],
  ['streamable_http', 'url'],
  ['sse', 'url'],
]);

/** Keys of other clients that restrict what an app may do; none of them may be ignored in silence. */
const RESTRICTING_KEYS: ReadonlySet<string> = new Set([
  'disabledTools',
  'enabledTools',
  'excludeTools',
  'includeTools',
  'allowedTools',
  'tools',
  'sandbox',
  'sandboxEnabled',
]);

const OTHER_NAMES: ReadonlyMap<string, string> = new Map([
  ['serverUrl', 'url'],
  ['httpUrl', 'url'],
  ['transport', 'type'],
  ['transportType', 'type'],
  ['environment', 'env'],
  ['arguments', 'args'],
  ['instruction', 'instructions'],
  ['prompt', 'instructions'],
]);

function nativeKey(key: string): Problem | null {
  const meant = OTHER_NAMES.get(key);
  if (meant === undefined) return null;
  return { code: 'CFG006', message: `the key ${quoted(key)} is unknown`, help: `did you mean \`${meant}\`?` };
}

function foreignKey(key: string): Problem {
  if (RESTRICTING_KEYS.has(key)) {
    return {
      code: 'CFG034',
      message: `${quoted(key)} restricts the app in another client, and Cordon cannot do the same`,
      help: 'remove the key, and state what the app may do in `manifest` or forbid the tools in a policy',
    };
  }
  const meant = OTHER_NAMES.get(key);
  return {
    code: 'CFG030',
    severity: 'warning',
    message: `the key ${quoted(key)} is not one of Cordon's and has no effect`,
    help: meant === undefined ? 'remove it, or keep it for the other client' : `did you mean \`${meant}\`?`,
  };
}

/** What is wrong with an `http` or `https` address. A password in it would be shown wherever the address is. */
export function addressProblem(text: string): Problem | null {
  const url = URL.canParse(text) && text.length <= 2048 && !/[\s\p{Cc}]/u.test(text) ? new URL(text) : null;
  if (url === null || !['http:', 'https:'].includes(url.protocol)) {
    const shown = text.includes('@') ? 'this' : quoted(text);
    return {
      code: 'CFG013',
      message: `${shown} is no http address`,
      help: 'write it in full, like `https://example.com/mcp`',
    };
  }
  if (url.username !== '' || url.password !== '') {
    return {
      code: 'CFG011',
      message: 'the address holds a password',
      help: 'take it out, and hand it over in `headers` from the environment with `${env:NAME}`',
    };
  }
  if (url.protocol === 'https:' || isThisMachine(url.hostname)) return null;
  return {
    code: 'CFG033',
    severity: 'warning',
    message: `everything to and from ${quoted(url.host)} can be read and changed on the way`,
    help: 'use `https`',
  };
}

/** Where a model provider answers: keys go there, and paths are added to it. */
export function providerAddressProblem(text: string): Problem | null {
  const problem = addressProblem(text);
  if (problem !== null && problem.severity !== 'warning') return problem;
  const { search, hash } = new URL(text);
  if (search === '' && hash === '') return problem;
  return {
    code: 'CFG013',
    message: `${quoted(text)} has a query or fragment, and no path can be added to it`,
    help: 'end it after the path, like `http://localhost:11434/v1`',
  };
}
