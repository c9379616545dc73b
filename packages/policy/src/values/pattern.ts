/** Matching a call, or the call behind a tool output, against `tool:name({…})` (specification 7). */

import { EXHAUSTED_REASON } from '@cordon/regex';
import type { PatternOf } from '../syntax/ast.ts';
import type { Detectors } from './builtins.ts';
import { equals } from './operators.ts';
import type { PatternCache } from './pattern-cache.ts';
import {
  isDictionary,
  isList,
  isTraceObject,
  isUndecided,
  type PatternMatcher,
  type TraceObject,
  undecided,
  type Value,
} from './value.ts';

/** A pattern whose values have been computed. */
export type ComputedPattern = PatternOf<Value>;

/** Value references that the language knows, and the detector kinds behind them. */
export const VALUE_REFERENCES: ReadonlySet<string> = new Set([
  'EMAIL_ADDRESS',
  'LOCATION',
  'PHONE_NUMBER',
  'PERSON',
  'MODERATED',
  'DUMMY',
]);

/** Whether a text holds what a value reference stands for. */
export type References = (name: string, text: string) => Value;

/** What patterns need besides the values that they are compared with. */
export interface PatternContext {
  readonly cache: PatternCache;
  readonly references: References;
}

/** The detector that a value reference asks. */
export function detectorOf(reference: string): string {
  return reference === 'MODERATED' ? 'moderated' : 'pii';
}

/** Without detectors, only the reference that tests use means something. */
export function referencesOf(detectors: Detectors): References {
  return (name, text) => {
    if (name === 'DUMMY') return text === '__DUMMY__';
    const detector = detectors.get(detectorOf(name));
    if (detector === undefined) return undecided(`no detector for \`<${name}>\` is available`);
    const answer = detector.callable.call([text], NO_OPTIONS, unmarked);
    return isList(answer) ? answer.includes(name) : answer;
  };
}

const NO_OPTIONS: ReadonlyMap<string, Value> = new Map();

function unmarked(): void {}

export function toolMatcher(
  tool: string,
  pattern: ComputedPattern | null,
  context: PatternContext,
): PatternMatcher {
  const matchesName = nameMatcher(tool);
  return (subject) => {
    const call = callOf(subject);
    if (call === null) return null;
    const name = call.field('name');
    if (typeof name !== 'string' || !matchesName(name)) return false;
    return pattern === null ? true : matches(pattern, call.field('arguments') ?? null, context);
  };
}

/** An output stands for its call; an output without a call is no match (the seed language fails there). */
function callOf(subject: Value): TraceObject | null {
  if (!isTraceObject(subject)) return null;
  if (subject.type === 'ToolCall') return subject;
  return subject.type === 'ToolOutput' ? subject.call : null;
}

/** `*` stands for any characters, everything else for itself. Linear: each piece is searched once, from left. */
function nameMatcher(tool: string): (name: string) => boolean {
  const pieces = tool.split(/\*+/);
  // One newline behind the name is let through, as Python's `$` does: an app chooses what its tools are called.
  if (pieces.length === 1) return (name) => name === tool || name === `${tool}\n`;
  const first = pieces[0] ?? '';
  const last = pieces.at(-1) ?? '';
  const middle = pieces.slice(1, -1);
  return (name) => {
    if (name.length < first.length + last.length || !name.startsWith(first) || !name.endsWith(last))
      return false;
    let at = first.length;
    const end = name.length - last.length;
    for (const piece of middle) {
      const found = name.indexOf(piece, at);
      if (found < 0 || found + piece.length > end) return false;
      at = found + piece.length;
    }
    return true;
  };
}

function matches(pattern: ComputedPattern, value: Value, context: PatternContext): Value {
  switch (pattern.kind) {
    case 'any':
      return true;
    case 'value-reference':
      return typeof value === 'string' ? context.references(pattern.name, value) : false;
    case 'object': {
      if (!isDictionary(value)) return false;
      return every(pattern.entries, (entry) => {
        if (!Object.hasOwn(value, entry.key)) return false;
        return matches(entry.pattern, value[entry.key] ?? null, context);
      });
    }
    case 'list':
      if (!isList(value) || value.length !== pattern.items.length) return false;
      return every(pattern.items, (item, index) => matches(item, value[index] ?? null, context));
    case 'value':
      return matchesValue(pattern.value, value, context.cache);
  }
}

/** False as soon as one part is refuted, whatever the others are. */
function every<T>(parts: readonly T[], test: (part: T, index: number) => Value): Value {
  let open: Value = true;
  for (const [index, part] of parts.entries()) {
    const result = test(part, index);
    if (result === false) return false;
    if (isUndecided(result)) open = result;
  }
  return open;
}

function matchesValue(expected: Value, value: Value, cache: PatternCache): Value {
  if (isUndecided(expected)) return expected;
  if (typeof expected !== 'string') return equals(expected, value);
  if (typeof value !== 'string') return false;
  if (expected === value) return true;
  if (!/[\\^$.|?*+()[\]{}]/.test(expected)) return `${expected}\n` === value;
  const compiled = cache.compile(`${expected}$`, { dotAll: true });
  if (!compiled.ok) return undecided(compiled.fault);
  const isMatch = compiled.value.startsWith(value);
  return isMatch === 'exhausted' ? undecided(EXHAUSTED_REASON) : isMatch;
}
