/**
 * Functions that a program offers to rules, e.g. detectors of secrets or personal data. Rules import them by name;
 * they see texts and plain values and give plain values back, so that rules never reach anything of the host.
 *
 * Ring 0; what a detector answers is ring 1.
 */
import { isJsonObject, type Json, type JsonObject, type Question } from '@cordon/core';
import { examinedTexts } from './evidence.ts';
import { areLong, isLong, type LongTexts } from './long-texts.ts';
import {
  type Callable,
  callable,
  isDictionary,
  isList,
  isUndecided,
  kindOf,
  undecided,
  type Value,
} from './value.ts';

export interface DetectorSpec {
  /** As rules import it. */
  readonly name: string;
  /** `model`: it asks a model or a service, so rules should ask it last. */
  readonly cost: 'linear' | 'model';
  /** Whether the same texts always have the same answer. */
  readonly isDeterministic: boolean;
  /**
   * The arguments in order, the first included. With them, positional and named arguments are both found in `given`,
   * and an argument that is not among them makes the rule undecided. Without: as they come.
   */
  readonly parameters?: readonly [string, ...string[]];
  /** By the name of an argument: all texts that it can be, or hold in a list. A policy that writes another one does not load. */
  readonly choices?: Readonly<Record<string, ReadonlySet<string>>>;
  /** `noAnswer` makes the rule undecided, which denies, and so does throwing. */
  readonly run: (call: DetectorCall) => Json | NoAnswer;
  /** Whether this call asks an outside service, so that it computes nothing itself; absent: no call does. */
  readonly asksOutside?: (call: DetectorCall) => boolean;
}

/** Why a detector cannot say anything; the reason names no content. */
export class NoAnswer {
  readonly reason: string;
  /** Whose answers the detector waits for; empty: no answer would help. */
  readonly awaits: readonly Question[];

  constructor(reason: string, awaits: readonly Question[]) {
    this.reason = reason;
    this.awaits = awaits;
  }
}

/** For a detector that cannot judge: it is not set up, or the text is beyond what it looks at. */
export function noAnswer(reason: string): NoAnswer {
  return new NoAnswer(reason, []);
}

/** For a detector that has to ask a model or a service: the rule is undecided until the caller has the answer and decides again. */
export function awaiting(question: Question): NoAnswer {
  return new NoAnswer('nobody has answered what the rule asks', [question]);
}

/** One use of a detector in a rule. */
export interface DetectorCall {
  /** The texts in the first argument: strings, what is said in messages and outputs, and all within calls, objects and lists. */
  readonly texts: readonly string[];
  /** The first argument as rules name its kind: `str`, `list`, `Message`, …; `None` where there is none. */
  readonly kind: string;
  /** The arguments behind the first. */
  readonly rest: readonly Json[];
  readonly named: JsonObject;
  /** By the names in `parameters`, but for the first; empty where the detector names none. */
  readonly given: JsonObject;
  /** Says which characters the answer is about: the text by its index, offsets in UTF-16 units. */
  mark(text: number, start: number, end: number): void;
}

export interface Detector
  extends Pick<DetectorSpec, 'name' | 'cost' | 'isDeterministic' | 'parameters' | 'choices'> {
  readonly callable: Callable;
  /** What it says of one call, whatever throws within it. */
  judge(call: DetectorCall): Json | NoAnswer;
}

/**
 * Makes a function of a program one that rules can import: those of the standard library under their own modules, any
 * other from `cordon.detectors`. Throws when the name cannot be one of a rule.
 *
 * @param longTexts where long texts are looked at; null: here and at once
 */
export function defineDetector(spec: DetectorSpec, longTexts: LongTexts | null = null): Detector {
  const { run: _, asksOutside = () => false, ...described } = spec;
  const { name } = described;
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name))
    throw new TypeError(`\`${name}\` is no name that rules can have`);
  const run = callable(name, (positional, named, mark) => {
    const bound = bind(spec, positional, named);
    if ('reason' in bound) return undecided(bound.reason);
    const { data, rest, options, given } = bound;
    const call: DetectorCall = {
      texts: examinedTexts(data, null).map(({ text }) => text),
      kind: kindOf(data),
      rest,
      named: options,
      given,
      mark: (text, start, end) => mark(0, text, start, end),
    };
    if (longTexts !== null && isLongCall(call) && !asksOutside(call))
      return judgedElsewhere(name, call, longTexts);
    const answer = judged(spec, call);
    return answer instanceof NoAnswer ? undecided(answer.reason, null, answer.awaits) : answer;
  });
  return { ...described, callable: run, judge: (call) => judged(spec, call) };
}

