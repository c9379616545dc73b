/**
 * What a scan has done so far, kept in a file so that a later one continues there: how far each input was read, how to
 * recognise that it is still the same input, and what was counted. Written in one step, so that the file is whole
 * whenever the program ends.
 *
 * See docs/cli.md.
 */
import { createHash } from 'node:crypto';
import {
  accessSync,
  closeSync,
  constants,
  fsyncSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, resolve } from 'node:path';
import { failed, isJsonObject, ok, parseJson, type Result } from '@cordon/core';
import type { Input } from './parts/input.ts';
import { type Counts, NO_COUNTS } from './parts/part.ts';

const KIND = 'cordon.scan-state';
const VERSION = 2;
const LIMITS = { length: 64 * 1024 * 1024, depth: 16, elements: 2_000_000 };

/** Bytes at the beginning of an input, and before the place that was reached, that must still be there. */
const HEAD_BYTES = 64 * 1024;
const TAIL_BYTES = 4 * 1024;

/** How far an input was read. */
export interface Progress {
  /** Bytes, after decompression. */
  readonly bytes: number;
  /** Lines that started before. */
  readonly lines: number;
  /** The last of these lines had no line end; what comes now is the rest of it. */
  readonly isLineOpen: boolean;
  /** The input was read to its end. */
  readonly isComplete: boolean;
  readonly counts: Counts;
}

export const NO_PROGRESS: Progress = {
  bytes: 0,
  lines: 0,
  isLineOpen: false,
  isComplete: false,
  counts: NO_COUNTS,
};

/** What an input looked like. */
export interface Likeness {
  readonly size: number;
  readonly modified: number;
  readonly inode: number;
  /** Bytes of the file that `head` and `tail` are taken from the ends of. */
  readonly length: number;
  readonly head: string;
  readonly tail: string;
}

export interface SeenInput {
  readonly progress: Progress;
  readonly likeness: Likeness;
}

/** Digests of what must stay the same for a scan to be resumed. */
export interface TaskPrint {
  readonly policy: string;
  readonly parameters: string;
  readonly output: string;
}

export interface ScanState {
  readonly task: TaskPrint;
  /** Whether the scan ended by itself; else the next one continues with its counts. */
  readonly isComplete: boolean;
  /** Bytes of the output file that are whole, or null. */
  readonly outputLength: number | null;
  /** Violations by rule. */
  readonly rules: Readonly<Record<string, number>>;
  readonly broken: readonly string[];
  /** By absolute path. */
  readonly inputs: ReadonlyMap<string, SeenInput>;
}

export const keyOf = (input: Input): string => resolve(input.name);

/** Null: there is no such file yet. Fails with a sentence when it cannot be used. */
export function readState(file: string): Result<ScanState | null, string> {
  let text: string;
  try {
    if (!statSync(file).isFile()) return failed('it is no regular file');
    text = readFileSync(file, 'utf8');
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    return isMissing ? ok(null) : failed('it cannot be read');
  }
  const parsed = parseJson(text, LIMITS);
  const state: unknown = parsed.ok ? parsed.value : null;
  if (!isState(state)) return failed('it is no state of a scan');
  const { task, isComplete, outputLength, rules, broken, inputs } = state;
  return ok({ task, isComplete, outputLength, rules, broken, inputs: new Map(Object.entries(inputs)) });
}

