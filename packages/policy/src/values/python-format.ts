/**
 * Values in texts as Python's `%` and `str.format` write them (specification 6.2, 6.5): conversions, width, precision.
 * Templates can come from a trace, so what is built is bounded as it grows.
 */
import { MAX_BUILT, quoted, textOf } from './python-str.ts';
import { isDictionary, isList, isTuple, undecided, type Value } from './value.ts';

/** `template % values`: a tuple holds one value for each conversion, an object those that are named. */
export function percentFormat(template: string, values: Value): Value {
  const given = isTuple(values) ? values : [values];
  const text = new BuiltText();
  let next = 0;
  let at = 0;
  for (let index = template.indexOf('%'); index >= 0; index = template.indexOf('%', at)) {
    text.add(template.slice(at, index));
    CONVERSION.lastIndex = index;
    const found = CONVERSION.exec(template);
    if (found === null) return NOT_FITTING;
    at = CONVERSION.lastIndex;
    const [, key, flags = '', width, precision, type = ''] = found;
    if (type === '%') {
      text.add('%');
      continue;
    }
    const value = key === undefined ? given[next++] : named(values, key);
    const spec = value === undefined ? null : percentSpec(flags, width, precision, type);
    const written = value === undefined || spec === null ? null : converted(value, spec);
    if (written === null) return NOT_FITTING;
    if (!text.add(written)) return TOO_LONG;
  }
  text.add(template.slice(at));
  // What is no tuple may be left over where it could have been asked by name.
  const mayBeLeft = isDictionary(values) || (isList(values) && !isTuple(values));
  return mayBeLeft || next === given.length ? text.value() : NOT_FITTING;
}

/** `template.format(…)`: `{}`, `{0}`, `{name}` with `!r`, `!s` and what stands behind `:`, and doubled braces. */
export function braceFormat(
  template: string,
  positional: readonly Value[],
  byName: ReadonlyMap<string, Value>,
): Value {
  const text = new BuiltText();
  let next = 0;
  let at = 0;
  for (const { 0: found, 1: field, index } of template.matchAll(/\{\{|\}\}|\{([^{}]*)\}/g)) {
    const between = template.slice(at, index);
    if (/[{}]/.test(between)) return NOT_FITTING;
    text.add(between);
    at = index + found.length;
    if (field === undefined) {
      text.add(found.charAt(0));
      continue;
    }
    const parsed = FIELD.exec(field);
    if (parsed === null) return NOT_FITTING;
    const [, name = '', conversion, spec = ''] = parsed;
    const isNumbered = name === '' || /^\d+$/.test(name);
    const value = isNumbered ? positional[name === '' ? next++ : Number(name)] : byName.get(name);
    const written = value === undefined ? null : replacement(value, conversion, spec);
    if (written === null) return NOT_FITTING;
    if (!text.add(written)) return TOO_LONG;
  }
  const rest = template.slice(at);
  if (/[{}]/.test(rest)) return NOT_FITTING;
  text.add(rest);
  return text.value();
}

const NOT_FITTING = undecided('the values do not fit the format');
const TOO_LONG = undecided('the text becomes too long');

class BuiltText {
  readonly #parts: string[] = [];
  #length = 0;

