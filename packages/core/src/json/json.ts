/** JSON values, and reading them from hostile text within limits. */
import { failed, ok, type Result } from '../values/result.ts';

export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json;
}

/** A JSON Schema is data from an untrusted party until it has been compiled within limits. */
export type JsonSchema = JsonObject;

export interface JsonLimits {
  /** UTF-16 units of the text. */
  readonly length: number;
  /** Nested arrays and objects. */
  readonly depth: number;
  /** Commas and brackets: an upper bound on the number of values. */
  readonly elements: number;
  /** Different names of members, as they are written; absent: as many as there are values. */
  readonly names?: number;
}

export const DEFAULT_JSON_LIMITS: JsonLimits = { length: 4 * 1024 * 1024, depth: 64, elements: 200_000 };

/**
 * Parses `text` after a linear scan that bounds depth and size: `[` five million times would block the hub for
 * seconds inside `JSON.parse`. Keys that could reach a prototype are refused wherever they stand.
 */
export function parseJson(text: string, limits: JsonLimits = DEFAULT_JSON_LIMITS): Result<Json, string> {
  const scanned = scanJson(text, limits);
  return scanned.ok ? scanned.value.parse() : scanned;
}

/** A text that is within the limits, and may be no JSON. */
export interface ScannedJson {
  /** As the limits count them. */
  readonly elements: number;
  parse(): Result<Json, string>;
}

/** The first half of `parseJson`, for callers that let others run before they parse. */
export function scanJson(text: string, limits: JsonLimits): Result<ScannedJson, string> {
  if (text.length > limits.length) return failed(`the text is longer than ${limits.length} characters`);
  const scanned = scan(text, limits);
  if (!scanned.ok) return scanned;
  const elements = scanned.value;
  return ok({ elements, parse: () => parsed(text, elements) });
}

/** To walk so few values takes less time than to search a long text. */
const FEW_ELEMENTS = 10_000;

function parsed(text: string, elements: number): Result<Json, string> {
  try {
    const value: Json = JSON.parse(text);
    const isSuspect = elements <= FEW_ELEMENTS || canPollute(text);
    return isSuspect && hasPollutingKey(value) ? failed('a key is `__proto__`') : ok(value);
  } catch (error) {
    return failed(error instanceof Error ? error.message : 'not JSON');
  }
}

/** Only a text with the word, or with escapes that could spell a letter of it, has to be walked. */
function canPollute(text: string): boolean {
  return text.includes('__proto__') || (text.includes('\\u00') && SPELT_LETTER.test(text));
}

/** One of `_ p r o t` as an escape. */
const SPELT_LETTER = /\\u00(?:5f|70|72|6f|74)/i;

/** `JSON.parse` makes it an own key. Recursion is as deep as the limits allowed. */
function hasPollutingKey(value: Json): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (Object.hasOwn(value, '__proto__')) return true;
  return Object.values(value).some(hasPollutingKey);
}

/** `"":0,` */
const LEAST_MEMBER = 5;

/** How many elements there are, or what there is too much of. */
function scan(text: string, limits: JsonLimits): Result<number, string> {
  const { names: most = Number.POSITIVE_INFINITY } = limits;
  const names = text.length < most * LEAST_MEMBER ? null : new Set<string>();
  let depth = 0;
  let elements = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 0x22 /* " */) {
      const end = endOfString(text, at + 1);
      if (names !== null && isName(text, end + 1)) names.add(text.slice(at + 1, end));
      at = end;
    } else if (code === 0x5b /* [ */ || code === 0x7b /* { */) {
      if (++depth > limits.depth) return failed(`values are nested more than ${limits.depth} deep`);
      elements++;
    } else if (code === 0x5d || code === 0x7d) depth--;
    else if (code === 0x2c /* , */) elements++;
    if (elements > limits.elements) return failed(`there are more than ${limits.elements} values`);
    if (names !== null && names.size > most) return failed(`members have more than ${most} different names`);
  }
  return ok(elements);
}

/** Whether the string that ends before `at` names a member. */
function isName(text: string, at: number): boolean {
  let code = text.charCodeAt(at);
  for (let next = at + 1; code === 0x20 || (code >= 0x09 && code <= 0x0d); next++)
    code = text.charCodeAt(next);
  return code === 0x3a /* : */;
}

/** Where the quote stands that ends a string whose text begins at `start`; the end of the text if there is none. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start); end !== -1; end = text.indexOf('"', end + 1)) {
    let backslashes = 0;
    while (end - backslashes > start && text.charCodeAt(end - backslashes - 1) === 0x5c) backslashes++;
    if (backslashes % 2 === 0) return end;
  }
  return text.length;
}

/**
 * UTF-16 units of all texts and names in a value, where each value counts `each` besides: exact up to `most`, and more than
 * `most` where it is more. Looks no further than that.
 */
export function sizeOfTexts(value: Json, most: number, each: number): number {
  let size = each;
  if (typeof value === 'string') size += value.length;
  else if (Array.isArray(value)) {
    for (const inner of value) {
      if (size > most) break;
      size += sizeOfTexts(inner, most - size, each);
    }
  } else if (isJsonObject(value)) {
    for (const key in value) {
      if (size > most) break;
      size += key.length + sizeOfTexts(value[key] ?? null, most - size, each);
    }
  }
  return size;
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A copy of any JSON-like value without `undefined`, functions and prototypes; for what crosses a boundary. */
export function toJson(value: unknown): Json {
  return value === undefined ? null : (JSON.parse(JSON.stringify(value)) as Json);
}
