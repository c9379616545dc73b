/**
 * How much an app keeps in its own folder. The kernel bounds the size of one file, not their sum: an app could
 * fill the user's disk. So the folder is measured again and again while the app runs, at most a twentieth of the time,
 * and at once when room on the disk vanishes. Names are read byte by byte (as latin1): an app may choose any.
 */

import { lstatSync, opendirSync, statfsSync, statSync } from 'node:fs';
import type { AppLimits } from '@cordon/core';
import { errorCode } from '../kernel/error-code.ts';
import type { Excess } from '../spec/backend.ts';
import { namelessFiles, UNSEEN } from './nameless-files.ts';

export type FolderLimits = Pick<AppLimits, 'storageMiB' | 'files'>;

const LONGEST_PAUSE_MS = 2_000;
/** How often the room on the disk is looked at: 2 µs for each disk, however many apps there are. */
const TICK_MS = 50;
const MIB = 1024 * 1024;
/** Room that vanishes between two ticks, or several, before whoever keeps a folder there is measured. */
const SUDDEN_BYTES = 8 * MIB;
/** Between two slices others are looked at. A look at one file takes 4 µs; with promises it would be 40. */
const SLICE_MS = 1;
/** Folders within folders. Attack: each look at a file costs as much as its path is long. */
export const DEEPEST = 64;

/** One for the whole process: watches the own folders of all sandboxes. Keeps no process alive. */
export class OwnFolders {
  readonly #measured = new Set<OwnFolder>();
  #timer: NodeJS.Timeout | null = null;

  /**
   * Measures until the returned function is called. `onExcess` is called at most once, with the limit.
   *
   * @param processes folders of `/proc` of those that may write there: what they hold open and have deleted counts, too
   */
  watch(
    folder: string,
    limits: FolderLimits,
    onExcess: (excess: Excess) => void,
    processes: () => readonly string[] = () => [],
  ): () => void {
    const exceeded = (excess: Excess) => {
      this.#remove(own);
      onExcess(excess);
    };
    const own = new OwnFolder(folder, limits, exceeded, processes);
    this.#measured.add(own);
    this.#timer ??= setInterval(() => this.#tick(), TICK_MS).unref();
    return () => this.#remove(own);
  }

  #remove(own: OwnFolder): void {
    own.stop();
    this.#measured.delete(own);
    if (this.#measured.size > 0 || this.#timer === null) return;
    clearInterval(this.#timer);
    this.#timer = null;
  }

  #tick(): void {
    const free = new Map<number | null, number>();
    for (const own of this.#measured) {
      const bytes = free.get(own.disk) ?? freeBytes(own.folder);
      free.set(own.disk, bytes);
      own.measureIfDue(performance.now(), bytes);
    }
  }
}

/** Bytes of an entry; null: none, so that something else can be done between two. */
type Seen = number | 'too deep' | null;

/** One folder; whoever has it says when to measure. */
export class OwnFolder {
  readonly folder: string;
  /** The number of its file system; null: it cannot be asked. */
  readonly disk: number | null;
  readonly #limits: FolderLimits;
  readonly #onExcess: (excess: Excess) => void;
  readonly #processes: () => readonly string[];
  /** Sockets in which open files waited at the last look, by inode. */
  readonly #passed = new Set<number>();
  #entries: Generator<Seen, undefined>;
  #used = { bytes: 0, files: 0 };
  /** Bytes that were free on its disk when it was measured last. */
  #free: number;
  /** The same when it was looked last for files without a name. */
  #freeWhenLooked: number;
  #isOver = false;
  #isMeasured = false;
  #spentMs = 0;
  /** `performance.now()` from which on it may be measured, and at which it is. */
  #earliest = 0;
  #due = 0;
  /** The same as `#earliest`, where more room is gone than it was allowed to take. */
  #earliestUrgent = 0;
  /** Bytes that it was still allowed to take when it was measured last. */
  #left = 0;

  constructor(
    folder: string,
    limits: FolderLimits,
    onExcess: (excess: Excess) => void,
    processes: () => readonly string[],
  ) {
    this.folder = folder;
    this.#processes = processes;
    this.disk = statSync(folder, { throwIfNoEntry: false })?.dev ?? null;
    this.#limits = limits;
    this.#onExcess = onExcess;
    this.#entries = entriesBelow(folder);
    this.#free = freeBytes(folder);
    this.#freeWhenLooked = this.#free;
  }

  stop(): void {
    this.#isOver = true;
    this.#entries.return(undefined);
  }

