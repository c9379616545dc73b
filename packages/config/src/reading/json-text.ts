/**
 * JSON that people write: a tree whose every value and key knows where it is in the text, so that a problem can
 * be shown at its place. Comments and trailing commas are accepted, because `mcp.json` files in the wild have them.
 */
import { failed, type JsonLimits, ok, parseJson, type Result, type SourceRange } from '@cordon/core';

/** Offsets in UTF-16 units, the end exclusive. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

export type JsonNode =
  | { readonly kind: 'null'; readonly span: Span }
  | { readonly kind: 'boolean'; readonly span: Span; readonly value: boolean }
  | { readonly kind: 'number'; readonly span: Span; readonly value: number }
  | { readonly kind: 'string'; readonly span: Span; readonly value: string }
  | { readonly kind: 'array'; readonly span: Span; readonly items: readonly JsonNode[] }
  | { readonly kind: 'object'; readonly span: Span; readonly members: readonly JsonMember[] };

export interface JsonMember {
  readonly key: string;
  readonly keySpan: Span;
  readonly value: JsonNode;
}

/** `limit`: too long, too deep or too many values, with no place; `syntax`: not JSON, at `span`. */
export type JsonTextFault =
  | { readonly kind: 'limit'; readonly message: string }
  | { readonly kind: 'syntax'; readonly message: string; readonly span: Span };

/** What a person writes is small; a configuration beyond this is a mistake or an attack. */
export const CONFIGURATION_LIMITS: JsonLimits = { length: 1024 * 1024, depth: 32, elements: 20_000 };

/**
 * Parses a text that a person wrote, within limits; a key `__proto__` is refused wherever it stands. Duplicate keys are kept
 * in the tree: the reader of the tree refuses them.
 */
export function parseJsonText(text: string): Result<JsonNode, JsonTextFault> {
  const { length } = CONFIGURATION_LIMITS;
  if (text.length > length)
    return failed({ kind: 'limit', message: `the text is longer than ${length} characters` });
  try {
    return ok(new Parser(text).parse());
  } catch (problem) {
    if (problem instanceof Refusal) return failed(problem.fault);
    throw problem;
  }
}

/** Where the next character is that belongs to no comment and is no space. */
export function blankEnd(text: string, from: number): number {
  let at = from;
  for (;;) {
    while (isSpace(text.charCodeAt(at))) at++;
    if (text[at] !== '/' || (text[at + 1] !== '/' && text[at + 1] !== '*')) return at;
    at = commentEnd(text, at);
  }
}

/** The index of the closing quote, or of the last character if there is none. */
function stringEnd(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === '\\') at++;
    else if (text[at] === '"' || text[at] === '\n') return at;
  }
  return text.length;
}

function commentEnd(text: string, start: number): number {
  const isLine = text[start + 1] === '/';
  const found = text.indexOf(isLine ? '\n' : '*/', start + 2);
  if (found < 0) return text.length;
  return isLine ? found : found + 2;
}

/** Thrown and caught in this file only: the way out of a recursive descent. */
class Refusal {
  readonly fault: JsonTextFault;

  constructor(fault: JsonTextFault) {
    this.fault = fault;
  }
}

class Parser {
  readonly #text: string;
  #at: number;
  /** Commas and brackets so far, as core counts values. */
  #elements = 0;

  constructor(text: string) {
    this.#text = text;
    this.#at = text.startsWith('\ufeff') ? 1 : 0;
  }

