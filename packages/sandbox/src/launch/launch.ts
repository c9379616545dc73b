/**
 * One launch: opens what is mounted, lays out the descriptors, starts bubblewrap and follows the process to its
 * end. Whether the sandbox as such can be trusted on this machine is asked before, in `spawn.ts`.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { Socket as DatagramSocket } from 'node:dgram';
import { closeSync, openSync } from 'node:fs';
import { Server } from 'node:net';
import { Duplex, type Readable, Writable } from 'node:stream';
import { isMainThread } from 'node:worker_threads';
import { type Fault, failed, fault, ok, type Result } from '@cordon/core';
import type { ControlGroup } from '../kernel/control-group.ts';
import type { ControlGroups } from '../kernel/control-groups.ts';
import { LIFELINE, type WritablePlace } from '../kernel/init-program.ts';
import { present } from '../kernel/proc-view.ts';
import type { Profile } from '../kernel/seccomp.ts';
import type { ConfinedProcess, DirectListeners, Excess, Exit } from '../spec/backend.ts';
import { LAYER_NAMES, type LayerName } from '../spec/layers.ts';
import { type CheckedSpec, isHandedOver, NAME_SERVER, NODE_INSIDE } from '../spec/spec.ts';
import { type KnownProcess, killKnown, knownProcess } from '../watch/known-process.ts';
import { type Ending, exitOf, readStatus, type Status } from '../watch/status.ts';
import { stopWithHub } from '../watch/stop-with-hub.ts';
import type { Watchers } from '../watch/watchers.ts';
import {
  bubblewrapOptions,
  commandInside,
  dropRoot,
  type HostPrograms,
  hasOwnInit,
  isWithout,
  type LeftOut,
  type MountSource,
  NOTIFICATION_LIMITS,
  type SourcedMount,
  stagedPath,
  stageOptions,
  writablePlaces,
} from './bubblewrap.ts';
import { deliverSignal } from './delivery.ts';
import { inheritableDescriptors } from './descriptors.ts';
import { isReachable } from './host.ts';
import { type MountHost, type OpenedMount, openMounts } from './mount-sources.ts';
import { type NetworkSetUp, OuterNetwork } from './network-set-up.ts';
import { SetupErrors } from './setup-errors.ts';
import { endWhenSilent } from './silent-stream.ts';

export interface Launcher extends MountHost {
  readonly programs: HostPrograms;
  /** The encoded filter of each profile. */
  readonly filters: Readonly<Record<Profile, Buffer>>;
  /** Our first process inside, with the filter of a profile; `writable`: null where Landlock is left out. */
  readonly init: (profile: Profile, writable: readonly WritablePlace[] | null) => Buffer;
  readonly network: NetworkSetUp;
  readonly watchers: Watchers;
  /** The failure says why the hub has no control group. */
  readonly controlGroups: Result<ControlGroups, string>;
  readonly leftOut: LeftOut;
}

const SETUP_DEADLINE_MS = 10_000;

/**
 * Resolves when bubblewrap has made the sandbox's first process; `exited` says what fails later. `absent`: layers that
 * this kernel does not have, by the self-test.
 */
export async function launch(
  launcher: Launcher,
  spec: CheckedSpec,
  signal: AbortSignal,
  absent: readonly LayerName[] = [],
): Promise<Result<ConfinedProcess, Fault>> {
  // --die-with-parent follows the thread that spawned: a worker's end would be the app's end, or not.
  if (!isMainThread) return unavailable('sandboxes can only be started from the main thread');
  if (signal.aborted) return failed(fault('cancelled', 'the start was cancelled'));
  const opened: number[] = [];
  try {
    const sources = openMounts(launcher, spec, opened);
    if (!sources.ok) return sources;
    const started = start(launcher, spec, sources.value, opened);
    if (!launcher.leftOut.has('watchdog')) launcher.watchers.prepare(); // while bubblewrap is at work
    return await follow(launcher, spec, started, signal, absent);
  } catch (error) {
    return unavailable(
      `the sandbox could not be started: ${error instanceof Error ? error.message : 'unknown'}`,
    );
  } finally {
    for (const descriptor of opened) closeSync(descriptor);
  }
}

