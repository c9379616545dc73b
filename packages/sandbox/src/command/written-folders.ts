/**
 * The host paths that any app of this user was ever granted for writing, by any configuration or `cordon run`. Attack: an
 * app plants a link in a folder that it may write, and a later start, which knows nothing of that grant, lets another
 * app read what the link leads to. One path a line, as JSON; lines are only ever added.
 *
 * Uses the file system.
 */
import { closeSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { type Fault, failed, fault, ok, parseJson, type Result } from '@cordon/core';
import { errorCode } from '../kernel/error-code.ts';
import { makeFolder } from './make-folder.ts';

/** All paths of the record; none where none is kept, or there is none yet. What cannot be read or understood is a fault. */
export function readWrittenFolders(record: string | undefined): Result<readonly string[], Fault> {
  if (record === undefined) return ok([]);
  let text: string;
  try {
    text = readFileSync(record, 'utf8');
  } catch (error) {
    return errorCode(error) === 'ENOENT' ? ok([]) : unusable(record, `cannot be read (${errorCode(error)})`);
  }
  const paths: string[] = [];
  for (const [index, line] of text.split('\n').entries()) {
    const path = line === '' ? ok(null) : parseJson(line);
    if (!path.ok || (path.value !== null && typeof path.value !== 'string'))
      return unusable(record, `holds no path in line ${index + 1}`);
    if (path.value !== null) paths.push(path.value);
  }
  return ok(paths);
}

/** Adds those that are missing; they are on the disk when this returns, so before an app can write there. */
export function rememberWrittenFolders(
  record: string | undefined,
  paths: readonly string[],
): Result<null, Fault> {
  if (record === undefined || paths.length === 0) return ok(null);
  const known = readWrittenFolders(record);
  if (!known.ok) return known;
  const missing = [...new Set(paths)].filter((path) => !known.value.includes(path));
  if (missing.length === 0) return ok(null);
  try {
    makeFolder(dirname(record));
    const file = openSync(record, 'a', 0o600);
    try {
      writeSync(file, missing.map((path) => `${JSON.stringify(path)}\n`).join(''));
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    return ok(null);
  } catch (error) {
    return unusable(record, `cannot be written (${errorCode(error)})`);
  }
}

function unusable(record: string, why: string) {
  return failed(
    fault(
      'sandbox-unavailable',
      `the list of folders that apps were granted for writing, \`${record}\`, ${why}`,
      'repair it: without it, a link that an app planted in such a folder is not told from yours',
    ),
  );
}
