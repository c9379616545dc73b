/** Detectors: from content to findings, and the functions that rules import for them. Ring 1. */
export { KeptAnswers } from './asking/answer-book.ts';
export type { Asking } from './asking/asking.ts';
export type { FindIn, Finding } from './finding.ts';
export { findOrders } from './orders.ts';
export { type Awaited, judgedWithAnswers } from './own/judged.ts';
export { type OwnDetectors, type OwnDetectorsOptions, ownDetectors } from './own/library.ts';
export {
  type DeclaredModule,
  type DetectorModule,
  defineDetectors,
  type OwnPredicate,
  readDeclared,
} from './own/module.ts';
export { INSIDE_FOLDER } from './own/predicates.ts';
export { STANDARD_NAMES, standardDetectors } from './standard-library.ts';
