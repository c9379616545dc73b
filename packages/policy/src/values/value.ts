/**
 * The values that expressions of rules have, and the one that says that there is none. Rules compute with
 * Python's semantics (specification 6); what would be an exception there is an `Undecided` here, which passes
 * through every operation that needs the value.
 */

import type { Json, Question } from '@cordon/core';
import type { Place } from '../events/provenance.ts';
import type { Span } from '../syntax/source.ts';
import { OBJECT_TYPES } from './types.ts';

/** The kind of a value, as rule authors know it; of events and their parts the type says more. */
const TAG: unique symbol = Symbol('kind of value');

export type Value =
  | null
  | boolean
  | number
  | string
  | readonly Value[]
  | Dictionary
  | TraceObject
  | Contents
  | Callable
  | ToolPatternValue
  | RuleMessage
  | Parameters
  | Undecided;

/** A JSON object, or an object literal of a rule. Read it with `Object.hasOwn` only: keys come from outside. */
export interface Dictionary {
  readonly [key: string]: Value;
  readonly [TAG]?: never;
}

/**
 * How a function says which characters of an argument its result is about: the argument by position, the text in
 * it (0 for an argument that is a text), and offsets in UTF-16 units.
 */
export type Highlight = (argument: number, text: number, start: number, end: number) => void;

/** Whether a call, or the call of an output, is what a tool pattern describes; null for what is neither. */
export type PatternMatcher = (subject: Value) => Value;

/** What is no JSON. A class, because every result of every expression is asked whether it is one. */
abstract class TaggedValue {
  abstract readonly [TAG]: string;
}

/** An event, or a part of one that has fields (`Function`, `TextChunk`, `ToolParameter`, …). */
export abstract class TraceObject extends TaggedValue {
  readonly [TAG] = 'object';
  abstract readonly type: string;
  /** Undefined: objects of this type have no such field. */
  abstract field(name: string): Value | undefined;

  /** In the order in which reports name them. */
  fieldNames(): readonly string[] {
    return [...(OBJECT_TYPES.get(this.type)?.fields.keys() ?? [])];
  }

  /** Where an event or a call stands in the flow; null for parts. */
  get place(): Place | null {
    return null;
  }

  /** The call that a tool output answers. */
  get call(): TraceObject | null {
    return null;
  }
}

/** The content of a message that came as a list of chunks; not a string. */
export class Contents extends TaggedValue {
  readonly [TAG] = 'Contents';
  readonly chunks: readonly TraceObject[];

  constructor(chunks: readonly TraceObject[]) {
    super();
    this.chunks = chunks;
  }
}

export class Callable extends TaggedValue {
  readonly [TAG] = 'function';
  readonly name: string;
  readonly call: (positional: readonly Value[], named: ReadonlyMap<string, Value>, mark: Highlight) => Value;

  constructor(name: string, call: Callable['call']) {
    super();
    this.name = name;
    this.call = call;
  }
}

export class ToolPatternValue extends TaggedValue {
  readonly [TAG] = 'tool pattern';
  readonly matches: PatternMatcher;

  constructor(matches: PatternMatcher) {
    super();
    this.matches = matches;
  }
}

/** What `Violation("…", key=value)` makes. */
export class RuleMessage extends TaggedValue {
  readonly [TAG] = 'Violation';
  readonly args: readonly Value[];
  readonly kwargs: ReadonlyMap<string, Value>;

  constructor(args: readonly Value[], kwargs: ReadonlyMap<string, Value>) {
    super();
    this.args = args;
    this.kwargs = kwargs;
  }
}

/** `input`: the parameters that the policy was given. */
export class Parameters extends TaggedValue {
  readonly [TAG] = 'input';
  readonly values: Dictionary;

  constructor(values: Dictionary) {
    super();
    this.values = values;
  }
}

/** Why something has no value. The reason names kinds and fields, never contents. */
export class Undecided extends TaggedValue {
  readonly [TAG] = 'undecided';
  readonly reason: string;
  /** The part of the policy's text that could not be evaluated; null until an expression claims it. */
  readonly span: Span | null;
  /** Questions whose answers would decide it, or bring it nearer to that; empty: no answer would. */
  readonly awaits: readonly Question[];

