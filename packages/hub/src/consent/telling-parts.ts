/**
 * Parts of a text that say where it was taken from: words in a row, codes and numbers, addresses. Pure functions. Best effort: who
 * rewrites a text hides where it came from.
 */
import { decodingsOf, wordsOf } from '@cordon/policy';

/** Fewer words in a row stand everywhere: `let me know if`. */
const WORDS_IN_A_ROW = 5;
/** A sentence of fewer words says nothing by itself: `Best regards, Ada`. */
const WORDS_OF_SENTENCE = 4;
/** A code has at least so many digits, or so many letters and digits. */
const DIGITS_OF_CODE = 4;
const LENGTH_OF_CODE = 5;
/** So many letters without a space are no word of a sentence. */
const LENGTH_OF_RUN = 20;
const YEAR = /^(?:19|20)\d\d$/;
/** A day is in many texts: a deadline, or when something was paid. */
const DATE = /^(?:19|20)\d\d-(?:0?[1-9]|1[0-2])-(?:0?[1-9]|[12]\d|3[01])$/;

/** Each part as it stands in the text, by a key that equal parts share. */
export type TellingParts = ReadonlyMap<string, string>;

/**
 * @param isAll whether a text of few words counts as a whole: it may be a password
 * @param withNames whether codes, numbers and addresses count: what is acted upon is called by them
 */
export function tellingParts(text: string, isAll: boolean, withNames = true): TellingParts {
  const parts = new Map<string, string>();
  const keep = ([key, part]: Part) => parts.set(key, parts.get(key) ?? part);
  for (const one of readingsOf(text)) {
    for (const part of wordsInARow(one)) keep(part);
    if (withNames) for (const part of namesIn(one)) keep(part);
    for (const sentence of one.split(/\n+|(?<=[.!?])\s+/)) {
      const { words } = wordsOf(sentence);
      if (words.length === WORDS_OF_SENTENCE) keep([words.join(' '), sentence.trim()]);
    }
    const { words } = wordsOf(one);
    if (isAll && words.length > 0 && words.length < WORDS_IN_A_ROW) keep([words.join(' '), one.trim()]);
  }
  return parts;
}

/** How many words the parts have: counted once for all texts in which they are looked for. */
export function lengthsOf(parts: TellingParts): ReadonlySet<number> {
  return new Set([...parts.keys()].map((key) => key.split(' ').length));
}

/** Those of the parts that stand in a text, as they stand there. */
export function* partsIn(text: string, parts: TellingParts, lengths: ReadonlySet<number>): Generator<Part> {
  for (const one of readingsOf(text)) {
    for (const part of namesIn(one)) if (parts.has(part[0])) yield part;
    const { words, starts, ends } = wordsOf(one);
    for (let from = 0; from < words.length; from++)
      for (const count of lengths) {
        const key = words.slice(from, from + count).join(' ');
        if (parts.has(key)) yield [key, one.slice(starts[from], ends[from + count - 1])];
      }
  }
}

type Part = readonly [key: string, part: string];

/** The text, and what it says in an encoding. */
function readingsOf(text: string): readonly string[] {
  return [text, ...decodingsOf(text).map((decoding) => decoding.text)];
}

function* wordsInARow(text: string): Generator<Part> {
  const { words, starts, ends } = wordsOf(text);
  for (let from = 0, to = WORDS_IN_A_ROW; to <= words.length; from++, to++)
    yield [words.slice(from, to).join(' '), text.slice(starts[from], ends[to - 1])];
}

/** Codes, numbers in groups, and addresses. */
function* namesIn(text: string): Generator<Part> {
  const { words, starts, ends } = wordsOf(text);
  for (const [from, word] of words.entries()) {
    if (isCode(word)) yield [word, text.slice(starts[from], ends[from])];
    const end = endOfNumber(words, from);
    const groups = words.slice(from, end);
    const digits = groups.join('');
    if (end > from + 1 && digits.length > DIGITS_OF_CODE && !DATE.test(groups.join('-')))
      yield [`#${digits}`, text.slice(starts[from], ends[end - 1])];
  }
  for (const [address] of text.matchAll(ADDRESS)) yield [`@${address.toLowerCase()}`, address];
}

const ADDRESS = /[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+/g;

function isCode(word: string): boolean {
  const digits = word.replace(/\P{N}/gu, '').length;
  if (digits >= DIGITS_OF_CODE) return !YEAR.test(word);
  return digits > 0 ? digits < word.length && word.length >= LENGTH_OF_CODE : word.length >= LENGTH_OF_RUN;
}

/** Where a number in groups ends that begins here: `4711 08 15`. */
function endOfNumber(words: readonly string[], from: number): number {
  const isDigits = (at: number) => /^\d+$/.test(words[at] ?? '');
  if (isDigits(from - 1)) return from;
  let end = from;
  while (isDigits(end)) end++;
  return end;
}
