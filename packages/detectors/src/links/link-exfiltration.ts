/**
 * Addresses that carry data out: what is private, or what looks like data and not like a name, in a path, a query, a
 * fragment or a name below a domain. An address that is loaded by showing it needs less to be one.
 */

import { findEncoded } from '../hidden-text/encoded.ts';
import { isReadable } from '../hidden-text/prose.ts';
import type { Finding } from '../text/finding.ts';
import { type Link, linksIn } from './links.ts';

/** A text of this length that stands in private data and in an address is no coincidence. */
const SHARED = 12;
/** Windows of private texts that are kept; what is beyond makes the rule undecided, in `rule.ts`. */
export const MOST_PRIVATE = 1024 * 1024;

/** What is known of private texts: which stretches of letters and digits they have. */
export interface PrivateTexts {
  holds(stretch: string): boolean;
}

export function privateTexts(texts: readonly string[]): PrivateTexts {
  const windows = new Set<number>();
  for (const text of texts) for (const hash of rolling(letters(text))) windows.add(hash);
  const short = new Set(texts.map(letters).filter((text) => text.length >= 5 && text.length < SHARED));
  return {
    holds(stretch) {
      const plain = letters(stretch);
      if (short.has(plain)) return true;
      return rolling(plain).some((hash) => windows.has(hash));
    },
  };
}

/** Without case, spaces and marks: what changes when a text is put into an address. */
function letters(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, '');
}

/** A hash for each stretch of `SHARED` characters, each from the one before. */
function rolling(text: string): readonly number[] {
  const hashes: number[] = [];
  const highest = highestPower();
  let hash = 0;
  for (let at = 0; at < text.length; at++) {
    if (at >= SHARED) hash = (hash + PRIME - ((text.charCodeAt(at - SHARED) * highest) % PRIME)) % PRIME;
    hash = (hash * BASE + text.charCodeAt(at)) % PRIME;
    if (at >= SHARED - 1) hashes.push(hash);
  }
  return hashes;
}

/** Products of a character and a remainder stay below 2^53. */
const PRIME = 4_294_967_291;
const BASE = 257;

function highestPower(): number {
  let power = 1;
  for (let times = 1; times < SHARED; times++) power = (power * BASE) % PRIME;
  return power;
}

/** @param known null: nothing is known to be private, so only the form of an address counts */
export function findLinkExfiltration(text: string, known: PrivateTexts | null): readonly Finding[] {
  return linksIn(text).flatMap((link) => {
    const reason = reasonFor(link, known);
    if (reason === null) return [];
    const { start, end } = link;
    return [{ kind: 'LINK_EXFILTRATION', start, end, ...reason }];
  });
}

function reasonFor(link: Link, known: PrivateTexts | null): { confidence: number; reason: string } | null {
  const parts = partsOf(link.url);
  if (known !== null && parts.some((part) => spellings(part).some((one) => known.holds(one))))
    return { confidence: 0.98, reason: 'an address that holds private text' };
  if (link.isLoaded && (PLACE_FOR_DATA.test(link.url) || NAMED_PLACE.test(link.url)))
    return { confidence: 0.8, reason: 'an address with a place for data, which is loaded by showing it' };
  if (!parts.some(isData) && !wordsOf(link.url).some(isSentence)) return null;
  return link.isLoaded
    ? { confidence: 0.8, reason: 'an address with data in it, which is loaded by showing it' }
    : { confidence: 0.55, reason: 'an address with data in it' };
}

