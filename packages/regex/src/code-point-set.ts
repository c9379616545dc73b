/** Sets of code points as sorted ranges, Python's character categories, and its rule for ignoring case. */
import { CASE_RELATIVES, DIGIT_RUNS, LOWER_RUNS, SPACE_RUNS, WORD_RUNS } from './unicode-data.ts';

export const LAST_CODE_POINT = 0x10ffff;
const BEYOND = LAST_CODE_POINT + 1;

/** First and last code point of each range, in turn; sorted, ranges neither overlap nor touch. */
export type CodePointSet = readonly number[];

export function setOf(codePoint: number): CodePointSet {
  return [codePoint, codePoint];
}

/** The union of ranges in any order, given as first and last code points in turn. */
export function union(ranges: readonly number[]): CodePointSet {
  const pairs: [number, number][] = [];
  for (let at = 0; at < ranges.length; at += 2) pairs.push([ranges[at] ?? 0, ranges[at + 1] ?? 0]);
  pairs.sort((a, b) => a[0] - b[0]);
  const set: number[] = [];
  for (const [first, last] of pairs) {
    const end = set.at(-1);
    if (end !== undefined && first <= end + 1) set[set.length - 1] = Math.max(end, last);
    else set.push(first, last);
  }
  return set;
}

/** The union of two sets: one reading of both. */
export function joined(a: CodePointSet, b: CodePointSet): CodePointSet {
  const set: number[] = [];
  let end = -2;
  for (let left = 0, right = 0; left < a.length || right < b.length; ) {
    const isLeft = (a[left] ?? BEYOND) <= (b[right] ?? BEYOND);
    const first = (isLeft ? a[left] : b[right]) ?? 0;
    const last = (isLeft ? a[left + 1] : b[right + 1]) ?? 0;
    if (isLeft) left += 2;
    else right += 2;
    if (first > end + 1) set.push(first, last);
    else set[set.length - 1] = Math.max(end, last);
    end = Math.max(end, last);
  }
  return set;
}

export function complement(set: CodePointSet): CodePointSet {
  const result: number[] = [];
  let next = 0;
  for (let at = 0; at < set.length; at += 2) {
    const first = set[at] ?? 0;
    if (first > next) result.push(next, first - 1);
    next = (set[at + 1] ?? 0) + 1;
  }
  if (next <= LAST_CODE_POINT) result.push(next, LAST_CODE_POINT);
  return result;
}

export function contains(set: CodePointSet, codePoint: number): boolean {
  let low = 0;
  let high = set.length >> 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (codePoint > (set[2 * middle + 1] ?? 0)) low = middle + 1;
    else high = middle;
  }
  return 2 * low < set.length && codePoint >= (set[2 * low] ?? 0);
}

/** How many code points it has. */
export function sizeOf(set: CodePointSet): number {
  let size = 0;
  for (let at = 0; at < set.length; at += 2) size += (set[at + 1] ?? 0) - (set[at] ?? 0) + 1;
  return size;
}

// ── categories ────────────────────────────────────────────────────────────────────────────────────────────────

export type Category = 'word' | 'digit' | 'space';

export const NEWLINE = 10;
export const NOT_NEWLINE: CodePointSet = complement(setOf(NEWLINE));
export const EVERYTHING: CodePointSet = [0, LAST_CODE_POINT];

const ASCII: Readonly<Record<Category, CodePointSet>> = {
  word: [0x30, 0x39, 0x41, 0x5a, 0x5f, 0x5f, 0x61, 0x7a],
  digit: [0x30, 0x39],
  space: [0x09, 0x0d, 0x20, 0x20],
};

const RUNS: Readonly<Record<Category, string>> = { word: WORD_RUNS, digit: DIGIT_RUNS, space: SPACE_RUNS };

/** Unpacked when they are first needed: most policies never ask. */
const unpacked = new Map<string, CodePointSet>();

/** The same object each time, so that equal parts of a pattern are recognised as such. */
export function category(name: Category, isAscii: boolean, isNegated: boolean): CodePointSet {
  const key = `${name} ${isAscii} ${isNegated}`;
  let set = unpacked.get(key);
  if (set === undefined) {
    const positive = isAscii ? ASCII[name] : unpackRuns(name);
    set = isNegated ? complement(positive) : positive;
    unpacked.set(key, set);
  }
  return set;
}

function unpackRuns(name: Category): CodePointSet {
  const set: number[] = [];
  let at = 0;
  for (const [index, distance] of RUNS[name].split(',').entries()) {
    at += Number.parseInt(distance, 36);
    set.push(index % 2 === 0 ? at : at - 1);
  }
  return set;
}

// ── case ──────────────────────────────────────────────────────────────────────────────────────────────────────

interface Cases {
  readonly lower: ReadonlyMap<number, number>;
  /** A lower case, and all that have it. */
  readonly upper: ReadonlyMap<number, readonly number[]>;
  /** Lower cases that count as the same letter. */
  readonly relatives: ReadonlyMap<number, readonly number[]>;
}

let cases: Cases | null = null;

function unpackCases(): Cases {
  const lower = new Map<number, number>();
  const upper = new Map<number, number[]>();
  let first = 0;
  for (const run of LOWER_RUNS.split(';')) {
    const [distance = 0, step = 1, count = 0, shift = 0] = run.split(',').map((n) => Number.parseInt(n, 36));
    first += distance;
    for (let at = first; at < first + step * count; at += step) {
      lower.set(at, at + shift);
      upper.set(at + shift, [...(upper.get(at + shift) ?? []), at]);
    }
  }
  const relatives = new Map<number, readonly number[]>();
  for (const group of CASE_RELATIVES.split(';')) {
    const [letter = 0, ...others] = group.split(',').map((n) => Number.parseInt(n, 36));
    relatives.set(letter, others);
  }
  return { lower, upper, relatives };
}

/** Python's simple lower case of one code point; with `isAscii` only of `A` to `Z`. */
export function lowerCase(codePoint: number, isAscii: boolean): number {
  if (codePoint < 0x80 || isAscii) return codePoint >= 0x41 && codePoint <= 0x5a ? codePoint + 32 : codePoint;
  cases ??= unpackCases();
  return cases.lower.get(codePoint) ?? codePoint;
}

/**
 * All code points that Python takes for a member of `set` when case is ignored: those whose lower case is the
 * lower case of a member, or a relative of it (`K` and the Kelvin sign, `s` and `ſ`, `i`, `İ` and `ı`).
 */
export function ignoringCase(set: CodePointSet, isAscii: boolean): CodePointSet {
  const result = [...set];
  const add = (codePoint: number): void => {
    result.push(codePoint, codePoint);
  };
  if (isAscii) {
    for (let upper = 0x41; upper <= 0x5a; upper++) {
      if (contains(set, upper)) add(upper + 32);
      else if (contains(set, upper + 32)) add(upper);
    }
    return union(result);
  }
  cases ??= unpackCases();
  const { lower, upper, relatives } = cases;
  const visit = (codePoint: number): void => {
    const letter = lower.get(codePoint) ?? codePoint;
    for (const one of [letter, ...(relatives.get(letter) ?? [])]) {
      add(one);
      for (const other of upper.get(one) ?? []) add(other);
    }
  };
  if (sizeOf(set) <= 64) {
    for (let at = 0; at < set.length; at += 2)
      for (let one = set[at] ?? 0; one <= (set[at + 1] ?? 0); one++) visit(one);
    return union(result);
  }
  // Only letters with a relation to others change anything.
  for (const letters of [lower, upper, relatives])
    for (const letter of letters.keys()) if (contains(set, letter)) visit(letter);
  return union(result);
}
