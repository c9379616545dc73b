export { findInputs, type Input, sortedArguments } from './parts/input.ts';
export { PART_BYTES } from './parts/input-parts.ts';
export type { RecordOptions, ScanTask } from './parts/part.ts';
export { type ParameterOptions, parameterWarnings, readParameters } from './policies/parameters.ts';
export {
  DIALECTS,
  type Dialect,
  emptinessWarnings,
  type PolicyFiles,
  readPolicyFiles,
} from './policies/policy-files.ts';
export { JsonReport } from './report/json-report.ts';
export { duration, ProgressBar } from './report/progress-bar.ts';
export type { ScanReport } from './report/report.ts';
export { SarifReport } from './report/sarif-report.ts';
export { FileOutput, type ScanOutput, StreamOutput } from './report/scan-output.ts';
export { EXAMPLES, SummaryReport } from './report/summary-report.ts';
export { type ScanEnd, scan } from './scan.ts';
export { type Beginning, digestOf, freshBeginning, ScanMemory } from './scan-memory.ts';
export type { TaskPrint } from './scan-state.ts';
export {
  addEvents,
  countEvents,
  counted,
  NO_EVENTS,
  NOTHING_READ,
  readWords,
} from './traces/event-counts.ts';
export { EventSummaries } from './traces/event-summary.ts';
export { analysisLine, FindingsRenderer, renderRange } from './traces/findings.ts';
export { type Answer, MessageStream, MOST_LINE_BYTES } from './traces/message-stream.ts';
export { type StreamLine, streamLines } from './traces/stream-lines.ts';
export { formatNamed, readTraces, type TraceInput, type TraceOptions } from './traces/trace-input.ts';
export { AskingScanner, type ScannerPool, SoleScanner, WorkerPool } from './worker-pool.ts';
