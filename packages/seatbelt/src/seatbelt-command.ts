/**
 * macOS: the same specification as a profile for `sandbox-exec` (sandbox-exec(1), SBPL version 1), and the command that
 * runs under it. Pure. macOS has no namespaces, so what a process may do is a list of operations, and several things
 * that a specification can ask for cannot be had there: those are refused by name.
 *
 * Written from documentation; it has never run on a Mac of ours, which is why seatbelt-sandbox.ts believes nothing
 * that its canary has not seen.
 */
import { dirname } from 'node:path';
import { type Fault, failed, fault, ok, type Result } from '@cordon/core';
import { type CheckedSpec, isWithin, NODE_INSIDE, nodePermissionFlags } from '@cordon/sandbox';

export interface SeatbeltHost {
  /** Real path of our own Node. */
  readonly node: string;
  /** `/usr/bin/sandbox-exec` */
  readonly sandboxExec: string;
}

export interface SeatbeltCommand {
  /** Program and arguments; standard input, output, error and 3 are those of the specification. */
  readonly command: readonly string[];
  /** Exactly these variables, set by `env -i` inside as well. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
}

/** The descriptor whose end is the end of the process: its other end is the hub's alone, so it ends with the hub. */
export const LIFELINE = 4;

/** What dyld and Node read at their start, and nothing of the user's. */
const SYSTEM_FOLDERS = ['/usr/lib', '/System/Library', '/System/Volumes/Preboot/Cryptexes/OS'];
const DEVICES = ['/dev/null', '/dev/random', '/dev/urandom'];

/**
 * Outside of the sandbox: sets the limits, starts the program under the profile, and kills it when the lifeline ends,
 * because macOS tells a child nothing of its parent's death. Values come as arguments, never as text of the script.
 */
const SUPERVISOR = [
  'ulimit -c 0 && ulimit -t "$1" && ulimit -n "$2" && ulimit -f "$3" || exit 125',
  'shift 3',
  // Background commands have /dev/null as standard input, unless it is handed to them under another number.
  'exec 8<&0',
  `"$@" <&8 8<&- ${LIFELINE}<&- & child=$!`,
  `( read -r _ <&${LIFELINE}; kill -9 "$child" ) 2>/dev/null 8<&- 3<&- & watch=$!`,
  'wait "$child"; code=$?',
  'kill "$watch" 2>/dev/null',
  'exit "$code"',
].join('\n');

/** Fields that this back end cannot enforce, each with the reason; empty: it can have all it asks for. */
export function unenforceable(spec: CheckedSpec): readonly string[] {
  const reasons: string[] = [];
  if (spec.profile !== 'tight')
    reasons.push(
      '`profile: spawn`: without a pid namespace, processes that it starts could outlive it unseen',
    );
  if (spec.network.kind !== 'none')
    reasons.push('`network`: without a network namespace, other programs could use the way to its proxy');
  if (spec.usr) reasons.push('`usr`: programs of the host could be started, which `tight` forbids');
  if (spec.tmpMiB !== null) reasons.push('`tmpMiB`: there is no private file system of bounded size');
  if (spec.executable !== NODE_INSIDE)
    reasons.push('`executable`: only our own Node is known to run under the profile');
  return reasons;
}

/** Refuses what cannot be enforced, or named without doubt. */
export function seatbeltCommand(spec: CheckedSpec, host: SeatbeltHost): Result<SeatbeltCommand, Fault> {
  const [reason] = unenforceable(spec);
  if (reason !== undefined) return refused(`macOS cannot enforce ${reason}`);
  const places = new Places(spec, host);
  const texts = [spec.cwd, ...spec.args, ...Object.values(spec.env)].map((text) => places.onHost(text));
  const unclear = texts.find((text) => !text.ok);
  if (unclear?.ok === false) return unclear;
  const [cwd = '/', ...rest] = texts.flatMap((text) => (text.ok ? [text.value] : []));
  const names = Object.keys(spec.env);
  const args = rest.slice(0, rest.length - names.length);
  const env = Object.fromEntries(names.map((name, index) => [name, rest[args.length + index] ?? '']));
  const profile = seatbeltProfile(spec, host);
  if (!profile.ok) return profile;
  const { cpuSeconds, openFiles, fileMiB } = spec.limits;
  return ok({
    cwd,
    env,
    command: [
      ...['/bin/sh', '-c', SUPERVISOR, 'sh'],
      ...[String(cpuSeconds), String(openFiles), String(fileMiB * 2048)], // `ulimit -f` counts 512 bytes
      ...['/usr/bin/env', '-i', ...Object.entries(env).map(([name, value]) => `${name}=${value}`)],
      ...[host.sandboxExec, ...profile.value.parameters.flatMap((one) => ['-D', one])],
      ...['-p', profile.value.text, host.node],
      ...hostFlags(spec, places),
      ...args,
    ],
  });
}

function hostFlags(spec: CheckedSpec, places: Places): readonly string[] {
  return nodePermissionFlags(spec).map((flag) => {
    // `/a=b` is a path, too.
    const [, name = '', path] = /^([^=]*)=(.*)$/s.exec(flag) ?? [];
    const translated = path === undefined ? null : places.onHost(path);
    return translated?.ok === true ? `${name}=${translated.value}` : flag;
  });
}

export interface SeatbeltProfile {
  readonly text: string;
  /** `P0=/path`, for `sandbox-exec -D`. */
  readonly parameters: readonly string[];
}

/**
 * Attack: a folder named `x")(allow default)(literal "`. No path ever stands in the text: it is handed over as a
 * parameter, and the text is the same for all specifications with as many mounts of the same kinds.
 */
export function seatbeltProfile(spec: CheckedSpec, host: SeatbeltHost): Result<SeatbeltProfile, Fault> {
  const parameters = new Parameters();
  const named = (path: string, isFolder: boolean) =>
    `(${isFolder ? 'subpath' : 'literal'} (param "${parameters.add(path)}"))`;
  const readable = spec.mounts.map(({ host: path }) => named(path.host, path.kind === 'folder'));
  const writable = spec.mounts
    .filter(({ access }) => access !== 'read')
    .map(({ host: path }) => named(path.host, path.kind === 'folder'));
  const node = named(host.node, false);
  const above = [
    ...new Set([host.node, ...spec.mounts.map(({ host: path }) => path.host)].flatMap(foldersAbove)),
  ];
  const system = SYSTEM_FOLDERS.map((path) => `(subpath "${path}")`);
  const devices = DEVICES.map((path) => `(literal "${path}")`);
  const text = [
    '(version 1)',
    '(deny default)',
    rule('process-exec', [node]),
    // No process-fork: one process, so that its limits are the app's and its end is the app's.
    rule('file-read*', ['(literal "/")', ...system, ...devices, node, ...readable]),
    rule('file-map-executable', [...system, node]),
    // To resolve a path, the folders above must be looked at; what is in them is not listed.
    rule(
      'file-read-metadata',
      above.map((path) => named(path, false)),
    ),
    rule('file-write-data', ['(literal "/dev/null")']),
    ...(writable.length === 0 ? [] : [rule('file-write*', writable)]),
    rule('sysctl-read', []),
    rule('signal', ['(target self)']),
    rule('process-info*', ['(target self)']),
    rule('mach-lookup', ['(global-name "com.apple.system.opendirectoryd.libinfo")']),
  ].join('\n');
  const unusable = parameters.values.find((path) => !isPlain(path));
  return unusable === undefined
    ? ok({ text: `${text}\n`, parameters: parameters.values.map((path, index) => `P${index}=${path}`) })
    : refused('a path holds a character that a profile cannot name');
}

class Parameters {
  readonly values: string[] = [];

