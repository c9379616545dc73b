/** Where expressions match in a text. */
import type { Stretch } from './finding.ts';

/** The match of a sticky expression that begins at `at`, or null. */
export function matchAt(sticky: RegExp, text: string, at: number): RegExpExecArray | null {
  sticky.lastIndex = at;
  return sticky.exec(text);
}

/** Where the characters of a class begin that stand before `end`; at most `most` of them are looked at. */
export function startBefore(text: string, end: number, characters: RegExp, most: number): number {
  let start = end;
  while (start > 0 && end - start < most && characters.test(text[start - 1] ?? '')) start -= 1;
  return start;
}

export interface Match extends Stretch {
  readonly text: string;
}

/**
 * All matches of a global expression, in order.
 * @param offset where the text begins in the whole whose places are told
 */
export function matchesIn(text: string, global: RegExp, offset = 0): readonly Match[] {
  return [...text.matchAll(global)].map(({ 0: found, index }) => ({
    text: found,
    start: offset + index,
    end: offset + index + found.length,
  }));
}

/** A stretch whose end is still open. */
export interface OpenStretch {
  readonly start: number;
  end: number;
}

/** Adds a stretch behind those that there are; where it touches the last one, that becomes longer. */
export function addStretch(stretches: OpenStretch[], start: number, end: number): void {
  const last = stretches.at(-1);
  if (last !== undefined && start <= last.end) last.end = Math.max(last.end, end);
  else stretches.push({ start, end });
}
