/**
 * A place in a text that a person wrote, shown: its line with its number, and carets below what is meant. The text may
 * be hostile: what a terminal obeys is written out, and a line of any length is cut around the place.
 */

import type { Screen, Style } from '@cordon/console/text';
import type { SourceRange } from '@cordon/core';
import { excerptOf } from './excerpt.ts';

/** The lines of a text, so that a thousand places do not split it a thousand times. */
export class SourceLines {
  readonly #lines: readonly string[];

  constructor(text: string) {
    this.#lines = text.split('\n');
  }

  /** Counted from 1, without its end. */
  line(number: number): string {
    return (this.#lines[number - 1] ?? '').replace(/\r$/, '');
  }
}

const INDENT = '  ';
const TAB = '    ';

/** Draws the line in which the range begins. What of the range stands on later lines is not shown. */
export function drawExcerpt(screen: Screen, lines: SourceLines, range: SourceRange, style: Style): void {
  const line = lines.line(range.line);
  const number = String(range.line);
  const start = range.column - 1;
  const end = range.endLine > range.line ? line.length : range.endColumn - 1;
  const { before, inside, after, indent, width } = excerptOf(line, start, Math.max(start, end), {
    room: screen.width - number.length - INDENT.length - 4,
    ellipsis: '…',
    written: (visible, character) => (character === '\t' ? TAB : visible),
  });
  screen.line(`${INDENT}${screen.style('dim', `${number} |`)} ${before}${inside}${after}`.trimEnd());
  const margin = `${INDENT}${' '.repeat(number.length)} ${screen.style('dim', '|')} `;
  screen.line(`${margin}${' '.repeat(indent)}${screen.style(style, '^'.repeat(width))}`);
}
