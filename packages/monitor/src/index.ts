export type { HubFact as MonitorFact } from '@cordon/policy/rules';
export { type MonitorFrame, ReferenceMonitor, type ReferenceMonitorOptions } from './reference-monitor.ts';
