/**
 * SPIN and the C compiler: a model becomes a program in a temporary folder, which searches, accepts a trace, or is not
 * needed because SPIN itself walks. Whatever they print that is not understood is a failure, never a pass.
 */
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { decodeWalk, encodeTrace, MODEL_FOLDER, type Step } from './label.ts';

export type SearchKind = 'safety' | 'liveness';

export type SearchResult =
  /** Every reachable state within the bounds was visited, and nothing was found. */
  | { readonly kind: 'holds'; readonly states: number; readonly depth: number }
  | {
      readonly kind: 'fails';
      readonly how: 'assertion' | 'deadlock' | 'cycle';
      /** The name that stands beside the assertion that failed, or of the formula. */
      readonly property: string;
      readonly states: number;
    }
  /** No verdict: the search was cut short, or something was printed that is not known. */
  | { readonly kind: 'unfinished'; readonly reason: string };

export interface SearchOptions {
  readonly kind: SearchKind;
  /** `-D` flags of the model. */
  readonly defines: readonly string[];
  /** Optimised code searches four times as fast and takes half a second more to compile. */
  readonly isLong: boolean;
}

/** What is missing on this machine and how to get it; null: nothing. */
export function missingTools(): string | null {
  const missing = [
    ...(isThere('spin', '-V') ? [] : ['spin']),
    ...(isThere('gcc', '--version') ? [] : ['gcc']),
  ];
  if (missing.length === 0) return null;
  return `${missing.join(' and ')} ${missing.length === 1 ? 'is' : 'are'} missing; on Debian and Ubuntu: sudo apt-get install -y spin gcc libc6-dev (elsewhere: https://spinroot.com)`;
}

function isThere(program: string, flag: string): boolean {
  return spawnSync(program, [flag], { stdio: 'ignore' }).error === undefined;
}

const MOST_DEPTH = 200_000;

