export type { HubFact as MonitorFact } from '@cordon/policy/rules';
export {
  type Judged,
  type MonitorFrame,
  ReferenceMonitor,
  type ReferenceMonitorOptions,
} from './reference-monitor.ts';
