/**
 * What rules ask of texts that the hub does not look at itself: of long ones everything (detectors, patterns, where a value
 * stands), of short ones the detectors that need a third-party parser. Each is a question for a confined process, asked once for
 * each text; until it is answered the rule is undecided and waits (decisions 27 and 46). Without an instance of this class
 * everything is computed at once, by the same functions.
 */

import {
  type AnswerBook,
  type Json,
  type JsonObject,
  jsonText,
  type Question,
  sizeOfTexts,
} from '@cordon/core';
import { EXHAUSTED_REASON } from '@cordon/regex';
import type { TraceEvent } from '../events/trace-event.ts';
import { type Undecided, undecided } from './value.ts';
/**
 * UTF-16 units, of all texts of one question. The slowest functions take 10 µs for each unit of the worst texts; the hub's
 * loop may be busy for 50 ms.
 */
export const LONG_TEXT = 4_096;
/** What a text counts besides its units. Attack: a hundred thousand texts of one letter. */
const COST_OF_TEXT = 16;

/** One function of a rule, with all that it looks at. */
export type TextWork =
  | {
      readonly kind: 'detector';
      readonly name: string;
      readonly texts: readonly string[];
      /** What the first argument is, as rules name its kind. */
      readonly of: string;
      readonly rest: readonly Json[];
      readonly named: JsonObject;
      readonly given: JsonObject;
      /** Our own code was tried, and needs a third-party parser. */
      readonly isParsed: boolean;
    }
  | { readonly kind: 'find' | 'match'; readonly pattern: string; readonly text: string }
  | {
      readonly kind: 'origin';
      /** As JSON: one text is sent to the process faster than many small values. */
      readonly event: string;
      readonly value: string;
      /** The value was taken out of an encoding. */
      readonly isDecoded: boolean;
    };

type OriginWork = Extract<TextWork, { kind: 'origin' }>;
/** The same as rules ask for it, before the event is written. */
export type AskedWork =
  | Exclude<TextWork, OriginWork>
  | (Omit<OriginWork, 'event'> & { readonly event: TraceEvent });

/** Why there is no answer: the process names one of these, because a sentence from it could be an app's. */
export const WORK_FAULTS = {
  exhausted: EXHAUSTED_REASON,
  'needs-parser': 'the text needs a parser that does not run here',
  'no-answer': 'the text cannot be judged',
  'too-much-found': 'more was found in a text than is told',
} as const;
export type WorkFault = keyof typeof WORK_FAULTS;

/** Texts and values that have a short name; the oldest go first. */
const MOST_NAMES = 256;
const MOST_NAMED = 64 * 1024 * 1024;

export class TextQuestions {
  readonly #book: AnswerBook;
  readonly #names = new Map<string, number>();
  readonly #objects = new WeakMap<object, TextName>();
  /** Of events that have happened, which never change. */
  readonly #texts = new WeakMap<TraceEvent, string>();
  #next = 0;
  #named = 0;

  constructor(book: AnswerBook) {
    this.#book = book;
  }

  /** What is known of it; else an undecided value that waits for the answer. */
  ask(work: AskedWork): { readonly answer: Json } | Undecided {
    const digest = this.#keyOf(work);
    const known = this.#answerTo(digest);
    if (known !== null) return known;
    const question: Question = { service: 'text', digest, input: this.#inputOf(work) };
    return undecided('a text has not been looked at', null, [question]);
  }

  /** Null: nobody was asked, or the answer is kept no more. */
  find(work: AskedWork): { readonly answer: Json } | Undecided | null {
    return this.#answerTo(this.#keyOf(work));
  }

  #answerTo(digest: string): { readonly answer: Json } | Undecided | null {
    const known = this.#book.find({ service: 'text', digest });
    if (known === null) return null;
    return known.ok ? { answer: known.value } : undecided(known.fault);
  }

  /** The process gets a copy of it: all of it is plain data. */
  #inputOf(work: AskedWork): JsonObject {
    const sent: TextWork = work.kind === 'origin' ? { ...work, event: this.#textOf(work.event) } : work;
    return sent as unknown as JsonObject;
  }

