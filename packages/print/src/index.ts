export { counted } from './counted.ts';
export { Drawing, type Marks } from './drawing.ts';
export { eventLine, jsonLine, safeJson } from './json-line.ts';
export { written } from './output-stream.ts';
export { drawExcerpt, SourceLines } from './source-excerpt.ts';
export { cellLines, padded, renderTable } from './table.ts';
