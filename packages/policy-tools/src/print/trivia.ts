/**
 * What stands between the tokens and is no token: comments, line ends, blank lines.
 *
 * No decision depends on it.
 */
import { columnOf, type Token } from '@cordon/policy';

export interface Comment {
  /** From `#` to the end of the line, without white space at the end. */
  readonly text: string;
  /** How far from the beginning of its line; tabs and spaces count one each. */
  readonly column: number;
  readonly isAfterBlankLine: boolean;
}

/** What stands between two tokens. */
export interface Gap {
  /** On the line of the token before. */
  readonly trailing: string | null;
  /** On their own lines. */
  readonly comments: readonly Comment[];
  /** Whether the token behind the gap is the first of its line, and whether a blank line stands directly before it. */
  readonly isLineStart: boolean;
  readonly isAfterBlankLine: boolean;
}

/** The gaps before each of `tokens`, which are those without layout, and behind the last. Linear in the text. */
export function gapsOf(text: string, tokens: readonly Token[]): readonly Gap[] {
  const reader = new GapReader(text);
  return [
    ...tokens.map((token) => reader.gapTo(token.start, token.end)),
    reader.gapTo(text.length, text.length),
  ];
}

class GapReader {
  readonly #text: string;
  #at = 0;
  #lineStart = 0;
  #isFirst = true;

  constructor(text: string) {
    this.#text = text;
  }

  /** The gap from where the last one ended to `start`; the next gap begins at `next`. */
  gapTo(start: number, next: number): Gap {
    let trailing: string | null = null;
    const comments: Comment[] = [];
    let isLineStart = this.#isFirst;
    let lineEnds = this.#isFirst ? 1 : 0;
    while (this.#at < start) {
      const character = this.#text[this.#at];
      if (character === '\n') {
        this.#at++;
        this.#lineStart = this.#at;
        isLineStart = true;
        lineEnds++;
      } else if (character === '#') {
        const comment = this.#comment();
        if (isLineStart) comments.push({ ...comment, isAfterBlankLine: lineEnds > 1 });
        else trailing = comment.text;
        lineEnds = 0;
      } else this.#at++;
    }
    this.#isFirst = false;
    this.#skipTo(next);
    return { trailing, comments, isLineStart, isAfterBlankLine: lineEnds > 1 };
  }

  #comment(): Pick<Comment, 'text' | 'column'> {
    const column = columnOf(this.#text, this.#lineStart, this.#at);
    const found = this.#text.indexOf('\n', this.#at);
    const end = found < 0 ? this.#text.length : found;
    const text = this.#text.slice(this.#at, end).trimEnd();
    this.#at = end;
    return { text, column };
  }

  /** A string of several lines moves the beginning of the line. */
  #skipTo(next: number): void {
    const newline = this.#text.slice(this.#at, next).lastIndexOf('\n');
    if (newline >= 0) this.#lineStart = this.#at + newline + 1;
    this.#at = next;
  }
}
