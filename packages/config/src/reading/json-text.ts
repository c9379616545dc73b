/**
 * JSON that people write: a tree whose every value and key knows where it is in the text, so that a problem can
 * be shown at its place. Comments and trailing commas are accepted, because `mcp.json` files in the wild have them.
 *
 * Ring 0.
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
 * Parses a text that a person wrote. Limits are checked by core's linear scan before anything recursive runs; a key
 * `__proto__` is refused there too. Duplicate keys are kept in the tree: the reader of the tree refuses them.
 */
export function parseJsonText(text: string): Result<JsonNode, JsonTextFault> {
  if (text.length > CONFIGURATION_LIMITS.length) {
    return failed({
      kind: 'limit',
      message: `the text is longer than ${CONFIGURATION_LIMITS.length} characters`,
    });
  }
  const plain = withoutComments(text);
  const parsed = parseJson(plain, CONFIGURATION_LIMITS);
  const located = new Parser(plain, CONFIGURATION_LIMITS.depth).parse();
  if (!parsed.ok && located.ok) return failed({ kind: 'limit', message: parsed.fault });
  return located;
}

/**
 * The text without one member of an object. All that stands around it stays as it is, comments too; a line that held
 * nothing else goes with it.
 *
 * @param members of the object, as they were parsed from this text
 */
export function withoutMember(text: string, members: readonly JsonMember[], member: JsonMember): string {
  const { start } = member.keySpan;
  const { end } = member.value.span;
  const behind = blankEnd(text, end);
  const hasComma = text[behind] === ',';
  const head = text.slice(0, start);
  const tail = hasComma ? text.slice(end, behind) + text.slice(behind + 1) : text.slice(end);
  const before = members[members.indexOf(member) - 1];
  if (hasComma || before === undefined) return joined(head, tail);
  // The comma before the last member no longer separates anything.
  const comma = blankEnd(text, before.value.span.end);
  return joined(head.slice(0, comma) + head.slice(comma + 1), tail);
}

/** Closes a gap: where nothing else is in its line, the line goes. */
function joined(head: string, tail: string): string {
  const indent = /(?:^|\n)([ \t]*)$/.exec(head)?.[1];
  const rest = /^[ \t]*(\r?\n)?/.exec(tail) ?? [''];
  const isLine = indent !== undefined && rest[1] !== undefined;
  return isLine
    ? head.slice(0, head.length - indent.length) + tail.slice(rest[0].length)
    : head + tail.replace(/^[ \t]+/, '');
}

/** Where the next character is that belongs to no comment and is no space. */
function blankEnd(text: string, from: number): number {
  let at = from;
  for (;;) {
    while (isSpace(text.charCodeAt(at))) at++;
    if (text[at] !== '/' || (text[at + 1] !== '/' && text[at + 1] !== '*')) return at;
    at = commentEnd(text, at);
  }
}

/** Comments, a byte order mark and trailing commas become spaces, so that every offset stays what it was. */
function withoutComments(text: string): string {
  const blanks: Span[] = [];
  let comma: Span | null = null;
  let previous = '';
  for (let at = 0; at < text.length; at++) {
    const character = text.charAt(at);
    if (character <= ' ') continue;
    if (character === '/' && (text[at + 1] === '/' || text[at + 1] === '*')) {
      const span = { start: at, end: commentEnd(text, at) };
      blanks.push(span);
      at = span.end - 1;
      continue;
    }
    if (character === '\ufeff' && at === 0) blanks.push({ start: 0, end: 1 });
    if (character === '"') at = stringEnd(text, at);
    if ((character === ']' || character === '}') && comma !== null) blanks.push(comma);
    comma = character === ',' && !'[{,:'.includes(previous) ? { start: at, end: at + 1 } : null;
    previous = character;
  }
  return blankOut(text, blanks);
}