  constructor(reason: string, span: Span | null, awaits: readonly Question[]) {
    super();
    this.reason = reason;
    this.span = span;
    this.awaits = awaits;
  }
}

export function undecided(
  reason: string,
  span: Span | null = null,
  awaits: readonly Question[] = NO_QUESTIONS,
): Undecided {
  return new Undecided(reason, span, awaits);
}

export type Tagged =
  | TraceObject
  | Contents
  | Callable
  | ToolPatternValue
  | RuleMessage
  | Parameters
  | Undecided;

/** What `tuple(…)` makes: a list in everything but that `%` takes its items one by one, and how it is written. */
class TupleValue extends Array<Value> {
  static override get [Symbol.species](): ArrayConstructor {
    return Array;
  }
}

export function tuple(items: readonly Value[]): readonly Value[] {
  return TupleValue.from(items);
}

export function isTuple(value: Value): value is readonly Value[] {
  return value instanceof TupleValue;
}

export function isList(value: Value): value is readonly Value[] {
  return Array.isArray(value);
}

export function isTagged(value: Value): value is Tagged {
  return value instanceof TaggedValue;
}

export function isUndecided(value: Value): value is Undecided {
  return value instanceof Undecided;
}

/** What is undecided in a value that is or holds it: a list of which one element is unknown is unknown. */
export function undecidedIn(value: Value): Undecided | null {
  if (isUndecided(value)) return value;
  if (!isList(value)) return null;
  const first = value.find(isUndecided) ?? null;
  return first === null ? null : withAllQuestions(first, value);
}

/** The questions of a list are put at once: one after the other they would take too long. */
function withAllQuestions(first: Undecided, list: readonly Value[]): Undecided {
  const asking = list.filter((value) => isUndecided(value) && value.awaits.length > 0).filter(isUndecided);
  if (asking.length === 0 || (asking.length === 1 && asking[0] === first)) return first;
  const all = asking.flatMap(({ awaits }) => awaits.map((one): [string, Question] => [one.digest, one]));
  return undecided(first.reason, first.span, [...new Map(all).values()]);
}

const NO_QUESTIONS: readonly Question[] = [];

/** The value, or what is undecided in it: for where one part decides nothing alone. */
export function wholly(value: Value): Value {
  return undecidedIn(value) ?? value;
}

export function isTraceObject(value: Value): value is TraceObject {
  return value instanceof TraceObject;
}

export function isContents(value: Value): value is Contents {
  return value instanceof Contents;
}

export function isRuleMessage(value: Value): value is RuleMessage {
  return value instanceof RuleMessage;
}

export function isDictionary(value: Value): value is Dictionary {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof TaggedValue)
  );
}

/**
 * A value as JSON. `standIn`: what is copied for a value that is none; undefined: nothing can stand for it, and then
 * there is no copy of the whole.
 */
export function jsonCopy(value: Value, standIn: (value: Tagged) => Value | undefined): Json | undefined {
  if (value === null || typeof value !== 'object') return value;
  if (isTagged(value)) {
    const other = standIn(value);
    return other === undefined ? undefined : jsonCopy(other, standIn);
  }
  const copies: [string, Json][] = [];
  for (const [key, inner] of Object.entries(value)) {
    const copy = jsonCopy(inner, standIn);
    if (copy === undefined) return undefined;
    copies.push([key, copy]);
  }
  return isList(value) ? copies.map(([, copy]) => copy) : Object.fromEntries(copies);
}

/** The name of a value's kind as rule authors know it: for reasons and for `(x: T) in …`. */
export function kindOf(value: Value): string {
  if (value === null) return 'None';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'number') return Number.isInteger(value) ? 'int' : 'float';
  if (typeof value === 'string') return 'str';
  if (isList(value)) return 'list';
  if (!isTagged(value)) return 'dict';
  return isTraceObject(value) ? value.type : value[TAG];
}
