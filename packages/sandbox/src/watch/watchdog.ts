/**
 * The kernel bounds memory and CPU time per process, not per tree, unless a control group is delegated; and it
 * does not bound the number of files in a private /tmp or /dev/shm. So four times a second one look at each sandbox
 * sums what its processes use, and once a second where nothing has run since: a look takes 60 µs, and there may be a
 * thousand sandboxes. Shared pages count once per process: an upper bound, since there is no anonymous shared memory.
 */

import { readFileSync, statfsSync, statSync } from 'node:fs';
import { freemem } from 'node:os';
import type { AppLimits } from '@cordon/core';
import { namesIn, statFields } from '../kernel/proc.ts';
import type { Excess } from '../spec/backend.ts';
import { HeldLocks } from './held-locks.ts';

const SHORTEST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 1_000;
/** How often it is seen who is due: the looks at many sandboxes spread over time. */
const TICK_MS = 50;
const SLICE_MS = 2;
/** So few hold what a limit of memory can bear. */
const FEW_SOCKETS = 16;
/** Memory of the machine that vanishes within one tick, when a sandbox that slept begins to fill it. */
const SUDDEN_MIB = 32;
/** Longer than any set-up. */
const LONGEST_BLIND_MS = 12_000;

/** Locks on files that may only be read: so long, and then a tenth of the time. A reader of a database needs less. */
const LONGEST_LOCK_MS = 5_000;
/** So many times as long as a look for locks took, none is made. Attack: thousands of open files, each of which is looked at. */
const LOCKS_PAUSE = 10;

/**
 * What a whole tree of processes may use. `cpuSeconds`: those of processes that ended count, too. `openFiles`: sockets of all
 * processes together, each of which holds memory of the kernel that counts for no process. `files`: in the private /tmp, and
 * in the private /dev/shm.
 */
export type TreeLimits = Pick<AppLimits, 'memoryMiB' | 'cpuSeconds' | 'processes' | 'openFiles' | 'files'>;

/** What there is to see of a sandbox from outside, and how much of it there may be. */
export interface SeenSandbox {
  /** Whether its first process has its own pid namespace; without one, its descendants are searched for on the host. */
  readonly hasPidNamespace: boolean;
  /** Whether the sockets in its network namespace are its own. */
  readonly hasNetworkNamespace: boolean;
  readonly hasTmp: boolean;
  readonly limits: TreeLimits;
}

export interface Watch extends SeenSandbox {
  /** Host pid of the sandbox's first process. */
  readonly root: number;
  /** As the kernel counts, where a control group does; what it does not count is summed here. */
  readonly counted: { cpuSeconds(): number | null; memoryMiB(): number | null } | null;
  /** Called at most once, with the limit. */
  readonly onExcess: (excess: Excess) => void;
}

/** What was seen of one tree up to the last look. */
interface Account {
  /** When to look next, and the pause before that; `performance.now()`. */
  due: number;
  pause: number;
  /** Since when nothing could be seen; null: something was, at the last look. */
  blindSince: number | null;
  /** Clock ticks at the last look, and those of processes that ended without anybody waiting for them. */
  ticks: number;
  lostTicks: number;
  /** Of the page tables of all processes, when it had last run. */
  tablesMiB: number;
  /** Time of the last look, and how long it has kept locks on files that it may only read. */
  lookedAt: number;
  lockedMs: number;
  /** Whether it had such locks when they were last looked for, and when to do that next. */
  holdsLocks: boolean;
  locksDue: number;
}

/** One for the whole process; each sandbox costs a look a few reads of /proc. */
export class Watchdog {
  readonly #watches = new Map<Watch, Account>();
  readonly #units: Units;
  readonly #locks = new HeldLocks();
  #timer: NodeJS.Timeout | null = null;
  #available = 0;
  #isLooking = false;

  constructor(units: Units) {
    this.#units = units;
  }

