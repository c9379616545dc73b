/**
 * Numbers, dates, and numbers in groups (telephones, cards, IBANs) in one form each, so that `1,000.00` is found as
 * `1000` and `April 1st, 2022` as `2022-04-01`. What can be read in two ways has both forms.
 */
import { joinCharacter, type Words } from './words.ts';

/** The words `from` (inclusive) to `to` (exclusive) say the same as `key`. */
export interface Form {
  readonly key: string;
  readonly from: number;
  readonly to: number;
}

/** Every form that stands in the words. Linear in their number. */
export function formsIn(words: Words): readonly Form[] {
  const forms: Form[] = [];
  for (let at = 0; at < words.words.length; at++) {
    const word = words.words[at] ?? '';
    const first = word.charCodeAt(0);
    if (first >= 0x30 && first <= 0x39) {
      groupedNumber(words, at, forms);
      numericDate(words, at, forms);
      dayFirst(words, at, forms);
      digitGroups(words, at, forms);
    } else if (word.length === 4 && IBAN_START.test(word)) iban(words, at, forms);
    else if (SPOKEN.has(word)) {
      if (MONTHS.has(word)) monthFirst(words, at, forms);
      else spelledNumber(words, at, forms);
    }
  }
  return forms;
}

/** What a whole value says, besides its words: keys of forms, and plain words that are the same number. */
export interface Reading {
  readonly key: string;
  /** `structured`: it says less than the value, as a date without its year. */
  readonly match: 'normalised' | 'structured';
}

export function readingsOf(words: Words): readonly Reading[] {
  const count = words.words.length;
  const whole = formsIn(words).filter(({ from, to }) => from === 0 && to === count);
  // A date with a year is no other year's.
  const hasYear = whole.some(({ key }) => YEAR.test(key));
  const readings = whole.flatMap(({ key }): Reading[] => {
    if (hasYear && key.startsWith('~')) return [];
    const [, day] = YEAR.exec(key) ?? [];
    const yearless: Reading[] = day === undefined ? [] : [{ key: `@-${day}`, match: 'structured' }];
    return [{ key, match: 'normalised' }, ...yearless];
  });
  const [word = ''] = words.words;
  const isPlain = count === 1 && /\d/.test(word);
  return isPlain ? [...readings, { key: `=${word}`, match: 'normalised' }] : readings;
}

const YEAR = /^@\d{4}-(\d\d-\d\d)$/;
const DIGITS = /^\d+$/;

function isDigits(word: string | undefined): word is string {
  return word !== undefined && DIGITS.test(word);
}

function joinAt({ joins }: Words, at: number): string {
  return joinCharacter(joins[at] ?? 0);
}

// ── amounts ───────────────────────────────────────────────────────────────────────────────────────────────────

/** `1,000.00`, `1.000,00`, `12.50`, `1'000`: with at least one joiner; not in the middle of one. */
function groupedNumber(words: Words, at: number, forms: Form[]): void {
  if (isNumberJoin(joinAt(words, at)) && isDigits(words.words[at - 1])) return;
  let end = at;
  while (isDigits(words.words[end]) && (end === at || isNumberJoin(joinAt(words, end)))) end++;
  if (end - at < 2 || end - at > 12) return;
  for (const key of amountsOf(words, at, end)) forms.push({ key, from: at, to: end });
}

function isNumberJoin(join: string): boolean {
  return join === ',' || join === '.' || join === "'";
}

function amountsOf(words: Words, from: number, to: number): readonly string[] {
  const groups = words.words.slice(from, to);
  const joins = Array.from({ length: to - from - 1 }, (_, index) => joinAt(words, from + 1 + index));
  const last = joins.at(-1) ?? '';
  const inner = joins.slice(0, -1);
  const areThousands = (parts: readonly string[]) => parts.slice(1).every((part) => part.length === 3);
  const keys: string[] = [];
  if (joins.every((join) => join === joins[0]) && areThousands(groups))
    keys.push(amount(groups.join(''), ''));
  const isDecimal = last !== "'" && inner.every((join) => join !== last && join === inner[0]);
  if (isDecimal && areThousands(groups.slice(0, -1)))
    keys.push(amount(groups.slice(0, -1).join(''), groups.at(-1) ?? ''));
  return keys;
}

