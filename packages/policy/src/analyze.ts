/**
 * Looking at a whole trace after the fact: every violation, and beside them every assignment that could not be
 * decided and why.
 *
 * Ring 0.
 */
import { type JsonObject, ok, type Result } from '@cordon/core';
import { decodeChat, type TraceFault } from './chat.ts';
import { type UndecidedAssignment, undecidedOf, type Violation, violationOf } from './report.ts';
import { type ReportRule, type RuleProgram, RuleSet } from './rule-set.ts';
import type { Finding } from './rule-state.ts';
import type { TraceEvent } from './trace-event.ts';

export interface Analysis {
  /** By rule, in the order of the trace. */
  readonly errors: readonly Violation[];
  readonly undecided: readonly UndecidedAssignment[];
}

/** Analyses a list of chat messages, read from JSON. Fails when it is no trace. */
export function analyze(
  program: RuleProgram,
  trace: unknown,
  parameters: JsonObject,
): Result<Analysis, TraceFault> {
  const events = decodeChat(trace);
  return events.ok ? ok(analyzeEvents(program, events.value, parameters)) : events;
}

export function analyzeEvents(
  program: RuleProgram,
  events: readonly TraceEvent[],
  parameters: JsonObject,
): Analysis {
  const errors: Violation[] = [];
  const undecided: UndecidedAssignment[] = [];
  for (const finding of findingsIn(program, events, parameters)) {
    const open = undecidedOf(finding);
    if (open === null) errors.push(violationOf(finding));
    else undecided.push(open);
  }
  return { errors, undecided };
}

/** Every assignment that holds or cannot be decided, by rule, in the order of the cross product. */
export function findingsIn(
  program: RuleProgram,
  events: readonly TraceEvent[],
  parameters: JsonObject,
): readonly Finding[] {
  const set = new RuleSet(program, parameters, 'all');
  const found: Finding[][] = program.rules.map(() => []);
  const collect: ReportRule = (rule) => (finding) => {
    found[rule]?.push(finding);
    return false;
  };
  // An assignment of a joined rule is found when its last event comes; of others, only the end can tell.
  for (const event of events) set.advance(event, collect);
  set.all(collect);
  for (const list of found) list.sort(inOrderOfTrace);
  return found.flat();
}

function inOrderOfTrace(a: Finding, b: Finding): number {
  for (const [index, { order }] of a.bound.entries()) {
    const difference = (order ?? 0) - (b.bound[index]?.order ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
