/**
 * The data of the evaluation: those of the repository in `bench/data`, the others in the folder that `--data` names, under
 * the same paths. Each may be compressed; what it is known again by is the digest of its bytes on disk.
 */
import { createHash } from 'node:crypto';
import { createReadStream, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { brotliDecompressSync } from 'node:zlib';
import { type Fault, failed, fault, ok, type Result } from '@cordon/core';
import type { DataFile } from './evaluation/suite.ts';

export const DATA_FOLDER = join(import.meta.dirname, 'data');

export interface ReadData {
  readonly text: string;
  readonly file: DataFile;
}

/**
 * Reads a file such as `scripted/langchain/tasks.json`; it may be there as `….br`. The repository's own comes first.
 *
 * @param folder what `--data` names, as `BenchRequest.data` has it
 */
export function readData(name: string, folder: string | null): Result<ReadData, Fault> {
  const path = dataPath(name, folder);
  if (path === null) {
    const where =
      folder === null
        ? 'it is not part of the sources'
        : `it is neither part of the sources nor in ${folder}`;
    return failed(
      fault('usage', `\`${name}\` is missing: ${where}`, 'name the folder that has it with `--data`'),
    );
  }
  try {
    const bytes = readFileSync(path);
    return ok({
      text: textIn(path, bytes),
      file: { name, sha256: createHash('sha256').update(bytes).digest('hex') },
    });
  } catch (error) {
    return failed(
      fault('usage', `${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`),
    );
  }
}

/** Of a file that is read at once. A smaller one can unpack to more than there is memory for. */
const MOST_BYTES = 256 * 1024 * 1024;

/** What a file of these bytes holds, by the ending of its name. Throws what is too large, or not compressed as it says. */
export function textIn(path: string, bytes: Buffer): string {
  if (bytes.length > MOST_BYTES) throw new Error('it is larger than 256 MiB');
  if (!path.endsWith('.br')) return bytes.toString('utf8');
  return brotliDecompressSync(bytes, { maxOutputLength: MOST_BYTES }).toString('utf8');
}

/** Null: it is nowhere. */
export function dataPath(name: string, folder: string | null): string | null {
  const folders = folder === null ? [DATA_FOLDER] : [DATA_FOLDER, folder];
  const paths = folders.flatMap((one) => [join(one, `${name}.br`), join(one, name)]);
  return paths.find((path) => existsSync(path)) ?? null;
}

/** Of a file of any size. Throws what reading throws. */
export async function dataFile(path: string, name: string): Promise<DataFile> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return { name, sha256: hash.digest('hex') };
}
