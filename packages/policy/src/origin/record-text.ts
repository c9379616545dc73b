/**
 * Texts that are records: JSON, the literals of Python, and YAML in blocks as programs write it. What stands alone in a
 * field of a record was put there by the program that keeps it; what stands inside a longer text was written to be
 * read. A text is a record as a whole or not at all: otherwise whoever writes a document could put fields into it.
 *
 * Linear in the text.
 */
import { type Json, parseJson } from '@cordon/core';
import { isClaim, isWrittenField } from './field-writer.ts';

/** Where a field stands in a record. */
interface FieldPlace {
  /**
   * The object that keeps it together with other fields: they have the same number. Null: none does. A key is in none, and neither is what
   * whoever made the record says of themselves or writes.
   */
  readonly object: number | null;
  /** It is one of a list. */
  readonly isItem: boolean;
}

/** One scalar of a record, or one key that a program chose. */
export interface RecordField extends FieldPlace {
  readonly text: string;
  /** Its name, or the name of the list that it is an item of; empty: it has none. */
  readonly name: string;
}

const NOWHERE: FieldPlace = { object: null, isItem: false };

/** A list of lists is a table: nobody knows which of its values belong together. */
function inList({ object, isItem }: FieldPlace): FieldPlace {
  return isItem ? NOWHERE : { object, isItem: true };
}

/** The place of what an object has, if it is the object with this number. */
function inObject({ object }: FieldPlace, number: number): FieldPlace {
  return object === null ? NOWHERE : { object: number, isItem: false };
}

/** Attack: a sender is an object, in which the name of somebody else stands. */
function memberOf(key: string, place: FieldPlace): FieldPlace {
  return isClaim(key) ? NOWHERE : place;
}

/** Before any object has begun. */
const ROOT = 0;
const OUTERMOST: FieldPlace = { object: ROOT, isItem: false };

/** Longer texts are no records: the caller treats them as running text, which is stricter. */
const MOST_TEXT = 4 * 1024 * 1024;
const MOST_FIELDS = 200_000;
const MOST_DEPTH = 64;

/** Whether a program keeps it together with other fields of an object. */
export function isKeptTogether({ object }: RecordField): boolean {
  return object !== null && object !== ROOT;
}

/** The fields of a text that is wholly a record; null: it is running text. */
export function recordFields(text: string): readonly RecordField[] | null {
  if (text.length > MOST_TEXT) return null;
  const inner = unwrapped(text).trim();
  if (inner === '') return null;
  const first = inner.charAt(0);
  if (first === '{' || first === '[') {
    const parsed = parseJson(inner, { length: MOST_TEXT, depth: MOST_DEPTH, elements: MOST_FIELDS });
    if (parsed.ok) return jsonFields(parsed.value);
    return new LiteralReader(inner).fields();
  }
  return new BlockReader(inner).fields();
}

/** Records in fields of records that are looked into. Deeper ones are texts, which is stricter. */
const MOST_NESTED = 4;

/**
 * The scalars of a record that a program wrote into a field as text, such as `repositories: "['ada/notes', 'ada/maps']"`; the field itself
 * if it is none. Attack: the body of a mail that is such a list.
 */
