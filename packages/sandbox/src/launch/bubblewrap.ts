/**
 * The argument vectors: everything that bubblewrap, setpriv and prlimit are told for one confined process. Pure:
 * what is on the host is handed in. Each line that looks odd has its reason in README.md, "Seven traps".
 */
import type { WritablePlace } from '../kernel/init-program.ts';
import type { CoveredEntry } from '../kernel/proc-view.ts';
import type { LayerName } from '../spec/layers.ts';
import { nodePermissionFlags } from '../spec/node-permission.ts';
import {
  type CheckedSpec,
  HANDOVER_INSIDE,
  isHandedOver,
  type Mount,
  NAME_SERVER,
  NODE_INSIDE,
  PROXY_PORT,
} from '../spec/spec.ts';
import type { Units } from '../watch/watchdog.ts';

/** Programs and files of the host that the launcher uses; all are trusted. */
export interface HostPrograms {
  readonly bwrap: string;
  readonly prlimit: string;
  /** Needed only when the hub runs as root. */
  readonly setpriv: string;
  /** Libraries of Node and prlimit. */
  readonly libraries: readonly string[];
  /** `/bin` and its like, when they are links into /usr; otherwise null: then they are folders. */
  readonly rootLinks: readonly { readonly path: string; readonly target: string | null }[];
  /** Folders of /etc that programs in /usr need and that say nothing about the user. */
  readonly publicEtc: readonly string[];
  /** Folders of `/` that are neither programs nor places that the sandbox makes. */
  readonly topFolders: readonly string[];
  /** Entries of /proc that apps have no business with. */
  readonly coveredProc: readonly CoveredEntry[];
  /** Folders of /proc/sys that are shown. */
  readonly shownSettings: readonly string[];
  /** What stands in an app's /proc/stat. */
  readonly stat: string;
  /** Hard limits of the hub itself: they can be lowered, never raised. `Infinity` where there is none. */
  readonly hardLimits: ReadonlyMap<string, number>;
  readonly units: Units;
}

/** Where a mount comes from: a descriptor, or, behind the stage, a path in it. */
export type MountSource =
  | { readonly kind: 'descriptor'; readonly descriptor: number }
  | { readonly kind: 'path'; readonly path: string };

export interface SourcedMount {
  readonly source: MountSource;
  readonly inside: string;
  readonly access: Mount['access'];
}

/** Descriptors of the launched program from which it reads its set-up, or to which it reports. */
export interface SetupDescriptors {
  readonly args: number;
  readonly status: number;
  /** What stands before the app: our first process, which brings the filter; or the filter for bubblewrap to set. */
  readonly first: { readonly kind: 'init' | 'filter'; readonly descriptor: number };
  readonly passwd: number;
  readonly hosts: number;
  readonly stat: number;
  /** Of a `direct` network: the lowest port that may be listened on, and which name server is asked. */
  readonly direct: { readonly lowestPort: number; readonly resolver: number } | null;
  /** Give the numbers of `NOTIFICATION_LIMITS`, in that order. */
  readonly notifications: readonly number[];
  /** Node's channel to the hub; null unless a listener is handed over. */
  readonly channel: number | null;
}

/** The first program inside: what tells our sandboxes from those of others. */
export const INIT_INSIDE = '/opt/cordon/init';
const PRLIMIT_INSIDE = '/opt/cordon/prlimit';

/** V8 reserves its 512 MiB code range, which RLIMIT_DATA counts; an idle Node already has 574 MB of it. */
const NODE_DATA_MIB = 600;
/** Threads of an app that may have some: each reserves as much again. What it really uses the watchdog bounds. */
const WORKERS = 16;

const MIB = 1024 * 1024;

/**
 * Limits of inotify for one sandbox, by their names in `/proc/sys/user`. Attack: an app takes all instances that the user
 * has (128 on most machines), and no other program of the user learns of changed files any more. The kernel also holds
 * 16,384 unread events for each instance, which counts for no process.
 */
export const NOTIFICATION_LIMITS = { max_inotify_instances: 8, max_inotify_watches: 16_384 } as const;

/** Layers that this launch goes without; empty unless the user, or a test of ours, named some. */
export type LeftOut = ReadonlySet<LayerName>;

/** Whether our own first process runs: without a pid namespace there is no first process, and none to end with. */
export function hasOwnInit(leftOut: LeftOut): boolean {
  return !leftOut.has('own-init') && !leftOut.has('pid-namespace');
}

/** Whether processes go without the layer: it was left out, or one that it needs. */
export function isWithout(name: LayerName, leftOut: LeftOut): boolean {
  switch (name) {
    case 'own-init':
      return !hasOwnInit(leftOut);
    case 'landlock': // our first process sets it up, and where every place can be written there is nothing to refuse
      return leftOut.has(name) || !hasOwnInit(leftOut) || leftOut.has('read-only-root');
    default:
      return leftOut.has(name);
  }
}

