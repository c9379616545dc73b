export {
  callsHere,
  createModelBroker,
  type ModelBroker,
  type ModelBrokerOptions,
  routeModels,
} from './broker.ts';
export { providerAccess, serviceAccess } from './inside/settings.ts';
export {
  type Attack,
  type BeliefChange,
  type Condition,
  canonicalText,
  createObedientModel,
  decodeScenario,
  parseScenario,
  type Reference,
  type Scenario,
  type ScenarioCall,
  type Task,
  type TaskAnswer,
  type Template,
  type Value,
  type Variant,
} from './obedient/index.ts';
export {
  type CompatibleProviderConfig,
  HOSTED_KEY_VARIABLES,
  type HostedKind,
  type HostedProviderConfig,
  type ProviderConfig,
} from './provider.ts';
export type { ProviderRoute } from './provider-call.ts';
export { type RetryParts, sleep } from './retry.ts';
export { createService, type Endpoint, type EndpointKind } from './service.ts';
export type { Fetch } from './transport.ts';
