export { appParts, leftOutText, partDifferences } from './app-text.ts';
export type { DescriptionFinding } from './finding.ts';
export { drawFindings, drawReview, TerminalReviewer } from './review.ts';
