/**
 * What apps have returned in one query, and where a value stands in it: in a field that a program keeps, or inside a text that
 * somebody wrote. Attack: a text that was read out in an earlier query says what is to be done in a later one; so what was
 * returned before it, or is forgotten, holds nothing.
 */
import {
  type AppId,
  type EventId,
  isJsonObject,
  type Json,
  type JsonObject,
  type PromptQuote,
  parseJson,
} from '@cordon/core';
import { innerFields, isWrittenField, type RecordField, recordFields, sentenceAt } from '@cordon/policy';
import { placeOfWord } from './session-texts.ts';
import { type Headers, headersOf, NO_HEADERS, recordHeaders } from './text-headers.ts';

/** What one call returned. */
export interface ReturnedOutput {
  readonly app: AppId;
  readonly tool: string;
  readonly event: EventId;
  readonly text: string;
  readonly structured: Json;
  /** What the call was made with. */
  readonly arguments: JsonObject;
  /** Of these, what says what was asked for: all arguments of a look-up, the identifying ones of an action. Absent: all. */
  readonly leading?: JsonObject;
  /** The user's words name what the call asked for, `bill.txt`, or the folder or site in which it lies; null: neither. */
  readonly namedByUser: 'itself' | 'place' | null;
  /** Nobody else may have written it. */
  readonly isTrusted: boolean;
  /** It may hold what not everybody may know. */
  readonly isPrivate: boolean;
}

/** A part of an output, with what the record around it says of its writer. */
export interface Passage {
  readonly output: ReturnedOutput;
  readonly text: string;
  readonly headers: Headers;
  /** All of the output is one text, whose writer is only who its first lines name. */
  readonly isWholeText: boolean;
}

/**
 * Where a value stands.
 *
 * - `field`: it is all of a field of a record, such as the sender of a mail, or stands in a text that nobody else writes;
 * - `named-text`: inside a text that the user named;
 * - `named-place`: inside a text below a folder or on a site that the user named;
 * - `text`: inside a text that the agent came across.
 */
export interface Standing {
  readonly how: 'field' | 'named-text' | 'named-place' | 'text';
  /** The name of the field; null: it has none, or the value stands inside a text. */
  readonly field: string | null;
  readonly isTrusted: boolean;
  /** The call that returned it. */
  readonly app: AppId;
  readonly tool: string;
  /** A text that holds it, of this call or of another; for a field that stands in no text, the record. */
  readonly quote: PromptQuote;
}

const MOST_RETURNED = 2 * 1024 * 1024;
/** Longer outputs are not taken apart: what stands in them stands inside a text. */
const MOST_PARSED = 256 * 1024;
/**
 * Parts of one output with the value that are looked at closely. Attack: a hundred thousand parts in which it stands as a part of
 * a word, for each of two hundred recipients; what stands behind them stands nowhere, and is warned about.
 */
const MOST_LOOKED_AT = 50;
/** Characters of a quoted sentence, and of what stands in it before the word that was looked for. */
const MOST_QUOTED = 240;
const MOST_BEFORE = 40;

/** A part of an output, with what the record around it says of its writer. */
interface Leaf {
  readonly text: string;
  readonly field: string | null;
  readonly headers: Headers;
  /** Absent: it is a part of a record. */
  readonly isWholeText?: true;
  /** It is an item of a list that another leaf holds as a whole. */
  readonly isItem?: true;
}

/** An output, taken apart when it is first looked at. */
interface Heard extends ReturnedOutput {
  /** All of it, in lower case. */
  readonly lower: string;
  leaves: readonly LowerLeaf[] | null;
}

interface LowerLeaf extends Leaf {
  readonly lower: string;
}

interface Found {
  readonly output: ReturnedOutput;
  readonly leaf: Leaf;
  /** Where in the leaf; null: it is all of it. */
  readonly at: number | null;
  /** What was looked for, in lower case. */
  readonly word: string;
}

export class ReturnedTexts {
  readonly #outputs: Heard[] = [];
  #characters = 0;
  #isAll = true;

