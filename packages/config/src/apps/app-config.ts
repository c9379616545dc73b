/**
 * The entries of `apps` and `mcpServers`. Both have the shape that MCP clients share; in `mcpServers` the keys of
 * other clients are tolerated with a warning, except those that take rights away: to ignore these would give rights.
 *
 * Ring 0.
 */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: messages name placeholders as people write them
import { createHash } from 'node:crypto';
import {
  type AppId,
  type AppSource,
  type InstalledApp,
  id,
  isJsonObject,
  type Json,
  type JsonObject,
  NAME_PATTERN,
  SILENT_MANIFEST,
} from '@cordon/core';
import {
  type ConfigReader,
  type Located,
  type ObjectReader,
  type Problem,
  plainJson,
  quoted,
} from '../reading/config-reader.ts';
import type { JsonNode } from '../reading/json-text.ts';
import { absolutePath, covers, type Environment, realPath, stateFolder } from '../reading/paths.ts';
import { type PlaceholderValues, replacePlaceholders } from '../reading/placeholders.ts';
import {
  type KnownFunctionalities,
  type OwnPath,
  readManifest,
  readPath,
  readProse,
} from './manifest-config.ts';

/** A variable of the user's environment that an app is given. Its value is shown nowhere. */
export interface HandedVariable {
  readonly app: AppId;
  /** The key in the app's `env` or `headers`. */
  readonly key: string;
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
  readonly disabled: AppId[];
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
}

type Section = 'apps' | 'mcpServers' | 'installable';

const MOST_INSTRUCTIONS = 20_000;

/** Reads all sections; what is wrong is reported and left out. */
export function readApps(
  reader: ConfigReader,
  sections: Readonly<Record<Section, Located | null>>,
  place: AppsPlace,
): AppsResult {
  const entries = [
    ...readEntries(reader, 'apps', sections.apps),
    ...readEntries(reader, 'mcpServers', sections.mcpServers),
    // A list instead of an entry names what the app would serve, and nothing that could be started.
    ...readEntries(reader, 'installable', sections.installable).filter(({ at }) => at.node.kind === 'object'),
  ];
  const appNames = entries.map(({ key }) => key);
  const credentials = entries.flatMap(({ key, at }) => credentialFiles(key, at, place));
  const secretFiles = [...place.keyFiles, ...credentials].map(({ path }) => path);
  const result: AppsResult = {
    apps: [],
    installable: [],
    entries: new Map(),
    disabled: [],
    handedVariables: [],
    secretFiles,
  };
  const seen = new Map<string, Section>();
  for (const { section, key, keySpan, at } of entries) {
    const problem = nameProblem(key, seen.get(key.toLowerCase()));
    seen.set(key.toLowerCase(), section);
    if (problem !== null) reader.report(at.path, keySpan, problem);
    const handed: HandedVariable[] = [];
    // Its own credentials are reported at their place.
    const others = credentials.filter((one) => one.app !== key);
    const fenced = { ...place, ownPaths: [...place.ownPaths, ...place.keyFiles, ...others] };
    const appReader = new AppReader(reader, section, key, appNames, fenced, handed);
    const app = appReader.read(at);
    if (app === null || problem !== null) continue;
    if (app === 'disabled') result.disabled.push(id(key));
    else {
      (section === 'installable' ? result.installable : result.apps).push(app);
      result.entries.set(app.id, {
        configured: configuredEntry(at.node, app, place.known),
        pin: appReader.pin,
      });
      result.handedVariables.push(...handed);
    }
  }
  return result;
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
  const state = stateFolder(place.dataFolder, NAME_PATTERN.test(app) ? app : '_');
  return Object.values(credentials).flatMap((credential) => {
    const file = isJsonObject(credential) ? credential.file : null;
    if (typeof file !== 'string' || file === '' || file.includes('\0')) return [];
    const written = file.replaceAll('${state}', state).replaceAll('${config}', place.folder);
    const path = realPath(absolutePath(written, place.folder, place.home));
    return [{ app, path, name: 'the file of a credential', closedFor: 'read and write' as const }];
  });
}

function readEntries(reader: ConfigReader, section: Section, at: Located | null) {
  return at === null ? [] : reader.entries(at).map((entry) => ({ section, ...entry }));
}

