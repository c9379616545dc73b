/**
 * What one confined process gets, in full: what is not named here does not exist for it. A back end takes only
 * specifications that passed `checkSpec`, and refuses what it cannot enforce.
 */
import { posix } from 'node:path';
import {
  type AppLimits,
  DEFAULT_APP_LIMITS,
  type Fault,
  failed,
  fault,
  type NodeGrant,
  ok,
  type Result,
} from '@cordon/core';
import type { Profile } from '../kernel/seccomp.ts';
import { CheckedPath } from './checked-path.ts';

/**
 * `read`: read-only. `write`: the user's own folder or file; its owner and mode are never changed. `own`: a
 * private folder of this app, made by Cordon; handed over to the sandbox's user when the hub runs as root.
 */
export type MountAccess = 'read' | 'write' | 'own';

export interface Mount {
  readonly host: CheckedPath;
  /** Absolute path inside, normal form. */
  readonly inside: string;
  readonly access: MountAccess;
}

/**
 * `none`: nothing. `handover`: HTTP(S)_PROXY leads to a listener inside that the hub gets before the app's code is loaded.
 * `direct`: there are also listeners on these ports, at every loopback address, and a name server, all of which the hub gets.
 * There is no other way out.
 */
export type Network =
  | { readonly kind: 'none' | 'handover' }
  | { readonly kind: 'direct'; readonly ports: readonly number[] };

/** Whether the hub gets listeners. */
export function isHandedOver({ network }: Pick<SandboxSpec, 'network'>): boolean {
  return network.kind !== 'none';
}

/** Where names are looked up inside; the port is 53. */
export const NAME_SERVER = '127.0.0.53';

export type Stdio = 'pipe' | 'none';

export interface SandboxSpec {
  /** Absolute path inside of what is executed. `NODE_INSIDE` is our own Node and always there. */
  readonly executable: string;
  readonly args: readonly string[];
  /** Exactly these variables. */
  readonly env: Readonly<Record<string, string>>;
  /** Absolute path inside. */
  readonly cwd: string;
  readonly mounts: readonly Mount[];
  readonly profile: Profile;
  /** What our Node grants a JavaScript app beyond its mounts; null: Node's permission model is not in force. */
  readonly nodeGrants: readonly NodeGrant[] | null;
  readonly limits: AppLimits;
  /** Size of the private /tmp in MiB; null: /tmp is there and cannot be written. */
  readonly tmpMiB: number | null;
  /** Whether the host's programs and libraries (/usr) are visible, read-only. */
  readonly usr: boolean;
  readonly stdin: Stdio;
  readonly stdout: Stdio;
  readonly stderr: Stdio;
  /** One end of a socket pair on descriptor 3: the hub's link to the process. */
  readonly link: boolean;
  readonly network: Network;
}

/** Where things stand inside; nothing else may be mounted there. */
export const NODE_INSIDE = '/opt/node/bin/node';
export const STATE_INSIDE = '/state';
export const PROXY_PORT = 3128;
/** Ports that no `direct` network can have: the proxy's, and the name server's. */
const OWN_PORTS = [53, PROXY_PORT];
const MOST_PORTS = 256;
/** Our own program: JavaScript whatever its file is called, since it holds no type annotation. */
export const HANDOVER_INSIDE = '/opt/cordon/handover.mjs';

