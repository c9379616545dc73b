/**
 * The escape suite: every attempt in Cordon's sandbox, as this user on this machine. Starts a process that plays the
 * hub, with a key in its environment, a bait in its command line, a file that it inherited and a terminal.
 */
import { spawn } from 'node:child_process';
import { closeSync, existsSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { arch, tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { LayerName } from '@cordon/sandbox';
import { type Attempt, BAIT, BAIT_VARIABLE } from './attempt.ts';
import { ATTEMPTS } from './attempts.ts';
import type { HubMessage, Job } from './hub.ts';
import { isExpected, type Outcome } from './program.ts';

export type { Attempt } from './attempt.ts';
export { ATTEMPTS } from './attempts.ts';
export type { Outcome } from './program.ts';

/** What came of one attempt. */
export interface Result {
  readonly attempt: Attempt;
  readonly outcome: Outcome;
  readonly twin: Outcome;
  /** `stopped`: as it should, and its twin works. `known`: it gets through, and the attempt says why that is borne. */
  readonly verdict: 'stopped' | 'known' | 'through' | 'unclear' | 'not-run';
}

/** Those that this machine's architecture knows. */
export function attemptsHere(): readonly Attempt[] {
  return ATTEMPTS.filter(({ architecture }) => architecture === undefined || architecture === arch());
}

/** Runs all of them, with their twins, without the layers of `weaker`. `onResult` hears of each as soon as both are over. */
export async function runSuite(
  attempts: readonly Attempt[],
  onResult: (result: Result) => void = () => undefined,
  weaker: readonly LayerName[] = [],
): Promise<readonly Result[]> {
  const results: Result[] = [];
  const halves = new Map<string, { outcome?: Outcome; twin?: Outcome }>();
  await runJobs([{ in: 'Cordon', weaker, ids: attempts.map(({ id }) => id), twins: true }], (ended) => {
    const half = halves.get(ended.id) ?? {};
    halves.set(ended.id, half);
    if (ended.isTwin) half.twin = ended.outcome;
    else half.outcome = ended.outcome;
    const attempt = attempts.find(({ id }) => id === ended.id);
    if (attempt === undefined || half.outcome === undefined || half.twin === undefined) return;
    const result = {
      attempt,
      outcome: half.outcome,
      twin: half.twin,
      verdict: verdictOf(attempt, half.outcome, half.twin),
    };
    results.push(result);
    onResult(result);
  });
  return attempts.map((attempt) => results.find((one) => one.attempt === attempt) ?? lost(attempt));
}

function lost(attempt: Attempt): Result {
  const outcome: Outcome = { kind: 'unclear', why: 'nothing was heard of it' };
  return { attempt, outcome, twin: outcome, verdict: 'unclear' };
}

function verdictOf(attempt: Attempt, outcome: Outcome, twin: Outcome): Result['verdict'] {
  if (outcome.kind === 'not-run') return 'not-run';
  if (outcome.kind === 'through') return attempt.known === undefined ? 'through' : 'known';
  return isExpected(attempt, outcome) && twin.kind === 'through' ? 'stopped' : 'unclear';
}

export interface Ended {
  /** Index of the job. */
  readonly job: number;
  readonly id: string;
  readonly isTwin: boolean;
  readonly outcome: Outcome;
}

const SCRIPT = '/usr/bin/script';
const NO_TERMINAL: Outcome = { kind: 'not-run', why: `there is no ${SCRIPT}, so the hub has no terminal` };
/** Where the hub writes, before the file that it inherits: numbers that the sandbox's set-up does not use. */
const REPORT = 40;

/** Runs jobs one after the other in one hub. Rejects when that hub fails as such. */
export async function runJobs(jobs: readonly Job[], onEnded: (ended: Ended) => void): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'cordon-attack-'));
  try {
    const inherited = join(folder, 'inherited');
    writeFileSync(inherited, BAIT);
    // In a file: a command line holds no more than 128 KiB in one word.
    const task = join(folder, 'jobs.json');
    writeFileSync(task, JSON.stringify(jobs));
    await runHub([task, inherited], ({ job, id, isTwin, outcome }) => {
      const needsTerminal = ATTEMPTS.some((attempt) => attempt.id === id && attempt.terminal === true);
      onEnded({ job, id, isTwin, outcome: needsTerminal && !existsSync(SCRIPT) ? NO_TERMINAL : outcome });
    });
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  }
}

async function runHub(
  [task = '', inherited = '']: readonly string[],
  onEnded: (ended: Ended) => void,
): Promise<void> {
  const hub = join(import.meta.dirname, 'hub.ts');
  const shell = `exec '${process.execPath}' --no-warnings '${hub}' '${task}' ${BAIT}`;
  const command = existsSync(SCRIPT) ? [SCRIPT, '-qec', shell, '/dev/null'] : ['/bin/sh', '-c', shell];
  const between = Array.from({ length: REPORT - 3 }, () => 'ignore' as const);
  const open = openSync(inherited, 'r');
  const child = spawn(command[0] ?? '', command.slice(1), {
    env: { ...process.env, [BAIT_VARIABLE]: BAIT },
    stdio: ['ignore', 'pipe', 'pipe', ...between, 'pipe', open],
  });
  closeSync(open);
  let complaints = '';
  const complain = (chunk: Buffer) => {
    if (complaints.length < 4_000) complaints += chunk.toString('utf8');
  };
  child.stdout?.on('data', complain);
  child.stderr?.on('data', complain);
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  const streams: readonly unknown[] = child.stdio;
  const reports = streams[REPORT];
  if (reports instanceof Readable) await readReports(reports, onEnded);
  const code = await ended;
  if (code !== 0) throw new Error(`the suite broke off with exit code ${code}: ${complaints.trim()}`);
}

async function readReports(stream: Readable, onEnded: (ended: Ended) => void): Promise<void> {
  let rest = '';
  for await (const chunk of stream) {
    const lines = `${rest}${chunk}`.split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const message: HubMessage = JSON.parse(line);
      if (message.kind === 'outcome') onEnded(message);
    }
  }
}
