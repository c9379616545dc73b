/**
 * Queries that need no planner: they name the one app that they are for, or continue what an app was asked just
 * before. Read from the user's own words and the configuration alone, never from a word of an app or a model, and
 * conservatively: a wrong guess would tell an app what was not meant for it, a missed one costs one model call.
 *
 * Like the planner's, its plan is a claim.
 */
import { type AppId, type DataKind, type InstalledApp, misfitOfData } from '@cordon/core';
import type { ExplicitPlan, Guess, QuerySurroundings } from '@cordon/hub';
import { contentWords, nameWords, vettedWords } from '@cordon/hub/words';
import { isDescribed, rankApps } from './app-index.ts';

/** Longer texts, and those of several lines, hold more than one thought, or somebody else's. */
const MOST_CHARACTERS = 300;

/** The plan that the query itself states; null: somebody has to plan. */
export function explicitPlan(query: string, surroundings: QuerySurroundings): ExplicitPlan | null {
  const text = query.trim().normalize('NFC');
  if (text.length > MOST_CHARACTERS || /[\r\n\u2028\u2029]/u.test(text)) return null;
  const unquoted = withoutQuotations(text);
  if (unquoted === null || NEGATION.test(text)) return null;
  const mentioned = surroundings.apps.filter((app) => mentions(text, app));
  const [only] = mentioned;
  if (mentioned.length > 1) return null;
  if (only !== undefined) return namedApp(unquoted, text, only, surroundings);
  return followUp(text, surroundings);
}

/** "Do not use …", "anything but …", "instead of …": what is named is what is not wanted, or may be. */
const NEGATION =
  /(?<![\p{L}\p{N}])(?:not|no|never|none|neither|nor|without|except|excluding|besides|instead|rather|avoid|but|stop|cannot|unlike|versus|vs|or|if|unless)(?![\p{L}\p{N}])|n['’]t(?![\p{L}\p{N}])/iu;

/** "What is it about using …?": the app is spoken of. "Ada wrote: use …": somebody else speaks. */
const SPEAKS_OF =
  /(?<![\p{L}\p{N}])(?:about|like|called|named|mean|means|says|said|saying|writes|wrote|written|reads|tells|told|asks|asked|wants|wanted|suggests|suggested|translate)(?![\p{L}\p{N}])/iu;

const QUOTATIONS =
  /"[^"]*"|“[^”]*”|„[^“”]*[“”]|«[^»]*»|‹[^›]*›|`[^`]*`|「[^」]*」|『[^』]*』|《[^》]*》|〈[^〉]*〉|\([^()]*\)|\[[^[\]]*\]|\{[^{}]*\}|<[^<>]*>|\*[^*]*\*/gu;
