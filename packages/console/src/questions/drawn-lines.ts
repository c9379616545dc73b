/**
 * Lines of a question: ours in the frame, those of others behind the gutter.
 *
 * INVARIANT (the frame is ours): whatever an app wrote is escaped, wrapped, shortened, and never at column 0.
 *
 * What stands here is the ground of every grant (with screen.ts and visible-text.ts).
 */
import { codePointName, firstLines, type NamedArgument, visibleLine, visibleLines, wrap } from '@cordon/core';
import { FRAME, GUTTER, type Screen, type Style } from '../text/screen.ts';

export interface DrawnLine {
  readonly text: string;
  readonly style: Style;
  /** Words of others, behind the gutter. */
  readonly isQuoted: boolean;
}

const INDENT = '      ';
/** Characters of a question, a name, a warning. */
const MOST_WORDS = 600;
/** Characters of the name of an argument that stands with its value. */
const MOST_NAME = 120;
/** Stands before each line of a text that is cited; the name of no argument begins so. */
const CITED = '> ';
/**
 * Separates arguments on one line. Attack: a value that holds this sign, or one like it, looks like two arguments. So such a sign
 * in a value is written out as `<U+2502>`, and an argument with a plain bar has a line of its own.
 */
export const BETWEEN = ' │ ';
const LIKE_BETWEEN = /[\u2500-\u257f\u01c0\u2223\u23d0\u2758-\u275a\uffe8\uff5c]/gu;

export class Lines {
  readonly lines: DrawnLine[] = [];
  readonly #width: number;

  constructor(width: number) {
    this.#width = width;
  }

  ours(text: string, style: Style = 'plain'): void {
    this.lines.push({ text: FRAME + text, style, isQuoted: false });
  }

  /**
   * A line of the prompt behind one of Cordon's labels. Names and rules may come from a manifest, a policy or a tool list:
   * they are escaped like everything else. Attack: a name so long that its second line reads `▐ Allow?`; lines that
   * continue are indented, so that no line of the frame begins with words of others.
   */
  say(label: string, text: string, style: Style = 'plain'): void {
    const room = this.#width - FRAME.length;
    const words = `${label} ${visibleLine(text, MOST_WORDS)}`;
    const [first = ''] = visibleLines(words, room);
    this.ours(first, style);
    const rest = words.slice(first.length);
    if (rest === '') return;
    for (const line of wrap(rest, room - INDENT.length)) this.ours(INDENT + line, style);
  }

  /** Returns how many lines were left out, in words, or null. */
  quote(text: string, most: number): string | null {
    return firstLines(text, this.#width - GUTTER.length, most, (line) => this.#quoted(line));
  }

  /**
   * An argument with its name; continued lines are indented. Attack: a text whose second line reads like another
   * argument. Returns how many characters were left out, about.
   */
  argument({ path, text }: NamedArgument, most: number): number {
    const name = `${nameOf(path)}: `;
    const room = this.#width - GUTTER.length - INDENT.length;
    let count = 0;
    let shown = 0;
    for (const line of visibleLines(`${name}${unparted(text)}`, room)) {
      if (count === most) return Math.max(1, text.length - shown + name.length);
      this.#quoted(count++ === 0 ? line : INDENT + line);
      shown += line.length;
    }
    return 0;
  }

  /** A text that others wrote, and that is no part of what would flow. */
  cite(words: readonly string[], most: number): void {
    const text = words.map((word) => unparted(visibleLine(word, MOST_WORDS))).join(BETWEEN);
    firstLines(text, this.#width - GUTTER.length - CITED.length, most, (line) => this.#quoted(CITED + line));
  }

  #quoted(text: string): void {
    this.lines.push(quotedLine(text));
  }
}

export function quotedLine(text: string): DrawnLine {
  return { text, style: 'plain', isQuoted: true };
}

export function linesOf(width: number, draw: (own: Lines) => void): readonly DrawnLine[] {
  const own = new Lines(width);
  draw(own);
  return own.lines;
}

/** The first lines, with a sign that there are more. */
export function shortened(lines: readonly DrawnLine[], most: number): readonly DrawnLine[] {
  if (lines.length <= most) return lines;
  return lines.slice(0, most).map((line, index) => {
    if (index < most - 1) return line;
    return { ...line, text: `${[...line.text].slice(0, -2).join('')} …` };
  });
}

/** The name of an argument. Attack: one that begins like a quotation of a text. */
function nameOf(path: string): string {
  return unparted(visibleLine(path, MOST_NAME)).replace(/^>/, '<U+003E>');
}

function unparted(text: string): string {
  return text.replace(LIKE_BETWEEN, codePointName);
}

/** An argument as a part of a line; null: it needs lines of its own. */
export function shortArgument({ path, text }: NamedArgument, most: number): string | null {
  if (text.length > most || path.length > most || text.includes('|') || path.includes('|')) return null;
  const shown = `${nameOf(path)}: ${unparted(visibleLine(text, most))}`;
  // A character that takes two columns counts twice.
  const [first = '', second] = visibleLines(shown, most);
  return second === undefined && !/[\r\n]/.test(text) ? first : null;
}

/** As the screen shows it. */
export function showDrawing(screen: Screen, { lines }: { readonly lines: readonly DrawnLine[] }): void {
  for (const { text, style, isQuoted } of lines) {
    if (isQuoted) screen.quotedLine(text);
    else screen.line(screen.style(style, text));
  }
}

/** As the journal keeps it: what stood on the screen, without colours. */
export function textOfDrawing({ lines }: { readonly lines: readonly DrawnLine[] }): string {
  return lines.map(({ text, isQuoted }) => `${isQuoted ? GUTTER : ''}${text}\n`).join('');
}
