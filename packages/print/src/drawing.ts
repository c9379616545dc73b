/**
 * What reports about traces are drawn with: marks and quoted lines, in ASCII where the terminal knows nothing else.
 * Words of traces and policies are made visible here, and never stand at column 0.
 */

import type { Screen, Style } from '@cordon/console/text';
import { visibleLine, visibleLines } from '@cordon/core';
import { excerptOf } from './excerpt.ts';

/** Each in Unicode and in ASCII. */
const MARKS = {
  good: ['✓', '+'],
  bad: ['✗', 'x'],
  question: ['?', '?'],
  warning: ['!', '!'],
  undecided: ['~', '~'],
  gutter: ['│', '|'],
  down: ['▼', 'v'],
  source: ['●', 'o'],
  way: ['│', '|'],
  sink: ['■', '#'],
  other: ['·', '-'],
  underline: ['▔', '^'],
  ellipsis: ['…', '...'],
} as const;

export type Marks = Readonly<Record<keyof typeof MARKS, string>>;

function marksOf(isUnicode: boolean): Marks {
  const all = Object.entries(MARKS).map(([name, [unicode, ascii]]) => [name, isUnicode ? unicode : ascii]);
  return Object.fromEntries(all) as Marks;
}

export class Drawing {
  readonly marks: Marks;
  readonly screen: Screen;
  readonly #isUnicode: boolean;

  constructor(screen: Screen, isUnicode: boolean) {
    this.screen = screen;
    this.marks = marksOf(isUnicode);
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
    const from = unitOffset(text, 0, start);
    const lineStart = from === 0 ? 0 : text.lastIndexOf('\n', from - 1) + 1;
    const lineEnd = text.indexOf('\n', from);
    const line = text.slice(lineStart, lineEnd < 0 ? undefined : lineEnd);
    const to = Math.min(lineStart + line.length, unitOffset(text, from, end - start));
    const shown = excerptOf(line, from - lineStart, Math.max(from, to) - lineStart, {
      room: this.screen.width - indent - 3,
      ellipsis: this.marks.ellipsis,
      written: (visible) => this.#plain(visible),
    });
    this.framed(indent, `${shown.before}${this.screen.style('bad', shown.inside)}${shown.after}`);
    this.framed(indent, `${' '.repeat(shown.indent)}${this.marks.underline.repeat(shown.width)}`);
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

/** The offset in UTF-16 units of a code point, counted from `from`. */
function unitOffset(text: string, from: number, codePoints: number): number {
  let at = from;
  for (let count = 0; count < codePoints && at < text.length; count++) {
    at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
  }
  return at;
}
