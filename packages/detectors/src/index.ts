/** Detectors: from content to findings, and the functions that rules import for them. Ring 1. */
export { KeptAnswers } from './asking/answer-book.ts';
export type { Asking } from './asking/asking.ts';
export type { FindIn, Finding } from './finding.ts';
export { WorkerTextThread } from './long-texts/text-thread.ts';
export { findOrders } from './orders.ts';
export { standardDetectors } from './standard-library.ts';
