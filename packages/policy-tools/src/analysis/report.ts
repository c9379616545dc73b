/**
 * Findings as data for people and programs outside: which rule, what it says, about which parts of the input.
 *
 * It shows findings, and decides nothing.
 */
import type { Json, JsonObject } from '@cordon/core';
import {
  type Finding,
  isContents,
  isDictionary,
  isList,
  isRuleMessage,
  isTraceObject,
  textOf,
  type Value,
} from '@cordon/policy';
import { rangesOf } from './ranges.ts';

/** An assignment of a rule's variables for which all of its lines hold (specification 10). */
export interface Violation {
  /** The rule's id: its name, else `rule-<number>`. */
  readonly rule: string;
  /** What the rule does about it: forbid, ask, or warn. */
  readonly effect: 'raise' | 'ask' | 'warn';
  /** The first of `args` if it is a text. May quote the trace: show it as text, and nothing else. */
  readonly message: string;
  /** What stands behind `raise`, as JSON; an event by the fields that rules see. */
  readonly args: readonly Json[];
  readonly kwargs: JsonObject;
  /** The parts of the trace that it is about, as paths into the input: `2`, `0.content:7-8` (code points). */
  readonly ranges: readonly string[];
  /** Variable to the path (or id) of the event that it is bound to; computed values are left out. */
  readonly events: Readonly<Record<string, string>>;
}

/** An assignment for which a line cannot be evaluated, and none is false. Whether the rule holds is unknown. */
export interface UndecidedAssignment {
  readonly rule: string;
  /** In the policy's text, from 1. */
  readonly line: number;
  readonly events: Readonly<Record<string, string>>;
  /** Names kinds and fields, never contents. */
  readonly reason: string;
}

export function violationOf(finding: Finding): Violation {
  const { rule, message } = finding;
  const isMessage = message !== null && isRuleMessage(message);
  const args = isMessage ? message.args.map(jsonOf) : [textOf(message)];
  const kwargs = isMessage ? recordOf([...message.kwargs].map(([key, value]) => [key, jsonOf(value)])) : {};
  const first = args[0];
  return {
    rule: rule.id,
    effect: rule.effect,
    message: typeof first === 'string' ? first : rule.staticMessage,
    args,
    kwargs,
    ranges: rangesOf(finding),
    events: eventsOf(finding),
  };
}

export function undecidedOf(finding: Finding): UndecidedAssignment | null {
  const { rule, open } = finding;
  if (open === null) return null;
  const { line } = rule.source.range(open.span);
  return { rule: rule.id, line, events: eventsOf(finding), reason: open.why.reason };
}

export function eventsOf(finding: Finding): Readonly<Record<string, string>> {
  const { variables } = finding.rule.body;
  const entries: [string, string][] = [];
  for (let index = 0; index < finding.bound.length; index++) {
    const entry = finding.bound[index]?.entry ?? null;
    if (entry !== null) entries.push([variables[index]?.name ?? '', entry.reference]);
  }
  return recordOf(entries);
}

/** Names come from policies and inputs; `__proto__` is an ordinary name. */
function recordOf<T>(entries: readonly (readonly [string, T])[]): Record<string, T> {
  return Object.fromEntries(entries);
}

/** A value as JSON; an event by the fields that rules see. */
function jsonOf(value: Value): Json {
  if (value === null || typeof value !== 'object') return value;
  if (isList(value)) return value.map(jsonOf);
  if (isTraceObject(value)) {
    const fields = value
      .fieldNames()
      .map((name): [string, Json] => [name, jsonOf(value.field(name) ?? null)]);
    return recordOf([['type', value.type], ...fields]);
  }
  if (isContents(value)) return value.chunks.map(jsonOf);
  if (!isDictionary(value)) return textOf(value);
  return recordOf(Object.entries(value).map(([key, inner]) => [key, jsonOf(inner)]));
}
