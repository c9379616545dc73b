/**
 * The data folder: made with rights for its owner alone, refused where others could write into it.
 *
 * Uses the file system.
 */
import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  openSync,
  statSync,
} from 'node:fs';
import { dirname, join } from 'node:path';

import { failed, ok, type Result } from '@cordon/core';

import { type StoreFault, storeFault } from './database/fault.ts';

export interface DataFolder {
  readonly path: string;
  /** The database file; SQLite keeps `-wal` and `-shm` beside it, with the same rights. */
  readonly file: string;
  /** One lock file for each process that holds sessions. */
  readonly claims: string;
  /** One file for each live session: how many events of it were acknowledged. */
  readonly acknowledged: string;
}

/** Creates what is missing: folders 0700, the file 0600. Refuses `folder-unavailable`, `folder-exposed`, `read-only`. */
export function prepareFolder(path: string): Result<DataFolder, StoreFault> {
  const folder = {
    path,
    file: join(path, 'cordon.db'),
    claims: join(path, 'claims'),
    acknowledged: join(path, 'acknowledged'),
  };
  try {
    makeFolder(path);
    // Whoever may write here could replace the file and forge the user's consent.
    const { mode, uid } = statSync(path);
    if ((mode & 0o022) !== 0 || isForeign(uid)) return failed(storeFault('folder-exposed', path));
    mkdirSync(folder.claims, { recursive: true, mode: 0o700 });
  } catch (error) {
    return failed(storeFault('folder-unavailable', path, codeOf(error)));
  }
  try {
    createFile(folder.file);
    accessSync(folder.file, constants.R_OK | constants.W_OK);
    if ((statSync(folder.file).mode & 0o077) !== 0) chmodSync(folder.file, 0o600);
    return ok(folder);
  } catch (error) {
    return failed(storeFault(codeOf(error) === 'ENOSPC' ? 'full' : 'read-only', folder.file, codeOf(error)));
  }
}

/**
 * With the folders above it. Not by `recursive` of Node, which tries again for ever where nothing can be made in a folder
 * that is there, as below `/proc`: nobody could stop that, it does not even hear a signal.
 */
function makeFolder(path: string): void {
  if (existsSync(path)) return;
  if (dirname(path) !== path) makeFolder(dirname(path));
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Two that start at the same time make it both.
    if (codeOf(error) !== 'EEXIST') throw error;
  }
}

/**
 * Only by exclusive creation: to open and close a file that this process already uses through SQLite would drop its
 * locks (POSIX), and another process could then delete the write-ahead log under it.
 */
function createFile(file: string): void {
  try {
    closeSync(openSync(file, 'wx', 0o600));
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
  }
}

/** Root may open anybody's folder; systems without user ids have other rights than these. */
function isForeign(owner: number): boolean {
  const self = process.getuid?.();
  return self !== undefined && self !== 0 && owner !== self && owner !== 0;
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'unknown';
}
