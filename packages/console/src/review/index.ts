export { appParts, freeTexts, leftOutText, partDifferences } from './app-text.ts';
export { drawFindings, drawReview, type InTurn, TerminalReviewer } from './review.ts';
export { scannedDescription } from './scanned-description.ts';