/** Names differ in more than case: each is a folder, and some file systems do not tell case apart. */
function nameProblem(key: string, taken: Section | undefined): Problem | null {
  if (!NAME_PATTERN.test(key)) {
    return {
      code: 'CFG008',
      message: `${quoted(key)} is no name for an app`,
      help: 'use up to 64 letters, digits, `.`, `_` and `-`, beginning with a letter or digit',
    };
  }
  if (taken === undefined) return null;
  return {
    code: 'CFG010',
    message: `an app ${quoted(key)} stands in \`${taken}\` already`,
    help: 'rename or remove one of them',
  };
}

class AppReader {
  readonly #reader: ConfigReader;
  readonly #section: Section;
  readonly #name: string;
  readonly #appNames: readonly string[];
  readonly #place: AppsPlace;
  readonly #handed: HandedVariable[];
  readonly #values: PlaceholderValues;
  #usesState = false;
  #pin: string | null = null;

  constructor(
    reader: ConfigReader,
    section: Section,
    name: string,
    appNames: readonly string[],
    place: AppsPlace,
    handed: HandedVariable[],
  ) {
    this.#reader = reader;
    this.#section = section;
    this.#name = name;
    this.#appNames = appNames;
    this.#place = place;
    this.#handed = handed;
    const state = stateFolder(place.dataFolder, NAME_PATTERN.test(name) ? name : '_');
    this.#values = { state, config: place.folder, environment: null };
  }

  /** Known once it was read. */
  get pin(): string | null {
    return this.#pin;
  }