function unavailable(message: string) {
  return failed(fault('sandbox-unavailable', message));
}

interface Started {
  readonly handed: Promise<Handed | null> | null;
  /** The network that is set up from outside. */
  readonly network: OuterNetwork;
  readonly child: ChildProcess;
  readonly group: ControlGroup | null;
  readonly status: Readable;
  readonly link: Duplex | null;
  /** Ends the sandbox when it closes; a byte is a signal for all in it. Null without our own first process. */
  readonly lifeline: Duplex | null;
}

function start(
  launcher: Launcher,
  spec: CheckedSpec,
  mounts: readonly OpenedMount[],
  opened: number[],
): Started {
  const devNull = openSync('/dev/null', 'r+');
  opened.push(devNull);
  const { stdin, stdout, link } = spec;
  const stdio: ('pipe' | 'ignore' | 'ipc' | number)[] = [
    stdin === 'pipe' ? 'pipe' : 'ignore',
    stdout === 'pipe' ? 'pipe' : 'ignore',
    'pipe', // bubblewrap's own words are needed when the set-up fails
    link ? 'pipe' : devNull,
  ];
  const place = (entry: 'pipe' | 'ipc' | number) => stdio.push(entry) - 1;
  const { appUser: user, leftOut } = launcher;
  const isOwnInit = hasOwnInit(leftOut);
  if (isOwnInit) stdio[LIFELINE] = 'pipe';
  const setup = {
    args: place('pipe'),
    status: place('pipe'),
    first: { kind: isOwnInit ? 'init' : 'filter', descriptor: place('pipe') } as const,
    passwd: place('pipe'),
    hosts: place('pipe'),
    stat: place('pipe'),
    notifications: Object.values(NOTIFICATION_LIMITS).map(() => place('pipe')),
    direct: isDirect(spec, leftOut) ? { lowestPort: place('pipe'), resolver: place('pipe') } : null,
    channel: isHandedOver(spec) ? place('ipc') : null,
  };
  const isStaged = user !== null && mounts.some(({ host }) => !isReachable(host, user));
  const stageArgs = isStaged ? place('pipe') : null;
  const descriptors = mounts.map(({ descriptor }) => place(descriptor));
  const source = (index: number): MountSource =>
    isStaged
      ? { kind: 'path', path: stagedPath(index) }
      : { kind: 'descriptor', descriptor: descriptors[index] ?? -1 };
  const sourced: SourcedMount[] = mounts.map(({ inside, access }, index) => ({
    source: source(index),
    inside,
    access,
  }));
  // Descriptors that this process inherited itself would go on to the app.
  for (const inherited of leftOut.has('descriptors') ? [] : inheritableDescriptors()) {
    while (stdio.length < inherited) stdio.push('ignore');
    if (stdio.length === inherited) stdio.push(devNull);
  }

  const programs = { ...launcher.programs, coveredProc: present(launcher.programs.coveredProc) };
  const options = bubblewrapOptions(spec, programs, sourced, setup, leftOut);
  const command = [
    ...(stageArgs === null ? [] : [programs.bwrap, '--args', String(stageArgs), '--']),
    ...(isStaged ? dropRoot(programs, user) : []),
    ...[programs.bwrap, ...(leftOut.has('arguments') ? options : ['--args', String(setup.args)]), '--'],
    ...commandInside(spec, programs, leftOut),
  ];
  // Not even PATH: /proc/1/environ inside shows what bubblewrap was started with.
  // Detached: Ctrl-C at the terminal is for the hub, which ends its apps itself.
  const env = leftOut.has('environment') ? undefined : {}; // left out, it is the hub's
  const detached = !leftOut.has('session');
  // libuv sets the identity before it executes, supplementary groups included; setpriv would be one program more.
  const identity = user === null || isStaged ? {} : { uid: user, gid: user };
  const child = spawn(command[0] ?? '', command.slice(1), { env, stdio, cwd: '/', detached, ...identity });
  // Node makes no streams then, and says why only later, to whoever listens: a child without a listener ends the hub.
  if (child.stdin === undefined) {
    child.once('error', () => undefined);
    throw new Error('too many files are open; raise the limit (`ulimit -n`)');
  }
  const feed = (index: number, bytes: string | Buffer) => writableAt(child, index)?.end(bytes);
  const group = intoGroup(launcher, spec, child);
  const separated = (args: readonly string[]) => args.map((arg) => `${arg}\0`).join('');
  feed(setup.args, separated(options));
  feed(setup.first.descriptor, isOwnInit ? initOf(launcher, spec) : launcher.filters[spec.profile]);
  feed(setup.passwd, passwd(user ?? process.getuid?.() ?? 0));
  feed(setup.stat, programs.stat);
  feed(setup.hosts, '127.0.0.1 localhost\n::1 localhost\n');
  if (setup.direct !== null) {
    feed(setup.direct.lowestPort, '0');
    feed(setup.direct.resolver, RESOLVER);
  }
  for (const [index, limit] of Object.values(NOTIFICATION_LIMITS).entries())
    feed(setup.notifications[index] ?? -1, String(limit));
  if (stageArgs !== null) feed(stageArgs, separated(stageOptions(programs, descriptors, leftOut)));
  const network = new OuterNetwork(launcher.network);
  const handed = setup.channel === null ? null : handedBy(child, setup.direct === null ? null : network);
  const lifeline = isOwnInit ? duplexAt(child, LIFELINE).on('error', () => {}) : null;
  if (lifeline !== null) stopWithHub(lifeline);
  return {
    child,
    group,
    handed,
    network,
    status: duplexAt(child, setup.status),
    link: link ? duplexAt(child, 3) : null,
    lifeline,
  };
}

