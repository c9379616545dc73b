/**
 * Persons, places and organisations in English text: words with a capital, known names, and what stands around them. No
 * grammar and no model: a name that is no known one is found only where something says that it is one (a title, a
 * greeting, `my name is`, a verb of saying). Signals; `docs/detectors.md` has the figures.
 */
import { type Finding, findingOf, type Stretch } from '../../text/finding.ts';
import { once } from '../../text/on-demand.ts';
import { unitsOf } from '../../text/text-units.ts';
import { wordList, wordSet } from '../../text/words.ts';
import { type NameLists, nameLists } from './name-lists.ts';
import { type NameSigns, nameStretches, WordFilter } from './name-stretches.ts';

interface Word extends Stretch {
  readonly text: string;
  readonly lower: string;
}

/** Words with a capital that stand together, perhaps with `von`, `de la` between them. */
interface Run {
  readonly words: readonly Word[];
  readonly opensSentence: boolean;
}

const CAPITAL =
  "(?:(?:Mr|Mrs|Ms|Mx|Dr|Prof|Sr|Sra|Hr|Fr|St|Mt|Capt|Lt|Col|Gen|Sgt|Rev|Hon|Gov|Sen|Rep|Sig|Dott|Inc|Ltd|Corp|Co|Jr)\\.|\\p{Lu}(?:\\.(?:\\p{Lu}\\.)*|[\\p{L}\\p{M}]*(?:['’-]\\p{L}[\\p{L}\\p{M}]*)*))";
const PARTICLE =
  '(?:van der|van den|van|von|de la|de los|de|del|della|di|da|dos|das|do|du|der|den|ter|ten|bin|ibn|al|el|la|le|of the|of|and|&)';
const RUN = new RegExp(`${CAPITAL}(?: (?:${PARTICLE} )?${CAPITAL}){0,7}`, 'gu');
const WORD = new RegExp(CAPITAL, 'gu');

/** Everything of these kinds, in the order of its start. */
export function findNames(text: string): readonly Finding[] {
  const lists = nameLists();
  const found: Finding[] = [];
  for (const { 0: run, index } of runsIn(text))
    if (!isOfOther(text, index, run)) found.push(...namesIn(runOf(text, index, run), text, lists));
  return found;
}