  read(at: Located): InstalledApp | 'disabled' | null {
    const object = this.#reader.object(at);
    if (object === null) return null;
    const disabled = object.get('disabled');
    const source = this.#source(object);
    const manifestAt = object.get('manifest');
    const modelAt = object.get('model');
    const pinAt = object.get('pin');
    if (pinAt !== null) this.#pin = this.#readPin(pinAt);
    const manifest =
      manifestAt === null
        ? SILENT_MANIFEST
        : readManifest(this.#reader, manifestAt, {
            app: this.#name,
            appNames: this.#appNames,
            home: this.#place.home,
            values: this.#values,
            hasVariable: (variable) => (this.#place.environment[variable] ?? '') !== '',
            ownPaths: this.#place.ownPaths,
            known: this.#place.known,
          });
    const model = modelAt === null ? null : this.#place.readModel(modelAt);
    object.finish((key) => (this.#section === 'mcpServers' ? foreignKey(key) : nativeKey(key)));
    if (disabled !== null && this.#reader.boolean(disabled) === true) return 'disabled';
    if (source === null) return null;
    this.#reportSecretInState(object);
    if (this.#usesState && !manifest.files.write.includes(this.#values.state)) this.#reportUnwritable(object);
    if (source.kind === 'instructions') this.#reportUseless(object, manifestAt, pinAt);
    if (source.kind === 'instructions' && this.#section === 'installable') this.#reportText(object);
    return { id: id(this.#name), source, manifest, model };
  }

  #reportText(object: ObjectReader): void {
    this.#reader.report(object.at.path, firstCharacter(object), {
      code: 'CFG009',
      message: 'an app of instructions alone has nothing to install',
      help: 'put it under `apps`',
    });
  }

  /** An app's own folder is open to it without being asked for. */
  #reportSecretInState(object: ObjectReader): void {
    const state = realPath(this.#values.state);
    const found = this.#place.keyFiles.find(({ path }) => covers(state, path));
    if (found === undefined) return;
    this.#reader.report(object.at.path, firstCharacter(object), {
      code: 'CFG017',
      message: `${found.name} lies in the folder of this app`,
      help: 'keep it where no app is, and make a new one',
    });
  }

  #readPin(at: Located): string | null {
    const text = this.#reader.string(at);
    if (text === null || PIN.test(text)) return text;
    this.#reader.reportAt(at, {
      code: 'CFG041',
      message: `${quoted(text)} is not a digest of an app’s description`,
      help: '`cordon apps show` prints it: `sha256:` and 64 digits',
    });
    return null;
  }

  #source(object: ObjectReader): AppSource | null {
    const command = object.get('command');
    const url = object.get('url');
    const instructions = object.get('instructions');
    const parts = {
      args: object.get('args'),
      env: object.get('env'),
      cwd: object.get('cwd'),
      headers: object.get('headers'),
    };
    this.#checkType(object.get('type'), command, url);
    const given = [command, url, instructions].filter((candidate) => candidate !== null);
    if (given.length !== 1) this.#reportSources(object, given.length);
    else this.#checkParts(object, parts, command !== null, url !== null);
    const read = {
      command: command === null ? null : this.#command(command),
      args: parts.args === null ? [] : this.#arguments(parts.args),
      env: parts.env === null ? {} : this.#variables(parts.env, VARIABLE_NAME, 'an environment variable'),
      cwd: parts.cwd === null ? null : readPath(this.#reader, parts.cwd, this.#place.home, this.#values),
      headers: parts.headers === null ? {} : this.#variables(parts.headers, HEADER_NAME, 'a header'),
      url: url === null ? null : readAddress(this.#reader, url),
      instructions: instructions === null ? null : readProse(this.#reader, instructions, MOST_INSTRUCTIONS),
    };
    if (given.length !== 1) return null;
    if (read.command !== null) {
      return { kind: 'command', command: read.command, args: read.args, env: read.env, cwd: read.cwd };
    }
    if (read.url !== null) return { kind: 'url', url: read.url, headers: read.headers };
    return read.instructions === null ? null : { kind: 'instructions', instructions: read.instructions };
  }

  #reportSources(object: ObjectReader, count: number): void {
    this.#reader.report(object.at.path, firstCharacter(object), {
      code: 'CFG009',
      message:
        count === 0
          ? 'the app has neither `command` nor `url` nor `instructions`'
          : 'the app has more than one of `command`, `url` and `instructions`',
      help: 'give exactly one of them',
    });
  }

  /** `type` of other clients is redundant; where it contradicts, the person must say what is meant. */
  #checkType(at: Located | null, command: Located | null, url: Located | null): void {
    const type = at === null ? null : this.#reader.string(at);
    if (at === null || type === null) return;
    const wants = TRANSPORTS.get(type);
    if (wants === undefined || (wants === 'command' ? command : url) === null) {
      this.#reader.reportAt(at, {
        code: 'CFG009',
        message: `the type ${quoted(type)} does not fit this app`,
        help: 'use `stdio` with `command` and `http` with `url`, or leave `type` out',
      });
    } else if (type === 'sse') {
      this.#reader.reportAt(at, {
        code: 'CFG035',
        severity: 'warning',
        message: 'the old `sse` transport is not supported; Cordon tries Streamable HTTP at this address',
        help: "use the server's Streamable HTTP address and `http`",
      });
    }
  }

  #checkParts(
    object: ObjectReader,
    parts: Readonly<Record<'args' | 'env' | 'cwd' | 'headers', Located | null>>,
    isCommand: boolean,
    isUrl: boolean,
  ): void {
    const useless = [
      ...(isCommand ? [] : (['args', 'env', 'cwd'] as const)),
      ...(isUrl ? [] : (['headers'] as const)),
    ].filter((key) => parts[key] !== null);
    for (const key of useless) {
      this.#reader.report(`${object.at.path}.${key}`, object.keySpan(key), {
        code: 'CFG009',
        message: `\`${key}\` has no meaning for this app`,
        help: key === 'headers' ? '`headers` go with `url`' : `\`${key}\` goes with \`command\``,
      });
    }
  }

  /** A name is looked up in the app's PATH; anything with a slash is a path. */
  #command(at: Located): string | null {
    const text = this.#reader.string(at);
    if (text === null) return null;
    if (text.includes('/')) return readPath(this.#reader, at, this.#place.home, this.#values);
    if (/^[\w.+@-]{1,128}$/.test(text) && !text.startsWith('-')) return text;
    this.#reader.reportAt(at, {
      code: 'CFG016',
      message: `${quoted(text)} is no command`,
      help: text.includes(' ') ? 'write the arguments in `args`' : 'name a program, or its path',
    });
    return null;
  }

  #arguments(at: Located): string[] {
    return this.#reader.items(at, 'an array of strings').flatMap((item) => {
      const value = this.#text(item, null);
      return value === null ? [] : [value];
    });
  }

  /** The values of `env` or `headers`: the two places that can hold the user's own variables. */
  #variables(at: Located, pattern: RegExp, what: string): Record<string, string> {
    const values: [string, string][] = [];
    for (const { key, keySpan, at: inner } of this.#reader.entries(at)) {
      if (!pattern.test(key)) {
        this.#reader.report(inner.path, keySpan, {
          code: 'CFG008',
          message: `${quoted(key)} is no name for ${what}`,
          help: 'use letters, digits and `_`',
        });
      }
      const value = this.#text(inner, key);
      if (value !== null) values.push([key, value]);
    }
    return Object.fromEntries(values);
  }

  /** `key`: the variable or header that the text is for; null for an argument. */
  #text(at: Located, key: string | null): string | null {
    const text = this.#reader.string(at);
    if (text === null) return null;
    if (text.includes('\0') || (key !== null && at.path.includes('.headers') && /[\r\n]/.test(text))) {
      this.#reader.reportAt(at, {
        code: 'CFG022',
        message: 'the text holds a character that cannot be passed on',
        help: 'remove the null character or line break',
      });
      return null;
    }
    if (/(?<!\$)\$\{state\}/.test(text)) this.#usesState = true;
    const environment = key === null ? null : this.#place.environment;
    const onVariable = (variable: string) => this.#hand(at, key ?? '', variable);
    return replacePlaceholders(this.#reader, at, text, { ...this.#values, environment, onVariable });
  }

  #hand(at: Located, key: string, variable: string): void {
    this.#handed.push({ app: id(this.#name), key, variable });
    if (!this.#place.keyVariables.has(variable)) return;
    this.#reader.reportAt(at, {
      code: 'CFG031',
      severity: 'warning',
      message: `this app gets the key of a model provider, ${quoted(variable)}`,
      help: 'give the app its own key',
    });
  }

  #reportUnwritable(object: ObjectReader): void {
    this.#reader.report(object.at.path, firstCharacter(object), {
      code: 'CFG032',
      severity: 'warning',
      message: 'the app gets the name of `${state}`, but its manifest does not give it that folder',
      help: 'add `"${state}"` to `manifest.files.write`',
    });
  }

  /** An app without code can use neither network nor files: a user who grants them expects something else. */
  #reportUseless(object: ObjectReader, manifest: Located | null, pin: Located | null): void {
    if (pin !== null) {
      this.#reader.report(pin.path, object.keySpan('pin'), {
        code: 'CFG036',
        severity: 'warning',
        message: 'the whole description of this app is in this file, so `pin` has no effect',
        help: 'remove it',
      });
    }
    if (manifest?.node.kind !== 'object') return;
    for (const { key, keySpan } of manifest.node.members) {
      if (
        ![
          ...['network', 'credentials', 'files', 'limits', 'node', 'unixSockets'],
          ...['irreversible', 'untrusted', 'private'],
        ].includes(key)
      )
        continue;
      this.#reader.report(`${object.at.path}.manifest.${key}`, keySpan, {
        code: 'CFG036',
        severity: 'warning',
        message: `an app of instructions has no process, so \`${key}\` has no effect`,
        help: 'remove it',
      });
    }
  }
}

const PIN = /^sha256:[0-9a-f]{64}$/;
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

const VARIABLE_NAME = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;
const HEADER_NAME = /^[A-Za-z0-9][A-Za-z0-9-]{0,127}$/;

const TRANSPORTS: ReadonlyMap<string, 'command' | 'url'> = new Map([
  ['stdio', 'command'],
  ['http', 'url'],
  ['streamable-http', 'url'],
  ['streamableHttp', 'url'],
  ['streamable_http', 'url'],
  ['sse', 'url'],
]);

function firstCharacter(object: ObjectReader) {
  const { start } = object.at.node.span;
  return { start, end: start + 1 };
}

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

/** An `http` or `https` address; null after a report. A password in it would be shown wherever the address is. */
export function readAddress(
  reader: ConfigReader,
  at: Located,
  problemOf: (text: string) => Problem | null = addressProblem,
): string | null {
  const text = reader.string(at);
  if (text === null) return null;
  const problem = problemOf(text);
  if (problem !== null) reader.reportAt(at, problem);
  return problem === null || problem.severity === 'warning' ? text : null;
}

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
  if (url.protocol === 'https:' || isLoopback(url.hostname)) return null;
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

export function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}