/**
 * All that the process may open for writing. Of devices those that programs write to: that the others are refused shows
 * the self-test that the layer is there.
 */
export function writablePlaces({ mounts, tmpMiB }: CheckedSpec): readonly WritablePlace[] {
  const files = (...paths: readonly string[]) => paths.map((path) => ({ path, isFolder: false }));
  const folders = (...paths: readonly string[]) => paths.map((path) => ({ path, isFolder: true }));
  return [
    ...files('/dev/null', '/dev/zero', '/dev/tty'),
    ...folders('/dev/pts', '/dev/shm', '/proc', ...(tmpMiB === null ? [] : ['/tmp'])),
    ...mounts
      .filter(({ access }) => access !== 'read')
      .map(({ host, inside }) => ({ path: inside, isFolder: host.kind === 'folder' })),
  ];
}

/** Options for `bwrap --args`, NUL-separated by the caller. Mounts are the specification's, from Node to the socket. */
export function bubblewrapOptions(
  spec: CheckedSpec,
  host: HostPrograms,
  mounts: readonly SourcedMount[],
  descriptors: SetupDescriptors,
  leftOut: LeftOut,
): readonly string[] {
  const layer = (name: LayerName, ...options: readonly string[]) => (leftOut.has(name) ? [] : options);
  const { first } = descriptors;
  return [
    // Not --unshare-all: that means --unshare-user-try, which starts without the namespace if it fails.
    '--unshare-user',
    ...layer('ipc-namespace', '--unshare-ipc'),
    ...layer('pid-namespace', '--unshare-pid'),
    ...layer('network-namespace', '--unshare-net'),
    ...layer('uts-namespace', '--unshare-uts', '--hostname', 'spoke'),
    ...layer('cgroup-namespace', '--unshare-cgroup'),
    ...layer('no-nested-namespaces', '--disable-userns', '--assert-userns-disabled'),
    '--die-with-parent',
    ...layer('session', '--new-session'),
    ...layer('environment', '--clearenv'),
    ...(leftOut.has('capabilities') ? ['--cap-add', 'ALL'] : ['--cap-drop', 'ALL']),
    ...Object.entries(variables(spec, descriptors)).flatMap(([name, value]) => ['--setenv', name, value]),
    ...(leftOut.has('file-view') ? wholeDisk(host) : programMounts(spec, host)),
    ...['--ro-bind', host.prlimit, PRLIMIT_INSIDE],
    ...(first.kind === 'init' ? ownInit(first.descriptor) : []),
    ...['--ro-bind-data', String(descriptors.passwd), '/etc/passwd'],
    ...['--ro-bind-data', String(descriptors.hosts), '/etc/hosts'],
    // Without its own pid namespace a process may not mount a new /proc.
    ...(leftOut.has('pid-namespace') ? ['--bind', '/proc', '/proc'] : ['--proc', '/proc']),
    // A setting of the user namespace that bubblewrap makes: no process inside may change it, or leave that namespace.
    ...layer(
      'resource-limits',
      ...Object.keys(NOTIFICATION_LIMITS).flatMap((name, index) => [
        '--file',
        String(descriptors.notifications[index]),
        `/proc/sys/user/${name}`,
      ]),
    ),
    ...directNetwork(descriptors.direct),
    ...layer('kernel-settings', ...shownSettings(host)),
    ...layer(
      'file-view',
      ...host.coveredProc.flatMap(cover),
      ...['--perms', '0444', '--ro-bind-data', String(descriptors.stat), '/proc/stat'],
    ),
    ...['--dev', '/dev', '--size', String(MIB), '--tmpfs', '/dev/shm'],
    // The same zeros to read; but mapped as shared, /dev/zero is anonymous shared memory, see seccomp.ts.
    ...['--dev-bind', '/dev/full', '/dev/zero'],
    ...layer('read-only-root', '--remount-ro', '/dev'),
    ...(spec.tmpMiB === null ? ['--dir', '/tmp'] : ['--size', String(spec.tmpMiB * MIB), '--tmpfs', '/tmp']),
    ...[...mounts].sort((a, b) => depth(a.inside) - depth(b.inside)).flatMap(mountOption),
    ...['--chdir', spec.cwd],
    ...['--json-status-fd', String(descriptors.status)],
    ...(first.kind === 'filter' ? layer('seccomp', '--seccomp', String(first.descriptor)) : []),
    ...layer('read-only-root', '--remount-ro', '/'), // last: it closes the root in which mount points are made
  ];
}

/**
 * A setting of the network namespace that bubblewrap makes: whoever hands over the listener of port 993, say, has no capability.
 */
