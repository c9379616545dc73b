/**
 * Looking at a whole trace after the fact: every violation, and beside them every assignment that could not be
 * decided and why.
 *
 * Ring 0.
 */
import { type Json, type JsonObject, ok, type Result } from '@cordon/core';
import { decodeChat, type TraceFault } from './chat.ts';
import type { CompiledPolicy } from './compiler.ts';
import { PolicyMonitor } from './policy-monitor.ts';
import type { Finding } from './rule-state.ts';
import { textOf } from './text.ts';
import type { TraceEvent } from './trace-event.ts';
import { isContents, isDictionary, isList, isRuleMessage, isTraceObject, type Value } from './value.ts';

export interface Analysis {
  readonly errors: readonly Violation[];
  readonly undecided: readonly UndecidedAssignment[];
}

export interface Violation {
  readonly rule: string;
  readonly effect: 'raise' | 'ask' | 'warn';
  readonly message: string;
  readonly args: readonly Json[];
  readonly kwargs: JsonObject;
  /** The parts of the trace that it is about, as paths into the input: `2`, `0.content:7-8` (code points). */
  readonly ranges: readonly string[];
  /** Variable to the path (or id) of the event that it is bound to; computed values are left out. */
  readonly events: Readonly<Record<string, string>>;
}

export interface UndecidedAssignment {
  readonly rule: string;
  /** In the policy's text, from 1. */
  readonly line: number;
  readonly events: Readonly<Record<string, string>>;
  readonly reason: string;
}

/** Analyses a list of chat messages, read from JSON. Fails when it is no trace. */
export function analyze(
  policy: CompiledPolicy,
  trace: unknown,
  parameters: JsonObject = {},
): Result<Analysis, TraceFault> {
  const events = decodeChat(trace);
  return events.ok ? ok(analyzeEvents(policy, events.value, parameters)) : events;
}

export function analyzeEvents(
  policy: CompiledPolicy,
  events: readonly TraceEvent[],
  parameters: JsonObject = {},
): Analysis {
  const monitor = new PolicyMonitor(policy, parameters);
  monitor.append(events);
  const errors: Violation[] = [];
  const undecided: UndecidedAssignment[] = [];
  for (const finding of monitor.findings()) {
    if (finding.open === null) errors.push(violation(finding));
    else {
      undecided.push({
        rule: finding.rule.id,
        line: finding.rule.source.range(finding.open.span).line,
        events: eventsOf(finding),
        reason: finding.open.why.reason,
      });
    }
  }
  return { errors, undecided };
}

function violation(finding: Finding): Violation {
  const { message } = finding;
  const isMessage = message !== null && isRuleMessage(message);
  const args = isMessage ? message.args.map(jsonOf) : [textOf(message)];
  const kwargs = isMessage
    ? Object.fromEntries([...message.kwargs].map(([key, value]) => [key, jsonOf(value)]))
    : {};
  const first = args[0];
  return {
    rule: finding.rule.id,
    effect: finding.rule.effect,
    message: typeof first === 'string' ? first : finding.rule.staticMessage,
    args,
    kwargs,
    ranges: [],
    events: eventsOf(finding),
  };
}

function eventsOf(finding: Finding): Readonly<Record<string, string>> {
  const { variables } = finding.rule.body;
  const named = finding.entries.flatMap((entry, index): [string, string][] =>
    entry === null ? [] : [[variables[index]?.name ?? '', entry.reference]],
  );
  return Object.fromEntries(named);
}

/** A value as JSON; an event by the fields that rules see. */
function jsonOf(value: Value): Json {
  if (value === null || typeof value !== 'object') return value;
  if (isList(value)) return value.map(jsonOf);
  if (isTraceObject(value)) {
    const fields = [...value.fields].map(([name, inner]): [string, Json] => [name, jsonOf(inner)]);
    return Object.fromEntries([['type', value.type], ...fields]);
  }
  if (isContents(value)) return value.chunks.map(jsonOf);
  if (!isDictionary(value)) return textOf(value);
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, jsonOf(inner)]));
}
