/** Reads files that people write: configuration and answers. Ring 1. */
import { readFileSync, statSync } from 'node:fs';
import { type Diagnostic, failed, ok, type Result } from '@cordon/core';
import { CONFIGURATION_LIMITS } from './json-text.ts';

/** The text of a regular file of bounded size; anything else is a diagnostic. Never throws. */
export function readTextFile(file: string): Result<string, Diagnostic> {
  try {
    const status = statSync(file);
    if (!status.isFile()) return failed(unreadable(file, 'it is not a regular file'));
    // A limit on bytes keeps a file of gigabytes out of memory; the parser has the exact limit.
    if (status.size > 4 * CONFIGURATION_LIMITS.length) {
      return failed(tooLarge(file, `the text is longer than ${CONFIGURATION_LIMITS.length} characters`));
    }
    return ok(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(readFileSync(file)));
  } catch (error) {
    return failed(unreadable(file, reasonOf(error)));
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof TypeError) return 'it is not text in UTF-8';
  const code = error instanceof Error && 'code' in error ? error.code : '';
  if (code === 'ENOENT' || code === 'ENOTDIR') return 'there is no such file';
  return code === 'EACCES' ? 'you may not read it' : 'reading it failed';
}

function unreadable(file: string, reason: string): Diagnostic {
  const help = reason.includes('UTF-8') ? 'save it as UTF-8' : 'name a text file that you may read';
  return { code: 'CFG001', severity: 'error', file, message: `the file cannot be used: ${reason}`, help };
}

export function tooLarge(file: string, message: string): Diagnostic {
  const help = 'keep data out of the configuration; name files instead';
  return { code: 'CFG002', severity: 'error', file, message, help };
}
