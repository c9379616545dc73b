/**
 * Where names may stand: a reading of a text that makes nothing, before the one that looks at words and their
 * surroundings. It knows for each word with a capital whether it may be in a list, and for what stands beside it whether
 * it may announce a name; of a stretch without either, the second reading would find nothing.
 */

import { once } from '../../text/on-demand.ts';
import { unitsOf } from '../../text/text-units.ts';

export interface NameStretch {
  /** Where its first word with a capital begins. */
  readonly start: number;
  /** Behind the first letter of its last one. */
  readonly end: number;
}

/** Of a character, to runs of words with capitals: it ends one, may be in one, is a small letter of ASCII, a capital. */
const OTHER = 0;
const INSIDE = 1;
const SMALL = 2;
const CAPITAL = 3;
/** Up to here letters are distinguished; behind it, a character is taken for a capital unless it is known to be none. */
const KNOWN = 0x2000;
/** Of punctuation, arrows, mathematics, lines; of East Asian scripts. None of them has capitals. */
const WITHOUT_CAPITALS = /[\u2000-\u20ff\u2190-\u24b5\u2500-\u2bff\u3000-\ua63f\uac00-\ud7af\uff00-\uff20]/;
const SPACE = 0x20;
const COMMA = 0x2c;
/** No particle between the words of a name is as long. */
const LONG_WORD = 6;

/** Of ASCII letters, in either case: the words that are distinguished from others, by a hash. Some others pass, too. */
export class WordFilter {
  readonly #bits = new Uint8Array(1 << 16);

  /** Of each word the letters that it begins with. */
  constructor(words: Iterable<string>) {
    for (const word of words) {
      const { hash } = wordHash(unitsOf(word), 0, word.length);
      this.#bits[hash >>> 3] = (this.#bits[hash >>> 3] ?? 0) | (1 << (hash & 7));
    }
  }

  has(hash: number): boolean {
    return ((this.#bits[hash >>> 3] ?? 0) & (1 << (hash & 7))) !== 0;
  }

  /** Whether the letters before `end` are one; no word is longer than a dozen. */
  hasBefore(text: string, end: number): boolean {
    let start = end;
    while (end - start <= 12 && isAsciiLetter(text.charCodeAt(start - 1))) start--;
    if (start === end) return false;
    let hash = 0;
    for (let at = start; at < end; at++) hash = hashed(hash, text.charCodeAt(at));
    return this.has(hash);
  }
}

/** Of 19 bits, of the letters so far and the next one; in either case the same. */
function hashed(hash: number, letter: number): number {
  return (Math.imul(hash, 31) + (letter | 0x20) * 0x9e3b) & 0x7ffff;
}

export interface NameSigns {
  /** Words that may be in a name, or say that one is there. */
  readonly words: WordFilter;
  /** Whether what stands before `at`, where a word with a capital begins, announces a name. */
  readonly isAnnounced: (text: string, at: number) => boolean;
  /** Whether the word that begins at `at` tells what a person did. */
  readonly isTelling: (units: Uint16Array, at: number) => boolean;
}

/**
 * Stretches from one word with a capital to another, all runs of such words (with spaces and particles between them) with
 * a sign of a name among them. In the order of the text; no run continues from one into the next.
 */
export function nameStretches(text: string, signs: NameSigns): readonly NameStretch[] {
  const units = unitsOf(text);
  const kinds = characterKinds();
  const found: NameStretch[] = [];
  /** Of words with capitals, -1: none yet. */
  let first = -1;
  let last = -1;
  let isSign = false;
  let behind = 0;
  for (let at = 0; at < units.length; ) {
    const unit = units[at] ?? 0;
    let end = at + 1;
    let isOver = false;
    switch (unit < KNOWN ? kinds[unit] : kindOf(text, at)) {
      case SMALL:
        while (end < units.length && kinds[units[end] ?? 0] === SMALL) end++;
        if (first >= 0 && !isSign) isSign = signs.isTelling(units, at);
        // Behind a hyphen or an apostrophe it may be the rest of a word with a capital.
        isOver = end - at >= LONG_WORD && (at === behind || units[at - 1] === SPACE);
        break;
      case CAPITAL: {
        const { hash, end: wordEnd } = wordHash(units, at, units.length);
        end = Math.max(end, wordEnd);
        if (first < 0) first = at;
        last = at;
        // Words with other letters than those of ASCII are all looked at.
        const isWide = wordEnd === at || (units[wordEnd] ?? 0) >= 0x80;
        isSign ||= isWide || signs.words.has(hash) || signs.isAnnounced(text, at);
        break;
      }
      case OTHER:
        if (first >= 0 && !isSign && unit === COMMA) isSign = signs.isTelling(units, at + 2);
        isOver = true;
        break;
    }
    at = end;
    if (!isOver) continue;
    if (isSign) found.push({ start: first, end: last + 1 });
    first = -1;
    isSign = false;
    behind = at;
  }
  if (isSign) found.push({ start: first, end: last + 1 });
  return found;
}

function wordHash(
  units: Uint16Array,
  start: number,
  last: number,
): { readonly hash: number; readonly end: number } {
  let hash = 0;
  let end = start;
  for (; end < last && isAsciiLetter(units[end] ?? 0); end++) hash = hashed(hash, units[end] ?? 0);
  return { hash, end };
}

function isAsciiLetter(unit: number): boolean {
  return (unit >= 0x41 && unit <= 0x5a) || (unit >= 0x61 && unit <= 0x7a);
}

function kindOf(text: string, at: number): number {
  return WITHOUT_CAPITALS.test(text[at] ?? '') ? INSIDE : CAPITAL;
}

/** By character. Of ASCII, all that no run of words holds ends a stretch; of the rest, nothing does. */
const characterKinds = once(() =>
  Uint8Array.from({ length: KNOWN }, (_, unit) => {
    const character = String.fromCharCode(unit);
    if (/\p{Lu}/u.test(character)) return CAPITAL;
    if (/[a-z]/.test(character)) return SMALL;
    return unit >= 0x80 || unit === SPACE || /[.'&-]/.test(character) ? INSIDE : OTHER;
  }),
);
