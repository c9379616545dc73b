/**
 * The manifest of an app as the configuration writes it. What is not said is read strictly: no network, no files,
 * core's limits, every tool irreversible, every output untrusted and private.
 *
 * Ring 0; what it accepts becomes the app's rights.
 */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: messages name placeholders as people write them
import {
  type AppLimits,
  DEFAULT_APP_LIMITS,
  type Functionality,
  id,
  isJsonObject,
  type JsonSchema,
  type Manifest,
  NAME_PATTERN,
  NODE_GRANTS,
  type NodeGrant,
  SILENT_MANIFEST,
} from '@cordon/core';
import {
  type ConfigReader,
  type Located,
  type ObjectReader,
  plainJson,
  quoted,
  readBounded,
} from '../reading/config-reader.ts';
import { absolutePath, covers, realPath } from '../reading/paths.ts';
import { type PlaceholderValues, replacePlaceholders } from '../reading/placeholders.ts';
import { type CredentialPlace, readCredentials, readNetworkEntry } from './network-config.ts';
import { readRemembers } from './remembers-config.ts';

export interface ManifestPlace {
  /** The app's own id. */
  readonly app: string;
  /** Ids of all apps in the file: a text that other apps' contexts see must not name one. */
  readonly appNames: readonly string[];
  readonly home: string;
  readonly values: PlaceholderValues;
  /** Whether a variable of the user's environment has a value. */
  readonly hasVariable: (name: string) => boolean;
  /** What `functionalities` of the configuration says of each, for manifests that do not say it again. */
  readonly known: KnownFunctionalities;
  /** Cordon's own files and folders, links resolved: data, cache, configuration, policy. */
  readonly ownPaths: readonly OwnPath[];
}

/** A functionality as the configuration knows it, whoever serves it. A format that is null each manifest gives itself. */
export interface KnownFunctionality {
  readonly description: string;
  readonly request: JsonSchema | null;
  readonly response: JsonSchema | null;
}

export type KnownFunctionalities = ReadonlyMap<string, KnownFunctionality>;

export interface OwnPath {
  readonly path: string;
  /** `the data folder` */
  readonly name: string;
  /** `write`: an app may read it. */
  readonly closedFor: 'read and write' | 'write';
}

const MOST_DESCRIPTION = 2000;
const MOST_FUNCTIONALITY_DESCRIPTION = 300;

/** Reads a manifest; what is wrong is reported and stands as silent in the result. */
export function readManifest(reader: ConfigReader, at: Located, place: ManifestPlace): Manifest {
  const object = reader.object(at);
  if (object === null) return SILENT_MANIFEST;
  const description = object.get('description');
  const functionalities = object.get('functionalities');
  const network = object.get('network');
  const credentials = object.get('credentials');
  const files = object.get('files');
  const limits = object.get('limits');
  const node = object.get('node');
  const unixSockets = object.get('unixSockets');
  const remembers = object.get('remembers');
  const reached = network === null ? [] : readNetwork(reader, network);
  const seen = files === null ? SILENT_MANIFEST.files : readFiles(reader, files, place);
  const manifest: Manifest = {
    description: description === null ? null : readProse(reader, description, MOST_DESCRIPTION),
    functionalities: functionalities === null ? [] : readFunctionalities(reader, functionalities, place),
    network: reached,
    credentials:
      credentials === null
        ? []
        : readCredentials(reader, credentials, credentialPlace(reached, seen, reader, place)),
    files: seen,
    limits: limits === null ? DEFAULT_APP_LIMITS : readLimits(reader, limits),
    node: node === null ? [] : readNodeGrants(reader, node),
    ...(unixSockets !== null && reader.boolean(unixSockets) === true ? { unixSockets: true } : {}),
    irreversible: readToolNames(reader, object, 'irreversible'),
    untrusted: readToolNames(reader, object, 'untrusted'),
    private: readToolNames(reader, object, 'private'),
    ...(remembers === null ? {} : { remembers: readRemembers(reader, remembers) }),
  };
  object.finish();
  return manifest;
}

