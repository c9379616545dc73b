/**
 * Regular expressions in Python's syntax, run in linear time: rules meet texts that attackers write, and a
 * backtracking engine would let one message stop the monitor. Patterns are translated to RE2; what RE2 cannot
 * express (look-around, back-references) is refused when the pattern is compiled.
 *
 * Ring 0.
 */
import { failed, ok, type Result } from '@cordon/core';
import { RE2JS } from 're2js';

export interface Match {
  /** UTF-16 offsets. */
  readonly start: number;
  readonly end: number;
}

/** What a pattern may take of steps for a text was not enough: the answer is not known. */
export type Exhausted = 'exhausted';

export const EXHAUSTED_REASON = 'the pattern needs more steps than it may take';

export interface Pattern {
  /** `budgeted`: it has parts that no engine can run in linear time, so it may be exhausted. */
  readonly engine: 'linear' | 'budgeted';
  /** Python's `re.match`: anchored at the start only. */
  startsWith(text: string): boolean | Exhausted;
  /** Python's `re.finditer`, whole matches. */
  findAll(text: string): readonly Match[] | Exhausted;
}

/** Compiled patterns, kept by their own text; bounded, because patterns can be computed from data. */
export class PatternCache {
  readonly #patterns = new Map<string, Result<Pattern, string>>();
  readonly #capacity: number;

  constructor(capacity = 512) {
    this.#capacity = capacity;
  }

  compile(pattern: string, options: PatternOptions = {}): Result<Pattern, string> {
    const key = `${options.dotAll === true ? 's' : '-'}${pattern}`;
    const known = this.#patterns.get(key);
    if (known !== undefined) return known;
    if (this.#patterns.size >= this.#capacity) this.#patterns.clear();
    const compiled = compilePattern(pattern, options);
    this.#patterns.set(key, compiled);
    return compiled;
  }
}

export interface PatternOptions {
  /** `.` matches newlines too. */
  readonly dotAll?: boolean;
}

const MAX_PATTERN_LENGTH = 10_000;

/** A failure is one sentence that never repeats the pattern, which may be data. */
export function compilePattern(pattern: string, options: PatternOptions = {}): Result<Pattern, string> {
  if (pattern.length > MAX_PATTERN_LENGTH)
    return failed(`the pattern is longer than ${MAX_PATTERN_LENGTH} characters`);
  const translated = translate(pattern);
  if (!translated.ok) return translated;
  try {
    const compiled = RE2JS.compile(translated.value, options.dotAll === true ? RE2JS.DOTALL : 0);
    return ok({
      engine: 'linear',
      startsWith: (text) => compiled.matcher(text).lookingAt(),
      findAll: (text) => findAll(compiled, text),
    });
  } catch {
    return failed('the pattern is no regular expression that can be run in linear time');
  }
}

function findAll(compiled: RE2JS, text: string): readonly Match[] {
  const matcher = compiled.matcher(text);
  const matches: Match[] = [];
  while (matcher.find()) matches.push({ start: matcher.start(), end: matcher.end() });
  return matches;
}

/** Python's classes cover Unicode; RE2's cover ASCII. */
const CLASSES: Readonly<Record<string, string>> = {
  d: '\\p{Nd}',
  w: '\\p{L}\\p{N}_',
  s: '\\t-\\r\\x1c-\\x20\\x85\\p{Z}',
};

function translate(pattern: string): Result<string, string> {
  let out = '';
  let inClass = false;
  const isMultiline = /^\(\?[a-zA-Z]*m[a-zA-Z]*\)/.test(pattern);
  for (let at = 0; at < pattern.length; at++) {
    const character = pattern[at] ?? '';
    if (character === '\\') {
      const escaped = translateEscape(pattern, at, inClass);
      if (!escaped.ok) return escaped;
      out += escaped.value.text;
      at += escaped.value.length - 1;
    } else if (inClass) {
      if (character === ']') inClass = false;
      out += character === '[' ? '\\[' : character;
    } else if (character === '[') {
      inClass = true;
      const opening = /^\[\^?\]?/.exec(pattern.slice(at, at + 3))?.[0] ?? '[';
      // A `]` directly behind the opening stands for itself.
      out += opening.endsWith(']') && opening.length > 1 ? `${opening.slice(0, -1)}\\]` : opening;
      at += opening.length - 1;
    } else if (character === '(' && pattern[at + 1] === '?') {
      const group = translateGroup(pattern, at);
      if (!group.ok) return group;
      out += group.value.text;
      at += group.value.length - 1;
    } else if (character === '{' && /^\{,\d+\}/.test(pattern.slice(at, at + 8))) {
      out += '{0';
    } else if (character === '$' && !isMultiline) {
      // Python's `$` also holds before a last newline.
      out += '(?:\\n?\\z)';
    } else out += character;
  }
  return ok(out);
}

interface Piece {
  readonly text: string;
  /** How much of the pattern it stands for. */
  readonly length: number;
}

function translateEscape(pattern: string, at: number, inClass: boolean): Result<Piece, string> {
  const next = pattern[at + 1];
  if (next === undefined) return failed('the pattern ends with a backslash');
  const positive = CLASSES[next];
  if (positive !== undefined) return ok({ text: inClass ? positive : `[${positive}]`, length: 2 });
  const negative = CLASSES[next.toLowerCase()];
  if (negative !== undefined) {
    // Inside a class only the ASCII complement can be written; it matches more, never less.
    return ok({ text: inClass ? `\\${next}` : `[^${negative}]`, length: 2 });
  }
  if (next === 'Z') return ok({ text: '\\z', length: 2 });
  const unicode = /^\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8}))/.exec(pattern.slice(at, at + 10));
  if (unicode !== null) return ok({ text: `\\x{${unicode[1] ?? unicode[2]}}`, length: unicode[0].length });
  if (/[1-9]/.test(next)) return failed('back-references cannot be run in linear time');
  if (/[QECz]/.test(next)) return failed(`\`\\${next}\` is no escape of a regular expression`);
  return ok({ text: `\\${next}`, length: 2 });
}

function translateGroup(pattern: string, at: number): Result<Piece, string> {
  const head = pattern.slice(at, at + 24);
  const comment = head.startsWith('(?#') ? pattern.indexOf(')', at) : -1;
  if (comment >= 0) return ok({ text: '', length: comment - at + 1 });
  if (/^\(\?(=|!|<=|<!)/.test(head)) return failed('look-around cannot be run in linear time');
  if (/^\(\?(P=|\()/.test(head)) return failed('back-references cannot be run in linear time');
  const flags = /^\(\?([aiLmsux]*)(-[imsx]+)?([:)])/.exec(head);
  if (flags === null) return ok({ text: '(?', length: 2 });
  if ((flags[1] ?? '').includes('x')) return failed('verbose patterns are not supported');
  const kept = `${(flags[1] ?? '').replace(/[aLu]/g, '')}${flags[2] ?? ''}`;
  if (flags[3] === ')') return ok({ text: kept === '' ? '' : `(?${kept})`, length: flags[0].length });
  return ok({ text: `(?${kept}:`, length: flags[0].length });
}
