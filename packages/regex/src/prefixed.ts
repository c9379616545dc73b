/**
 * Patterns whose matches are short and begin with one of a few texts: only where such a text stands can a match be,
 * and looking for a fixed text is many times faster than any automaton.
 */
import type { LinearMatcher, Match } from './linear.ts';
import { type Alternatives, joined, looksAround, MAX_TEXTS, textsOf } from './literals.ts';
import type { Node } from './syntax-tree.ts';

export interface Prefixes {
  /** Each match begins with one of them. */
  readonly texts: Alternatives;
  /** UTF-16 units that no match is longer than. */
  readonly width: number;
}

/** A single character occurs too often to lead anywhere. */
const LEAST_TEXT = 2;
/** Code points of a match: each place is looked at as far. */
const MAX_MATCH = 256;

/** Null: nothing like that is known of the pattern, or it looks beyond its matches. */
export function prefixesOf(root: Node): Prefixes | null {
  if (root.most > MAX_MATCH || looksAround(root)) return null;
  const texts = startsOf(root);
  const isTelling = texts?.every((text) => text.length >= LEAST_TEXT) === true;
  return isTelling ? { texts, width: 2 * root.most } : null;
}

/** Texts of which each match begins with one; null: too many, or nothing is known. */
function startsOf(node: Node): Alternatives | null {
  const whole = textsOf(node);
  if (whole !== null) return whole;
  switch (node.kind) {
    case 'sequence':
      return startsOfSequence(node.items);
    case 'choice': {
      const branches = node.branches.map(startsOf);
      const texts = branches.every((branch) => branch !== null) ? branches.flat() : [];
      return texts.length === 0 || texts.length > MAX_TEXTS ? null : texts;
    }
    case 'group':
      return startsOf(node.body);
    case 'repeat':
      return node.min === 0 ? null : startsOf(node.body);
    default:
      return null;
  }
}

function startsOfSequence(items: readonly Node[]): Alternatives {
  let texts: Alternatives = [''];
  for (const item of items) {
    const longer = joined(texts, startsOf(item) ?? ['']);
    if (longer === null) break;
    texts = longer;
    // What stands behind this part goes on from the texts only if they are all that the part matches.
    if (textsOf(item) === null) break;
  }
  return texts;
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
    for (let start = first(places); start >= 0; start = first(places)) {
      const found = this.#matcher.findAll(text.slice(start, start + width));
      const match = found === 'exhausted' ? undefined : found[0];
      const isMatch = match?.start === 0;
      if (isMatch) matches.push({ start, end: start + match.end });
      else misses--;
      if (misses < 0 || found === 'exhausted') return this.#matcher.findAll(text);
      const from = isMatch ? start + match.end : start + 1;
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
