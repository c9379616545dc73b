/**
 * What of a call's arguments decides whom it reaches: addresses and names, for the warnings of a question; and what must
 * be the same for a permission that lasts. Pure functions of the values: the tool's schema is the app's own word.
 *
 * Ring 0.
 */
import { isJsonObject, type Json, type JsonObject } from '@cordon/core';
import { spokenLink } from '@cordon/policy/rules';
import { ownLines } from './own-words.ts';

/** A value that names somebody or some place, and the argument it stands in. */
export interface Recipient {
  /** `to`, or `message.cc` for one that lies deeper. */
  readonly key: string;
  readonly value: string;
}

/** Mail addresses, links, hosts, handles, numbers of telephones and accounts. No part of it can be matched in many ways. */
const ADDRESSES =
  /[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+|[a-z][a-z0-9+.-]{1,15}:\/\/[^\s"'<>]{1,200}|(?<![\w.])(?:[a-z0-9-]{1,63}\.){1,8}[a-z]{2,24}(?![\w.]*@)|(?<![\w@])@[\w.-]{2,64}|\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]){6,32}\b|\+?\d[\d ()/-]{6,30}\d/giu;

/** Arguments that name a recipient whatever the value looks like, as tools of real servers call them. */
const RECIPIENT_KEY =
  /^(?:to|cc|bcc|recipients?|receivers?|payees?|beneficiary|account|iban|e?mails?|addressee|phone|users?|user_?names?|members?|attendees|guests|invitees|channels?|channel_id|chat|chat_id|contacts?|target|destination|dest|webhook|url|host|domain|share_?with|assignees?)$/i;
const DATE = /^\d{4}-\d{2}-\d{2}/;

/** Texts longer than this, or of several lines, are what is said, not to whom. */
const MOST_NAME = 80;
/**
 * So many recipients are told apart, and so many characters looked at. Attack: a list of a million addresses; one that is
 * behind so many others that nobody looks at it.
 */
const MOST_RECIPIENTS = 200;
const MOST_LOOKED_AT = 256 * 1024;

/** Whom a call reaches. */
export interface Recipients {
  /** The first of those that are there, each once. */
  readonly named: readonly Recipient[];
  /** False: there is more than was looked at, and who knows who else. */
  readonly isAll: boolean;
}

export function recipientsIn(args: Json): Recipients {
  const search = new Search();
  search.look(args, '');
  return search;
}

class Search implements Recipients {
  readonly #found = new Map<string, Recipient>();
  #left = MOST_LOOKED_AT;
  isAll = true;

  get named(): readonly Recipient[] {
    return [...this.#found.values()];
  }

  look(value: Json, key: string): void {
    this.#left -= typeof value === 'string' ? value.length + 1 : 1;
    if (this.#left < 0) this.isAll = false;
    if (!this.isAll) return;
    if (typeof value === 'string') return this.#lookAtText(value, key);
    if (typeof value === 'number' && isRecipientKey(key)) return this.#keep({ key, value: String(value) });
    if (Array.isArray(value)) {
      for (const item of value) this.look(item, key);
    } else if (isJsonObject(value)) {
      for (const [name, inner] of Object.entries(value))
        this.look(inner, key === '' ? name : `${key}.${name}`);
    }
  }

  #lookAtText(text: string, key: string): void {
    const isNamed = isRecipientKey(key);
    if (!isNamed && !isName(text)) return;
    const addresses = DATE.test(text) ? [] : [...text.matchAll(ADDRESSES)].map(([address]) => address);
    // `Ada <ada@example.org>` reaches the address; a name alone is all there is.
    const values = addresses.length > 0 ? addresses : isNamed && text.trim() !== '' ? [text.trim()] : [];
    for (const value of values) this.#keep({ key, value });
  }

  #keep(recipient: Recipient): void {
    const same = JSON.stringify([recipient.key, recipient.value.toLowerCase()]);
    if (this.#found.size >= MOST_RECIPIENTS && !this.#found.has(same)) this.isAll = false;
    else this.#found.set(same, recipient);
  }
}

function isRecipientKey(key: string): boolean {
  return RECIPIENT_KEY.test(key.slice(key.lastIndexOf('.') + 1));
}

function isName(text: string): boolean {
  return text.length <= MOST_NAME && !/[\r\n]/.test(text);
}

/** The arguments of a call, parted into what a lasting permission is bound to and what may be other. */
export interface BoundArguments {
  readonly same: JsonObject;
  /** Names of arguments that hold what is said: long or of several lines, and no recipient. */
  readonly free: readonly string[];
}

/**
 * Attack: a permission to send one mail that covers the next one to somebody else. Everything stays the same but prose;
 * which arguments are prose is part of what was agreed to, so that none becomes free later.
 */
export function boundArguments(args: JsonObject): BoundArguments {
  const isFree = (key: string, value: Json) =>
    typeof value === 'string' && !isRecipientKey(key) && !isName(value);
  const entries = Object.entries(args);
  return {
    same: Object.fromEntries(entries.filter(([key, value]) => !isFree(key, value))),
    free: entries.flatMap(([key, value]) => (isFree(key, value) ? [key] : [])).sort(),
  };
}

/**
 * What the user has said: the words of this session, and facts that were stated before. Attack: a mail that the user quotes says
 * whom to pay, and the question calls that the user's own words, or is not put at all.
 */
export class UserWords {
  readonly #said: string[] = [];
  #private: string[] = [];
  readonly #facts: () => readonly string[];

  constructor(said: readonly string[], facts: () => readonly string[]) {
    this.#said.push(...said.map(ownLines));
    this.#facts = facts;
  }

  hear(text: string): void {
    this.#said.push(ownLines(text));
  }

  /** Words that count until `forget`, and are not kept. */
  hearInPrivate(text: string): void {
    this.#private.push(ownLines(text));
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
