/**
 * The words of a text, as `origin` compares texts: letters and digits, without case and invisible characters, and what
 * joins two of them where no space does. Punctuation inside of an address is part of it: `foo-bank.com` is not
 * `foo.bank.com`. Linear in the text.
 */

/** By index of the word. */
export interface Words {
  readonly text: string;
  readonly words: readonly string[];
  /** The character between a word and the one before it; 0: a space, or punctuation that joins nothing. */
  readonly joins: readonly number[];
  /** Offsets in UTF-16 units. */
  readonly starts: readonly number[];
  readonly ends: readonly number[];
}

/** A longer run of letters is cut, so that no text makes the index keep a word of a megabyte. */
const MAX_WORD = 64;

/** Between the pieces of a run that was cut. */
export const CUT = 1;

/** What may stand between two words that are one name, address, number or path; fewer than `BASE`. */
const JOINERS = ".@-_+/:&=?#~'%\\,!$*|";
const JOINER_NUMBERS: ReadonlyMap<string, number> = new Map(
  [...JOINERS].map((joiner, at) => [joiner, at + 1]),
);
const BASE = 32;
/** Joins that are several characters have numbers from here on, those of one that character's code. */
const SEVERAL = 0x10000;
/** More of them join only in a path: a line of dashes parts what stands before and behind it. */
const MOST_JOINERS = 3;
const MOST_OF_PATH = 8;

/** A run of words that continues behind one of these is a part of another name: `example.co` is not in `example.co.uk`. */
const STRICT: ReadonlySet<number> = new Set([...'.-_+,'].map((joiner) => joiner.charCodeAt(0)).concat(CUT));

/** Where these stand inside of a value, everything between its words must be the same. */
const IDENTIFYING: ReadonlySet<number> = new Set(
  [...'.@/\\'].map((joiner) => joiner.charCodeAt(0)).concat(CUT),
);

export function isStrict(join: number): boolean {
  return holds(join, STRICT);
}

/** Whether the words name something by their punctuation, too: a mail address, a host, a path, a number. */
export function isAddress({ joins }: Pick<Words, 'joins'>): boolean {
  return joins.some((join, index) => index > 0 && holds(join, IDENTIFYING));
}

/** The character that a join is, where it is one; empty: it is none, or several. */
export function joinCharacter(join: number): string {
  return join === 0 || join >= SEVERAL ? '' : String.fromCharCode(join);
}

function holds(join: number, wanted: ReadonlySet<number>): boolean {
  if (join < SEVERAL) return wanted.has(join);
  for (let left = join - SEVERAL; left > 0; left = Math.floor(left / BASE))
    if (wanted.has(JOINERS.charCodeAt((left % BASE) - 1))) return true;
  return false;
}

/** Kinds of characters. */
const OTHER = 0;
const LETTER = 1;
const INVISIBLE = 2;
/** A letter of a script without spaces between words: it counts as a word. */
const SIGN = 3;

const ASCII: readonly number[] = Array.from({ length: 128 }, (_, code) =>
  /[0-9A-Za-z]/.test(String.fromCharCode(code)) ? LETTER : OTHER,
);
const IS_LETTER = /^[\p{L}\p{N}\p{M}]$/u;
const IS_INVISIBLE = /^\p{Default_Ignorable_Code_Point}$/u;
const IS_SIGN =
  /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]$/u;

function kindOf(code: number): number {
  if (code < 128) return ASCII[code] ?? OTHER;
  const character = String.fromCodePoint(code);
  if (IS_INVISIBLE.test(character)) return INVISIBLE;
  if (!IS_LETTER.test(character)) return OTHER;
  return IS_SIGN.test(character) ? SIGN : LETTER;
}

