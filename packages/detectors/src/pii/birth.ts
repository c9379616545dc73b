/** Dates of birth: a date behind a word that says so. */
import { type Finding, findingOf } from '../text/finding.ts';

/** Words that announce one, as they are looked for. */
export const BIRTH_WORDS: readonly string[] =
  'birth|born|d.o.b|dob|geboren|geburt|geb.|naissance|né le|née le|Né le|Née le|nacimiento|nacid|nascita|nato il|nata il|nascimento|nascid|geboorte|urodz|fødsel|född|doğum|рожд|生年月日|出生'.split(
    '|',
  );

const MONTH =
  'januari|februari|maart|augusti|augustus|января|февраля|марта|апреля|мая|июня|июля|августа|сентября|октября|ноября|декабря|jan(?:uary|uar|vier|\\.)?|feb(?:ruary|ruar|\\.)?|févr(?:ier|\\.)?|mar(?:ch|s|zo|ço)?|märz|apr(?:il|\\.)?|avril|abril|may|mai|mayo|maio|june?|juni|juin|junio|junho|giugno|july?|juli|juillet|julio|julho|luglio|aug(?:ust|\\.)?|août|agosto|sept?(?:ember|\\.)?|septembre|septiembre|setembro|settembre|o[ck]t(?:ober|\\.)?|octobre|octubre|outubro|ottobre|nov(?:ember|embre|iembre|embro|\\.)?|de[cz](?:ember|\\.)?|décembre|diciembre|dezembro|dicembre|enero|gennaio|janeiro|febrero|febbraio|fevereiro|marzo|aprile|maggio|stycznia|lutego|marca|kwietnia|maja|czerwca|lipca|sierpnia|września|października|listopada|grudnia';
const YEAR = '(?:1[89]|20)\\d{2}';
const DAY = '(?:[12]\\d|3[01]|0?[1-9])';
/** A date in the forms of several languages; for the flags `i` and `u`. */
export const DATE_PATTERN = [
  `${YEAR}(?:1[0-2]|0[1-9])(?:0[1-9]|[12]\\d|3[01])`,
  `${YEAR}[-/.](?:1[0-2]|0?[1-9])[-/.]${DAY}`,
  `${DAY}[-/.] ?${DAY}[-/.] ?(?:${YEAR}|\\d{2}(?!\\d))`,
  `${DAY}(?:st|nd|rd|th|\\.|º|er)? (?:of |de |di )?(?:${MONTH}),?(?: de| di| of)? ${YEAR}`,
  `${DAY}[-/](?:${MONTH})[-/]${YEAR}`,
  `(?:${MONTH}) ${DAY}(?:st|nd|rd|th)?,? ${YEAR}`,
  `${YEAR} ?年 ?(?:1[0-2]|0?[1-9]) ?月 ?${DAY} ?日`,
].join('|');
const DATE = new RegExp(DATE_PATTERN, 'iu');

const FAR = 48;

/** The date behind a word that ends at `end`, or null. */
export function birthBehind(text: string, end: number): Finding | null {
  const stretch = text.slice(end, end + FAR + 24);
  const match = DATE.exec(stretch);
  if (
    match === null ||
    match.index > FAR ||
    /[.!?;]\s+\p{Lu}|\n\s*[\p{L}\n]/u.test(stretch.slice(1, match.index))
  )
    return null;
  const start = end + match.index;
  const last = start + match[0].length;
  if (/\d/.test(text[start - 1] ?? ' ') || /\d/.test(text[last] ?? ' ')) return null;
  return findingOf('DATE_OF_BIRTH', { start, end: last }, 0.85, 'a date behind a word for birth');
}
