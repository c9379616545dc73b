export { type WantedLayer, wantedLayers } from '../settings/wanted-layer.ts';
export { NO_RIGHTS, type RunRights, runStateFolder } from './run-rights.ts';
