/** Passports and driver's licences: a number behind the word, and the lines that machines read. */
import { type Finding, findingOf, type Stretch } from '../text/finding.ts';
import { matchAt } from '../text/match.ts';
import { wordList } from '../text/words.ts';

export const PASSPORT_WORDS = wordList(`
  passport passeport pasaporte passaporto passaporte reisepass paspoort paszport паспорт 护照 旅券
`);

const NUMBER =
  /^[\w-]{0,12}[\s"']{0,3}(?:[Cc]ard |[Bb]ook )?(?:[Nn][OoRr]|[Nn](?=[°º])|[Nn][uú]m(?:ber|mer|ero)?|[Nn]uméro|NUMBER|NUMMER|#|[Ii][Dd]|№|号|番号)?[\s.:=#"'º°)-]{0,8}(?:(?:is|ist|est|es|è|é|was|lautet)[\s:]{1,3})?(?:[A-Za-z]{2,3}[\s/-]{1,3})?([A-Z]{0,3}[ -]?\d{6,9}[A-Z]?|\d{2}[A-Z]{2}\d{5}|\d{2} ?\d{2} \d{6}|[A-Z]\d{2}[A-Z0-9]{2}\d{4}|[CFGHJKLMNPRTVWXYZ][CFGHJKLMNPRTVWXYZ0-9]{8})(?![A-Za-z0-9])/u;

/** The number behind a word that ends at `end`, or null. */
export function passportBehind(text: string, end: number): Finding | null {
  const match = NUMBER.exec(text.slice(end, end + 64));
  const number = match?.[1] ?? null;
  if (match === null || number === null || !/\d{4}|\d.*\d.*\d/.test(number)) return null;
  const stretch = endingAt(end + match[0].length, number);
  return findingOf('PASSPORT', stretch, 0.85, 'a number behind a word for passport');
}

/** The place of a text that ends at `end`. */
function endingAt(end: number, text: string): Stretch {
  return { start: end - text.length, end };
}

const LINE = /([A-Z0-9<]{9})(\d)([A-Z<]{3})(\d{6})(\d)[MFX<](\d{6})(\d)[A-Z0-9<]{14,16}/y;
const FIRST = /P[A-Z<][A-Z<]{3}[A-Z<]{39}(?![A-Z<])/y;

/** Both lines of the machine-readable zone of a passport (ICAO 9303) that begin at `at`. */
export function machineReadableAt(text: string, at: number): Finding | null {
  const first = matchAt(FIRST, text, at)?.[0];
  if (first === undefined) return null;
  const end = at + first.length;
  const second = end + (/^\r?\n[ \t]{0,8}/.exec(text.slice(end, end + 12))?.[0].length ?? 0);
  const match = matchAt(LINE, text, second);
  if (match === null || checkDigit(match[1] ?? '') !== match[2]) return null;
  const stretch = { start: at, end: second + match[0].length };
  return findingOf('PASSPORT', stretch, 1, 'the lines of a passport, and their check digit');
}

function checkDigit(field: string): string {
  let sum = 0;
  for (const [at, one] of [...field].entries())
    sum += (one === '<' ? 0 : Number.parseInt(one, 36)) * ([7, 3, 1][at % 3] ?? 0);
  return String(sum % 10);
}

const LICENCE =
  /^(?:['’]?[sS])?['’]?[ -](?:[Ll]icen[cs]e|LICEN[CS]E)(?: (?:card|id))?(?: ?(?:[Nn][oOrR]|[Nn]um(?:ber)?|NUMBER)\b\.?| ?#)?(?:[\s:=#-]| is\b| of [\p{Lu}][\p{L}]{1,14}){0,4}(?:\(?[A-Z]{2}\)?[\s:-]{1,2})?([A-Z]{0,3}\d{1,4}(?:[- ]?[A-Z]{0,2}\d{2,7}){1,4}[A-Z]{0,2}|[A-Z]{5}\d[A-Z0-9]{6})(?![\p{L}\p{N}])/u;
const FEWEST_DIGITS = 5;

/** The number of a driver's licence behind `driver`, which ends at `end`, or null. Each state has its own form. */
export function licenceBehind(text: string, end: number): Finding | null {
  const match = LICENCE.exec(text.slice(end, end + 80));
  const number = match?.[1] ?? null;
  if (match === null || number === null || number.replace(/\D/g, '').length < FEWEST_DIGITS) return null;
  const stretch = endingAt(end + match[0].length, number);
  return findingOf('US_DRIVER_LICENSE', stretch, 0.8, 'a number behind a word for a driver’s licence');
}