function directNetwork(descriptors: SetupDescriptors['direct']): readonly string[] {
  if (descriptors === null) return [];
  return [
    ...['--file', String(descriptors.lowestPort), '/proc/sys/net/ipv4/ip_unprivileged_port_start'],
    ...['--ro-bind-data', String(descriptors.resolver), '/etc/resolv.conf'],
  ];
}

/** The folders are mounted once more from the host, read-only, over a folder that has no others. */
function shownSettings(host: HostPrograms): readonly string[] {
  const shown = host.shownSettings.map((name) => `/proc/sys/${name}`);
  return [
    ...['--tmpfs', '/proc/sys'],
    ...shown.flatMap((path) => ['--ro-bind', path, path]),
    ...['--remount-ro', '/proc/sys'],
  ];
}

/** Bound without devices, /dev/null cannot be opened: who reads is refused. */
function cover({ path, kind }: CoveredEntry): readonly string[] {
  switch (kind) {
    case 'file':
      return ['--ro-bind', '/dev/null', path];
    case 'folder':
      return ['--tmpfs', path, '--remount-ro', path];
  }
}

/**
 * The first program inside. Limits are set here and not outside: there the limit
 * of processes would count strangers, and all of them would hinder bubblewrap itself.
 */
export function commandInside(
  spec: CheckedSpec,
  { hardLimits }: HostPrograms,
  leftOut: LeftOut,
): readonly string[] {
  const limits = [PRLIMIT_INSIDE, ...limitOptions(spec, hardLimits), '--'];
  const flags = leftOut.has('node-permission') ? [] : nodePermissionFlags(spec);
  return [
    ...(hasOwnInit(leftOut) ? [INIT_INSIDE] : []),
    ...(leftOut.has('resource-limits') ? [] : limits),
    ...(isHandedOver(spec) ? withHandover(spec, flags) : [spec.executable, ...flags, ...spec.args]),
  ];
}

function ownInit(descriptor: number): readonly string[] {
  return ['--as-pid-1', '--perms', '0555', '--ro-bind-data', String(descriptor), INIT_INSIDE];
}

function withHandover(spec: CheckedSpec, flags: readonly string[]): readonly string[] {
  const { executable, args } = spec;
  return runsCodeEarly(spec)
    ? [NODE_INSIDE, NO_EXPERIMENT_WARNING, HANDOVER_INSIDE, executable, ...flags, ...args]
    : [executable, '--import', HANDOVER_INSIDE, ...flags, ...args];
}

/** Of `process.execve`: standard error is the app's. */
const NO_EXPERIMENT_WARNING = '--disable-warning=ExperimentalWarning';

/** Options that run and read nothing; what stands before the script besides could be `--require`. */
const HARMLESS_OPTIONS = /^--(max-old-space-size=\d+|v8-pool-size=\d+|allow-fs-write=\/compiled)$/;

/** What Node, the loader of libraries, libc and OpenSSL read at their start; several name code that is then run. */
const READ_AT_START = /^(?!NODE_ENV$)(NODE|LD|OPENSSL|SSL|GLIBC|GCONV|LOCPATH|MALLOC|ICU|UV)(_|$)/;

/**
 * Whether code of the app would run before `--import` does. Attack: it would find the channel to the hub open, and one
 * line on it that is no JSON is the end of the hub. Then, and for a program that is not our Node, the hand-over is a program of
 * its own, which becomes or starts the app.
 */
function runsCodeEarly({ executable, args, env }: CheckedSpec): boolean {
  if (executable !== NODE_INSIDE) return true;
  const [first] = args.filter((arg) => !HARMLESS_OPTIONS.test(arg));
  return (
    first === undefined || first.startsWith('-') || Object.keys(env).some((name) => READ_AT_START.test(name))
  );
}

/** Each value within the hub's own hard limit, which cannot be raised. */
function limitOptions(
  { limits, executable, nodeGrants }: CheckedSpec,
  hard: ReadonlyMap<string, number>,
): readonly string[] {
  const hasWorkers = executable === NODE_INSIDE && (nodeGrants === null || nodeGrants.includes('worker'));
  const wanted = {
    core: 0,
    nofile: limits.openFiles,
    data: (NODE_DATA_MIB * (hasWorkers ? 1 + WORKERS : 1) + limits.memoryMiB) * MIB,
    memlock: 65_536,
    msgqueue: 0,
    nproc: limits.processes,
    fsize: limits.fileMiB * MIB,
  };
  const within = (name: string, value: number) => Math.min(value, hard.get(name) ?? value);
  const options = Object.entries(wanted).map(([name, value]) => `--${name}=${within(name, value)}`);
  // SIGXCPU says why it ends; the kill two seconds later is for who ignores that.
  const { cpuSeconds } = limits;
  return [...options, `--cpu=${within('cpu', cpuSeconds)}:${within('cpu', cpuSeconds + 2)}`];
}

