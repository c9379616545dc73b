/** Runs programs in the real sandbox for tests. */
import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { TestContext } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { lentSelfTest } from '@cordon/testkit/lent-results.ts';
import { type ConfinedProcess, type Exit, openSandbox, type SandboxSpec } from '../src/index.ts';

export { script, spec } from './specs.ts';

/** Of the self-test. */
export const CACHE_FILE = lentSelfTest();
/** What a data folder is to the hub. */
export const SCRATCH = dirname(CACHE_FILE);

export const sandbox = openSandbox({ node: process.execPath, cacheFile: CACHE_FILE });

export interface Outcome {
  readonly out: string;
  readonly err: string;
  readonly exit: Exit;
}

export async function start(
  wanted: SandboxSpec,
  signal = new AbortController().signal,
): Promise<ConfinedProcess> {
  const started = await sandbox.spawn(wanted, signal);
  if (!started.ok) throw new Error(started.fault.message);
  return started.value;
}

export async function run(wanted: SandboxSpec): Promise<Outcome> {
  const process = await start(wanted);
  const [out, err, exit] = await Promise.all([
    textOf(process.stdout),
    textOf(process.stderr),
    process.exited,
  ]);
  return { out, err, exit };
}

/** All that it writes, without the white space around it. */
export async function textOf(stream: ConfinedProcess['stdout']): Promise<string> {
  let text = '';
  for await (const chunk of stream ?? []) text += chunk;
  return text.trim();
}

/** What the code printed; fails with its complaints if it did not end well. */
export async function printed(wanted: SandboxSpec): Promise<string> {
  const { out, err, exit } = await run(wanted);
  if (exit.code !== 0) throw new Error(`${exit.message}: ${err}`);
  return out;
}

/** A folder that everybody may read, gone after the test. */
export function folder(context: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 'cordon-test-'));
  chmodSync(path, 0o755);
  // Processes that were just ended may still write there.
  context.after(() => rmSync(path, { recursive: true, force: true, maxRetries: 10 }));
  return path;
}

/** Waits for what must come about; fails the test after a minute, which no machine needs. */
export async function until(isSo: () => boolean): Promise<void> {
  for (let round = 0; round < 1_200 && !isSo(); round++) await wait(50);
  assert.equal(isSo(), true);
}

/** An expression of code that is the error's code, or `done`. */
export function attempt(code: string): string {
  return `(() => { try { ${code}; return 'done' } catch (error) { return error.code ?? String(error) } })()`;
}
