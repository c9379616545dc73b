/**
 * Facts that the user stated: the entities of the paper (Appendix A-C1), each a name and a value. Here they are found by
 * patterns, in English and German, and what a model found (`learning.ts`) is checked.
 *
 * INVARIANT (own words): a fact's value stands, word for word, in the user's own words. No word of an app, and nothing that a
 * model made up, becomes a fact.
 *
 * Ring 0.
 */
import { isJsonObject, type Json, type JsonSchema, misfitOfData, parseJson } from '@cordon/core';
import { holdsWord } from '../context/session-texts.ts';
import { unquotedText } from '../context/unquoted-text.ts';
import { entityName, type FactKind, KIND_WORDS, kindNamed } from './entity-name.ts';

export interface Fact {
  readonly name: string;
  readonly value: string;
}

const MAX_FACTS = 40;
const MAX_VALUE = 500;

/** The facts that patterns find in a message. Of two values of one name the last counts. */
export function factsIn(message: string): readonly Fact[] {
  const found = new Map<string, string>();
  for (const clause of clausesOf(unquotedText(message))) {
    const fact = stated(clause);
    if (fact !== null && found.size < MAX_FACTS) found.set(fact.name, fact.value);
  }
  return [...found].map(([name, value]) => ({ name, value }));
}

/** What a model answers that is asked for the facts of a message. */
export const FACTS_SCHEMA: JsonSchema = {
  type: 'object',
  properties: {
    facts: {
      type: 'array',
      items: {
        type: 'object',
        properties: { name: { type: 'string' }, value: { type: 'string' } },
        required: ['name', 'value'],
        additionalProperties: false,
      },
    },
  },
  required: ['facts'],
  additionalProperties: false,
};

/** The pairs of a model's answer that are facts, by the invariant above; none where it is no such answer. */
export function factsFrom(answer: string, message: string): readonly Fact[] {
  const json = answer.slice(answer.indexOf('{'), answer.lastIndexOf('}') + 1);
  const parsed = parseJson(json);
  const listed = parsed.ok && isJsonObject(parsed.value) ? parsed.value.facts : undefined;
  if (!Array.isArray(listed)) return [];
  const words = unquotedText(message);
  const found = new Map<string, string>();
  for (const entry of listed.slice(0, MAX_FACTS)) {
    const fact = pairOf(entry);
    if (fact !== null && holdsWord(words, words, fact.value)) found.set(fact.name, fact.value);
  }
  return [...found].map(([name, value]) => ({ name, value }));
}

/** Whether a value that is kept as a fact can have come from a message. */
export function isStatedIn(value: string, message: string): boolean {
  return holdsWord(message, message, value);
}

function pairOf(entry: Json): Fact | null {
  if (!isJsonObject(entry)) return null;
  const { name, value } = entry;
  return typeof name === 'string' && typeof value === 'string' ? factOf(name, value.trim()) : null;
}

/** A name that is no path and no sentence: `app/name` is the name of what an app said. */
const NAME = /^\p{L}[\p{L}\p{N} _-]{0,40}$/u;
/** Attack: what opens an account is offered to an app as a fact. */
const SECRET =
  /pass ?(?:w[oö]rd|w[oö]rt|phrase|code|key)|kennw[oö]rt|\bpins?\b|\bpin ?code|\bp(?:w|wd|asswd)\b|\b[tp]ans?\b|\bcv[cv]\d?\b|secret|token|credential|api ?key|private key|wi-?fi key|(?:credit|debit) ?card|kreditkarte|(?:login|security|access|recovery|verification) ?code/iu;
/** Attack: a name that looks like another one: `password` with a letter of another alphabet. */
const MIXED = /(?=.*\p{Script=Latin})(?=.*[\p{Script=Cyrillic}\p{Script=Greek}])/u;

/** Null: the name is none, or the value is not of the kind that the name stands for. */
function factOf(named: string, value: string): Fact | null {
  const name = entityName(named);
  if (
    !NAME.test(name) ||
    MIXED.test(name) ||
    SECRET.test(name.replace(/[_-]+/g, ' ')) ||
    value === '' ||
    value.length > MAX_VALUE
  )
    return null;
  return misfit(kindNamed(name), value) ? null : { name, value };
}

function misfit(kind: FactKind | null, value: string): boolean {
  // Attack: a value that shows as another one: direction marks, characters without width.
  if (/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(value)) return true;
  if (kind === null) return false;
  // The user says a date in words; as text it is one line like any other.
  return misfitOfData(kind === 'birth-date' ? 'preference' : kind, value) !== null;
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
  if (assigned !== null) return factOf(assigned[1] ?? '', withoutEnd(assigned[2] ?? ''));
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
  if (place !== undefined)
    return factOf(isCountry(withoutEnd(place)) ? 'country' : 'city', withoutEnd(place));
  const name = PERSON.exec(AM.exec(text)?.[1] ?? '')?.[1];
  return name !== undefined && isPersonName(name, text) ? factOf('name', name) : null;
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
  return value === null ? null : factOf(name, value);
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

function before(text: string, end: RegExp): string {
  return withoutEnd(text.split(end, 1)[0] ?? '');
}

/** Without the signs that end a sentence, and quotation marks around it. */
function withoutEnd(text: string): string {
  return text
    .trim()
    .slice(0, MAX_VALUE)
    .replace(/[\s.,;:!?"'`“”„‘’‚«»‹›]{1,20}$/u, '')
    .replace(/^["'`“„‘‚«»‹›]/u, '');
}