function blankOut(text: string, blanks: Span[]): string {
  const pieces: string[] = [];
  let copied = 0;
  for (const { start, end } of blanks.sort((a, b) => a.start - b.start)) {
    pieces.push(text.slice(copied, start), text.slice(start, end).replace(/[^\n]/g, ' '));
    copied = end;
  }
  return pieces.join('') + text.slice(copied);
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
class SyntaxProblem {
  readonly message: string;
  readonly span: Span;
  constructor(message: string, span: Span) {
    this.message = message;
    this.span = span;
  }
}

class Parser {
  readonly #text: string;
  readonly #depth: number;
  #at = 0;

  constructor(text: string, depth: number) {
    this.#text = text;
    this.#depth = depth;
  }

  parse(): Result<JsonNode, JsonTextFault> {
    try {
      const node = this.#value(0);
      this.#space();
      if (this.#at < this.#text.length) throw this.#unexpected('the end of the text');
      return ok(node);
    } catch (problem) {
      if (!(problem instanceof SyntaxProblem)) throw problem;
      if (problem.message === '') {
        return failed({ kind: 'limit', message: `values are nested more than ${this.#depth} deep` });
      }
      return failed({ kind: 'syntax', message: problem.message, span: problem.span });
    }
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
    while (!this.#takes('}')) {
      if (members.length > 0) this.#expect(',', '`,` or `}`');
      this.#space();
      const keyStart = this.#at;
      if (this.#text[keyStart] !== '"') throw this.#unexpected('a key in double quotes');
      const key = this.#string();
      const keySpan = { start: keyStart, end: this.#at };
      this.#expect(':', '`:`');
      members.push({ key, keySpan, value: this.#value(depth) });
    }
    return { kind: 'object', members, span: { start, end: this.#at } };
  }

  #array(depth: number): JsonNode {
    const start = this.#open(depth);
    const items: JsonNode[] = [];
    while (!this.#takes(']')) {
      if (items.length > 0) this.#expect(',', '`,` or `]`');
      items.push(this.#value(depth));
    }
    return { kind: 'array', items, span: { start, end: this.#at } };
  }

  #open(depth: number): number {
    if (depth > this.#depth) throw new SyntaxProblem('', { start: this.#at, end: this.#at + 1 });
    return this.#at++;
  }

  #takes(character: string): boolean {
    this.#space();
    if (this.#text[this.#at] !== character) return false;
    this.#at++;
    return true;
  }

  #expect(character: string, wanted: string): void {
    if (!this.#takes(character)) throw this.#unexpected(wanted);
  }

  #string(): string {
    const start = this.#at;
    const last = stringEnd(this.#text, start);
    if (this.#text[last] !== '"') {
      throw new SyntaxProblem('a string has no closing quote', {
        start,
        end: Math.min(last, this.#text.length),
      });
    }
    this.#at = last + 1;
    const inner = this.#text.slice(start + 1, last);
    if (PLAIN_STRING.test(inner)) return inner;
    const parsed = parseJson(this.#text.slice(start, this.#at));
    if (parsed.ok && typeof parsed.value === 'string') return parsed.value;
    throw new SyntaxProblem('a string has a control character or an unknown escape', {
      start,
      end: this.#at,
    });
  }

  #scalar(): JsonNode {
    const start = this.#at;
    const word = /[-+.\w]*/y;
    word.lastIndex = start;
    const text = word.exec(this.#text)?.[0] ?? '';
    const span = { start, end: start + text.length };
    const parsed = parseJson(text);
    if (text === '') throw this.#unexpected('a value');
    if (!parsed.ok) throw new SyntaxProblem(`\`${text.slice(0, 40)}\` is not a JSON value`, span);
    this.#at = span.end;
    if (typeof parsed.value === 'number') return { kind: 'number', value: parsed.value, span };
    if (typeof parsed.value === 'boolean') return { kind: 'boolean', value: parsed.value, span };
    return { kind: 'null', span };
  }

  #space(): void {
    while (isSpace(this.#text.charCodeAt(this.#at))) this.#at++;
  }

  #unexpected(wanted: string): SyntaxProblem {
    const at = this.#at;
    if (at >= this.#text.length)
      return new SyntaxProblem(`the text ends where ${wanted} should stand`, emptySpan(at));
    return new SyntaxProblem(`${wanted} should stand here`, { start: at, end: at + 1 });
  }
}

/** Stands for itself between its quotes. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON forbids exactly these in strings
const PLAIN_STRING = /^[^"\\\u0000-\u001f]*$/;

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
}

function emptySpan(at: number): Span {
  return { start: at, end: at };
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
