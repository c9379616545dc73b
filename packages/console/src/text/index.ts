export { argumentsInLine } from './argument-lines.ts';
export { FRAME, Screen, type ScreenOptions, type ScreenOutput, type Style } from './screen.ts';
export { diffLines } from './text-diff.ts';