  /** Watches until the returned function is called. Keeps no process alive. */
  add(watch: Watch): () => void {
    const due = performance.now() + SHORTEST_PAUSE_MS;
    const lookedAt = performance.now();
    const seen = { blindSince: null, ticks: 0, lostTicks: 0, tablesMiB: 0 };
    const locks = { lookedAt, lockedMs: 0, holdsLocks: false, locksDue: 0 };
    this.#watches.set(watch, { due, pause: SHORTEST_PAUSE_MS, ...seen, ...locks });
    this.#timer ??= setInterval(() => this.#tick(), TICK_MS).unref();
    return () => this.#remove(watch);
  }

  /** Whether somebody has taken much memory since the last tick: then nobody's pause is waited for. */
  #memoryShrinks(): boolean {
    const available = availableMiB();
    const shrinks = available < this.#available - SUDDEN_MIB;
    this.#available = available;
    return shrinks;
  }

  #remove(watch: Watch): void {
    this.#watches.delete(watch);
    if (this.#watches.size > 0 || this.#timer === null) return;
    clearInterval(this.#timer);
    this.#timer = null;
  }

  #tick(): void {
    const now = performance.now();
    if (this.#memoryShrinks()) for (const account of this.#watches.values()) account.due = now;
    if (!this.#isLooking) this.#lookAtDue();
  }

  /** A thousand looks take 60 ms: in slices, between which the hub does its work. */
  #lookAtDue(): void {
    const began = performance.now();
    for (const [watch, account] of this.#watches) {
      if (account.due > began) continue;
      this.#look(watch, account, began);
      if (performance.now() - began < SLICE_MS) continue;
      this.#isLooking = true;
      setImmediate(() => {
        this.#isLooking = false;
        this.#lookAtDue();
      });
      return;
    }
  }

  #look(watch: Watch, account: Account, now: number): void {
    const before = account.ticks;
    const excess = excessOf(watch, account, this.#units, this.#locks, now);
    const hasRun = account.ticks !== before;
    account.pause = hasRun ? SHORTEST_PAUSE_MS : Math.min(account.pause * 2, LONGEST_PAUSE_MS);
    account.due = now + account.pause;
    if (excess === null) return;
    this.#remove(watch);
    watch.onExcess(excess);
  }
}

/** The limit for which the tree is ended, or null. Updates the account. */
function excessOf(
  watch: Watch,
  account: Account,
  units: Units,
  locks: HeldLocks,
  now: number,
): Excess | null {
  const { limits } = watch;
  const members = membersOf(watch.root, watch.hasPidNamespace);
  if (members.length === 0) {
    // It is being set up, or ended a moment ago. What cannot be watched for long is not left running.
    account.blindSince ??= now;
    return now - account.blindSince < LONGEST_BLIND_MS
      ? null
      : { limit: 'unwatched', message: 'its use of memory and time could not be read any more' };
  }
  account.blindSince = null;
  const summed = sumOfCpu(members, account) / units.ticksPerSecond;
  const memoryMiB = Math.ceil(watch.counted?.memoryMiB() ?? sumOfMemory(members, units) + account.tablesMiB);
  if (memoryMiB > limits.memoryMiB)
    return {
      limit: 'memoryMiB',
      message: `it used ${memoryMiB} MiB of memory, more than its ${limits.memoryMiB} MiB`,
    };
  if (members.length > limits.processes)
    return {
      limit: 'processes',
      message: `it had ${members.length} processes, more than its ${limits.processes}`,
    };
  const cpuSeconds = watch.counted?.cpuSeconds() ?? summed;
  if (cpuSeconds > limits.cpuSeconds)
    return {
      limit: 'cpuSeconds',
      message: `its processes used more than ${limits.cpuSeconds} s of CPU time together`,
    };
  const sockets = watch.hasNetworkNamespace ? socketsOf(watch.root) : 0;
  if (sockets > limits.openFiles)
    return {
      limit: 'openFiles',
      message: `it had ${sockets} sockets, more than its ${limits.openFiles} open files`,
    };
  const queuedMiB = sockets < FEW_SOCKETS ? 0 : queuedIn(watch.root);
  if (memoryMiB + queuedMiB > limits.memoryMiB)
    return {
      limit: 'memoryMiB',
      message: `it used ${memoryMiB} MiB of memory and ${queuedMiB} MiB in connections, more than its ${limits.memoryMiB} MiB`,
    };
  if (watch.hasTmp && filesIn(`/proc/${watch.root}/root/tmp`) > limits.files)
    return { limit: 'files', message: `it made more than ${limits.files} files in its temporary folder` };
  // Bounded in bytes, as /tmp is, and like there an empty file takes none of them.
  if (filesIn(`/proc/${watch.root}/root/dev/shm`) > limits.files)
    return {
      limit: 'files',
      message: `it made more than ${limits.files} files in its folder of shared memory`,
    };
  // Without a pid namespace it is not known whose a lock is.
  if (watch.hasPidNamespace && lockedMs(watch.root, members, account, locks, now) > LONGEST_LOCK_MS)
    return {
      limit: 'locks',
      message: `it kept locks on files that it may only read for more than ${LONGEST_LOCK_MS / 1_000} s`,
    };
  return null;
}