/** Where someone is to fill something in: `{conversation}`, `[summary]`, `USER_DATA_HERE`. */
const PLACE_FOR_DATA = /\{\{|\$\{|%7b|\{[a-z_ -]{2,40}\}|\[[a-z_ -]{3,40}\]/i;
const NAMED_PLACE =
  /[=/](?:[A-Z]{2,12}_){0,4}(?:DATA|SECRETS?|TOKEN|PASSWORD|EMAIL|HISTORY|SUMMARY|CONTENTS?|CONVERSATION|MESSAGE|ANSWER|KEY|HERE|PLACEHOLDER)(?:_[A-Z]{2,12}){0,3}(?:$|[&#/]|\.(?:png|gif|jpe?g))/;

/** Names below the domain, steps of the path, names and values of the query, the fragment, the user. */
function partsOf(url: string): readonly string[] {
  const rest = url.replace(/^[a-z]*:?\/\//i, '');
  const slash = rest.search(/[/?#]/);
  const [host, behind] = slash < 0 ? [rest, ''] : [rest.slice(0, slash), rest.slice(slash)];
  const names = host.replace(/:\d+$/, '').split(/[.@:]/).slice(0, -2);
  const together = names.length > 1 ? [names.join('')] : [];
  const pieces = behind.split(/[/?#&;=]/).filter(Boolean);
  return [...names, ...together, ...pieces, ...(pieces.length > 1 ? [pieces.join('')] : [])];
}

/**
 * What may be the words of a sentence: names below the domain, steps of the path, and each value of the query and the
 * fragment, whatever signs stand between its words. Of more words than anybody writes, the first.
 */
function wordsOf(url: string): readonly (readonly string[])[] {
  const [, host = '', path = '', query = ''] = PARTS.exec(url) ?? [];
  return [
    host.split(/[.-]/, MOST_STEPS).slice(0, -2),
    path.split('/', MOST_STEPS).filter(Boolean).map(percentDecoded),
    ...query.split(/[?&;=#]/, MOST_STEPS).map((value) => percentDecoded(value).split(JOINTS, MOST_STEPS)),
  ];
}

const PARTS = /^(?:[a-z]*:)?\/\/([^/?#]*)([^?#]*)(.*)$/is;
const JOINTS = /[\s_./|~-]+/;
const MOST_STEPS = 64;
/** Shorter ones are folders, whatever they are called. */
const LEAST_STEPS = 7;
/** Words that join others in a sentence and that no folder is called after, as it is after a language (`en`, `it`, `no`). */
const JOINING: ReadonlySet<string> = new Set(
  `the a an is are was were be been has have had will would can not do does did and or but of to in on at by for from with
  that this its he she we you they his her our your their my before after about because until who
  der die das den dem des ein eine einen ist sind war wird werden hat haben und oder nicht von zu im am um mit auf für er sie wir
  le les un une est sont était ou ne pas du au aux avec pour dans sur que qui il elle nous vous
  los las son fue con para por que del al nos`.split(/\s+/),
);

/** Steps of a path that are the words of a sentence: many join others, or commas stand behind some. */
function isSentence(steps: readonly string[]): boolean {
  if (steps.length < LEAST_STEPS) return false;
  const joining = new Set(steps.map((step) => step.toLowerCase()).filter((step) => JOINING.has(step))).size;
  const ended = steps.filter((step) => /[\p{L}\d][,;:]$/u.test(step)).length;
  return joining >= 3 || ended >= 2 || (joining >= 2 && ended >= 1);
}

/** A part as it is, as each usual encoding would have it, and backwards. */
function spellings(part: string): readonly string[] {
  const plain = percentDecoded(part);
  const all = [plain, ...decodings(plain)];
  if (plain.length >= SHARED) all.push([...plain].reverse().join(''));
  return all;
}

/** What base 64 or hexadecimal digits stand for; a name of a file may end in `.png` and hold them all the same. */
function decodings(plain: string): readonly string[] {
  const stem = plain.replace(/\.[A-Za-z0-9]{1,5}$/, '');
  const all: string[] = [];
  if (/^[A-Za-z0-9+/_-]{12,}={0,2}$/.test(stem)) all.push(Buffer.from(stem, 'base64').toString('utf8'));
  if (/^(?:[0-9a-f]{2}){8,}$/i.test(stem)) all.push(Buffer.from(stem, 'hex').toString('utf8'));
  return all;
}

/** Also what was escaped more than once; a server may decode it as often. */
function percentDecoded(part: string): string {
  let plain = part.replaceAll('+', ' ');
  for (let times = 0; times < MOST_ESCAPES && plain.includes('%'); times++) {
    try {
      plain = decodeURIComponent(plain);
    } catch {
      return plain;
    }
  }
  return plain;
}

const MOST_ESCAPES = 3;

/** A name and its value within one part, so that the address itself has escaped what stands between them. */
const ANNOUNCED = /\b(?:pass(?:word|wd|phrase|code)?|token|secret|api.?key|pin)\s?[:=]\s?[^\s&]{4}/i;

/** Prose, an address of a person, or an encoded text; not a slug, an id, a date or a page of a shop. */
function isData(part: string): boolean {
  const plain = percentDecoded(part);
  // `photo@2x.png` is a picture for another screen.
  if (/^[^\s@]{1,64}@(?!\d+x\.)[^\s@.]{1,63}\.[^\s@]{2,}$/.test(plain)) return true;
  if (plain.length >= 40 && (plain.match(/\s/g)?.length ?? 0) >= 5) return true;
  if (ANNOUNCED.test(plain) || findEncoded(plain).length > 0) return true;
  return decodings(plain).some(
    (decoded) =>
      decoded.length >= 12 && isReadable(decoded) && /[\p{L}\d]{2,}[:,;.]?[\s:=,@][^\s]/u.test(decoded),
  );
}
