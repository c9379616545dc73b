export { appParts, leftOutText, reviewDifferences } from './app-text.ts';
export type { DescriptionFinding } from './finding.ts';
export { overviewOf } from './overview.ts';
export { drawFindings, drawReview, drawWhole, TerminalReviewer } from './review.ts';
