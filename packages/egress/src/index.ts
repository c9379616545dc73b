export {
  DEFAULT_PORTS,
  type Destination,
  destination,
  destinationOfAuthority,
  isWithinReach,
  type Reach,
} from './destination.ts';
export {
  DEFAULT_EGRESS_LIMITS,
  type EgressLimits,
  type EgressOptions,
  type EgressProxy,
  type EgressRequest,
  openEgressProxy,
} from './proxy.ts';
export { isPublicAddress, type Lookup, resolvePublic, systemLookup } from './resolver.ts';