function amount(whole: string, fraction: string): string {
  const plain = whole.replace(/^0+(?=\d)/, '');
  const rest = fraction.replace(/0+$/, '');
  return rest === '' ? `=${plain}` : `=${plain}.${rest}`;
}

const SMALL = [
  ...['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten', 'eleven'],
  ...['twelve', 'thirteen', 'fourteen', 'fifteen', 'sixteen', 'seventeen', 'eighteen', 'nineteen'],
];
const TENS = ['twenty', 'thirty', 'forty', 'fifty', 'sixty', 'seventy', 'eighty', 'ninety'];
const NUMBER_WORDS: ReadonlyMap<string, number> = new Map([
  ...SMALL.map((word, index): [string, number] => [word, index]),
  ...TENS.map((word, index): [string, number] => [word, 20 + 10 * index]),
]);
const FACTORS: ReadonlyMap<string, number> = new Map([
  ['hundred', 100],
  ['thousand', 1000],
  ['million', 1_000_000],
]);

/** `one thousand two hundred and fifty`, `twenty-five`: English only. */
function spelledNumber(words: Words, at: number, forms: Form[]): void {
  const before = words.words[at - 1] ?? '';
  if (NUMBER_WORDS.has(before) || FACTORS.has(before)) return;
  let total = 0;
  let current = 0;
  let end = at;
  for (let next = at; next < words.words.length && next - at < 16; next++) {
    const word = words.words[next] ?? '';
    const value = NUMBER_WORDS.get(word);
    const factor = FACTORS.get(word);
    if (value !== undefined) current += value;
    else if (factor === 100) current = Math.max(1, current) * factor;
    else if (factor !== undefined) {
      total += Math.max(1, current) * factor;
      current = 0;
    } else if (word === 'and' && next > at) continue;
    else break;
    end = next + 1;
  }
  if (total + current >= 2) forms.push({ key: `=${total + current}`, from: at, to: end });
}

// ── dates ─────────────────────────────────────────────────────────────────────────────────────────────────────

const MONTH_NAMES = [
  ...['january', 'february', 'march', 'april', 'may', 'june', 'july', 'august', 'september', 'october'],
  ...['november', 'december'],
];
const MONTHS: ReadonlyMap<string, number> = new Map([
  ...MONTH_NAMES.map((name, index): [string, number] => [name, index + 1]),
  ...MONTH_NAMES.map((name, index): [string, number] => [name.slice(0, 3), index + 1]),
  ['sept', 9],
]);

/** Words that a form may begin with, besides numbers. */
const SPOKEN: ReadonlySet<string> = new Set([...MONTHS.keys(), ...NUMBER_WORDS.keys()]);

/** `2022-04-01`, `1/4/22`, `01.04.2022`; both readings where day and month could be either. */
function numericDate(words: Words, at: number, forms: Form[]): void {
  const [a = '', b = '', c = ''] = words.words.slice(at, at + 3);
  const join = joinAt(words, at + 1);
  if (!'-/.'.includes(join) || join === '' || joinAt(words, at + 2) !== join) return;
  if (isDigits(words.words[at - 1]) && joinAt(words, at) === join) return;
  if (!isDigits(a) || !isDigits(b)) return;
  if (a.length === 4) {
    const [day = ''] = /^\d{1,2}(?=$|t\d)/.exec(c) ?? [];
    date(Number(a), Number(b), Number(day), at, at + 3, forms);
  } else if (isDigits(c) && (c.length === 4 || c.length === 2)) {
    const year = c.length === 4 ? Number(c) : 2000 + Number(c);
    date(year, Number(b), Number(a), at, at + 3, forms);
    if (join !== '.') date(year, Number(a), Number(b), at, at + 3, forms);
  }
}

