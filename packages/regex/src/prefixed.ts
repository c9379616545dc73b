/**
 * Patterns whose matches are short and begin with one of a few texts: only where such a text stands can a match be,
 * and looking for a fixed text is many times faster than any automaton.
 *
 * Ring 0.
 */
import { type CodePointSet, contains } from './code-point-set.ts';
import { type LinearMatcher, type Match, NO_MATCHES } from './linear.ts';
import { type Alternatives, firstOf, membersOf } from './literals.ts';
import type { Node } from './syntax-tree.ts';

export interface Prefixes {
  /** Each match begins with one of them. */
  readonly texts: Alternatives;
  /** By text: which characters stand behind it in each match, as far as is known. */
  readonly behind: readonly (readonly CodePointSet[])[];
  /** UTF-16 units that no match is longer than. */
  readonly width: number;
}

const MAX_TEXTS = 8;
const MAX_TEXT = 32;
/** A single character occurs too often to lead anywhere. */
const LEAST_TEXT = 2;
/** Characters behind a beginning that are looked at: these two tell a token from a word. */
const MAX_BEHIND = 2;
/** Code points of a match: each place is looked at as far. */
const MAX_MATCH = 256;

/** Null: nothing like that is known of the pattern, or it looks beyond its matches. */
export function prefixesOf(root: Node): Prefixes | null {
  if (root.most > MAX_MATCH || looksAround(root)) return null;
  const starts = beginningOf(root)?.starts ?? [];
  const texts = starts.map(({ text }) => text);
  const isTelling = texts.length > 0 && texts.every((text) => text.length >= LEAST_TEXT);
  return isTelling ? { texts, behind: starts.map(({ behind }) => behind), width: 2 * root.most } : null;
}

interface Beginning {
  readonly starts: readonly Start[];
  /** These are all that the node matches, so what stands behind it goes on from there. */
  readonly isWhole: boolean;
}

interface Start {
  readonly text: string;
  readonly behind: readonly CodePointSet[];
}

const NOTHING: Start = { text: '', behind: [] };

function beginningOf(node: Node): Beginning | null {
  switch (node.kind) {
    case 'set': {
      const texts = membersOf(node.set);
      return texts === null ? null : { starts: texts.map((text) => ({ text, behind: [] })), isWhole: true };
    }
    case 'sequence':
      return beginningOfSequence(node.items);
    case 'choice': {
      const branches = node.branches.map(beginningOf);
      const starts = branches.flatMap((branch) => branch?.starts ?? [NOTHING]);
      return starts.length > MAX_TEXTS
        ? null
        : { starts, isWhole: branches.every((one) => one?.isWhole === true) };
    }
    case 'group':
      return beginningOf(node.body);
    case 'repeat': {
      const body = node.min === 0 ? null : beginningOf(node.body);
      if (body === null) return null;
      const isWhole = body.isWhole && node.max === 1;
      return { starts: body.starts, isWhole };
    }
    default:
      return null;
  }
}

function beginningOfSequence(items: readonly Node[]): Beginning {
  let starts: readonly Start[] = [NOTHING];
  for (const [index, item] of items.entries()) {
    const next = beginningOf(item);
    const longer = next === null ? null : joined(starts, next.starts);
    if (next === null || longer === null) {
      const behind = charactersOf(items.slice(index, index + MAX_BEHIND));
      return { starts: starts.map(({ text }) => ({ text, behind })), isWhole: false };
    }
    starts = longer;
    if (!next.isWhole) return { starts, isWhole: false };
  }
  return { starts, isWhole: true };
}

/** What goes on from whole texts; null: too many or too long. */
function joined(starts: readonly Start[], next: readonly Start[]): readonly Start[] | null {
  if (next.length * starts.length > MAX_TEXTS) return null;
  const longer = starts.flatMap((first) =>
    next.map((second): Start => ({ text: first.text + second.text, behind: second.behind })),
  );
  return longer.some(({ text }) => text.length > MAX_TEXT) ? null : longer;
}

