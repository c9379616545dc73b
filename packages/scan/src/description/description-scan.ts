/**
 * Suspicious passages in what an app says of itself, for its reviewer. It reports only what honest descriptions do not
 * have, because whoever meets false findings stops reading. A hint and no more: an attack can be written without any of
 * these signs. Nothing is decided by it.
 *
 * Pure; what detectors find besides is handed in.
 */
import type { DescriptionFinding } from '@cordon/console/review';
import { isJsonObject, type Json } from '@cordon/core';
import type { AppDescription } from '@cordon/hub';
import type { OtherApp } from '@cordon/runtime/compose';
import { namePatterns } from './other-names.ts';
import { WORDINGS } from './wordings.ts';

type FindingKind = DescriptionFinding['kind'];

const MOST_FINDINGS = 100;
const MOST_EXCERPT = 120;
/** Honest descriptions are shorter, and nobody reads a longer one to its end. */
const LONG_TEXT = 8_000;
const LONG_INSTRUCTIONS = 12_000;

/** Where a text gives orders to an agent: a detector's word, handed in by who has one. */
export type FindOrders = (text: string) => readonly { readonly start: number; readonly end: number }[];

/** In the order of the text; at most 100, and beyond them the first of each tool. `findOrders`: looks for more of them than have a sign of their own. */
export function scanDescription(
  description: AppDescription,
  others: readonly OtherApp[],
  findOrders: FindOrders = () => [],
): readonly DescriptionFinding[] {
  const own = new Set(description.tools.map(({ name }) => name));
  const names = namePatterns(others, own);
  const findings: DescriptionFinding[] = [];
  const found = new Set<string | null>();
  for (const { tool, where, text } of textsOf(description)) {
    // Attack: a hundred harmless findings in the first tool, and the one that matters in the last.
    if (findings.length >= MOST_FINDINGS && found.has(tool)) continue;
    const known = [...signsOf(where, text, names)];
    const signs = [...known, ...furtherOrders(text, known, findOrders)].sort((a, b) => a.start - b.start);
    for (const { kind, start, end, excerpt = text.slice(start, end) } of signs) {
      findings.push({ kind, tool, where, range: { start, end }, excerpt: shortened(excerpt) });
      found.add(tool);
      if (findings.length >= MOST_FINDINGS) break;
    }
  }
  return findings;
}

interface Sign {
  readonly kind: FindingKind;
  readonly start: number;
  readonly end: number;
  /** Where it is not the text itself. */
  readonly excerpt?: string;
}

function shortened(text: string): string {
  return text.length > MOST_EXCERPT ? `${text.slice(0, MOST_EXCERPT)}…` : text;
}

/** Every text that somebody may read: keys of schemas, too. */
function* textsOf({
  instructions,
  tools,
}: AppDescription): Generator<PlacedText & { readonly tool: string | null }> {
  if (instructions !== '') yield { tool: null, where: 'instructions', text: instructions };
  for (const tool of tools) for (const placed of textsOfTool(tool)) yield { tool: tool.name, ...placed };
}

interface PlacedText {
  readonly where: string;
  readonly text: string;
}

function* textsOfTool(tool: AppDescription['tools'][number]): Generator<PlacedText> {
  const { name, title, description, input, output, annotations } = tool;
  yield { where: `${name}: name`, text: name };
  if (title !== null) yield { where: `${name}: title`, text: title };
  if (description !== null) yield { where: `${name}: description`, text: description };
  yield* textsIn(`${name}: input`, input);
  yield* textsIn(`${name}: output`, output);
  yield* textsIn(`${name}: annotations`, annotations);
}

function* textsIn(where: string, value: Json): Generator<PlacedText> {
  if (typeof value === 'string') {
    if (!DIALECT.test(value)) yield { where, text: value };
  } else if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) yield* textsIn(`${where}.${index}`, item);
  } else if (isJsonObject(value)) {
    for (const [key, inner] of Object.entries(value)) {
      if (!SCHEMA_WORD.test(key)) yield { where: `${where}, a key`, text: key };
      yield* textsIn(`${where}.${key.slice(0, 60)}`, inner);
    }
  }
}

/** What `$schema` says everywhere. */
const DIALECT = /^https?:\/\/json-schema\.org\/draft[a-z0-9/-]{1,40}\/schema#?$/;
/** What keys of schemas are usually like: not worth looking at. */
const SCHEMA_WORD = /^[$A-Za-z_][A-Za-z0-9_-]{0,39}$/;

function* signsOf(where: string, text: string, names: readonly RegExp[]): Generator<Sign> {
  yield* hiddenText(text);
  yield* runs(text, DIRECTION, 'text-direction');
  yield* runs(text, MIXED_WORD, 'look-alike');
  yield* runs(text, BLANK, 'pushed-away');
  const plain = plainText(text);
  if (where.endsWith('.$schema')) yield { kind: 'address', start: 0, end: text.length };
  for (const { kind, pattern } of WORDINGS) yield* inOriginal(plain, runs(plain.text, pattern, kind));
  for (const pattern of names) yield* inOriginal(plain, runs(plain.text, pattern, 'other-app'));
  yield* encodedText(text);
  const most = where === 'instructions' ? LONG_INSTRUCTIONS : LONG_TEXT;
  if (text.length > most)
    yield { kind: 'very-long', start: 0, end: text.length, excerpt: `${text.length} characters` };
}