/** What the launcher itself puts inside: no mount may lie in one of these, or hold one. */
const OWN_PLACES = [
  ...['/proc', '/dev', '/sys', '/opt/node', '/opt/cordon'],
  ...['/etc/passwd', '/etc/hosts', '/etc/alternatives', '/etc/ssl/certs'],
  ...['/usr/bin', '/usr/sbin', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32'],
];

/** What can be mounted in part only: `/run` holds the sockets of all services of the machine. */
const WHOLE_PLACES: ReadonlySet<string> = new Set(['/', '/run', '/tmp']);

/** Upper bounds of what a manifest may ask for; a value above is refused, not cut. */
export const LIMIT_MAXIMA: AppLimits = {
  memoryMiB: 65_536,
  cpuSeconds: 604_800,
  processes: 4_096,
  openFiles: 65_536,
  fileMiB: 65_536,
  storageMiB: 1_048_576,
  files: 10_000_000,
  startSeconds: 600,
  callSeconds: 3_600,
  silentSeconds: 3_600,
  idleSeconds: 86_400,
  totalSeconds: 604_800,
  lineBytes: 64 * 1024 * 1024,
  messagesPerSecond: 10_000,
};

declare const checked: unique symbol;
/** A specification that `checkSpec` has passed. */
export type CheckedSpec = SandboxSpec & { readonly [checked]: true };

const FIELDS: Readonly<Record<keyof SandboxSpec, true>> = {
  executable: true,
  args: true,
  env: true,
  cwd: true,
  mounts: true,
  profile: true,
  nodeGrants: true,
  limits: true,
  tmpMiB: true,
  usr: true,
  stdin: true,
  stdout: true,
  stderr: true,
  link: true,
  network: true,
};

/** Refuses unknown fields, paths that are not absolute and normal, and limits out of range. */
export function checkSpec(spec: SandboxSpec): Result<CheckedSpec, Fault> {
  const problem = problemOf(spec);
  if (problem !== null) return failed(fault('sandbox-unavailable', problem));
  return ok(Object.freeze({ ...spec }) as CheckedSpec);
}

function problemOf(spec: SandboxSpec): string | null {
  const unknown = Object.keys(spec).find((key) => !Object.hasOwn(FIELDS, key));
  if (unknown !== undefined) return `the sandbox specification has an unknown field \`${unknown}\``;
  const missing = Object.keys(FIELDS).find((key) => !Object.hasOwn(spec, key));
  if (missing !== undefined) return `the sandbox specification lacks \`${missing}\``;
  return (
    textProblem(spec) ??
    mountsProblem(spec.mounts) ??
    limitsProblem(spec.limits) ??
    sizeProblem('tmpMiB', spec.tmpMiB ?? 1, 65_536) ??
    portsProblem(spec.network) ??
    nodeProblem(spec)
  );
}

function textProblem(spec: SandboxSpec): string | null {
  if (!isNormal(spec.executable)) return `the executable \`${spec.executable}\` is not an absolute path`;
  if (!isNormal(spec.cwd)) return `the working directory \`${spec.cwd}\` is not an absolute path`;
  if (spec.args.some((arg) => arg.includes('\0'))) return 'an argument contains a NUL character';
  for (const [name, value] of Object.entries(spec.env)) {
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name))
      return `the environment variable \`${name}\` has no valid name`;
    if (value.includes('\0')) return `the environment variable \`${name}\` contains a NUL character`;
  }
  const bytes = [...spec.args, ...Object.entries(spec.env).flat()].reduce(
    (sum, text) => sum + text.length,
    0,
  );
  return bytes > 512 * 1024 ? 'arguments and environment are longer than 512 KiB' : null;
}

function mountsProblem(mounts: readonly Mount[]): string | null {
  const seen = new Set<string>();
  for (const { host, inside, access } of mounts) {
    if (!(host instanceof CheckedPath)) return `the source of the mount \`${inside}\` was not checked`;
    if (!isNormal(inside)) return `the mount point \`${inside}\` is not an absolute path in normal form`;
    if (WHOLE_PLACES.has(inside)) return `nothing can be mounted on \`${inside}\``;
    const taken = OWN_PLACES.find((place) => isWithin(inside, place) || isWithin(place, inside));
    if (taken !== undefined)
      return `nothing can be mounted on \`${inside}\`: \`${taken}\` is the sandbox's own`;
    if (seen.has(inside)) return `two mounts have the same place \`${inside}\``;
    if (access === 'own' && host.kind !== 'folder') return `the app's own \`${inside}\` is not a folder`;
    seen.add(inside);
  }
  return mounts.length > 200 ? 'there are more than 200 mounts' : null;
}

function limitsProblem(limits: AppLimits): string | null {
  for (const [key, maximum] of Object.entries(LIMIT_MAXIMA)) {
    const problem = sizeProblem(`limits.${key}`, new Map(Object.entries(limits)).get(key), maximum);
    if (problem !== null && !(key === 'fileMiB' && limits.fileMiB === 0)) return problem;
  }
  const unknown = Object.keys(limits).find((key) => !Object.hasOwn(DEFAULT_APP_LIMITS, key));
  return unknown === undefined ? null : `the limit \`${unknown}\` is unknown`;
}

function sizeProblem(name: string, value: number | undefined, maximum: number): string | null {
  const good = value !== undefined && Number.isSafeInteger(value) && value >= 1 && value <= maximum;
  return good ? null : `\`${name}\` must be a whole number from 1 to ${maximum}`;
}

function portsProblem(network: Network): string | null {
  if (network.kind !== 'direct') return null;
  const { ports } = network;
  if (new Set(ports).size !== ports.length || ports.length > MOST_PORTS)
    return `the network has a port twice, or more than ${MOST_PORTS}`;
  const own = ports.find((port) => OWN_PORTS.includes(port));
  if (own !== undefined) return `port ${own} is the sandbox's own`;
  return (
    ports.map((port) => sizeProblem('network.ports', port, 65_535)).find((found) => found !== null) ?? null
  );
}

function nodeProblem({ executable, nodeGrants, profile }: SandboxSpec): string | null {
  if (nodeGrants !== null && executable !== NODE_INSIDE) return "only our own Node has Node's permissions";
  if (profile === 'tight' && nodeGrants?.includes('child-process') === true)
    return 'a process of the profile `tight` cannot start others';
  return null;
}

function isNormal(path: string): boolean {
  if (!path.startsWith('/') || path.includes('\0')) return false;
  return path === '/' || posix.normalize(path).replace(/\/$/, '') === path;
}

/** Whether `path` is `folder` or lies in it; both absolute and in normal form. */
export function isWithin(path: string, folder: string): boolean {
  return folder === '/' || path === folder || path.startsWith(`${folder}/`);
}