function initOf({ init, leftOut }: Launcher, spec: CheckedSpec): Buffer {
  return init(spec.profile, isWithout('landlock', leftOut) ? null : writablePlaces(spec));
}

/** Before bubblewrap has read its arguments, so before it has children. Throws: a group that was promised is not left out. */
function intoGroup({ controlGroups }: Launcher, spec: CheckedSpec, child: ChildProcess): ControlGroup | null {
  if (!controlGroups.ok || child.pid === undefined) return null;
  try {
    const group = controlGroups.value.make(spec.limits, spec.tmpMiB ?? 0);
    group.add(child.pid);
    return group;
  } catch (error) {
    child.kill('SIGKILL');
    throw error;
  }
}

/** Without its own network namespace a process would listen in that of the machine. */
function isDirect({ network }: CheckedSpec, leftOut: LeftOut): boolean {
  return network.kind === 'direct' && !leftOut.has('network-namespace');
}

/** By TCP: a process of the profile `tight` has no datagrams. */
const RESOLVER = `nameserver ${NAME_SERVER}\noptions use-vc\n`;

interface Handed {
  readonly proxy: Server;
  /** Null unless the network is `direct`. */
  readonly direct: DirectListeners | null;
}

/**
 * What `inside/handover.ts` sends, once its channel is closed: before that nothing of the app runs. Messages are taken up to the
 * one that says it is all; whatever else came would be the app's, and is not read. Null: something is missing.
 * @param outer null: only the proxy is handed over
 */
function handedBy(child: ChildProcess, outer: OuterNetwork | null): Promise<Handed | null> {
  return new Promise((resolve) => {
    const handles = new Map<string, unknown>();
    const closeAll = () => {
      for (const handle of handles.values())
        if (handle instanceof Server || handle instanceof DatagramSocket) handle.close();
      handles.clear(); // a datagram socket that is closed twice throws
    };
    const take = async (message: unknown, handle: unknown) => {
      if (message !== 'all') return void handles.set(String(message), handle);
      child.off('message', take);
      const network = await outer?.setUp();
      child.once('disconnect', () => {
        const handed = handedIn(handles, outer === null ? null : { watch: network?.watch ?? null });
        if (handed === null) closeAll();
        handles.clear();
        resolve(handed);
      });
      child.send('taken', () => child.connected && child.disconnect());
    };
    child.on('message', take);
    const gone = () => {
      resolve(null);
      closeAll(); // else they would keep the hub alive
    };
    child.once('exit', gone);
    child.once('error', gone);
  });
}