export function innerFields(field: RecordField, depth = MOST_NESTED): readonly RecordField[] {
  const { text, name } = field;
  if (depth === 0 || isWrittenField(name) || !/^\s*[[{]/.test(text)) return [field];
  const inner = recordFields(text);
  if (inner === null) return [field];
  return inner.flatMap((one) => {
    // A list inside of a string belongs to the object that has the string; an object there does not.
    const place = one.object === ROOT && one.isItem ? inList(field) : NOWHERE;
    return innerFields({ text: one.text, name: one.name || name, ...place }, depth - 1);
  });
}

/** Some clients put marks around all that comes from tools ("spotlighting"). */
function unwrapped(text: string): string {
  const trimmed = text.trim();
  return trimmed.startsWith('<<') && trimmed.endsWith('>>') ? trimmed.slice(2, -2) : text;
}

/** The scalars and keys of a value that came as such. */
export function jsonFields(value: Json): readonly RecordField[] {
  const fields: RecordField[] = [];
  let objects = ROOT;
  const open: { readonly value: Json; readonly name: string; readonly place: FieldPlace }[] = [
    { value, name: '', place: OUTERMOST },
  ];
  for (let next = open.pop(); next !== undefined && fields.length < MOST_FIELDS; next = open.pop()) {
    const { value: current, name, place } = next;
    if (current === null || typeof current === 'boolean') continue;
    if (typeof current !== 'object') fields.push({ text: String(current), name, ...place });
    else if (Array.isArray(current))
      for (const item of current) open.push({ value: item, name, place: inList(place) });
    else {
      const own = inObject(place, ++objects);
      for (const [key, item] of Object.entries(current)) {
        fields.push({ text: key, name, ...NOWHERE });
        open.push({ value: item ?? null, name: key, place: memberOf(key, own) });
      }
    }
  }
  return fields;
}

/** `{'message': 'sent', 'n': [1, None]}`, as `str()` of a Python program's value has it. */
class LiteralReader {
  readonly #text: string;
  #at = 0;
  readonly #fields: RecordField[] = [];
  #objects = ROOT;

  constructor(text: string) {
    this.#text = text;
  }

  fields(): readonly RecordField[] | null {
    const isRead = this.#value('', OUTERMOST, 0);
    this.#space();
    return isRead && this.#at === this.#text.length ? this.#fields : null;
  }

  #value(name: string, place: FieldPlace, depth: number): boolean {
    if (depth > MOST_DEPTH || this.#fields.length > MOST_FIELDS) return false;
    this.#space();
    const first = this.#text.charAt(this.#at);
    if (first === '{') return this.#items('}', name, inObject(place, ++this.#objects), depth);
    if (first === '[') return this.#items(']', name, inList(place), depth);
    if (first === '(') return this.#items(')', name, inList(place), depth);
    const scalar = this.#scalar(first);
    if (scalar !== null) this.#fields.push({ text: scalar, name, ...place });
    return scalar !== null;
  }

  /** Keys and values, or items. */
  #items(end: string, name: string, place: FieldPlace, depth: number): boolean {
    this.#at++;
    for (;;) {
      this.#space();
      if (this.#takes(end)) return true;
      const before = this.#fields.length;
      // In braces it is a key, or an item of a set.
      if (!this.#value(name, end === '}' ? NOWHERE : place, depth + 1)) return false;
      this.#space();
      if (this.#takes(':')) {
        const key = this.#fields[before]?.text ?? '';
        if (!this.#value(key, memberOf(key, place), depth + 1)) return false;
        this.#space();
      }
      if (this.#takes(end)) return true;
      if (!this.#takes(',')) return false;
    }
  }

  #scalar(quote: string): string | null {
    if (quote !== "'" && quote !== '"') {
      const plain = /[^\s,:[\]{}()'"]{1,100}/y;
      plain.lastIndex = this.#at;
      const found = plain.exec(this.#text)?.[0];
      if (found === undefined) return null;
      this.#at += found.length;
      return found;
    }
    let value = '';
    for (let at = this.#at + 1; at < this.#text.length; at++) {
      const character = this.#text.charAt(at);
      if (character === quote) {
        this.#at = at + 1;
        return value;
      }
      if (character === '\\') value += unescaped(this.#text.charAt(++at));
      else value += character;
    }
    return null;
  }

  #takes(character: string): boolean {
    if (this.#text.charAt(this.#at) !== character) return false;
    this.#at++;
    return true;
  }

  #space(): void {
    while (/\s/.test(this.#text.charAt(this.#at))) this.#at++;
  }
}

/** A line of YAML: how far it is indented, and what stands there. */
interface BlockLine {
  readonly indent: number;
  readonly text: string;
}

const KEY =
  /^(?:'([^']{0,200})'|"([^"\\]{0,200})"|([^\s:#'"[\]{},&*!|>%@`-][^\s:#]{0,200}|-[^\s:#]{1,200})):(?: |$)/;

/**
 * YAML in blocks: lists and maps over lines, scalars plain, quoted, folded over deeper lines, or literal. Flow values
 * other than `[]` and `{}`, anchors, tags and comments are not what programs write for records, and make it none.
 */
class BlockReader {
  readonly #lines: BlockLine[];
  #at = 0;
  readonly #fields: RecordField[] = [];
  #objects = ROOT;
  /** Of what is read. */
  #place = OUTERMOST;

  constructor(text: string) {
    this.#lines = text.split('\n').map((line) => {
      const own = line.endsWith('\r') ? line.slice(0, -1) : line;
      const content = own.trimStart();
      return { indent: own.length - content.length, text: content };
    });
  }

  fields(): readonly RecordField[] | null {
    const first = this.#lines[0];
    if (first === undefined || first.indent !== 0) return null;
    // One word or number alone is what a tool that answers with one value writes.
    if (this.#lines.length === 1 && isWord(first.text)) return [{ text: first.text, name: '', ...OUTERMOST }];
    const isRead = this.#block(0, '', 0);
    this.#blank();
    return isRead && this.#at >= this.#lines.length ? this.#fields : null;
  }

  #block(indent: number, name: string, depth: number): boolean {
    if (depth > MOST_DEPTH) return false;
    const line = this.#lines[this.#at];
    if (line === undefined || line.indent !== indent) return false;
    const outer = this.#place;
    const isList = isItem(line.text);
    const own = isList ? inList(outer) : inObject(outer, ++this.#objects);
    this.#place = own;
    const isRead = isList ? this.#list(indent, name, depth) : this.#map(indent, own, depth);
    this.#place = outer;
    return isRead;
  }

  #list(indent: number, name: string, depth: number): boolean {
    for (;;) {
      this.#blank();
      const line = this.#lines[this.#at];
      if (line === undefined || line.indent !== indent || !isItem(line.text)) return true;
      const rest = line.text.slice(2).trimStart();
      const inner = indent + line.text.length - rest.length;
      if (KEY.test(rest) || isItem(rest)) {
        this.#lines[this.#at] = { indent: inner, text: rest };
        if (!this.#block(inner, name, depth + 1)) return false;
      } else if (!this.#scalar(rest, indent, name)) return false;
    }
  }

  #map(indent: number, own: FieldPlace, depth: number): boolean {
    for (;;) {
      this.#blank();
      const line = this.#lines[this.#at];
      if (line === undefined || line.indent !== indent || isItem(line.text)) return true;
      const found = KEY.exec(line.text);
      if (found === null) return false;
      const key = found[1] ?? found[2] ?? found[3] ?? '';
      if (!this.#add(key, '', NOWHERE)) return false;
      this.#place = memberOf(key, own);
      if (!this.#entry(key, line.text.slice(found[0].length).trim(), indent, depth)) return false;
    }
  }

  #entry(key: string, rest: string, indent: number, depth: number): boolean {
    if (rest !== '') return this.#scalar(rest, indent, key);
    this.#at++;
    this.#blank();
    const next = this.#lines[this.#at];
    if (next === undefined) return true;
    const isInner = next.indent > indent || (next.indent === indent && isItem(next.text));
    return !isInner || this.#block(next.indent, key, depth + 1);
  }

  /** One that begins with `first`; deeper lines continue it. */
  #scalar(first: string, indent: number, name: string): boolean {
    this.#at++;
    if (first === '[]' || first === '{}') return true;
    if (/^[[{&*!%@`]/.test(first)) return false;
    if (/^[|>][+-]?\d?$/.test(first)) return this.#add(this.#deeper(indent).join('\n'), name);
    const quote = first.charAt(0);
    if (quote === "'" || quote === '"') return this.#quoted(first.slice(1), quote, name);
    const whole = folded([first, ...this.#deeper(indent)]);
    // `a: b: c` is no scalar: it is prose that happens to have a colon.
    if (whole.includes(': ') || whole.includes(' #')) return false;
    return this.#add(whole, name);
  }

  /** The lines behind this one that are indented deeper; blank ones between them count. */
  #deeper(indent: number): string[] {
    const lines: string[] = [];
    let end = this.#at;
    for (let at = this.#at; at < this.#lines.length; at++) {
      const line = this.#lines[at];
      if (line === undefined || (line.text !== '' && line.indent <= indent)) break;
      lines.push(line.text);
      if (line.text !== '') end = at + 1;
    }
    const taken = lines.slice(0, end - this.#at);
    this.#at = end;
    return taken;
  }

  #quoted(first: string, quote: string, name: string): boolean {
    const lines: string[] = [];
    for (let line: string | undefined = first; line !== undefined; line = this.#lines[this.#at++]?.text) {
      const end = closing(line, quote);
      lines.push(end < 0 ? line : line.slice(0, end));
      if (end < 0) continue;
      if (line.slice(end + 1).trim() !== '') return false;
      return this.#add(quote === "'" ? folded(lines).replaceAll("''", "'") : unfolded(lines), name);
    }
    return false;
  }

  #add(text: string, name: string, place = this.#place): boolean {
    return this.#fields.push({ text, name, ...place }) <= MOST_FIELDS;
  }

  #blank(): void {
    while (this.#lines[this.#at]?.text === '') this.#at++;
  }
}

function isItem(text: string): boolean {
  return text === '-' || text.startsWith('- ');
}

function isWord(text: string): boolean {
  return text.length <= 200 && !/\s/.test(text);
}

/** Where the quote ends in a line; -1: it does not end there. */
function closing(line: string, quote: string): number {
  for (let at = 0; at < line.length; at++) {
    const character = line.charAt(at);
    if (quote === '"' && character === '\\') at++;
    else if (character === quote) {
      if (quote === '"' || line.charAt(at + 1) !== quote) return at;
      at++;
    }
  }
  return -1;
}

/**
 * A line end is a space, and n blank lines are n line ends. `isJoined`: a backslash at the end of a line joins it with
 * the next as they are.
 */
function folded(lines: readonly string[], isJoined = false): string {
  let text = '';
  let needsSpace = false;
  for (const line of lines) {
    const joins = isJoined && endsInBackslash(line);
    if (line === '') text += '\n';
    else text += `${needsSpace ? ' ' : ''}${joins ? line.slice(0, -1) : line}`;
    needsSpace = line !== '' && !joins;
  }
  return text;
}

function unfolded(lines: readonly string[]): string {
  return folded(lines, true).replace(/\\(u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|.)/gs, (_, letters: string) =>
    unescaped(letters),
  );
}

function endsInBackslash(line: string): boolean {
  let count = 0;
  while (line.charAt(line.length - 1 - count) === '\\') count++;
  return count % 2 === 1;
}

function unescaped(letters: string): string {
  if (letters.length > 1) return String.fromCharCode(Number.parseInt(letters.slice(1), 16));
  return { n: '\n', t: '\t', r: '\r', N: '\u0085', _: '\u00a0' }[letters] ?? letters;
}
