/**
 * One digest for a folder of code: every file with its path, content and whether it can be executed. Links and special
 * files are refused, so what was digested is all that there is. A tree of 60,000 files takes a second: in pieces, where
 * something else has to be done meanwhile.
 */
import { createHash, type Hash } from 'node:crypto';
import { closeSync, constants, fstatSync, opendirSync, openSync, readSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { type Fault, failed, fault, ok, type Result } from '@cordon/core';

export interface TreeDigest {
  /** SHA-256, 64 hexadecimal digits. */
  readonly digest: string;
  /** Paths of all files, `/` between names, sorted. */
  readonly files: readonly string[];
  readonly bytes: number;
}

/** Of an installed tree, also of what an install step may write. There may be as many folders as files. */
export const TREE_LIMITS = { files: 60_000, bytes: 1024 * 1024 * 1024, depth: 48 } as const;

const SLICE_MS = 1;
/** What is read, listed or sorted at once: each takes less than a millisecond. */
const CHUNK_BYTES = 256 * 1024;
const CHUNK_NAMES = 1_024;

class Refusal extends Error {}

/** What a folder is in the words of a refusal. */
const PACKAGE = 'the installed package';

/** `folder`: a path that leads to exactly the folder that is meant, best one of an open descriptor. Never throws. */
export function digestTree(folder: string, what = PACKAGE): Result<TreeDigest, Fault> {
  try {
    const steps = digestSteps(folder);
    for (;;) {
      const step = steps.next();
      if (step.done === true) return ok(step.value);
    }
  } catch (error) {
    return refused(error, what);
  }
}

/** The same, with a turn of the event loop after each millisecond. */
export async function digestTreeInPieces(folder: string, what = PACKAGE): Promise<Result<TreeDigest, Fault>> {
  try {
    const steps = digestSteps(folder);
    let sliceEnds = performance.now() + SLICE_MS;
    for (;;) {
      const step = steps.next();
      if (step.done === true) return ok(step.value);
      if (performance.now() < sliceEnds) continue;
      await setImmediate();
      sliceEnds = performance.now() + SLICE_MS;
    }
  } catch (error) {
    return refused(error, what);
  }
}

function refused(error: unknown, what: string) {
  const why = error instanceof Refusal ? error.message : 'it cannot be read';
  return failed(fault('app-unavailable', `${what} is not accepted: ${why}`));
}

/** Work that may be left off for a while at each value that it yields. */
type Steps<T> = Generator<undefined, T>;

interface Tree {
  readonly hash: Hash;
  readonly files: string[];
  readonly chunk: Buffer;
  folders: number;
  bytes: number;
}

/** Throws what makes it impossible, a `Refusal` where that is of the tree's own. */
export function* digestSteps(folder: string): Steps<TreeDigest> {
  const hash = createHash('sha256').update('cordon-tree-1\n');
  const tree: Tree = { hash, files: [], chunk: Buffer.allocUnsafe(CHUNK_BYTES), folders: 0, bytes: 0 };
  yield* digestFolder(folder, '', 0, tree);
  return { digest: hash.digest('hex'), files: tree.files, bytes: tree.bytes };
}

function* digestFolder(folder: string, prefix: string, depth: number, tree: Tree): Steps<void> {
  if (depth > TREE_LIMITS.depth) throw new Refusal('its folders are nested too deep');
  if (++tree.folders > TREE_LIMITS.files) throw new Refusal(`it has more than ${TREE_LIMITS.files} folders`);
  for (const name of inOrder(yield* namesIn(folder, prefix))) {
    const path = `${prefix}${name}`;
    if (name.endsWith('/')) {
      yield* digestFolder(`${folder}/${name.slice(0, -1)}`, path, depth + 1, tree);
      continue;
    }
    if (tree.files.push(path) > TREE_LIMITS.files)
      throw new Refusal(`it has more than ${TREE_LIMITS.files} files`);
    tree.hash.update(`${yield* digestFile(`${folder}/${name}`, tree)} ${JSON.stringify(path)}\n`);
  }
}

/** Sorted pieces of a folder's list. Names of folders end in `/`: so they sort as the paths of what is in them do. */
function* namesIn(folder: string, prefix: string): Steps<readonly (readonly string[])[]> {
  const pieces: string[][] = [];
  const listing = opendirSync(folder, { bufferSize: CHUNK_NAMES });
  try {
    let piece: string[] = [];
    for (let entry = listing.readSync(); entry !== null; entry = listing.readSync()) {
      if (!entry.isDirectory() && !entry.isFile())
        throw new Refusal(`\`${`${prefix}${entry.name}`.slice(0, 200)}\` is a link or no file`);
      if (piece.push(entry.isDirectory() ? `${entry.name}/` : entry.name) < CHUNK_NAMES) continue;
      pieces.push(piece.sort());
      piece = [];
      // A folder of a million names is left after some of them.
      if (pieces.length * CHUNK_NAMES > 2 * TREE_LIMITS.files)
        throw new Refusal('one of its folders is too long');
      yield;
    }
    return [...pieces, piece.sort()];
  } finally {
    listing.closeSync();
  }
}

/** All names of sorted lists, sorted. */
function* inOrder(lists: readonly (readonly string[])[]): Generator<string, void> {
  const ahead = lists.map((list) => ({ list, at: 0 }));
  for (;;) {
    let least: { readonly list: readonly string[]; at: number } | undefined;
    let name: string | undefined;
    for (const candidate of ahead) {
      const head = candidate.list[candidate.at];
      if (head === undefined || (name !== undefined && head >= name)) continue;
      name = head;
      least = candidate;
    }
    if (least === undefined || name === undefined) return;
    least.at++;
    yield name;
  }
}

function* digestFile(path: string, tree: Tree): Steps<string> {
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const stats = fstatSync(descriptor);
    if (!stats.isFile()) throw new Refusal('a file became something else');
    const content = createHash('sha256');
    let length = 0;
    for (;;) {
      const read = readSync(descriptor, tree.chunk);
      if (read === 0) break;
      content.update(tree.chunk.subarray(0, read));
      length += read;
      tree.bytes += read;
      if (tree.bytes > TREE_LIMITS.bytes) throw new Refusal('it is too large');
      yield;
    }
    return `${(stats.mode & 0o111) === 0 ? '-' : 'x'} ${length} ${content.digest('hex')}`;
  } finally {
    closeSync(descriptor);
  }
}
