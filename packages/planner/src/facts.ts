/**
 * What the user's words state about the user, found by patterns in English and German.
 *
 * The hub checks that each value stands in the user's own words (`hub/memory/facts`).
 */

import { type FactKind, KIND_WORDS, kindNamed } from '@cordon/hub/fact-names';
import type { Fact } from '@cordon/hub/facts';

/** More of a value is cut off. */
const MOST_OF_A_VALUE = 500;

/** The names and values that a text states, in its order. */
export function statedFacts(text: string): readonly Fact[] {
  return clausesOf(text).flatMap((clause) => stated(clause) ?? []);
}

/** Part of a sentence that can state one fact. */
interface Clause {
  readonly text: string;
  readonly isAsked: boolean;
}

const WORDS = KIND_WORDS.join('|');
const SENTENCE_END = /(?<=[.!?;])(?<!\b(?:St|Dr|Mr|Mrs|Ms|Prof|Str|No|Nr|\d{1,2})\.)\s+|\n+/u;
const SPEAKER = `(?:my|i|i['’]m|mein|meine|ich)(?![\\p{L}'’])`;
const REQUEST =
  '(?:what|which|how|where|when|who|why|can|could|would|will|is|are|do|does|please|was|wie|wo|wann|wer|warum|kannst|könntest|bitte)(?!\\p{L})';
/** Where one statement ends and the next begins; what looks ahead is bounded. */
const NEXT_STATEMENT = new RegExp(
  `(?:,?\\s(?:and|but|und|aber)\\s|,\\s)(?=${SPEAKER})|,\\s(?=${REQUEST})|,\\s(?=\\p{L}[\\p{L} _-]{0,40}\\s?=)|[,:]\\s(?=(?:${WORDS})\\s?:)`,
  'iu',
);

function clausesOf(text: string): readonly Clause[] {
  return text.split(SENTENCE_END).flatMap((sentence) => {
    const isAsked = sentence.trimEnd().endsWith('?');
    const clauses = sentence.split(NEXT_STATEMENT);
    // A question stands at the end: `My city is Turin, what is the weather?`
    return clauses.map((text, at) => ({ text: text.trim(), isAsked: isAsked && at === clauses.length - 1 }));
  });
}

