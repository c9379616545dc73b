/**
 * What `cordon apps install` has put into the data folder, found again when an app starts: exactly what was recorded,
 * or nothing. Every file is compared with the record, so it does not matter who wrote the folder.
 */
import { hash } from 'node:crypto';
import { closeSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Fault, failed, fault, isJsonObject, ok, parseJson, type Result } from '@cordon/core';
import { errorCode } from '../kernel/error-code.ts';
import { type CheckedPath, checkPath } from '../spec/checked-path.ts';
import { type PackageCall, requestOf } from './package-launcher.ts';
import { digestTreeInPieces } from './tree-digest.ts';

/** Where an installed package stands inside; it does not say where the data folder is. */
export const PACKAGE_INSIDE = '/opt/package';

/** Where records and packages are kept; only the hub writes there. */
export function packagesFolder(dataFolder: string): string {
  return join(dataFolder, 'packages');
}

/** The record of a request. Its name tells nothing of the request, which may hold any character. */
export function recordFile(dataFolder: string, request: string): string {
  return join(packagesFolder(dataFolder), 'records', `${hash('sha256', request)}.json`);
}

/** The folder of an installed tree; its name is its digest. */
export function treeFolder(dataFolder: string, digest: string): string {
  return join(packagesFolder(dataFolder), digest);
}

function refused(message: string) {
  return failed(fault('app-unavailable', message, 'run `cordon apps install --again` for this app'));
}

/**
 * The folder for this call, every file of it as it was recorded; null: nothing was installed for it. What reads the files takes
 * turns with whatever else there is to do. Nobody but the hub writes there: who could change a file behind this look
 * could do so after it.
 */
export async function findInstalled(
  call: PackageCall,
  dataFolder: string,
): Promise<Result<CheckedPath | null, Fault>> {
  const request = requestOf(call);
  const digest = recordedDigest(recordFile(dataFolder, request), request);
  if (!digest.ok || digest.value === null) return digest.ok ? ok(null) : digest;
  const folder = checkPath(treeFolder(dataFolder, digest.value));
  if (!folder.ok || folder.value.kind !== 'folder' || !folder.value.host.endsWith(`/${digest.value}`))
    return refused(`what was installed for \`${request}\` is gone`);
  const descriptor = folder.value.open();
  if (!descriptor.ok) return descriptor;
  try {
    // Through the descriptor: what is compared is what will be mounted.
    const tree = await digestTreeInPieces(`/proc/self/fd/${descriptor.value}`);
    if (!tree.ok) return refused(tree.fault.message);
    if (tree.value.digest !== digest.value)
      return refused(`what was installed for \`${request}\` has changed since, and is not started`);
    return ok(folder.value);
  } finally {
    closeSync(descriptor.value);
  }
}

/** Null: there is no record. A record that cannot be read, or is of something else, is a refusal. */
function recordedDigest(file: string, request: string): Result<string | null, Fault> {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    return errorCode(error) === 'ENOENT'
      ? ok(null)
      : refused(`the record of \`${request}\` cannot be read (${errorCode(error)})`);
  }
  const record = parseJson(text);
  if (!record.ok || !isJsonObject(record.value)) return refused(`the record of \`${request}\` is damaged`);
  const { format, digest } = record.value;
  if (format !== 1 || record.value.request !== request || typeof digest !== 'string')
    return refused(`the record of \`${request}\` is of something else`);
  return /^[0-9a-f]{64}$/.test(digest) ? ok(digest) : refused(`the record of \`${request}\` is damaged`);
}
