/**
 * How much an app keeps in its own folder. The kernel bounds the size of one file, not their sum: an app could
 * fill the user's disk. So the folder is measured again and again while the app runs, at most a twentieth of the time.
 *
 * Ring 0.
 */
import { lstatSync, opendirSync } from 'node:fs';
import { join } from 'node:path';
import { errorCode } from './checked-path.ts';

export interface FolderLimits {
  readonly storageMiB: number;
  readonly files: number;
}

const SHORTEST_PAUSE_MS = 2_000;
/** Between two slices the hub does its work. A look at one file takes 4 µs; with promises it would be 40. */
const SLICE_MS = 1;
/** Room of what cannot be looked at: closed folders, and paths that are too long to be named, hide what is in them. */
const UNSEEN = Number.POSITIVE_INFINITY;

/** Measures until the returned function is called. `onExcess` is called at most once, with one sentence. */
export function watchOwnFolder(
  folder: string,
  limits: FolderLimits,
  onExcess: (message: string) => void,
): () => void {
  let entries = entriesBelow(folder);
  let timer: NodeJS.Timeout | null = null;
  let isOver = false;
  let spentMs = 0;
  const used = { bytes: 0, files: 0 };
  const stop = () => {
    isOver = true;
    entries.return(undefined);
    if (timer !== null) clearTimeout(timer);
  };
  const measure = () => {
    if (isOver) return;
    const began = performance.now();
    for (;;) {
      const { done, value } = entries.next();
      const tookMs = performance.now() - began;
      if (done === true) return rest(spentMs + tookMs);
      used.bytes += value;
      used.files += 1;
      const excess = excessOf(used, limits);
      if (excess !== null) {
        stop();
        return onExcess(excess);
      }
      if (tookMs < SLICE_MS) continue;
      spentMs += tookMs;
      return void setImmediate(measure).unref();
    }
  };
  const rest = (tookMs: number) => {
    entries = entriesBelow(folder);
    Object.assign(used, { bytes: 0, files: 0 });
    spentMs = 0;
    timer = setTimeout(measure, Math.max(SHORTEST_PAUSE_MS, 20 * tookMs)).unref();
  };
  measure();
  return stop;
}

function excessOf(
  used: { bytes: number; files: number },
  { storageMiB, files }: FolderLimits,
): string | null {
  if (used.bytes === UNSEEN) return 'there is something in its own folder that cannot be measured';
  if (used.files > files) return `it keeps more than ${files} files in its own folder`;
  if (used.bytes > storageMiB * 1024 * 1024) return `it keeps more than ${storageMiB} MiB in its own folder`;
  return null;
}

/**
 * The room on the disk of each file and folder below: a file with holes takes little, a small one takes a block. What
 * vanishes meanwhile takes none: the app may delete what it made.
 */
function* entriesBelow(root: string): Generator<number, undefined> {
  const open = [root];
  for (let folder = open.pop(); folder !== undefined; folder = open.pop()) {
    try {
      yield* entriesIn(folder, open);
    } catch (error) {
      if (!['ENOENT', 'ENOTDIR'].includes(errorCode(error))) yield UNSEEN;
    }
  }
}

function* entriesIn(folder: string, folders: string[]): Generator<number, undefined> {
  const listing = opendirSync(folder, { bufferSize: 256 });
  try {
    for (let entry = listing.readSync(); entry !== null; entry = listing.readSync()) {
      const path = join(folder, entry.name);
      const stats = lstatSync(path, { throwIfNoEntry: false });
      if (stats?.isDirectory() === true) folders.push(path);
      yield (stats?.blocks ?? 0) * 512;
    }
  } finally {
    listing.closeSync();
  }
}
