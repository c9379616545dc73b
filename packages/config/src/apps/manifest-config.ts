/**
 * The manifest of an app as the configuration writes it. What is not said is read strictly: no network, no files,
 * core's limits, every tool irreversible, every output untrusted and private.
 *
 * What it accepts becomes the app's rights.
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
  NODE_GRANTS,
  type NodeGrant,
  SILENT_MANIFEST,
} from '@cordon/core';
import {
  type Bounds,
  type Located,
  nameProblem,
  type ObjectReader,
  type Problem,
  plainJson,
  quoted,
} from '../reading/config-reader.ts';
import { covers, type OwnPath, realPath } from '../reading/paths.ts';
import { type Folders, readPath } from '../reading/placeholders.ts';
import { type CredentialPlace, readCredentials, readNetworkEntry } from './network-config.ts';
import { readRemembers } from './remembers-config.ts';

export interface RightsPlace {
  readonly folders: Folders;
  /** Cordon's own files and folders, links resolved: data, cache, configuration, policy. */
  readonly ownPaths: readonly OwnPath[];
}

export interface ManifestPlace extends RightsPlace {
  /** Ids of all apps in the file: a text that other apps' contexts see must not name one. */
  readonly appNames: readonly string[];
  /** Whether a variable of the user's environment has a value. */
  readonly hasVariable: (name: string) => boolean;
  /** What `functionalities` of the configuration says of each, for manifests that do not say it again. */
  readonly known: KnownFunctionalities;
}

/** A functionality as the configuration knows it, whoever serves it. A format that is null each manifest gives itself. */
export interface KnownFunctionality {
  readonly description: string;
  readonly request: JsonSchema | null;
  readonly response: JsonSchema | null;
}

export type KnownFunctionalities = ReadonlyMap<string, KnownFunctionality>;

const MOST_DESCRIPTION = 2000;
const MOST_FUNCTIONALITY_DESCRIPTION = 300;

/** Reads a manifest; what is wrong is reported and stands as silent in the result. */
export function readManifest(at: Located, place: ManifestPlace): Manifest {
  const object = at.object();
  if (object === null) return SILENT_MANIFEST;
  const rights = readRights(object, place);
  const remembers = object.read('remembers', readRemembers);
  const manifest: Manifest = {
    ...rights,
    description: object.read('description', (text) => readProse(text, MOST_DESCRIPTION)),
    functionalities: object.read('functionalities', (all) => readFunctionalities(all, place)) ?? [],
    credentials:
      object.read('credentials', (all) => readCredentials(all, credentialPlace(rights, place))) ?? [],
    irreversible: object.read('irreversible', readToolNames),
    untrusted: object.read('untrusted', readToolNames),
    private: object.read('private', readToolNames),
    ...(remembers === null ? {} : { remembers }),
  };
  object.finish();
  return manifest;
}

export type Rights = Pick<Manifest, 'network' | 'files' | 'limits' | 'node' | 'unixSockets'>;

/** The keys that the manifest of an app has, and that of a command of `cordon run`: what its process may reach and use. */
export function readRights(object: ObjectReader, place: RightsPlace): Rights {
  return {
    network: object.read('network', (all) => distinct(all, 'an array of hosts', readNetworkEntry)) ?? [],
    files: object.read('files', (files) => readFiles(files, place)) ?? SILENT_MANIFEST.files,
    limits:
      object.read('limits', (limits) => limits.wholes(LIMIT_BOUNDS, DEFAULT_APP_LIMITS)) ??
      DEFAULT_APP_LIMITS,
    node: object.read('node', readNodeGrants) ?? [],
    ...(object.boolean('unixSockets') === true ? { unixSockets: true } : {}),
  };
}

/** Text that a model reads as instructions of the hub's side: bounded, and without characters a person cannot see. */
export function readProse(at: Located, most: number): string | null {
  return at.checked((text) => proseProblem(text, most));
}

function proseProblem(text: string, most: number): Problem | null {
  const code = 'CFG022';
  if (text.trim() === '')
    return { code, message: 'the text is empty', help: 'write one sentence, or leave the key out' };
  if (text.length > most)
    return {
      code,
      message: `the text has ${text.length} characters, ${most} are allowed`,
      help: 'shorten it',
    };
  const hidden = text.match(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu)?.find((character) => !'\n\t'.includes(character));
  if (hidden === undefined) return null;
  return {
    code,
    message: `the text holds the invisible character ${quoted(hidden)}`,
    help: 'remove it: a model would read what a person cannot see',
  };
}

function readFunctionalities(at: Located, place: ManifestPlace): Functionality[] {
  return at.mapped(
    (name) => nameProblem(name, 'a functionality'),
    (name, inner) => {
      const named = namedApp(name, place.appNames);
      if (named !== null) inner.reportKey(namesApp(named));
      return readFunctionality(inner, name, place);
    },
  );
}

