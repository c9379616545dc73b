export type { HandedVariable } from './app-config.ts';
export {
  type Configuration,
  type ConfigurationOptions,
  type ConfigurationSources,
  isProviderConfigured,
  loadConfiguration,
  modelInUse,
} from './config.ts';
export type { ProviderProtocol, ProviderSetting } from './provider-config.ts';
