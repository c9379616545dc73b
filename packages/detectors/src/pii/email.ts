/** E-mail addresses, from their `@`. */

import type * as Tldts from 'tldts';
import { type Finding, findingOf } from '../text/finding.ts';
import { matchAt, startBefore } from '../text/match.ts';
import { onDemand } from '../text/on-demand.ts';

const TLDTS = onDemand<typeof Tldts>('tldts');

const MOST_LOCAL = 64;
/** Letters of scripts that have no blanks: what stands beside an address is a word of the sentence. */
const LETTER =
  '[[\\p{L}\\p{N}\\p{M}]--[\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Hangul}\\p{Script=Thai}]]';
const LOCAL = new RegExp(`(?:${LETTER}|[._%+'\\-])`, 'v');
const DOMAIN = new RegExp(`(?:${LETTER}(?:${LETTER}|-){0,62}\\.){1,8}${LETTER}(?:${LETTER}|-){1,62}`, 'vy');

/** Domains that nobody can register, and that stand in examples, tests and house networks. */
const UNREGISTERED = /\.(?:example|test|invalid|localhost|local|internal|lan|corp|home|intranet)$/;

/** The address around the `@` at `at`, or null. */
export function emailAt(text: string, at: number): Finding | null {
  const start = localStart(text, at);
  if (start === at) return null;
  const domain = matchAt(DOMAIN, text, at + 1)?.[0].replace(/-+$/, '') ?? null;
  if (domain === null || !isDomain(domain)) return null;
  // `scheme://user@host` and `git@host:path` name accounts of machines.
  const before = text.slice(Math.max(0, start - 3), start);
  if (before.endsWith('//') || (/[:/]$/.test(before) && isUrlPassword(text, start))) return null;
  const end = at + 1 + domain.length;
  if (text[end] === ':' && /[\w~./]/.test(text[end + 1] ?? ' ') && !/\d/.test(text[end + 1] ?? ''))
    return null;
  return findingOf('EMAIL_ADDRESS', { start, end }, 1, 'an e-mail address of a domain that can be');
}

function localStart(text: string, at: number): number {
  let start = startBefore(text, at, LOCAL, MOST_LOCAL);
  // Quotes and list marks stand before an address, never at its beginning.
  while (start < at && /[.'%-]/.test(text[start] ?? '')) start += 1;
  return /[.']/.test(text[at - 1] ?? '') ? at : start;
}

/** Whether `user:` and a scheme stand before: then this is a password and a host. */
function isUrlPassword(text: string, start: number): boolean {
  return /:\/\/[^\s/@]{0,64}:$/.test(text.slice(Math.max(0, start - 80), start));
}

function isDomain(domain: string): boolean {
  const lower = domain.toLowerCase();
  if (UNREGISTERED.test(lower)) return true;
  const { isIcann, isPrivate, domain: registrable } = TLDTS().parse(lower);
  return registrable !== null && (isIcann === true || isPrivate === true);
}

const SPELT =
  /([\p{L}\p{N}._%+-]{1,64})[ \t]{0,2}[[({<][ \t]?at[ \t]?[\])}>][ \t]{0,2}((?:[\p{L}\p{N}-]{1,63}(?:\.|[ \t]{0,2}[[({<][ \t]?(?:dot|punkt|point|punto)[ \t]?[\])}>][ \t]{0,2})){1,6}[\p{L}]{2,24})/iuy;

/** `name (at) example (dot) org`, by the place of its bracket. */
export function speltEmailAt(text: string, bracket: number): Finding | null {
  const end = startBefore(text, bracket, /[ \t]/, 3);
  const start = startBefore(text, end, /[\p{L}\p{N}._%+-]/u, MOST_LOCAL);
  if (start === end) return null;
  const match = matchAt(SPELT, text, start);
  const domain = match?.[2]?.replace(/[ \t]*[[({<][ \t]?\p{L}+[ \t]?[\])}>][ \t]*/giu, '.') ?? '';
  if (match === null || !isDomain(domain)) return null;
  const stretch = { start, end: start + match[0].length };
  return findingOf('EMAIL_ADDRESS', stretch, 0.8, 'an e-mail address, spelt');
}
