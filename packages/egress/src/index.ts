export type { EgressRequest, Traffic, WayOut } from './admission.ts';
export { Budget, DEFAULT_EGRESS_LIMITS, type EgressLimits } from './budget.ts';
export { type ReadyCredential, readyCredential } from './credential.ts';
export { type Destination, destination, destinationOfAuthority, isAddress } from './destination.ts';
export { directPorts } from './direct.ts';
export {
  type FetchAnswer,
  type FetchCredential,
  type FetchOptions,
  type FetchRequest,
  fetchFor,
  secureByAuthorities,
} from './fetch.ts';
export { type DirectListeners, type EgressProxy, openEgressProxy } from './proxy.ts';
export {
  type EntryProblem,
  isWithinReach,
  type NetworkEntry,
  parseNetworkEntry,
  parseReach,
  printNetworkEntry,
  type Reach,
  TLS_PORT,
} from './reach.ts';
export { type Refusal, RefusalCount } from './refusal.ts';
export { isPublicAddress, oneAtATime } from './resolver.ts';
