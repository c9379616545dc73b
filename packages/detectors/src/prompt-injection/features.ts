/**
 * From a text to what the classifier weighs: sentences, the signs in each, and its words as places in a table of
 * weights. Training and judging share this file. Linear; sentences have a greatest length.
 */
import type { Stretch } from '../text/finding.ts';
import { SIGNS } from './signs.ts';

/** Weights of words and pairs of words, by hash. */
export const WORD_BITS = 13;
const WORD_MASK = (1 << WORD_BITS) - 1;
/** Pairs of signs in one window are weighed too: alone most are innocent. */
export const PAIRS = (SIGNS.length * (SIGNS.length - 1)) / 2;
/** Sentences that are judged together. */
export const WINDOW = 3;
const LONGEST = 600;

export interface Sentence extends Stretch {
  /** A bit a sign. */
  readonly signs: number;
  /** Places in the table; a word that occurs twice is there twice. */
  readonly words: Uint16Array;
}

/** Ends of sentences; a line ends one too, because orders stand in their own lines. */
const END = /[.!?。！？؟।]+["'”’»)\]]*(?=\s|$|[\u3000-\u9fff\uac00-\ud7af])|[。！？]|\n+/gu;

export function sentencesIn(text: string): readonly Sentence[] {
  const small = smallLetters(unwrapped(text));
  const spans = spansIn(small);
  const signs = signsIn(small, spans);
  return spans.map(({ start, end }, at) => ({
    start,
    end,
    signs: signs[at] ?? 0,
    words: wordsIn(small.slice(start, end)),
  }));
}

/** Programs wrap long lines: a line that continues in small letters, and is not a separate field, is no new sentence. */
function unwrapped(text: string): string {
  return text.includes('\n') ? text.replace(WRAP, ' ') : text;
}

const WRAP = /(?<=[\p{L}\p{N},;'’)])\n(?=[ \t]{0,40}\p{Ll})(?![ \t]{0,40}[\w-]{1,40}:)/gu;

/** Offsets must stay: a few capital letters become two small ones. */
function smallLetters(text: string): string {
  const small = text.toLowerCase();
  if (small.length === text.length) return small;
  return Array.from({ length: text.length }, (_, at) => {
    const letter = (text[at] ?? '').toLowerCase();
    return letter.length === 1 ? letter : (text[at] ?? '');
  }).join('');
}

function spansIn(text: string): readonly Stretch[] {
  const spans: Stretch[] = [];
  let start = 0;
  const add = (end: number) => {
    for (let at = start; at < end; at = Math.min(end, at + LONGEST)) {
      const piece = trimmed(text, at, Math.min(end, at + LONGEST));
      if (piece.end > piece.start) spans.push(piece);
    }
    start = end;
  };
  for (const match of text.matchAll(END)) add(match.index + match[0].length);
  add(text.length);
  return spans;
}

function trimmed(text: string, from: number, to: number): Stretch {
  let [start, end] = [from, to];
  while (start < end && isSpace(text.charCodeAt(start))) start++;
  while (end > start && isSpace(text.charCodeAt(end - 1))) end--;
  return { start, end };
}

function isSpace(code: number): boolean {
  return code === 32 || (code >= 9 && code <= 13) || code === 0xa0 || code === 0x3000;
}

/** Each expression passes once over the whole text. */
function signsIn(text: string, spans: readonly Stretch[]): Int32Array {
  const found = new Int32Array(spans.length);
  for (const [bit, { pattern }] of SIGNS.entries()) {
    let at = 0;
    for (const match of text.matchAll(pattern)) {
      while ((spans[at]?.end ?? Number.POSITIVE_INFINITY) <= match.index) at++;
      const span = spans[at];
      if (span === undefined) break;
      found[at] = (found[at] ?? 0) | (1 << bit);
    }
  }
  return found;
}

const TOKEN =
  /https?:\/\/[^\s"'<>)\]]+|[\w.+-]{1,64}@[\w-]{1,63}\.\w[\w.-]{0,60}|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0e00-\u0e7f]|[\p{L}\p{M}][\p{L}\p{M}'’]*|\d[\d.,]*|[<>[\]{}|#*=:!?"`]/gu;
const URL_WORD = hashOf('<url>');
const MAIL_WORD = hashOf('<mail>');
const NUMBER_WORD = hashOf('<number>');

function wordsIn(sentence: string): Uint16Array {
  const words: number[] = [];
  let before = hashOf('<start>');
  for (const match of sentence.matchAll(TOKEN)) {
    const word = wordOf(match[0]);
    words.push(word & WORD_MASK, (Math.imul(before, 31) + word) & WORD_MASK);
    before = word;
  }
  return Uint16Array.from(words);
}

function wordOf(token: string): number {
  const code = token.charCodeAt(0);
  if (code >= 48 && code <= 57) return NUMBER_WORD;
  if (token.startsWith('http')) return token.includes('://') ? URL_WORD : hashOf(token);
  return token.includes('@') ? MAIL_WORD : hashOf(token);
}

/** FNV-1a, mixed once more, so that the low bits depend on all. */
function hashOf(word: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < word.length; at++) hash = Math.imul(hash ^ word.charCodeAt(at), 0x01000193);
  hash ^= hash >>> 15;
  hash = Math.imul(hash, 0x2c1b3c6d);
  return (hash ^ (hash >>> 12)) >>> 0;
}

/** The place of a pair of signs in their table. */
export function pairAt(first: number, second: number): number {
  return first * SIGNS.length - (first * (first + 1)) / 2 + (second - first - 1);
}
