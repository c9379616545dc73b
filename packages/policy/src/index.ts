export {
  type Analysis,
  analyze,
  analyzeEvents,
  type UndecidedAssignment,
  type Violation,
} from './analyze.ts';
export type * from './ast.ts';
export type { Detectors } from './builtins.ts';
export { decodeChat, type TraceFault } from './chat.ts';
export { CODES, type Code } from './codes.ts';
export type { CompiledRule } from './compiler.ts';
export * as meaning from './meaning.ts';
export { emptyPolicy, joinPolicies, loadPolicy, Policy, type PolicyOptions } from './policy.ts';
export { PolicyMonitor } from './policy-monitor.ts';
export { directlyPrecedes, flows, type Place } from './provenance.ts';
export type { Finding } from './rule-state.ts';
export type { Source, Span } from './source.ts';
export { textOf } from './text.ts';
export { type Entry, type Occurrence, occurrencesIn, occurrencesWithin, Trace } from './trace.ts';
export type { TraceEvent } from './trace-event.ts';
export type { Value } from './value.ts';
export * as values from './value.ts';
