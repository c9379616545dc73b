/**
 * The operators of the language on values: Python's meaning (specification 6.2 to 6.6), with `Undecided` where
 * Python raises.
 */
import { type Json, parseJson } from '@cordon/core';
import { directlyPrecedes, flows, happensBefore } from '../events/provenance.ts';
import type { BinaryOperator, OrderOperator } from '../syntax/ast.ts';
import { imageUrls, methodOf } from './methods.ts';
import { percentFormat } from './python-format.ts';
import { joined, MAX_BUILT } from './python-str.ts';
import {
  isContents,
  isDictionary,
  isList,
  isRuleMessage,
  isTraceObject,
  isTuple,
  isUndecided,
  kindOf,
  Parameters,
  ToolPatternValue,
  type TraceObject,
  tuple,
  undecided,
  type Value,
} from './value.ts';

/** Applies an operator to two values that are known. */
export function applyBinary(operator: BinaryOperator, left: Value, right: Value): Value {
  switch (operator) {
    case '==':
      return equals(left, right);
    case '!=':
      return !equals(left, right);
    case '<':
    case '>':
    case '<=':
    case '>=':
      return ordered(operator, left, right);
    case 'is':
      return isSame(left, right);
    case 'is not': {
      const same = isSame(left, right);
      return isUndecided(same) ? same : !truth(same);
    }
    case 'in':
      return contains(left, right);
    case 'contains_only':
      return containsOnly(left, right);
    case '->':
    case '~>':
    case 'before':
      return related(operator, left, right);
    default:
      return arithmetic(operator, left, right);
  }
}

/** Python's truth: empty and zero are false. */
export function truth(value: Value): boolean {
  if (value === null || value === false || value === 0 || value === '') return false;
  if (isList(value)) return value.length > 0;
  if (isContents(value)) return value.chunks.length > 0;
  return isDictionary(value) ? Object.keys(value).length > 0 : true;
}

/** `not`, `-` and `+` of a known value. */
export function applyUnary(operator: 'not' | '-' | '+', value: Value): Value {
  if (operator === 'not') return !truth(value);
  const number = numeric(value);
  if (number === null) return undecided(`\`${operator}\` of ${kindOf(value)}`);
  return operator === '-' ? -number : number;
}

/** Structural, as in Python: `1 == True`; the depth is bounded by that of the values, which were read within limits. */
export function equals(a: Value, b: Value): boolean {
  if (a === b) return true;
  const left = numeric(a);
  if (left !== null) return left === numeric(b);
  if (isList(a))
    return isList(b) && a.length === b.length && a.every((item, index) => equals(item, b[index] ?? null));
  if (isTraceObject(a)) return isTraceObject(b) && sameFields(a, b);
  if (isContents(a)) return isContents(b) && equals(a.chunks, b.chunks);
  if (!isDictionary(a) || !isDictionary(b)) return false;
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  return keys.every((key) => Object.hasOwn(b, key) && equals(a[key] ?? null, b[key] ?? null));
}

/** With the metadata, which says the position: of events only calls of one message can be equal (specification 6.2). */
function sameFields(a: TraceObject, b: TraceObject): boolean {
  if (a.type !== b.type || !equals(a.field('metadata') ?? null, b.field('metadata') ?? null)) return false;
  return a.fieldNames().every((name) => equals(a.field(name) ?? null, b.field(name) ?? null));
}

/** A number, or a boolean as the number that it is in Python. */
function numeric(value: Value): number | null {
  if (typeof value === 'number') return value;
  return typeof value === 'boolean' ? Number(value) : null;
}

function ordered(operator: '<' | '>' | '<=' | '>=', left: Value, right: Value): Value {
  const order = compare(left, right);
  if (order === null) return undecided(`\`${operator}\` between ${kindOf(left)} and ${kindOf(right)}`);
  switch (operator) {
    case '<':
      return order < 0;
    case '>':
      return order > 0;
    case '<=':
      return order <= 0;
    case '>=':
      return order >= 0;
  }
}

