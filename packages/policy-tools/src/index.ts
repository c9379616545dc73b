/**
 * `@cordon/policy-tools`: what looks at rules and traces and decides nothing. `docs/policy/library.md` shows it with examples
 * that are run.
 */

// Whole traces and single events: what rules find, why, and hiding it.

export { type Analysis, analyze, analyzeEvents, findingsIn } from './analysis/analyze.ts';
export type { Change, ExplainedLine, ExplainedStep, Explanation } from './analysis/explain.ts';
export { ExplainingMonitor, type PolicyDecision, type PolicyReason } from './analysis/explaining-monitor.ts';
export { TraceLabels } from './analysis/labelled-trace.ts';
export { mask } from './analysis/mask.ts';
export { type EventNeed, prefilterOf, type RuleNeeds, type TextNeed } from './analysis/prefilter.ts';
export type { UndecidedAssignment, Violation } from './analysis/report.ts';

// Recorded traces, from what other programs write.

export { saysNothingBeside } from './formats/conversation.ts';
export { type ReadTrace, readTrace } from './formats/read-trace.ts';
export { TRACE_FORMATS, type TraceFormat } from './formats/shape.ts';
export { decodeChat } from './reading/chat.ts';
export { isMark } from './reading/note-shape.ts';
export type { TraceFault } from './reading/reading.ts';

// Rules: what is probably not meant, and their canonical text.

export { type LintOptions, type LintSubject, lint } from './lint/lint.ts';
export { parseTools, type ToolSchema } from './lint/tool-schema.ts';
export { type FormatOptions, format } from './print/formatter.ts';
export { print } from './print/printer.ts';
