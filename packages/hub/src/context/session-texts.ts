/** What the user said in a session, in which a value is looked for as it stands. */

import { namesPlaceOf, spokenLink } from '@cordon/policy';
import { unquotedLines } from './unquoted-text.ts';

/**
 * What the user has said: the words of this session, and facts that were stated before. Attack: a mail that the user quotes says
 * whom to pay, and the question calls that the user's own words, or is not put at all.
 */
export class UserTexts {
  readonly #said: string[] = [];
  #private: string[] = [];
  readonly #facts: () => readonly string[];

  constructor(said: readonly string[], facts: () => readonly string[]) {
    this.#said.push(...said.map(unquotedLines));
    this.#facts = facts;
  }

  hear(text: string): void {
    this.#said.push(unquotedLines(text));
  }

  /** Words that count until `forget`, and are not kept. */
  hearInPrivate(text: string): void {
    this.#private.push(unquotedLines(text));
  }

  forget(): void {
    this.#private = [];
  }

  /**
   * Whether the value stands in the user's words, as a whole word: `b@x.org` is not in `bob@x.org`. `https://x.org/` is said by
   * who says `x.org`.
   */
  hold(value: string): boolean {
    const spoken = spokenLink(value);
    return this.#holds(value.toLowerCase()) || (spoken !== null && this.#holds(spoken.toLowerCase()));
  }

  /** Whether the user names the folder of this path and a word of its last name, or the very site of this link. */
  holdPlaceOf(value: string): boolean {
    return this.#texts().some((text) => namesPlaceOf(value, text));
  }

  #texts(): readonly string[] {
    return [...this.#said, ...this.#private, ...this.#facts()];
  }

  #holds(wanted: string): boolean {
    if (wanted === '') return true;
    return this.#texts().some(
      (text) => placeOfWord(text, text.toLowerCase(), wanted) >= 0 || holdsDigits(text, wanted),
    );
  }
}

/**
 * `+44 20 7946` is `+44207946`; where there is anything but digits it is not compared so. Attack: a text in `-` and `/`, of which nothing
 * would be left to compare.
 */
function holdsDigits(text: string, wanted: string): boolean {
  const plain = (from: string) => from.replace(/[\s()/-]/g, '');
  return /^\+?\(?\d(?:[\s()/-]{0,2}\d){6,}$/.test(wanted) && plain(text).includes(plain(wanted));
}

const INSIDE = /[\p{L}\p{N}_@+-]/u;
/** Places of one value in one text. Attack: a text of two million times the same letter. */
const MOST_PLACES = 1000;

/** Where it stands in the text as a whole word; -1: nowhere. @param lower the text in lower case, as `wanted` is */
export function placeOfWord(text: string, lower: string, wanted: string): number {
  // Where lower case has another length, places cannot be told in the text as it was written.
  const written = lower.length === text.length ? text : lower;
  let at = lower.indexOf(wanted);
  for (let places = 0; at !== -1 && places < MOST_PLACES; places++) {
    const before = lower.slice(Math.max(0, at - 3), at);
    const after = written.slice(at + wanted.length, at + wanted.length + 4);
    if (!INSIDE.test(before.slice(-1)) && !/[\p{L}\p{N}]\.$/u.test(before) && !continues(after)) return at;
    at = lower.indexOf(wanted, at + 1);
  }
  return -1;
}

/** A full stop ends a sentence, unless more of a name follows it; a new sentence may follow without a space. */
function continues(after: string): boolean {
  return (
    INSIDE.test(after.slice(0, 1)) || (/^\.[\p{L}\p{N}]/u.test(after) && !/^\.\p{Lu}\p{Ll}/u.test(after))
  );
}
