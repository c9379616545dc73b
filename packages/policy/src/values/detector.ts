/**
 * Functions that a program offers to rules, e.g. detectors of secrets or personal data. Rules import them by name;
 * they see texts and plain values and give plain values back, so that rules never reach anything of the host.
 *
 * What a detector answers is ring 1.
 */

import { isJsonObject, type Json, type JsonObject, type Question } from '@cordon/core';
import { examinedTexts } from './evidence.ts';
import { type AskedWork, areLong, isLong, type TextQuestions, WORK_FAULTS } from './text-questions.ts';
import { Callable, isUndecided, jsonCopy, kindOf, undecided, type Value } from './value.ts';
export interface DetectorSpec {
  /** As rules import it. */
  readonly name: string;
  /**
   * The arguments in order, the first included. With them, positional and named arguments are both found in `given`,
   * and an argument that is not among them makes the rule undecided. Without: as they come.
   */
  readonly parameters?: readonly [string, ...string[]];
  /** By the name of an argument: all texts that it can be, or hold in a list. A policy that writes another one does not load. */
  readonly choices?: Readonly<Record<string, ReadonlySet<string>>>;
  /** `noAnswer` makes the rule undecided, which denies, and so does throwing. */
  readonly run: (call: DetectorCall) => Answer;
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

/** The answer of a detector that needs a third-party parser where none may run. */
export const NEEDS_PARSER = Symbol('a third-party parser');

type Answer = Json | NoAnswer | typeof NEEDS_PARSER;

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

export interface Detector extends Pick<DetectorSpec, 'name' | 'parameters' | 'choices'> {
  readonly callable: Callable;
  /** What it says of one call, whatever throws within it. Without an answer nothing is marked. */
  judge(call: DetectorCall): Answer;
}

/**
 * Makes a function of a program one that rules can import: those of the standard library under their own modules, any
 * other from `cordon.detectors`. Throws when the name cannot be one of a rule.
 *
 * @param textQuestions where texts are looked at that are long, or need a third-party parser; null: here and at once
 */
export function defineDetector(spec: DetectorSpec, textQuestions: TextQuestions | null = null): Detector {
  const { run: _, asksOutside = () => false, ...described } = spec;
  const { name } = described;
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name))
    throw new TypeError(`\`${name}\` is no name that rules can have`);
  // To find out what is known takes the time of writing the text once: no cost for those that never need anybody else.
  let hasAsked = false;
  const run = new Callable(name, (positional, named, mark) => {
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
    const elsewhere =
      textQuestions === null || asksOutside(call) ? null : new Elsewhere(name, call, textQuestions);
    if (elsewhere !== null && isLongCall(call)) return elsewhere.ask(false);
    const known = hasAsked ? (elsewhere?.known() ?? null) : null;
    if (known !== null) return known;
    const answer = judged(spec, call);
    if (answer === NEEDS_PARSER) {
      hasAsked = true;
      return elsewhere?.ask(true) ?? undecided(WORK_FAULTS['needs-parser']);
    }
    return answer instanceof NoAnswer ? undecided(answer.reason, null, answer.awaits) : answer;
  });
  return { ...described, callable: run, judge: (call) => judged(spec, call) };
}

function isLongCall({ texts, rest, named }: DetectorCall): boolean {
  return areLong(texts) || isLong(rest) || isLong(named);
}

function judged({ name, run }: DetectorSpec, call: DetectorCall): Answer {
  const marks: Mark[] = [];
  try {
    const answer = run({ ...call, mark: (...mark) => void marks.push(mark) });
    if (answer === NEEDS_PARSER || answer instanceof NoAnswer) return answer;
    if (isAnswer(answer)) {
      for (const mark of marks) call.mark(...mark);
      return answer;
    }
    return noAnswer(`the detector \`${name}\` gave ${kindOf(answer)}`);
  } catch {
    return noAnswer(`the detector \`${name}\` failed`);
  }
}

/** One call of a detector as a question for the process that looks at texts. */
class Elsewhere {
  readonly #name: string;
  readonly #call: DetectorCall;
  readonly #textQuestions: TextQuestions;

  constructor(name: string, call: DetectorCall, textQuestions: TextQuestions) {
    this.#name = name;
    this.#call = call;
    this.#textQuestions = textQuestions;
  }

  /** Null: nobody has answered it. */
  known(): Value | null {
    const reply = this.#textQuestions.find(this.#work(false));
    return reply === null ? null : this.#read(reply);
  }

  /** @param isParsed whether our own code needs a third-party parser for it */
  ask(isParsed: boolean): Value {
    return this.#read(this.#textQuestions.ask(this.#work(isParsed)));
  }

  #work(isParsed: boolean): AskedWork {
    const { texts, kind, rest, named, given } = this.#call;
    return { kind: 'detector', name: this.#name, texts, of: kind, rest, named, given, isParsed };
  }

  /** The detector's answer, and for each mark its text, start and end: of a process that a text may have taken over. */
  #read(reply: ReturnType<TextQuestions['ask']>): Value {
    if (isUndecided(reply)) return reply;
    const { answer } = reply;
    const marks = isJsonObject(answer) ? placesIn(answer.marks, this.#call.texts) : null;
    if (marks === null || !isJsonObject(answer) || answer.answer === undefined)
      return undecided(`the detector \`${this.#name}\` failed`);
    for (const [text, start, end] of marks) this.#call.mark(text, start, end);
    return answer.answer;
  }
}

type Mark = Parameters<DetectorCall['mark']>;

/** Null: not all of them are places of these texts. */
function placesIn(numbers: Json | undefined, texts: readonly string[]): readonly Mark[] | null {
  if (!Array.isArray(numbers) || numbers.length % 3 !== 0) return null;
  const marks: Mark[] = [];
  for (let at = 0; at < numbers.length; at += 3) {
    const [text, start, end] = [Number(numbers[at]), Number(numbers[at + 1]), Number(numbers[at + 2])];
    const isPlace = [text, start, end].every(Number.isSafeInteger) && start >= 0 && start <= end;
    if (!isPlace || end > (texts[text]?.length ?? -1)) return null;
    marks.push([text, start, end]);
  }
  return marks;
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
  const options = plain(
    Object.fromEntries([...named].filter(([key]) => byName === undefined || key !== first)),
  );
  if (!rest.every((value) => value !== undefined) || !isJsonObject(options))
    return { reason: `\`${name}\` takes texts, numbers, lists and objects` };
  if (parameters === undefined) return { data, rest, options, given: {} };
  const placed = rest.map((value, at): [string | null, Json] => [others[at] ?? null, value]);
  const all = [...placed, ...Object.entries(options)];
  const keys = all.flatMap(([key]) => (key !== null && others.includes(key) ? [key] : []));
  if (keys.length < all.length || new Set(keys).size < keys.length)
    return { reason: `\`${name}\` takes (${parameters.join(', ')})` };
  return { data, rest, options, given: Object.fromEntries(all) };
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
  return jsonCopy(value, () => undefined);
}
