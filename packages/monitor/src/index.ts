export type { MonitorFact } from './proposal-event.ts';
export { type MonitorFrame, ReferenceMonitor, type ReferenceMonitorOptions } from './reference-monitor.ts';
