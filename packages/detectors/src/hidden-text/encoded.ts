/**
 * Texts that have to be decoded before they say anything. Something is reported only when what comes out is prose:
 * hashes, ids, pictures and code are full of what could be an encoding.
 *
 * Every decoder looks at the beginning of a candidate first, so that a megabyte of a picture costs what its first
 * bytes cost; what is decoded is bounded.
 */
import { gunzipSync, inflateSync } from 'node:zlib';
import type { Stretch } from '../text/finding.ts';
import { type Match, matchAt, matchesIn } from '../text/match.ts';
import { lowBytes } from '../text/text-units.ts';
import { type HiddenFinding, type HiddenKind, hidden } from './hidden-finding.ts';
import { isProse, saysSomething, wordsIn } from './prose.ts';
import { Beginnings, byteClass, stretchesApart, stretchesOf } from './stretch.ts';

/** UTF-16 units of a candidate that are decoded; what is longer is judged by its beginning. */
const MOST_ENCODED = 256 * 1024;
/** Bytes that a compressed text may unpack to. */
const MOST_UNPACKED = 1024 * 1024;

export function findEncoded(text: string): readonly HiddenFinding[] {
  const low = lowBytes(text);
  const numbers = stretchesOf(low, NUMERALS, LEAST_NUMERALS);
  return [
    ...alphabets(text, stretchesOf(low, LETTERS, LEAST)),
    ...separatedHex(text, numbers),
    ...binary(text, numbers),
    ...ESCAPES.flatMap((form) => [...escaped(text, form)]),
    ...movedOrTurned(text, low),
    ...spacedLetters(text, low),
  ];
}

// ── alphabets ─────────────────────────────────────────────────────────────────────────────────────────────────

/** The shortest that is worth decoding, in letters of base64. */
const LEAST = 16;
const WRAPPED_LINE = /[A-Za-z0-9+/_-]{1,}={0,2}/y;

const UPPER = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';
const LOWER = 'abcdefghijklmnopqrstuvwxyz';
const DIGITS = '0123456789';
const VALUES = new Int8Array(128).fill(-1);
for (const [value, letter] of [...UPPER, ...LOWER, ...DIGITS, '+', '/'].entries())
  VALUES[letter.charCodeAt(0)] = value;
VALUES['-'.charCodeAt(0)] = 62;
VALUES['_'.charCodeAt(0)] = 63;

/** Of base64, in either form; hexadecimal and base32 are made of some of them. */
const LETTERS = byteClass(`${UPPER}${LOWER}${DIGITS}+/-_`);

function valueAt(text: string, at: number): number {
  const code = text.charCodeAt(at);
  return code < 128 ? (VALUES[code] ?? -1) : -1;
}

/** The longest runs of letters within the stretches: what is drawn like none of them may be in a stretch. */
function* runsOfLetters(text: string, stretches: readonly Stretch[]): Generator<Stretch> {
  for (const stretch of stretches) {
    for (let start = stretch.start; start < stretch.end; ) {
      let end = start;
      while (end < stretch.end && valueAt(text, end) >= 0) end++;
      if (end - start >= LEAST) yield { start, end };
      start = end + 1;
    }
  }
}

const HEX = byteClass(`${DIGITS}ABCDEFabcdef`);
const BIG_BASE32 = byteClass(`${UPPER}234567`);
const SMALL_BASE32 = byteClass(`${LOWER}234567`);
/** The shortest that are worth decoding. */
const LEAST_HEX = 20;
const LEAST_BIG_BASE32 = 24;
const LEAST_SMALL_BASE32 = 32;
/** How much of a run decides which alphabet it may be in. */
const SAMPLE = 64;

function* alphabets(text: string, stretches: readonly Stretch[]): Generator<HiddenFinding> {
  let behind = 0;
  for (const run of runsOfLetters(text, stretches)) {
    if (run.start < behind) continue;
    if (isHex(text, run)) {
      yield* hexDigits(text, run);
      continue;
    }
    if (isBase32(text, run)) yield* base32(text, run);
    const first = firstToDecode(text, run);
    if (first < 0) behind = run.end;
    else behind = yield* base64(text, run, first);
  }
}

function isHex(text: string, { start, end }: Stretch): boolean {
  const isPrefixed = text.charCodeAt(start) === 0x30 && text.charCodeAt(start + 1) === 0x78;
  return end - start >= LEAST_HEX && isSampleOf(text, isPrefixed ? start + 2 : start, start, end, HEX);
}

