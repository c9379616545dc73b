/**
 * Postal addresses: a house number beside a street, as several languages write it, with what follows of flat, town and
 * code. A town alone is a place, not an address.
 */
import { type Finding, findingOf } from '../text/finding.ts';
import { matchAt } from '../text/match.ts';

const NAME = "\\p{Lu}[\\p{L}\\p{M}'’.-]{0,24}";
const ENGLISH_TYPES =
  'Street|St|Avenue|Ave|Road|Rd|Boulevard|Blvd|Lane|Ln|Drive|Dr|Court|Ct|Circle|Cir|Place|Pl|Square|Sq|Terrace|Ter|Way|Parkway|Pkwy|Highway|Hwy|Close|Crescent|Cres|Grove|Gardens|Mews|Row|Trail|Trl|Alley|Plaza|Loop|Broadway|Quay|Walk|Hill|Park';

/** `12B North Main St.`, from the number. */
const NUMBER_FIRST = new RegExp(
  `\\d{1,5}[A-Za-z]?(?:[-/]\\d{1,4})?,? (?:(?:(?:[NSEW]{1,2}\\.?|North|South|East|West) )?(?:(?:${NAME}|\\d{1,3}(?:st|nd|rd|th)) ){1,4}(?:${ENGLISH_TYPES})(?![\\p{L}])\\.?(?: (?:[NSEW]{1,2}|North|South|East|West)(?![\\p{L}]))?|(?:(?:bis|ter) ?,? )?(?:[Rr]ue|[Aa]venue|[Bb]oulevard|[Aa]llée|[Aa]llee|[Ii]mpasse|[Cc]hemin|[Pp]lace|[Qq]uai|[Rr]oute|[Cc]ours|[Pp]assage|[Ss]quare)(?: (?:de la|de l['’]|du|des|de|la|le|les|d['’]))? ?(?:${NAME}[ -]?|de |du |la |des |l['’]|d['’]|et ){1,6}(?<=[\\p{L}.]))`,
  'uy',
);

/** What stands before a number that is a house's. */
const STREET_BEFORE = new RegExp(
  [
    `(?:(?:Am|An der|An den|Auf der|Im|In der|Zum|Zur|Alte|Alter|Neue|Große|Kleine|Obere|Untere) )?(?:${NAME}[ -]){0,2}[\\p{L}\\p{M}.-]{0,30}(?:straße|strasse|Straße|Strasse|str\\.|Str\\.|weg|Weg|platz|Platz|allee|Allee|gasse|Gasse|damm|ufer|Ufer|steig|chaussee|promenade|straat|Straat|laan|plein|gracht|kade|vej|gade|gatan|vägen|gate|veien|katu|tie)`,
    `(?:${NAME} ){1,3}(?:Street|Avenue|Road|Lane|Drive|Boulevard)`,
    `(?:Calle|C/|C\\.|Avenida|Avda?\\.?|Av\\.|Paseo|Plaza|Pza\\.|Carrera|Ronda|Carrer|Via|Viale|Piazza|Corso|Vicolo|Largo|Rua|R\\.|Travessa|Praça|Alameda|ul\\.|ulica|al\\.|os\\.|pl\\.|ул\\.|улица|пр\\.|проспект) ?(?:(?:de la|de los|de las|de|del|della|delle|dei|da|do|dos|das|di|la|el) )?(?:(?:${NAME}|\\d{1,2})[ ,]?(?:(?:de|da|do|di|del|della|y|e|i) )?){1,4}`,
  ].join('|'),
  'u',
);
const FAR = 72;
const HOUSE = /\d{1,4}(?:[ ]?[a-zA-Z](?![\p{L}\d]))?(?:[-/]\d{1,4}[a-z]?)?(?![\d\p{L}:%]|[.,]\d)/uy;
const BETWEEN = /,? ?(?:n[.º°]{1,2} ?|nº ?|num\. ?|no\. ?|д\. ?|nr\.? ?)?$/iu;

const BOX = /(?:P\.? ?O\.? ?Box|Postfach|Apartado(?: de Correos)?|Caixa Postal|BP) \d{1,7}/iy;
export const BOX_WORDS: readonly string[] = ['box ', 'postfach', 'apartado', 'caixa postal'];

