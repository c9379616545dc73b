/**
 * The self-test of the sandbox and the compilation of Cordon's own programs take most of the time of a short query in a new home, so
 * homes lend each other both results. Cordon checks that they are of this machine, these programs and these sources, and
 * makes them again where they are not.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';

const SHARED = resolve(import.meta.dirname, '../node_modules/.cache/cordon-e2e/lent');
const RESULTS = ['sandbox.json', 'compiled'] as const;

/** Puts the last results into a data folder that has none. */
export function lendResults(data: string): void {
  mkdirSync(data, { recursive: true, mode: 0o700 });
  for (const name of RESULTS) {
    const [from, to] = [join(SHARED, name), join(data, name)];
    if (existsSync(from) && !existsSync(to)) copy(from, to);
  }
}

/** Keeps the results that a run left in its data folder. */
export function keepResults(data: string): void {
  mkdirSync(SHARED, { recursive: true, mode: 0o700 });
  for (const name of RESULTS) {
    const [from, to] = [join(data, name), join(SHARED, name)];
    const result = contentOf(from);
    if (result === '' || result.includes('draft-') || result === contentOf(to)) continue;
    const fresh = `${to}.${process.pid}`;
    copy(from, fresh);
    replace(to, fresh);
  }
}

/** Other test files may read it at this moment, or replace it. */
function replace(result: string, fresh: string): void {
  rmSync(result, { recursive: true, force: true });
  try {
    renameSync(fresh, result);
  } catch {
    rmSync(fresh, { recursive: true, force: true });
  }
}

/** What tells a result from an older one; nothing where there is none. */
function contentOf(path: string): string {
  if (!existsSync(path)) return '';
  return statSync(path).isDirectory()
    ? readdirSync(path, { recursive: true }).sort().join()
    : readFileSync(path, 'utf8');
}

/** With its owner, who for compiled code is the user of apps. */
function copy(from: string, to: string): void {
  spawnSync('cp', ['--archive', from, to], { stdio: 'inherit' });
}
