/**
 * A place in a text that a person wrote, shown: its line with its number, and carets below what is meant. The text may
 * be hostile: what a terminal obeys is written out, and a line of any length is cut around the place.
 *
 * Ring 1.
 */

import type { Screen, Style } from '@cordon/console/text';
import { type SourceRange, textColumns, VisibleCharacters } from '@cordon/core';

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

/** Draws the line in which the range begins. What of the range stands on later lines is not shown. */
export function drawExcerpt(screen: Screen, lines: SourceLines, range: SourceRange, style: Style): void {
  const line = lines.line(range.line);
  const number = String(range.line);
  const end = range.endLine > range.line ? line.length : range.endColumn - 1;
  const room = screen.width - number.length - INDENT.length - 4;
  const { text, before, width } = cut(line, range.column - 1, Math.max(range.column - 1, end), room);
  screen.line(`${INDENT}${screen.style('dim', `${number} |`)} ${text}`.trimEnd());
  const margin = `${INDENT}${' '.repeat(number.length)} `;
  screen.line(
    `${margin}${screen.style('dim', '|')} ${' '.repeat(before)}${screen.style(style, '^'.repeat(width))}`,
  );
}

const INDENT = '  ';
const ELLIPSIS = '…';
const TAB = '    ';

interface Cut {
  readonly text: string;
  /** Columns before the place, and of it. */
  readonly before: number;
  readonly width: number;
}

interface Shown {
  readonly text: string;
  readonly columns: number;
}

/** Looks at no more of the line than can be shown. `start` and `end` are in UTF-16 units. */
function cut(line: string, start: number, end: number, room: number): Cut {
  const half = Math.trunc(room / 2);
  const inside = fitting(shown(line.slice(start, Math.min(end, start + room))), room - 2, false);
  const width = Math.max(1, columnsOf(inside));
  const rest = columnsOf(shown(line.slice(end, end + room)));
  const left = Math.max(0, Math.min(half, room - width - 2), room - width - 2 - rest);
  const before = fitting(shown(line.slice(Math.max(0, start - left), start)), left, true);
  const isCutBefore = lengthOf(before, line, start) < start;
  const right = Math.max(0, room - width - columnsOf(before) - 2);
  const after = fitting(shown(line.slice(end, end + right)), right, false);
  const isCutInside = end - start > room || inside.length < shown(line.slice(start, end)).length;
  const isCutAfter = isCutInside || end + right < line.length || after.length < shown(line.slice(end)).length;
  const lead = isCutBefore ? ELLIPSIS : '';
  const text = [
    lead,
    ...before.map((one) => one.text),
    ...inside.map((one) => one.text),
    ...(isCutInside ? [] : after.map((one) => one.text)),
    isCutAfter ? ELLIPSIS : '',
  ].join('');
  return { text, before: lead.length + columnsOf(before), width };
}

/** How many UTF-16 units before `start` are shown. */
function lengthOf(before: readonly Shown[], line: string, start: number): number {
  const points = [...line.slice(Math.max(0, start - before.length * 2), start)];
  return points.slice(points.length - before.length).join('').length;
}

function shown(text: string): readonly Shown[] {
  const characters = new VisibleCharacters();
  return [...text].map((character) => {
    const visible = character === '\t' ? TAB : characters.next(character);
    return { text: visible, columns: columnsIn(visible) };
  });
}

/** As many as stand in so many columns, from the beginning or from the end. */
function fitting(all: readonly Shown[], columns: number, isFromEnd: boolean): readonly Shown[] {
  let width = 0;
  let count = 0;
  for (let index = 0; index < all.length; index++) {
    const next = all[isFromEnd ? all.length - 1 - index : index];
    // The terminal may take more than the caret is moved by; the line must not be wrapped.
    width += textColumns(next?.text ?? '');
    if (width > columns) break;
    count++;
  }
  return isFromEnd ? all.slice(all.length - count) : all.slice(0, count);
}

function columnsOf(all: readonly Shown[]): number {
  return all.reduce((sum, { columns }) => sum + columns, 0);
}

const WIDE =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Emoji_Presentation}\u3000-\u303f\uff01-\uff60]/u;

/** What terminals usually take, so that the caret stands below its character. */
function columnsIn(text: string): number {
  let columns = 0;
  for (const character of text) columns += /\p{M}/u.test(character) ? 0 : WIDE.test(character) ? 2 : 1;
  return columns;
}
