/** How good a detector is on its labelled texts, and how fast, beside what others offer for the same job. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as breath } from 'node:timers/promises';
import { type Labelled, type LabelledSet, readLabelled } from './labelled.ts';
import { type Judged, type Score, scoreOfRanges, scoreOfTexts } from './score.ts';
import type { Find, Row, Suite } from './suite.ts';

/** A row of a detector, by ours or by a package of others. */
export interface Measured {
  readonly row: Row;
  readonly tuning: Score;
  readonly heldOut: Score;
  readonly speed: Speed;
}

/** Bytes a second of processor time, on ordinary text and on the labelled texts. */
export interface Speed {
  readonly ordinary: number;
  readonly dense: number;
}

/** How long speeds are looked at: rounds last so long at least; a subject that is slow has one. */
export interface Effort {
  readonly roundMs: number;
  readonly rounds: number;
}

export const WHOLE: Effort = { roundMs: 300, rounds: 5 };
export const SHORT: Effort = { roundMs: 60, rounds: 2 };

/** A slow subject is given less. */
const SIZES = [1_000_000, 32_000];

export async function measured(
  suite: Suite,
  find: Find,
  rows: readonly Row[],
  effort: Effort,
  signal: AbortSignal,
): Promise<readonly Measured[]> {
  const set = readLabelled(suite.detector);
  const tuning = await judged(set.tuning, find, signal);
  const heldOut = await judged(set.heldOut, find, signal);
  const speed = await speeds(set, find, effort);
  return rows.map((row) => ({
    row,
    tuning: scored(suite, row, tuning),
    heldOut: scored(suite, row, heldOut),
    speed,
  }));
}

/** Throws when it is told to stop; some packages take minutes, and a signal arrives only while nothing is computed. */
async function judged(
  texts: readonly Labelled[],
  find: Find,
  signal: AbortSignal,
): Promise<readonly Judged[]> {
  const all: Judged[] = [];
  for (const labelled of texts) {
    all.push({ labelled, found: await find(labelled.text) });
    await breath();
    signal.throwIfAborted();
  }
  return all;
}

function scored(suite: Suite, row: Row, all: readonly Judged[]): Score {
  if (suite.judged === 'texts') return scoreOfTexts(all);
  return scoreOfRanges(all, row.kinds === null ? null : new Set(row.kinds));
}

async function speeds(set: LabelledSet, find: Find, effort: Effort): Promise<Speed> {
  const dense = set.tuning.map(({ text }) => text).join('\n\n');
  return {
    ordinary: await bestSpeed(ordinaryText(), find, effort),
    dense: await bestSpeed(dense, find, effort),
  };
}

/** The best of some rounds: other work makes rounds slow and never fast. */
async function bestSpeed(sample: string, find: Find, { roundMs, rounds }: Effort): Promise<number> {
  const small = cut(sample, SIZES[1] ?? 0);
  const first = await processorTime(small, find, 1);
  const isSlow = first > roundMs;
  const text = isSlow ? small : cut(sample, SIZES[0] ?? 0);
  const once = isSlow ? first : await processorTime(text, find, 1);
  const runs = Math.max(1, Math.round(roundMs / once));
  let best = once;
  for (let round = 0; round < (isSlow ? 0 : rounds); round++)
    best = Math.min(best, (await processorTime(text, find, runs)) / runs);
  return (Buffer.byteLength(text) / best) * 1000;
}

/** Milliseconds. */
async function processorTime(text: string, find: Find, runs: number): Promise<number> {
  const before = process.cpuUsage();
  for (let run = 0; run < runs; run++) await find(text);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

function cut(sample: string, size: number): string {
  return sample.repeat(Math.ceil(size / sample.length)).slice(0, size);
}

/** What was written for readers, and holds next to nothing to be found: this repository's documentation. */
function ordinaryText(): string {
  const folder = join(import.meta.dirname, '../../docs');
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.md'),
  );
  return files
    .sort()
    .map((name) => readFileSync(join(folder, name), 'utf8'))
    .join('\n');
}
