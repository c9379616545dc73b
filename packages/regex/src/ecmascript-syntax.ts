/**
 * Parses patterns of JSON Schemas: ECMAScript's syntax with the flag `u`, as far as it runs in linear time. What it accepts means
 * what ECMAScript says. It refuses look-around, references, flags, and what other dialects read in another way (`{,3}`, `[]]`,
 * `[[:alpha:]]`). A schema with a refused pattern is unusable: no value passes it.
 */
import type { Result } from '@cordon/core';
import {
  type CodePointSet,
  category,
  complement,
  joined,
  LAST_CODE_POINT,
  setOf,
  union,
} from './code-point-set.ts';
import {
  assertionNode,
  choice,
  MAX_DEPTH,
  type Node,
  parsed,
  refuse,
  repeat,
  type SyntaxTree,
  sequence,
  setNode,
} from './syntax-tree.ts';

/** A failure is one sentence that never repeats the pattern, which may be data. */
export function parseSchemaPattern(pattern: string): Result<SyntaxTree, string> {
  return parsed(() => new SchemaPatternParser(pattern).parse());
}

class SchemaPatternParser {
  readonly #characters: readonly string[];
  #at = 0;

  constructor(pattern: string) {
    this.#characters = Array.from(pattern);
  }

  parse(): SyntaxTree {
    const root = this.#choice(0);
    if (this.#at < this.#characters.length) refuse('a `)` of the pattern closes nothing');
    return { root, groups: 0, needsBudget: false };
  }

  get #next(): string | undefined {
    return this.#characters[this.#at];
  }