function isBase32(text: string, { start, end }: Stretch): boolean {
  const length = end - start;
  return (
    (length >= LEAST_BIG_BASE32 && isSampleOf(text, start, start, end, BIG_BASE32)) ||
    (length >= LEAST_SMALL_BASE32 && isSampleOf(text, start, start, end, SMALL_BASE32))
  );
}

/** From `from` on; the sample begins with the run. The run is of ASCII. */
function isSampleOf(text: string, from: number, start: number, end: number, characters: Uint8Array): boolean {
  const behind = Math.min(end, start + SAMPLE);
  for (let at = from; at < behind; at++) if (characters[text.charCodeAt(at)] !== 1) return false;
  return true;
}

/** How many letters have to be skipped before something can come out; -1: nothing can. */
function firstToDecode(text: string, run: Stretch): number {
  for (let skipped = 0; skipped <= lastToSkip(run); skipped++)
    if (mayDecode(text, run, skipped)) return skipped;
  return -1;
}

/** Letters come in groups of four, and what stands before them may look like letters. */
function lastToSkip({ start, end }: Stretch): number {
  return Math.min(3, end - start - LEAST);
}

/** Returns where it ends, so that the lines of one wrapped text are looked at once. */
function* base64(text: string, run: Stretch, first: number): Generator<HiddenFinding, number> {
  const { body, end } = wrapped(text, run);
  for (let skipped = first; skipped <= lastToSkip(run); skipped++) {
    if (!mayDecode(text, run, skipped)) continue;
    const found = decodedBase64(body.slice(skipped, skipped + MOST_ENCODED));
    if (found === null) continue;
    yield hidden(found.kind, run.start + skipped, end, 0.95, found.reason, found.text);
    break;
  }
  return end;
}

/** Looks at the first bytes only: of other data, most fail at the first three. */
function mayDecode(text: string, run: Stretch, skipped: number): boolean {
  const start = run.start + skipped;
  const first = groupAt(text, start);
  const isLikely = mayBeInText(first >> 16) && mayBeInText((first >> 8) & 0xff) && mayBeInText(first & 0xff);
  if (!isLikely && !mayBePacked(first)) return false;
  const bytes: number[] = [];
  for (let at = start; at < start + LEAST; at += 4) {
    const group = groupAt(text, at);
    bytes.push(group >> 16, (group >> 8) & 0xff, group & 0xff);
  }
  if (unpacker(bytes) !== null || isWide(bytes)) return true;
  return mayBeText(bytes) && (run.end - run.start >= LEAST_FORGIVING || mayBeUtf8(bytes));
}

/** Letters of which a single character may be wrong (`isReadable`): what is shorter has to be UTF-8 throughout. */
const LEAST_FORGIVING = 60;

/** The beginning of a text; what comes behind may finish its last character. */
function mayBeUtf8(bytes: readonly number[]): boolean {
  let wanted = 0;
  for (const byte of bytes) {
    const isMore = byte >= 0x80 && byte < 0xc0;
    if (isMore !== wanted > 0) return false;
    wanted = isMore ? wanted - 1 : followers(byte);
    if (wanted > 3) return false;
  }
  return true;
}

/** Bytes that a character has behind its first one; more than three: it is no first one. */
function followers(byte: number): number {
  if (byte < 0x80) return 0;
  if (byte < 0xc2 || byte > 0xf4) return 4;
  return byte < 0xe0 ? 1 : byte < 0xf0 ? 2 : 3;
}

/** Three bytes, from four letters. */
function groupAt(text: string, at: number): number {
  const high = (valueAt(text, at) << 6) | valueAt(text, at + 1);
  return (high << 12) | (valueAt(text, at + 2) << 6) | valueAt(text, at + 3);
}

function mayBePacked(group: number): boolean {
  return group >> 8 === 0x1f8b || group >> 16 === 0x78;
}

/** Zero: the other half of a letter in UTF-16. */
function mayBeInText(byte: number): boolean {
  return (
    byte >= 0x80 || (byte >= 0x20 && byte < 0x7f) || byte === 0 || byte === 9 || byte === 10 || byte === 13
  );
}