/** @param outer null: only the proxy is handed over */
function handedIn(
  handles: ReadonlyMap<string, unknown>,
  outer: Pick<DirectListeners, 'watch'> | null,
): Handed | null {
  const [proxy, names] = ['proxy', 'names'].map((name) => handles.get(name));
  if (!(proxy instanceof Server)) return null;
  if (outer === null) return { proxy, direct: null };
  if (!(names instanceof Server)) return null;
  const ports = [...handles].flatMap(([name, handle]) =>
    /^\d+$/.test(name) && handle instanceof Server ? [[Number(name), handle] as const] : [],
  );
  const datagrams = [...handles].flatMap(([name, handle]) =>
    name.startsWith('udp:') && handle instanceof DatagramSocket
      ? [[Number(name.slice('udp:'.length)), handle] as const]
      : [],
  );
  return { proxy, direct: { ...outer, ports: new Map(ports), names, datagrams: new Map(datagrams) } };
}

/** Programs ask for the name and home of their user; the host's list of users is none of their business. */
function passwd(user: number): string {
  return `app:x:${user}:${user}:app:/tmp:/bin/sh\n`;
}

async function follow(
  launcher: Launcher,
  spec: CheckedSpec,
  started: Started,
  signal: AbortSignal,
  absent: readonly LayerName[],
): Promise<Result<ConfinedProcess, Fault>> {
  const { child, group, link, lifeline } = started;
  let ending: Ending = null;
  const end = (why: NonNullable<Ending>) => {
    ending ??= why;
    killTree(child);
    lifeline?.destroy();
    group?.kill();
  };
  const kill = () => end({ cause: 'killed', message: 'it was stopped by the hub' });
  signal.addEventListener('abort', kill, { once: true });

  const errors = new SetupErrors(child.stderr, spec.stderr === 'pipe');
  const first = Promise.withResolvers<Status | null>();
  let seen: Status = { childPid: null, exitCode: null };
  let half: KnownProcess | null = null;
  const reports = readStatus(started.status, (status) => {
    seen = status;
    if (status.childPid === null) return;
    half ??= knownProcess(status.childPid);
    first.resolve(status);
  });
  const outer = new Promise<{ signal: string | null }>((resolve) => {
    child.once('error', () => resolve({ signal: null }));
    child.once('exit', (_code, signalName) => resolve({ signal: signalName }));
  });
  const deadline = setTimeout(() => {
    end({ cause: 'killed', message: 'the sandbox was not set up in time' });
  }, SETUP_DEADLINE_MS);
  const finished = outer.then(async (gone) => {
    launcher.watchers.hear();
    lifeline?.destroy(); // whatever ended bubblewrap, it is the app's end
    const status = await reportsUntilEnd(reports, () => seen);
    if (half !== null) killKnown(half);
    for (const stream of [child.stdout, child.stderr, link]) endWhenSilent(stream);
    if (group?.ranOutOfMemory() === true)
      ending ??= {
        cause: 'limit',
        limit: 'memoryMiB',
        message: `it used more than its ${spec.limits.memoryMiB} MiB of memory`,
      };
    group?.kill();
    group?.remove();
    await started.network.end();
    return [gone, status] as const;
  });
  const exited = finished.then(async ([gone, status]): Promise<Exit> => {
    clearTimeout(deadline);
    signal.removeEventListener('abort', kill);
    first.resolve(null);
    return exitOf(status, gone.signal, ending, await errors.text());
  });

  const status = await first.promise;
  clearTimeout(deadline);
  if (status === null || status.childPid === null || child.pid === undefined) {
    const { message } = await exited;
    return signal.aborted ? failed(fault('cancelled', 'the start was cancelled')) : unavailable(message);
  }
  const root = status.childPid;
  started.network.found(root);
  const watched = { outer: child.pid, root, group: group?.folder ?? null };
  const unwatch = watch(launcher, spec, watched, (excess) => end({ cause: 'limit', ...excess }));
  if (unwatch === null) killTree(child); // nothing runs unwatched
  void exited.then(() => unwatch?.());
  const { layers, weakened } = layersOf(launcher, spec, absent);
  const { stdin, stdout, pid } = child;
  return ok({
    pid,
    root,
    listener: started.handed?.then((handed) => handed?.proxy ?? null) ?? null,
    direct: isDirect(spec, launcher.leftOut)
      ? (started.handed?.then((handed) => handed?.direct ?? null) ?? null)
      : null,
    deliver: (name) => deliverSignal(root, isBehindHandover(spec), name),
    stdin,
    stdout,
    stderr: errors.stream,
    link,
    layers,
    weakened,
    exited,
    kill,
  });
}

