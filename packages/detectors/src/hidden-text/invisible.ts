/**
 * Characters that no screen shows, or that reorder what it shows: where they carry or break up a text, and not where
 * a script or an emoji needs them. One pass; every question about the surroundings looks at a bounded part.
 */
import type { Stretch } from '../text/finding.ts';
import { type HiddenFinding, type HiddenKind, hidden } from './hidden-finding.ts';

/** Of the basic plane, as escapes for an expression: most are combining characters, which a literal class must not hold. */
const BASIC =
  '\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u206f\\u3164\\ufe00-\\ufe0f\\ufeff\\uffa0\\ufff9-\\ufffb';
/** Cheap to ask of a whole text: most have none of them. Tags and further selectors begin with U+DB40 in UTF-16. */
const ANY = new RegExp(`[${BASIC}\\udb40]`);
const RUN = new RegExp(`[${BASIC}\\u{e0000}-\\u{e0fff}]+`, 'gu');

const EMOJI_BASE = /[\p{Extended_Pictographic}\p{Emoji_Modifier}]/u;
const EMOJI = /\p{Emoji}/u;
const KEYCAP_BASE = /[0-9#*]/;
const HAN = /\p{Script=Han}/u;
const STANDARDISED = /[\p{Sm}\p{Script=Han}\p{Script=Myanmar}\p{Script=Phags_Pa}\p{Script=Manichaean}]/u;
const JOINING =
  /[\p{Script=Arabic}\p{Script=Syriac}\p{Script=Mongolian}\p{Script=Nko}\p{Script=Mandaic}\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Gurmukhi}\p{Script=Gujarati}\p{Script=Oriya}\p{Script=Tamil}\p{Script=Telugu}\p{Script=Kannada}\p{Script=Malayalam}\p{Script=Sinhala}\p{Script=Khmer}\p{Script=Myanmar}\p{Script=Tibetan}\p{Script=Newa}\p{Script=Chakma}\p{Script=Inherited}]/u;
const UNSPACED =
  /[\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\p{Script=Tibetan}\p{Script=Javanese}\p{Script=Balinese}\p{Script=New_Tai_Lue}\p{Script=Tai_Tham}]/u;
const MONGOLIAN = /\p{Script=Mongolian}/u;
const HANGUL_JAMO = /[\u1100-\u11ff\ua960-\ua97f\ud7b0-\ud7ff]/;
const KHMER = /\p{Script=Khmer}/u;
const MARKED = /[\p{M}\p{Script=Hebrew}]/u;
const LETTER = /\p{L}/u;
const RIGHT_TO_LEFT =
  /[\u0590-\u05ff\u0600-\u06ff\u0700-\u074f\u0750-\u077f\u0780-\u07bf\u07c0-\u07ff\u0800-\u085f\u0860-\u08ff\ufb1d-\ufdff\ufe70-\ufefe]|\ud83a[\udc00-\udfff]/g;
/** How far a directional mark may stand from the writing that it is for. */
const REACH = 120;

const FLAG_TAGS =
  /^\u{e0067}\u{e0062}(?:\u{e0065}\u{e006e}\u{e0067}|\u{e0073}\u{e0063}\u{e0074}|\u{e0077}\u{e006c}\u{e0073})\u{e007f}/u;
const FLAG_LENGTH = 6;
const BLACK_FLAG = 0x1f3f4;
const KEYCAP = '\u20e3';

interface Invisible extends Stretch {
  readonly code: number;
}

/** Whether there are any at all: what is asked first. */
export function holdsInvisible(text: string): boolean {
  return ANY.test(text);
}

/** Runs of invisible characters that no writing system needs where they stand, each with what it says. */
export function findInvisible(text: string): readonly HiddenFinding[] {
  if (!holdsInvisible(text)) return [];
  const nearby = new RightToLeft(text);
  const directions = new Directions(text);
  const found: HiddenFinding[] = [];
  for (const match of text.matchAll(RUN)) {
    const run = charactersOf(match[0], match.index);
    const before = characterBefore(text, match.index);
    const after = characterAt(text, match.index + match[0].length);
    const kinds = run.map(({ code, start }, at) => {
      const place = { code, start, at, run, before, after, text };
      return isNeeded(place, nearby, directions) ? null : kindOf(code);
    });
    found.push(...grouped(run, kinds));
  }
  return found;
}

/** The text as a screen shows it: without invisible characters. */
export function withoutInvisible(text: string): string {
  return holdsInvisible(text) ? text.replace(RUN, '') : text;
}

function charactersOf(run: string, at: number): readonly Invisible[] {
  const characters: Invisible[] = [];
  let start = at;
  for (const character of run) {
    characters.push({ code: character.codePointAt(0) ?? 0, start, end: start + character.length });
    start += character.length;
  }
  return characters;
}

function characterBefore(text: string, at: number): string {
  const isPair = at >= 2 && /[\udc00-\udfff]/.test(text[at - 1] ?? '');
  return text.slice(Math.max(0, isPair ? at - 2 : at - 1), at);
}