  /** Written once: each value of a call asks about the same event. */
  #textOf(event: TraceEvent): string {
    const known = this.#texts.get(event);
    if (known !== undefined) return known;
    const text = jsonText(event as unknown as JsonObject);
    this.#texts.set(event, text);
    return text;
  }

  #keyOf(work: AskedWork): string {
    switch (work.kind) {
      case 'detector': {
        const { kind, name, texts, of, rest, named, given } = work;
        return JSON.stringify([
          kind,
          name,
          of,
          this.#nameOfAll(texts),
          this.#nameOf(JSON.stringify([rest, named, given])),
        ]);
      }
      case 'find':
      case 'match':
        return JSON.stringify([work.kind, work.pattern, this.#nameOf(work.text)]);
      case 'origin':
        return JSON.stringify([
          work.kind,
          this.#nameOfEvent(work.event),
          this.#nameOf(work.value),
          work.isDecoded,
        ]);
    }
  }

  #nameOfAll(texts: readonly string[]): string {
    const [only] = texts;
    if (texts.length === 1 && only !== undefined) return nameOfText(this.#nameOf(only));
    return nameOfValue(this.#nameOf(JSON.stringify(texts)));
  }

  /** Only what brings texts is in it: the same event is a new object in each decision. */
  #nameOfEvent(event: TraceEvent): string {
    switch (event.type) {
      case 'Message':
        return JSON.stringify(['said', event.role, this.#nameOfJson(event.content)]);
      case 'ToolOutput':
        return JSON.stringify([
          'output',
          this.#nameOfJson(event.content),
          this.#nameOfJson(event.structured ?? null),
        ]);
      case 'AppResponse':
        return JSON.stringify(['response', this.#nameOfJson(event.message)]);
      default:
        return String(this.#nameOf(JSON.stringify(event)));
    }
  }

  #nameOfJson(value: unknown): string {
    if (typeof value === 'string') return nameOfText(this.#nameOf(value));
    if (typeof value !== 'object' || value === null || !Object.isFrozen(value))
      return nameOfValue(this.#nameOf(JSON.stringify(value)));
    const known = this.#objects.get(value);
    if (known !== undefined) return nameOfValue(known);
    const name = this.#nameOf(jsonText(value as Json));
    this.#objects.set(value, name);
    return nameOfValue(name);
  }

  /**
   * A number instead of a long text. V8 hashes a long text by its length, and finds the same one by its address: neither takes
   * longer for a longer text. A short one names itself: a list of many would push the names of others out.
   */
  #nameOf(text: string): TextName {
    if (text.length <= LONG_TEXT) return JSON.stringify(text);
    const known = this.#names.get(text);
    if (known !== undefined) return known;
    this.#named += text.length;
    for (const oldest of this.#names.keys()) {
      if (this.#names.size < MOST_NAMES && this.#named <= MOST_NAMED) break;
      this.#names.delete(oldest);
      this.#named -= oldest.length;
    }
    this.#names.set(text, this.#next);
    return this.#next++;
  }
}

/** A number, or the JSON of the text, which begins with a quotation mark. */
type TextName = number | string;

/**
 * Attack: a text that reads like the JSON of a list of texts gets the answer "clean", and then the list itself comes, in
 * which the escapes are line breaks and hidden characters. A text and the JSON of a value never have the same name.
 */
function nameOfText(name: TextName): string {
  return `text ${name}`;
}

function nameOfValue(name: TextName): string {
  return `json ${name}`;
}

/** Whether the hub must not look at these itself. */
export function areLong(texts: readonly string[]): boolean {
  let size = 0;
  for (const { length } of texts) {
    size += length + COST_OF_TEXT;
    if (size > LONG_TEXT) return true;
  }
  return false;
}

/** The same for all texts and names in a value. */
export function isLong(value: Json): boolean {
  return sizeOfTexts(value, LONG_TEXT, COST_OF_TEXT) > LONG_TEXT;
}