/** Searches every reachable state of a model. */
export async function search(model: string, options: SearchOptions): Promise<SearchResult> {
  const folder = mkdtempSync(join(tmpdir(), 'cordon-formal-'));
  try {
    const isLive = options.kind === 'liveness';
    const defines = [...options.defines, ...(isLive ? ['LIVENESS'] : [])].map((define) => `-D${define}`);
    const flags = isLive ? ['-DNFAIR=4'] : ['-DSAFETY'];
    const built = await build(folder, model, defines, [...flags, options.isLong ? '-O2' : '-O0']);
    if (built !== null) return { kind: 'unfinished', reason: built };
    const found = await run(folder, './pan', [`-m${MOST_DEPTH}`, ...(isLive ? ['-a', '-f'] : [])]);
    const result = readSearch(found.output, found.code);
    return result.kind === 'fails'
      ? { ...result, property: await nameFailure(folder, model, defines, result.how) }
      : result;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function readSearch(output: string, code: number | null): SearchResult {
  const states = Number(/^ *(\d+) states, stored/m.exec(output)?.[1] ?? Number.NaN);
  const errors = Number(/errors: (\d+)/.exec(output)?.[1] ?? Number.NaN);
  const problem = /^pan:\d+: (.*)/m.exec(output)?.[1] ?? '';
  if (errors > 0) {
    const how = problem.startsWith('assertion violated')
      ? 'assertion'
      : problem.startsWith('invalid end state')
        ? 'deadlock'
        : problem.startsWith('acceptance cycle')
          ? 'cycle'
          : null;
    if (how === null) return { kind: 'unfinished', reason: problem };
    return { kind: 'fails', how, property: '', states };
  }
  const isWhole =
    code === 0 &&
    errors === 0 &&
    states > 0 &&
    output.includes('Full statespace search for') &&
    !/Search not completed|max search depth too small|out of memory|error:/i.test(
      output.replace(/errors: 0/g, ''),
    );
  if (!isWhole)
    return { kind: 'unfinished', reason: output.slice(0, 400).trim() || `pan ended with ${code}` };
  return { kind: 'holds', states, depth: Number(/depth reached (\d+)/.exec(output)?.[1] ?? 0) };
}

/** SPIN replays the counterexample and says in which line it ends; the assertions have their names beside them. */
async function nameFailure(
  folder: string,
  model: string,
  defines: readonly string[],
  how: 'assertion' | 'deadlock' | 'cycle',
): Promise<string> {
  if (how === 'deadlock') return 'no deadlock';
  const path = join(MODEL_FOLDER, `${model}.pml`);
  if (how === 'cycle')
    return /^ltl (\w+)/m.exec(readFileSync(path, 'utf8'))?.[1] ?? 'a formula without a name';
  const { output } = await run(folder, 'spin', [...defines, '-k', `${model}.pml.trail`, '-T', path]);
  const line = Number(/:(\d+), Error: assertion violated/.exec(output)?.[1] ?? 0);
  const text = readFileSync(path, 'utf8').split('\n')[line - 1] ?? '';
  return /\/\* (.+?) \*\//.exec(text)?.[1] ?? `line ${line}`;
}

/** A model that was compiled to accept traces; `close` removes it. */
export interface Acceptor {
  /** Whether the model can make exactly these steps, in this order, with steps between them that no journal records. */
  accept(trace: readonly Step[]): Promise<Acceptance>;
  close(): void;
}

export type Acceptance =
  | { readonly accepted: true }
  /** `step`: how many steps the model could make before it could not make the next. */
  | { readonly accepted: false; readonly step: number; readonly reason: string };

export async function acceptorOf(model: string): Promise<Acceptor> {
  const folder = mkdtempSync(join(tmpdir(), 'cordon-formal-'));
  const close = () => rmSync(folder, { recursive: true, force: true });
  const problem = await build(folder, model, ['-DACCEPT'], ['-DSAFETY', '-DVECTORSZ=8192', '-O1']);
  if (problem !== null) {
    close();
    throw new Error(problem);
  }
  return {
    accept: async (trace) => {
      const { output } = await run(folder, './pan', ['-m60000', '-w18', '-E', '-n'], encodeTrace(trace));
      const violated = /^pan:\d+: (.*)/m.exec(output)?.[1];
      const reached = Number(/furthest (\d+) of/.exec(output)?.[1] ?? Number.NaN);
      if (violated?.includes('due_label!=')) return { accepted: true };
      if (violated !== undefined) return { accepted: false, step: reached, reason: violated };
      if (!/errors: 0/.test(output)) throw new Error(`the model did not run: ${output.slice(0, 400)}`);
      return { accepted: false, step: reached, reason: 'the model has no such step here' };
    },
    close,
  };
}

/** A random walk through a model, the same for the same seed; `most`: of all steps, also those without a label. */
export async function walk(
  model: string,
  seed: number,
  defines: readonly string[] = [],
  most = 10_000,
): Promise<readonly Step[]> {
  const flags = ['SIM', ...defines].map((define) => `-D${define}`);
  const path = join(MODEL_FOLDER, `${model}.pml`);
  const { output } = await run(tmpdir(), 'spin', [...flags, `-n${seed}`, `-u${most}`, '-T', path]);
  return decodeWalk(output);
}

/** Null: built; else what the tools said. */
async function build(
  folder: string,
  model: string,
  defines: readonly string[],
  flags: readonly string[],
): Promise<string | null> {
  const spun = await run(folder, 'spin', [...defines, '-a', join(MODEL_FOLDER, `${model}.pml`)]);
  if (spun.code !== 0) return spun.output;
  const compiled = await run(folder, 'gcc', ['-w', ...flags, '-o', 'pan', 'pan.c']);
  return compiled.code === 0 ? null : compiled.output;
}

function run(
  folder: string,
  program: string,
  args: readonly string[],
  input = '',
): Promise<{ readonly code: number | null; readonly output: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd: folder, stdio: ['pipe', 'pipe', 'pipe'] });
    const chunks: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => chunks.push(chunk));
    child.stdin.on('error', () => undefined);
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, output: Buffer.concat(chunks).toString('utf8') }));
    child.stdin.end(input);
  });
}
