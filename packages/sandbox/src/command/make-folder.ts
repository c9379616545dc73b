/**
 * Makes a folder and those above it, one by one. Node's `mkdirSync(…, { recursive: true })` never returns where the kernel
 * answers ENOENT for a folder below one that exists, as it does in `/proc`.
 */
import { existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';

/** Readable by its owner alone. Throws the error of the system if it cannot be made. */
export function makeFolder(path: string): void {
  if (existsSync(path)) return;
  if (dirname(path) !== path) makeFolder(dirname(path));
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Another process made it meanwhile.
    if (!existsSync(path)) throw error;
  }
}