const DAY = /^(\d{1,2})(?:st|nd|rd|th)?$/;

function dayOf(word: string | undefined): number {
  return Number(DAY.exec(word ?? '')?.[1] ?? 0);
}

function yearOf(word: string | undefined): number | null {
  return word !== undefined && /^\d{4}$/.test(word) ? Number(word) : null;
}

/** `April 1st, 2022`, `Apr 1` */
function monthFirst(words: Words, at: number, forms: Form[]): void {
  const month = MONTHS.get(words.words[at] ?? '') ?? 0;
  const day = dayOf(words.words[at + 1]);
  const year = yearOf(words.words[at + 2]);
  date(year, month, day, at, year === null ? at + 2 : at + 3, forms);
}

/** `1 April 2022`, `the 1st of April` */
function dayFirst(words: Words, at: number, forms: Form[]): void {
  const day = dayOf(words.words[at]);
  if (day === 0) return;
  const named = words.words[at + 1] === 'of' ? at + 2 : at + 1;
  const month = MONTHS.get(words.words[named] ?? '') ?? 0;
  const year = yearOf(words.words[named + 1]);
  date(year, month, day, at, year === null ? named + 1 : named + 2, forms);
}

/** With a year it is also found by those who leave the year out. */
function date(
  year: number | null,
  month: number,
  day: number,
  from: number,
  to: number,
  forms: Form[],
): void {
  if (month < 1 || month > 12 || day < 1 || day > 31) return;
  const two = (number: number) => String(number).padStart(2, '0');
  const rest = `${two(month)}-${two(day)}`;
  const dated = year === null ? '' : String(year).padStart(4, '0');
  forms.push({ key: `@${dated}-${rest}`, from, to }, { key: `~${rest}`, from, to });
}

// ── numbers in groups ─────────────────────────────────────────────────────────────────────────────────────────

/** Of a telephone, a card, an account. */
const LEAST_DIGITS = 7;
const MOST_DIGITS = 34;

function isGroupGap({ text, ends, starts }: Words, at: number): boolean {
  const gap = text.slice(ends[at - 1] ?? 0, starts[at] ?? 0);
  return gap.length <= 3 && /^[ \-()/.\u00a0]+$/.test(gap);
}

/** `+44 20 7946 0958`, `4111-1111-1111-1111`: the longest run of groups. */
function digitGroups(words: Words, at: number, forms: Form[]): void {
  if (!isDigits(words.words[at])) return;
  if (isDigits(words.words[at - 1]) && isGroupGap(words, at)) return;
  let joined = '';
  let end = at;
  while (isDigits(words.words[end]) && (end === at || isGroupGap(words, end))) {
    if (joined.length <= MOST_DIGITS) joined += words.words[end];
    end++;
  }
  if (end - at < 2 || joined.length < LEAST_DIGITS || joined.length > MOST_DIGITS) return;
  forms.push({ key: `=${joined}`, from: at, to: end });
}

const IBAN_START = /^[a-z]{2}\d{2}$/;

/** `DE89 3704 0044 0532 0130 00` */
function iban(words: Words, at: number, forms: Form[]): void {
  let joined = words.words[at] ?? '';
  let end = at + 1;
  for (; end < words.words.length && isGroupGap(words, end); end++) {
    const group = words.words[end] ?? '';
    if (!/^[a-z0-9]{1,4}$/.test(group) || joined.length + group.length > MOST_DIGITS) break;
    // A bank may have letters behind the check digits; later they are words of the sentence.
    if (!/\d/.test(group) && end > at + 1) break;
    joined += group;
    if (group.length < 4) {
      end++;
      break;
    }
  }
  if (joined.length >= 15) forms.push({ key: `=${joined}`, from: at, to: end });
}