  add(path: string): string {
    const known = this.values.indexOf(path);
    return `P${known >= 0 ? known : this.values.push(path) - 1}`;
  }
}

function rule(operation: string, filters: readonly string[]): string {
  return filters.length === 0 ? `(allow ${operation})` : `(allow ${operation}\n  ${filters.join('\n  ')})`;
}

function foldersAbove(path: string): readonly string[] {
  const folders: string[] = [];
  for (let folder = dirname(path); folder !== '/'; folder = dirname(folder)) folders.push(folder);
  return folders;
}

/** No control characters and no broken Unicode: what one program reads as a path, another must not read as two. */
function isPlain(path: string): boolean {
  return path.isWellFormed() && !/\p{Cc}/u.test(path);
}

/** Where the specification's places stand on this host: macOS shows no file under another name. */
class Places {
  readonly #renamed: readonly (readonly [inside: string, host: string])[];

  constructor(spec: CheckedSpec, host: SeatbeltHost) {
    const mounts = spec.mounts.map(({ inside, host: path }) => [inside, path.host] as const);
    const all = [[NODE_INSIDE, host.node] as const, ...mounts].filter(([inside, real]) => inside !== real);
    this.#renamed = all.sort(([a], [b]) => b.length - a.length);
  }

  /** A path, or `name=path`. A place in the middle of any other text would be missed, so it is refused. */
  onHost(text: string): Result<string, Fault> {
    const at = /^-{0,2}[\w-]+=(?=\/)/.exec(text)?.[0].length ?? 0;
    const path = text.slice(at);
    const found = this.#renamed.find(([inside]) => isWithin(path, inside));
    if (found !== undefined) return ok(`${text.slice(0, at)}${found[1]}${path.slice(found[0].length)}`);
    const hidden = this.#renamed.find(([inside]) => text.includes(inside));
    return hidden === undefined
      ? ok(text)
      : refused(`macOS cannot show a folder as \`${hidden[0]}\`, which an argument or variable names`);
  }
}

function refused(message: string) {
  const help = 'run Cordon on Linux, for instance in a virtual machine';
  return failed(fault('sandbox-unavailable', message, help));
}
