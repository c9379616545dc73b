/**
 * When the hub runs as root, confined processes run as another user, and an app's private folder has to belong
 * to that user. The walk goes from descriptor to descriptor and never through a path: an instance of the app
 * may be running and may swap a folder for a symbolic link at any moment.
 */
import {
  closeSync,
  constants,
  fchownSync,
  fstatSync,
  lchownSync,
  lstatSync,
  openSync,
  readdirSync,
  readlinkSync,
} from 'node:fs';
import { type Fault, failed, fault, ok, type Result } from '@cordon/core';
import { errorCode } from '../kernel/error-code.ts';
import { DEEPEST } from './own-folder.ts';

/** Beyond these an app's folder is not handed over: a limit on the hub's work, not on the app's files. */
const MOST_ENTRIES = 100_000;

class Refusal extends Error {}

/** Gives an open folder (O_PATH descriptor) and all in it to `uid`, owner and group. Links are not followed. */
export function handOver(descriptor: number, uid: number): Result<null, Fault> {
  const left = { entries: MOST_ENTRIES };
  try {
    const folder = openSync(`/proc/self/fd/${descriptor}`, constants.O_RDONLY | constants.O_DIRECTORY);
    try {
      handOverFolder(folder, uid, left, 0);
    } finally {
      closeSync(folder);
    }
    return ok(null);
  } catch (error) {
    const why = error instanceof Refusal ? error.message : errorCode(error);
    return failed(
      fault(
        'sandbox-unavailable',
        `the app's folder could not be handed to user ${uid}: ${why}`,
        `tidy up \`${readlinkSync(`/proc/self/fd/${descriptor}`)}\`, or run Cordon as an ordinary user`,
      ),
    );
  }
}

function handOverFolder(folder: number, uid: number, left: { entries: number }, depth: number): void {
  if (depth > DEEPEST) throw new Refusal(`it holds folders nested more than ${DEEPEST} deep`);
  if (fstatSync(folder).uid !== uid) fchownSync(folder, uid, uid);
  // Byte by byte. Attack: a name that is no UTF-8, once decoded, leads nowhere, and the app never starts again.
  for (const name of readdirSync(`/proc/self/fd/${folder}`, { encoding: 'latin1' })) {
    if (--left.entries < 0) throw new Refusal(`it has more than ${MOST_ENTRIES} entries`);
    handOverEntry(Buffer.from(`/proc/self/fd/${folder}/${name}`, 'latin1'), uid, left, depth);
  }
}

function handOverEntry(path: Buffer, uid: number, left: { entries: number }, depth: number): void {
  const stats = lstatSync(path);
  if (!stats.isDirectory()) {
    if (stats.uid !== uid) lchownSync(path, uid, uid);
    return;
  }
  const inner = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  try {
    handOverFolder(inner, uid, left, depth + 1);
  } finally {
    closeSync(inner);
  }
}
