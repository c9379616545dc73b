/**
 * What `cordon run` lets a command have: a manifest file, options of the command line, or both together. The keys are
 * those of a manifest in the configuration as far as they are enforced here; the others are refused, since who writes
 * `irreversible` expects to be asked.
 *
 * What it accepts becomes the command's rights.
 */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: messages name placeholders as people write them
import { dirname } from 'node:path';
import { type AppLimits, DEFAULT_APP_LIMITS, type Diagnostic, failed, ok, type Result } from '@cordon/core';
import { readRights as readSharedRights } from '../apps/manifest-config.ts';
import {
  ConfigReader,
  type Located,
  nameProblem,
  type ObjectReader,
  unnamed,
} from '../reading/config-reader.ts';
import { type JsonNode, parseJsonText } from '../reading/json-text.ts';
import { type Environment, type OwnPath, ownPath } from '../reading/paths.ts';
import { namesState, replacePlaceholders } from '../reading/placeholders.ts';
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

const KEYS = ['network', 'files', 'limits', 'node', 'unixSockets', 'env', 'state', '$schema'];

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
  // Attack: a command that may write its own manifest gives itself any right at its next start.
  const own = manifest === undefined ? [] : [ownPath('write', manifest, 'the manifest')];
  const fenced: RunPlace = { ...place, ownPaths: [...place.ownPaths, ...own] };
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
    limits: second.limits === DEFAULT_APP_LIMITS ? first.limits : second.limits,
    node: [...new Set([...first.node, ...second.node])],
    unixSockets: first.unixSockets || second.unixSockets,
    env: { ...first.env, ...second.env },
    state: second.state ?? first.state,
  };
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
  const object = reader.root(root).object();
  const rights = object === null ? NO_RIGHTS : readObject(object, folder, place);
  return reader.hasErrors ? failed(reader.diagnostics) : ok(rights);
}

function readObject(object: ObjectReader, folder: string, place: ReadPlace): RunRights {
  for (const key of KEYS) object.get(key);
  object.finish((key) => (ONLY_IN_CONFIGURATION.has(key) ? meaningless(key, NOBODY_ASKED) : null));
  const limits = object.get('limits');
  if (limits !== null) refuseLinkLimits(limits);
  const named = object.read('state', (at) => at.checked((name) => nameProblem(name, 'a private folder')));
  const state = named ?? place.optionState;
  if (state === null) refuseState(object.at);
  const { home, ownPaths } = place;
  const folders = { home, config: folder, state: runStateFolder(place.dataFolder, state ?? '.none') };
  const { unixSockets = false, ...shared } = readSharedRights(object, { folders, ownPaths });
  const env = object.read('env', (at) => readVariables(at, folder, place.environment)) ?? {};
  return { ...shared, unixSockets, env, state };
}

const NOBODY_ASKED = 'remove it: `cordon run` asks no user, and has no agent that reads it';

function meaningless(key: string, help: string) {
  return { code: 'CFG009', message: `\`${key}\` has no meaning for \`cordon run\``, help };
}

function refuseLinkLimits(limits: Located): void {
  const help = 'take it out: the client that started the command keeps its own time';
  for (const key of Object.keys(DEFAULT_APP_LIMITS))
    if (!ENFORCED_LIMITS.has(key)) limits.member(key)?.reportKey(meaningless(key, help));
}

function readVariables(at: Located, config: string, environment: Environment): Record<string, string> {
  const values = at.mapped(
    (name) => (/^[A-Za-z_]\w*$/.test(name) ? null : unnamed(name, 'an environment variable')),
    (name, inner): [string, string] | null => {
      const text = inner.checked(unpassable);
      const value =
        text === null ? null : replacePlaceholders(inner, text, { state: STATE, config, environment });
      return value === null ? null : [name, value];
    },
  );
  return Object.fromEntries(values);
}

function unpassable(text: string) {
  const message = 'the text holds a character that cannot be passed on';
  return text.includes('\0') ? { code: 'CFG022', message, help: 'remove the null character' } : null;
}

/** What the private folder is called inside; the same as for an app of the configuration. */
const STATE = '/state';

function refuseState(at: Located): void {
  const used = at.strings().find(({ node }) => node.kind === 'string' && namesState(node.value));
  used?.report({
    code: 'CFG018',
    message: '`${state}` stands for a private folder, and none is asked for',
    help: 'name it: `"state": "notes"`, or `--state notes`',
  });
}
