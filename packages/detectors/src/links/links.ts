/**
 * Addresses in a text: in running text, in Markdown (also by reference) and in HTML and its styles. One pass
 * each; an address has a greatest length, and a longer one is found by its beginning.
 */
import { htmlTokens } from '../html/tokens.ts';
import type { Stretch } from '../text/finding.ts';
import { wordSet } from '../text/words.ts';

/** Its place is that of the address as it is written. */
export interface Link extends Stretch {
  /** As a program would open it: entities decoded. */
  readonly url: string;
  /** Whether a program that shows the text opens it without being asked: pictures, styles, frames. */
  readonly isLoaded: boolean;
}

const BARE = /\b(?:https?|ftp|wss?):\/\/[^\s<>"'`\\^{}|\u2018-\u201f]{1,8000}/gi;
/** Brackets in pairs belong to the address. */
const MARKDOWN_IMAGE =
  /!\[[^\]\n]{0,1000}\]\(\s{0,4}<?((?:https?:)?\/\/(?:[^\s<>()"']|\([^\s<>()"']{0,200}\)){1,8000})/gi;
const REFERENCE = /^ {0,3}\[[^\]\n]{1,200}\]:[ \t]{0,8}<?((?:https?:)?\/\/[^\s<>]{1,8000})/gim;
const IMAGE_REFERENCE = /!\[([^\]\n]{0,200})\](?:\[([^\]\n]{0,200})\])?/g;
const CSS_URL =
  /url\(\s{0,4}["']?((?:https?:)?\/\/[^\s"'()<>]{1,8000})|@import\s{1,4}["']((?:https?:)?\/\/[^\s"'()<>]{1,8000})/gi;

/** Attributes that hold an address; those of the second kind are loaded by themselves. */
const CLICKED: ReadonlySet<string> = new Set(['href', 'action', 'formaction', 'cite', 'ping', 'xlink:href']);
const LOADED = wordSet('src srcset poster background data imagesrcset lowsrc');

/** In the order of the text; one place is named once. */
export function linksIn(text: string): readonly Link[] {
  const found = new Map<number, Link>();
  const add = (link: Link) => {
    const known = found.get(link.start);
    if (known === undefined || (!known.isLoaded && link.isLoaded)) found.set(link.start, link);
  };
  for (const link of bare(text)) add(link);
  for (const link of markdown(text)) add(link);
  for (const link of html(text)) add(link);
  for (const link of styles(text)) add(link);
  return [...found.values()].sort((a, b) => a.start - b.start);
}

function* bare(text: string): Generator<Link> {
  if (!text.includes('://')) return;
  for (const match of text.matchAll(BARE)) {
    const url = withoutPunctuation(match[0]);
    yield { url, start: match.index, end: match.index + url.length, isLoaded: false };
  }
}

/** A sentence may end behind an address, and a bracket may enclose it. */
function withoutPunctuation(url: string): string {
  let end = url.length;
  for (; end > 0; end--) {
    const last = url[end - 1] ?? '';
    const isUnopened =
      (last === ')' && !url.slice(0, end - 1).includes('(')) ||
      (last === ']' && !url.slice(0, end - 1).includes('['));
    if (!/[.,;:!?*_~]/.test(last) && !isUnopened) break;
    // Attack: thousands of brackets, each asking the whole address again.
    if (url.length - end > 16) break;
  }
  return url.slice(0, end);
}

function* markdown(text: string): Generator<Link> {
  if (!text.includes('](') && !text.includes(']:')) return;
  for (const match of text.matchAll(MARKDOWN_IMAGE)) yield atTheEnd(match, true);
  const shown = new Set(
    [...text.matchAll(IMAGE_REFERENCE)].map(([, alt = '', label = '']) => (label || alt).toLowerCase()),
  );
  for (const match of text.matchAll(REFERENCE)) {
    const label = (/\[([^\]\n]{1,200})\]/.exec(match[0])?.[1] ?? '').toLowerCase();
    yield atTheEnd(match, shown.has(label));
  }
}

const ABSOLUTE = /^(?:(?:https?|ftp|wss?):)?\/\//i;

function* html(text: string): Generator<Link> {
  if (!/<[a-z]/i.test(text)) return;
  for (const token of htmlTokens(text)) {
    if (token.kind !== 'open') continue;
    for (const { name, value, start, end } of token.attributes) {
      const isLoaded = LOADED.has(name) || (name === 'href' && token.name === 'link');
      const url = value.trim();
      if ((isLoaded || CLICKED.has(name)) && ABSOLUTE.test(url)) yield { url, start, end, isLoaded };
    }
  }
}

function* styles(text: string): Generator<Link> {
  if (!/url\(|@import/i.test(text)) return;
  for (const match of text.matchAll(CSS_URL)) yield atTheEnd(match, true);
}

/** The address that a match ends with: the group that there is. */
function atTheEnd({ 0: match, 1: first, 2: second, index }: RegExpExecArray, isLoaded: boolean): Link {
  const url = first ?? second ?? '';
  const end = index + match.length;
  return { url, start: end - url.length, end, isLoaded };
}
