export { createModelBroker, type ModelBroker, type ModelBrokerOptions } from './broker.ts';
export {
  type CompatibleProviderConfig,
  HOSTED_KEY_VARIABLES,
  type HostedKind,
  type HostedProviderConfig,
  type ProviderConfig,
} from './provider.ts';
export { type RetryParts, sleep } from './retry.ts';
export { createService } from './service.ts';
export type { Endpoint, EndpointKind } from './service-call.ts';
export type { Fetch } from './transport.ts';
