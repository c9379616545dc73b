/**
 * Files that a sandbox keeps open, or mapped, and that no folder lists any more. Attack: what is deleted while it is
 * open takes room on the disk until it is closed, and who measures a folder does not see it.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { errorCode } from '../kernel/error-code.ts';
import { readUpTo } from '../kernel/proc.ts';

/** What is there and cannot be measured. */
export const UNSEEN = Number.POSITIVE_INFINITY;

/** Beyond it, it is not looked for what a process has mapped: some 20,000 mappings. */
const LONGEST_MAPS = 1024 * 1024;

/**
 * Bytes on `disk` of each such file of the processes, of which each is a folder of `/proc`; null between two of them, so
 * that whoever asks can do something else. `Infinity` where it cannot be seen.
 *
 * @param passed sockets in which files waited to be received when this was asked before, by inode; brought up to date
 */
export function* namelessFiles(
  processes: readonly string[],
  disk: number,
  passed: Set<number>,
): Generator<number | null, undefined> {
  const looked: Looked = { disk, files: new Set(), passedBefore: new Set(passed), passed };
  passed.clear();
  for (const folder of processes) {
    yield null;
    yield* withinLife(() => openFiles(folder, looked));
    yield* withinLife(() => mappedFiles(`${folder}/maps`, looked));
  }
}

interface Looked {
  readonly disk: number;
  /** By inode: each file counts once. */
  readonly files: Set<number>;
  readonly passedBefore: ReadonlySet<number>;
  readonly passed: Set<number>;
}

/** Of what is gone since it was listed, there is nothing. */
function withinLife(look: () => readonly number[]): readonly number[] {
  try {
    return look();
  } catch (error) {
    return ['ENOENT', 'ESRCH'].includes(errorCode(error)) ? [] : [UNSEEN];
  }
}

function openFiles(folder: string, looked: Looked): readonly number[] {
  return readdirSync(`${folder}/fd`).flatMap((descriptor) => {
    const stats = statSync(`${folder}/fd/${descriptor}`, { throwIfNoEntry: false });
    // Each by itself. Attack: one that is gone by now would keep the others from being looked at.
    if (stats?.isSocket() === true)
      return withinLife(() => waitingIn(`${folder}/fdinfo/${descriptor}`, stats.ino, looked));
    if (stats?.isFile() !== true || stats.nlink > 0 || stats.dev !== looked.disk) return [];
    if (looked.files.has(stats.ino)) return [];
    looked.files.add(stats.ino);
    return [stats.blocks * 512];
  });
}

/** Attack: an open file that waits in a socket is in nobody's list. For a moment it does so where programs pass files on. */
function waitingIn(fdinfo: string, socket: number, { passedBefore, passed }: Looked): readonly number[] {
  if (!/^scm_fds:\s*[1-9]/m.test(readFileSync(fdinfo, 'latin1'))) return [];
  passed.add(socket);
  return passedBefore.has(socket) ? [UNSEEN] : [];
}

/**
 * One line of proc(5): `from-to rights offset major:minor inode path (deleted)`. How much of the file is on the disk it does
 * not say. Only the line feed ends a line: a name may hold everything else that JavaScript takes for the end of one.
 */
const MAPPED = /^([0-9a-f]+)-([0-9a-f]+) \S+ \S+ ([0-9a-f]+):([0-9a-f]+) (\d+) .* \(deleted\)$/s;

function mappedFiles(path: string, { disk, files }: Looked): readonly number[] {
  const text = readUpTo(path, LONGEST_MAPS);
  if (text === null) return [UNSEEN];
  const bytes = new Map<number, number>();
  for (const line of text.split('\n')) {
    const [, from = '', to = '', major = '', minor = '', inode = ''] = MAPPED.exec(line) ?? [];
    if (inode === '') continue;
    const file = Number(inode);
    if (files.has(file) || deviceNumber(hex(major), hex(minor)) !== disk) continue;
    bytes.set(file, (bytes.get(file) ?? 0) + hex(to) - hex(from));
  }
  for (const file of bytes.keys()) files.add(file);
  return [...bytes.values()];
}

function hex(digits: string): number {
  return Number.parseInt(digits, 16);
}

/** As stat(2) gives it (makedev(3)). */
function deviceNumber(major: number, minor: number): number {
  return (minor & 0xff) + (major & 0xfff) * 0x100 + ((minor & ~0xff) >>> 0) * 0x1000;
}
