/** Compiled patterns of a policy, kept by their own text. */
import type { Result } from '@cordon/core';
import { compilePattern, type Pattern, type PatternOptions } from '@cordon/regex';
import type { TextQuestions } from './text-questions.ts';

/** Steps of all patterns that a cache keeps. */
const MAX_KEPT = 200_000;

export const MOST_PATTERNS = 512;

/** Bounded, because patterns can be computed from data. */
export class PatternCache {
  /** By whether `.` matches newlines, so that the text itself is the key, whose hash is known. */
  readonly #patterns = {
    line: new Map<string, Result<Pattern, string>>(),
    all: new Map<string, Result<Pattern, string>>(),
  };
  readonly #capacity: number;
  /** Where rules look for patterns in long texts; null: here and at once. */
  readonly textQuestions: TextQuestions | null;
  #size = 0;

  constructor(capacity = MOST_PATTERNS, textQuestions: TextQuestions | null = null) {
    this.textQuestions = textQuestions;
    this.#capacity = capacity;
  }

  compile(pattern: string, options: PatternOptions = {}): Result<Pattern, string> {
    const patterns = options.dotAll === true ? this.#patterns.all : this.#patterns.line;
    const known = patterns.get(pattern);
    if (known !== undefined) return known;
    const compiled = compilePattern(pattern, options);
    const size = compiled.ok ? compiled.value.size : 1;
    const kept = this.#patterns.all.size + this.#patterns.line.size;
    if (kept >= this.#capacity || this.#size + size > MAX_KEPT) {
      this.#patterns.all.clear();
      this.#patterns.line.clear();
      this.#size = 0;
    }
    this.#size += size;
    patterns.set(pattern, compiled);
    return compiled;
  }
}
