/**
 * Patterns whose matches are short and begin with one of a few texts: only where such a text stands can a match be,
 * and looking for a fixed text is many times faster than any automaton.
 *
 * Ring 0.
 */
import type { LinearMatcher, Match } from './linear.ts';
import { type Alternatives, membersOf } from './literals.ts';
import type { Node } from './syntax-tree.ts';

export interface Prefixes {
  /** Each match begins with one of them. */
  readonly texts: Alternatives;
  /** UTF-16 units that no match is longer than. */
  readonly width: number;
}

const MAX_TEXTS = 8;
const MAX_TEXT = 32;
/** A single character occurs too often to lead anywhere. */
const LEAST_TEXT = 2;
/** Code points of a match: each place is looked at as far. */
const MAX_MATCH = 256;

/** Null: nothing like that is known of the pattern, or it looks beyond its matches. */
export function prefixesOf(root: Node): Prefixes | null {
  if (root.most > MAX_MATCH || looksAround(root)) return null;
  const texts = beginningOf(root)?.texts ?? [];
  const isTelling = texts.length > 0 && texts.every((text) => text.length >= LEAST_TEXT);
  return isTelling ? { texts, width: 2 * root.most } : null;
}

interface Beginning {
  readonly texts: Alternatives;
  /** These are all that the node matches, so what stands behind it goes on from there. */
  readonly isWhole: boolean;
}

function beginningOf(node: Node): Beginning | null {
  switch (node.kind) {
    case 'set': {
      const texts = membersOf(node.set);
      return texts === null ? null : { texts, isWhole: true };
    }
    case 'sequence':
      return beginningOfSequence(node.items);
    case 'choice': {
      const branches = node.branches.map(beginningOf);
      const texts = branches.flatMap((branch) => branch?.texts ?? ['']);
      return texts.length > MAX_TEXTS
        ? null
        : { texts, isWhole: branches.every((one) => one?.isWhole === true) };
    }
    case 'group':
      return beginningOf(node.body);
    case 'repeat': {
      const body = node.min === 0 ? null : beginningOf(node.body);
      return body === null ? null : { texts: body.texts, isWhole: body.isWhole && node.max === 1 };
    }
    default:
      return null;
  }
}

function beginningOfSequence(items: readonly Node[]): Beginning {
  let texts: Alternatives = [''];
  for (const item of items) {
    const next = beginningOf(item);
    if (next === null || next.texts.length * texts.length > MAX_TEXTS) return { texts, isWhole: false };
    const longer = texts.flatMap((first) => next.texts.map((second) => first + second));
    if (longer.some((text) => text.length > MAX_TEXT)) return { texts, isWhole: false };
    texts = longer;
    if (!next.isWhole) return { texts, isWhole: false };
  }
  return { texts, isWhole: true };
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

export class PrefixedMatcher {
  readonly #prefixes: Prefixes;
  readonly #matcher: FindMatcher;

  constructor(prefixes: Prefixes, matcher: FindMatcher) {
    this.#prefixes = prefixes;
    this.#matcher = matcher;
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
      const found = this.#matcher.findAll(text.slice(start, start + width));
      const match = found === 'exhausted' ? undefined : found[0];
      if (match?.start === 0) matches.push({ start, end: start + match.end });
      else if (--misses < 0 || found === 'exhausted') return this.#matcher.findAll(text);
      from = match?.start === 0 ? start + match.end : start + 1;
      for (const [index, prefix] of texts.entries()) {
        const place = places[index] ?? -1;
        if (place >= 0 && place < from) places[index] = text.indexOf(prefix, from);
      }
    }
    return matches;
  }
}

function first(places: readonly number[]): number {
  let least = -1;
  for (const place of places) if (place >= 0 && (least < 0 || place < least)) least = place;
  return least;
}
