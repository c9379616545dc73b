/**
 * The alphabet of a program: code points between which none of its sets and assertions can tell a difference are
 * one symbol, so that an automaton needs a handful of edges a state and not a million.
 */
import { type CodePointSet, category, contains, LAST_CODE_POINT, NEWLINE, setOf } from './code-point-set.ts';
import {
  ASCII_WORD,
  ASKED,
  contextOf,
  EDGE,
  LAST_LINE_FEED,
  LINE_FEED,
  type Program,
  WORD,
} from './program.ts';

export class Alphabet {
  /** How many symbols there are, with the two that follow. */
  readonly size: number;
  /** A newline that ends the text. */
  readonly lastNewline: number;
  /** No character: the start or the end of the text. */
  readonly edge: number;
  /** Symbols of ASCII, the only ones that loops look up by themselves. */
  readonly ascii: Uint16Array;
  /** What assertions may ask of the character before and behind a place, by symbol; 0 where none asks. */
  readonly before: Uint8Array;
  readonly behind: Uint8Array;
  /** First code points of the stretches of equal symbol, and the symbols. */
  readonly #starts: Uint32Array;
  readonly #symbols: Uint16Array;
  /** One code point for each symbol. */
  readonly #members: number[] = [];
  /** Symbols of the basic plane, 256 at a time, when a text first needs them. */
  readonly #pages: (Uint16Array | undefined)[] = [];

  constructor(program: Program) {
    const mask = askedBy(program);
    const { starts, symbols, count } = partition(setsOf(program, mask.before | mask.behind));
    this.#starts = starts;
    this.#symbols = symbols;
    for (const [index, symbol] of symbols.entries()) this.#members[symbol] = starts[index] ?? 0;
    this.lastNewline = count;
    this.#members[count] = NEWLINE;
    this.edge = count + 1;
    this.size = count + 2;
    this.ascii = Uint16Array.from({ length: 128 }, (_, codePoint) => this.#search(codePoint));
    this.before = this.#contexts(mask.before);
    this.behind = this.#contexts(mask.behind);
  }

  /** Any code point, a lone surrogate too. */
  symbolOf(codePoint: number): number {
    if (codePoint > 0xffff) return this.#search(codePoint);
    const page = codePoint >> 8;
    let symbols = this.#pages[page];
    if (symbols === undefined) {
      symbols = Uint16Array.from({ length: 256 }, (_, low) => this.#search(page * 256 + low));
      this.#pages[page] = symbols;
    }
    return symbols[codePoint & 0xff] ?? 0;
  }

  /** Whether the characters of a symbol (not `edge`) are in a set of the program. */
  isIn(symbol: number, set: CodePointSet): boolean {
    return contains(set, this.#members[symbol] ?? 0);
  }

  #search(codePoint: number): number {
    return this.#symbols[indexOf(this.#starts, codePoint, 0)] ?? 0;
  }

  #contexts(mask: number): Uint8Array {
    const contexts = Uint8Array.from({ length: this.size }, (_, symbol) =>
      contextOf(this.#members[symbol] ?? 0),
    );
    contexts[this.lastNewline] = LINE_FEED | LAST_LINE_FEED;
    contexts[this.edge] = EDGE;
    return contexts.map((context) => context & mask);
  }
}

function askedBy(program: Program): { readonly before: number; readonly behind: number } {
  let before = 0;
  let behind = 0;
  for (const instruction of program.instructions) {
    if (instruction.kind !== 'assertion') continue;
    before |= ASKED[instruction.at].before;
    behind |= ASKED[instruction.at].behind;
  }
  return { before, behind };
}

/** All sets that matter, those that only assertions look at included. */
function setsOf(program: Program, context: number): ReadonlySet<CodePointSet> {
  const sets = new Set<CodePointSet>();
  for (const instruction of program.instructions) if (instruction.kind === 'set') sets.add(instruction.set);
  if ((context & (LINE_FEED | LAST_LINE_FEED)) !== 0) sets.add(setOf(NEWLINE));
  if ((context & WORD) !== 0) sets.add(category('word', false, false));
  if ((context & (WORD | ASCII_WORD)) !== 0) sets.add(category('word', true, false));
  return sets;
}

interface Partition {
  readonly starts: Uint32Array;
  readonly symbols: Uint16Array;
  readonly count: number;
}

/** Splits the classes by one set after the other; the work is the number of stretches that the sets cover. */
function partition(sets: ReadonlySet<CodePointSet>): Partition {
  const starts = edgesOf(sets);
  const classes = new Uint32Array(starts.length);
  let next = 1;
  for (const set of sets) {
    const renamed = new Map<number, number>();
    let index = 0;
    for (let at = 0; at < set.length; at += 2) {
      const first = set[at] ?? 0;
      const last = set[at + 1] ?? 0;
      index = indexOf(starts, first, index);
      for (; index < starts.length && (starts[index] ?? 0) <= last; index++) {
        const old = classes[index] ?? 0;
        const known = renamed.get(old);
        classes[index] = known ?? next;
        if (known === undefined) renamed.set(old, next++);
      }
    }
  }
  const numbers = new Map<number, number>();
  const symbols = new Uint16Array(starts.length);
  for (const [index, one] of classes.entries()) {
    const known = numbers.get(one) ?? numbers.size;
    numbers.set(one, known);
    symbols[index] = known;
  }
  return { starts, symbols, count: numbers.size };
}

/** Where a set begins or has ended, in order. */
function edgesOf(sets: ReadonlySet<CodePointSet>): Uint32Array {
  let count = 1;
  for (const set of sets) count += set.length;
  const edges = new Uint32Array(count);
  let at = 1;
  for (const set of sets)
    for (let index = 0; index < set.length; index++) edges[at++] = (set[index] ?? 0) + (index & 1);
  edges.sort();
  return edges.filter((edge, index) => edge <= LAST_CODE_POINT && (index === 0 || edge !== edges[index - 1]));
}

/** The last place from `low` on at which `starts` is not above `wanted`. */
function indexOf(starts: Uint32Array, wanted: number, low: number): number {
  let first = low;
  let last = starts.length - 1;
  while (first < last) {
    const middle = (first + last + 1) >> 1;
    if ((starts[middle] ?? 0) <= wanted) first = middle;
    else last = middle - 1;
  }
  return first;
}
