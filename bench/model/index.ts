export { type Estimate, estimateOf } from './estimate.ts';
export {
  ASKED,
  type PlayedModel,
  type ProviderModelParts,
  providerModel,
  replayedModel,
  saysContextExceeded,
  type UnitModel,
} from './played-model.ts';
export { costOf, Spending, type SpendingLimits, type Spent } from './spending.ts';
