export {
  callsHere,
  createModelBroker,
  type ModelBroker,
  type ModelBrokerOptions,
  routeModels,
} from './calls/broker.ts';
export type { ProviderRoute } from './calls/provider-call.ts';
export { createService } from './calls/service.ts';
export type { Endpoint, EndpointKind } from './calls/service-call.ts';
export { providerAccess, serviceAccess } from './inside/settings.ts';
export {
  type CompatibleProviderConfig,
  HOSTED_KEY_VARIABLES,
  type HostedKind,
  type HostedProviderConfig,
  type ProviderConfig,
} from './providers/access.ts';
export { type RetryParts, sleep } from './transport/retry.ts';
export type { Fetch } from './transport/transport.ts';