/** Text that a model reads as instructions of the hub's side: bounded, and without characters a person cannot see. */
export function readProse(reader: ConfigReader, at: Located, most: number): string | null {
  const text = reader.string(at);
  if (text === null) return null;
  const problem = proseProblem(text, most);
  if (problem === null) return text;
  reader.reportAt(at, { code: 'CFG022', ...problem });
  return null;
}

function proseProblem(text: string, most: number): { message: string; help: string } | null {
  if (text.trim() === '')
    return { message: 'the text is empty', help: 'write one sentence, or leave the key out' };
  if (text.length > most) {
    return { message: `the text has ${text.length} characters, ${most} are allowed`, help: 'shorten it' };
  }
  const hidden = text.match(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu)?.find((character) => !'\n\t'.includes(character));
  if (hidden === undefined) return null;
  return {
    message: `the text holds the invisible character ${quoted(hidden)}`,
    help: 'remove it: a model would read what a person cannot see',
  };
}

function readFunctionalities(reader: ConfigReader, at: Located, place: ManifestPlace): Functionality[] {
  return reader.entries(at).flatMap(({ key, keySpan, at: inner }) => {
    if (!NAME_PATTERN.test(key)) {
      reader.report(inner.path, keySpan, {
        code: 'CFG008',
        message: `${quoted(key)} is no name for a functionality`,
        help: 'use up to 64 letters, digits, `.`, `_` and `-`, beginning with a letter or digit',
      });
      return [];
    }
    const named = namedApp(key, place.appNames);
    if (named !== null) reader.report(inner.path, keySpan, namesApp(named));
    const functionality = readFunctionality(reader, inner, key, place);
    return functionality === null ? [] : [functionality];
  });
}

function readFunctionality(
  reader: ConfigReader,
  at: Located,
  name: string,
  place: ManifestPlace,
): Functionality | null {
  const object = reader.object(at);
  if (object === null) return null;
  const known = place.known.get(name);
  /** What the configuration says of it once need not be said again. */
  const given = (key: string, isKnown: boolean, help: string) =>
    isKnown ? object.get(key) : object.required(key, help);
  const description = given(
    'description',
    known !== undefined,
    'say in one line what is done, without naming an app',
  );
  const request = given('request', known?.request != null, 'write the JSON Schema of the request');
  const response = given('response', known?.response != null, 'write the JSON Schema of the response');
  const tool = object.get('tool');
  object.finish();
  const text =
    description === null ? (known?.description ?? null) : readLine(reader, description, place.appNames);
  const toolName = tool === null ? null : readToolName(reader, tool);
  const asks = request === null ? (known?.request ?? null) : readSchema(reader, request, toolName !== null);
  const answers = response === null ? (known?.response ?? null) : readSchema(reader, response, false);
  if (text === null || asks === null || answers === null) return null;
  return { name: id(name), description: text, request: asks, response: answers, tool: toolName };
}

/** One line that every spoke may see: it names no app. */
export function readLine(reader: ConfigReader, at: Located, appNames: readonly string[]): string | null {
  const text = readProse(reader, at, MOST_FUNCTIONALITY_DESCRIPTION);
  if (text === null) return null;
  if (text.includes('\n')) {
    reader.reportAt(at, {
      code: 'CFG022',
      message: 'the text has more than one line',
      help: 'say it in one line',
    });
  }
  const named = namedApp(text, appNames);
  if (named !== null) reader.reportAt(at, namesApp(named));
  return text;
}

/**
 * Every context sees the names and descriptions of all functionalities, and none may learn which apps there are
 * (paper, IV-C1). An id that is an ordinary word (`mail`) says nothing when the text uses the word.
 */
function namedApp(text: string, appNames: readonly string[]): string | null {
  const words = ` ${wordsOf(text)} `;
  return appNames.find((name) => /[^A-Za-z]/.test(name) && words.includes(` ${wordsOf(name)} `)) ?? null;
}

function wordsOf(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
}

function namesApp(app: string) {
  return {
    code: 'CFG021',
    message: `this text names the app ${quoted(app)}, and every app would see it`,
    help: 'say what is done, not who does it',
  };
}

