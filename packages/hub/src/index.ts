export {
  type AppDescription,
  appTools,
  type DescribedTool,
  describeInstructions,
  descriptionDigest,
  descriptionJson,
  INSTRUCTIONS_LENGTH,
  type LeftOut,
  readDescription,
} from './app-description.ts';
export {
  type AppPins,
  type Review,
  type Reviewed,
  type Reviewer,
  StoredPins,
  type Vetting,
} from './app-pins.ts';
export type { AppLauncher, AppProcess } from './app-process.ts';
export { type BegunSession, beginSession, type SessionOptions } from './begun-session.ts';
export { CATALOGUE, type CatalogueEntry } from './catalogue.ts';
export {
  type DescriptionFinding,
  type FindingKind,
  type FindOrders,
  type OtherApp,
  scanDescription,
} from './description-scan.ts';
export { NOT_NEEDED } from './foresight.ts';
export { Hub, type HubParts } from './hub.ts';
export type { ReadSecret } from './hub-fetch.ts';
export type { Answering } from './inquiries.ts';
export type { Installable, Installables, PackageSource } from './installing.ts';
export { type UnfinishedQuery, unfinishedQuery, unknownOutcomes } from './interruption.ts';
export { appLauncher, type LaunchOptions, loopLauncher } from './launch.ts';
export type { FactsMode } from './learning.ts';
export { type LoneAppParts, type LoneNetwork, openLoneNetwork } from './lone-app.ts';
export type { HistoryReach } from './memory.ts';
export type { Outcome } from './operator.ts';
export { isIrreversible } from './registry.ts';
export type { Session, Unfinished } from './session.ts';
export type { SpokeLauncher, SpokeProcess } from './spoke-link.ts';
export type { SummaryMode } from './summaries.ts';
