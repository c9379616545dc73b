/**
 * How near an answer is to the one that a set expects: table II of the paper gives both measures for the set without apps.
 * A text that holds a JSON object is compared by that object in canonical form, so that the order of its fields and what
 * a model says around it do not count.
 *
 * Sources: IsolateGPT (NDSS 2025), section VI-A; LangChain's evaluators, whose distances these are (edit distance
 * of canonical JSON, and Jaro-Winkler).
 */
import { canonicalJson, isJsonObject, parseJson } from '@cordon/core';

export interface Similarity {
  /** Damerau-Levenshtein by the length of the longer text: 0 is the same, 1 has nothing in common. */
  readonly editDistance: number;
  /** Jaro-Winkler: 1 is the same, 0 has nothing in common. */
  readonly stringScore: number;
}

/** Of longer texts only the beginning is compared, because the time grows with the product of the lengths. */
const MOST_CHARACTERS = 4_000;

export function similarity(answer: string, expected: string): Similarity {
  const [a, b] = [comparable(answer), comparable(expected)];
  const longer = Math.max(a.length, b.length);
  return {
    editDistance: longer === 0 ? 0 : edits(a, b) / longer,
    stringScore: jaroWinkler(a, b),
  };
}

function comparable(text: string): readonly string[] {
  const [from, to] = [text.indexOf('{'), text.lastIndexOf('}')];
  const parsed = from >= 0 && to > from ? parseJson(text.slice(from, to + 1)) : null;
  const shown = parsed?.ok && isJsonObject(parsed.value) ? canonicalJson(parsed.value) : text.trim();
  return [...shown].slice(0, MOST_CHARACTERS);
}

/** Insertions, deletions, substitutions, and swaps of neighbours. */
function edits(a: readonly string[], b: readonly string[]): number {
  let before: readonly number[] = [];
  let last: readonly number[] = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (const [row, letter] of a.entries()) {
    const next = [row + 1];
    for (const [column, other] of b.entries()) {
      const isSame = letter === other;
      const isSwapped = row > 0 && column > 0 && letter === b[column - 1] && a[row - 1] === other;
      next.push(
        Math.min(
          (last[column + 1] ?? 0) + 1,
          (next[column] ?? 0) + 1,
          (last[column] ?? 0) + (isSame ? 0 : 1),
          isSwapped ? (before[column - 1] ?? 0) + 1 : Number.POSITIVE_INFINITY,
        ),
      );
    }
    [before, last] = [last, next];
  }
  return last[b.length] ?? 0;
}

/** So many letters at the beginning count once more, each for so much of what is missing to the whole. */
const PREFIX = 4;
const WEIGHT = 0.1;

function jaroWinkler(a: readonly string[], b: readonly string[]): number {
  const jaro = jaroOf(a, b);
  const differs = a.slice(0, PREFIX).findIndex((letter, at) => letter !== b[at]);
  const shared = differs < 0 ? Math.min(PREFIX, a.length) : differs;
  return jaro + shared * WEIGHT * (1 - jaro);
}

function jaroOf(a: readonly string[], b: readonly string[]): number {
  if (a.length === 0 && b.length === 0) return 1;
  const reach = Math.max(0, Math.floor(Math.max(a.length, b.length) / 2) - 1);
  const taken = new Set<number>();
  const matched = a.filter((letter, at) => {
    const from = Math.max(0, at - reach);
    const to = Math.min(b.length, at + reach + 1);
    for (let place = from; place < to; place++) {
      if (taken.has(place) || b[place] !== letter) continue;
      taken.add(place);
      return true;
    }
    return false;
  });
  if (matched.length === 0) return 0;
  const inOrder = b.filter((_, place) => taken.has(place));
  const moved = matched.filter((letter, at) => letter !== inOrder[at]).length / 2;
  const { length } = matched;
  return (length / a.length + length / b.length + (length - moved) / length) / 3;
}
