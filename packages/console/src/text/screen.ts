/**
 * Where text goes, and what is known of it. Keeps track of whether a line is open, so that a question or a table
 * never starts in the middle of a line.
 *
 * INVARIANT (column zero is the hub's): a text that others wrote is shown through `quote`, which puts a gutter before
 * every line; a word of theirs inside a sentence of the hub is escaped and wrapped below the width by `say`, so that
 * no line of the terminal begins with it. Upheld in consent.ts, render.ts and table.ts.
 *
 * The consent question is drawn with it.
 */

import { firstLines, visibleLines } from '@cordon/core';
export interface ScreenOutput {
  write(text: string): unknown;
}

export interface ScreenOptions {
  readonly output: ScreenOutput;
  /** Columns; asked again for every line, because windows change. */
  readonly columns: () => number;
  readonly hasColor: boolean;
}

export type Style = 'plain' | 'dim' | 'bold' | 'good' | 'bad' | 'warn';

const STYLE_CODES: Readonly<Record<Style, string>> = {
  plain: '',
  dim: '2',
  bold: '1',
  good: '32',
  bad: '31',
  warn: '33',
};

/** Stands before every line that others wrote. */
export const GUTTER = '  │ ';
/** Begins every line of Cordon's in a question; text of others never starts at column 0. */
export const FRAME = '▐ ';

export class Screen {
  readonly #options: ScreenOptions;
  #isLineOpen = false;

  constructor(options: ScreenOptions) {
    this.#options = options;
  }

  /** At least 20, at most 120, and 80 where the terminal does not say: longer lines are hard to read and shorter ones cannot be framed. */
  get width(): number {
    const columns = this.#options.columns();
    return columns > 0 && Number.isFinite(columns) ? Math.min(Math.max(Math.trunc(columns), 20), 120) : 80;
  }

  /** The hub's own words; `text` is trusted and may hold styles. */
  line(text = ''): void {
    this.endLine();
    this.#options.output.write(`${text}\n`);
  }

  /**
   * A sentence of the hub that may hold words of others: made visible, wrapped, `mark` before the first line and
   * as many spaces before the others. At most `limit` lines, the last one ending in `…` where more was left out.
   */
  say(mark: string, text: string, style: Style = 'plain', limit = Number.POSITIVE_INFINITY): void {
    for (const line of this.sentence(mark, text, style, limit)) this.line(line);
  }

  /** The lines that `say` writes. */
  sentence(
    mark: string,
    text: string,
    style: Style = 'plain',
    limit = Number.POSITIVE_INFINITY,
  ): readonly string[] {
    const lines: string[] = [];
    for (const line of visibleLines(text, this.width - mark.length - 1)) {
      lines.push(line);
      if (lines.length > limit) break;
    }
    return lines.slice(0, limit).map((line, index) => {
      const isCut = index === limit - 1 && lines.length > limit;
      const before = index === 0 ? mark : ' '.repeat(mark.length);
      return this.style(style, `${before}${line.trimEnd()}${isCut ? '…' : ''}`);
    });
  }

  /** Without a line break: prompts. */
  write(text: string): void {
    if (text === '') return;
    this.#options.output.write(text);
    this.#isLineOpen = !text.endsWith('\n');
  }

  get isLineOpen(): boolean {
    return this.#isLineOpen;
  }

  endLine(): void {
    if (this.#isLineOpen) this.write('\n');
  }

  /** Someone else opened a line, e.g. the line editor with its prompt. */
  lineOpened(): void {
    this.#isLineOpen = true;
  }

  /** Someone else ended the open line, e.g. the user with Enter. */
  lineEnded(): void {
    this.#isLineOpen = false;
  }

  style(style: Style, text: string): string {
    const code = STYLE_CODES[style];
    return !this.#options.hasColor || code === '' ? text : `\u001b[${code}m${text}\u001b[0m`;
  }

  /**
   * Text that others wrote: made visible, wrapped, a gutter before every line. At most `limit` lines; returns how many
   * were left out, in words, or null.
   */
  quote(text: string, limit: number): string | null {
    return firstLines(text, this.width - GUTTER.length, limit, (line) => this.quotedLine(line));
  }

  /** One line that `visibleLines` made, for anyone who shows a text page by page. */
  quotedLine(visible: string): void {
    this.line(this.quoted(visible));
  }

  /** The line that `quotedLine` writes. */
  quoted(visible: string): string {
    return this.style('dim', GUTTER) + visible;
  }
}