function isLongCall({ texts, rest, named }: DetectorCall): boolean {
  return areLong(texts) || isLong(rest) || isLong(named);
}

function judged({ name, run }: DetectorSpec, call: DetectorCall): Json | NoAnswer {
  try {
    const answer = run(call);
    if (answer instanceof NoAnswer || isAnswer(answer)) return answer;
    return noAnswer(`the detector \`${name}\` gave ${kindOf(answer)}`);
  } catch {
    return noAnswer(`the detector \`${name}\` failed`);
  }
}

/** What the thread answers: the detector's answer, and for each mark its text, start and end. */
function judgedElsewhere(name: string, call: DetectorCall, longTexts: LongTexts): Value {
  const { texts, kind, rest, named, given, mark } = call;
  const reply = longTexts.ask({ kind: 'detector', name, texts, of: kind, rest, named, given });
  if (isUndecided(reply)) return reply;
  const { answer } = reply;
  if (!isJsonObject(answer) || !Array.isArray(answer.marks))
    return undecided(`the detector \`${name}\` failed`);
  const marks: readonly Json[] = answer.marks;
  for (let at = 0; at < marks.length; at += 3)
    mark(Number(marks[at]), Number(marks[at + 1]), Number(marks[at + 2]));
  return answer.answer ?? null;
}

interface Bound {
  readonly data: Value;
  readonly rest: readonly Json[];
  readonly options: JsonObject;
  readonly given: JsonObject;
}

function bind(
  { name, parameters }: DetectorSpec,
  positional: readonly Value[],
  named: ReadonlyMap<string, Value>,
): Bound | { readonly reason: string } {
  const [first = null, ...others] = parameters ?? [];
  // A first argument given by name would else have no texts at all, and what has none holds nothing.
  const byName = positional.length === 0 && first !== null ? named.get(first) : undefined;
  const [data = byName ?? null, ...behind] = positional;
  const rest = behind.map(plain);
  const isFirst = (key: string) => byName !== undefined && key === first;
  const options = [...named]
    .filter(([key]) => !isFirst(key))
    .map(([key, value]): [string, Json | undefined] => [key, plain(value)]);
  const isPlain = [...rest, ...options.map(([, value]) => value)].every((value) => value !== undefined);
  if (!isPlain) return { reason: `\`${name}\` takes texts, numbers, lists and objects` };
  const known = rest.filter((value) => value !== undefined);
  const optional = Object.fromEntries(
    options.flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])),
  );
  if (parameters === undefined) return { data, rest: known, options: optional, given: {} };
  const placed = known.map((value, at): [string | null, Json] => [others[at] ?? null, value]);
  const all = [...placed, ...Object.entries(optional)];
  const keys = all.flatMap(([key]) => (key !== null && others.includes(key) ? [key] : []));
  if (keys.length < all.length || new Set(keys).size < keys.length)
    return { reason: `\`${name}\` takes (${parameters.join(', ')})` };
  return { data, rest: known, options: optional, given: Object.fromEntries(all) };
}

/** A detector is a program's function, typed or not: what is no JSON must not become a value of a rule. */
function isAnswer(answer: Json | undefined): boolean {
  if (answer === null || ['boolean', 'string'].includes(typeof answer)) return true;
  if (typeof answer === 'number') return Number.isFinite(answer);
  if (Array.isArray(answer)) return answer.every(isAnswer);
  // A promise, a map or a date has no own keys: taken for an empty object, it would let everything pass.
  const isPlain = isJsonObject(answer) && isPlainPrototype(Object.getPrototypeOf(answer));
  return isPlain && Object.values(answer).every(isAnswer);
}

/** Of an object of any realm: what `{}` has, or nothing. */
function isPlainPrototype(prototype: unknown): boolean {
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

function plain(value: Value): Json | undefined {
  if (isUndecided(value)) return undefined;
  if (value === null || typeof value !== 'object') return value;
  if (isList(value)) {
    const items = value.map(plain);
    return items.every((item) => item !== undefined) ? items : undefined;
  }
  if (!isDictionary(value)) return undefined;
  const entries = Object.entries(value).map(([key, inner]): [string, Json | undefined] => [
    key,
    plain(inner),
  ]);
  if (entries.some(([, inner]) => inner === undefined)) return undefined;
  return Object.fromEntries(entries.map(([key, inner]) => [key, inner ?? null]));
}