/** The first characters of a sequence, as long as each part is one. */
function charactersOf(items: readonly Node[]): readonly CodePointSet[] {
  const known: CodePointSet[] = [];
  for (const item of items) {
    const first = firstOf(item);
    if (first === null) break;
    known.push(first);
    if (item.kind !== 'set') break;
  }
  return known;
}

/** Whether what stands before or behind a match matters for it. */
function looksAround(node: Node): boolean {
  switch (node.kind) {
    case 'set':
      return false;
    case 'sequence':
      return node.items.some(looksAround);
    case 'choice':
      return node.branches.some(looksAround);
    case 'group':
    case 'repeat':
      return looksAround(node.body);
    default:
      return true;
  }
}

/** Places that lead to no match, for each so many characters: beyond, reading the whole text once costs less. */
const CHARACTERS_A_MISS = 256;

/** What reads a whole text; where a text is missing that each match has, it must find nothing, as this does. */
type FindMatcher = Pick<LinearMatcher, 'startsWith' | 'findAll'>;

/** A place where a look at the next characters suffices costs as much less. */
const A_GLANCE = 1 / 16;

export class PrefixedMatcher {
  readonly #prefixes: Prefixes;
  readonly #matcher: FindMatcher;
  /** By text, for each character behind it: 1 where an ASCII character may stand there. */
  readonly #behind: readonly (readonly Uint8Array[])[];

  constructor(prefixes: Prefixes, matcher: FindMatcher) {
    this.#prefixes = prefixes;
    this.#matcher = matcher;
    this.#behind = prefixes.behind.map((sets) => sets.map(asciiOf));
  }

  startsWith(text: string): ReturnType<LinearMatcher['startsWith']> {
    return this.#matcher.startsWith(text);
  }

  findAll(text: string): ReturnType<LinearMatcher['findAll']> {
    const { texts, width } = this.#prefixes;
    const places = texts.map((prefix) => text.indexOf(prefix));
    const matches: Match[] = [];
    let misses = 16 + text.length / CHARACTERS_A_MISS;
    let from = 0;
    for (let start = first(places); start >= 0; start = first(places)) {
      const isPossible = this.#canGoOn(text, places, start);
      const found = isPossible ? this.#matcher.findAll(text.slice(start, start + width)) : NO_MATCHES;
      const match = found === 'exhausted' ? undefined : found[0];
      const isMatch = match?.start === 0;
      if (isMatch) matches.push({ start, end: start + match.end });
      else misses -= isPossible ? 1 : A_GLANCE;
      if (misses < 0 || found === 'exhausted') return this.#matcher.findAll(text);
      from = isMatch ? start + match.end : start + 1;
      for (const [index, prefix] of texts.entries()) {
        const place = places[index] ?? -1;
        if (place >= 0 && place < from) places[index] = text.indexOf(prefix, from);
      }
    }
    return matches;
  }

  /** Whether behind one of the texts that stand at `start` there are characters with which a match can go on. */
  #canGoOn(text: string, places: readonly number[], start: number): boolean {
    const { texts } = this.#prefixes;
    for (let index = 0; index < texts.length; index++) {
      if (places[index] !== start) continue;
      const end = start + (texts[index]?.length ?? 0);
      if (areAllowed(this.#behind[index] ?? [], text, end)) return true;
    }
    return false;
  }
}

function areAllowed(sets: readonly Uint8Array[], text: string, from: number): boolean {
  for (let index = 0; index < sets.length; index++) {
    if (from + index >= text.length) return false;
    const unit = text.charCodeAt(from + index);
    // What others are takes a closer look, and they may be two units wide.
    if (unit >= ASCII) return true;
    if (sets[index]?.[unit] !== 1) return false;
  }
  return true;
}

const ASCII = 128;

function asciiOf(set: CodePointSet): Uint8Array {
  return Uint8Array.from({ length: ASCII }, (_, unit) => (contains(set, unit) ? 1 : 0));
}

function first(places: readonly number[]): number {
  let least = -1;
  for (const place of places) if (place >= 0 && (least < 0 || place < least)) least = place;
  return least;
}
