/**
 * Replaces a text that a person wrote by another one, at once: a reader of the file, also after a crash, sees the old
 * text or the new one and never a part.
 */
import { randomUUID } from 'node:crypto';
import {
  accessSync,
  closeSync,
  constants,
  fchmodSync,
  openSync,
  realpathSync,
  renameSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { type Diagnostic, failed, ok, type Result } from '@cordon/core';

/**
 * Writes `text` into a new file beside the one that `file` leads to, links followed, and renames it. The mode of the
 * file stays. Refused where the file or its folder may not be written. Never throws.
 */
export function replaceTextFile(file: string, text: string): Result<null, Diagnostic> {
  let temporary: string | null = null;
  try {
    const target = realpathSync(file);
    // A rename would also replace a file that is protected from writing.
    accessSync(target, constants.W_OK);
    const { mode } = statSync(target);
    // Beside the target: a rename is atomic only within one file system. The name is new, so that nobody can have put
    // a link there.
    const name = join(dirname(target), `.cordon-${randomUUID()}`);
    const descriptor = openSync(name, 'wx', 0o600);
    temporary = name;
    try {
      writeFileSync(descriptor, text, { flush: true });
      fchmodSync(descriptor, mode & 0o7777);
    } finally {
      closeSync(descriptor);
    }
    renameSync(name, target);
    return ok(null);
  } catch (error) {
    if (temporary !== null) remove(temporary);
    return failed(unwritable(file, error));
  }
}

/** Writes a file that is not there yet. One that appeared meanwhile stays as it is. Never throws. */
export function writeNewFile(file: string, text: string): Result<null, Diagnostic> {
  try {
    writeFileSync(file, text, { flag: 'wx', flush: true });
    return ok(null);
  } catch (error) {
    return failed(unwritable(file, error));
  }
}

function remove(file: string): void {
  try {
    unlinkSync(file);
  } catch {
    // What made the writing fail may forbid this as well; the report is about that.
  }
}

function unwritable(file: string, error: unknown): Diagnostic {
  const code = error instanceof Error && 'code' in error ? error.code : '';
  const isForbidden = code === 'EACCES' || code === 'EPERM' || code === 'EROFS';
  const reason = isForbidden
    ? 'you may not write it'
    : code === 'ENOSPC'
      ? 'the disk is full'
      : 'writing it failed';
  const message = `the file was left as it is: ${reason}`;
  return { code: 'CFG001', severity: 'error', file, message, help: 'its folder must be writable, too' };
}
