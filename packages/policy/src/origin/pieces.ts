/**
 * The pieces of a value that may have come from different places: items of a list, members of a JSON text, name and
 * domain of a mail address, host and path of a link, lines and sentences, and the words that tell the most.
 */
import { parseJson } from '@cordon/core';
import { isDictionary, isList, type Value } from '../values/value.ts';
import { isAddress, type Words, wordsOf } from './words.ts';

/** Texts and numbers in a value, wherever they stand; null: there are too many. What is neither says nothing. */
export function leavesOf(value: Value, most: number): readonly string[] | null {
  const leaves: string[] = [];
  const open: Value[] = [value];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next === 'string') leaves.push(next);
    else if (typeof next === 'number') leaves.push(String(next));
    else if (isList(next))
      for (let index = next.length - 1; index >= 0; index--) open.push(next[index] ?? null);
    else if (isDictionary(next)) for (const inner of Object.values(next).reverse()) open.push(inner);
    if (leaves.length + open.length > most) return null;
  }
  return leaves;
}

/** The texts and numbers in a text that is JSON; null: it is none. Names of members are the model's own. */
function membersOf(text: string): readonly string[] | null {
  const start = /^\s*[[{]/.exec(text);
  const parsed = start === null ? null : parseJson(text);
  return parsed?.ok === true ? leavesOf(parsed.value, Number.POSITIVE_INFINITY) : null;
}

/** A part of a value that may have come from elsewhere than the rest. */
export interface Piece {
  readonly text: string;
  /** Whether finding it says something by itself: `Best regards` stands everywhere. */
  readonly isTelling: boolean;
}

/** Together they are the whole value. Empty: it has none, and stands in a text as it is or not at all. */
export function piecesOf(value: string): readonly Piece[] {
  const parts =
    membersOf(value) ?? namedAddress(value) ?? linkPieces(value) ?? mailPieces(value) ?? listItems(value);
  const pieces = parts?.map((text) => ({ text, isTelling: true })) ?? spokenPieces(value);
  const known = new Map<string, Piece>();
  for (const { text, isTelling } of pieces) {
    const trimmed = text.trim();
    const isKnown = known.get(trimmed)?.isTelling === true;
    if (/[\p{L}\p{N}]/u.test(trimmed)) known.set(trimmed, { text: trimmed, isTelling: isTelling || isKnown });
  }
  return [...known.values()];
}

/** `Ada Lovelace <ada@example.org>` */
function namedAddress(value: string): readonly string[] | null {
  const [, name, address] = /^([^<>]{1,200})<([^<>\s]{1,300})>\s*$/.exec(value) ?? [];
  return name === undefined || address === undefined ? null : [name, address];
}

/** Host, and what stands between the slashes of its path and the signs of its query. */
function linkPieces(value: string): readonly string[] | null {
  const [, host, rest] = /^\s*[a-z][a-z0-9+.-]{1,15}:\/\/([^\s/?#]{1,300})([/?#]\S*)?\s*$/i.exec(value) ?? [];
  if (host === undefined) return null;
  const plain = host.replace(/^www\./i, '');
  return [plain, ...(rest ?? '').split(/[/?#&=]+/)];
}

/**
 * What a value lies in: the folder of an absolute path, `/user/info` of `/user/info/ada.txt`, or the host of a link, `news.example` of
 * `https://www.news.example/today`. Null: it is neither, or goes through `..`.
 */
export function placeOf(value: string): string | null {
  const folder = /^\s*((?:\/\w[\w.-]{0,99}){1,20})\/\w[\w.-]{0,99}\s*$/.exec(value)?.[1];
  const host =
    /^\s*(?:https?:\/\/(?:www\.)?|www\.)([a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){1,8})(?:[/?#]\S*)?\s*$/i;
  return folder ?? host.exec(value)?.[1] ?? null;
}

/** The ways in which a text may have it as a word of its own: `news.example` is none in `www.news.example`. */
export function spokenPlaces(place: string): readonly string[] {
  return place.startsWith('/') ? [place] : [place, `www.${place}`];
}

/**
 * Whether a text names what a value lies in, and means it: the very host of a link; the folder of a path, and a word of the file's name.
 * Attack: who has one file read, `/docs/a.txt`, has not named the folder, and of a host everybody has a page; nor does a text name `/docs.old`,
 * `news.example.evil.example`, or the host of an address of mail. Who wants a receipt saved in `/docs` has not named `/docs/eve.txt`.
 */
export function namesPlaceOf(value: string, text: string): boolean {
  const place = placeOf(value);
  if (place === null) return false;
  const literal = place.replaceAll('.', '\\.');
  const isPath = place.startsWith('/');
  const before = isPath
    ? '(?<![\\p{L}\\p{N}_@./~-])'
    : '(?<![\\p{L}\\p{N}_@.-])(?<!/(?<!https?://))(?:www\\.)?';
  // Nothing of a longer path, and no other name.
  const after = '(?=/?(?:[\\s"\')\\]},;!?]|[.:]?(?:\\s|$)))';
  if (!new RegExp(`${before}${literal}${after}`, 'iu').test(text)) return false;
  if (!isPath) return true;
  const name = value.slice(value.lastIndexOf('/')).replace(/\.\w{1,5}\s*$/, '');
  return sharesWord(name, text.replaceAll(place, ''));
}

/** Fewer letters say nothing. */
const LEAST_WORD = 3;

function sharesWord(name: string, text: string): boolean {
  const said = new Set(wordsOf(text).words);
  return wordsOf(name.replaceAll('_', ' ')).words.some((word) => word.length >= LEAST_WORD && said.has(word));
}

/** `ada.lovelace@example.org`: the domain, and each word of the name. */
function mailPieces(value: string): readonly string[] | null {
  const [, name, domain] = /^\s*([\p{L}\p{N}._+-]{1,64})@([\p{L}\p{N}.-]{1,255})\s*$/u.exec(value) ?? [];
  if (name === undefined || domain === undefined) return null;
  return [domain, ...name.split(/[._+-]+/)];
}

/** `a@x.org, b@x.org; c@x.org`: short items, so that no sentence is taken for a list. */
function listItems(value: string): readonly string[] | null {
  const items = value.split(/[,;\n]/).map((item) => item.trim());
  const areShort = items.every((item) => item.length <= 80 && item.split(/\s+/).length <= 3);
  return items.length > 1 && areShort ? items : null;
}

/** Fewer words stand everywhere. */
const LEAST_TELLING = 4;

/** Lines and sentences, and words that tell the most: addresses, codes, long numbers. */
function spokenPieces(value: string): readonly Piece[] {
  const spoken = wordsOf(value);
  if (spoken.words.length < 2) return [];
  const parts = value.split(/\n+|(?<=[.!?])\s+/);
  const sentences = parts.map((text) => ({ text, isTelling: wordsOf(text).words.length >= LEAST_TELLING }));
  return [...sentences, ...tellingRuns(spoken).map((text) => ({ text, isTelling: true }))];
}

/** Runs of joined words that are an address, or hold a number of four digits or letters with digits. */
function tellingRuns(spoken: Words): readonly string[] {
  const { text, words, joins, starts, ends } = spoken;
  const runs: string[] = [];
  for (let from = 0, to = 1; from < words.length; from = to, to++) {
    while (to < words.length && joins[to] !== 0) to++;
    const run = { words: words.slice(from, to), joins: joins.slice(from, to) };
    const isCode = run.words.some((word) => /\d{4}/.test(word) || /\d\p{L}|\p{L}\d/u.test(word));
    const length = (ends[to - 1] ?? 0) - (starts[from] ?? 0);
    if (length >= 4 && (isCode || isAddress(run))) runs.push(text.slice(starts[from], ends[to - 1]));
  }
  return runs;
}