/** Only the outer form: the hub compiles the schema within limits when the app is installed. */
export function readSchema(reader: ConfigReader, at: Located, servesTool: boolean): JsonSchema | null {
  const schema = plainJson(at.node);
  if (!isJsonObject(schema)) {
    reader.object(at);
    return null;
  }
  if (servesTool && schema.type !== 'object') {
    reader.reportAt(at, {
      code: 'CFG023',
      message: 'the request of a functionality that a tool serves must be an object',
      help: 'write `"type": "object"` and its `properties`',
    });
    return null;
  }
  return schema;
}

function readNetwork(reader: ConfigReader, at: Located): string[] {
  return distinct(reader, reader.items(at, 'an array of hosts'), (item) => readNetworkEntry(reader, item));
}

function credentialPlace(
  network: readonly string[],
  files: Manifest['files'],
  reader: ConfigReader,
  place: ManifestPlace,
): CredentialPlace {
  const visible = [...files.read, ...files.write].map(realPath);
  return {
    network,
    readPath: (at) => readPath(reader, at, place.home, place.values),
    isVisible: (path) => visible.some((folder) => covers(folder, realPath(path))),
    hasVariable: place.hasVariable,
  };
}

function readFiles(reader: ConfigReader, at: Located, place: ManifestPlace): Manifest['files'] {
  const object = reader.object(at);
  if (object === null) return SILENT_MANIFEST.files;
  const read = object.get('read');
  const write = object.get('write');
  object.finish();
  return {
    read: read === null ? [] : readPaths(reader, read, 'read', place),
    write: write === null ? [] : readPaths(reader, write, 'write', place),
  };
}

function readPaths(
  reader: ConfigReader,
  at: Located,
  access: 'read' | 'write',
  place: ManifestPlace,
): string[] {
  return distinct(reader, reader.items(at, 'an array of paths'), (item) => {
    const path = readPath(reader, item, place.home, place.values);
    if (path === null) return null;
    const problem = accessProblem(path, access, place);
    if (problem === null) return path;
    reader.reportAt(item, { code: 'CFG017', ...problem });
    return null;
  });
}

/** A path as people write it, made absolute; null after a report. */
export function readPath(
  reader: ConfigReader,
  at: Located,
  home: string,
  values: PlaceholderValues,
): string | null {
  const text = reader.string(at);
  if (text === null) return null;
  const help = pathHelp(text);
  if (help !== null) {
    reader.reportAt(at, {
      code: 'CFG016',
      message: `${quoted(text)} is no path that can be used here`,
      help,
    });
    return null;
  }
  const replaced = replacePlaceholders(reader, at, text, { ...values, environment: null });
  return replaced === null ? null : absolutePath(replaced, values.config, home);
}

function pathHelp(text: string): string | null {
  if (text.trim() === '') return 'name a file or folder';
  if (text.length > 4096) return 'paths have at most 4096 characters';
  if (/\p{Cc}/u.test(text)) return 'remove the control character';
  if (/^~[^/]/.test(text)) return 'only your own home is known, as `~`; write the path in full';
  if (/[*?]/.test(text)) return 'patterns are not understood; name the folder';
  return null;
}

/**
 * Attack: an app that may write the configuration, the policy or the grants gives itself any right; one that reads
 * the data folder reads every other app's data. Its own state folder is the exception.
 */
function accessProblem(
  path: string,
  access: 'read' | 'write',
  place: ManifestPlace,
): { message: string; help: string } | null {
  const real = realPath(path);
  if (covers(realPath(place.values.state), real)) return null;
  if (access === 'write' && covers(real, realPath(place.home))) {
    return {
      message: `${quoted(path)} would let the app write everywhere in your home folder`,
      help: 'name the folder that it needs',
    };
  }
  const own = place.ownPaths.find(
    (candidate) =>
      (access === 'write' || candidate.closedFor === 'read and write') &&
      (covers(real, candidate.path) || covers(candidate.path, real)),
  );
  if (own === undefined) return null;
  return {
    message: `${quoted(path)} would let the app ${access} ${own.name} of Cordon`,
    help:
      access === 'write'
        ? 'name a folder that does not hold it, or `${state}`'
        : 'name a folder that does not hold it',
  };
}

