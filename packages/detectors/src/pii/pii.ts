/**
 * Personal data in a text. One reading finds where something can be (an `@`, a colon between hexadecimal digits, a digit); only there forms
 * and check digits are looked at. Names are a second reading, made only when they are asked for.
 */
import { type Finding, findingOf } from '../text/finding.ts';
import { type Literal, LiteralScan } from '../text/literal-scan.ts';
import { matchAt } from '../text/match.ts';
import { lowBytes } from '../text/text-units.ts';
import { addressAt, BOX_WORDS, boxAt } from './address.ts';
import { BIRTH_WORDS, birthBehind } from './birth.ts';
import { licenceBehind, machineReadableAt, PASSPORT_WORDS, passportBehind } from './document-number.ts';
import { emailAt, speltEmailAt } from './email.ts';
import { findGeneral } from './general.ts';
import { NAMED_KINDS } from './kinds.ts';
import { findNames } from './names/names.ts';
import { colonsAt, ipv4At, macAt } from './network.ts';
import { compactOf, DIGITS_FIRST, ibanLength, isIban, LETTERS_FIRST, type NumberForm } from './numbers.ts';
import { phoneAt } from './phone.ts';
import { findWallets } from './wallet.ts';

/**
 * Every finding, in the order of its start. Where findings overlap, only the surest is kept.
 * @param kinds what to look for; null: everything that is personal data by itself, so none of `GENERAL_KINDS`
 */
export function findPersonalData(text: string, kinds: ReadonlySet<string> | null = null): readonly Finding[] {
  const wantsNames = kinds === null || NAMED_KINDS.some((kind) => kinds.has(kind));
  const wantsPhones = kinds?.has('PHONE_NUMBER') !== false;
  const found = [...findForms(text, wantsPhones), ...(wantsNames ? findNames(text) : [])];
  if (kinds === null) return surest(found);
  const isAsked = ({ kind }: Finding): boolean => kinds.has(kind);
  // What was not asked for must not hide what was: a town within an address is still a place.
  const asked = [...found, ...findGeneral(text, kinds)].filter((one) => asEveryKind(text, one).some(isAsked));
  // Nor must one kind of a finding hide its other.
  return surest(asked).flatMap((one) => asEveryKind(text, one).filter(isAsked));
}

/** The finding itself, and as the wider or narrower kind that it also is. */
export function asEveryKind(text: string, finding: Finding): readonly Finding[] {
  const { kind, start, end } = finding;
  if (kind === 'ADDRESS') return [finding, { ...finding, kind: 'LOCATION' }];
  const isAmerican = kind === 'PASSPORT' && /^(?:\d{9}|[A-Z]\d{8})$/.test(text.slice(start, end));
  return isAmerican ? [finding, { ...finding, kind: 'US_PASSPORT' }] : [finding];
}

// ── where something can be ──────────────────────────────────────────────────────────────────────────────────────

const CLASS = { none: 0, digit: 1, at: 2, colon: 3 };
/** By low byte. */
const CLASSES = new Uint8Array(256);
for (const digit of '0123456789') CLASSES[digit.charCodeAt(0)] = CLASS.digit;
CLASSES['@'.charCodeAt(0)] = CLASS.at;
CLASSES[':'.charCodeAt(0)] = CLASS.colon;

/**
 * Everything that has its own form: what pattern detectors find.
 * @param wantsPhones telephone numbers too, which need a third-party parser
 */
export function findForms(text: string, wantsPhones = true): readonly Finding[] {
  const found: Finding[] = [];
  const keep = (finding: Finding | null): void => {
    if (finding !== null) found.push(finding);
  };
  const low = lowBytes(text);
  for (let at = 0; at < low.length; at++) {
    const what = CLASSES[low[at] ?? 0];
    if (what === CLASS.none || text.charCodeAt(at) !== low[at]) continue;
    if (what === CLASS.at) keep(emailAt(text, at));
    else if (what === CLASS.colon) {
      if (isHexBeside(text, at)) keep(colonsAt(text, at));
    } else at = numberAt(text, at, wantsPhones, keep) - 1;
  }
  announced(text, low, keep);
  return [...found, ...findWallets(text)];
}

