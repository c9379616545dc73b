/** Detectors: from content to findings, and the functions that rules import for them. */
export { KeptAnswers } from './asking/answer-book.ts';
export type { Asking, DeclaredModule } from './asking/asking.ts';
export { findOrders } from './library/orders.ts';
export { STANDARD_NAMES, standardDetectors } from './library/standard-library.ts';
export { type Awaited, judgedWithAnswers } from './own/judged.ts';
export { type OwnDetectors, type OwnDetectorsOptions, ownDetectors } from './own/library.ts';
export { type DetectorModule, defineDetectors, type OwnPredicate, readDeclared } from './own/module.ts';
export { INSIDE_FOLDER } from './own/predicates.ts';
export type { FindIn, Finding } from './text/finding.ts';
