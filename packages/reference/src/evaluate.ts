/**
 * What a policy says about a trace, by trying every assignment, and what pending events change about it, by
 * comparing before and after. Slow and short on purpose.
 *
 * Tests only.
 */
import type { JsonObject } from '@cordon/core';
import {
  type EventObject,
  occurrencesIn,
  type Policy,
  semantics,
  Trace,
  type TraceEvent,
  values,
} from '@cordon/policy';
import type { ReferenceWorld } from './environment.ts';
import { expressionValue } from './expression.ts';
import { Visibility } from './flow.ts';
import { assignmentsOf, SEARCH } from './search.ts';

export interface Outcome {
  /** From 0. */
  readonly rule: number;
  readonly status: 'violated' | 'open';
  /** By variable, in the order of the text; null: computed. */
  readonly events: readonly (string | null)[];
  /** Tells assignments of one rule apart: the values that are bound. */
  readonly key: string;
  /** What `count` found while it was evaluated. */
  readonly counted: number;
}

/** Every violation and every open assignment, by rule, in the order of the cross product. */
export function evaluate(
  policy: Policy,
  events: readonly TraceEvent[],
  parameters: JsonObject = {},
): readonly Outcome[] {
  const { entries } = new Trace().prepare(events);
  const visibility = new Visibility(events, entries);
  const names = new semantics.Names(policy.tree);
  const world: ReferenceWorld = {
    names,
    patterns: new semantics.PatternCache(),
    input: new values.Parameters(parameters),
    domain: (type) => entries.flatMap((entry) => occurrencesIn(entry, type)),
    related: (operator, a, b) => visibility.related(operator, a, b),
    visible: (anchor) => entries.filter((entry) => visibility.related('->', entry, anchor) === true),
    search: SEARCH,
    counted: 0,
  };
  return policy.tree.rules.flatMap((rule, number) => outcomes(rule, number, world));
}

function outcomes(
  rule: Policy['tree']['rules'][number],
  number: number,
  world: ReferenceWorld,
): readonly Outcome[] {
  return assignmentsOf(rule.body, { world, values: new Map(), readFrom: new Map(), depth: 0 }).flatMap(
    (one): Outcome[] => {
      if (one.status === 'refuted') return [];
      const isOpen = one.status === 'open' || values.isUndecided(expressionValue(rule.message, one.env));
      const events = one.bound.map((occurrence) => occurrence.entry?.reference ?? null);
      const key = one.bound
        .map((occurrence, index) => `${events[index]}#${keyOf(occurrence.entry, occurrence.value)}`)
        .join(' ');
      return [{ rule: number, status: isOpen ? 'open' : 'violated', events, key, counted: one.counted }];
    },
  );
}

function keyOf(entry: EventObject | null, value: unknown): string {
  return entry === value ? 'event' : (JSON.stringify(value) ?? '');
}

/**
 * What appending `pending` brings about: assignments that hold a pending event, assignments that were not as
 * they are now, and those for which `count` counts more. A rule without events speaks about every action.
 */
export function evaluatePending(
  policy: Policy,
  past: readonly TraceEvent[],
  pending: readonly TraceEvent[],
  parameters: JsonObject = {},
): readonly Outcome[] {
  const before = new Map(evaluate(policy, past, parameters).map((one) => [`${one.rule} ${one.key}`, one]));
  const old = new Set(new Trace().prepare(past).entries.map((entry) => entry.reference));
  return evaluate(policy, [...past, ...pending], parameters).filter((one) => {
    if (one.events.some((event) => event !== null && !old.has(event))) return true;
    const then = before.get(`${one.rule} ${one.key}`);
    return (
      then === undefined ||
      then.status !== one.status ||
      then.counted !== one.counted ||
      speaksOfAll(policy, one.rule)
    );
  });
}

function speaksOfAll(policy: Policy, number: number): boolean {
  const rule = policy.rules[number];
  return (
    rule !== undefined &&
    rule.rangesOver.size === 0 &&
    rule.body.variables.every((variable) => variable.within !== null)
  );
}
