/**
 * Looking at a whole trace after the fact: every violation, and beside them every assignment that could not be
 * decided and why.
 *
 * It looks at what has happened, and decides nothing.
 */
import { type JsonObject, ok, type Question, type Result } from '@cordon/core';
import {
  type CompiledRule,
  type Finding,
  type Policy,
  type Report,
  type ReportRule,
  type RuleProgram,
  RuleSet,
  type TraceEvent,
} from '@cordon/policy';
import { decodeChat } from '../reading/chat.ts';
import type { TraceFault } from '../reading/reading.ts';
import { type UndecidedAssignment, undecidedOf, type Violation, violationOf } from './report.ts';

/** What a whole trace holds for a policy. Clean is what has neither errors nor undecided assignments. */
export interface Analysis {
  /** By rule, in the order of the trace; of `ask` and `warn` rules, too. At most 20,000 a rule. */
  readonly errors: readonly Violation[];
  /** Also says if there are more assignments than are listed. */
  readonly undecided: readonly UndecidedAssignment[];
}

/**
 * Every violation in a list of messages in the form of OpenAI chat completions, and what could not be decided.
 * `parameters` is `input` in rules. Fails when it is no such list; other formats are read by `readTrace`. Never throws
 * for values that came from JSON.
 */
export function analyze(
  policy: Policy,
  trace: unknown,
  parameters: JsonObject = {},
): Result<Analysis, TraceFault> {
  const events = decodeChat(trace);
  return events.ok ? ok(analyzeEvents(policy, events.value, parameters)) : events;
}

/**
 * The same for events that `readTrace` has read, in the order in which they happened.
 * @param awaited takes the questions of detectors, by digest, whose answers could change it
 */
export function analyzeEvents(
  policy: Policy,
  events: readonly TraceEvent[],
  parameters: JsonObject = {},
  awaited?: Map<string, Question>,
): Analysis {
  const errors: Violation[] = [];
  const undecided: UndecidedAssignment[] = [];
  for (const found of foundIn(policy.program, events, parameters)) {
    for (const finding of found.findings) {
      for (const question of finding.open?.why.awaits ?? []) awaited?.set(question.digest, question);
      const open = undecidedOf(finding);
      if (open === null) errors.push(violationOf(finding));
      else undecided.push(open);
    }
    if (found.hasMore) undecided.push(notListed(found.rule));
  }
  return { errors, undecided };
}

/** Every assignment that holds or cannot be decided, by rule, in the order of the cross product. */
export function findingsIn(
  policy: Policy,
  events: readonly TraceEvent[],
  parameters: JsonObject = {},
): readonly Finding[] {
  return foundIn(policy.program, events, parameters).flatMap(({ findings }) => findings);
}

/**
 * Violations of one rule that are listed, and as many assignments that are undecided: who writes a trace must not
 * hide a violation behind those. A rule over two variables can have as many as there are pairs of events: nobody
 * reads them, and no memory holds those of a long log.
 */
const MAX_FINDINGS = 20_000;

interface Found {
  readonly rule: CompiledRule;
  readonly findings: Finding[];
  violations: number;
  /** There are others that are not listed. */
  hasMore: boolean;
}

function foundIn(
  program: RuleProgram,
  events: readonly TraceEvent[],
  parameters: JsonObject,
): readonly Found[] {
  const set = new RuleSet(program, parameters, 'all', true);
  const all = program.rules.map((rule): Found => ({ rule, findings: [], violations: 0, hasMore: false }));
  const reports = all.map(reportInto);
  const collect: ReportRule = (number) => {
    const report = reports[number];
    if (report === undefined) throw new Error(`there is no rule ${number}`);
    return report;
  };
  // An assignment of a joined rule is found when its last event comes; of others, only the end can tell.
  for (const event of events) set.advance(event, collect);
  set.all(collect);
  for (const { findings } of all) findings.sort(inOrderOfTrace);
  return all;
}

function reportInto(found: Found): Report {
  const open = (): number => found.findings.length - Math.min(found.violations, MAX_FINDINGS);
  return {
    add: (finding) => {
      const isOpen = finding.open !== null;
      if (!isOpen) found.violations++;
      const isListed = isOpen ? open() < MAX_FINDINGS : found.violations <= MAX_FINDINGS;
      if (isListed) found.findings.push(finding);
      else found.hasMore = true;
      return found.violations > MAX_FINDINGS;
    },
    // Who lists no more of them need not look for them either: there can be as many as there are pairs or triples.
    skipsOpen: () => found.hasMore && open() >= MAX_FINDINGS,
  };
}

function notListed(rule: CompiledRule): UndecidedAssignment {
  const { line } = rule.source.range(rule.span);
  return {
    rule: rule.id,
    line,
    events: {},
    reason: `more than ${MAX_FINDINGS} assignments; the others are not listed`,
  };
}

function inOrderOfTrace(a: Finding, b: Finding): number {
  for (const [index, { order }] of a.bound.entries()) {
    const difference = (order ?? 0) - (b.bound[index]?.order ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