  parse(): JsonNode {
    const node = this.#value(0);
    this.#space();
    if (this.#at < this.#text.length) throw this.#unexpected('the end of the text');
    return node;
  }

  #value(depth: number): JsonNode {
    this.#space();
    const start = this.#at;
    switch (this.#text[start]) {
      case '{':
        return this.#object(depth + 1);
      case '[':
        return this.#array(depth + 1);
      case '"': {
        const value = this.#string();
        return { kind: 'string', value, span: { start, end: this.#at } };
      }
      default:
        return this.#scalar();
    }
  }

  #object(depth: number): JsonNode {
    const start = this.#open(depth);
    const members: JsonMember[] = [];
    while (!this.#ends('}', members.length)) {
      const keyStart = this.#at;
      if (this.#text[keyStart] !== '"') throw this.#unexpected('a key in double quotes');
      const key = this.#string();
      if (key === '__proto__') throw new Refusal({ kind: 'limit', message: 'a key is `__proto__`' });
      const keySpan = { start: keyStart, end: this.#at };
      if (!this.#takes(':')) throw this.#unexpected('`:`');
      members.push({ key, keySpan, value: this.#value(depth) });
    }
    return { kind: 'object', members, span: { start, end: this.#at } };
  }

  #array(depth: number): JsonNode {
    const start = this.#open(depth);
    const items: JsonNode[] = [];
    while (!this.#ends(']', items.length)) items.push(this.#value(depth));
    return { kind: 'array', items, span: { start, end: this.#at } };
  }

  #open(depth: number): number {
    const most = CONFIGURATION_LIMITS.depth;
    if (depth > most)
      throw new Refusal({ kind: 'limit', message: `values are nested more than ${most} deep` });
    this.#count();
    return this.#at++;
  }

  /** Takes the bracket that ends a list, or the comma before its next value; `count`: values so far. */
  #ends(bracket: string, count: number): boolean {
    if (this.#takes(bracket)) return true;
    if (count === 0) return false;
    if (!this.#takes(',')) throw this.#unexpected(`\`,\` or \`${bracket}\``);
    this.#count();
    return this.#takes(bracket);
  }

  #count(): void {
    const most = CONFIGURATION_LIMITS.elements;
    if (++this.#elements > most)
      throw new Refusal({ kind: 'limit', message: `there are more than ${most} values` });
  }

  /** Passes over blank space, and over the character behind it if it is that one. */
  #takes(character: string): boolean {
    this.#space();
    if (this.#text[this.#at] !== character) return false;
    this.#at++;
    return true;
  }

  #string(): string {
    const start = this.#at;
    const last = stringEnd(this.#text, start);
    if (this.#text[last] !== '"') throw syntax('a string has no closing quote', start, last);
    this.#at = last + 1;
    const inner = this.#text.slice(start + 1, last);
    if (PLAIN_STRING.test(inner)) return inner;
    const parsed = parseJson(this.#text.slice(start, this.#at));
    if (parsed.ok && typeof parsed.value === 'string') return parsed.value;
    throw syntax('a string has a control character or an unknown escape', start, this.#at);
  }

  #scalar(): JsonNode {
    const start = this.#at;
    const word = /[-+.\w]*/y;
    word.lastIndex = start;
    const text = word.exec(this.#text)?.[0] ?? '';
    if (text === '') throw this.#unexpected('a value');
    const span = { start, end: start + text.length };
    const parsed = parseJson(text);
    if (!parsed.ok) throw syntax(`\`${text.slice(0, 40)}\` is not a JSON value`, span.start, span.end);
    this.#at = span.end;
    if (typeof parsed.value === 'number') return { kind: 'number', value: parsed.value, span };
    if (typeof parsed.value === 'boolean') return { kind: 'boolean', value: parsed.value, span };
    return { kind: 'null', span };
  }

  #space(): void {
    this.#at = blankEnd(this.#text, this.#at);
  }

  #unexpected(wanted: string): Refusal {
    const at = this.#at;
    return at < this.#text.length
      ? syntax(`${wanted} should stand here`, at, at + 1)
      : syntax(`the text ends where ${wanted} should stand`, at, at);
  }
}

function syntax(message: string, start: number, end: number): Refusal {
  return new Refusal({ kind: 'syntax', message, span: { start, end } });
}

/** Stands for itself between its quotes. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON forbids exactly these in strings
const PLAIN_STRING = /^[^"\\\u0000-\u001f]*$/;

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
}

/** Turns offsets into lines and columns. Built once for a text, cheap to ask. */
export class LineMap {
  readonly #starts: number[] = [0];

  constructor(text: string) {
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) this.#starts.push(at + 1);
  }

  range(span: Span): SourceRange {
    const start = this.#position(span.start);
    const finish = this.#position(span.end);
    return { line: start.line, column: start.column, endLine: finish.line, endColumn: finish.column };
  }

  #position(offset: number): { line: number; column: number } {
    let low = 0;
    let high = this.#starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.#starts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: offset - (this.#starts[low] ?? 0) + 1 };
  }
}
