export { createModelBroker, type ModelBroker, type ModelBrokerOptions } from './broker.ts';
export {
  type CompatibleProviderConfig,
  HOSTED_KEY_VARIABLES,
  type HostedKind,
  type HostedProviderConfig,
  type ProviderConfig,
} from './provider.ts';
export { type RetryParts, sleep } from './retry.ts';
export { createService, type Endpoint, type EndpointKind } from './service.ts';
export type { Fetch } from './transport.ts';