function characterAt(text: string, at: number): string {
  const code = text.codePointAt(at);
  return code === undefined ? '' : String.fromCodePoint(code);
}

function kindOf(code: number): HiddenKind {
  if (code >= 0xe0000 && code <= 0xe007f) return 'TAG_CHARACTERS';
  if ((code >= 0xfe00 && code <= 0xfe0f) || (code >= 0xe0100 && code <= 0xe01ef))
    return 'VARIATION_SELECTORS';
  const isDirection =
    isMark(code) || (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
  return isDirection ? 'BIDI_CONTROL' : 'ZERO_WIDTH';
}

/** One character in a run of them, and what can be seen around the run. */
interface Surrounded {
  readonly code: number;
  readonly start: number;
  /** Its position in the run. */
  readonly at: number;
  readonly run: readonly Invisible[];
  readonly before: string;
  readonly after: string;
  readonly text: string;
}

/** Whether the character does there what it was made for. */
function isNeeded(place: Surrounded, nearby: RightToLeft, directions: Directions): boolean {
  const { code, start, run } = place;
  switch (kindOf(code)) {
    case 'TAG_CHARACTERS':
      return isInFlag(place);
    case 'VARIATION_SELECTORS':
      return place.at === 0 && isVariant(place);
    case 'BIDI_CONTROL':
      return isMark(code) ? run.length === 1 && nearby.isNear(start) : directions.isOrderly(start);
    default:
      return isNeededJoiner(place);
  }
}

function isMark(code: number): boolean {
  return code === 0x200e || code === 0x200f || code === 0x061c;
}

function isInFlag({ at, run, before, text }: Surrounded): boolean {
  const [first] = run;
  if (first === undefined || before.codePointAt(0) !== BLACK_FLAG || at >= FLAG_LENGTH) return false;
  return FLAG_TAGS.test(text.slice(first.start, first.start + 2 * FLAG_LENGTH));
}

function isVariant({ code, before, after }: Surrounded): boolean {
  if (code >= 0xe0100) return HAN.test(before);
  if (code !== 0xfe0e && code !== 0xfe0f) return STANDARDISED.test(before);
  return KEYCAP_BASE.test(before) ? after === KEYCAP : EMOJI.test(before);
}

/** Where one of these is needed, if it stands alone. */
const NEEDED: readonly (readonly [codes: readonly number[], isNeeded: (place: Surrounded) => boolean])[] = [
  [[0x200c, 0x200d], ({ before }) => JOINING.test(before)],
  [[0x200b], ({ before, after }) => UNSPACED.test(before) || UNSPACED.test(after)],
  [[0x00ad], ({ text, start }) => isHyphenation(text, start)],
  [[0xfeff], ({ start }) => start === 0],
  [[0x034f], ({ before }) => MARKED.test(before)],
  [[0x17b4, 0x17b5], ({ before }) => KHMER.test(before)],
  [[0x180b, 0x180c, 0x180d, 0x180e, 0x180f], ({ before }) => MONGOLIAN.test(before)],
  [[0x2061, 0x2062, 0x2063, 0x2064], ({ before, after }) => !(LETTER.test(before) && LETTER.test(after))],
];
const NEEDED_BY_CODE = new Map(NEEDED.flatMap(([codes, is]) => codes.map((code) => [code, is] as const)));

function isNeededJoiner(place: Surrounded): boolean {
  const { code, run, before, after } = place;
  if (code === 0x115f || code === 0x1160) return HANGUL_JAMO.test(before) || HANGUL_JAMO.test(after);
  if (code === 0x200d && joinsEmoji(place)) return true;
  return run.length === 1 && NEEDED_BY_CODE.get(code)?.(place) === true;
}

/** `👩‍⚕️`: the joiner is the last of its run, behind an emoji or its selector, before another emoji. */
function joinsEmoji({ at, run, before, after }: Surrounded): boolean {
  const isBehind = at === 0 || (at === 1 && run[0]?.code === 0xfe0f);
  return isBehind && at === run.length - 1 && EMOJI_BASE.test(before) && EMOJI_BASE.test(after);
}

/** A soft hyphen stands between syllables; between single letters it only breaks up a word. */
function isHyphenation(text: string, at: number): boolean {
  const before = /[\p{L}\p{M}]{2}$/u.test(text.slice(Math.max(0, at - 4), at));
  return before && /^[\p{L}\p{M}]{2}/u.test(text.slice(at + 1, at + 5));
}

function grouped(run: readonly Invisible[], kinds: readonly (HiddenKind | null)[]): readonly HiddenFinding[] {
  const found: HiddenFinding[] = [];
  for (let at = 0; at < run.length; ) {
    const kind = kinds[at] ?? null;
    let next = at + 1;
    while (next < run.length && kinds[next] === kind) next++;
    const [first, last] = [run[at], run[next - 1]];
    if (kind !== null && first !== undefined && last !== undefined) {
      const revealed = revealedBy(kind, run.slice(at, next));
      const confidence = revealed !== '' ? 0.99 : 0.9;
      found.push(hidden(kind, first.start, last.end, confidence, REASONS[kind] ?? '', revealed));
    }
    at = next;
  }
  return found;
}

const REASONS: Partial<Record<HiddenKind, string>> = {
  ZERO_WIDTH: 'characters without width, where no writing system needs them',
  TAG_CHARACTERS: 'tag characters outside the flags that use them',
  BIDI_CONTROL: 'controls that change the order of what is shown',
  VARIATION_SELECTORS: 'variation selectors behind what has no variants',
};

function revealedBy(kind: HiddenKind, run: readonly Invisible[]): string {
  switch (kind) {
    case 'TAG_CHARACTERS':
      return run
        .filter(({ code }) => code >= 0xe0020 && code <= 0xe007e)
        .map(({ code }) => String.fromCharCode(code - 0xe0000))
        .join('');
    case 'VARIATION_SELECTORS':
      return textOf(run.map(({ code }) => (code >= 0xe0100 ? code - 0xe0100 + 16 : code - 0xfe00)));
    case 'ZERO_WIDTH':
      return binaryText(run.map(({ code }) => code));
    default:
      return '';
  }
}

function textOf(bytes: readonly number[]): string {
  const text = new TextDecoder().decode(Uint8Array.from(bytes));
  return /^[\p{L}\p{M}\p{N}\p{P}\p{Z}\p{S}\s]+$/u.test(text) && !text.includes('\ufffd') ? text : '';
}

/** Two characters as bits, eight a byte, any third one between bytes: how such texts are usually written. */
function binaryText(codes: readonly number[]): string {
  if (codes.length < 16) return '';
  const counted = new Map<number, number>();
  for (const code of codes) counted.set(code, (counted.get(code) ?? 0) + 1);
  const [zero, one] = [...counted].sort((a, b) => b[1] - a[1]).map(([code]) => code);
  if (zero === undefined || one === undefined) return '';
  const bits = codes.filter((code) => code === zero || code === one);
  for (const set of [one, zero]) {
    const bytes: number[] = [];
    for (let at = 0; at + 8 <= bits.length; at += 8)
      bytes.push(bits.slice(at, at + 8).reduce((byte, bit) => byte * 2 + (bit === set ? 1 : 0), 0));
    const text = textOf(bytes);
    if (text !== '') return text;
  }
  return '';
}

/** Where writing runs from right to left. Must be asked in the order of the text. */
class RightToLeft {
  readonly #text: string;
  readonly #finder = new RegExp(RIGHT_TO_LEFT.source, 'g');
  #before = Number.NEGATIVE_INFINITY;
  #next = -1;

  constructor(text: string) {
    this.#text = text;
  }

  isNear(at: number): boolean {
    while (this.#next < at) {
      if (this.#next >= 0) this.#before = this.#next;
      const found = this.#finder.exec(this.#text);
      this.#next = found === null ? Number.POSITIVE_INFINITY : found.index;
    }
    return at - this.#before <= REACH || this.#next - at <= REACH;
  }
}

const CONTROLS = /[\u202a-\u202e\u2066-\u2069\n\u2029]/g;
const ISOLATE_END = 0x2069;
const EMBEDDING_END = 0x202c;

/**
 * Which embeddings and isolates are opened and closed properly within a paragraph. Overrides never are orderly:
 * they show letters in another order than they stand in.
 */
class Directions {
  readonly #orderly = new Set<number>();

  constructor(text: string) {
    const nearby = new RightToLeft(text);
    let paragraph: { readonly at: number; readonly code: number }[] = [];
    const settle = () => {
      for (const at of orderlyIn(paragraph, nearby)) this.#orderly.add(at);
      paragraph = [];
    };
    for (const match of text.matchAll(CONTROLS)) {
      const code = match[0].charCodeAt(0);
      if (code === 0x0a || code === 0x2029) settle();
      else paragraph.push({ at: match.index, code });
    }
    settle();
  }

  isOrderly(at: number): boolean {
    return this.#orderly.has(at);
  }
}

function orderlyIn(
  paragraph: readonly { readonly at: number; readonly code: number }[],
  nearby: RightToLeft,
): readonly number[] {
  const open: { readonly at: number; readonly code: number }[] = [];
  const orderly: number[] = [];
  for (const control of paragraph) {
    const { code, at } = control;
    if (code !== ISOLATE_END && code !== EMBEDDING_END) {
      open.push(control);
      continue;
    }
    const opened = open.at(-1);
    const isIsolate = opened !== undefined && opened.code >= 0x2066;
    if (opened === undefined || isIsolate !== (code === ISOLATE_END)) return [];
    open.pop();
    if (opened.code === 0x202d || opened.code === 0x202e) continue;
    // A translated sentence wraps what it inserts into isolates; alone they reorder nothing.
    const isHarmless = opened.code === 0x2068 || opened.code === 0x2066;
    if (isHarmless || nearby.isNear(at)) orderly.push(opened.at, at);
  }
  return open.length === 0 ? orderly : [];
}
