export {
  type Analysis,
  analyze,
  analyzeEvents,
  type UndecidedAssignment,
  type Violation,
} from './analyze.ts';
export { PolicyMonitor } from './policy-monitor.ts';
export type { MonitorFact } from './proposal-event.ts';
export { type MonitorFrame, ReferenceMonitor, type ReferenceMonitorOptions } from './reference-monitor.ts';
export type { Finding } from './rule-state.ts';
