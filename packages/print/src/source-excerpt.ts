/**
 * A place in a text that a person wrote, shown: its line with its number, and carets below what is meant. The text may
 * be hostile: what a terminal obeys is written out, and a line of any length is cut around the place.
 *
 * Ring 1.
 */

import type { Screen, Style } from '@cordon/console/text';
import type { SourceRange } from '@cordon/core';
import { excerptOf } from './excerpt.ts';

/** Line after line of a text, so that a thousand places do not split it a thousand times. */
export class SourceLines {
  readonly #text: string;
  readonly #starts: readonly number[];

  constructor(text: string) {
    this.#text = text;
    const starts = [0];
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
    this.#starts = starts;
  }

  /** Counted from 1, without its end. */
  line(number: number): string {
    const start = this.#starts[number - 1];
    if (start === undefined) return '';
    const next = this.#starts[number];
    return this.#text.slice(start, next === undefined ? undefined : next - 1).replace(/\r$/, '');
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