/** Negative, zero, positive; null where Python has no order. Strings by code points. */
export function compare(left: Value, right: Value): number | null {
  const a = numeric(left);
  const b = numeric(right);
  if (a !== null && b !== null) return a - b;
  if (typeof left === 'string' && typeof right === 'string') return compareText(left, right);
  if (!isList(left) || !isList(right)) return null;
  for (let index = 0; index < Math.min(left.length, right.length); index++) {
    const [x, y] = [left[index] ?? null, right[index] ?? null];
    if (!equals(x, y)) return compare(x, y);
  }
  return left.length - right.length;
}

function compareText(a: string, b: string): number {
  let at = 0;
  while (at < a.length && at < b.length && a[at] === b[at]) at++;
  // UTF-16 orders surrogates before U+E000…U+FFFF, code points after them.
  const inPair = at > 0 && isLowSurrogate(a.charCodeAt(at)) && isLowSurrogate(b.charCodeAt(at));
  const from = inPair ? at - 1 : at;
  return (a.codePointAt(from) ?? -1) - (b.codePointAt(from) ?? -1);
}

function isLowSurrogate(code: number): boolean {
  return code >= 0xdc00 && code <= 0xdfff;
}

function isSame(left: Value, right: Value): Value {
  if (right instanceof ToolPatternValue) return right.matches(left);
  if (left instanceof ToolPatternValue) return left.matches(right);
  if (typeof left === 'number' && typeof right === 'number') {
    return left === right && Number.isInteger(left) && left >= -5 && left <= 256;
  }
  // Two strings are never the same object, equal or not.
  return typeof left === 'string' ? false : left === right;
}

function contains(left: Value, right: Value): Value {
  if (right === null) return false;
  if (isList(left)) return left.map((item) => contains(item, right));
  if (typeof right === 'string') {
    return typeof left === 'string'
      ? right.includes(left)
      : undecided(`\`in\` of ${kindOf(left)} in a string`);
  }
  if (isContents(right))
    return typeof left === 'string' && right.chunks.some((chunk) => chunkHolds(chunk, left));
  if (isList(right)) return right.some((item) => equals(item, left));
  if (isDictionary(right)) return typeof left === 'string' && Object.hasOwn(right, left);
  return undecided(`\`in\` does not apply to ${kindOf(right)}`);
}

function chunkHolds(chunk: TraceObject, text: string): boolean {
  const own = chunk.field('text');
  return typeof own === 'string' ? own.includes(text) : imageUrls(chunk).some((url) => url.includes(text));
}

/**
 * Every element of `right` is in `left`: the reverse of what the name says, and what rules rely on. The elements of a text are its
 * characters, those of an object its keys.
 */
function containsOnly(left: Value, right: Value): Value {
  const items = typeof right === 'string' ? [...new Set(right)] : elements(right);
  if (items === null) return undecided(`\`contains_only\` does not apply to ${kindOf(right)}`);
  for (const item of items) {
    const held = isList(item) ? equalsAny(item, left) : contains(item, left);
    if (held !== true) return held;
  }
  return true;
}

function equalsAny(item: Value, list: Value): boolean {
  return isList(list) && list.some((other) => equals(item, other));
}

function related(operator: OrderOperator, left: Value, right: Value): Value {
  const a = isTraceObject(left) ? left.place : null;
  const b = isTraceObject(right) ? right.place : null;
  if (a === null || b === null) {
    return undecided(`\`${operator}\` between ${kindOf(left)} and ${kindOf(right)}: only events flow`);
  }
  switch (operator) {
    case '->':
      return flows(a, b);
    case '~>':
      return directlyPrecedes(a, b);
    case 'before':
      return happensBefore(a, b);
  }
}

function arithmetic(operator: '+' | '-' | '*' | '/' | '%' | '**', left: Value, right: Value): Value {
  const a = numeric(left);
  const b = numeric(right);
  if (a !== null && b !== null) return computed(operator, a, b);
  if (operator === '+' && typeof left === 'string' && typeof right === 'string') return joined([left, right]);
  if (operator === '+' && isList(left) && isList(right)) {
    if (left.length + right.length > MAX_BUILT) return undecided('the list becomes too long');
    const all = left.concat(right);
    return isTuple(left) && isTuple(right) ? tuple(all) : all;
  }
  if (operator === '%' && typeof left === 'string') return percentFormat(left, right);
  if (operator === '*') return repeated(left, right);
  return undecided(`\`${operator}\` between ${kindOf(left)} and ${kindOf(right)}`);
}

