/**
 * Locks that a sandbox holds on files that it may only read. Attack: who may read a file may lock it (`flock`, read locks
 * of `fcntl`), and the user's own programs cannot write their database any more. Readers need short locks, so none is
 * refused; who holds one for long is found here.
 *
 * Ring 0.
 */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** One look at the locks of the machine serves all sandboxes for so long. */
const FRESH_MS = 200;

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
   * @param root the sandbox's first process, which has a pid namespace of its own
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
      ofNobody.filter(isHidden).some(({ file }) => processes.some((folder) => isMapped(folder, file)))
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
  const user = /^Uid:\s*(\d+)/m.exec(read(`/proc/${pid}/status`))?.[1];
  return user !== undefined && Number(user) !== process.getuid?.();
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

function isMapped(folder: string, file: string): boolean {
  return read(`${folder}/maps`).includes(` ${file} `);
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return []; // it has ended since
  }
}

/** Empty where it has ended since. */
function read(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}