  /** `free`: bytes on its disk now. Somebody else may have taken them: that costs a measurement, and nothing else. */
  measureIfDue(now: number, free: number): void {
    // What others give back must not hide what this app takes later.
    this.#free = Math.max(this.#free, free);
    this.#freeWhenLooked = Math.max(this.#freeWhenLooked, free);
    const taken = this.#free - free;
    const isSudden = taken > SUDDEN_BYTES && now >= this.#earliest;
    // Attack: many small files, so that a measurement takes long and the next one comes late; then a few large ones.
    const isUrgent = taken > SUDDEN_BYTES && taken > this.#left && now >= this.#earliestUrgent;
    if (this.#isMeasured || !(isSudden || isUrgent || now >= this.#due)) return;
    this.#free = free;
    this.measure();
  }

  measure(): void {
    if (this.#isOver) return;
    this.#isMeasured = true;
    const began = performance.now();
    for (;;) {
      const { done, value } = this.#entries.next();
      const tookMs = performance.now() - began;
      if (done === true) return this.#rest(this.#spentMs + tookMs);
      if (value === 'too deep')
        return this.#onExcess({
          limit: 'nesting',
          message: `its own folder holds folders nested more than ${DEEPEST} deep`,
        });
      if (value !== null) this.#used.bytes += value;
      if (value !== null) this.#used.files += 1;
      const excess = excessOf(this.#used, this.#limits);
      if (excess !== null) return this.#onExcess(excess);
      if (tookMs < SLICE_MS) continue;
      this.#spentMs += tookMs;
      // Not unref'd: an idle loop would not come back to it before something else wakes it.
      return void setImmediate(() => this.measure());
    }
  }

  /** What has no name is looked for where room has vanished: to look costs as much as to measure a small folder. */
  *#everything(): Generator<Seen, undefined> {
    yield* entriesBelow(this.folder);
    if (this.disk === null || this.#free > this.#freeWhenLooked - SUDDEN_BYTES) return;
    this.#freeWhenLooked = this.#free;
    yield* namelessFiles(this.#processes(), this.disk, this.#passed);
  }

  #rest(tookMs: number): void {
    const now = performance.now();
    this.#earliest = now + 20 * tookMs;
    this.#earliestUrgent = now + tookMs;
    this.#left = this.#limits.storageMiB * MIB - this.#used.bytes;
    this.#due = Math.max(now + LONGEST_PAUSE_MS, this.#earliest);
    this.#entries = this.#everything();
    this.#used = { bytes: 0, files: 0 };
    this.#spentMs = 0;
    this.#isMeasured = false;
  }
}

/** 0 where it cannot be asked, and then nothing vanishes: the folder is measured when it is due. */
function freeBytes(folder: string): number {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize;
  } catch {
    return 0;
  }
}

function excessOf(
  used: { bytes: number; files: number },
  { storageMiB, files }: FolderLimits,
): Excess | null {
  if (used.bytes === UNSEEN)
    return { limit: 'unreadable', message: 'there is something in its own folder that cannot be measured' };
  if (used.files > files)
    return { limit: 'files', message: `it keeps more than ${files} files in its own folder` };
  if (used.bytes > storageMiB * MIB)
    return { limit: 'storageMiB', message: `it keeps more than ${storageMiB} MiB in its own folder` };
  return null;
}

/** A folder below the root of a measurement. */
interface OpenFolder {
  /** A character for each byte. */
  readonly path: string;
  readonly depth: number;
}

/**
 * The room on the disk of each file and folder below: a file with holes takes little, a small one takes a block. What
 * vanishes meanwhile takes none: the app may delete what it made.
 */
function* entriesBelow(root: string): Generator<number | 'too deep', undefined> {
  const open: OpenFolder[] = [{ path: Buffer.from(root).toString('latin1'), depth: 0 }];
  for (let folder = open.pop(); folder !== undefined; folder = open.pop()) {
    if (folder.depth > DEEPEST) yield 'too deep';
    try {
      yield* entriesIn(folder, open);
    } catch (error) {
      if (!['ENOENT', 'ENOTDIR'].includes(errorCode(error))) yield UNSEEN;
    }
  }
}

function* entriesIn({ path, depth }: OpenFolder, folders: OpenFolder[]): Generator<number, undefined> {
  const listing = opendirSync(bytesOf(path), { bufferSize: 256, encoding: 'latin1' });
  try {
    for (let entry = listing.readSync(); entry !== null; entry = listing.readSync()) {
      const inner = `${path}/${entry.name}`;
      const stats = lstatSync(bytesOf(inner), { throwIfNoEntry: false });
      if (stats?.isDirectory() === true) folders.push({ path: inner, depth: depth + 1 });
      yield (stats?.blocks ?? 0) * 512;
    }
  } finally {
    listing.closeSync();
  }
}

function bytesOf(path: string): Buffer {
  return Buffer.from(path, 'latin1');
}
