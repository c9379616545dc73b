export { broker } from './models.ts';
export { closeRuntime, openRuntime, type Runtime, type SetupError } from './open-runtime.ts';
