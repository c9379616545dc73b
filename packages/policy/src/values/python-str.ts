/**
 * Values as text, as Python's `str` and `repr` write them, and texts that rules build, within limits: a rule must
 * not turn one message into gigabytes.
 */
import { isList, isTagged, isTuple, kindOf, type Undecided, undecided, type Value } from './value.ts';

/** UTF-16 units of a text, elements of a list. */
export const MAX_BUILT = 16 * 1024 * 1024;

/** Python's `str`; a text that would become too long is cut. */
export function textOf(value: Value): string {
  const text = textWithin(value, MAX_BUILT);
  return text.length <= MAX_BUILT ? text : `${text.slice(0, MAX_BUILT)}…`;
}

/** The parts one behind another, with `separator` between them. */
export function joined(parts: readonly Value[], separator = ''): string | Undecided {
  const texts: string[] = [];
  let length = 0;
  for (const part of parts) {
    const text = textWithin(part, MAX_BUILT);
    length += text.length + separator.length;
    if (length > MAX_BUILT) return TOO_LONG;
    texts.push(text);
  }
  return texts.join(separator);
}

const TOO_LONG = undecided('the text becomes too long');

/** The text, or more than `limit` characters of it. */
function textWithin(value: Value, limit: number): string {
  if (typeof value === 'string') return value;
  const out: string[] = [];
  write(value, out, { left: limit });
  return out.join('');
}

function write(value: Value, out: string[], room: { left: number }): void {
  if (room.left < 0) return;
  if (isList(value)) {
    const ends = isTuple(value) ? (value.length === 1 ? ['(', ',)'] : ['(', ')']) : ['[', ']'];
    put(ends[0] ?? '', out, room);
    for (const [index, item] of value.entries()) {
      if (room.left < 0) return;
      if (index > 0) put(', ', out, room);
      write(item, out, room);
    }
    put(ends[1] ?? '', out, room);
  } else if (typeof value === 'object' && value !== null && !isTagged(value)) {
    put('{', out, room);
    for (const [index, [key, inner]] of Object.entries(value).entries()) {
      if (room.left < 0) return;
      put(`${index > 0 ? ', ' : ''}${quoted(key)}: `, out, room);
      write(inner, out, room);
    }
    put('}', out, room);
  } else put(scalar(value), out, room);
}

function put(text: string, out: string[], room: { left: number }): void {
  room.left -= text.length;
  out.push(text);
}

function scalar(value: Exclude<Value, readonly Value[]>): string {
  if (value === null) return 'None';
  if (value === true) return 'True';
  if (value === false) return 'False';
  if (typeof value === 'number') return numeral(value);
  return typeof value === 'string' ? quoted(value) : `<${kindOf(value)}>`;
}

/** Python writes small fractions with an exponent earlier than JavaScript, and that with two digits. */
function numeral(number: number): string {
  if (!Number.isFinite(number)) return number < 0 ? '-inf' : 'inf';
  const isSmall = number !== 0 && Math.abs(number) < 1e-4;
  return (isSmall ? number.toExponential() : String(number)).replace(/e([+-])(\d)$/, 'e$10$2');
}

/** Python's `json.dumps`, as it writes without options. */
export function jsonTextOf(value: Value): string | Undecided {
  const out: string[] = [];
  const room = { left: MAX_BUILT };
  const strange = writeJson(value, out, room);
  if (strange !== null) return undecided(`${kindOf(strange)} cannot be written as JSON`);
  return room.left < 0 ? TOO_LONG : out.join('');
}

/** The first part that JSON has no form for; null: all of it is written, as far as there is room. */
function writeJson(value: Value, out: string[], room: { left: number }): Value {
  if (room.left < 0) return null;
  if (value === null || typeof value === 'boolean') put(String(value), out, room);
  else if (typeof value === 'number') put(jsonNumeral(value), out, room);
  else if (typeof value === 'string') put(jsonQuoted(value), out, room);
  else if (isList(value)) {
    put('[', out, room);
    for (const [index, item] of value.entries()) {
      if (index > 0) put(', ', out, room);
      const strange = writeJson(item, out, room);
      if (strange !== null) return strange;
    }
    put(']', out, room);
  } else if (isTagged(value)) return value;
  else {
    put('{', out, room);
    for (const [index, [key, inner]] of Object.entries(value).entries()) {
      put(`${index > 0 ? ', ' : ''}${jsonQuoted(key)}: `, out, room);
      const strange = writeJson(inner, out, room);
      if (strange !== null) return strange;
    }
    put('}', out, room);
  }
  return null;
}

function jsonNumeral(number: number): string {
  return Number.isFinite(number) ? numeral(number) : number < 0 ? '-Infinity' : 'Infinity';
}

/** Whatever is not printable ASCII is escaped, one escape for each UTF-16 unit. */
function jsonQuoted(text: string): string {
  return JSON.stringify(text).replace(
    /[^ -~]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Python's `repr` of a text: the quotes that it does not hold, and escapes for what cannot be seen. */
export function quoted(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  return `${quote}${text.replace(HIDDEN, (found) => (found === quote ? `\\${found}` : escaped(found)))}${quote}`;
}

const HIDDEN = /[\\'"]|(?! )[\p{C}\p{Z}]/gu;

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['\\', '\\\\'],
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
  ["'", "'"],
  ['"', '"'],
]);

function escaped(character: string): string {
  const known = ESCAPES.get(character);
  if (known !== undefined) return known;
  const code = (character.codePointAt(0) ?? 0).toString(16);
  if (code.length <= 2) return `\\x${code.padStart(2, '0')}`;
  return code.length <= 4 ? `\\u${code.padStart(4, '0')}` : `\\U${code.padStart(8, '0')}`;
}
