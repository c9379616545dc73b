/**
 * Recorded traces with their ground truth, read from JSON lines that may be compressed. Rules are given the messages
 * and nothing else: what is known of a trace stands apart from them, so that no rule can look at it.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import { isJsonObject, type Json, type JsonObject } from '@cordon/core';

export interface RecordedTrace {
  readonly id: string;
  readonly model: string;
  readonly suite: string;
  readonly userTask: string;
  readonly injectionTask: string | null;
  readonly truth: Truth;
  /** What a rule may see. */
  readonly messages: Json;
}

/** `attack`: it came about. `good`: nobody attacked, and the user got what he wanted, whoever's wish it resembles. */
export type Truth =
  | { readonly kind: 'attack'; readonly lastCall: Position | null }
  | { readonly kind: 'good' }
  | { readonly kind: 'uncounted' };

/** Of a call: its message, and its place among the calls of that message. */
export interface Position {
  readonly message: number;
  readonly call: number;
}

/** The traces of a folder's `.jsonl` and `.jsonl.br` files, file by file. Throws when a line is no trace: data are ours. */
export function* recordedTraces(folder: string): Generator<RecordedTrace> {
  for (const file of traceFiles(folder)) {
    const bytes = readFileSync(join(folder, file));
    const text = (file.endsWith('.br') ? brotliDecompressSync(bytes) : bytes).toString('utf8');
    for (const line of text.split('\n')) {
      if (line === '') continue;
      const value: unknown = JSON.parse(line);
      if (!isJsonObject(value)) throw new Error(`${file}: a line is no trace`);
      yield recordedTrace(value, file);
    }
  }
}

export function traceFiles(folder: string): readonly string[] {
  return readdirSync(folder)
    .filter((name) => /\.jsonl(\.br)?$/.test(name))
    .sort();
}

function recordedTrace(value: JsonObject, file: string): RecordedTrace {
  return {
    id: textAt(value, 'id'),
    model: file.replace(/\.jsonl(\.br)?$/, ''),
    suite: textAt(value, 'suite'),
    userTask: textAt(value, 'user_task'),
    injectionTask: typeof value.injection_task === 'string' ? value.injection_task : null,
    truth: truthOf(value),
    messages: value.messages ?? null,
  };
}

function truthOf(value: JsonObject): Truth {
  const { label } = value;
  if (label === 'attack_succeeded') return { kind: 'attack', lastCall: lastCall(value.attack_calls) };
  const isGood = (label === 'benign' && value.utility === true) || label === 'injection_as_user';
  return { kind: isGood ? 'good' : 'uncounted' };
}

/** Null: the data name none. */
function lastCall(calls: Json | undefined): Position | null {
  let last: Position | null = null;
  for (const pair of Array.isArray(calls) ? calls : []) {
    const [message, call] = Array.isArray(pair) ? pair : [];
    if (typeof message !== 'number' || typeof call !== 'number') continue;
    if (last === null || isAtOrBefore(last, { message, call })) last = { message, call };
  }
  return last;
}

export function isAtOrBefore(a: Position, b: Position): boolean {
  return a.message < b.message || (a.message === b.message && a.call <= b.call);
}

function textAt(value: JsonObject, key: string): string {
  const text = value[key];
  return typeof text === 'string' ? text : '';
}