/** With its padding; lines of one length, as mail wraps them, are one text. */
function wrapped(text: string, run: Stretch): { body: string; end: number } {
  const padding = /^={1,2}/.exec(text.slice(run.end, run.end + 2))?.[0] ?? '';
  const first = text.slice(run.start, run.end);
  const lines = [first + padding];
  let end = run.end + padding.length;
  while (first.length >= 60 && lines.at(-1)?.length === first.length && end - run.start < MOST_ENCODED) {
    const next = text[end] === '\r' ? end + 2 : end + 1;
    if (text[next - 1] !== '\n') break;
    const line = matchAt(WRAPPED_LINE, text, next)?.[0];
    const isWhole = /^[\r\n"']?$/.test(text[next + (line?.length ?? 0)] ?? '');
    if (line === undefined || line.length > first.length || !isWhole) break;
    lines.push(line);
    end = next + line.length;
  }
  return { body: lines.join(''), end };
}

interface Decoded {
  readonly kind: HiddenKind;
  readonly text: string;
  readonly reason: string;
}

function decodedBase64(body: string): Decoded | null {
  const bytes = Buffer.from(body, 'base64');
  const unpack = unpacker(bytes);
  if (unpack !== null) return unpacked(bytes, unpack);
  const text = isWide(bytes.subarray(0, 12)) ? bytes.toString('utf16le') : bytes.toString('utf8');
  return isProse(text) ? { kind: 'BASE64', text, reason: 'base64 that decodes to prose' } : null;
}

function mayBeText(bytes: Uint8Array | readonly number[]): boolean {
  return bytes.every((byte) => byte !== 0 && mayBeInText(byte));
}

/** UTF-16 of Latin letters, as command lines of PowerShell carry it. */
function isWide(bytes: Uint8Array | readonly number[]): boolean {
  return bytes.every((byte, at) => (at % 2 === 1 ? byte === 0 : byte >= 0x20 && byte < 0x7f));
}

type Unpack = (bytes: Uint8Array, options: { maxOutputLength: number }) => Uint8Array;

function unpacker(bytes: Uint8Array | readonly number[]): Unpack | null {
  const [first, second = 0] = bytes;
  if (first === 0x1f && second === 0x8b) return gunzipSync;
  return first === 0x78 && (second === 0x01 || second === 0x9c || second === 0xda) ? inflateSync : null;
}

/** Attack: a small text that unpacks to gigabytes. What is larger than the limit is reported, not passed over. */
function unpacked(bytes: Uint8Array, unpack: Unpack): Decoded | null {
  try {
    const text = Buffer.from(unpack(bytes, { maxOutputLength: MOST_UNPACKED })).toString('utf8');
    return isProse(text) ? { kind: 'COMPRESSED', text, reason: 'compressed prose in base64' } : null;
  } catch (error) {
    const isTooLarge = error instanceof RangeError;
    return isTooLarge
      ? { kind: 'COMPRESSED', text: '', reason: 'base64 that unpacks to more than can be looked at' }
      : null;
  }
}

const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

function* base32(text: string, { start, end }: Stretch): Generator<HiddenFinding> {
  const body = text.slice(start, Math.min(end, start + MOST_ENCODED)).toUpperCase();
  if (!mayBeText(fromBase32(body.slice(0, 24)))) return;
  const decoded = Buffer.from(fromBase32(body)).toString('utf8');
  const padding = /^={1,6}/.exec(text.slice(end, end + 6))?.[0].length ?? 0;
  if (isProse(decoded))
    yield hidden('BASE32', start, end + padding, 0.95, 'base32 that decodes to prose', decoded);
}

function fromBase32(body: string): Uint8Array {
  const bytes = new Uint8Array(Math.floor((body.length * 5) / 8));
  let held = 0;
  let bits = 0;
  let at = 0;
  for (const letter of body) {
    held = ((held << 5) | BASE32.indexOf(letter)) & 0xfff;
    bits += 5;
    if (bits < 8) continue;
    bits -= 8;
    bytes[at++] = (held >> bits) & 0xff;
  }
  return bytes;
}

/** What separated bytes are written in, of any base, and the shortest that is looked at. */
const NUMERALS = byteClass(`${DIGITS}ABCDEFabcdefx :,-`);
const LEAST_NUMERALS = 29;

/**
 * With one separator between the bytes, from the first separator on, because these are rarer than digits and letters; what
 * stands around is looked at afterwards, which is quicker.
 */
const SEPARATED_HEX =
  /[ :,-](?<=[0-9A-Fa-f]{2}[ :,-])(?:0x)?[0-9A-Fa-f]{2}(?:[ :,-](?:0x)?[0-9A-Fa-f]{2}){8,}/g;

function* hexDigits(text: string, run: Stretch): Generator<HiddenFinding> {
  const start = text.startsWith('0x', run.start) ? run.start + 2 : run.start;
  const digits = text.slice(start, Math.min(run.end, start + MOST_ENCODED));
  if (run.end - start >= 20) yield* decodedHex(digits, run);
}

function* separatedHex(text: string, numerals: readonly Stretch[]): Generator<HiddenFinding> {
  let used = 0;
  for (const { text: behind, start: index } of within(text, numerals, SEPARATED_HEX)) {
    // The byte before the first separator may be part of what came before.
    const first = index - 2 < used ? index + 1 : index - 2;
    used = index + behind.length;
    const isPrefixed = text.slice(first - 2, first) === '0x';
    const digits = text.slice(first, Math.min(used, first + MOST_ENCODED));
    const run = { start: isPrefixed ? first - 2 : first, end: used };
    yield* decodedHex(digits.replace(/0x|[ :,-]/g, ''), run);
  }
}

function* decodedHex(digits: string, { start, end }: Stretch): Generator<HiddenFinding> {
  if (!/^[0-9A-Fa-f]*$/.test(digits) || !mayBeText(Buffer.from(digits.slice(0, 24), 'hex'))) return;
  const decoded = Buffer.from(digits, 'hex').toString('utf8');
  if (isProse(decoded)) yield hidden('HEX', start, end, 0.95, 'hexadecimal that decodes to prose', decoded);
}

/** What an expression finds in stretches of the text, at its place there. */
function within(text: string, stretches: readonly Stretch[], expression: RegExp): readonly Match[] {
  return stretches.flatMap(({ start, end }) => matchesIn(text.slice(start, end), expression, start));
}

const BINARY_RUN = /(?<![0-9])[01]{8}(?:[ ,]?[01]{8}){7,}(?![0-9])/g;
const DECIMAL_RUN =
  /(?<![0-9])(?:3[2-9]|[4-9]\d|1[01]\d|12[0-6])(?:[ ,]{1,2}(?:3[2-9]|[4-9]\d|1[01]\d|12[0-6])){11,}(?![0-9])/g;

function* binary(text: string, numerals: readonly Stretch[]): Generator<HiddenFinding> {
  for (const { text: digits, start, end } of within(text, numerals, BINARY_RUN)) {
    const bits = digits.slice(0, MOST_ENCODED).replace(/[ ,]/g, '');
    const bytes = Uint8Array.from(bits.match(/[01]{8}/g) ?? [], (byte) => Number.parseInt(byte, 2));
    const decoded = mayBeText(bytes.subarray(0, 12)) ? Buffer.from(bytes).toString('utf8') : '';
    if (isProse(decoded))
      yield hidden('BINARY', start, end, 0.95, 'binary digits that decode to prose', decoded);
  }
  for (const { text: numbers, start, end } of within(text, numerals, DECIMAL_RUN)) {
    const codes = numbers.slice(0, MOST_ENCODED).match(/\d+/g) ?? [];
    const decoded = codes.map((code) => String.fromCharCode(Number(code))).join('');
    if (isProse(decoded) && saysSomething(decoded))
      yield hidden('BINARY', start, end, 0.85, 'numbers of characters that spell prose', decoded);
  }
}

// ── escapes of single characters ──────────────────────────────────────────────────────────────────────────────

interface Escape {
  readonly kind: HiddenKind;
  /** What every escape of the kind begins with: a text without it is passed over at once. */
  readonly cue: string;
  readonly one: RegExp;
  readonly reason: string;
}

/** The first group that matched is hexadecimal, the second decimal. */
const ESCAPES: readonly Escape[] = [
  { kind: 'PERCENT', cue: '%', one: /%([0-9A-Fa-f]{2})/g, reason: 'letters written as percent escapes' },
  {
    kind: 'HTML_ENTITIES',
    cue: '&#',
    one: /&#(?:[xX]0{0,6}([0-9A-Fa-f]{2,6})|0{0,6}([0-9]{2,7}));?/g,
    reason: 'letters written as entities',
  },
  {
    kind: 'UNICODE_ESCAPES',
    cue: '\\',
    one: /\\(?:u\{?0{0,6}([0-9A-Fa-f]{2,6})\}?|x([0-9A-Fa-f]{2}))/g,
    reason: 'letters written as escapes of a programming language',
  },
  {
    kind: 'UNICODE_ESCAPES',
    cue: 'U+',
    one: /U\+([0-9A-Fa-f]{4,6})/g,
    reason: 'letters written as code points',
  },
  {
    kind: 'QUOTED_PRINTABLE',
    cue: '=',
    one: /=([0-9A-F]{2})/g,
    reason: 'letters written as quoted-printable',
  },
];
/** Letters may stand between escapes: `%69gn%6fre`. */
const GAP = 3;
const LEAST_NEEDLESS = 6;

interface EscapedCharacter extends Stretch {
  readonly character: string;
}

/**
 * Runs of escapes of letters that need none. `%20` and `%D0%BF` in an address are how addresses are written, `%69`
 * is there to hide an `i`.
 */
function* escaped(text: string, { kind, cue, one, reason }: Escape): Generator<HiddenFinding> {
  if (!text.includes(cue)) return;
  let run: EscapedCharacter[] = [];
  for (const match of text.matchAll(one)) {
    const [all, hexadecimal, other] = match;
    const isHexadecimal = hexadecimal !== undefined || kind === 'UNICODE_ESCAPES';
    const code = Number.parseInt(hexadecimal ?? other ?? '', isHexadecimal ? 16 : 10);
    const next = { start: match.index, end: match.index + all.length, character: characterOf(code) };
    const last = run.at(-1);
    if (last !== undefined && !isContinued(text, last.end, next.start)) {
      yield* judged(text, run, kind, reason);
      run = [];
    }
    run.push(next);
  }
  yield* judged(text, run, kind, reason);
}

function characterOf(code: number): string {
  const isCharacter = Number.isFinite(code) && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff);
  return isCharacter ? String.fromCodePoint(code) : '\ufffd';
}

