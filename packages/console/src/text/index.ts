export { argumentsInLine } from './argument-lines.ts';
export { Drawing, type Marks } from './drawing.ts';
export { eventLine, jsonLine } from './json-line.ts';
export { written } from './output-stream.ts';
export { Screen, type ScreenOptions, type ScreenOutput, type Style } from './screen.ts';
export { drawExcerpt, SourceLines } from './source-excerpt.ts';
export { cellLines, padded, renderTable } from './table.ts';
export { diffLines } from './text-diff.ts';
