/**
 * Locks that a sandbox holds on files that it may only read. Attack: who may read a file may lock it (`flock`, read locks
 * of `fcntl`), and the user's own programs cannot write their database any more. Readers need short locks, so none is
 * refused; who holds one for long is found here.
 */
import { readFileSync, readlinkSync } from 'node:fs';
import { namesIn, readUpTo, statusOf } from '../kernel/proc.ts';

/** One look at the locks of the machine serves all sandboxes for so long. */
const FRESH_MS = 200;
/**
 * Bytes of `/proc/PID/maps` of a whole sandbox. Attack: 20 processes with 60,000 mappings each and 250 locks without an owner,
 * so that a look takes seconds, and nobody measures any sandbox meanwhile.
 */
const MOST_MAPPINGS = 8 * 1024 * 1024;

/**
 * proc(5), `/proc/locks`, without those that wait (`->`) and without those of an open file (OFD), which have no owner and which
 * the filter refuses. The same stands in `/proc/PID/fdinfo/FD`.
 */
const LOCK = /^(?:lock:\s*)?\d+: [A-Z]+ +\S+ +\S+ +(\d+) ([0-9a-f]+:[0-9a-f]+):(\d+) /;

interface Lock {
  /** Device as the kernel writes it in `maps`, too, and inode. */
  readonly file: string;
}

/** Locks by the pid namespace of their owner; those of owners that have ended since are kept apart. */
export interface LockTable {
  readonly byNamespace: ReadonlyMap<string, readonly Lock[]>;
  readonly ofNobody: readonly Lock[];
}

export class HeldLocks {
  #table: LockTable = { byNamespace: new Map(), ofNobody: [] };
  #readAt = Number.NEGATIVE_INFINITY;

  /**
   * @param root the sandbox's first process, which has its own pid namespace
   * @param processes folders of `/proc` of all of its processes
   */
  areHeld(root: number, processes: readonly string[], now: number): boolean {
    if (now > this.#readAt + FRESH_MS) {
      this.#table = lockTable(read('/proc/locks'));
      this.#readAt = now;
    }
    const { byNamespace, ofNobody } = this.#table;
    const own = byNamespace.get(namespaceOf(root) ?? '') ?? [];
    if (own.length === 0 && ofNobody.length === 0) return false;
    const open = openLocks(processes);
    const isHidden = ({ file }: Lock) => !open.has(file);
    return (
      [...open.values()].some((isReadOnly) => isReadOnly) ||
      // Attack: a lock goes on while its file is mapped, or waits in a socket, and is in nobody's list of open files.
      own.some(isHidden) ||
      areMapped(processes, new Set(ofNobody.filter(isHidden).map(({ file }) => file)))
    );
  }
}

/** @param locks as `/proc/locks` has them */
export function lockTable(locks: string): LockTable {
  const byNamespace = new Map<string, Lock[]>();
  const ofNobody: Lock[] = [];
  for (const line of locks.split('\n')) {
    const [, owner, device, inode] = LOCK.exec(line) ?? [];
    if (owner === undefined) continue;
    const lock = { file: `${device} ${inode}` };
    const namespace = namespaceOf(Number(owner));
    if (namespace === null && isStranger(Number(owner))) continue;
    if (namespace === null) ofNobody.push(lock);
    else byNamespace.set(namespace, [...(byNamespace.get(namespace) ?? []), lock]);
  }
  return { byNamespace, ofNobody };
}

/**
 * Whether a process belongs to another user, and so to no sandbox: on most machines some service always holds a lock. A process of
 * this user that may not be looked at can be an app's, which runs a program that it cannot read.
 */
function isStranger(pid: number): boolean {
  const [user] = statusOf(pid)?.users ?? [];
  return user !== undefined && user !== process.getuid?.();
}

/** Null: it has ended, or may not be looked at. */
function namespaceOf(pid: number): string | null {
  try {
    return readlinkSync(`/proc/${pid}/ns/pid`);
  } catch {
    return null;
  }
}

/** Files on which a lock is held by an open file, and whether all of these were opened where nothing can be written. */
function openLocks(processes: readonly string[]): ReadonlyMap<string, boolean> {
  const found = new Map<string, boolean>();
  for (const folder of processes) {
    const readOnly = readOnlyMounts(folder);
    for (const descriptor of namesIn(`${folder}/fd`)) {
      const lines = read(`${folder}/fdinfo/${descriptor}`).split('\n');
      const mount = lines.find((line) => line.startsWith('mnt_id:'))?.split(/\s+/)[1];
      for (const line of lines) {
        const [, owner, device, inode] = line.startsWith('lock:') ? (LOCK.exec(line) ?? []) : [];
        if (owner === undefined) continue;
        const file = `${device} ${inode}`;
        found.set(file, (found.get(file) ?? true) && mount !== undefined && readOnly.has(mount));
      }
    }
  }
  return found;
}

/** proc(5), `/proc/PID/mountinfo`: the first field is the mount's number, the sixth begins with `ro` or `rw`. */
function readOnlyMounts(folder: string): ReadonlySet<string> {
  const lines = read(`${folder}/mountinfo`).split('\n');
  const fields = lines.map((line) => line.split(' '));
  return new Set(fields.flatMap(([id = '', , , , , options = '']) => (/^ro\b/.test(options) ? [id] : [])));
}

/** Whether one of these files is mapped, or it cannot be known, since the lists of mappings are too long. */
export function areMapped(processes: readonly string[], files: ReadonlySet<string>): boolean {
  if (files.size === 0) return false;
  let left = MOST_MAPPINGS;
  for (const folder of processes) {
    const mappings = unlessEnded(() => readUpTo(`${folder}/maps`, left));
    if (mappings === null) return true;
    left -= mappings.length;
    // proc(5), `/proc/PID/maps`: addresses, rights, offset, device, inode.
    for (const [, file = ''] of mappings.matchAll(/^\S+ \S+ \S+ (\S+ \d+)/gm))
      if (files.has(file)) return true;
  }
  return false;
}

function read(path: string): string {
  return unlessEnded(() => readFileSync(path, 'latin1'));
}

/** Empty where the process has ended since. */
function unlessEnded<T>(look: () => T): T | '' {
  try {
    return look();
  } catch {
    return '';
  }
}