/** The words of a text, in its order. */
export function wordsOf(text: string): Words {
  const words: string[] = [];
  const joins: number[] = [];
  const starts: number[] = [];
  const ends: number[] = [];
  const add = (start: number, end: number, join: number, isPlain: boolean): void => {
    const raw = text.slice(start, end);
    const word = isPlain ? raw.toLowerCase() : folded(raw);
    if (word === '') return;
    words.push(word);
    joins.push(join);
    starts.push(start);
    ends.push(end);
  };
  let at = 0;
  let wasCut = false;
  while (at < text.length) {
    let code = text.charCodeAt(at);
    let kind = code < 128 ? (ASCII[code] ?? OTHER) : kindAt(text, at);
    if (kind === OTHER || kind === INVISIBLE) {
      at += code >= 0xd800 && code < 0xdc00 && at + 1 < text.length ? 2 : 1;
      continue;
    }
    const start = at;
    const before = ends.at(-1);
    const join = before === undefined ? 0 : wasCut && before === start ? CUT : joinOf(text, before, start);
    let isPlain = true;
    const isSign = kind === SIGN;
    do {
      isPlain &&= code < 128;
      at += code >= 0xd800 && code < 0xdc00 && at + 1 < text.length ? 2 : 1;
      if (isSign || at - start >= MAX_WORD || at >= text.length) break;
      code = text.charCodeAt(at);
      kind = code < 128 ? (ASCII[code] ?? OTHER) : kindAt(text, at);
    } while (kind === LETTER || kind === INVISIBLE);
    wasCut = at - start >= MAX_WORD;
    add(start, at, join, isPlain);
  }
  return { text, words, joins, starts, ends };
}

function kindAt(text: string, at: number): number {
  return kindOf(text.codePointAt(at) ?? 0);
}

/** Width, ligatures and the like make no difference; neither do invisible characters. */
function folded(raw: string): string {
  let visible = '';
  for (const character of raw) if (kindOf(character.codePointAt(0) ?? 0) !== INVISIBLE) visible += character;
  return visible.normalize('NFKC').toLowerCase();
}

/**
 * Whether a text says more than a person sees of it: invisible characters, other than in an emoji. Attack: a name
 * with a filler in it is somebody else's, and an address behind which a secret stands in tags looks like the user's.
 */
export function hidesText(text: string): boolean {
  return HIDDEN.test(text.replace(EMOJI, ''));
}

const HIDDEN = /\p{Default_Ignorable_Code_Point}/u;
const EMOJI =
  /\p{Extended_Pictographic}\p{Emoji_Modifier}?\ufe0f?(?:\u200d\p{Extended_Pictographic}\p{Emoji_Modifier}?\ufe0f?)*/gu;

/**
 * What stands between two words, where it joins them. Of several characters each counts: `a.@b.org` is another address than
 * `a.b.org`.
 */
function joinOf(text: string, from: number, to: number): number {
  const count = to - from;
  if (count === 0 || count > MOST_OF_PATH || endsSentence(text, from, to)) return 0;
  let all = 0;
  for (let at = from; at < to; at++) {
    const character = text.charAt(at);
    const number = JOINER_NUMBERS.get(character);
    if (number === undefined) return 0;
    if (character === ',' && !(isDigit(text, from - 1) && isDigit(text, to))) return 0;
    all = all * BASE + number;
  }
  if (count === 1) return text.charCodeAt(from);
  if (count > MOST_JOINERS && !/[\\/]/.test(text.slice(from, to))) return 0;
  return SEVERAL + all;
}

/** `x@y.org.They came`: a full stop without its space, where the text has spaces elsewhere; `Y.Org` is a name. */
function endsSentence(text: string, from: number, to: number): boolean {
  if (text.charAt(to - 1) !== '.' || !/[a-z0-9]/.test(text.charAt(from - 1))) return false;
  return /^[A-Z][a-z]+[\s,;!?]/.test(text.slice(to, to + 24));
}

function isDigit(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code >= 0x30 && code <= 0x39;
}

/** Of the text, from its first word to its last: what has to be the same for a match that is exact. */
export function coreOf({ text, starts, ends }: Words): string {
  return text.slice(starts[0] ?? 0, ends.at(-1) ?? 0);
}

/** How many letters and digits; values of fewer than three say little. */
export function weightOf({ words }: Words): number {
  return words.reduce((sum, word) => sum + word.length, 0);
}
