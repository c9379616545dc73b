/**
 * Parts of the hub for the programs of this repository that measure one alone (bench) or hold it against a model (formal). No
 * package imports this (tools/topology.test.ts): a hub is opened whole, so that no effect passes by its gate.
 */
export { AppHost } from './apps/app-host.ts';
export { NO_PINS } from './apps/app-pins.ts';
export { validatorOnDemand } from './apps/schema-validator.ts';
export type { ConsentRequirement } from './consent/consent-requirement.ts';
export { sessionGrants } from './consent/grants.ts';
export { Permissions } from './consent/permission.ts';
export type { ToolResult } from './context/app-tool.ts';
export { Context } from './context/context.ts';
export { AppNetwork, type DecideEgress } from './egress/app-network.ts';
export { Recorder } from './journal/recorder.ts';
export { Gate } from './mediation/gate.ts';
export { loopSpec } from './processes/launch.ts';
export { type Serve, SpokeLink } from './spokes/spoke-link.ts';
export { SpokePool } from './spokes/spoke-pool.ts';
