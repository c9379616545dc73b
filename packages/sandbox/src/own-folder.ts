/**
 * How much an app keeps in its own folder. The kernel bounds the size of one file, not their sum: an app could
 * fill the user's disk. So the folder is measured again and again while the app runs, at most a twentieth of the time.
 *
 * Ring 0.
 */
import { lstat, opendir } from 'node:fs/promises';
import { join } from 'node:path';

export interface FolderLimits {
  readonly storageMiB: number;
  readonly files: number;
}

const SHORTEST_PAUSE_MS = 2_000;

/** Measures until the returned function is called. `onExcess` is called at most once, with one sentence. */
export function watchOwnFolder(
  folder: string,
  limits: FolderLimits,
  onExcess: (message: string) => void,
): () => void {
  let timer: NodeJS.Timeout | null = null;
  let isOver = false;
  const measure = async () => {
    const began = performance.now();
    const excess = await excessOf(folder, limits);
    if (isOver) return;
    if (excess !== null) return onExcess(excess);
    const pause = Math.max(SHORTEST_PAUSE_MS, 20 * (performance.now() - began));
    timer = setTimeout(measure, pause).unref();
  };
  void measure();
  return () => {
    isOver = true;
    if (timer !== null) clearTimeout(timer);
  };
}

/** Walks no further than the limits. A folder that vanishes meanwhile counts as empty: the app may delete what it made. */
async function excessOf(root: string, { storageMiB, files }: FolderLimits): Promise<string | null> {
  const most = storageMiB * 1024 * 1024;
  const used = { bytes: 0, files: 0 };
  const open = [root];
  for (let folder = open.pop(); folder !== undefined; folder = open.pop()) {
    for (const { path, isFolder, bytes } of await entriesOf(folder, files - used.files + 1)) {
      used.files += 1;
      used.bytes += bytes;
      if (isFolder) open.push(path);
    }
    if (used.files > files) return `it keeps more than ${files} files in its own folder`;
    if (used.bytes > most) return `it keeps more than ${storageMiB} MiB in its own folder`;
  }
  return null;
}

interface Entry {
  readonly path: string;
  readonly isFolder: boolean;
  /** Room on the disk: a file with holes takes little, a small one takes a block. */
  readonly bytes: number;
}

async function entriesOf(folder: string, most: number): Promise<readonly Entry[]> {
  const entries: Entry[] = [];
  try {
    for await (const { name } of await opendir(folder)) {
      const path = join(folder, name);
      const stats = await lstat(path).catch(() => null);
      if (stats !== null) entries.push({ path, isFolder: stats.isDirectory(), bytes: stats.blocks * 512 });
      if (entries.length >= most) break;
    }
  } catch {
    // Deleted, or replaced by something that is no folder.
  }
  return entries;
}
