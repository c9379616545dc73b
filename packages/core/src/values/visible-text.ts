/**
 * Makes text that others wrote safe to show: what a terminal would obey, reorder or hide is written out as
 * `<U+202E>`. Everything that reaches a terminal from an app, a model or a file passes here.
 *
 * The consent question is drawn with it.
 */

/**
 * Control characters, bidi and zero-width characters, tags, fillers, private use, unassigned, lone surrogates, and
 * spaces that are not U+0020. `\p{DI}` are the default-ignorable ones, in which text can be smuggled unseen.
 */
const UNSAFE = /^(?:[\p{C}\p{Zl}\p{Zp}\p{DI}\u2800]|(?! )\p{Zs})$/u;
const MARK = /^\p{M}$/u;
const PICTOGRAPH = /^\p{Extended_Pictographic}$/u;
/** More marks on one letter serve to paint over the lines above and below. */
const MOST_MARKS = 4;

/** Characters one by one, with what came before in mind; one for each text, however many pieces it comes in. */
export class VisibleCharacters {
  #marks = 0;
  #isAfterPictograph = false;

  /** The character itself, or its name in angle brackets. */
  next(character: string): string {
    if (character >= ' ' && character <= '~') {
      this.#marks = 0;
      this.#isAfterPictograph = false;
      return character;
    }
    const isEmojiStyle = character === '\ufe0f' && this.#isAfterPictograph;
    const kind = kindOf(character);
    this.#marks = (kind & IS_MARK) !== 0 ? this.#marks + 1 : 0;
    this.#isAfterPictograph = (kind & IS_PICTOGRAPH) !== 0;
    if (isEmojiStyle) return character;
    return (kind & IS_UNSAFE) !== 0 || this.#marks > MOST_MARKS ? codePointName(character) : character;
  }
}

const IS_KNOWN = 1;
const IS_UNSAFE = 2;
const IS_MARK = 4;
const IS_PICTOGRAPH = 8;
/** Of each code point, as far as one of its kind was met: three expressions for each character of a megabyte take half a second. */
const KINDS = new Uint8Array(0x110000);

function kindOf(character: string): number {
  const code = character.codePointAt(0) ?? 0;
  const known = KINDS[code] ?? 0;
  if (known !== 0) return known;
  const kind =
    IS_KNOWN |
    (UNSAFE.test(character) ? IS_UNSAFE : 0) |
    (MARK.test(character) ? IS_MARK : 0) |
    (PICTOGRAPH.test(character) ? IS_PICTOGRAPH : 0);
  KINDS[code] = kind;
  return kind;
}

/** How a character is shown that must not act: `<U+202E>`, a tab `<tab>`. */
export function codePointName(character: string): string {
  if (character === '\t') return '<tab>';
  const code = character.codePointAt(0) ?? 0;
  return `<U+${code.toString(16).toUpperCase().padStart(4, '0')}>`;
}

/** What a terminal obeys or reorders by; of control characters a line break and a tab do no harm. */
const OBEYED = /(?![\n\t]|\r\n)[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

/** For a pipe, which may end at a terminal all the same: only what could act there is written out, and nothing is wrapped. */
export function harmlessText(text: string): string {
  return text.replace(OBEYED, codePointName);
}

/** One line: line breaks are written out too. At most `limit` UTF-16 units of `text` are shown, then `…`. */
export function visibleLine(text: string, limit = 200): string {
  const characters = new VisibleCharacters();
  let out = '';
  for (const character of text.slice(0, limit)) out += characters.next(character);
  return text.length > limit ? `${out}…` : out;
}

/**
 * The lines of `text`, each made visible and wrapped at `width` columns, one at a time, so that a megabyte costs
 * only what is looked at. The width is an estimate that never falls short of what a terminal takes: a line that the
 * terminal wrapped itself would go on at column 0, where only the hub writes.
 */
export function* visibleLines(text: string, width: number): Generator<string, void> {
  const characters = new VisibleCharacters();
  const line = new WrappedLine(width);
  for (let at = 0; at < text.length; ) {
    const character = String.fromCodePoint(text.codePointAt(at) ?? 0);
    at += character.length;
    if (character === '\n' || (character === '\r' && text[at] === '\n')) {
      if (character === '\r') at++;
      yield line.take();
    } else {
      const full = line.append(characters.next(character));
      if (full !== null) yield full;
    }
  }
  yield line.take();
}

/** Lines beyond the shown ones that are counted. */
const MOST_COUNTED = 2_000;

/**
 * Shows the first `limit` lines of `text` as `visibleLines` makes them; how many more there are, in words, or null. Attack:
 * a text of a megabyte whose lines are all wrapped to be counted, while the hub waits.
 */
export function firstLines(
  text: string,
  width: number,
  limit: number,
  show: (line: string) => void,
): string | null {
  let left = 0;
  let shown = 0;
  for (const line of visibleLines(text, width)) {
    if (shown++ < limit) show(line);
    else if (++left > MOST_COUNTED) return `more than ${MOST_COUNTED}`;
  }
  return left === 0 ? null : String(left);
}

/** Breaks at a space where one is near, else anywhere. */
class WrappedLine {
  readonly #width: number;
  #text = '';
  #columns = 0;
  #lastSpace = -1;

  constructor(width: number) {
    this.#width = Math.max(width, 12);
  }

  /** The line that is full now, or null. */
  append(shown: string): string | null {
    const columns = textColumns(shown);
    const full = this.#columns + columns > this.#width ? this.#break() : null;
    if (shown === ' ') this.#lastSpace = this.#text.length;
    this.#text += shown;
    this.#columns += columns;
    return full;
  }

  take(): string {
    const line = this.#text;
    this.#text = '';
    this.#columns = 0;
    this.#lastSpace = -1;
    return line;
  }

  #break(): string {
    const at = this.#lastSpace > this.#text.length / 3 ? this.#lastSpace + 1 : this.#text.length;
    const line = this.#text.slice(0, at);
    this.#text = this.#text.slice(at);
    this.#columns = textColumns(this.#text);
    this.#lastSpace = -1;
    return line;
  }
}

/** The hub's own words, wrapped like quoted ones. */
export function wrap(text: string, width: number): string[] {
  return [...visibleLines(text, width)];
}

/** An upper bound of the columns that a terminal takes for visible text. */
export function textColumns(text: string): number {
  let columns = 0;
  for (const character of text) columns += columnsOf(character.codePointAt(0) ?? 0);
  return columns;
}

/**
 * Width tables differ between terminals and Unicode versions, so all that may be wide in one of them counts as two;
 * Latin, Greek, Cyrillic, the usual punctuation, check marks and box drawing are one everywhere.
 */
function columnsOf(code: number): number {
  if (code < 0x0530) return 1;
  const isPunctuation = code >= 0x2010 && code <= 0x203a;
  const isArrow = code >= 0x2190 && code <= 0x2193;
  const isBox = code >= 0x2500 && code <= 0x259f;
  const isCheck = code >= 0x2713 && code <= 0x2718 && code !== 0x2716;
  return isPunctuation || isArrow || isBox || isCheck ? 1 : 2;
}