function isContinued(text: string, from: number, to: number): boolean {
  return to - from <= GAP && /^[A-Za-z0-9+_., -]*$/.test(text.slice(from, to));
}

function* judged(
  text: string,
  run: readonly EscapedCharacter[],
  kind: HiddenKind,
  reason: string,
): Generator<HiddenFinding> {
  const [first, last] = [run[0], run.at(-1)];
  if (first === undefined || last === undefined || run.length < LEAST_NEEDLESS) return;
  const needless = run.filter(({ character }) => /[A-Za-z0-9]/.test(character)).length;
  if (needless < LEAST_NEEDLESS) return;
  let decoded = '';
  let at = first.start;
  for (const { start, end, character } of run.slice(0, MOST_ENCODED)) {
    decoded += text.slice(at, start) + character;
    at = end;
  }
  const spelled = kind === 'PERCENT' ? decoded.replaceAll('+', ' ') : decoded;
  const tidy = kind === 'UNICODE_ESCAPES' ? spelled.replace(/ (?=\S(?: |$))/g, '') : spelled;
  if (/\S\s+\S/.test(tidy) && wordsIn(tidy) >= 2 && isProse(tidy))
    yield hidden(kind, first.start, last.end, 0.9, reason, tidy);
}

// ── letters that are exchanged, turned round, or set apart ────────────────────────────────────────────────────

