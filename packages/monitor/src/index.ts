export { type EventPlace, factEvent, type HubFact, proposalEvent } from './cordon-event.ts';
export { frozenCopy, type Judged, ReferenceMonitor } from './reference-monitor.ts';
export { proposalOf, SessionFacts, type Told } from './session-facts.ts';
