export {
  type Judged,
  type MonitorFrame,
  ReferenceMonitor,
  type ReferenceMonitorOptions,
} from './reference-monitor.ts';
