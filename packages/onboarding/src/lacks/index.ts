export { type GrantedText, withRight } from './grant-text.ts';
export { type MissingRight, missingRight, type RightsPlace } from './missing-right.ts';
export { lacksInWords, type NamedLack } from './words.ts';
