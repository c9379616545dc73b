/**
 * Runs inside a sandbox that many attempts share: makes one after the other and tells how each ended, as a line of
 * JSON. What it is given comes by standard input, so that no command line holds it. Programs in JavaScript run in
 * threads, which start in a fifth of the time of a process.
 *
 * Imports Node only.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync, writeSync } from 'node:fs';
import { Worker } from 'node:worker_threads';

type Task =
  | { readonly id: string; readonly kind: 'command'; readonly command: readonly string[] }
  /** Posts its words to its parent. */
  | { readonly id: string; readonly kind: 'script'; readonly code: string };

interface Ended {
  readonly code: number | null;
  readonly signal: string | null;
  readonly out: string;
  readonly error: string;
}

/** It stands against what hangs, not against a slow machine. */
const DEADLINE_MS = 30_000;

function runCommand([program = '', ...args]: readonly string[]): Ended {
  const { status, signal, stdout, stderr, error } = spawnSync(program, args, {
    timeout: DEADLINE_MS,
    killSignal: 'SIGKILL',
    encoding: 'utf8',
    maxBuffer: 1 << 20,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const failure = error === undefined ? '' : String(error);
  return { code: status, signal, out: stdout, error: `${failure}${stderr}`.slice(0, 2_000) };
}

function runScript(code: string): Promise<Ended> {
  return new Promise((resolve) => {
    const worker = new Worker(code, { eval: true });
    let isOver = false;
    const end = (out: string, error: string) => {
      if (isOver) return;
      isOver = true;
      clearTimeout(timer);
      // Waited for: two threads at once would need the memory of two.
      void worker.terminate().then(() => resolve({ code: 0, signal: null, out, error }));
    };
    const timer = setTimeout(() => end('', 'it did not end'), DEADLINE_MS);
    worker.once('message', (word) => end(`${word}\n`, ''));
    worker.once('error', (error) => end('', String(error)));
    worker.once('exit', () => end('', 'it said nothing'));
  });
}

const tasks: readonly Task[] = JSON.parse(readFileSync(0, 'utf8'));
for (const task of tasks) {
  const ended = task.kind === 'command' ? runCommand(task.command) : await runScript(task.code);
  writeSync(1, `${JSON.stringify({ id: task.id, ...ended })}\n`);
}