  /** Whether nothing was forgotten. */
  get isAll(): boolean {
    return this.#isAll;
  }

  hear(output: ReturnedOutput): void {
    const structured = output.structured === null ? '' : JSON.stringify(output.structured);
    const lower = `${output.text}\n${structured}`.toLowerCase();
    this.#outputs.push({ ...output, lower, leaves: null });
    this.#characters += lower.length;
    while (this.#characters > MOST_RETURNED) {
      this.#characters -= this.#outputs.shift()?.lower.length ?? 0;
      this.#isAll = false;
    }
  }

  /**
   * Where the value stands as a whole word, in plain text; null: nowhere. One that is encoded, or that somebody put together,
   * stands nowhere. What a program keeps counts before what somebody wrote.
   */
  find(value: string): Standing | null {
    const found = this.#found(value);
    const written = found.filter(({ at }) => at !== null);
    const field = found.find(({ at }) => at === null);
    const kept = field ?? written.find(({ output }) => output.isTrusted);
    const inNamed = (named: ReturnedOutput['namedByUser']) =>
      written.find(({ output }) => output.namedByUser === named);
    const best = kept ?? inNamed('itself') ?? inNamed('place') ?? written[0];
    if (best === undefined) return null;
    return {
      how: best === kept ? 'field' : howNamed(best.output),
      field: best === field ? best.leaf.field : null,
      isTrusted: best.output.isTrusted,
      app: best.output.app,
      tool: best.output.tool,
      // What says it in a sentence tells more than the field.
      quote: quoteOf(written[0] ?? best),
    };
  }

  /** The first text in which somebody wrote one of the words; null: nobody did. */
  quoteWords(words: readonly string[]): PromptQuote | null {
    for (const word of words) {
      const found = this.#found(word).find(({ at }) => at !== null);
      if (found !== undefined) return quoteOf(found);
    }
    return null;
  }

  /** The text of one of these events that has one of the words, where it has it; else its beginning. */
  quote(events: readonly EventId[], words: readonly string[]): PromptQuote | null {
    const output = this.#outputs.findLast(({ event }) => events.includes(event));
    if (output === undefined) return null;
    const found = words.flatMap((word) => foundIn(output, word.toLowerCase())).find(({ at }) => at !== null);
    if (found !== undefined) return quoteOf(found);
    const longest = leavesOf(output).reduce<Leaf>(
      (longer, leaf) => (leaf.text.length > longer.text.length ? leaf : longer),
      { text: '', field: null, headers: NO_HEADERS },
    );
    const at = longest.text.search(/\S/);
    return at < 0 ? null : quoteOf({ output, leaf: longest, at, word: '' });
  }

  /** All that was returned, part by part. */
  passages(): readonly Passage[] {
    return this.#outputs.flatMap((output) =>
      leavesOf(output)
        .filter(({ isItem }) => isItem === undefined)
        .map(({ text, headers, isWholeText = false }) => ({ output, text, headers, isWholeText })),
    );
  }

  #found(word: string): readonly Found[] {
    const wanted = word.toLowerCase();
    // Outputs without it are not taken apart.
    const holding = this.#outputs.filter(({ lower }) => lower.includes(wanted));
    return holding.flatMap((output) => foundIn(output, wanted));
  }
}

function howNamed({ namedByUser }: ReturnedOutput): Exclude<Standing['how'], 'field'> {
  if (namedByUser === null) return 'text';
  return namedByUser === 'itself' ? 'named-text' : 'named-place';
}

/** Quotes the sentence of a passage that has this in it. */
export function quotePassage({ output, text, headers }: Passage, part: string): PromptQuote {
  const word = part.toLowerCase();
  const at = Math.max(0, text.toLowerCase().indexOf(word));
  return quoteOf({ output, leaf: { text, field: null, headers }, at, word });
}

function quoteOf({ output: { app, tool }, leaf, at, word }: Found): PromptQuote {
  const { sender, title } = leaf.headers;
  const text = at === null ? leaf.text : fromWord(sentenceAt(leaf.text, at), word);
  return { app, tool, sender, title, text: text.slice(0, MOST_QUOTED) };
}