  /** Whether there is still room. */
  add(part: string): boolean {
    this.#length += part.length;
    if (this.#length <= MAX_BUILT) this.#parts.push(part);
    return this.#length <= MAX_BUILT;
  }

  value(): Value {
    return this.#length > MAX_BUILT ? TOO_LONG : this.#parts.join('');
  }
}

// ── one value ─────────────────────────────────────────────────────────────────────────────────────────────────

interface Spec {
  readonly fill: string;
  readonly align: string;
  readonly sign: string;
  /** `#`: with the prefix of the base. */
  readonly isMarked: boolean;
  readonly width: number;
  readonly grouping: string;
  readonly precision: number | null;
  readonly type: string;
}

const FIELD = /^([^!:]*)(?:!([rs]))?(?::(.*))?$/s;
const CONVERSION = /%(?:\(([^()]*)\))?([-#0 +]*)(\d{1,5})?(?:\.(\d{0,2}))?([a-zA-Z%])/y;
const SPEC = /^(?:(.)?([<>=^]))?([-+ ])?(#)?(0)?(\d{1,5})?([,_])?(?:\.(\d{1,2}))?([a-zA-Z%])?$/su;

function named(values: Value, key: string): Value | undefined {
  return isDictionary(values) && Object.hasOwn(values, key) ? values[key] : undefined;
}

function percentSpec(
  flags: string,
  width: string | undefined,
  precision: string | undefined,
  type: string,
): Spec | null {
  if (!/[diuxXofFeEgGcsr]/.test(type)) return null;
  const isPadded = flags.includes('0') && !flags.includes('-') && !/[csr]/.test(type);
  return {
    fill: isPadded ? '0' : ' ',
    align: flags.includes('-') ? '<' : isPadded ? '=' : '>',
    sign: flags.includes('+') ? '+' : flags.includes(' ') ? ' ' : '-',
    isMarked: flags.includes('#'),
    width: Number(width ?? 0),
    grouping: '',
    precision: precision === undefined ? null : Number(precision),
    type,
  };
}

/** By `%`: whole numbers are cut, and any value is a text. */
function converted(value: Value, spec: Spec): string | null {
  const { type, precision } = spec;
  if (type === 's' || type === 'r') {
    const text = type === 'r' && typeof value === 'string' ? quoted(value) : textOf(value);
    return padded('', cutText(text, precision), spec);
  }
  if (type === 'c' && typeof value === 'string')
    return [...value.slice(0, 3)].length === 1 ? padded('', value, spec) : null;
  const number = typeof value === 'boolean' ? Number(value) : value;
  if (typeof number !== 'number') return null;
  if (!/[diu]/.test(type)) return numberText(number, spec);
  return wholeText(Math.trunc(number), spec);
}

/** By `%`, the precision of a whole number is its least count of digits. */
function wholeText(number: number, spec: Spec): string | null {
  if (!Number.isFinite(number)) return null;
  const digits = BigInt(Math.abs(number))
    .toString()
    .padStart(spec.precision ?? 0, '0');
  return padded(signOf(number, spec), digits, spec);
}

function replacement(value: Value, conversion: string | undefined, given: string): string | null {
  const subject = conversion === 'r' && typeof value === 'string' ? quoted(value) : value;
  if (given === '') return textOf(subject);
  const found = SPEC.exec(given);
  if (found === null) return null;
  const [, fill, align, sign, marked, zero, width, grouping = '', precision, type = ''] = found;
  const isText = typeof subject === 'string' || conversion !== undefined;
  const spec: Spec = {
    fill: fill ?? (zero === undefined ? ' ' : '0'),
    align: align ?? (isText ? '<' : zero === undefined ? '>' : '='),
    sign: sign ?? '-',
    isMarked: marked !== undefined,
    width: Number(width ?? 0),
    grouping,
    precision: precision === undefined ? null : Number(precision),
    type,
  };
  if (isText) {
    const isForNumbers = sign !== undefined || spec.isMarked || grouping !== '' || spec.align === '=';
    return isForNumbers || !/^s?$/.test(type)
      ? null
      : padded('', cutText(textOf(subject), spec.precision), spec);
  }
  const number = typeof subject === 'boolean' ? Number(subject) : subject;
  return typeof number === 'number' && type !== 's' ? numberText(number, spec) : null;
}

function numberText(number: number, spec: Spec): string | null {
  if (spec.type === 'c') return characterText(number, spec);
  const digits = digitsOf(Math.abs(number), spec);
  if (digits === null) return null;
  const { prefix, text } = digits;
  const written = spec.grouping === '' ? text : grouped(text, spec);
  return written === null ? null : padded(`${signOf(number, spec)}${prefix}`, written, spec);
}

function signOf(number: number, { sign }: Spec): string {
  return number < 0 ? '-' : sign === '-' ? '' : sign;
}

const BASES: ReadonlyMap<string, readonly [number, string]> = new Map([
  ['x', [16, '0x']],
  ['X', [16, '0X']],
  ['o', [8, '0o']],
  ['b', [2, '0b']],
]);

/** Of a number that is not negative. */
function digitsOf(number: number, spec: Spec): { prefix: string; text: string } | null {
  const { type, precision } = spec;
  const plain = (text: string) => ({ prefix: '', text: /[A-Z]/.test(type) ? text.toUpperCase() : text });
  if (!Number.isFinite(number)) return /[diuxXobc]/.test(type) ? null : plain('inf');
  const isWhole = Number.isInteger(number);
  const base = BASES.get(type);
  if (base !== undefined) {
    if (!isWhole || precision !== null) return null;
    const { text } = plain(BigInt(number).toString(base[0]));
    return { prefix: spec.isMarked ? base[1] : '', text };
  }
  switch (type) {
    case '':
      return plain(precision === null ? textOf(number) : general(number, precision, false));
    case 'd':
      return isWhole && precision === null ? plain(BigInt(number).toString()) : null;
    case 'f':
    case 'F':
      return plain(fixed(number, precision ?? 6));
    case '%':
      return plain(`${fixed(number * 100, precision ?? 6)}%`);
    case 'e':
    case 'E':
      return plain(exponential(number, precision ?? 6));
    case 'g':
    case 'G':
      return plain(general(number, precision ?? 6, spec.isMarked));
    default:
      return null;
  }
}

/** How many digits tell a half from what is next to it. */
const PROOF = 25;
/** What `toFixed` writes at most, less the proof. */
const MAX_FIXED = 75;

/** Python rounds a half to the even digit. */
function fixed(number: number, precision: number): string {
  const digits = Math.min(precision, MAX_FIXED);
  const zeros = '0'.repeat(precision - digits);
  if (number >= 1e21) return `${BigInt(number)}${precision === 0 ? '' : `.${'0'.repeat(precision)}`}`;
  const exact = number.toFixed(digits + PROOF);
  const kept = exact.slice(0, -PROOF).replace(/\.$/, '');
  const isHalf = /^50*$/.test(exact.slice(-PROOF));
  return `${isHalf && /[02468]$/.test(kept) ? kept : number.toFixed(digits)}${zeros}`;
}

/** With two digits of the exponent at least; a half is rounded to the even digit here, too. */
function exponential(number: number, precision: number): string {
  const [exact = '', exponent = ''] = number.toExponential(Math.min(precision, MAX_FIXED) + PROOF).split('e');
  const kept = exact.slice(0, -PROOF).replace(/\.$/, '');
  const isHalf = precision <= MAX_FIXED && /^50*$/.test(exact.slice(-PROOF)) && /[02468]$/.test(kept);
  const text = isHalf ? `${kept}e${exponent}` : number.toExponential(precision);
  return text.replace(/([+-])(\d)$/, '$10$2');
}

function general(number: number, given: number, keepsZeros: boolean): string {
  const precision = Math.max(given, 1);
  const exponent = Number(number.toExponential(precision - 1).split('e')[1]);
  const isFixed = exponent >= -4 && exponent < precision;
  const text = isFixed ? fixed(number, precision - 1 - exponent) : exponential(number, precision - 1);
  if (keepsZeros) return text;
  const [mantissa = '', tail] = text.split('e');
  const short = mantissa.includes('.') ? mantissa.replace(/\.?0+$/, '') : mantissa;
  return tail === undefined ? short : `${short}e${tail}`;
}

/** Null: Python has no commas in digits of another base. */
function grouped(text: string, { grouping, type }: Spec): string | null {
  if (BASES.has(type)) return grouping === ',' ? null : text.replace(/\B(?=(?:[\da-f]{4})+$)/gi, grouping);
  const [, whole = '', rest = ''] = /^(\d*)(.*)$/.exec(text) ?? [];
  return whole.replace(/\B(?=(?:\d{3})+$)/g, grouping) + rest;
}

/** A character by its number. */
function characterText(number: number, spec: Spec): string | null {
  const isCharacter = Number.isInteger(number) && number >= 0 && number <= 0x10ffff;
  return isCharacter && spec.grouping === '' ? padded('', String.fromCodePoint(number), spec) : null;
}

/** Only what is wanted is taken apart: the text may be one of megabytes. */
function cutText(text: string, most: number | null): string {
  return most === null || text.length <= most ? text : [...text.slice(0, 2 * most)].slice(0, most).join('');
}

function padded(sign: string, text: string, { fill, align, width }: Spec): string {
  // A character has at most two units, and what is longer needs no room.
  if (text.length >= 2 * width) return sign + text;
  const room = width - [...sign].length - [...text].length;
  if (room <= 0) return sign + text;
  if (align === '=') return sign + fill.repeat(room) + text;
  const left = align === '<' ? 0 : align === '^' ? Math.floor(room / 2) : room;
  return fill.repeat(left) + sign + text + fill.repeat(room - left);
}