  #take(): string {
    const taken = this.#next ?? refuse('the pattern ends too early');
    this.#at += 1;
    return taken;
  }

  #accept(text: string): boolean {
    const isNext = Array.from(text).every(
      (character, index) => this.#characters[this.#at + index] === character,
    );
    if (isNext) this.#at += text.length;
    return isNext;
  }

  #takeMatching(form: RegExp, most: number): string {
    let taken = '';
    while (taken.length < most && this.#next !== undefined && form.test(this.#next)) taken += this.#take();
    return taken;
  }

  #choice(depth: number): Node {
    if (depth > MAX_DEPTH) refuse(`the pattern is nested more than ${MAX_DEPTH} deep`);
    const branches = [this.#sequence(depth)];
    while (this.#accept('|')) branches.push(this.#sequence(depth));
    return choice(branches);
  }

  #sequence(depth: number): Node {
    const items: Node[] = [];
    while (this.#next !== undefined && this.#next !== '|' && this.#next !== ')')
      items.push(this.#term(depth));
    return sequence(items);
  }

  #term(depth: number): Node {
    const place = this.#assertion();
    if (place !== null) {
      if (this.#counts() !== null) refuse('a repetition in the pattern repeats a place');
      return place;
    }
    const atom = this.#atom(depth);
    const counts = this.#counts();
    if (counts === null) return atom;
    const mode = this.#accept('?') ? 'lazy' : 'greedy';
    if (this.#counts() !== null) refuse('a repetition in the pattern is repeated');
    return repeat(atom, ...counts, mode);
  }

  #assertion(): Node | null {
    const found = PLACES.find(([written]) => this.#accept(written));
    return found === undefined ? null : found[1];
  }

  #atom(depth: number): Node {
    const character = this.#take();
    switch (character) {
      case '(':
        return this.#group(depth);
      case '[':
        return setNode(this.#class());
      case '.':
        return setNode(NOT_LINE_END);
      case '\\':
        return setNode(this.#escape(false));
      case '*':
      case '+':
      case '?':
        return refuse('a repetition in the pattern repeats nothing');
      case '{':
        // Python reads `{,3}` as a repetition, ECMAScript does not.
        if (/^[\d,]$/.test(this.#next ?? '')) refuse('a `{` in the pattern begins no repetition');
        return setNode(single(character));
      default:
        return setNode(single(character));
    }
  }

  #group(depth: number): Node {
    if (this.#accept('?')) {
      const isNamed = this.#accept('<') && this.#takeMatching(/^[\p{ID_Continue}$]$/u, MOST_NAME) !== '';
      if (!this.#accept(isNamed ? '>' : ':')) refuse('look-around, flags and other `(?…` are not supported');
    }
    const body = this.#choice(depth + 1);
    return this.#accept(')') ? body : refuse('a group of the pattern has no `)`');
  }

  /** Null: no repetition follows. */
  #counts(): readonly [number, number] | null {
    if (this.#accept('*')) return [0, Number.POSITIVE_INFINITY];
    if (this.#accept('+')) return [1, Number.POSITIVE_INFINITY];
    if (this.#accept('?')) return [0, 1];
    const written =
      this.#next === '{' ? this.#characters.slice(this.#at, this.#at + MOST_COUNT).join('') : '';
    const [all, low = '', comma, high = ''] = /^\{(\d{1,9})(,)?(\d{1,9})?\}/.exec(written) ?? [];
    if (all === undefined) return null;
    this.#at += all.length;
    const min = Number(low);
    const max = comma === undefined ? min : high === '' ? Number.POSITIVE_INFINITY : Number(high);
    return max < min ? refuse('a repetition in the pattern has its limits reversed') : [min, max];
  }

  /** Behind the `[`. */
  #class(): CodePointSet {
    const isNegated = this.#accept('^');
    if (this.#next === ']') refuse('a set of characters in the pattern is empty');
    let set: CodePointSet = [];
    while (!this.#accept(']')) {
      const first = this.#member();
      const isRange = this.#next === '-' && this.#characters[this.#at + 1] !== ']';
      if (!isRange) {
        set = joined(set, first);
        continue;
      }
      this.#take();
      const last = this.#member();
      const [from, to] = [onlyOf(first), onlyOf(last)];
      if (to < from) refuse('a range of characters in the pattern is reversed');
      set = joined(set, [from, to]);
    }
    return isNegated ? complement(set) : set;
  }

  #member(): CodePointSet {
    const character = this.#take();
    if (character === '[' && /^[:.=]$/.test(this.#next ?? ''))
      refuse('named sets of characters (`[:…:]`) are not supported');
    return character === '\\' ? this.#escape(true) : single(character);
  }

  /** Behind the backslash. */
  #escape(isInClass: boolean): CodePointSet {
    const letter = this.#take();
    const named = CATEGORIES.get(letter);
    if (named !== undefined) return named;
    const control = CONTROLS.get(letter);
    if (control !== undefined) return setOf(control);
    switch (letter) {
      case 'b':
        return isInClass ? setOf(8) : refuse(UNKNOWN_ESCAPE);
      case 'c':
        return setOf((this.#takeMatching(/^[A-Za-z]$/, 1).codePointAt(0) ?? refuse(INCOMPLETE)) % 32);
      case 'x':
        return setOf(this.#hexadecimal(2));
      case 'u':
        return setOf(this.#unicode());
      case 'p':
      case 'P':
        return this.#property(letter === 'P');
      case '0':
        return /^\d$/.test(this.#next ?? '') ? refuse('the pattern has an octal escape') : setOf(0);
      default:
        return /^[A-Za-z0-9]$/.test(letter) ? refuse(UNKNOWN_ESCAPE) : single(letter);
    }
  }

  #hexadecimal(length: number): number {
    const digits = this.#takeMatching(/^[0-9A-Fa-f]$/, length);
    return digits.length === length ? Number.parseInt(digits, 16) : refuse(INCOMPLETE);
  }

  #unicode(): number {
    if (this.#accept('{')) {
      const codePoint = Number.parseInt(this.#takeMatching(/^[0-9A-Fa-f]$/, 6), 16);
      return this.#accept('}') && codePoint <= LAST_CODE_POINT ? codePoint : refuse(INCOMPLETE);
    }
    const high = this.#hexadecimal(4);
    const rest = this.#characters.slice(this.#at, this.#at + LOW_HALF).join('');
    if (high < 0xd800 || high > 0xdbff || !/^\\u[Dd][C-Fc-f]/.test(rest)) return high;
    this.#at += 2;
    return String.fromCharCode(high, this.#hexadecimal(4)).codePointAt(0) ?? 0;
  }

  #property(isNegated: boolean): CodePointSet {
    const name = this.#accept('{') ? this.#takeMatching(/^[\w=]$/, MOST_NAME) : '';
    if (name === '' || !this.#accept('}')) refuse(INCOMPLETE);
    const set = propertySet(name);
    return isNegated ? complement(set) : set;
  }
}

/** V8 knows the properties of Unicode. The names come from a pattern, and are letters, digits, `_` and `=`. */
function propertySet(name: string): CodePointSet {
  const known = PROPERTIES.get(name);
  if (known !== undefined) return known;
  const ranges: number[] = [];
  const run = propertyRun(name);
  for (let start = 0; start <= LAST_CODE_POINT; start += BLOCK) {
    // Halves of characters are all alike, and two of them would be read as one character.
    if (start === HALVES) {
      if ('\ud800'.search(run) === 0) ranges.push(HALVES, HALVES + BLOCK - 1);
      continue;
    }
    const units = start > LAST_SINGLE_UNIT ? 2 : 1;
    for (const { 0: found, index } of blockText(start).matchAll(run)) {
      const first = start + index / units;
      ranges.push(first, first + found.length / units - 1);
    }
  }
  const set = union(ranges);
  PROPERTIES.set(name, set);
  return set;
}

function propertyRun(name: string): RegExp {
  try {
    return new RegExp(`\\p{${name}}+`, 'gu');
  } catch {
    return refuse('the pattern names an unknown property of characters');
  }
}

/** The code points of a block, which every property reads again. */
function blockText(start: number): string {
  const known = BLOCK_TEXTS.get(start);
  if (known !== undefined) return known;
  const text = String.fromCodePoint(...Array.from({ length: BLOCK }, (_, index) => start + index));
  BLOCK_TEXTS.set(start, text);
  return text;
}

const BLOCK_TEXTS = new Map<number, string>();
/** A code point above has two UTF-16 units. */
const LAST_SINGLE_UNIT = 0xffff;
/** Code points at a time: as many as there are halves. */
const BLOCK = 0x800;
const HALVES = 0xd800;
/** There are some hundred names. */
const PROPERTIES = new Map<string, CodePointSet>();

function single(character: string): CodePointSet {
  return setOf(character.codePointAt(0) ?? 0);
}

/** The ends of a range are single characters. */
function onlyOf(set: CodePointSet): number {
  const [first = 0, last] = set;
  return set.length === 2 && first === last
    ? first
    : refuse('a range of characters in the pattern has no ends');
}

const MOST_NAME = 80;
/** `\udc` */
const LOW_HALF = 4;
/** `{999999999,999999999}` */
const MOST_COUNT = 21;
const INCOMPLETE = 'an escape of the pattern is incomplete';
const UNKNOWN_ESCAPE = 'the pattern has an unknown escape, or refers to a group';
const START = assertionNode('start');
const END = assertionNode('end');
const PLACES: readonly (readonly [string, Node])[] = [
  ['^', START],
  ['$', END],
  ['\\b', assertionNode('ascii-boundary')],
  // In an empty text Python's `\B` does not hold, and ECMAScript's does.
  ['\\B', choice([assertionNode('ascii-inside'), sequence([START, END])])],
];
const NOT_LINE_END = complement(union([10, 10, 13, 13, 0x2028, 0x2029]));
const SPACE = union([
  ...[9, 13, 0x20, 0x20, 0xa0, 0xa0, 0x1680, 0x1680, 0x2000, 0x200a, 0x2028, 0x2029],
  ...[0x202f, 0x202f, 0x205f, 0x205f, 0x3000, 0x3000, 0xfeff, 0xfeff],
]);
/** The same object each time, so that equal parts of a pattern are recognised as such. */
const CATEGORIES: ReadonlyMap<string, CodePointSet> = new Map([
  ['d', category('digit', true, false)],
  ['D', category('digit', true, true)],
  ['w', category('word', true, false)],
  ['W', category('word', true, true)],
  ['s', SPACE],
  ['S', complement(SPACE)],
]);
const CONTROLS: ReadonlyMap<string, number> = new Map([
  ['t', 9],
  ['n', 10],
  ['v', 11],
  ['f', 12],
  ['r', 13],
]);
