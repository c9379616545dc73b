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
export { type Comparison, compared } from './presentation/compare.ts';
export { barRows, figureText, lineRows } from './presentation/figure.ts';
export { page, reservations } from './presentation/page.ts';
export { type RunFacts, readResults, resultLine, type SuiteResult } from './result.ts';
export { codeVersion } from './running/code-version.ts';
export { type Observer, type Progress, type Ran, runSuite } from './running/run.ts';
export { type Beginning, type KeptRecords, keptRecords, RunStore, type Start } from './running/run-store.ts';
export type { Aim, BenchRequest, OtherData, Section, Suite, SuiteId } from './suite.ts';
export { SUITES } from './suites.ts';
