export {
  costOf,
  type Estimate,
  type PlayedModel,
  type ProviderModelParts,
  providerModel,
  replayedModel,
  Spending,
  type SpendingLimits,
} from '../model/index.ts';
export { codeVersion } from './code-version.ts';
export { type Comparison, compared } from './compare.ts';
export { barRows, figureText, lineRows } from './figure.ts';
export { page, reservations } from './page.ts';
export { type RunFacts, readResults, resultLine, type SuiteResult } from './result.ts';
export { type Observer, type Progress, type Ran, runSuite } from './run.ts';
export { type Beginning, type KeptRecords, keptRecords, RunStore, type Start } from './run-store.ts';
export type { Aim, BenchRequest, OtherData, Section, Suite, SuiteId } from './suite.ts';
export { SUITES } from './suites.ts';