const ASSIGNMENT = /(?<![\p{L}\p{N}&?_-])(\p{L}[\p{L} _-]{0,40}?)\s?=(?!=)\s*(.+)$/u;
const LABELLED = new RegExp(`^(?:[-*•]\\s)?(${WORDS})\\s?:\\s*(.+)$`, 'iu');
const POSSESSED = /(?<!\p{L})(?:my|meine?) (\p{L}[\p{L} _-]{0,40}?) (?:is|are|ist|sind|lautet):?\s+(.+)$/iu;
const CONDITION = /^(?:if|when|whether|wenn|falls|ob)\s/iu;
const LIVES = /^(?:[Ii] (?:currently |now )?live|[Ii]ch (?:wohne|lebe)) in (.+)$/u;
const CALLED = /^[Ii]ch hei(?:ß|ss)e (.+)$/u;
const PREFERS = /^(?:[Ii] (?:always |usually |generally )?prefer|[Ii]ch bevorzuge) (.+)$/u;
const BORN = /^(?:[Ii] was born on|[Ii]ch bin am) (.{4,60}?)(?: geboren)?[.!]?$/u;
const AM = /^(?:[Ii]['’]m|[Ii] am|[Ii]ch bin) (.+)$/u;

function stated({ text, isAsked }: Clause): Fact | null {
  const assigned = ASSIGNMENT.exec(text);
  if (assigned !== null) return fact(assigned[1] ?? '', withoutEnd(assigned[2] ?? ''));
  const labelled = LABELLED.exec(text);
  if (labelled !== null) return kindFact(labelled[1] ?? '', labelled[2] ?? '');
  if (isAsked || CONDITION.test(text)) return null;
  const possessed = POSSESSED.exec(text);
  if (possessed !== null) {
    const [, name = '', value = ''] = possessed;
    return isAttribute(name) || isNameOrNumber(value) ? kindFact(name, value) : null;
  }
  return aboutSpeaker(text);
}

function aboutSpeaker(text: string): Fact | null {
  const preferred = PREFERS.exec(text)?.[1];
  if (preferred !== undefined) return kindFact('preference', preferred);
  const called = CALLED.exec(text)?.[1];
  if (called !== undefined) return kindFact('name', called);
  const born = BORN.exec(text)?.[1];
  if (born !== undefined && /\d/.test(born)) return kindFact('birth-date', born);
  const place = PLACE.exec(LIVES.exec(text)?.[1] ?? '')?.[0];
  if (place !== undefined) return fact(isCountry(withoutEnd(place)) ? 'country' : 'city', withoutEnd(place));
  const name = PERSON.exec(AM.exec(text)?.[1] ?? '')?.[1];
  return name !== undefined && isPersonName(name, text) ? fact('name', name) : null;
}

/** `my flight is late` is no fact. What is one ends in a word for a kind, or is preferred, or is called or counted. */
function isAttribute(name: string): boolean {
  const words = name.toLowerCase().split(' ');
  const isOfKind = words.some((_, from) => kindNamed(words.slice(from).join(' ')) !== null);
  return isOfKind || /^(?:favou?rite|preferred|bevorzugte?)$/iu.test(words[0] ?? '');
}

function isNameOrNumber(value: string): boolean {
  return /^["“„«]?[\p{Lu}\d]/u.test(value);
}

/** A capitalised place of up to five words: `Frankfurt am Main`. */
const PLACE =
  /^\p{Lu}[\p{L}'’.-]*(?:\s(?:(?:am|an|auf|der|de|del|di|la|le|upon|on)\s)?\p{Lu}[\p{L}'’.-]*){0,4}/u;
/** Capitalised words up to the end of the statement. */
const PERSON = /^(\p{Lu}[\p{L}'’-]*(?:\s\p{Lu}[\p{L}'’.-]*){0,3})(?=[.!,]?$|,| from )/u;
/** `I'm German`: one capitalised word may be where somebody is from, or what somebody believes. */
const ADJECTIVE =
  /(?:ish|ese|ian|ean|can|ch|ic|ist|im)$|^(?:German|Greek|Swiss|Turk|Dane|Swede|Finn|Thai|Iraqi|Israeli|Pakistani|Scot|Jew|Hindu|OK|Ok|Sorry|Fine|Back|Here|Not)$/u;

function isPersonName(name: string, text: string): boolean {
  // In German every noun is capitalised: `Ich bin Student`.
  return name.includes(' ') || (!ADJECTIVE.test(name) && !/^ich/iu.test(text));
}

let countries: ReadonlySet<string> | null = null;

function isCountry(place: string): boolean {
  countries ??= new Set(['en', 'de'].flatMap(countryNames));
  return countries.has(place);
}

function countryNames(language: string): readonly string[] {
  const names = new Intl.DisplayNames([language], { type: 'region', fallback: 'none' });
  const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];
  return letters.flatMap((a) => letters.flatMap((b) => names.of(`${a}${b}`) ?? []));
}

/** A value of a named attribute, up to where something else begins. */
function kindFact(name: string, rest: string): Fact | null {
  const value = statedValue(kindNamed(name), rest);
  return value === null ? null : fact(name, value);
}

const MAIL_ADDRESS = /[^\s@<>,;"“”]{1,64}@[^\s@<>,;"“”]{1,190}/u;
const PHONE_NUMBER = /\+?[\d(][\d ()./-]{4,29}/u;
const NO_NAME = /^(?:not|on|in|at|the|a|an|already|too|of|nicht|auf|die|der|das)\s/iu;

function statedValue(kind: FactKind | null, rest: string): string | null {
  switch (kind) {
    case 'email':
      return withoutEnd(MAIL_ADDRESS.exec(rest)?.[0] ?? '');
    case 'phone':
      return withoutEnd(PHONE_NUMBER.exec(rest)?.[0] ?? '');
    case 'address':
    case 'birth-date':
      return before(rest, /,\s(?![\p{Lu}\d])|\s(?:and|but|so|und|aber)\s/u);
    case 'name':
      return NO_NAME.test(rest) ? null : before(rest, /,\s|\s(?:and|but|so|from|und|aber)\s/u);
    case 'city':
    case 'country':
    case 'postal-code':
      return NO_NAME.test(rest) ? null : before(rest, /,\s|\s(?:and|but|so|und|aber)\s/u);
    case 'preference':
      return before(rest, /,\s(?:so|please|but|because|and|bitte|aber|also)\s/u);
    case 'language':
    case null:
      return before(rest, /,\s/u);
    default:
      return kind satisfies never;
  }
}

function fact(name: string, value: string): Fact {
  return { name, value };
}

function before(text: string, end: RegExp): string {
  return withoutEnd(text.split(end, 1)[0] ?? '');
}

/** Without the signs that end a sentence, and quotation marks around it. */
function withoutEnd(text: string): string {
  return text
    .trim()
    .slice(0, MOST_OF_A_VALUE)
    .replace(/[\s.,;:!?"'`“”„‘’‚«»‹›]{1,20}$/u, '')
    .replace(/^["'`“„‘‚«»‹›]/u, '');
}