/** One order is reported once. */
function furtherOrders(text: string, known: readonly Sign[], findOrders: FindOrders): readonly Sign[] {
  // One word orders nothing, and most texts of a schema are one.
  if (SCHEMA_WORD.test(text)) return [];
  const told = known.filter(({ kind }) => kind === 'instruction');
  return findOrders(text)
    .filter(({ start, end }) => !told.some((one) => one.start < end && start < one.end))
    .map(({ start, end }) => ({ kind: 'instruction', start, end }));
}

function* runs(text: string, pattern: RegExp, kind: FindingKind): Generator<Sign> {
  for (const match of text.matchAll(pattern))
    yield { kind, start: match.index, end: match.index + match[0].length };
}

/** Controls, zero-width and other characters without a shape; line breaks and tabs are none. */
const HIDDEN =
  /(?![\t\n\r\u200e\u200f\u202a-\u202e\u2066-\u2069])[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Cs}\p{DI}\u2800\u3164]+/gu;
const DIRECTION = /[\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069]+/gu;
/** Latin and Cyrillic or Greek letters in one word. */
const MIXED_WORD =
  /(?<!\p{L})(?=\p{L}{0,40}\p{Script=Latin})(?=\p{L}{0,40}[\p{Script=Cyrillic}\p{Script=Greek}])\p{L}{2,40}/gu;
const BLANK = /(?:[ \t\r\u00a0]{24,400}|\n[\n\r \t]{8,400})/gu;
const LONE_EMOJI_STYLE = /^\ufe0f$/u;

function* hiddenText(text: string): Generator<Sign> {
  for (const { start, end } of runs(text, HIDDEN, 'hidden-text')) {
    const run = text.slice(start, end);
    // It gives an emoji its colours.
    if (LONE_EMOJI_STYLE.test(run)) continue;
    yield { kind: 'hidden-text', start, end, excerpt: decodedTags(run) ?? codePoints(run) };
  }
}

/** Tag characters spell ASCII that models read and people do not see. */
function decodedTags(run: string): string | null {
  const said = [...run]
    .map((character) => (character.codePointAt(0) ?? 0) - 0xe0000)
    .filter((code) => code >= 0x20 && code < 0x7f);
  return said.length === 0 ? null : `says unseen: ${String.fromCharCode(...said.slice(0, MOST_EXCERPT))}`;
}

function codePoints(run: string): string {
  const all = [...run].map((character) => (character.codePointAt(0) ?? 0).toString(16).toUpperCase());
  const shown = all.slice(0, 6).map((code) => `U+${code.padStart(4, '0')}`);
  return all.length > shown.length
    ? `${shown.join(' ')} and ${all.length - shown.length} more`
    : shown.join(' ');
}

/** Lower case, compatibility forms unified, without characters that have no shape: what a model makes of it. */
interface PlainText {
  readonly text: string;
  /** Where each unit stands in the original. */
  readonly from: readonly number[];
}

function plainText(original: string): PlainText {
  let text = '';
  const from: number[] = [];
  let at = 0;
  for (const character of original) {
    const plain = SHAPELESS.test(character) ? '' : character.normalize('NFKC').toLowerCase();
    const written = /\s/u.test(plain) ? ' ' : plain;
    text += written;
    for (let unit = 0; unit < written.length; unit++) from.push(at);
    at += character.length;
  }
  from.push(original.length);
  return { text, from };
}

const SHAPELESS = /^[\p{Cf}\p{DI}]$/u;

function* inOriginal(plain: PlainText, signs: Iterable<Sign>): Generator<Sign> {
  for (const { kind, start, end } of signs)
    yield { kind, start: plain.from[start] ?? 0, end: plain.from[end] ?? plain.from.at(-1) ?? 0 };
}

const BASE64 = /[A-Za-z0-9+/_-]{40,100000}={0,2}/g;
const HEX = /(?:\\x[0-9a-f]{2}|\\u[0-9a-f]{4}|%[0-9a-f]{2}|&#x?[0-9a-f]{2,6};){8,10000}/gi;

/** Digests, keys and ids of files are encoded, too: what can steer a model is a text. */
function* encodedText(text: string): Generator<Sign> {
  yield* runs(text, HEX, 'encoded');
  for (const sign of runs(text, BASE64, 'encoded')) {
    const decoded = Buffer.from(text.slice(sign.start, sign.end), 'base64').toString('latin1');
    if (/^[\t\n\r -~]{12,}/.test(decoded)) yield { ...sign, excerpt: `says when decoded: ${decoded}` };
  }
}