/** A sentence, from some words before this one on: it has to be seen, and the question has one line for it. */
function fromWord(sentence: string, word: string): string {
  const at = sentence.toLowerCase().indexOf(word);
  return at <= MOST_BEFORE ? sentence : `… ${sentence.slice(at - MOST_BEFORE).replace(/^\S{0,20}\s/, '')}`;
}

function foundIn(output: Heard, wanted: string): readonly Found[] {
  if (wanted === '') return [];
  const holding = leavesOf(output).filter(({ lower }) => lower.includes(wanted));
  return holding.slice(0, MOST_LOOKED_AT).flatMap((leaf): Found[] => {
    if (isAllOf(leaf, wanted)) return [{ output, leaf, at: null, word: wanted }];
    const at = placeOfWord(leaf.text, leaf.lower, wanted);
    return at < 0 ? [] : [{ output, leaf, at, word: wanted }];
  });
}

/** `Ada <ada@example.org>` is the address. The name before it is whatever its owner calls themselves. */
function isAllOf({ text, field }: Leaf, wanted: string): boolean {
  if (field !== null && isWrittenField(field)) return false;
  if (field === null && /\s/.test(text.trim())) return false;
  const own = text.trim().toLowerCase();
  return own === wanted || /^[^<>]*<([^<>]+)>$/.exec(own)?.[1] === wanted;
}

function leavesOf(output: Heard): readonly LowerLeaf[] {
  if (output.leaves === null) {
    const leaves = [...structuredLeaves(output.structured), ...textLeaves(output.text)];
    output.leaves = leaves.map((leaf) => ({ ...leaf, lower: leaf.text.toLowerCase() }));
  }
  return output.leaves;
}

function structuredLeaves(structured: Json): readonly Leaf[] {
  if (structured === null) return [];
  const text = JSON.stringify(structured);
  if (text.length > MOST_PARSED) return [{ text, field: 'text', headers: NO_HEADERS }];
  return leavesIn(structured, null, NO_HEADERS);
}

/** A text is a record as a whole or not at all: otherwise whoever writes a document could put fields into it. */
function textLeaves(text: string): readonly Leaf[] {
  if (text === '') return [];
  if (text.length > MOST_PARSED) return [{ text, field: 'text', headers: NO_HEADERS }];
  const parsed = /^\s*[[{]/.test(text) ? parseJson(text) : null;
  if (parsed?.ok) return leavesIn(parsed.value, null, NO_HEADERS);
  const fields = recordFields(text);
  if (fields !== null) return fields.flatMap((field) => fieldLeaves(field, NO_HEADERS));
  const headers = headersOf(text);
  const sender = headers.sender === null ? [] : [{ text: headers.sender, field: 'from', headers }];
  return [...sender, { text, field: 'text', headers, isWholeText: true }];
}

function leavesIn(value: Json, field: string | null, headers: Headers): readonly Leaf[] {
  if (Array.isArray(value)) return value.flatMap((item: Json) => leavesIn(item, field, headers));
  if (isJsonObject(value)) {
    const own = recordHeaders(value, headers);
    return Object.entries(value).flatMap(([key, inner]) => [
      // A key that a program chose; attack: one that somebody else did, so it is none of its fields.
      { text: key, field: 'text', headers: own },
      ...leavesIn(inner, key, own),
    ]);
  }
  if (value === null || typeof value === 'boolean') return [];
  return fieldLeaves({ text: String(value), name: field ?? '', object: null, isItem: false }, headers);
}

/** A list that a program wrote into a field is looked up by its items, and compared as the text that it is. */
function fieldLeaves(field: RecordField, headers: Headers): readonly Leaf[] {
  const inner = innerFields(field);
  const leaf = { text: field.text, field: field.name || null, headers };
  if (inner.length === 1 && inner[0] === field) return [leaf];
  const items = inner.map(({ text, name }): Leaf => ({ text, field: name || null, headers, isItem: true }));
  return [{ ...leaf, field: 'text' }, ...items];
}
