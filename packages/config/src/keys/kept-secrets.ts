/**
 * Secrets that the user typed once for a configuration: `${secret:NAME}` in the file stands for them. Each is a file of its
 * own in the user's data folder, which no app may read.
 *
 * Attack: the `cordon.json` of a stranger names a secret of another project. A secret belongs to the folder of the
 * configuration for which it was typed, and no other one finds it.
 */
import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { failed, NAME_PATTERN, ok, type Result } from '@cordon/core';
import { realPath } from '../reading/paths.ts';

export interface SecretPlace {
  /** The user's own, whatever a file says. */
  readonly ownDataFolder: string;
  /** Of the configuration. */
  readonly folder: string;
}

/** Null: none is kept under this name. */
export function keptSecret(place: SecretPlace, name: string): string | null {
  const file = fileOf(place, name);
  if (file === null) return null;
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null;
  }
}

/** Keeps it for the user alone, and replaces an older one. Never throws. */
export function keepSecret(place: SecretPlace, name: string, value: string): Result<null, string> {
  const file = fileOf(place, name);
  if (file === null) return failed(`\`${name}\` is no name of a secret`);
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    chmodSync(dirname(file), 0o700);
    // No secret has a name that begins with a dot.
    const draft = join(dirname(file), `.${name}.new`);
    writeFileSync(draft, value, { mode: 0o600, flush: true });
    renameSync(draft, file);
    return ok(null);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : 'it failed';
    return failed(`the secret could not be kept in ${dirname(file)}: ${code}`);
  }
}

/** The names of all that are kept for this folder. */
export function keptSecretNames(place: SecretPlace): readonly string[] {
  try {
    return readdirSync(folderOf(place)).filter((name) => NAME_PATTERN.test(name));
  } catch {
    return [];
  }
}

/** Deletes it, if it is there. */
export function forgetSecret(place: SecretPlace, name: string): void {
  const file = fileOf(place, name);
  if (file !== null) rmSync(file, { force: true });
}

function fileOf(place: SecretPlace, name: string): string | null {
  return NAME_PATTERN.test(name) ? join(folderOf(place), name) : null;
}

function folderOf({ ownDataFolder, folder }: SecretPlace): string {
  const owner = createHash('sha256').update(realPath(folder)).digest('hex');
  return join(ownDataFolder, 'secrets', owner);
}