function isHexBeside(text: string, at: number): boolean {
  return /[0-9A-Fa-f:]/.test(text[at + 1] ?? ' ') && /[0-9A-Fa-f\s:[("'=]/.test(text[at - 1] ?? ' ');
}

/** Longer words hold no number of a person: they are digests, identifiers, encoded data. */
const MOST_WORD = 34;
const MOST_LETTERS = 6;

/** Looks at the word around the digit at `at`, and what continues from it; gives where the word ends. */
function numberAt(
  text: string,
  at: number,
  wantsPhones: boolean,
  keep: (finding: Finding | null) => void,
): number {
  let start = at;
  while (start > 0 && at - start <= MOST_LETTERS && isLetter(text.charCodeAt(start - 1))) start -= 1;
  let end = at;
  while (end < text.length && isLetterOrDigit(text.charCodeAt(end))) end += 1;
  if (at - start > MOST_LETTERS || end - start > MOST_WORD || isWithinWord(text, start)) return end;
  const apart = start === at ? lettersApart(text, at) : null;
  if (apart !== null) keep(surestNumber(text, apart, LETTERS_FIRST));
  if (start === at) numberOfDigits(text, at, end, wantsPhones, keep);
  else numberOfLetters(text, start, at, keep);
  return end;
}

/** Where two capitals begin that stand before the number and belong to it, as in `AB 12 34 56 C`, or null. */
function lettersApart(text: string, at: number): number | null {
  if (text[at - 1] !== ' ' || !/[A-Z]{2}$/.test(text.slice(Math.max(0, at - 3), at - 1))) return null;
  return /[\w-]/.test(text[at - 4] ?? ' ') ? null : at - 3;
}

function numberOfDigits(
  text: string,
  at: number,
  end: number,
  wantsPhones: boolean,
  keep: (finding: Finding | null) => void,
): void {
  const digits = digitsFrom(text, at);
  if (digits < 7) {
    if (text[end] === '.' && digits >= 4) keep(ipv4At(text, at));
    if (end - at === 4 && text[end] === '.') keep(macAt(text, at));
    if (end - at <= 6) keep(addressAt(text, at, end));
    return;
  }
  keep(ipv4At(text, at) ?? macAt(text, at) ?? surestNumber(text, at, DIGITS_FIRST));
  if (wantsPhones) keep(phoneAt(text, at));
  if (end - at <= 6) keep(addressAt(text, at, end));
}

function numberOfLetters(
  text: string,
  start: number,
  at: number,
  keep: (finding: Finding | null) => void,
): void {
  keep(ibanAt(text, start) ?? surestNumber(text, start, LETTERS_FIRST));
  if (at - start <= 3) keep(macAt(text, start));
}

/** Digits from `at` on, over what stands between the groups of a number. */
function digitsFrom(text: string, at: number): number {
  let digits = 0;
  let gap = 0;
  for (let place = at; place < text.length && place - at < 40; place++) {
    const unit = text.charCodeAt(place);
    if (unit >= 48 && unit <= 57) {
      digits += 1;
      gap = 0;
    } else if (gap >= 3 || !(unit === 32 || (unit >= 40 && unit <= 47) || unit === 0xa0 || unit === 0x2013))
      return digits;
    else gap += 1;
  }
  return digits;
}

function isLetter(unit: number): boolean {
  return (unit >= 65 && unit <= 90) || (unit >= 97 && unit <= 122);
}

function isLetterOrDigit(unit: number): boolean {
  return isLetter(unit) || (unit >= 48 && unit <= 57);
}

/** Behind `_`, or behind a hyphen, dot or slash that joins it to more: a part of an identifier. */
function isWithinWord(text: string, start: number): boolean {
  const before = text.charCodeAt(start - 1);
  return (
    before === 95 ||
    (before > 0x7f &&
      /[\p{L}\p{N}]/u.test(text[start - 1] ?? ' ') &&
      !/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u.test(
        text[start - 1] ?? ' ',
      ))
  );
}

// ── numbers ─────────────────────────────────────────────────────────────────────────────────────────────────────

const ANNOUNCED_WITHIN = 48;

function surestNumber(text: string, start: number, forms: readonly NumberForm[]): Finding | null {
  if (/[-./+]/.test(text[start - 1] ?? ' ') && isLetterOrDigit(text.charCodeAt(start - 2))) return null;
  let best: Finding | null = null;
  let before: string | null = null;
  for (const { kind, pattern, isValid, alone, announced: announcedAs, announcing } of forms) {
    const match = matchAt(pattern, text, start)?.[0] ?? null;
    if (match === null || !isValid(compactOf(match))) continue;
    before ??= text.slice(Math.max(0, start - ANNOUNCED_WITHIN), start).toLowerCase();
    const confidence = announcing?.test(before) === true ? announcedAs : alone;
    const end = start + match.length;
    if (confidence > (best?.confidence ?? 0) && isWhole(text, end))
      best = findingOf(kind, { start, end }, confidence, 'the form of such a number, and its check digits');
  }
  return best;
}

/** No more digits behind a hyphen or dot: the number would be longer. */
function isWhole(text: string, end: number): boolean {
  const [next, then] = [text.charCodeAt(end), text.charCodeAt(end + 1)];
  return !((next === 45 || next === 46 || next === 47) && then >= 48 && then <= 57) && next !== 95;
}

const IBAN = /[A-Za-z]{2}\d{2}(?:[ \u00a0-]?[A-Za-z0-9]){11,30}/y;

function ibanAt(text: string, start: number): Finding | null {
  const length = ibanLength(text.slice(start, start + 2).toUpperCase());
  if (length === null) return null;
  const match = matchAt(IBAN, text, start)?.[0] ?? '';
  // Words that follow would be taken for more of it: the country says how long it is.
  let end = 0;
  for (let count = 0; end < match.length && count < length; end++)
    if (/[A-Za-z0-9]/.test(match[end] ?? '')) count += 1;
  const written = match.slice(0, end);
  if (isLetterOrDigit(text.charCodeAt(start + end)) || !isIban(compactOf(written))) return null;
  const stretch = { start, end: start + end };
  return findingOf('IBAN_CODE', stretch, 1, 'the length of its country, and its check digits');
}

// ── what a word announces ───────────────────────────────────────────────────────────────────────────────────────

interface Announcer {
  readonly word: string;
  readonly look: (text: string, end: number) => Finding | null;
}

const ANNOUNCERS: readonly Announcer[] = [
  ...BIRTH_WORDS.map((word) => ({ word, look: birthBehind })),
  ...PASSPORT_WORDS.map((word) => ({ word, look: passportBehind })),
  { word: 'driver', look: licenceBehind },
  ...BOX_WORDS.map((word) => ({ word, look: (text: string, end: number) => boxAt(text, word, end) })),
  ...['at)', 'at]', 'at}', 'at )', 'at ]'].map((word) => ({ word, look: speltBehind })),
  { word: 'P<', look: (text, end) => machineReadableAt(text, end - 2) },
];
/** The bracket before `at` is where the look begins. */
function speltBehind(text: string, end: number): Finding | null {
  const at = text.slice(Math.max(0, end - 5), end).search(/[[({][ \t]?at[ \t]?[\])}]$/i);
  return at < 0 ? null : speltEmailAt(text, Math.max(0, end - 5) + at);
}

const ASCII = ANNOUNCERS.filter(({ word }) => /^[\x20-\x7e]+$/.test(word));
const OTHERS = ANNOUNCERS.filter((announcer) => !ASCII.includes(announcer));
/** By a character that ASCII does not have: they are rare, and so are looked for first. */
const OTHERS_BY_CHARACTER = Map.groupBy(OTHERS, ({ word }) => strangestOf(word));
const STRANGE = new RegExp(`[${[...OTHERS_BY_CHARACTER.keys()].join('')}]`, 'g');
const SCAN = new LiteralScan(ASCII.map(({ word }): Literal => ({ text: word, anyCase: true })));

function announced(text: string, low: Uint8Array, keep: (finding: Finding | null) => void): void {
  SCAN.scan(text, (index, end) => keep(ASCII[index]?.look(text, end) ?? null), low);
  let behind = 0;
  for (const { 0: character, index } of text.matchAll(STRANGE))
    for (const { word, look } of OTHERS_BY_CHARACTER.get(character) ?? []) {
      const start = index - word.indexOf(character);
      if (start < behind || !text.startsWith(word, start)) continue;
      behind = start + word.length;
      keep(look(text, behind));
    }
}

function strangestOf(word: string): string {
  return /[^\x20-\x7e]/.exec(word)?.[0] ?? '';
}

// ── overlaps ────────────────────────────────────────────────────────────────────────────────────────────────────

/** Of findings that overlap, the surest; of equally sure ones, or where one of the same kind encloses the other, the longest. */
function surest(found: readonly Finding[]): readonly Finding[] {
  const sorted = [...found].sort((a, b) => a.start - b.start || b.confidence - a.confidence || b.end - a.end);
  const kept: Finding[] = [];
  for (const one of sorted) {
    const last = kept.at(-1);
    if (last === undefined || one.start >= last.end) kept.push(one);
    else if (one.kind === last.kind && one.end <= last.end) continue;
    else if (
      one.confidence > last.confidence ||
      (one.confidence === last.confidence && one.end - one.start > last.end - last.start)
    )
      kept[kept.length - 1] = one;
  }
  return kept;
}
