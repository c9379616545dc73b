/**
 * What reports about traces are drawn with: marks and quoted lines, in ASCII where the terminal knows nothing else.
 * Words of traces and policies are made visible here, and never stand at column 0.
 *
 * Ring 1.
 */

import type { Screen, Style } from '@cordon/console/text';
import { textColumns, VisibleCharacters, visibleLine, visibleLines } from '@cordon/core';

export interface Marks {
  readonly good: string;
  readonly bad: string;
  readonly question: string;
  readonly warning: string;
  readonly undecided: string;
  readonly gutter: string;
  readonly down: string;
  readonly source: string;
  readonly way: string;
  readonly sink: string;
  readonly other: string;
  readonly underline: string;
  readonly ellipsis: string;
}

const UNICODE: Marks = {
  good: '✓',
  bad: '✗',
  question: '?',
  warning: '!',
  undecided: '~',
  gutter: '│',
  down: '▼',
  source: '●',
  way: '│',
  sink: '■',
  other: '·',
  underline: '▔',
  ellipsis: '…',
};

const ASCII: Marks = {
  good: '+',
  bad: 'x',
  question: '?',
  warning: '!',
  undecided: '~',
  gutter: '|',
  down: 'v',
  source: 'o',
  way: '|',
  sink: '#',
  other: '-',
  underline: '^',
  ellipsis: '...',
};

export class Drawing {
  readonly marks: Marks;
  readonly screen: Screen;
  readonly #isUnicode: boolean;

  constructor(screen: Screen, isUnicode: boolean) {
    this.screen = screen;
    this.marks = isUnicode ? UNICODE : ASCII;
    this.#isUnicode = isUnicode;
  }

  /** Words of others as one line: line breaks and all that a terminal obeys are written out. */
  visible(text: string): string {
    return this.#plain(visibleLine(text, 200));
  }

  /** A sentence behind `mark`, which is ours, wrapped; the words of others in it are made visible. */
  say(mark: string, text: string, style: Style = 'plain', limit = Number.POSITIVE_INFINITY): void {
    if (this.#isUnicode) return this.screen.say(mark, text, style, limit);
    // As the screen does it, but for the mark of what is left out.
    const shown: string[] = [];
    for (const line of visibleLines(this.#plain(text), this.screen.width - mark.length - 3)) {
      if (shown.push(line.trimEnd()) > limit) break;
    }
    for (const [index, line] of shown.slice(0, limit).entries()) {
      const end = index === limit - 1 && shown.length > limit ? this.marks.ellipsis : '';
      this.screen.line(
        this.screen.style(style, `${index === 0 ? mark : ' '.repeat(mark.length)}${line}${end}`),
      );
    }
  }

  /** One line in a frame, behind as many spaces; `shown` is visible already and short enough. */
  framed(indent: number, shown: string): void {
    this.screen.line(
      `${' '.repeat(indent)}${this.screen.style('dim', this.marks.gutter)} ${shown}`.trimEnd(),
    );
  }

  /** The characters `start` to `end` (code points) of a text, in the line that they begin in, underlined. */
  excerpt(indent: number, text: string, start: number, end: number): void {
    const room = this.screen.width - indent - 3;
    const { before, inside, after } = excerptOf(
      text,
      start,
      end,
      room,
      (part) => this.#plain(part),
      this.marks.ellipsis,
    );
    this.framed(indent, `${before}${this.screen.style('bad', inside)}${after}`);
    const length = Math.max(1, Math.min(textColumns(inside), room - textColumns(before)));
    this.framed(indent, `${' '.repeat(textColumns(before))}${this.marks.underline.repeat(length)}`);
  }

  #plain(text: string): string {
    if (this.#isUnicode) return text;
    return text.replace(
      /[^\n\u0020-\u007e]/gu,
      (character) => PLAIN.get(character) ?? codePointName(character),
    );
  }
}

/** What our own words are written with. */
const PLAIN: ReadonlyMap<string, string> = new Map([
  ['…', '...'],
  ['’', "'"],
  ['→', '->'],
  ['–', '-'],
]);

function codePointName(character: string): string {
  return `<U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}>`;
}

interface Excerpt {
  readonly before: string;
  readonly inside: string;
  readonly after: string;
}

/** Looks at no more of the text than is shown, apart from finding the place. */
function excerptOf(
  text: string,
  start: number,
  end: number,
  room: number,
  plain: (text: string) => string,
  ellipsis: string,
): Excerpt {
  const from = unitOffset(text, 0, start);
  const to = unitOffset(text, from, end - start);
  const lineStart = text.lastIndexOf('\n', from - 1) + 1;
  const lineEnd = text.indexOf('\n', from);
  const last = lineEnd < 0 ? text.length : lineEnd;
  const shown = (part: string) => shownCharacters(part).map(plain);
  const half = Math.trunc(room / 2);
  const marked = shown(text.slice(from, Math.max(from, Math.min(to, last, from + half))));
  const fittingMarked = fitting(marked, half);
  const isCutInside = from + half < Math.min(to, last) || fittingMarked.length < marked.length;
  const inside = fittingMarked.join('');
  const side = Math.trunc((room - textColumns(inside)) / 2) - ellipsis.length;
  const left = shown(text.slice(Math.max(lineStart, from - side), from));
  const before = fitting(left.reverse(), side).reverse();
  const right = isCutInside ? [] : shown(text.slice(to, Math.min(last, to + side)));
  const after = fitting(right, side);
  const isCutBefore = from - side > lineStart || before.length < left.length;
  const isCutAfter = isCutInside || to + side < last || after.length < right.length;
  return {
    before: `${isCutBefore ? ellipsis : ''}${before.join('')}`,
    inside,
    after: `${after.join('')}${isCutAfter ? ellipsis : ''}`,
  };
}

/** Each character as it is shown; half a character at the beginning, where the text was cut, is left out. */
function shownCharacters(text: string): string[] {
  const characters = new VisibleCharacters();
  return [...text.replace(/^[\udc00-\udfff]/, '')].map((character) => characters.next(character));
}

/** As many of them as stand in so many columns. */
function fitting(shown: readonly string[], columns: number): string[] {
  let width = 0;
  const end = shown.findIndex((character) => {
    width += textColumns(character);
    return width > columns;
  });
  return shown.slice(0, end < 0 ? shown.length : end);
}

/** The offset in UTF-16 units of a code point, counted from `from`. */
function unitOffset(text: string, from: number, codePoints: number): number {
  let at = from;
  for (let count = 0; count < codePoints && at < text.length; count++) {
    at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
  }
  return at;
}
