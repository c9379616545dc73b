/**
 * The self-test of the sandbox and the compilation of Cordon's own programs take most of the time of a short query in a new home, so
 * homes lend each other both results. Cordon checks that they are of this machine, these programs and these sources, and
 * makes them again where they are not.
 */
import { spawnSync } from 'node:child_process';
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const SHARED = resolve(import.meta.dirname, '../node_modules/.cache/cordon-e2e/lent');
const RESULTS = ['sandbox.json', 'compiled'] as const;

/** For sandboxes of this process: the file of a self-test, with the result of the last one, in a folder that is gone with the process. */
export function lentSelfTest(): string {
  const folder = mkdtempSync(join(tmpdir(), 'cordon-lent-'));
  const isShared = mayWrite(import.meta.dirname);
  if (isShared) lendResults(folder, ['sandbox.json']);
  process.once('exit', () => {
    if (isShared) keepResults(folder);
    rmSync(folder, { recursive: true, force: true });
  });
  return join(folder, 'sandbox.json');
}

/** Some tests run as another user, who has results of their own. */
function mayWrite(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** Puts the last results into a data folder that has none. */
export function lendResults(data: string, names: readonly string[] = RESULTS): void {
  mkdirSync(data, { recursive: true, mode: 0o700 });
  for (const name of names) {
    const [from, to] = [join(SHARED, name), join(data, name)];
    if (existsSync(from) && !existsSync(to)) copy(from, to);
  }
}

/** Keeps the results that a run left in its data folder. */
export function keepResults(data: string): void {
  mkdirSync(join(SHARED, 'compiled'), { recursive: true, mode: 0o700 });
  for (const name of resultsIn(data)) {
    const [from, to] = [join(data, name), join(SHARED, name)];
    const result = contentOf(from);
    if (result === '' || result.includes('draft-') || result === contentOf(to)) continue;
    const fresh = `${to}.${process.pid}`;
    copy(from, fresh);
    replace(to, fresh);
  }
}

/** Of compiled code each program by itself: a run that has compiled one of them must not take away what others have. */
function resultsIn(data: string): readonly string[] {
  const compiled = join(data, 'compiled');
  const programs = existsSync(compiled) ? readdirSync(compiled) : [];
  return ['sandbox.json', ...programs.map((program) => `compiled/${program}`)];
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

/** What tells a result from an older one; nothing where there is none, or where another test file replaces it at this moment. */
function contentOf(path: string): string {
  try {
    return statSync(path).isDirectory()
      ? readdirSync(path, { recursive: true }).sort().join()
      : readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

/** With its owner, who for compiled code is the user of apps. */
function copy(from: string, to: string): void {
  spawnSync('cp', ['--archive', from, to], { stdio: 'inherit' });
}