/** Whether its folder is there and may be written to: the file is replaced, so its own rights do not count. */
export function canKeepState(file: string): boolean {
  try {
    accessSync(dirname(file), constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** Replaces the file in one step. Throws what writing throws. */
export function writeState(file: string, state: ScanState): void {
  const inputs = Object.fromEntries(state.inputs);
  const text = `${JSON.stringify({ kind: KIND, version: VERSION, ...state, inputs })}\n`;
  const draft = `${file}.${process.pid}.tmp`;
  try {
    const descriptor = openSync(draft, 'w', 0o600);
    try {
      writeFileSync(descriptor, text);
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    renameSync(draft, file);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}

/** What is looked at again to tell whether `length` bytes of a file are still the same. Throws what reading throws. */
export function likenessOf(input: Input, length: number): Likeness {
  const { size, modified, inode } = input;
  const descriptor = openSync(input.name, 'r');
  try {
    const head = digest(descriptor, 0, Math.min(HEAD_BYTES, length));
    const tail = digest(descriptor, Math.max(0, length - TAIL_BYTES), length);
    return { size, modified, inode, length, head, tail };
  } finally {
    closeSync(descriptor);
  }
}

/** Bytes of the file that stand for what was read of it: of a compressed one, all that was there. */
export function likenessLength(input: Input, progress: Progress): number {
  return input.kind === 'gzip' || input.kind === 'brotli' ? input.size : progress.bytes;
}

/** Null: the input continues where it was left; else a sentence why it does not. */
export function mismatch(input: Input, seen: SeenInput): string | null {
  const { likeness } = seen;
  if (input.size < likeness.length) return 'it is shorter than what was read of it';
  const isUntouched =
    input.size === likeness.size && input.modified === likeness.modified && input.inode === likeness.inode;
  if (isUntouched) return null;
  try {
    const now = likenessOf(input, likeness.length);
    const isSame = now.head === likeness.head && now.tail === likeness.tail;
    return isSame ? null : 'what was read of it has changed';
  } catch {
    return 'it cannot be read';
  }
}

function digest(descriptor: number, from: number, to: number): string {
  const bytes = Buffer.alloc(to - from);
  let filled = 0;
  while (filled < bytes.length) {
    const count = readSync(descriptor, bytes, filled, bytes.length - filled, from + filled);
    if (count === 0) break;
    filled += count;
  }
  return createHash('sha256').update(bytes.subarray(0, filled)).digest('hex');
}

// ── what a state looks like ───────────────────────────────────────────────────────────────────────────────────

type Guard<T> = (value: unknown) => value is T;

const isText: Guard<string> = (value) => typeof value === 'string';
const isTruth: Guard<boolean> = (value) => typeof value === 'boolean';
const isCount: Guard<number> = (value): value is number =>
  typeof value === 'number' && value >= 0 && Number.isFinite(value);

function eachIs<T>(is: Guard<T>): Guard<Readonly<Record<string, T>>> {
  return (value): value is Readonly<Record<string, T>> =>
    isJsonObject(value) && Object.values(value).every(is);
}

function shaped<T>(fields: { readonly [K in keyof T]-?: Guard<T[K]> }): Guard<T> {
  const all = Object.entries<Guard<unknown>>(fields);
  return (value): value is T => isJsonObject(value) && all.every(([key, is]) => is(value[key]));
}

/** As it stands in the file. */
type StoredState = Omit<ScanState, 'inputs'> & {
  readonly kind: typeof KIND;
  readonly version: typeof VERSION;
  readonly inputs: Readonly<Record<string, SeenInput>>;
};

const isCounts = shaped<Counts>({
  traces: isCount,
  broken: isCount,
  violations: isCount,
  undecided: isCount,
  bytes: isCount,
  events: eachIs(isCount),
});

const isSeen = shaped<SeenInput>({
  progress: shaped<Progress>({
    bytes: isCount,
    lines: isCount,
    isLineOpen: isTruth,
    isComplete: isTruth,
    counts: isCounts,
  }),
  likeness: shaped<Likeness>({
    size: isCount,
    modified: (value) => typeof value === 'number',
    inode: isCount,
    length: isCount,
    head: isText,
    tail: isText,
  }),
});

const isState = shaped<StoredState>({
  kind: (value) => value === KIND,
  version: (value) => value === VERSION,
  task: shaped<TaskPrint>({ policy: isText, parameters: isText, output: isText }),
  isComplete: isTruth,
  outputLength: (value) => value === null || isCount(value),
  rules: eachIs(isCount),
  broken: (value): value is readonly string[] => Array.isArray(value) && value.every(isText),
  inputs: eachIs(isSeen),
});