/** An apostrophe inside of a word is none. */
const QUOTATION_MARKS =
  /["“”„«»‹›`「」『』《》〈〉＂＇‚‛()[\]{}<>*]|(?<![\p{L}\p{N}])['‘’]|['’](?![\p{L}\p{N}])/u;

/** The text without what stands in quotation marks; null where one is left over, so that nobody knows what is quoted. */
function withoutQuotations(text: string): string | null {
  const rest = text.replace(QUOTATIONS, ' \uFFFC ');
  return QUOTATION_MARKS.test(rest) ? null : rest;
}

/** Whether the app's name stands anywhere in the text, as one word, as several, or in the plural. */
function mentions(text: string, { id }: InstalledApp): boolean {
  const said = nameWords(text);
  const name = nameWords(id);
  const joined = name.join('');
  const isWord = (word: string | undefined, part: string | undefined) => word === part || word === `${part}s`;
  return said.some(
    (word, at) => isWord(word, joined) || name.every((part, offset) => isWord(said[at + offset], part)),
  );
}

/**
 * The query is for this one app: it is addressed (`@mail …`), or the words say that it is to be used. What else the
 * query is about must not be what another app is for.
 */
function namedApp(
  unquoted: string,
  text: string,
  app: InstalledApp,
  { apps, knowsFacts }: QuerySurroundings,
): ExplicitPlan | null {
  if (knowsFacts || SPEAKS_OF.test(text) || !(isAddressed(unquoted, app.id) || isToBeUsed(unquoted, app.id)))
    return null;
  const others = apps.filter(({ id }) => id !== app.id);
  if (concerns(text, others, vettedWords(app))) return null;
  return { app: app.id, needs: [], origin: 'named-app' };
}

/** `@travel-mate book a flight`: nobody writes this by accident. Not `@mail.example.org`, nor `ada@mail`. */
function isAddressed(text: string, app: AppId): boolean {
  const name = `@${app}`.toLowerCase();
  return text.toLowerCase().startsWith(name) && /^[:,]?\s+[^\s\uFFFC]/u.test(text.slice(name.length));
}

/**
 * `… using Travel Mate`, `with the mail app`. A name of one word is a word, or a person's name, unless `app` stands
 * behind it. One of several words may be words too (`use meeting notes to …`), unless it is written as a name:
 * with capitals in a sentence that has other words without, or spelt as the configuration spells it.
 */
function isToBeUsed(text: string, app: AppId): boolean {
  const parts = nameWords(app);
  const named = new RegExp(
    `(?<![\\p{L}\\p{N}])(?:use|using|with|via|through|ask|by)\\s+(?:the\\s+|my\\s+)?(${parts.join('[\\s_-]?')})(\\s+app)?(?=$|[,.;:!?](?:\\s|$)|\\s+(?:to|for|and|from|on|at|in|with|please)\\s)`,
    'giu',
  );
  return [...text.matchAll(named)].some(({ 1: name = '', 2: isApp, index }) => {
    // What stands behind a colon may be what somebody else says.
    if (/[:：]/u.test(text.slice(0, index))) return false;
    if (isApp !== undefined) return true;
    if (parts.length < 2) return false;
    return (/[_-]/.test(name) && name === app) || isProperName(name, text);
  });
}

function isProperName(name: string, text: string): boolean {
  const isCapital = (word: string) => /^\p{Lu}/u.test(word);
  const words = name.split(/[\s_-]+/);
  const others = (text.replace(name, ' ').match(/\p{L}+/gu) ?? []).slice(1);
  return words.length > 1 && words.every(isCapital) && others.some((word) => !isCapital(word));
}

/** Whether the text has a word of what one of these apps is for, apart from what the words in `own` account for. */
function concerns(text: string, apps: readonly InstalledApp[], own: ReadonlySet<string>): boolean {
  const foreign = contentWords(text).filter((word) => !own.has(word));
  return apps.some((app) => {
    const known = vettedWords(app);
    return foreign.some((word) => known.has(word));
  });
}

/**
 * The query continues the running subject: it begins like a continuation, or points back at what was said, or has no
 * subject of its own, or is one bare value; and, but for that, each of its words is one that points, or that the user used about this subject, or that
 * the configuration uses of this app. No other app may be what it is about.
 */
function followUp(text: string, { apps, subject }: QuerySurroundings): ExplicitPlan | null {
  const app = apps.find(({ id }) => id === subject?.app);
  if (subject === null || app === undefined) return null;
  const others = apps.filter(({ id }) => id !== app.id);
  if (!others.every(isDescribed)) return null;
  const said = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  const named = said.filter((word) => !POINTING.has(word) && !/^\d{1,4}$/.test(word));
  const own = new Set([...vettedWords(app), ...contentWords(subject.said.join(' '))]);
  const isKnown = (word: string) => {
    const content = contentWords(word);
    return content.length > 0 && content.every((stem) => own.has(stem));
  };
  const isValue = ANSWERS.some((kind) => misfitOfData(kind, text) === null);
  if (said.length === 0 || !(isValue || named.every(isKnown)) || concerns(text, others, new Set()))
    return null;
  const continues = CONTINUATION.test(text) || said.some((word) => POINTS_BACK.has(word));
  if (!continues && !isValue && named.length > 0) return null;
  return { app: app.id, needs: subject.facts, origin: 'follow-up' };
}

/**
 * Kinds of data whose values look like nothing else: a message that is one and nothing more answers what was asked just before.
 * Whether the app did ask is not looked at: its words have no part in where the user's go.
 */
const ANSWERS: readonly DataKind[] = ['email', 'phone', 'birth-date', 'time', 'people', 'amount'];

const CONTINUATION = /^(?:and|also|what about|how about)(?![\p{L}\p{N}])/iu;

const POINTS_BACK: ReadonlySet<string> = new Set('it them that those one ones its their'.split(' '));

/** Words that name nothing: what they mean is what was said before. */
const POINTING: ReadonlySet<string> = new Set(
  `a about ahead also an and another are as at be by can continue could did do does earlier first for from go had has have he
  her him his how i in is it its last later latter me more my next of ok okay on one ones only other others please
  previous rest same second she show tell thank thanks that the their them then there these they third this those to
  today tomorrow tonight too was we were what when where which who why with would yes yesterday yet you
  monday tuesday wednesday thursday friday saturday sunday week day morning afternoon evening`.split(/\s+/),
);

/** A text of several paragraphs brings along what it is about. */
const MOST_OF_A_REQUEST = 600;

/**
 * Who most likely serves the query while nobody has planned it: the app whose vetted words it shares, else nobody's context;
 * null: it cannot be told. Wrong as often as these words are vague: then a model call was in vain.
 */
export function likelyApp(query: string, apps: readonly InstalledApp[]): Guess | null {
  if (query.length > MOST_OF_A_REQUEST || /\n\s*\n/.test(query.trim())) return { app: null };
  // What nobody described can be anything.
  if (!apps.every(isDescribed)) return null;
  const asked = new Set(contentWords(query));
  const [best] = rankApps(query, apps);
  if (best === undefined || ![...vettedWords(best)].some((word) => asked.has(word))) return { app: null };
  return { app: best.id };
}