/** Root gives up its identity before bubblewrap: user 0 of the host may write sysctls without any capability. */
export function dropRoot(host: HostPrograms, uid: number): readonly string[] {
  const identity = ['--reuid', String(uid), '--regid', String(uid)];
  return [host.setpriv, ...identity, '--clear-groups', '--no-new-privs', '--'];
}

/**
 * The stage: mounts only, no confinement. The sandbox's user cannot search `/root`, say, so root first binds
 * the sources where that user can reach them, in a mount namespace of their own.
 */
export function stageOptions(
  host: HostPrograms,
  descriptors: readonly number[],
  leftOut: LeftOut,
): readonly string[] {
  return [
    '--die-with-parent',
    // Explicitly: folders that bubblewrap makes in passing can be searched by root only.
    ...['--dir', '/etc', '--dir', '/etc/ssl', '--dir', '/stage'],
    ...(leftOut.has('file-view') ? wholeDisk(host) : programsOfHost(host)),
    ...['--dev-bind', '/dev', '/dev', '--dev-bind', '/proc', '/proc', '--dir', '/tmp'],
    ...descriptors.flatMap((descriptor, index) => ['--bind-fd', String(descriptor), stagedPath(index)]),
  ];
}

export function stagedPath(index: number): string {
  return `/stage/${index}`;
}

function programMounts(spec: CheckedSpec, host: HostPrograms): readonly string[] {
  if (!spec.usr) return host.libraries.flatMap((path) => ['--ro-bind', path, path]);
  return programsOfHost(host);
}

function programsOfHost(host: HostPrograms): readonly string[] {
  return [...programRoot(host), ...host.publicEtc.flatMap((path) => ['--ro-bind', path, path])];
}

/** What an app sees without the layer `file-view`: all but the places that the sandbox makes itself. */
function wholeDisk(host: HostPrograms): readonly string[] {
  return [...programRoot(host), ...host.topFolders.flatMap((path) => ['--ro-bind', path, path])];
}

function programRoot(host: HostPrograms): readonly string[] {
  const links = host.rootLinks.flatMap(({ path, target }) =>
    target === null ? ['--ro-bind', path, path] : ['--symlink', target, path],
  );
  return ['--ro-bind', '/usr', '/usr', ...links];
}

function mountOption({ source, inside, access }: SourcedMount): readonly string[] {
  const option = access === 'read' ? '--ro-bind' : '--bind';
  switch (source.kind) {
    case 'descriptor':
      return [`${option}-fd`, String(source.descriptor), inside];
    case 'path':
      return [option, source.path, inside];
  }
}

function depth(path: string): number {
  return path.split('/').length;
}

function variables(
  spec: CheckedSpec,
  { channel, direct }: SetupDescriptors,
): Readonly<Record<string, string>> {
  const { env, network } = spec;
  if (channel === null) return env;
  const ports = network.kind === 'direct' && direct !== null ? network.ports : null;
  const ours = channelVariables(channel, ports);
  if (!runsCodeEarly(spec)) return { ...env, ...PROXY_VARIABLES, ...ours };
  const early = Object.entries({ ...env, ...PROXY_VARIABLES });
  const [later, now] = [true, false].map((isLater) =>
    Object.fromEntries(early.filter(([name]) => READ_AT_START.test(name) === isLater)),
  );
  return { ...now, ...ours, CORDON_HANDOVER: JSON.stringify(later) };
}

const PROXY_URL = `http://127.0.0.1:${PROXY_PORT}`;

/** Both spellings: Python reads the lower-case ones. NO_PROXY is empty so that no name goes around the proxy. */
const PROXY_VARIABLES: Readonly<Record<string, string>> = {
  NODE_USE_ENV_PROXY: '1',
  HTTP_PROXY: PROXY_URL,
  HTTPS_PROXY: PROXY_URL,
  http_proxy: PROXY_URL,
  https_proxy: PROXY_URL,
  NO_PROXY: '',
  no_proxy: '',
};

/**
 * For `inside/handover.ts`, which takes ours away again; Node itself takes its own. `CORDON_HANDOVER`: the variables
 * that the app gets when the hand-over is done; empty: it has them all.
 */
function channelVariables(
  channel: number,
  ports: readonly number[] | null,
): Readonly<Record<string, string>> {
  return {
    ...(ports === null ? {} : { CORDON_NAME_SERVER: NAME_SERVER, CORDON_DIRECT_PORTS: ports.join() }),
    NODE_CHANNEL_FD: String(channel),
    NODE_CHANNEL_SERIALIZATION_MODE: 'json',
    CORDON_HANDOVER: '',
    CORDON_PROXY_PORT: String(PROXY_PORT),
  };
}
