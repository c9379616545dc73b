/**
 * Telephone numbers of all countries. What begins with `+` or `00` says which country it is of; a national number is one
 * only where it is written as such numbers are, or where a word announces it, because any ten digits could be one.
 */

import type * as Phones from 'libphonenumber-js/max';
import type { CountryCode } from 'libphonenumber-js/max';
import { type Finding, findingOf } from '../text/finding.ts';
import { matchAt } from '../text/match.ts';
import { parserOnDemand } from '../text/on-demand.ts';

const PHONES = parserOnDemand<typeof Phones>('libphonenumber-js/max');

/** Written as numbers are: groups of digits with something between, an extension at the end. */
const WRITTEN =
  /(?:\+|00(?=[1-9])|\(\+?)?\(?\d{1,5}\)?(?:(?:[ \u00a0]?[-–./][ \u00a0]?|[ \u00a0]{1,2}|[ \u00a0]?\()?\(?\d{1,10}\)?){0,8}/y;
const EXTENSION =
  /[ \u00a0]{0,2},?[ \u00a0]?(?:ext\.?|extension|x|Durchwahl|DW|#)[ \u00a0]?\.?(\d{1,5})(?!\w)/iy;

const ANNOUNCING =
  /(?:\b(?:tel|tél|phone|phones|telephone|teléfono|telefono|telefon|telefone|téléphone|telefoon|telefonnummer|mobile|mobil|móvil|cell|cellphone|celular|cellulare|handy|fax|call|calls|called|ring|rufen|anrufen|erreichbar|appelez|appeler|llamar|llame|chiama|chiamare|ligue|sms|text(?:ed)? (?:me|us|him|her|them)|whatsapp|signal|telegram|dial|number is|numéro|número|nummer|rufnummer|durchwahl|contact|kontakt|reach (?:me|us|him|her|them)|hotline|helpline|komórka|gsm)\b|☎|📞|📱|电话|電話|手机|携帯|тел|телефон|전화|फोन|मोबाइल|هاتف|τηλ)[^(){}=<>;\n]{0,24}$/isu;
/** Numbers of other things. */
const OTHERS =
  /(?:\b(?:isbn|issn|ean|upc|order|invoice|ticket|case|ref|reference|tracking|serial|sku|version|id|account|konto|iban|bic|commit|port|pid|zip|plz|lat|lon|coordinates?|bestellung|rechnung|auftrag|commande|pedido|fattura|build|rfc|cve|doi|part|model|batch|lot|po|hash|timestamp|epoch|euro?|usd|pages?|bsn|ssn|nhs|tfn|sin|cpf|pesel|steuer-?id|idnr|tax)\b(?:[ ._-]?(?:no|nr|number|id|code|nummer))?|[#$€£¥])[:.=# ]{0,3}$/iu;

/** Countries whose national form is tried, in this order. */
const COUNTRIES: readonly CountryCode[] = [
  ...(['US', 'GB', 'DE', 'FR', 'ES', 'IT', 'NL', 'BE', 'CH', 'AT', 'PL', 'PT', 'SE', 'DK'] as const),
  ...(['NO', 'FI', 'IE', 'AU', 'NZ', 'IN', 'BR', 'MX', 'AR', 'JP', 'KR', 'CN', 'ZA', 'TR'] as const),
  ...(['RU', 'UA', 'GR', 'CZ', 'HU', 'RO', 'IL', 'SG', 'NG', 'KE', 'EG', 'PH', 'ID', 'TH'] as const),
  ...(['VN', 'MY', 'PK', 'BD', 'CO', 'CL'] as const),
];

const LEAST_DIGITS = 7;
const MOST_DIGITS = 15;
/** `00` and `(0)` are dialled and no part of a number. */
const MOST_DIALLED = 17;

/** The number that begins at `at`, with the `+` or bracket before it, or null. */
export function phoneAt(text: string, digit: number): Finding | null {
  const at = beginning(text, digit);
  const written = matchAt(WRITTEN, text, at)?.[0].replace(/[^\d)]+$/, '') ?? '';
  const number = balanced(written);
  const end = at + number.length;
  if (!isApart(text, at, end)) return null;
  const digits = number.replace(/\D/g, '').length;
  if (digits < LEAST_DIGITS || digits > (/^\(?(?:\+|00)/.test(number) ? MOST_DIALLED : MOST_DIGITS))
    return null;
  const before = text.slice(Math.max(0, at - 48), at);
  const confidence = confidenceOf(number, before);
  if (confidence === null) return null;
  const extension = matchAt(EXTENSION, text, end)?.[0].length ?? 0;
  const stretch = { start: at, end: end + extension };
  return findingOf('PHONE_NUMBER', stretch, confidence, 'a number of a telephone plan');
}

/** Null if it is not one. */
function confidenceOf(number: string, before: string): number | null {
  if (isOtherwise(number)) return null;
  const isAnnounced = ANNOUNCING.test(before);
  if (OTHERS.test(before)) return null;
  if (!isAnnounced && /^00(?: \d\d)+$/.test(number)) return null;
  if (/^\(?(?:\+|00)/.test(number)) return internationally(number, isAnnounced);
  if (!isAnnounced && !isWrittenAsPhone(number)) return null;
  const { parsePhoneNumberFromString } = PHONES();
  const isNational = COUNTRIES.some(
    (country) => parsePhoneNumberFromString(number, country)?.isValid() === true,
  );
  if (isNational) return isAnnounced ? 0.95 : 0.75;
  // A plan may be newer than what is known of it; numbers for films are in none.
  return isAnnounced && /\d{3}[-. ]\d{4}$/.test(number) ? 0.6 : null;
}

function internationally(number: string, isAnnounced: boolean): number | null {
  const { parsePhoneNumberFromString } = PHONES();
  const parsed = parsePhoneNumberFromString(
    number
      .replace(/^\(?00/, '+')
      .replace(/^\(\+/, '+')
      .replace('(0)', ''),
  );
  if (parsed === undefined) return null;
  if (parsed.isValid()) return 1;
  // `00` stands before much else; a plus sign before a country's code seldom does.
  if (!parsed.isPossible() || (!isAnnounced && /^\(?00/.test(number))) return null;
  return isAnnounced ? 0.8 : 0.6;
}

/** Dates, addresses of machines, versions, amounts. */
function isOtherwise(number: string): boolean {
  return (
    /^(?:19|20)\d\d[-./](?:0?[1-9]|1[0-2])[-./](?:0?[1-9]|[12]\d|3[01])(?:\D|$)/.test(number) ||
    /^(?:0?[1-9]|[12]\d|3[01])[-./](?:0?[1-9]|[12]\d|3[01])[-./](?:19|20)\d\d(?:\D|$)/.test(number) ||
    /^\d{1,3}(?:\.\d{1,3}){3}$/.test(number) ||
    (/^\d{1,3}(?:[. ]\d{3})+$/.test(number) &&
      !number.startsWith('0') &&
      !/^\d{3} \d{3} \d{3}$/.test(number)) ||
    /^(?:19|20)\d\d[-–](?:19|20)\d\d$/.test(number) ||
    /^97[89][- ]/.test(number) ||
    /^\d{3}-\d{2}-\d{4}$/.test(number) ||
    isCounting(number) ||
    /^\d+\.\d+$/.test(number)
  );
}

/** Small numbers in a row; only France and its like write a number in pairs, and begin with a zero. */
function isCounting(number: string): boolean {
  // Russia dials an 8 first.
  if (/^(?:[+0(]|8 ?\()/.test(number)) return false;
  const groups = number.split(/\D+/).filter((group) => group !== '');
  return groups.length > 2 && groups.filter((group) => group.length < 3).length > 1;
}

/** Groups as plans write them: an area code in brackets, or a zero first, or the groups of North America. */
function isWrittenAsPhone(number: string): boolean {
  return (
    /^\(0?\d{2,5}\)[ \u00a0-]?\d/.test(number) ||
    /^\(?\d{3}\)?[-. ]\d{3}[-. ]\d{4}$/.test(number) ||
    /^1[-. ]\d{3}[-. ]\d{3}[-. ]\d{4}$/.test(number) ||
    (/^0\d{1,5}[ \u00a0]?[-–/ \u00a0.]/.test(number) && number.replace(/\D/g, '').length >= 9) ||
    /^0\d{9,10}$/.test(number)
  );
}

function beginning(text: string, digit: number): number {
  let at = digit;
  if (text[at - 1] === '(') at -= 1;
  if (text[at - 1] === '+') at -= 1;
  if (text[at - 1] === '(' && text[at] === '+') at -= 1;
  return at;
}

/** Without a bracket that is not closed, or not opened. */
function balanced(number: string): string {
  let open = 0;
  for (let at = 0; at < number.length; at++) {
    if (number[at] === '(') open += 1;
    if (number[at] === ')') open -= 1;
    if (open < 0) return number.slice(0, at);
  }
  return open > 0 ? number.slice(0, number.lastIndexOf('(')).replace(/\D+$/, '') : number;
}

/** Not within a word, a longer number or a path. */
function isApart(text: string, start: number, end: number): boolean {
  const [before, behind] = [text[start - 1] ?? ' ', text[end] ?? ' '];
  if (/[\p{L}\p{N}_$€£¥%]/u.test(before) || /[\p{L}\p{N}_%€$£]/u.test(behind)) return false;
  if (/[-./,+=&?:~*^]/.test(before) && /[\w)]/.test(text[start - 2] ?? ' ') && !/[:.,=]/.test(before))
    return false;
  // The rest of a longer number, whose groups did not fit.
  if (/[ \u00a0]/.test(before) && /\d/.test(text[start - 2] ?? ' ') && /\d/.test(text[start] ?? ''))
    return false;
  if (before === '.' && /\d/.test(text[start - 2] ?? ' ')) return false;
  if (before === '=' && /[&?][\w-]{0,20}=$/.test(text.slice(Math.max(0, start - 24), start))) return false;
  return !(/[-./:,]/.test(behind) && /\d/.test(text[end + 1] ?? ' '));
}
