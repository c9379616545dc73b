/** From a program to the command that runs it, and from what that said to how it ended. */
import { constants } from 'node:os';
import type { Argument, Attempt, Call, Program } from './attempt.ts';

/** The programs that run programs, as they are named inside. */
export interface Tools {
  readonly node: string;
  /** The probe's command; null where neither a compiler nor Python is there to have one. */
  readonly probe: readonly string[] | null;
  readonly python: string;
  readonly shell: string;
}

/** How a script says its word: as its own process, and as a thread of the driver. */
const PRELUDE = `const said = null; const say = (word) => { require('node:fs').writeSync(1, word + '\\n'); process.exit(0); };
`;
const THREAD_PRELUDE = `const said = {};
const say = (word) => { require('node:worker_threads').parentPort.postMessage(word); throw said; };
`;
const WORDS = `const through = () => say('through'), refused = (code) => say('refused ' + code);
process.on('uncaughtException', (error) => {
  try { if (error !== said) refused(error.code ?? error.message) } catch {} });
const fs = require('node:fs');
`;

/** A program for the driver of a shared sandbox. Null: it cannot be run here. */
export function taskOf(program: Program, tools: Tools): object | null {
  if (program.kind === 'node') return { kind: 'script', code: `${THREAD_PRELUDE}${WORDS}${program.code}` };
  const command = commandOf(program, tools);
  return command && { kind: 'command', command };
}

/** Null: it cannot be run here. */
export function commandOf(program: Program, tools: Tools): readonly string[] | null {
  switch (program.kind) {
    case 'calls':
      return tools.probe && [...tools.probe, 'call', ...program.calls.flatMap(encodeCall).slice(1)];
    case 'probe':
      return tools.probe && [...tools.probe, ...program.args];
    case 'node':
      return [tools.node, '-e', `${PRELUDE}${WORDS}${program.code}`];
    case 'python':
      return [tools.python, '-c', program.code];
    case 'shell':
      return [tools.shell, '-c', program.code];
  }
}

function encodeCall({ number, args, forks }: Call): readonly string[] {
  return ['--', `${forks ? '!' : ''}${number}`, ...args.map(encodeArgument)];
}

function encodeArgument(argument: Argument): string {
  if (typeof argument === 'number') return String(argument);
  if ('text' in argument) return `=${argument.text}`;
  if ('bytes' in argument) return `%${argument.bytes}`;
  if ('result' in argument) return `$${argument.result}`;
  return `[${argument.words.map(encodeArgument).join(',')}]`;
}

/** How a process ended. */
export interface Ended {
  readonly code: number | null;
  readonly signal: string | null;
  readonly out: string;
  readonly error: string;
  /** Whether the sandbox ended it because of a limit. */
  readonly isLimited: boolean;
}

/**
 * `through`: the attempt got what it wanted. `stopped`: by an error, a signal or a limit. `unclear`: it said nothing
 * that we know, which is no stop. `not-run`: this machine lacks what it needs.
 */
export type Outcome =
  | { readonly kind: 'through' }
  | { readonly kind: 'stopped'; readonly by: string }
  | { readonly kind: 'unclear'; readonly why: string }
  | { readonly kind: 'not-run'; readonly why: string };

/** Signals by which the kernel, or V8 for it, ends what must not go on. */
const STOPPING = new Set([
  'SIGSYS',
  'SIGXCPU',
  'SIGXFSZ',
  'SIGKILL',
  'SIGABRT',
  'SIGTRAP',
  'SIGILL',
  'SIGSEGV',
]);

export function outcomeOf(ended: Ended): Outcome {
  if (/^through$/m.test(ended.out)) return { kind: 'through' };
  const [, code] = /^(?:after \d+: )?refused (.+)$/m.exec(ended.out) ?? [];
  if (code !== undefined) return { kind: 'stopped', by: errorName(code) };
  if (ended.isLimited) return { kind: 'stopped', by: 'limit' };
  if (ended.signal !== null && STOPPING.has(ended.signal)) return { kind: 'stopped', by: ended.signal };
  const said = `${ended.out} ${ended.error}`.replace(/\s+/g, ' ').trim().slice(0, 300);
  return { kind: 'unclear', why: `exit code ${ended.code}, signal ${ended.signal}: ${said}` };
}

function errorName(code: string): string {
  const number = Number(code);
  if (!Number.isInteger(number)) return code;
  return Object.entries(constants.errno).find(([, value]) => value === number)?.[0] ?? code;
}

export function isExpected(attempt: Attempt, outcome: Outcome): boolean {
  if (attempt.known !== undefined) return outcome.kind === 'through';
  return outcome.kind === 'stopped' && attempt.stops.includes(outcome.by);
}
