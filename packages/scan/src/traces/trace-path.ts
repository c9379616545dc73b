/**
 * Paths into a trace, as reports name its parts: `2`, `2.tool_calls.0`, `0.content:7-8` (characters are code points,
 * the end exclusive). Finds the value that a path names in the document that the trace was read from.
 */
import { isJsonObject, type Json, parseJson } from '@cordon/core';

export interface TraceRange {
  readonly path: string;
  /** Null: the value as a whole. */
  readonly characters: { readonly start: number; readonly end: number } | null;
}

export function parseRange(range: string): TraceRange {
  const found = /^(.*):(\d+)-(\d+)$/s.exec(range);
  if (found === null) return { path: range, characters: null };
  return { path: found[1] ?? '', characters: { start: Number(found[2]), end: Number(found[3]) } };
}

/** More dots than this in one key are not looked for. */
const MOST_PARTS_OF_A_KEY = 8;

/**
 * The value at a path, or `undefined`. Paths begin in the list of messages, also where that stands under `messages`. A
 * text on the way is read as JSON: calls often hold their arguments so.
 */
export function valueAt(document: Json, path: string): Json | undefined {
  const steps = path === '' ? [] : path.split('.');
  const direct = walk(document, steps);
  if (direct !== undefined || !isJsonObject(document)) return direct;
  if (Object.hasOwn(document, 'messages')) return walk(document.messages ?? null, steps);
  // A single message is a trace of one.
  return walk([document], steps);
}

function walk(value: Json, steps: readonly string[]): Json | undefined {
  let at: Json = value;
  for (let index = 0; index < steps.length; ) {
    const inner = opened(at);
    const step = stepInto(inner, steps, index);
    if (step === null) return undefined;
    at = step.value;
    index = step.next;
  }
  return at;
}

function opened(value: Json): Json {
  if (typeof value !== 'string') return value;
  const parsed = parseJson(value);
  return parsed.ok ? parsed.value : value;
}

/** A key may hold dots itself; the shortest that is there is taken. */
function stepInto(
  value: Json,
  steps: readonly string[],
  index: number,
): { readonly value: Json; readonly next: number } | null {
  for (let next = index + 1; next <= Math.min(steps.length, index + MOST_PARTS_OF_A_KEY); next++) {
    const inner = member(value, steps.slice(index, next).join('.'));
    if (inner !== undefined) return { value: inner, next };
  }
  return null;
}

function member(value: Json, key: string): Json | undefined {
  if (isJsonObject(value)) return Object.hasOwn(value, key) ? value[key] : undefined;
  if (typeof value !== 'object' || value === null) return undefined;
  return /^\d{1,9}$/.test(key) ? value[Number(key)] : undefined;
}