/** Flat, town, code, state: each if it is there, in this order. */
const BEHIND: readonly RegExp[] = [
  /(?:,? ?(?:#|Apt\.?|Apartment|Unit|Suite|Ste\.?|Flat|Floor|Fl\.?|Whg\.?|Wohnung|App\.?|appt\.?|piso|Bajo|int\.|scala|lok\.|m\.|кв\.) ?#?[\w-]{1,6}|, \d{1,2}º? ?[A-Z]?(?![\w-]))/uy,
  /(?:,\s?|\s)(?:(?:[A-Z]{1,2}-)?\d{5}(?:-\d{3,4})?|\d{4} ?[A-Z]{2}|\d{4}|\d{2}-\d{3}|\d{3} \d{2}|\d{4}-\d{3}) (?:\p{Lu}[\p{L}\p{M}.'’-]{1,30}(?: (?:am|an der|im|sur|de|la|del|di|upon|on) )?[ -]?){1,4}(?<=[\p{L}.])/uy,
  new RegExp(
    `(?:,\\s?|\\n)(?:(?:Mc|San |Los |St\\.? |New |Port |Fort )?${NAME} ?){1,3}(?<=[\\p{L}.])(?=,| [A-Z]{2} \\d|\\s[A-Z]{1,2}\\d|$|[.;)\\]}"\\n])`,
    'uy',
  ),
  /,?\s(?:[A-Z]{2}|[A-Z][a-z]{3,12})\.? \d{5}(?:-\d{4})?(?!\d)/y,
  /,\s[A-Z]{2}(?![A-Za-z0-9])/y,
  /,?\s[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}(?![A-Za-z0-9])/y,
  /,?\s(?:[A-Z]{2} )?[A-Z]\d[A-Z] ?\d[A-Z]\d(?![A-Za-z0-9])/y,
  /(?:,\s?|\n)(?:USA|U\.S\.A\.|United States|UK|United Kingdom|Germany|Deutschland|France|Spain|España|Italy|Italia|Netherlands|Nederland|Canada|Australia|Ireland|Austria|Österreich|Switzerland|Schweiz|Poland|Polska|Portugal|Brasil|Brazil|India)(?![\p{L}])(?: \d{5}(?!\d))?/uy,
];

/** The address with the house number that begins at `at` and ends before `end`, or null. */
export function addressAt(text: string, at: number, end: number): Finding | null {
  const before = text[at - 1] ?? ' ';
  if (/[\p{L}\p{N}$€£#._:/-]/u.test(before) && before !== '.') return null;
  if (before === ' ' || before === '.' || before === ',') {
    const found = streetBefore(text, at);
    if (found !== null) return found;
  }
  if (!mayGoOn(text, end)) return null;
  const match = matchAt(NUMBER_FIRST, text, at);
  if (
    match === null ||
    /^(?:19|20)\d\d /.test(match[0]) ||
    COUNTING.test(text.slice(Math.max(0, at - 12), at))
  )
    return null;
  return address(text, at, at + match[0].trimEnd().length, 0.8);
}

/** Before the number of a part of a text, or of one in a row. */
const COUNTING =
  /(?:^|[^\p{L}])(?:chapter|section|part|page|figure|fig\.|table|step|lesson|unit|act|scene|volume|verse|episode|season|track|week|day|level|version|no\.) $/iu;

/** Behind the number stands a word with a capital, or one of those that a French street begins with. */
function mayGoOn(text: string, end: number): boolean {
  const next = text.charCodeAt(end);
  const word = next === 44 ? end + 2 : next === 32 ? end + 1 : end;
  const first = text[word] ?? '';
  return next > 32 && next !== 44 ? /[-/]/.test(first) : /[\p{Lu}abcipqr\d]/u.test(first);
}

/** What the word before a house number ends or begins with where it is a street. */
const STREET_WORD =
  /(?:stra(?:ß|ss)e|str|weg|platz|allee|gasse|ring|hof|damm|ufer|steig|chaussee|promenade|straat|laan|plein|gracht|kade|vej|gade|gatan|vägen|gate|veien|katu|tie|street|avenue|road|lane|drive|boulevard)$/iu;
const STREET_START =
  /(?:Calle|C\/|C\.|Avenida|Avda?|Av\.|Paseo|Plaza|Pza\.|Carrera|Ronda|Carrer|Via|Viale|Piazza|Corso|Vicolo|Largo|Rua|R\.|Travessa|Praça|Alameda|ul\.|ulica|al\.|os\.|pl\.|ул|улица|пр|проспект)[ .]/u;

/** Whether what stands before a number ends with a street, or holds the word that one begins with. */
function mayBeStreet(stretch: string): boolean {
  const word = /[\p{L}\p{M}]+\.?$/u.exec(stretch.slice(-32))?.[0] ?? '';
  return STREET_WORD.test(word.replace('.', '')) || STREET_START.test(stretch);
}

/** The word before a house number: a street's, or with a capital, or `no.`. */
const LEADING_WORD = /^(?:\p{Lu}|n|no|nr|num|nº|n°|д)/u;

/** Whether it is worth looking closer: most numbers stand behind other words. */
function mayFollowStreet(text: string, at: number): boolean {
  let end = at - 1;
  while (end > 0 && /[ ,.]/.test(text[end] ?? '')) end -= 1;
  let start = end;
  while (start > 0 && end - start < 24 && text.charCodeAt(start - 1) > 64) start -= 1;
  const word = text.slice(start, end + 1);
  return LEADING_WORD.test(word) || STREET_WORD.test(word);
}

function streetBefore(text: string, at: number): Finding | null {
  if (!mayFollowStreet(text, at)) return null;
  const whole = text.slice(Math.max(0, at - FAR), at);
  const stretch = whole.replace(BETWEEN, '');
  if (!/[\p{L}.]$/u.test(stretch)) return null;
  const house = matchAt(HOUSE, text, at);
  if (house === null) return null;
  const end = at + house[0].length;
  const line = stretch.slice(stretch.lastIndexOf('\n') + 1);
  const street = (mayBeStreet(stretch) ? lastStreet(line) : null) ?? namedStreet(line, text, end);
  if (street === null) return null;
  const start = at - (whole.length - stretch.length) - (line.length - street);
  return address(text, start, end, 0.85);
}

/** `Am Alten Markt 12, 50667 Köln`: any name, where a postal code follows. */
const NAMED_AT_END = new RegExp(
  `(?:^|[\\s,;:("'])((?:Am|An der|An den|Auf der|Auf dem|Im|In der|In den|Zum|Zur|Unter den|Vor dem)(?: ${NAME}){1,3} ?)$`,
  'u',
);
const CODE_BEHIND = /,? (?:[A-Z]-)?\d{4,5} \p{Lu}/uy;
const STREET_AT_END = new RegExp(`(?:^|[\\s,;:("'])(${STREET_BEFORE.source})$`, 'u');

/** Where the street begins that the line ends with; null: it ends with none. */
function lastStreet(line: string): number | null {
  const match = STREET_AT_END.exec(line);
  const street = match?.[1] ?? null;
  if (match === null || street === null || !/\p{Lu}/u.test(street)) return null;
  // `Platz 3` is a rank, and `Weg 2` the other way.
  return STREET_WORD.test(street) && !/^.*\p{L}.*[ -].*\p{L}|\p{L}{7}/u.test(street)
    ? null
    : line.length - street.length;
}

function namedStreet(line: string, text: string, end: number): number | null {
  if (matchAt(CODE_BEHIND, text, end) === null) return null;
  const street = NAMED_AT_END.exec(line)?.[1] ?? null;
  return street === null ? null : line.length - street.length;
}

/** The box whose word ends at `end`, or null. */
export function boxAt(text: string, word: string, end: number): Finding | null {
  for (const lead of word.startsWith('box') ? [8, 7, 6, 5, 4, 3] : [0]) {
    const start = Math.max(0, end - word.length - lead);
    const match = matchAt(BOX, text, start);
    if (match !== null) return address(text, start, start + match[0].length, 0.8);
  }
  return null;
}

function address(text: string, start: number, end: number, confidence: number): Finding {
  let until = end;
  for (const part of BEHIND) {
    const match = matchAt(part, text, until);
    if (match !== null) until += match[0].trimEnd().length;
  }
  // The full stop of a sentence, not of `St.`
  const isFullStop =
    text[until - 1] === '.' &&
    !/(?:St|Ave|Rd|Blvd|Ln|Dr|Ct|Pl|Sq|Str|str)\.$/.test(text.slice(until - 6, until));
  const stretch = { start, end: isFullStop ? until - 1 : until };
  return findingOf('ADDRESS', stretch, confidence, 'a house number beside a street');
}
