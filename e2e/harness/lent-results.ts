/**
 * The self-test of the sandbox takes most of the time of a short query, so that homes lend each other its result. Cordon
 * checks that it is of this machine and these programs, and runs the test again where it is not.
 */
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

const SHARED = resolve(import.meta.dirname, '../../node_modules/.cache/cordon-e2e/sandbox.json');

/** Puts the last result into a data folder that has none. */
export function lendSelfTest(data: string): void {
  const file = join(data, 'sandbox.json');
  if (existsSync(SHARED) && !existsSync(file)) write(file, readFileSync(SHARED, 'utf8'));
}

/** Keeps the result that a run left in its data folder. */
export function keepSelfTest(data: string): void {
  const file = join(data, 'sandbox.json');
  if (!existsSync(file)) return;
  const result = readFileSync(file, 'utf8');
  if (existsSync(SHARED) && readFileSync(SHARED, 'utf8') === result) return;
  // Other test files may read it at this moment.
  const fresh = `${SHARED}.${process.pid}`;
  write(fresh, result);
  renameSync(fresh, SHARED);
}

function write(file: string, content: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  writeFileSync(file, content, { mode: 0o600 });
}
