/**
 * Functions that a program offers to rules, e.g. detectors of secrets or personal data. Rules import them by name;
 * they see texts and plain values and give plain values back, so that rules never reach anything of the host.
 *
 * Ring 0; what a detector answers is ring 1.
 */
import { isJsonObject, type Json, type JsonObject } from '@cordon/core';
import { textsOf } from './evidence.ts';
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
  /** Throwing makes the rule undecided, which denies. */
  readonly run: (call: DetectorCall) => Json;
}

/** One use of a detector in a rule. */
export interface DetectorCall {
  /** The texts in the first argument: of strings, chunk lists, messages, tool outputs and lists of these. */
  readonly texts: readonly string[];
  /** The arguments behind the first. */
  readonly rest: readonly Json[];
  readonly named: JsonObject;
  /** Says which characters the answer is about: the text by its index, offsets in UTF-16 units. */
  mark(text: number, start: number, end: number): void;
}

export interface Detector {
  readonly name: string;
  readonly cost: DetectorSpec['cost'];
  readonly isDeterministic: boolean;
  readonly callable: Callable;
}

/**
 * Makes a function of a program one that rules can import: those of the standard library under their own modules, any
 * other from `cordon.detectors`. Throws when the name cannot be one of a rule.
 */
export function defineDetector(spec: DetectorSpec): Detector {
  const { name, cost, isDeterministic } = spec;
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name))
    throw new TypeError(`\`${name}\` is no name that rules can have`);
  const run = callable(name, (positional, named, mark) => {
    const [data = null, ...others] = positional;
    const rest = others.map(plain);
    const options = [...named].map(([key, value]): [string, Json | undefined] => [key, plain(value)]);
    const isPlain = [...rest, ...options.map(([, value]) => value)].every((value) => value !== undefined);
    if (!isPlain) return undecided(`\`${name}\` takes texts, numbers, lists and objects`);
    try {
      const answer = spec.run({
        texts: textsOf(data),
        rest: rest.filter((value) => value !== undefined),
        named: Object.fromEntries(
          options.flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])),
        ),
        mark: (text, start, end) => mark(0, text, start, end),
      });
      return isAnswer(answer) ? answer : undecided(`the detector \`${name}\` gave ${kindOf(answer)}`);
    } catch {
      return undecided(`the detector \`${name}\` failed`);
    }
  });
  return { name, cost, isDeterministic, callable: run };
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