/** A part of a word, an address or a path, or a name of a program. */
function isOfOther(text: string, start: number, run: string): boolean {
  const isBehind = /[\p{L}\p{N}_@#/\\.$-]/u.test(text[start - 1] ?? ' ');
  if (isBehind && !/[.,;:!?]\p{Lu}/u.test(text.slice(start - 1, start + 1))) return true;
  return /[_@(]/.test(text[start + run.length] ?? ' ') && run.length < 40 && !run.includes(' ');
}

/** The runs of all stretches that may hold a name; the others hold none. */
function* runsIn(text: string): Generator<RegExpExecArray> {
  const finder = new RegExp(RUN);
  for (const { start, end } of nameStretches(text, signsOfNames())) {
    finder.lastIndex = start;
    while (finder.lastIndex < end) {
      const run = finder.exec(text);
      if (run === null || run.index >= end) break;
      yield run;
    }
  }
}

/** Every name that is found has a word of these in it, or is announced, or does something. */
const signsOfNames = once(
  (): NameSigns => ({ words: new WordFilter(wordsOfNames(nameLists())), isAnnounced, isTelling }),
);

function wordsOfNames({ first, last, persons, places, organisations }: NameLists): readonly string[] {
  const listed = [first, last, persons, places, organisations, NAMES_AND_WORDS, TITLES, SUFFIXES];
  const others = [PLACE_KINDS, PLACE_STARTS, OF_SUFFIX].flatMap(
    ({ source }) => source.match(/[a-z]+/g) ?? [],
  );
  return [...listed.flatMap((list) => [...list]), ...others];
}

/** The last words of what names someone (`SURELY_NAMING`, `NAMING_WITHIN`), without the sign behind them. */
const LAST_BEFORE = new WordFilter(
  wordList(
    's is was name am m attn dear regards sincerely cheers hi hello hey liebe lieber bonjour hola patient cardholder passenger guest attendee attendees participant participants contact customer client employee assignee reporter author owner wife husband brother sister son daughter colleague friend named by to of',
  ),
);
/** Characters before a name that are asked whether they announce it. */
const BEFORE = 40;

/** What announces names, if the text ends there as something that does. */
function isAnnounced(text: string, at: number): boolean {
  let end = at;
  while (at - end < 2 && isOneOf(text, end - 1, ' \n')) end--;
  const isQuoted = text[end - 1] === '"' && /[:\s]/.test(text[end - 2] ?? '-');
  if (!isQuoted) {
    for (let sign = 0; sign < 2 && isOneOf(text, end - 1, ':,.'); sign++) end--;
    const letters = text.charCodeAt(end - 1);
    if (letters < 0x80 && !LAST_BEFORE.hasBefore(text, end)) return false;
  }
  return isNamedBefore(text.slice(Math.max(0, at - BEFORE), at));
}

function isOneOf(text: string, at: number, characters: string): boolean {
  return characters.includes(text[at] ?? '-');
}

/** What follows the name of a person, by its first letter and with its letters; `SAYING` decides. */
const TELLING: ReadonlyMap<number, readonly Uint16Array[]> = Map.groupBy(
  ['said', 'told', 'asked', 'wrote', 'replied', 'says'].map(unitsOf),
  ([first = 0]) => first,
);

function isTelling(units: Uint16Array, at: number): boolean {
  const words = TELLING.get(units[at] ?? 0);
  return words?.some((word) => word.every((unit, index) => units[at + index] === unit)) ?? false;
}

function runOf(text: string, start: number, run: string): Run {
  const all = [...run.matchAll(WORD)].map(
    (match): Word => ({
      text: match[0],
      lower: match[0].toLowerCase().replace(/(?:['’]s|\.)$/, ''),
      start: start + match.index,
      end: start + match.index + match[0].replace(/['’]s$/i, '').length,
    }),
  );
  // What continues in digits is a code, not a word.
  const words = /[\p{L}\p{N}]/u.test(text[start + run.length] ?? ' ') ? all.slice(0, -1) : all;
  return {
    words,
    opensSentence: /(?:^|[.!?:•*|>"“]\s*|\n\s*(?:[-*\d.]+\s*)?)$/u.test(
      text.slice(Math.max(0, start - 4), start),
    ),
  };
}

function namesIn(run: Run, text: string, lists: NameLists): readonly Finding[] {
  const found: Finding[] = [];
  const { words } = run;
  for (let at = 0; at < words.length; ) {
    const taken =
      organisationAt(run, at, text, lists) ?? personAt(run, at, text, lists) ?? placeAt(run, at, text, lists);
    if (taken === null) at += 1;
    else {
      found.push(taken.finding);
      at += taken.words;
    }
  }
  return found;
}

interface Taken {
  readonly finding: Finding;
  readonly words: number;
}

function taken(kind: string, words: readonly Word[], confidence: number, reason: string): Taken | null {
  const [first, last] = [words[0], words.at(-1)];
  if (first === undefined || last === undefined) return null;
  const stretch = { start: first.start, end: last.end };
  return { finding: findingOf(kind, stretch, confidence, reason), words: words.length };
}

// ── persons ─────────────────────────────────────────────────────────────────────────────────────────────────────

const TITLES = wordSet(
  'mr mrs ms miss mx dr prof professor sir madam lady lord dame captain capt colonel major sergeant lieutenant general judge justice senator president chancellor minister governor mayor herr frau fräulein dott monsieur madame mme mlle señor señora señorita sr sra srta don doña signor signora sig senhor senhora pan pani aunt uncle sister brother father pastor rabbi imam king queen prince princess nurse officer detective inspector',
);
/** Stand before a name and are no part of it. */
const OPENERS = wordSet(
  'dear hi hello hey hallo liebe lieber sehr bonjour salut hola querido querida estimado ciao caro cara olá thanks thank regards cheers sincerely best yours from to cc bcc by attn contact name author assignee reporter owner customer client patient employee manager signed ask tell call email meet meeting with and or but if when while then yes no ok okay please let also so since until after before because although however the this that these those our your my his her their its who what where why how is are was were will would can could should may might must do does did has have had not here there today tomorrow yesterday now next last new user assistant',
);
/** First names that are words, months, places or brands more often than persons. */
const AMBIGUOUS = wordSet(
  'chelsea will mark bill grace rose may april june august chase hope faith joy art rich drew frank max ray sue pat dawn summer autumn jordan paris sydney austin charlotte florence georgia virginia carolina victoria dakota madison lincoln houston dallas kent chad india china america london berlin sky star angel destiny harmony melody ivy lily violet olive pearl ruby jade amber crystal iris daisy heather holly hazel ginger rocky buddy sunny christian guy gene jack king prince major bishop dean earl duke baron hunter mason cooper parker taylor porter carter tyler sailor page stone brook river rain forest glen cliff heath dale lane ford reed wade gale sage basil rod rob don van bo so in my an long kim see nova alexa siri echo mercedes porsche carmen java ada julia ruby pascal scala elm haskell perl go swift rust delphi crystal nim clojure cy santa august monday tuesday wednesday thursday friday saturday sunday march mercury jan la le el de da do di al bin ten no man ali ma he she wu an mia nor nur ming hui bo hu ling tao lei linh precious royal noble justice freedom legend maverick ace ash bay chance cash cruz fox gray grey green brown black white young hill wood woods bell cook baker miller fisher park parks ward page day knight church french english german english west north south east bond banks love best rush price case case cross field fields fall winter spring star genesis trinity heaven nevada salem milan roman marina savannah lisbon troy vienna siena cairo phoenix denver orlando memphis adelaide perth israel kenya cuba asia ireland london boston brooklyn camden aspen alma era esperanza fe luz mar paz sol chelsea chelsey kelsey',
);
/** Of these, the ones that persons are called. */
const NAMES_AND_WORDS = wordSet(
  'will mark bill grace rose may april june august chase hope faith joy art rich drew frank max ray sue pat dawn summer autumn jordan paris sydney austin charlotte florence georgia virginia carolina victoria dakota madison lincoln dallas kent chad india angel melody ivy lily violet olive pearl ruby jade amber crystal iris daisy heather holly hazel rocky christian guy gene jack dean earl hunter mason cooper parker taylor carter tyler river reed wade basil rod rob don chelsea alexa carmen ada julia sofia regina',
);
/** Words with a capital that are never a surname. */
const NO_SURNAME = wordSet(
  'the a an and or of in on at by for from to with as is are was were be been i we you he she it they this that these those there here when where who what why how if but not no yes so then than because monday tuesday wednesday thursday friday saturday sunday january february march april may june july august september october november december inc ltd llc corp gmbh ag co street st avenue ave road rd lane drive court square university college school hospital bank hotel airport station church museum park river lake mountain island city county state department ministry team group project api url http https json xml sql html css pdf csv id uuid usa uk eu new old north south east west street street hi hello dear thanks regards re fwd cc subject date sent invoice order street email phone tel fax mobile address meeting call friday note please am pm utc gmt est pst cet',
);
const SAYING =
  /^(?:['’]s\b|,? (?:said|says|told|tells|asked|asks|wrote|writes|replied|replies|added|thinks|wants|wanted|likes|called|calls|emailed|agreed|confirmed|mentioned|suggested|explained|noted|answered|works|worked|lives|lived|joined|left|sent|will be|is (?:a|an|the|our|my|on|at|not|out|going|coming|leaving)|was (?:a|an|the|born|hired|there|not)|has (?:a|been|not|to)|had (?:a|been|to)|and (?:I|me|his|her)\b|who\b|\(?(?:he|she|they)\/|and \p{Lu}\p{Ll}+ (?:are|were|will|have|met|said))\b)/u;
/** What stands before a name and says that it is one. */
const NAMING =
  /(?:(?:my|his|her|their|the|your)? ?(?:full |first |last )?name(?:['’]s| is| was|:)|\b(?:named|called|i am|i['’]m|this is|it['’]s|signed by|written by|reported by|assigned to|approved by|on behalf of|attn\.?:?|c\/o|regards,?|sincerely,?|cheers,?|love,?|thanks,?|best,?|wishes,?|greetings,?|yours,?|dear|hi|hello|hey|hallo|liebe|lieber|bonjour|hola|ciao)|\b(?:author|assignee|reporter|owner|customer|client|patient|employee|manager|contact|sender|recipient|attendees?|participants?|cardholder|account holder|passenger|guest|signature|from|to|cc|met|tell|told|ask|asked|invite|invited|email|emailed|call|called|with|by|and|for|friend|colleague|boss|wife|husband|brother|sister|son|daughter|mother|father|ceo|cto|cfo|director|engineer|doctor|lawyer|nurse|teacher)[:,]?|"(?:first_?|last_?|full_?|display_?|user_?|customer_?|given_?|family_?)?name"\s?:\s?")[ \n]{0,2}$/iu;
/** Of these, the ones after which even an unknown word with a capital is a name. */
const SURELY_NAMING =
  /(?:\bname(?:['’]s| is| was|:)|"(?:first_?|last_?|full_?|display_?|customer_?|given_?|family_?)name"\s?:\s?"|\b(?:i am|i['’]m|attn\.?:?|dear|regards,|sincerely,|cheers,|hi|hello|hey|liebe|lieber|bonjour|hola|patient:?|cardholder:?|passenger:?|guest:|attendees?:|participants?:|contact:|customer:|client:|employee:|assignee:|reporter:|author:|owner:|wife|husband|brother|sister|son|daughter|colleague|friend))[ \n]{0,2}$/iu;

/** In lower case: at the beginning of a title, `Named` is an adjective. */
const NAMING_WITHIN =
  /\b(?:named|signed by|written by|reported by|assigned to|approved by|on behalf of)[ \n]{1,2}$/u;

function isNamedBefore(before: string): boolean {
  return SURELY_NAMING.test(before) || NAMING_WITHIN.test(before);
}

function personAt({ words, opensSentence }: Run, at: number, text: string, lists: NameLists): Taken | null {
  const word = words[at];
  if (word === undefined) return null;
  if (isTitle(word) && words.length > at + 1) {
    const name = extend(words, at + 1, lists, text);
    return name.length === 0 ? null : afterTitle(word, name);
  }
  const next = words[at + 1];
  const isFullName = next !== undefined && isFirstName(word, lists) && lists.last.has(next.lower);
  const mayOpen = opensSentence && at === 0;
  // Within a sentence, a word that is a name too has a capital only as a name.
  const isWord =
    (isOpener(word) || NO_SURNAME.has(word.lower)) && (mayOpen || !isFirstName(word, lists) || isMonth(word));
  if (!isFullName && isWord) return null;
  const name = extend(words, at, lists, text);
  const [first, second] = name;
  if (first === undefined) return null;
  const before = text.slice(Math.max(0, first.start - BEFORE), first.start);
  const behind = text.slice(name.at(-1)?.end ?? first.end, (name.at(-1)?.end ?? first.end) + 24);
  const whole = name.map(({ lower }) => lower).join(' ');
  if (lists.persons.has(whole)) return taken('PERSON', name, 0.95, 'a known person');
  const isFirst = isFirstName(first, lists);
  const isSure = isFirst && !AMBIGUOUS.has(first.lower);
  if (second !== undefined) {
    if (lists.places.has(whole) || lists.organisations.has(whole)) return null;
    if (PLACE_KINDS.test(second.lower) && !lists.last.has(second.lower)) return null;
    const hasLast = name.slice(1).some(({ lower }) => lists.last.has(lower));
    if (isFirst && hasLast) return taken('PERSON', name, 0.95, 'a first and a last name');
    const isWithin = isFirst && !mayOpen && areNameLike(name);
    if (isSure || isWithin || (isFirst && NAMING.test(before)))
      return taken('PERSON', name, 0.85, 'a first name, and a word with a capital');
    if (hasLast && !isCommonStart(first, mayOpen) && !lists.places.has(first.lower))
      return taken('PERSON', name, 0.65, 'a last name behind a word with a capital');
    if (isNamedBefore(before) && areNameLike(name))
      return taken('PERSON', name, 0.7, 'what stands before it names somebody');
    return SAYING.test(behind) &&
      /^['’]?,? ?(?:said|told|asked|wrote|replied|says)/.test(behind.trimStart()) &&
      areNameLike(name)
      ? taken('PERSON', name, 0.6, 'it says something')
      : null;
  }
  if (
    lists.places.has(first.lower) &&
    !isNamedBefore(before) &&
    !(NAMING.test(before) && NAMES_AND_WORDS.has(first.lower) && !PLACE_BEFORE.test(before))
  )
    return null;
  if (isSure) return taken('PERSON', name, /^[A-Z]{2,}$/.test(first.text) ? 0.5 : 0.75, 'a first name');
  if (isNamedBefore(before) && (isFirst || lists.last.has(first.lower) || isLoneName(first)))
    return taken('PERSON', name, 0.65, 'what stands before it names somebody');
  const isSaying = SAYING.test(behind);
  const isSaid = isSaying && /^(?:['’]s|,? (?:said|told|asked|wrote|replied|says))/.test(behind);
  if (isFirst && !isMonth(first) && (isSaid || (!mayOpen && (NAMING.test(before) || isSaying))))
    return taken('PERSON', name, 0.6, 'a first name that is also a word');
  const isLast = lists.last.has(first.lower) && first.text.length > 3 && !AMBIGUOUS.has(first.lower);
  return isLast && isSaid ? taken('PERSON', name, 0.55, 'a last name that says something') : null;
}

/** `Jean-Luc` is one where `Jean` is. */
function isFirstName({ lower }: Word, { first }: NameLists): boolean {
  return first.has(lower) || first.has(lower.split('-')[0] ?? lower) || NAMES_AND_WORDS.has(lower);
}

/** Words at the beginning of sentences, and those that are drawn together: `I'm`, `It's`, `Let's`. */
function isOpener({ text, lower }: Word): boolean {
  return (
    OPENERS.has(lower) ||
    /^(?:I|It|He|She|We|You|They|That|There|What|Who|Where|Here|Let|How|Don|Can|Won|Isn|Didn|Doesn)['’]/.test(
      text,
    ) ||
    text === 'I'
  );
}

function isTitle({ lower }: Word): boolean {
  return TITLES.has(lower);
}

/** The title counts as read, and is no part of the name. */
function afterTitle(title: Word, name: readonly Word[]): Taken | null {
  const found = taken(
    'PERSON',
    name,
    title.text.endsWith('.') || name.length > 1 ? 0.9 : 0.8,
    'a title stands before it',
  );
  return found === null ? null : { ...found, words: found.words + 1 };
}

const LONGEST = 4;

/** The words from `at` that can be one name: not over a comma, an organisation's word or its own place. */
function extend(words: readonly Word[], at: number, lists: NameLists, text: string): readonly Word[] {
  const name: Word[] = [];
  for (const word of words.slice(at, at + LONGEST)) {
    const last = name.at(-1);
    if (last !== undefined && !isJoined(text.slice(last.end, word.start))) break;
    if (NO_SURNAME.has(word.lower) || SUFFIXES.has(word.lower) || isTitle(word)) break;
    if (name.length > 1 && (lists.places.has(word.lower) || isOpener(word))) break;
    if (last !== undefined && isOpener(word)) break;
    name.push(word);
    // `John's MacBook`: what belongs to someone is no part of the name.
    if (/['’]s$/.test(word.text)) break;
  }
  while (name.length > 0 && /^\p{Lu}\.$/u.test(name.at(-1)?.text ?? '')) name.pop();
  return name;
}

function isJoined(between: string): boolean {
  return !/\n|\band\b|&|\bof\b/.test(between);
}

function isCommonStart({ lower }: Word, opensSentence: boolean): boolean {
  return opensSentence && !nameLists().first.has(lower);
}

function areNameLike(name: readonly Word[]): boolean {
  return name.every(
    ({ text }) =>
      /^\p{Lu}(?:\.$|[\p{Ll}\p{M}]*(?:\p{Lu}\p{Ll}+)?(?:['’-]\p{L}[\p{Ll}\p{M}]*)*$)/u.test(text) &&
      !/^\p{Lu}$/u.test(text),
  );
}

function isLoneName({ text, lower }: Word): boolean {
  return (
    /^\p{Lu}\p{Ll}{2,14}$/u.test(text) &&
    !/(?:ing|tion|ment|ness|able|ible|ful|less|ous|ed|ly|er|ers|ists?|ity)$/.test(lower) &&
    !COMMON.has(lower)
  );
}

const COMMON = wordSet(
  'all everyone everybody team guys folks there sir madam friends colleagues customer customers user users support sales marketing admin hiring manager students parents class world again back group community family happy sorry sure glad not just also very here going working looking writing trying from available excited interested able ready afraid aware',
);

function isMonth({ lower }: Word): boolean {
  return /^(?:march|april|may|june|july|august)$/.test(lower);
}

// ── places ──────────────────────────────────────────────────────────────────────────────────────────────────────

const PLACE_KINDS =
  /^(?:city|county|island|islands|valley|river|lake|mountain|mountains|bay|beach|province|peninsula|canyon|desert|falls|creek|harbor|harbour|heights|springs|village|republic|kingdom)$/;
const PLACE_STARTS = /^(?:mount|mt|lake|cape|port|fort|isle)\.?$/;
/** Names of places that are also those of persons, or words: a place only behind these. */
const PLACE_BEFORE =
  /(?:\b(?:in|at|from|to|near|of|via|into|through|towards?|around|visit|visiting|visited|reach|leave|leaving|left|for|across|outside|between|city|country|state|region|location|address|lives? in|born in|based in)|[\p{L}],)[ \n]$|"(?:city|country|state|region|location|place|town)"\s?:\s?"$/iu;
const AMBIGUOUS_PLACES = wordSet(
  'jordan chad georgia turkey china sydney paris austin charlotte florence virginia victoria madison lincoln houston dallas kent milan sofia salem troy cork lima essex york orlando cuba mali peru guinea granada alexandria santiago salvador san antonio medina carolina dakota washington boston denver israel phoenix',
);

function placeAt({ words }: Run, at: number, text: string, lists: NameLists): Taken | null {
  const first = words[at];
  if (first === undefined) return null;
  const before = text.slice(Math.max(0, first.start - 24), first.start);
  for (let count = Math.min(lists.starts.get(first.lower) ?? 1, words.length - at, 5); count > 0; count--) {
    const name = words.slice(at, at + count);
    const last = name.at(-1);
    if (last === undefined) continue;
    const whole = text.slice(first.start, last.end).toLowerCase().replace(/\s+/g, ' ');
    if (!lists.places.has(whole) && !lists.places.has(whole.replace(/[.,]$/, ''))) continue;
    if (
      count === 1 &&
      (AMBIGUOUS_PLACES.has(whole) || lists.first.has(whole)) &&
      !PLACE_BEFORE.test(before) &&
      !AMBIGUOUS_YET_PLACES.has(whole)
    )
      return null;
    if (count === 1 && /^\p{Lu}{1,3}$/u.test(first.text) && !/^(?:USA|UK|UAE|NYC)$/.test(first.text))
      return null;
    // `Berlin Wall`, `Paris Agreement`, `Boston Consulting Group` are no places of these names; `New York Times` neither.
    return taken('LOCATION', name, count > 1 ? 0.9 : 0.8, 'a known place');
  }
  const second = words[at + 1];
  if (second === undefined || !isJoined(text.slice(first.end, second.start))) return null;
  const isNamed = PLACE_KINDS.test(second.lower) || PLACE_STARTS.test(first.lower);
  const isOther =
    OPENERS.has(first.lower) || (NO_SURNAME.has(first.lower) && !PLACE_STARTS.test(first.lower));
  return isNamed && !isOther
    ? taken('LOCATION', [first, second], 0.7, 'a word for a place beside a name')
    : null;
}

/** Known as places far more often than as persons. */
const AMBIGUOUS_YET_PLACES = wordSet(
  'paris sydney houston dallas boston denver israel washington china turkey london berlin milan cuba peru kenya india america vienna cairo asia ireland lisbon',
);

// ── organisations ───────────────────────────────────────────────────────────────────────────────────────────────

const SUFFIXES = wordSet(
  'inc ltd llc llp plc gmbh ag se kg corp corporation company co sa sas sarl spa srl bv nv ab oy as limited incorporated holdings industries technologies systems solutions partners ventures labs laboratories pharmaceuticals motors airlines airways university college institute school academy hospital clinic bank insurance foundation association society council committee agency authority ministry commission department bureau federation union alliance consortium group museum enterprises traders trading logistics consulting capital media software electronics energy foods records studios',
);
/** Begin the name of an organisation: `University of Oslo`, `Ministry of Health`. */
const OF_SUFFIX =
  /^(?:university|ministry|department|bank|institute|college|bureau|council|museum|federation|church|bank)$/;

/** The role of someone in an organisation. */
const ROLES = wordSet(
  'ceo cfo cto coo cmo cio president chairman chairwoman chair director head founder co-founder manager vp member employee partner owner secretary treasurer dean editor captain coach board',
);

const NO_ORGANISATIONS: ReadonlySet<string> = new Set([
  ...['national insurance', 'health insurance', 'life insurance', 'travel insurance', 'car insurance'],
  ...['high school', 'the bank', 'the group', 'the company', 'customer group'],
]);

function organisationAt({ words }: Run, at: number, text: string, lists: NameLists): Taken | null {
  const first = words[at];
  if (first === undefined || (OPENERS.has(first.lower) && !lists.starts.has(first.lower))) return null;
  // `CFO of Initech GmbH` names a person's place in it.
  if (ROLES.has(first.lower) && text.startsWith(' of ', first.end)) return null;
  for (let count = Math.min(6, words.length - at); count > 0; count--) {
    const name = words.slice(at, at + count);
    const last = name.at(-1);
    if (last === undefined || /\n/.test(text.slice(first.start, last.end))) continue;
    const whole = text.slice(first.start, last.end).toLowerCase();
    if (NO_ORGANISATIONS.has(whole)) return null;
    const next = words[at + count];
    // `Google Chrome` is a thing that the organisation makes.
    const isOfThing =
      count === 1 &&
      next !== undefined &&
      isJoined(text.slice(last.end, next.start)) &&
      !isOpener(next) &&
      text.slice(last.end, next.start) === ' ';
    if (lists.organisations.has(whole) && !isOfThing)
      return taken('ORGANIZATION', name, 0.8, 'a known organisation');
    const isOfWords = name
      .slice(1, -1)
      .every((word) => (!isOpener(word) && !NO_SURNAME.has(word.lower)) || / of /.test(whole));
    const isNamed =
      isOfWords &&
      count > 1 &&
      SUFFIXES.has(last.lower) &&
      (last.lower.length > 2 || /\p{Ll}/u.test(first.text)) &&
      !NO_SURNAME.has(first.lower) &&
      !OPENERS.has(first.lower);
    if (isNamed) return taken('ORGANIZATION', name, 0.75, 'a word for an organisation behind a name');
    if (
      count > 1 &&
      OF_SUFFIX.test(first.lower) &&
      / of (?:the )?\p{Lu}/u.test(text.slice(first.start, last.end))
    )
      return taken('ORGANIZATION', name, 0.75, 'a word for an organisation before a name');
  }
  return null;
}
