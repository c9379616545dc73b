export {
  callsHere,
  createModelBroker,
  type ModelBroker,
  type ModelBrokerOptions,
  routeModels,
} from './broker.ts';
export { providerAccess, serviceAccess } from './inside/settings.ts';
export { HOSTED_KEY_VARIABLES } from './provider.ts';
export type { ProviderRoute } from './provider-call.ts';
export { type RetryParts, sleep } from './retry.ts';
export { createService } from './service.ts';
export type { Fetch } from './transport.ts';
