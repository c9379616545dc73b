/**
 * Which entries of `installable` were installed: one empty file for each, named by the digest of the folder of the
 * configuration, the app's name and its entry. An entry that has changed is another app, and is not installed.
 *
 * The files are in the user's own data folder, whatever the configuration says: a configuration of someone else cannot
 * bring them along.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import {
  type AppId,
  canonicalJson,
  type Fault,
  failed,
  fault,
  type Json,
  ok,
  type Result,
} from '@cordon/core';
import { realPath } from '../reading/paths.ts';

/** Where an entry stands, and what it says. */
export interface MarkedEntry {
  readonly ownDataFolder: string;
  /** The folder of the configuration. */
  readonly folder: string;
  readonly app: AppId;
  /** The entry as it stands there, without values of secrets. */
  readonly configured: Json;
}

export function isMarked(entry: MarkedEntry): boolean {
  return existsSync(markOf(entry));
}

/** From now on the entry counts as an installed app. */
export function mark(entry: MarkedEntry): Result<void, Fault> {
  const file = markOf(entry);
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(file, '', { mode: 0o600, flush: true });
    return ok(undefined);
  } catch (error) {
    const why = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    return failed(fault('app-unavailable', `that \`${entry.app}\` is installed could not be kept (${why})`));
  }
}

/** The entry counts as not installed. It need not have been. */
export function unmark(entry: MarkedEntry): void {
  rmSync(markOf(entry), { force: true });
}

function markOf({ ownDataFolder, folder, app, configured }: MarkedEntry): string {
  const text = canonicalJson([realPath(folder), app, configured]);
  return join(ownDataFolder, 'installed', createHash('sha256').update(text).digest('hex'));
}
