export {
  type AppDescription,
  appTools,
  type DescribedTool,
  descriptionDigest,
  INSTRUCTIONS_LENGTH,
  type LeftOut,
  readDescription,
} from './apps/app-description.ts';
export {
  type AppPins,
  type Review,
  type Reviewed,
  type Reviewer,
  StoredPins,
  type Vetting,
} from './apps/app-pins.ts';
export type { AppLauncher, AppProcess } from './apps/app-process.ts';
export { calledLabels, isIrreversible, toldBy } from './apps/registry.ts';
export type { AppTool } from './context/app-tool.ts';
export { AppLogins } from './egress/app-logins.ts';
export type { LoginPlace, LoginSteps, LoginWish } from './egress/log-in.ts';
export { Hub, type HubParts } from './hub.ts';
export type { SessionOptions, SessionRecord } from './journal/session-record.ts';
export type { Answering } from './mediation/detector-queries.ts';
export { outputLabel } from './mediation/tool-calls.ts';
export type { Installable, Installables, PackageSource } from './planning/installing.ts';
export type { ExplicitPlan, Guess, Planner, QuerySurroundings, Subject } from './planning/planner.ts';
export type { PlanningTask } from './planning/read-plan.ts';
export { NOT_NEEDED } from './planning/tool-planning.ts';
export { appLauncher, type LaunchOptions, loopLauncher } from './processes/launch.ts';
export { CATALOGUE, type CatalogueEntry } from './query/catalogue.ts';
export type { Outcome } from './query/outcome.ts';
export type { AskOptions, LastChange, Session, Unfinished } from './session.ts';
export type { ModelChoice } from './session-parts.ts';
export type { SpokeLauncher, SpokeProcess } from './spokes/spoke-link.ts';
export { openStandaloneNetwork, type StandaloneAppParts, type StandaloneNetwork } from './standalone-app.ts';
