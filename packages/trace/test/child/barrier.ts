/**
 * For child processes of the tests: printing without delay, and waiting for the parent.
 */
import { readSync, writeSync } from 'node:fs';

/** Waits until the parent writes a line; ends the process when the parent is gone. */
export function barrier(): void {
  if (readSync(0, new Uint8Array(1)) === 0) process.exit(1);
}

/** A whole line reaches the pipe before this returns. */
export function print(line: string): void {
  writeSync(1, `${line}\n`);
}