/** Smallest and largest value; beyond these a number is more likely a slip than a wish. */
const LIMIT_BOUNDS: Readonly<Record<keyof AppLimits, readonly [number, number]>> = {
  memoryMiB: [16, 65_536],
  cpuSeconds: [1, 604_800],
  processes: [1, 4096],
  openFiles: [16, 65_536],
  fileMiB: [1, 65_536],
  storageMiB: [1, 1_048_576],
  files: [1, 10_000_000],
  startSeconds: [1, 600],
  callSeconds: [1, 3600],
  silentSeconds: [1, 3600],
  idleSeconds: [1, 86_400],
  totalSeconds: [1, 604_800],
  lineBytes: [1024, 67_108_864],
  messagesPerSecond: [1, 10_000],
};

function readLimits(reader: ConfigReader, at: Located): AppLimits {
  const object = reader.object(at);
  if (object === null) return DEFAULT_APP_LIMITS;
  const limits: AppLimits = {
    memoryMiB: readLimit(reader, object, 'memoryMiB'),
    cpuSeconds: readLimit(reader, object, 'cpuSeconds'),
    processes: readLimit(reader, object, 'processes'),
    openFiles: readLimit(reader, object, 'openFiles'),
    fileMiB: readLimit(reader, object, 'fileMiB'),
    storageMiB: readLimit(reader, object, 'storageMiB'),
    files: readLimit(reader, object, 'files'),
    startSeconds: readLimit(reader, object, 'startSeconds'),
    callSeconds: readLimit(reader, object, 'callSeconds'),
    silentSeconds: readLimit(reader, object, 'silentSeconds'),
    idleSeconds: readLimit(reader, object, 'idleSeconds'),
    totalSeconds: readLimit(reader, object, 'totalSeconds'),
    lineBytes: readLimit(reader, object, 'lineBytes'),
    messagesPerSecond: readLimit(reader, object, 'messagesPerSecond'),
  };
  object.finish();
  return limits;
}

function readLimit(reader: ConfigReader, object: ObjectReader, name: keyof AppLimits): number {
  return readBounded(reader, object, name, LIMIT_BOUNDS[name], DEFAULT_APP_LIMITS[name]);
}

function readNodeGrants(reader: ConfigReader, at: Located): readonly NodeGrant[] {
  const names = distinct(reader, reader.items(at, 'an array of permissions of Node'), (item) => {
    const name = reader.string(item);
    if (name === null || NODE_GRANTS.some((grant) => grant === name)) return name;
    reader.reportAt(item, {
      code: 'CFG008',
      message: `${quoted(name)} is no permission of Node`,
      help: `name some of ${NODE_GRANTS.join(', ')}`,
    });
    return null;
  });
  return NODE_GRANTS.filter((grant) => names.includes(grant));
}

function readToolNames(reader: ConfigReader, object: ObjectReader, key: string): string[] | null {
  const at = object.get(key);
  if (at === null) return null;
  return distinct(reader, reader.items(at, 'an array of tool names'), (item) => readToolName(reader, item));
}

function readToolName(reader: ConfigReader, at: Located): string | null {
  const name = reader.string(at);
  if (name === null) return null;
  if (/^[\x21-\x7e]{1,128}$/.test(name)) return name;
  reader.reportAt(at, {
    code: 'CFG008',
    message: `${quoted(name)} is no name of a tool`,
    help: 'tool names have 1 to 128 printable characters and no spaces',
  });
  return null;
}

function distinct(
  reader: ConfigReader,
  items: readonly Located[],
  read: (item: Located) => string | null,
): string[] {
  const values = new Set<string>();
  for (const item of items) {
    const value = read(item);
    if (value === null) continue;
    if (values.has(value)) {
      reader.reportAt(item, {
        code: 'CFG024',
        severity: 'warning',
        message: `${quoted(value)} appears twice in this list`,
        help: 'remove one of them',
      });
    }
    values.add(value);
  }
  return [...values];
}
