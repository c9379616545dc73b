export { CONFINES_PROVIDERS, openProviders, type Providers } from './machine/providers.ts';
export { sandboxOnDemand } from './machine/sandbox-on-demand.ts';
export { openModels } from './models.ts';
export { closeRuntime, modelFault, openRuntime, type Runtime, type SetupError } from './open-runtime.ts';
