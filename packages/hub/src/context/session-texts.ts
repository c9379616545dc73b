/** What the user said in a session, in which a value is looked for as it stands. */

import { namesPlaceOf, spokenLink } from '@cordon/policy';
import { unquotedLines } from './unquoted-text.ts';
import { placeOfWord } from './whole-word.ts';

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
