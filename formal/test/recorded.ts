/** Journals of what the hub really did: its tests are run once more, and each session that they had is kept. */
import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { KeptJournal } from '@cordon/testkit/kept-journal.ts';

const ROOT = join(import.meta.dirname, '..', '..');

/**
 * Every way through the gate and an exchange; the last one plays generated sessions, prints its seed, and kills the hub, apps
 * and agent loops in the middle.
 */
const TESTS = [
  'mediation/detector-queries',
  'mediation/gate',
  'exchange/exchange',
  'exchange/exchange-chain',
  'consent/permission',
  'consent/open-questions',
  'consent/revision',
  'query/answer-stream',
  'query/data-requests',
  'query/data-requests-resume',
  'journal/faults.property',
];

/** One for each session, in no order that means anything. */
export async function recordedJournals(): Promise<readonly KeptJournal[]> {
  const folder = mkdtempSync(join(tmpdir(), 'cordon-journals-'));
  try {
    const files = TESTS.map((name) => join('packages', 'hub', 'test', `${name}.test.ts`));
    // Whether they pass is told where they are run for their own sake; here it counts what they left behind.
    await run(['--test', '--test-isolation=none', ...files], folder);
    // The file holds what the test wrote there a moment ago.
    return readdirSync(folder).map(
      (name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as KeptJournal,
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function run(args: readonly string[], folder: string): Promise<void> {
  return new Promise((resolve) => {
    // A test runner that finds itself below another says nothing of its own.
    const { NODE_TEST_CONTEXT: _, ...env } = process.env;
    const child = spawn(process.execPath, args, {
      cwd: ROOT,
      env: { ...env, CORDON_TEST_JOURNALS: folder },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    child.on('close', () => resolve());
  });
}
