/**
 * Parts of the hub for the programs of this repository that measure one alone (bench) or hold it against a model (formal). No
 * package imports this (tools/topology.test.ts): a hub is opened whole, so that no effect passes by its gate.
 *
 * Ring 0.
 */
export { AppHost } from './app-host.ts';
export { AppNetwork } from './app-network.ts';
export { NO_PINS } from './app-pins.ts';
export type { ToolResult } from './app-tool.ts';
export { Context } from './context.ts';
export { Gate } from './gate.ts';
export { loopSpec } from './launch.ts';
export { type PermissionNeed, Permissions } from './permission.ts';
export { Recorder } from './recorder.ts';
export { validatorOnDemand } from './schema-validator.ts';
export { type Serve, SpokeLink } from './spoke-link.ts';
export { SpokePool } from './spoke-pool.ts';
export { sessionGrants } from './stored-memory.ts';
