export {
  callsHere,
  createModelBroker,
  type ModelBroker,
  type ModelBrokerOptions,
  routeModels,
} from './calls/broker.ts';
export type { ProviderRoute } from './calls/provider-call.ts';
export { createService } from './calls/service.ts';
export { providerAccess, serviceAccess } from './inside/settings.ts';
export { type RetryParts, sleep } from './transport/retry.ts';
export type { Fetch } from './transport/transport.ts';
