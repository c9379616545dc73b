/**
 * What `cordon run` lets a command have: a manifest file, options of the command line, or both together. The keys are
 * those of a manifest in the configuration as far as they are enforced here; the others are refused, since who writes
 * `irreversible` expects to be asked.
 *
 * Ring 0; what it accepts becomes the command's rights.
 */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: messages name placeholders as people write them
import { dirname } from 'node:path';
import {
  type AppLimits,
  type Diagnostic,
  failed,
  NAME_PATTERN,
  ok,
  type Result,
  SILENT_MANIFEST,
} from '@cordon/core';
import { type OwnPath, readManifest } from '../apps/manifest-config.ts';
import { ConfigReader, type Located, type ObjectReader, quoted } from '../reading/config-reader.ts';
import { type JsonNode, parseJsonText } from '../reading/json-text.ts';
import { type Environment, realPath } from '../reading/paths.ts';
import { replacePlaceholders } from '../reading/placeholders.ts';
import { parseJsonFile, readTextFile } from '../reading/text-file.ts';
import { NO_RIGHTS, type RunRights, runStateFolder } from './run-rights.ts';

/** Rights on the command line, as commander passes them on. */
export interface RightsOptions {
  readonly manifest?: string;
  readonly read: readonly string[];
  readonly write: readonly string[];
  readonly network: readonly string[];
  /** `NAME`, the caller's own, or `NAME=value`. */
  readonly env: readonly string[];
  readonly state?: string;
}

export interface RunPlace {
  readonly cwd: string;
  readonly home: string;
  readonly environment: Environment;
  readonly dataFolder: string;
  /** Cordon's own files, the manifest not among them. */
  readonly ownPaths: readonly OwnPath[];
}

/** `optionState`: the private folder that the command line names for the file. */
type ReadPlace = RunPlace & { readonly optionState: string | null };

const SHARED_KEYS = ['network', 'files', 'limits', 'node', 'unixSockets'];
const KEYS = [...SHARED_KEYS, 'env', 'state'];

/** Keys of a manifest in the configuration that something does there and nothing does here. */
const ONLY_IN_CONFIGURATION: ReadonlySet<string> = new Set([
  ...['description', 'functionalities', 'irreversible', 'untrusted', 'private', 'credentials'],
]);

/** What the sandbox bounds; the others bound what an app says to a hub, and here it speaks to its client. */
const ENFORCED_LIMITS: ReadonlySet<string> = new Set<keyof AppLimits>([
  ...(['memoryMiB', 'cpuSeconds', 'processes', 'openFiles', 'fileMiB', 'storageMiB', 'files'] as const),
]);

/** The union of file and options. A failure holds every problem that was found in both. Reads the file. */
export function readRights(
  options: RightsOptions,
  place: RunPlace,
): Result<RunRights, readonly Diagnostic[]> {
  const { manifest, state = null } = options;
  const fenced: RunPlace =
    manifest === undefined ? place : { ...place, ownPaths: [...place.ownPaths, ownManifest(manifest)] };
  const given = [
    ...(manifest === undefined ? [] : [fromFile(manifest, { ...fenced, optionState: state })]),
    fromOptions(options, { ...fenced, optionState: null }),
  ];
  const problems = given.flatMap((rights) => (rights.ok ? [] : rights.fault));
  if (problems.length > 0) return failed(problems);
  return ok(given.flatMap((rights) => (rights.ok ? [rights.value] : [])).reduce(together, NO_RIGHTS));
}

function together(first: RunRights, second: RunRights): RunRights {
  const distinct = (key: 'read' | 'write') => [...new Set([...first.files[key], ...second.files[key]])];
  return {
    network: [...new Set([...first.network, ...second.network])],
    files: { read: distinct('read'), write: distinct('write') },
    limits: second.limits === SILENT_MANIFEST.limits ? first.limits : second.limits,
    node: [...new Set([...first.node, ...second.node])],
    unixSockets: first.unixSockets || second.unixSockets,
    env: { ...first.env, ...second.env },
    state: second.state ?? first.state,
  };
}

/** Attack: a command that may write its own manifest gives itself any right at its next start. */
function ownManifest(file: string): OwnPath {
  return { path: realPath(file), name: 'the manifest', closedFor: 'write' };
}

function fromFile(file: string, place: ReadPlace): Result<RunRights, readonly Diagnostic[]> {
  const text = readTextFile(file);
  if (!text.ok) return failed([text.fault]);
  const tree = parseJsonFile(file, text.value);
  if (!tree.ok) return failed([tree.fault]);
  return read(new ConfigReader(file, text.value), tree.value, dirname(file), place);
}

/** The options as the manifest that they stand for, so that both are read by the same rules. */
function fromOptions(options: RightsOptions, place: ReadPlace): Result<RunRights, readonly Diagnostic[]> {
  const variables = options.env.map((text): [string, string] => {
    const at = text.indexOf('=');
    return at < 0 ? [text, `\${env:${text}}`] : [text.slice(0, at), literal(text.slice(at + 1))];
  });
  const { network, read: reads, write, state } = options;
  const text = JSON.stringify({
    network,
    files: { read: reads, write },
    env: Object.fromEntries(variables),
    ...(state === undefined ? {} : { state }),
  });
  const tree = parseJsonText(text);
  if (!tree.ok) {
    // A variable `__proto__`, or more options than anybody writes.
    return failed([{ code: 'CFG002', severity: 'error', file: 'command line', message: tree.fault.message }]);
  }
  const rights = read(new ConfigReader('command line', text), tree.value, place.cwd, place);
  // Nobody wrote this text, so its lines and columns would mislead.
  return rights.ok ? rights : failed(rights.fault.map(({ range: _, ...problem }) => problem));
}

