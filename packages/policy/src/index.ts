export type * from './ast.ts';
export {
  type Body,
  type BodyVariable,
  type Candidate,
  type Candidates,
  type Frame,
  type OpenLine,
  planSearch,
  type SearchPlan,
  type Step,
  search,
  type World,
} from './body.ts';
export type { Detectors } from './builtins.ts';
export { decodeChat, type TraceFault } from './chat.ts';
export { CODES, type Code } from './codes.ts';
export type { CompiledRule } from './compiler.ts';
export * as meaning from './meaning.ts';
export { emptyPolicy, joinPolicies, loadPolicy, type Policy, type PolicyOptions } from './policy.ts';
export { directlyPrecedes, flows, type Place } from './provenance.ts';
export type { Source, Span } from './source.ts';
export { textOf } from './text.ts';
export { type Batch, type Entry, type Occurrence, occurrencesIn, occurrencesWithin, Trace } from './trace.ts';
export type { TraceEvent } from './trace-event.ts';
export type { Value } from './value.ts';
export * as values from './value.ts';