/**
 * Watches what the kernel bounds for one process or one file only, until the returned function is called. Null: there is no
 * such process any more, or nothing can be learned of it.
 */
function watch(
  { watchers, leftOut }: Launcher,
  spec: CheckedSpec,
  pids: { readonly outer: number; readonly root: number; readonly group: string | null },
  onExcess: (excess: Excess) => void,
): (() => void) | null {
  if (leftOut.has('watchdog')) return () => undefined;
  const [outer, root] = [knownProcess(pids.outer), knownProcess(pids.root)];
  if (outer === null || root === null) return null;
  const own = spec.mounts.filter(({ access }) => access === 'own');
  return watchers.watch(
    {
      outer,
      root,
      hasPidNamespace: !leftOut.has('pid-namespace'),
      hasNetworkNamespace: !leftOut.has('network-namespace'),
      hasTmp: spec.tmpMiB !== null,
      limits: spec.limits,
      group: pids.group,
      ownFolders: own.map(({ host }) => host.host),
    },
    onExcess,
  );
}

/** Whether the hand-over stands between process 1 and the program. */
function isBehindHandover(spec: CheckedSpec): boolean {
  return isHandedOver(spec) && spec.executable !== NODE_INSIDE;
}

/** The layers that apply to this process, in force and left out. */
function layersOf({ appUser, leftOut }: Launcher, spec: CheckedSpec, absent: readonly LayerName[]) {
  const applies = (name: LayerName) =>
    !absent.includes(name) &&
    (name !== 'separate-user' || appUser !== null || leftOut.has(name)) &&
    (name !== 'node-permission' || spec.executable === NODE_INSIDE);
  const isLeftOut = (name: LayerName) =>
    isWithout(name, leftOut) || (name === 'node-permission' && spec.nodeGrants === null);
  const applying = LAYER_NAMES.filter(applies);
  return {
    layers: applying.filter((name) => !isLeftOut(name)),
    weakened: applying.filter(isLeftOut),
  };
}

/**
 * The whole process group, not bubblewrap alone: its child asks to die with it only some microseconds after it
 * was made, and one whose parent was killed before would wait for ever. From then on the child's death follows.
 */
function killTree(child: ChildProcess): void {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch {
    child.kill('SIGKILL'); // not yet, or no longer, the leader of a group
  }
}

const STATUS_WAITS = 4;
const STATUS_WAIT_MS = 250;

/**
 * Only bubblewrap holds the status stream, so it ends with it; nothing may make the hub wait longer. Several short waits: a hub
 * that stood still meanwhile finds its timers over before it has read anything, and the exit code may lie there.
 */
async function reportsUntilEnd(reports: Promise<Status>, seen: () => Status): Promise<Status> {
  for (let wait = 1; wait <= STATUS_WAITS; wait++) {
    const over = Promise.withResolvers<null>();
    const deadline = setTimeout(over.resolve, STATUS_WAIT_MS, null);
    const ended = await Promise.race([reports, over.promise]);
    clearTimeout(deadline);
    if (ended !== null) return ended;
  }
  return seen();
}

function writableAt(child: ChildProcess, index: number): Writable | null {
  const stream = child.stdio[index];
  if (!(stream instanceof Writable)) return null;
  // bubblewrap may be gone before it has read everything; its exit says why.
  return stream.on('error', () => {});
}

function duplexAt(child: ChildProcess, index: number): Duplex {
  const stream = child.stdio[index];
  if (stream instanceof Duplex) return stream;
  throw new Error(`descriptor ${index} is no socket`);
}