/** A value that means itself. By a function, because `$$` in a replacement is one `$`. */
function literal(text: string): string {
  return text.replaceAll('${', () => '$${');
}

function read(
  reader: ConfigReader,
  root: JsonNode,
  folder: string,
  place: ReadPlace,
): Result<RunRights, readonly Diagnostic[]> {
  const object = reader.object({ node: root, path: '' });
  const rights = object === null ? NO_RIGHTS : readObject(reader, object, folder, place);
  return reader.hasErrors ? failed(reader.diagnostics) : ok(rights);
}

function readObject(reader: ConfigReader, object: ObjectReader, folder: string, place: ReadPlace): RunRights {
  for (const key of KEYS) object.get(key);
  object.get('$schema');
  object.finish((key) => (ONLY_IN_CONFIGURATION.has(key) ? meaningless(key) : null));
  const limits = object.get('limits');
  if (limits !== null) refuseLinkLimits(reader, limits);
  const state = readState(reader, object.get('state')) ?? place.optionState;
  if (state === null) refuseState(reader, object.at);
  const manifest = readManifest(reader, onlyShared(object.at), {
    app: '',
    appNames: [],
    home: place.home,
    values: { state: runStateFolder(place.dataFolder, state ?? '.none'), config: folder, environment: null },
    hasVariable: () => false,
    known: new Map(),
    ownPaths: place.ownPaths,
  });
  const env = object.get('env');
  return {
    network: manifest.network,
    files: manifest.files,
    limits: limits === null ? SILENT_MANIFEST.limits : manifest.limits,
    node: manifest.node,
    unixSockets: manifest.unixSockets === true,
    env: env === null ? {} : readVariables(reader, env, folder, place.environment),
    state,
  };
}

/** The object with the keys that a manifest in the configuration has as well; the others are read here. */
function onlyShared(at: Located): Located {
  if (at.node.kind !== 'object') return at;
  const members = at.node.members.filter(({ key }, index, all) => {
    const isFirst = all.findIndex((member) => member.key === key) === index;
    return SHARED_KEYS.includes(key) && isFirst;
  });
  return { ...at, node: { ...at.node, members } };
}

function meaningless(key: string) {
  return {
    code: 'CFG009',
    message: `\`${key}\` has no meaning for \`cordon run\``,
    help: 'take it out: nobody is asked here, and no agent reads it',
  };
}

function refuseLinkLimits(reader: ConfigReader, at: Located): void {
  if (at.node.kind !== 'object') return;
  for (const { key, keySpan } of at.node.members) {
    if (!ENFORCED_LIMITS.has(key) && Object.hasOwn(SILENT_MANIFEST.limits, key))
      reader.report(`limits.${key}`, keySpan, {
        code: 'CFG009',
        message: `\`${key}\` has no meaning for \`cordon run\``,
        help: 'take it out: the client that started the command keeps its own time',
      });
  }
}

function readVariables(
  reader: ConfigReader,
  at: Located,
  folder: string,
  environment: Environment,
): Record<string, string> {
  const values: [string, string][] = [];
  for (const { key, keySpan, at: inner } of reader.entries(at)) {
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(key)) {
      reader.report(inner.path, keySpan, {
        code: 'CFG008',
        message: `${quoted(key)} is no name for an environment variable`,
        help: 'use letters, digits and `_`',
      });
      continue;
    }
    const value = readValue(reader, inner, folder, environment);
    if (value !== null) values.push([key, value]);
  }
  return Object.fromEntries(values);
}

function readValue(
  reader: ConfigReader,
  at: Located,
  config: string,
  environment: Environment,
): string | null {
  const text = reader.string(at);
  if (text === null) return null;
  if (!text.includes('\0'))
    return replacePlaceholders(reader, at, text, { state: STATE, config, environment });
  reader.reportAt(at, {
    code: 'CFG022',
    message: 'the text holds a character that cannot be passed on',
    help: 'remove the null character',
  });
  return null;
}

/** What the private folder is called inside; the same as for an app of the configuration. */
const STATE = '/state';

function refuseState(reader: ConfigReader, at: Located): void {
  const used = firstText(at, (text) => /(?<!\$)\$\{state\}/.test(text));
  if (used === null) return;
  reader.reportAt(used, {
    code: 'CFG018',
    message: '`${state}` stands for a private folder, and none is asked for',
    help: 'name it: `"state": "notes"`, or `--state notes`',
  });
}

function firstText(at: Located, isMeant: (text: string) => boolean): Located | null {
  const { node } = at;
  if (node.kind === 'string') return isMeant(node.value) ? at : null;
  const inner =
    node.kind === 'array' ? node.items : node.kind === 'object' ? node.members.map(({ value }) => value) : [];
  for (const child of inner) {
    const found = firstText({ node: child, path: at.path }, isMeant);
    if (found !== null) return found;
  }
  return null;
}

function readState(reader: ConfigReader, at: Located | null): string | null {
  const name = at === null ? null : reader.string(at);
  if (at === null || name === null) return null;
  if (NAME_PATTERN.test(name)) return name;
  reader.reportAt(at, {
    code: 'CFG008',
    message: `${quoted(name)} is no name for a private folder`,
    help: 'use up to 64 letters, digits, `.`, `_` and `-`, beginning with a letter or digit',
  });
  return null;
}