/** Frequent words of English, and those that orders to an agent need. */
const COMMON: ReadonlySet<string> = new Set(
  `the and you your all this that with from for are not have will send ignore previous instructions instruction system
  prompt password email mail forward delete file files user assistant now must please secret token account transfer
  money contents message messages reveal tell say answer instead any what into its has was one our out who get who
  which their been were when there can more about other address bank key keys data link click open read write run
  execute command above before after only never always every task following do to of in is it on be as at by we my me
  an or if so no up see here note dear hello hi best code page thanks`.split(/\s+/),
);
/** Words that were moved by 13 places. */
const MOVED =
  `gur naq lbh lbhe nyy jvgu sebz guvf vtaber cerivbhf vafgehpgvba vafgehpgvbaf flfgrz cebzcg frperg frpergf
  cnffjbeq sbejneq fraq`.split(/\s+/);
/** Words that were turned round. */
const TURNED =
  `eht dna uoy lla htiw morf siht erongi suoiverp snoitcurtsni noitcurtsni metsys tpmorp terces drowssap
  drawrof dnes`.split(/\s+/);
const CUES: ReadonlyMap<string, 'moved' | 'turned'> = new Map([
  ...MOVED.map((word): [string, 'moved'] => [word, 'moved']),
  ...TURNED.map((word): [string, 'turned'] => [word, 'turned']),
]);
const CUES_BEGIN = new Beginnings([...CUES.keys()]);
const LONGEST_CUE = Math.max(...[...CUES.keys()].map(({ length }) => length));
/** How far a changed sentence is followed from one word of it. */
const MOST_WORDS = 60;

