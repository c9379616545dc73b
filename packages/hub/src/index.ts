export type { AppLauncher, AppProcess } from './app-host.ts';
export { Hub, type HubParts, type SessionOptions } from './hub.ts';
export type { ReadSecret } from './hub-fetch.ts';
export { appLauncher, type LaunchOptions, loopLauncher } from './launch.ts';
export { type LoneAppParts, type LoneNetwork, openLoneNetwork } from './lone-app.ts';
export type { Outcome } from './operator.ts';
export { isIrreversible } from './registry.ts';
export type { Interruption, Session } from './session.ts';
export type { SpokeLauncher, SpokeProcess } from './spoke-link.ts';
