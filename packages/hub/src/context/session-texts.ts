/**
 * Texts of a session in which a value is looked for as it stands: what the user said, and what apps returned.
 */

import { spokenLink } from '@cordon/policy';
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

  #holds(wanted: string): boolean {
    if (wanted === '') return true;
    const texts = [...this.#said, ...this.#private, ...this.#facts()];
    return texts.some((text) => holdsWord(text, text.toLowerCase(), wanted) || holdsDigits(text, wanted));
  }
}

/**
 * What apps have returned in one query, to find a value in as it stands. Attack: a text that was read out in an earlier
 * query says what is to be done in a later one; so what was returned before it, or is forgotten, holds nothing.
 */
export class ReturnedTexts {
  readonly #texts: string[] = [];
  #characters = 0;

  hear(text: string): void {
    this.#texts.push(text.toLowerCase());
    this.#characters += text.length;
    while (this.#characters > MOST_RETURNED) this.#characters -= this.#texts.shift()?.length ?? 0;
  }

  /** As a whole word, in plain text: one that is encoded, or that somebody put together, stands nowhere. */
  hold(value: string): boolean {
    const wanted = value.toLowerCase();
    return wanted !== '' && this.#texts.some((text) => holdsWord(text, text, wanted));
  }
}

const MOST_RETURNED = 2 * 1024 * 1024;

const INSIDE = /[\p{L}\p{N}_@+-]/u;
/** Places of one value in one text. Attack: a text of two million times the same letter. */
const MOST_PLACES = 1000;

/** Whether it stands in the text as a whole word. @param lower the text in lower case, as `wanted` is */
export function holdsWord(text: string, lower: string, wanted: string): boolean {
  // Where lower case has another length, places cannot be told in the text as it was written.
  const written = lower.length === text.length ? text : lower;
  let at = lower.indexOf(wanted);
  for (let places = 0; at !== -1 && places < MOST_PLACES; places++) {
    const before = lower.slice(Math.max(0, at - 3), at);
    const after = written.slice(at + wanted.length, at + wanted.length + 4);
    if (!INSIDE.test(before.slice(-1)) && !/[\p{L}\p{N}]\.$/u.test(before) && !continues(after)) return true;
    at = lower.indexOf(wanted, at + 1);
  }
  return false;
}

/** A full stop ends a sentence, unless more of a name follows it; a new sentence may follow without a space. */
function continues(after: string): boolean {
  return (
    INSIDE.test(after.slice(0, 1)) || (/^\.[\p{L}\p{N}]/u.test(after) && !/^\.\p{Lu}\p{Ll}/u.test(after))
  );
}

/** `+44 20 7946` is `+44207946`; where there is anything but digits it is not compared so. */
function holdsDigits(text: string, wanted: string): boolean {
  const plain = (from: string) => from.replace(/[\s()/-]/g, '');
  return /^\+?[\d\s()/-]{7,}$/.test(wanted) && plain(text).includes(plain(wanted));
}
