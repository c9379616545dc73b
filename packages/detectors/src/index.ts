/** Detectors: from content to findings, and the functions that rules import for them. Ring 1. */
export type { FindIn, Finding } from './finding.ts';
export { standardDetectors } from './standard-library.ts';