function lockedMs(
  root: number,
  members: readonly Member[],
  account: Account,
  locks: HeldLocks,
  now: number,
): number {
  const processes = members.map(({ folder }) => folder);
  // Where nobody looked for long, since this process was stopped, say, it is not known to have held a lock since.
  const passed = Math.min(now - account.lookedAt, LONGEST_PAUSE_MS);
  account.lookedAt = now;
  if (now >= account.locksDue) {
    const began = performance.now();
    account.holdsLocks = locks.areHeld(root, processes, now);
    account.locksDue = now + LOCKS_PAUSE * (performance.now() - began);
  }
  account.lockedMs = account.holdsLocks
    ? account.lockedMs + passed
    : Math.max(0, account.lockedMs - passed / 10);
  return account.lockedMs;
}

/** Resident memory in MiB. */
function sumOfMemory(members: readonly Member[], units: Units): number {
  return (sum(members, ({ pages }) => pages) * units.pageBytes) / (1024 * 1024);
}

/**
 * KiB. Attack: where nothing but zeros was read, memory has no pages that count, and tables to find them by: a page for
 * each 2 MiB, and the whole space of addresses may be read. They grow only while something runs.
 */
function pageTablesOf({ folder }: Member): number {
  try {
    return Number(/^VmPTE:\s*(\d+) kB$/m.exec(readFileSync(`${folder}/status`, 'latin1'))?.[1] ?? 0);
  } catch {
    return 0; // ended since the listing
  }
}

/**
 * Clock ticks so far. A process that nobody waits for takes its time with it: what was seen of it still counts.
 * Many that live shorter than one period each are seen by a control group only.
 */
function sumOfCpu(members: readonly Member[], account: Account): number {
  const ticks = sum(members, (member) => member.ticks);
  if (account.ticks !== ticks) account.tablesMiB = sum(members, pageTablesOf) / 1024;
  account.lostTicks += Math.max(0, account.ticks - ticks);
  account.ticks = ticks;
  return ticks + account.lostTicks;
}

interface Member {
  /** In a `/proc`. */
  readonly folder: string;
  readonly parent: number;
  /** Resident memory. */
  readonly pages: number;
  /** CPU time of this process and of its children that it waited for. */
  readonly ticks: number;
}

function sum(members: readonly Member[], of: (member: Member) => number): number {
  return members.reduce((total, member) => total + of(member), 0);
}

function membersOf(root: number, hasPidNamespace: boolean): readonly Member[] {
  return hasPidNamespace ? namespaceMembers(root) : descendants(root);
}

/**
 * All processes that the sandbox's own /proc lists: the whole namespace, whoever their parents are. None while
 * bubblewrap still sets up: the /proc that it sees then is the host's.
 */
function namespaceMembers(root: number): readonly Member[] {
  const proc = `/proc/${root}/root/proc`;
  return deviceOf(proc) === deviceOf('/proc') ? [] : [...processesIn(proc).values()];
}

/** Null where nothing can be seen: of a first process that is ending, an ordinary user is refused the look. */
function deviceOf(path: string): number | null {
  try {
    return statSync(path).dev;
  } catch {
    return null;
  }
}

