/**
 * Where a text may hold something encoded, asked of its low bytes: only such a stretch is looked at closer.
 * Every question is one pass.
 */
import type { Stretch } from '../text/finding.ts';

/** By low byte: 0 for what does not belong to the class. */
export type ByteClass = Uint8Array;

/** Of the characters of a text; all are ASCII. */
export function byteClass(characters: string): ByteClass {
  const bytes = new Uint8Array(256);
  for (const character of characters) bytes[character.charCodeAt(0)] = 1;
  return bytes;
}

/**
 * Every longest stretch of characters of a class that has at least `least`. The last place that one could cover is looked
 * at first, so that of other text a few characters in `least` are read.
 */
export function stretchesOf(low: Uint8Array, characters: ByteClass, least: number): readonly Stretch[] {
  const found: Stretch[] = [];
  for (let start = 0; start + least <= low.length; ) {
    let at = start + least - 1;
    while (at >= start && characters[low[at] ?? 0] !== 0) at--;
    if (at < start) {
      let end = start + least;
      while (end < low.length && characters[low[end] ?? 0] !== 0) end++;
      found.push({ start, end });
      at = end;
    }
    start = at + 1;
  }
  return found;
}

/** The same of letters and separators, where no letter stands before another one. They have none in common. */
export function stretchesApart(
  low: Uint8Array,
  letters: ByteClass,
  separators: ByteClass,
  least: number,
): readonly Stretch[] {
  const isIn = (at: number): boolean =>
    separators[low[at] ?? 0] !== 0 || (letters[low[at] ?? 0] !== 0 && letters[low[at + 1] ?? 0] === 0);
  const found: Stretch[] = [];
  for (let start = 0; start + least <= low.length; ) {
    let at = start + least - 1;
    while (at >= start && isIn(at)) at--;
    if (at < start) {
      let end = start + least;
      while (end < low.length && isIn(end)) end++;
      found.push({ start, end });
      at = end;
    }
    start = at + 1;
  }
  return found;
}

/** The first three letters of words: by the first two, the third ones as bits. */
export class Beginnings {
  readonly #thirds = new Int32Array(PAIRS);

  /** Each of three small letters at least. */
  constructor(words: readonly string[]) {
    for (const word of words) {
      const [first = 0, second = 0, third = 0] = Buffer.from(word, 'latin1');
      const pair = follow(follow(0, first), second);
      this.#thirds[pair] = (this.#thirds[pair] ?? 0) | (1 << (third & 31));
    }
  }

  /** Where one may begin. */
  places(low: Uint8Array): readonly number[] {
    const thirds = this.#thirds;
    const found: number[] = [];
    let pair = 0;
    for (let at = 0; at < low.length; at++) {
      const byte = low[at] ?? 0;
      if (((thirds[pair] ?? 0) & (1 << (byte & 31))) !== 0) found.push(at - 2);
      pair = follow(pair, byte);
    }
    return found;
  }
}

/** Two characters of seven bits. */
const PAIRS = 1 << 14;

function follow(pair: number, byte: number): number {
  return ((pair << 7) | (byte & 127)) & (PAIRS - 1);
}
