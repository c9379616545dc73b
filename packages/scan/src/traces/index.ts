/** Reading and printing traces, and the policies and parameters of commands about them. */
export { type ParameterOptions, parameterWarnings, readParameters } from '../policies/parameters.ts';
export {
  DIALECTS,
  type Dialect,
  emptinessWarnings,
  type PolicyFiles,
  readPolicyFiles,
} from '../policies/policy-files.ts';
export {
  addEvents,
  countEvents,
  NO_EVENTS,
  NOTHING_READ,
  readWords,
} from './event-counts.ts';
export { EventSummaries } from './event-summary.ts';
export { analysisLine, FindingsRenderer, renderRange } from './findings.ts';
export { type Answer, MessageStream, MOST_LINE_BYTES } from './message-stream.ts';
export { type StreamLine, streamLines } from './stream-lines.ts';
export { formatNamed, readTraces, type TraceInput, type TraceOptions } from './trace-input.ts';
