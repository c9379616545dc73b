/**
 * `@cordon/policy` as programs use it: text to policy, policy and trace to findings and decisions. Each section says
 * for whom its names are; `docs/policy/library.md` shows the first three with examples that are run.
 *
 * Ring 0 (but for `lint/` and `print/`).
 */

// Policies: from text to rules, and what is wrong with a text.

export { CODES, type Code } from './codes.ts';
export type { CompiledRule } from './compiler.ts';
export {
  awaiting,
  type Detector,
  type DetectorCall,
  type DetectorSpec,
  defineDetector,
  type NoAnswer,
  noAnswer,
} from './detector.ts';
export { type LintOptions, type LintSubject, lint } from './lint/lint.ts';
export { parseTools, type ToolSchema } from './lint/tool-schema.ts';
export { emptyPolicy, joinPolicies, loadPolicy, Policy, type PolicyOptions } from './policy.ts';
export { definePredicate, type PredicateSpec } from './predicate.ts';
export { type FormatOptions, format } from './print/formatter.ts';
export { print } from './print/printer.ts';

// Traces: events, and reading them from what other programs write.

export { decodeChat, type TraceFault } from './chat.ts';
export { saysNothingBeside } from './formats/conversation.ts';
export { type ReadTrace, readTrace, TRACE_FORMATS } from './formats/read-trace.ts';
export type { TraceFormat } from './formats/shape.ts';
export { TraceLabels } from './labelled-trace.ts';
export { isMark } from './note-shape.ts';
export { recordFields } from './record-text.ts';
export type {
  CalledTool,
  CarrierEvent,
  Chunk,
  Content,
  EventFrame,
  HubEvent,
  MessageEvent,
  Released,
  ToolCallEvent,
  ToolEvent,
  ToolOutputEvent,
  ToolParameter,
  TraceEvent,
} from './trace-event.ts';

// Results: what is found in a trace, what is decided about events, why, and hiding it.

export type { Analysis } from './analyze.ts';
export type { Change, ExplainedLine, ExplainedStep, Explanation } from './explain.ts';
export { mask } from './mask.ts';
export { type PolicyDecision, PolicyMonitor, type PolicyReason } from './policy-monitor.ts';
export type { UndecidedAssignment, Violation } from './report.ts';

// The tree: for programs that look at rules rather than run them.

export type * from './ast.ts';
export type { Source, Span } from './source.ts';

// The hub: its proposals and facts as events, and what findings do to them (`@cordon/monitor`).

export { type EventPlace, factEvent, type HubFact, proposalEvent } from './formats/cordon-event.ts';
export { spokenLink } from './origin/encodings.ts';
export type { EventNeed, RuleNeeds, TextNeed } from './rule-needs.ts';
export { RuleProgram } from './rule-set.ts';
export type { Finding } from './rule-state.ts';

// The meaning, for evaluators by another way (`@cordon/reference`, tests): no promise to anybody else.

export { findingsIn } from './analyze.ts';
export { EventObject, type Occurrence, occurrencesIn, occurrencesWithin } from './event-object.ts';
export * as meaning from './meaning.ts';
export { Trace } from './trace.ts';
export type { Value } from './value.ts';
export * as values from './value.ts';