/** Folders of `/proc` of all processes of a sandbox but its first, which keeps no file open. */
export function processFolders(root: number, hasPidNamespace: boolean): readonly string[] {
  return membersOf(root, hasPidNamespace)
    .filter(({ parent }) => parent !== 0)
    .map(({ folder }) => folder);
}

/** Whether the processes of a sandbox can be watched from here. */
export function canWatch(root: number, hasPidNamespace: boolean): boolean {
  try {
    return membersOf(root, hasPidNamespace).length > 0;
  } catch {
    return false;
  }
}

function descendants(root: number): readonly Member[] {
  const all = processesIn('/proc');
  const isBelow = (pid: number): boolean => {
    const parent = all.get(pid)?.parent;
    return pid === root || (parent !== undefined && parent > 0 && isBelow(parent));
  };
  return [...all].filter(([pid]) => isBelow(pid)).map(([, member]) => member);
}

function processesIn(proc: string): ReadonlyMap<number, Member> {
  const found = new Map<number, Member>();
  for (const name of namesIn(proc)) {
    const pid = Number(name);
    const member = Number.isInteger(pid) ? readStat(`${proc}/${name}`) : null;
    if (member !== null) found.set(pid, member);
  }
  return found;
}

/** proc(5), `/proc/PID/stat`: fields 4, 14 to 17 and 24. Null: it has ended since the listing. */
function readStat(folder: string): Member | null {
  const fields = statFields(folder)?.map(Number);
  if (fields === undefined) return null;
  const [user = 0, system = 0, childUser = 0, childSystem = 0] = fields.slice(11, 15);
  const ticks = user + system + childUser + childSystem;
  return { folder, parent: fields[1] ?? 0, pages: fields[21] ?? 0, ticks };
}

/**
 * Sockets in the network namespace of the process. Attack: pairs that nobody reads, full of data, hold hundreds of
 * MiB in the kernel. 0 where it cannot be read, since then its processes cannot be seen either.
 */
function socketsOf(root: number): number {
  try {
    const text = readFileSync(`/proc/${root}/net/sockstat`, 'latin1');
    return Number(/^sockets: used (\d+)$/m.exec(text)?.[1] ?? 0);
  } catch {
    return 0;
  }
}

/** Attack: connections to itself whose bytes nobody reads, megabytes each. In MiB; 0 where it cannot be read. */
function queuedIn(root: number): number {
  try {
    const text = ['tcp', 'tcp6'].map((name) => readFileSync(`/proc/${root}/net/${name}`, 'latin1')).join('');
    const queues = [...text.matchAll(/^ *\d+: (?:\S+ ){3}([0-9A-F]+):([0-9A-F]+) /gm)];
    const bytes = queues.reduce(
      (total, [, sent, received]) =>
        total + Number.parseInt(sent ?? '0', 16) + Number.parseInt(received ?? '0', 16),
      0,
    );
    return Math.ceil(bytes / (1024 * 1024));
  } catch {
    return 0;
  }
}

/** Files of the file system at `path`; 0 where it cannot be asked, since then its processes cannot be seen either. */
function filesIn(path: string): number {
  try {
    const { files, ffree } = statfsSync(path);
    return files - ffree;
  } catch {
    return 0;
  }
}

/** What programs could still get (`MemAvailable`). Asked twenty times a second: Node reads it in a third of the time. */
export function availableMiB(): number {
  return freemem() / (1024 * 1024);
}

/** What the numbers of /proc mean on this machine. */
export interface Units {
  readonly pageBytes: number;
  readonly ticksPerSecond: number;
}

/** AT_PAGESZ and AT_CLKTCK of the auxiliary vector: pages are 4 KiB nearly everywhere, 16 or 64 KiB on some arm64 kernels. Throws when they cannot be read. */
export function readUnits(): Units {
  const vector = readFileSync('/proc/self/auxv');
  const value = (wanted: bigint) => {
    for (let at = 0; at + 16 <= vector.length; at += 16)
      if (vector.readBigUInt64LE(at) === wanted) return Number(vector.readBigUInt64LE(at + 8));
    throw new Error('/proc/self/auxv is incomplete');
  };
  return { pageBytes: value(6n), ticksPerSecond: value(17n) };
}