function* movedOrTurned(text: string, low: Uint8Array): Generator<HiddenFinding> {
  const moved: number[] = [];
  const turned: number[] = [];
  for (const at of CUES_BEGIN.places(low)) {
    const cue = CUES.get(wordFrom(text, at));
    if (cue === 'moved') moved.push(at);
    if (cue === 'turned') turned.push(at);
  }
  yield* exchanged(text, moved, 'ROT13', 'letters moved by 13 places', movedBack);
  yield* exchanged(text, turned, 'REVERSED', 'words written backwards', (stretch) =>
    [...stretch].reverse().join(''),
  );
}

const WORD = byteClass(`${UPPER}${LOWER}${DIGITS}_`);

function isInWord(text: string, at: number): boolean {
  return WORD[text.charCodeAt(at)] === 1;
}

/** The word that begins there, as far as a cue can be long; empty inside of a word. */
function wordFrom(text: string, start: number): string {
  if (isInWord(text, start - 1)) return '';
  let end = start;
  while (end - start <= LONGEST_CUE && isInWord(text, end)) end++;
  return text.slice(start, end);
}

function movedBack(stretch: string): string {
  return stretch.replace(/[A-Za-z]/g, (letter) => {
    const base = letter <= 'Z' ? 65 : 97;
    return String.fromCharCode(((letter.charCodeAt(0) - base + 13) % 26) + base);
  });
}

function* exchanged(
  text: string,
  cues: readonly number[],
  kind: HiddenKind,
  reason: string,
  turn: (stretch: string) => string,
): Generator<HiddenFinding> {
  let behind = 0;
  for (const index of cues) {
    if (index < behind) continue;
    const { start, end } = strangeWordsAround(text, index);
    behind = end;
    const stretch = text.slice(start, end);
    const turned = turn(stretch);
    if (commonIn(turned) >= 3) yield hidden(kind, start, end, 0.9, reason, turned);
  }
}

/** From a word to both sides: up to the end of the line, a gap, or a word that is common as it stands. */
function strangeWordsAround(text: string, at: number): Stretch {
  const [from, to] = [Math.max(0, at - 12 * MOST_WORDS), at + 12 * MOST_WORDS];
  const left = [...text.slice(from, at).matchAll(TOKEN)].reverse();
  const right = [...text.slice(at, to).matchAll(TOKEN)];
  const before = left.slice(0, lengthUntilKnown(left));
  const behind = right.slice(0, lengthUntilKnown(right));
  const [first, last] = [before.at(-1), behind.at(-1)];
  const end = last === undefined ? at : at + last.index + last[0].trimEnd().length;
  return { start: first === undefined ? at : from + first.index, end };
}

const TOKEN = /[^\s"<>]+(?:[ ]|$)?|[\s"<>]/g;

function lengthUntilKnown(tokens: readonly RegExpExecArray[]): number {
  const known = tokens.findIndex(
    ([token]) =>
      !/\S/.test(token) || /^["<>]$/.test(token) || COMMON.has(token.toLowerCase().replace(/[^a-z]/g, '')),
  );
  return known < 0 ? tokens.length : known;
}

function commonIn(text: string): number {
  return (text.toLowerCase().match(/[a-z]{2,}/g) ?? []).filter((word) => COMMON.has(word)).length;
}

const SPACED = /(?<![A-Za-z0-9])[A-Za-z](?:[ ._*|-]{1,3}[A-Za-z](?![A-Za-z0-9])){9,400}/g;
const LATIN = byteClass(`${UPPER}${LOWER}`);
const BETWEEN = byteClass(' ._*|-');
/** Ten letters with separators between; the last one is not seen where the character behind has the low byte of a letter. */
const LEAST_APART = 18;

const SPELLED =
  /ignore|disregard|forget|previous|instruction|system|prompt|password|secret|transfer|forward|delete|send|token|assistant/i;

function* spacedLetters(text: string, low: Uint8Array): Generator<HiddenFinding> {
  // With what stands around: it decides whether the first and the last letter stand alone.
  const stretches = stretchesApart(low, LATIN, BETWEEN, LEAST_APART).map(({ start, end }) => ({
    start: Math.max(0, start - 1),
    end: end + 2,
  }));
  for (const { text: found, start, end } of within(text, stretches, SPACED)) {
    const letters = found
      .split(/ {2,}/)
      .map((word) => word.replace(/[ ._*|-]/g, ''))
      .join(' ');
    if (SPELLED.test(letters))
      yield hidden('SPACED_LETTERS', start, end, 0.9, 'a word with its letters set apart', letters);
  }
}
