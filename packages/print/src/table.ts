/**
 * Text in columns: tables for `cordon apps`, `doctor` and `grants list`. Cells may hold words of others; they are escaped and
 * stay in their column.
 */

import type { Screen, Style } from '@cordon/console/text';
import { textColumns, visibleLines } from '@cordon/core';

const GAP = 2;
/** A cell is not wrapped to less, so that a word or a date stays whole. */
const LEAST_COLUMN = 12;
/** Lines of one cell; `--json` has the rest. */
const MOST_CELL_LINES = 20;

export type Row = readonly string[];

/** A table; where the columns do not fit, one block for each row. Every line begins with two spaces. */
export function renderTable(screen: Screen, headers: Row, rows: readonly Row[]): void {
  const widths = columnWidths([headers, ...rows], headers.length, screen.width - GAP - 1);
  if (widths === null) return renderBlocks(screen, headers, rows);
  renderRow(screen, headers, widths, 'bold');
  for (const row of rows) renderRow(screen, row, widths, 'plain');
}

/**
 * As wide as the widest cell; what is too much is taken from the widest columns, and from the first, which names the row
 * and may be copied, only when the others have no more to give, and none of its words is broken. Null: nothing is left to
 * give.
 */
function columnWidths(rows: readonly Row[], count: number, room: number): number[] | null {
  const widths = Array.from({ length: count }, (_, column) =>
    Math.min(
      room,
      Math.max(1, ...rows.map((row) => textColumns(cellLines(row[column] ?? '', room)[0] ?? ''))),
    ),
  );
  const longest = Math.max(...rows.map(([name = '']) => longestWord(name)));
  const total = () => widths.reduce((sum, width) => sum + width, GAP * (count - 1));
  while (total() > room) {
    const others = Math.max(0, ...widths.slice(1));
    const widest = others > LEAST_COLUMN ? widths.indexOf(others, 1) : 0;
    const width = widths[widest] ?? 0;
    if (widest === 0 && width <= Math.max(LEAST_COLUMN, longest)) return null;
    widths[widest] = width - 1;
  }
  return widths;
}

function longestWord(text: string): number {
  return Math.max(...text.split(/\s/).map(textColumns));
}

function renderRow(screen: Screen, row: Row, widths: readonly number[], style: Style): void {
  const cells = widths.map((width, column) => cellLines(row[column] ?? '', width));
  const height = Math.max(...cells.map((lines) => lines.length));
  for (let line = 0; line < height; line++) {
    const parts = widths.map((width, column) => padded(cells[column]?.[line] ?? '', width));
    screen.line(`  ${screen.style(style, parts.join(' '.repeat(GAP)).trimEnd())}`);
  }
}

function renderBlocks(screen: Screen, headers: Row, rows: readonly Row[]): void {
  for (const row of rows) {
    for (const [column, header] of headers.entries()) screen.say('  ', `${header}: ${row[column] ?? ''}`);
    screen.line();
  }
}

/** The text of a cell, escaped and wrapped. */
export function cellLines(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const line of visibleLines(text, width)) {
    lines.push(line.trimEnd());
    if (lines.length === MOST_CELL_LINES) break;
  }
  return lines;
}

export function padded(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - textColumns(text)));
}