function readFunctionality(at: Located, name: string, place: ManifestPlace): Functionality | null {
  const object = at.object();
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
  const tool = object.read('tool', readToolName);
  object.finish();
  const text = description === null ? (known?.description ?? null) : readLine(description, place.appNames);
  const asks = request === null ? (known?.request ?? null) : readSchema(request, tool !== null);
  const answers = response === null ? (known?.response ?? null) : readSchema(response, false);
  if (text === null || asks === null || answers === null) return null;
  return { name: id(name), description: text, request: asks, response: answers, tool };
}

/** One line that every spoke may see: it names no app. */
export function readLine(at: Located, appNames: readonly string[]): string | null {
  const text = readProse(at, MOST_FUNCTIONALITY_DESCRIPTION);
  if (text === null) return null;
  if (text.includes('\n'))
    at.report({ code: 'CFG022', message: 'the text has more than one line', help: 'say it in one line' });
  const named = namedApp(text, appNames);
  if (named !== null) at.report(namesApp(named));
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

function namesApp(app: string): Problem {
  return {
    code: 'CFG021',
    message: `this text names the app ${quoted(app)}, and every app would see it`,
    help: 'say what is done, not who does it',
  };
}

/** Only the outer form: the hub compiles the schema within limits when the app is installed. */
export function readSchema(at: Located, servesTool: boolean): JsonSchema | null {
  const schema = plainJson(at.node);
  if (!isJsonObject(schema)) {
    at.object();
    return null;
  }
  if (!servesTool || schema.type === 'object') return schema;
  return at.report({
    code: 'CFG023',
    message: 'the request of a functionality that a tool serves must be an object',
    help: 'write `"type": "object"` and its `properties`',
  });
}

function credentialPlace({ network, files }: Rights, place: ManifestPlace): CredentialPlace {
  const visible = [...files.read, ...files.write].map(realPath);
  return {
    network,
    folders: place.folders,
    isVisible: (path) => visible.some((folder) => covers(folder, realPath(path))),
    hasVariable: place.hasVariable,
  };
}

function readFiles(at: Located, place: RightsPlace): Manifest['files'] {
  const object = at.object();
  const read = (access: 'read' | 'write') =>
    object?.read(access, (paths) => readPaths(paths, access, place)) ?? [];
  const files = { read: read('read'), write: read('write') };
  object?.finish();
  return files;
}

function readPaths(at: Located, access: 'read' | 'write', place: RightsPlace): string[] {
  return distinct(at, 'an array of paths', (item) => {
    const path = readPath(item, place.folders);
    const problem = path === null ? null : accessProblem(path, access, place);
    return problem === null ? path : item.report(problem);
  });
}

/**
 * Attack: an app that may write the configuration, the policy or the grants gives itself any right; one that reads
 * the data folder reads every other app's data. Its own state folder is the exception.
 */
function accessProblem(path: string, access: 'read' | 'write', place: RightsPlace): Problem | null {
  const { folders, ownPaths } = place;
  const real = realPath(path);
  if (covers(realPath(folders.state), real)) return null;
  if (access === 'write' && covers(real, realPath(folders.home))) {
    return {
      code: 'CFG017',
      message: `${quoted(path)} would let the app write everywhere in your home folder`,
      help: 'name the folder that it needs',
    };
  }
  const own = ownPaths.find(
    (candidate) =>
      (access === 'write' || candidate.closedFor === 'read and write') &&
      (covers(real, candidate.path) || covers(candidate.path, real)),
  );
  if (own === undefined) return null;
  return {
    code: 'CFG017',
    message: `${quoted(path)} would let the app ${access} ${own.name} of Cordon`,
    help: `name a folder that does not hold it${access === 'write' ? ', or `${state}`' : ''}`,
  };
}

/** Smallest and largest value; beyond these a number is more likely a slip than a wish. */
const LIMIT_BOUNDS: Readonly<Record<keyof AppLimits, Bounds>> = {
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

function readNodeGrants(at: Located): readonly NodeGrant[] {
  const names = distinct(at, 'an array of permissions of Node', (item) =>
    item.word(NODE_GRANTS, (name) => ({
      code: 'CFG008',
      message: `${quoted(name)} is no permission of Node`,
      help: `name some of ${NODE_GRANTS.join(', ')}`,
    })),
  );
  return NODE_GRANTS.filter((grant) => names.includes(grant));
}

function readToolNames(at: Located): string[] {
  return distinct(at, 'an array of tool names', readToolName);
}

function readToolName(at: Located): string | null {
  return at.checked((name) =>
    /^[\x21-\x7e]{1,128}$/.test(name)
      ? null
      : {
          code: 'CFG008',
          message: `${quoted(name)} is no name of a tool`,
          help: 'tool names have 1 to 128 printable characters and no spaces',
        },
  );
}

/** What `read` makes of each item; null is left out, and what appears twice is reported. */
function distinct(at: Located, wanted: string, read: (item: Located) => string | null): string[] {
  const values = new Set<string>();
  for (const item of at.items(wanted)) {
    const value = read(item);
    if (value === null) continue;
    if (values.has(value)) {
      item.report({
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