function computed(operator: '+' | '-' | '*' | '/' | '%' | '**', a: number, b: number): Value {
  switch (operator) {
    case '+':
      return a + b;
    case '-':
      return a - b;
    case '*':
      return a * b;
    case '/':
      return b === 0 ? undecided('division by zero') : a / b;
    case '%':
      return b === 0 ? undecided('division by zero') : remainder(a, b);
    case '**': {
      const power = a ** b;
      return Number.isNaN(power) || (a === 0 && b < 0) ? undecided('a power without a real value') : power;
    }
  }
}

/** Python's: it has the sign of the divisor. */
function remainder(a: number, b: number): number {
  const rest = a % b;
  return rest !== 0 && rest < 0 !== b < 0 ? rest + b : rest;
}

function repeated(left: Value, right: Value): Value {
  const [subject, times] = numeric(left) === null ? [left, numeric(right)] : [right, numeric(left)];
  if (times === null || !Number.isInteger(times) || (typeof subject !== 'string' && !isList(subject))) {
    return undecided(`\`*\` between ${kindOf(left)} and ${kindOf(right)}`);
  }
  const count = subject.length === 0 ? 0 : Math.max(0, times);
  if (subject.length * count > MAX_BUILT) return undecided('the repetition becomes too long');
  if (typeof subject === 'string') return subject.repeat(count);
  const all = Array.from({ length: count }, () => subject).flat();
  return isTuple(subject) ? tuple(all) : all;
}

/** The member `object.name` of a known value (specification 6.5). */
export function memberOf(object: Value, name: string): Value {
  if (isTraceObject(object)) {
    const field = object.field(name);
    return field === undefined ? undecided(`${object.type} has no field \`${name}\``) : field;
  }
  if (object instanceof Parameters) {
    return Object.hasOwn(object.values, name)
      ? (object.values[name] ?? null)
      : undecided(`the policy parameter \`${name}\` was not given`);
  }
  if (typeof object === 'string') {
    const inside = jsonMember(object, name);
    if (inside !== undefined) return inside;
  }
  if (isDictionary(object) && Object.hasOwn(object, name)) return object[name] ?? null;
  if (isRuleMessage(object)) return undecided(`Violation has no field \`${name}\``);
  return methodOf(object, name) ?? undecided(`${kindOf(object)} has no field \`${name}\``);
}

/** The key of a text that is a JSON object; undefined where the text is none, or has no such key. */
function jsonMember(text: string, name: string): Value | undefined {
  if (!/^\s*\{/.test(text.slice(0, 64))) return undefined;
  // Without the key in quotes, or an escape that could spell it, there is no need to parse.
  if (!text.includes(`"${name}"`) && !text.includes('\\u')) return undefined;
  const parsed = parseJson(text);
  if (!parsed.ok) return undefined;
  const value: Json = parsed.value;
  return isDictionary(value) && Object.hasOwn(value, name) ? (value[name] ?? null) : undefined;
}

/** The element `object[index]` of a known value (specification 6.6). */
export function elementOf(object: Value, index: Value): Value {
  if (isDictionary(object)) {
    if (typeof index !== 'string') return undecided(`a dict has no key of kind ${kindOf(index)}`);
    return Object.hasOwn(object, index) ? (object[index] ?? null) : undecided('the key is missing');
  }
  if (isTraceObject(object) && typeof index === 'string') return memberOf(object, index);
  const items = isContents(object) ? object.chunks : typeof object === 'string' ? [...object] : object;
  if (!isList(items)) return undecided(`${kindOf(object)} has no elements`);
  const position = numeric(index);
  if (position === null || !Number.isInteger(position)) return undecided(`${kindOf(object)} has no keys`);
  return items.at(position) ?? (inRange(items, position) ? null : undecided('the index is out of range'));
}

function inRange(items: readonly Value[], position: number): boolean {
  return position < items.length && position >= -items.length;
}

/** What a comprehension, `any` and the like go through; null: the value has no elements. */
export function elements(value: Value): readonly Value[] | null {
  if (isList(value)) return value;
  if (typeof value === 'string') return [...value];
  if (isContents(value)) return value.chunks;
  return isDictionary(value) ? Object.keys(value) : null;
}
