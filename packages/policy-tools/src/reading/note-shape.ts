/**
 * The values that a key may have which no reader interprets. Each such key has a closed form. Attack: a call or words are hidden
 * from the rules under a key whose value nothing checks.
 *
 * Recordings are read with it; the hub does not use it.
 */
import { isJsonObject, type Json } from '@cordon/core';
import { holdsConversation } from './spoken.ts';

/** Whether a text may stand under a key; of a list, under the key of the list. */
type Passes = (text: string, key: string) => boolean;

/** What may stand in lists and objects under keys that no reader interprets: each text must pass. */
const TEXTS = {
  /** Ids, names and dates. */
  notes: isMark,
  /** As `notes`, but each text is one word, and none of them is a part of the conversation. */
  words: isWord,
  /** Numbers. */
  figures: isFigure,
  /** One line of plain text: a title, a task. */
  line: isLine,
  /** Texts of any length, and no call. */
  prose: () => true,
  /** Short texts of any kind. */
  short: (text) => text.length <= MOST_SHORT,
  /** What only the provider can read. */
  sealed: isSealed,
  /** JSON Schema, with prose where such a schema has prose. */
  schema: (text, key) => SCHEMA_PROSE.has(key) || isMark(text),
  /** Where words came from, with a copy of the words that were cited. */
  citations: (text, key) => CITED.has(key) || isMark(text),
  /** The pieces of what was said, each with its probability. */
  odds: (text) => text.length <= MOST_TOKEN,
  /** Marks, and what a provider says of an error. */
  failure: (text, key) => (FAILURES.has(key) && text.length <= MOST_FAILURE) || isMark(text),
} satisfies Readonly<Record<string, Passes>>;

/**
 * - `read`: its reader looks at it.
 * - `data`: whatever it is, rules see it as it is, or it is a description of a tool; it holds no call and no message.
 * - `mark`: a number, a truth or one short text: an id, a name, a date.
 * - The others: texts that pass, in lists and objects.
 */
export type NoteShape = 'read' | 'data' | 'mark' | keyof typeof TEXTS;

/** The keys of one kind of element, each with what may stand under it. */
export type KnownKeys = ReadonlyMap<string, NoteShape>;

/** Keys that are not read, by what may stand under them. */
export type Notes = Readonly<Partial<Record<NoteShape, readonly string[]>>>;

/** Keys that are read, and those that are not. */
export function knownKeys(read: readonly string[], notes: Notes = {}): KnownKeys {
  const keys = new Map<string, NoteShape>();
  for (const [shape, ofShape] of Object.entries(notes) as [NoteShape, readonly string[]][])
    for (const key of ofShape) keys.set(key, shape);
  for (const key of read) keys.set(key, 'read');
  return keys;
}

/** Where in a value the first thing stands that its key does not allow, as keys; null: all of it is allowed. */
export function misfit(shape: NoteShape, value: Json | undefined, key: string): readonly string[] | null {
  if (shape === 'read' || value === undefined) return null;
  const isContainer = typeof value === 'object' && value !== null;
  if (isContainer && shape !== 'odds' && holdsConversation(key, value)) return [];
  if (shape === 'data') return null;
  if (shape !== 'mark') return within(value, key, TEXTS[shape]);
  if (isContainer) return Object.keys(value).length === 0 ? null : [];
  return within(value, key, isMark);
}

/** Every text must pass, with the key under which it stands; keys are texts too. It recurses as deep as a trace may be. */
function within(value: Json, key: string, passes: Passes): readonly string[] | null {
  if (typeof value === 'string') return value === '' || passes(value, key) ? null : [];
  if (typeof value !== 'object' || value === null) return null;
  for (const [inner, child] of Object.entries(value)) {
    if (!isMark(inner)) return [inner];
    // The elements of a list stand under the key of the list.
    const found = within(child, isJsonObject(value) ? inner : key, passes);
    if (found !== null) return [inner, ...found];
  }
  return null;
}

const MOST_MARK = 100;
const MOST_WORD = 256;
const MOST_LINE = 300;
const MOST_SHORT = 100;
const MOST_TOKEN = 100;
const MOST_FAILURE = 2000;

/** Braces, brackets and quotes are of JSON and of code: no id, name or date has them. */
const PLAIN = /^[^\p{C}\p{Zl}\p{Zp}{}[\]"]*$/u;

/** An id, a name, a date, an address. Longer ones are one word. */
export function isMark(text: string): boolean {
  return text.length <= (/\s/.test(text) ? MOST_MARK : MOST_WORD) && PLAIN.test(text);
}

/** Under unknown keys. A text under a key of words is one as well. */
function isWord(text: string, key: string): boolean {
  return !SAID.has(key) && isMark(text) && !/\s/.test(text.trim().replace(TIME, ''));
}

/** `2025-01-01 12:00:00 UTC` */
const TIME = /^\d{4}-\d\d-\d\d \d\d:\d\d(:\d\d(\.\d+)?)?( ?(UTC|Z|[+-]\d\d:?\d\d))?$/;

/** Keys of what was said, in logs of others. */
const SAID: ReadonlySet<string> = new Set([
  ...['answer', 'completion', 'prompt', 'transcript', 'output_text', 'final_output', 'final_answer', 'reply'],
  ...['text', 'content', 'thought', 'thinking', 'reasoning_content', 'system_prompt', 'system'],
  ...['instructions', 'query', 'question', 'observation', 'message', 'response', 'input', 'output'],
  ...['user_input', 'utterance'],
]);

const FIGURE_KEYS: ReadonlySet<string> = new Set([
  ...['service_tier', 'inference_geo', 'modality', 'type', 'unit', 'currency', 'speed', 'model', 'provider'],
  ...['traffic_type', 'trafficType'],
]);
const FIGURE = /^[-+$€£]?\s?[\d.,:e+-]{1,40}\s?[a-zµ%]{0,4}$/i;

function isFigure(text: string, key: string): boolean {
  return FIGURE_KEYS.has(key) ? isMark(text) : FIGURE.test(text);
}

function isLine(text: string): boolean {
  return text.length <= MOST_LINE && /^[^\p{C}\p{Zl}\p{Zp}{}[\]]*$/u.test(text);
}

/** Bytes in base64 or hexadecimal, with what tokens put between them. */
function isSealed(text: string): boolean {
  return /^[\w+/=.:~…-]*$/.test(text);
}

const SCHEMA_PROSE: ReadonlySet<string> = new Set([
  ...['description', 'title', 'pattern', 'enum', 'const', 'default', 'examples', '$comment', 'definition'],
]);

const CITED: ReadonlySet<string> = new Set([
  ...['title', 'cited_text', 'document_title', 'url', 'uri', 'filename', 'source', 'text', 'quote'],
  'license',
  ...['renderedContent', 'rendered_content', 'snippet', 'webSearchQueries', 'web_search_queries', 'content'],
]);

const FAILURES: ReadonlySet<string> = new Set([
  ...['message', 'error', 'detail', 'reason', 'finishMessage', 'finish_message', 'blockReasonMessage'],
  ...['block_reason_message', 'explanation', 'description', 'param', 'stop_details'],
]);
