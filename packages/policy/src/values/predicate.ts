/**
 * Predicates that the user wrote: functions over elements of the trace (analyzer paper, 3.1). A detector gets texts; a
 * predicate gets copies of whole values, including bound events, by the names of its parameters.
 *
 * What a predicate answers is ring 1.
 */
import type { Json, JsonObject } from '@cordon/core';
import { type Detector, NoAnswer, noAnswer } from './detector.ts';
import { EventObject } from './event-object.ts';
import {
  Callable,
  isContents,
  isTraceObject,
  isUndecided,
  jsonCopy,
  Parameters,
  type Tagged,
  type TraceObject,
  type Undecided,
  undecided,
  type Value,
} from './value.ts';

export interface PredicateSpec {
  /** As rules import it from `cordon.detectors`. */
  readonly name: string;
  /** In order. A rule may leave out the last ones. */
  readonly parameters: readonly [string, ...string[]];
  /** `values`: by parameter, each a copy as JSON. `noAnswer` and `awaiting` make the rule undecided, which denies. */
  readonly run: (values: JsonObject) => Json | NoAnswer;
}

/**
 * Makes such a function one that rules can import. An argument that is no element of the trace and no plain value (a function, a
 * tool pattern), an unknown parameter, or one that is given twice makes the rule undecided.
 */
export function definePredicate({ name, parameters, run }: PredicateSpec): Detector {
  return {
    name,
    parameters,
    callable: new Callable(name, (positional, named) => {
      const bound = valuesOf(name, parameters, positional, named);
      if (isUndecided(bound)) return bound;
      const answer = run(bound.values);
      return answer instanceof NoAnswer ? undecided(answer.reason, null, answer.awaits) : answer;
    }),
    // Only the process for long texts asks this, and it has no predicates.
    judge: () => noAnswer(`\`${name}\` takes values and no texts`),
  };
}

function valuesOf(
  name: string,
  parameters: readonly string[],
  positional: readonly Value[],
  named: ReadonlyMap<string, Value>,
): { readonly values: JsonObject } | Undecided {
  const placed = positional.map((value, at): [string | undefined, Value] => [parameters[at], value]);
  const values = new Map<string, Json>();
  for (const [parameter, value] of [...placed, ...named]) {
    if (parameter === undefined || !parameters.includes(parameter) || values.has(parameter))
      return undecided(`\`${name}\` takes (${parameters.join(', ')})`);
    const copy = jsonCopy(value, standIn);
    if (copy === undefined)
      return isUndecided(value) ? value : undecided(`\`${name}\` takes events and plain values`);
    values.set(parameter, copy);
  }
  return { values: Object.fromEntries(values) };
}

/** Of an event or a part of one: an object of its fields, with its type under `kind`. */
function standIn(value: Tagged): Value | undefined {
  if (isContents(value)) return value.chunks;
  if (value instanceof Parameters) return value.values;
  if (!isTraceObject(value)) return undefined;
  const fields = value.fieldNames().map((field): [string, Value] => [field, fieldOf(value, field)]);
  return Object.fromEntries([['kind', value.type], ...fields]);
}

/** Without `trace_idx`: it changes while other contexts act, so the same event would be a new question each time. */
function fieldOf(value: TraceObject, field: string): Value {
  if (field === 'metadata' && value instanceof EventObject) return value.event.metadata ?? {};
  return value.field(field) ?? null;
}
