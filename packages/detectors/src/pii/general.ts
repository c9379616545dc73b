/**
 * Dates, addresses on the web, and words for nations, religions and parties. Alone they say nothing of a person, and every other text
 * holds some, so they are found only where a rule names their kind.
 */

import { linksIn } from '../links/links.ts';
import { type Finding, findingOf } from '../text/finding.ts';
import { matchesIn } from '../text/match.ts';
import { wordSet } from '../text/words.ts';
import { DATE_PATTERN } from './birth.ts';
import { nameLists } from './names/name-lists.ts';

const CONFIDENCE = 0.85;

/** What is asked for of `GENERAL_KINDS`. */
export function findGeneral(text: string, kinds: ReadonlySet<string>): readonly Finding[] {
  return [
    ...(kinds.has('DATE_TIME') ? findDates(text) : []),
    ...(kinds.has('NRP') ? findGroups(text) : []),
    ...(kinds.has('URL') ? findUrls(text) : []),
  ];
}

const CLOCK =
  '(?:[01]?\\d|2[0-3]):[0-5]\\d(?::[0-5]\\d(?:[.,]\\d{1,9})?)?(?:Z|[+-]\\d\\d:?\\d\\d| ?[ap]\\.?m\\b\\.?)?';
const DAYS =
  '(?:mon|tues|wednes|thurs|fri|satur|sun)day|today|tonight|tomorrow|yesterday|(?:last|next|this) (?:week|month|year)';
const DATE_OR_TIME = new RegExp(
  `(?<![\\p{L}\\p{N}])(?:(?:${DATE_PATTERN})(?:(?:T|,? (?:at )?)${CLOCK})?|${CLOCK}|(?:1[0-2]|[1-9]) ?[ap]\\.?m\\b\\.?|${DAYS})(?![\\p{L}\\p{N}])`,
  'giu',
);

function findDates(text: string): readonly Finding[] {
  return matchesIn(text, DATE_OR_TIME).map((match) =>
    findingOf('DATE_TIME', match, CONFIDENCE, 'the form of a date or a time'),
  );
}

const BELIEFS = wordSet(
  'christian christians christianity catholic catholics protestant protestants lutheran lutherans methodist methodists baptist baptists anglican anglicans evangelical evangelicals mormon mormons muslim muslims islam islamic sunni sunnis shia shiite shiites sufi jewish jew jews judaism buddhist buddhists buddhism hindu hindus hinduism sikh sikhs sikhism jain jains taoist taoists atheist atheists agnostic agnostics democrat democrats republican republicans tory tories libertarian libertarians socialist socialists communist communists marxist marxists fascist fascists anarchist anarchists',
);
const CAPITAL_WORD = /(?<![\p{L}\p{N}])\p{Lu}[\p{L}’'-]{2,24}(?![\p{L}\p{N}])/gu;

/** Only with a capital: `polish` is another word. */
function findGroups(text: string): readonly Finding[] {
  const { demonyms } = nameLists();
  return matchesIn(text, CAPITAL_WORD)
    .filter(({ text: word }) => demonyms.has(word.toLowerCase()) || BELIEFS.has(word.toLowerCase()))
    .map((match) => findingOf('NRP', match, CONFIDENCE, 'a word for a nation, a religion or a party'));
}

const WITHOUT_SCHEME =
  /(?<![\p{L}\p{N}/@.-])www\.[\p{L}\p{N}-]{1,63}(?:\.[\p{L}\p{N}-]{1,63}){1,8}(?:\/[^\s<>"'`]{0,2000})?/giu;

function findUrls(text: string): readonly Finding[] {
  return [...linksIn(text), ...matchesIn(text, WITHOUT_SCHEME)].map((match) =>
    findingOf('URL', match, CONFIDENCE, 'an address on the web'),
  );
}
