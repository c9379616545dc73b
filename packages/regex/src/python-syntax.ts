/**
 * Parses regular expressions as Python 3.11 does: what it accepts means the same here, what it refuses is
 * refused. Refused besides: character names (`\N{…}`) and nesting beyond a limit. Linear in the pattern.
 *
 * The structure follows CPython's `re/_parser.py`, because its corners are the definition: a `{` that begins no
 * repetition is a character, a repetition belongs to the item before it even across a comment, digits behind a
 * backslash are a reference or an octal number.
 */
import type { Result } from '@cordon/core';
import {
  type CodePointSet,
  category,
  complement,
  EVERYTHING,
  ignoringCase,
  joined,
  lowerCase,
  NOT_NEWLINE,
  setOf,
  union,
} from './code-point-set.ts';
import {
  type Assertion,
  assertionNode,
  choice,
  MAX_DEPTH,
  type Node,
  parsed,
  type RepeatMode,
  refuse,
  repeat,
  type SyntaxTree,
  sequence,
  setNode,
} from './syntax-tree.ts';

/** The flags under which a part is read. */
interface Flags {
  readonly ignoreCase: boolean;
  readonly multiline: boolean;
  readonly dotAll: boolean;
  readonly verbose: boolean;
  readonly ascii: boolean;
}

const NO_FLAGS: Flags = { ignoreCase: false, multiline: false, dotAll: false, verbose: false, ascii: false };

/** Python's own limit of a count. */
const MAX_COUNT = 4_294_967_295;

/** A failure is one sentence that never repeats the pattern, which may be data. */
export function parsePattern(pattern: string, isDotAll: boolean): Result<SyntaxTree, string> {
  return parsed(() => new PatternParser(pattern, { ...NO_FLAGS, dotAll: isDotAll }).parse());
}

/** An item of a sequence; the kinds of which Python refuses repetition are told apart by how they are written. */
interface Item {
  readonly node: Node;
  readonly repeatable: 'yes' | 'nothing' | 'multiple';
}

class PatternParser {
  readonly #characters: readonly string[];
  #at = 0;
  /** The next character, with the one behind it if it is a backslash. */
  #next: string | null = null;
  #flags: Flags;
  readonly #globalLetters = new Set<string>();
  /** By number; null while the group is open. */
  readonly #groups: (Node | null)[] = [null];
  readonly #names = new Map<string, number>();
  /** How many groups there were where the outermost look-behind began. */
  #groupsBeforeLookBehind: number | null = null;
  #greatestCondition = 0;
  #needsBudget = false;
  /** One node for each character under the same rules of case, however often it occurs. */
  readonly #literals = new Map<number, Node>();

  constructor(pattern: string, flags: Flags) {
    this.#characters = Array.from(pattern);
    this.#flags = flags;
    this.#advance();
  }

  parse(): SyntaxTree {
    const root = this.#choice(this.#flags, 0);
    if (this.#next !== null) refuse('a `)` of the pattern closes nothing');
    if (this.#greatestCondition >= this.#groups.length) refuse('the pattern refers to a group that it lacks');
    return { root, groups: this.#groups.length - 1, needsBudget: this.#needsBudget };
  }

  // ── characters ────────────────────────────────────────────────────────────────────────────────────────────

  #advance(): void {
    const character = this.#characters[this.#at];
    if (character === undefined) {
      this.#next = null;
      return;
    }
    this.#at += 1;
    this.#next = character;
    if (character !== '\\') return;
    const escaped = this.#characters[this.#at] ?? refuse('the pattern ends with a backslash');
    this.#at += 1;
    this.#next = character + escaped;
  }

  #take(): string | null {
    const taken = this.#next;
    this.#advance();
    return taken;
  }

  #accept(character: string): boolean {
    if (this.#next !== character) return false;
    this.#advance();
    return true;
  }

  /** Where `#next` begins, to come back to. */
  #position(): number {
    return this.#at - (this.#next === null ? 0 : Array.from(this.#next).length);
  }

  #goBack(position: number): void {
    this.#at = position;
    this.#advance();
  }

  #takeWhile(most: number, isWanted: (character: string) => boolean): string {
    let taken = '';
    while (taken.length < most && this.#next !== null && isWanted(this.#next)) taken += this.#take();
    return taken;
  }

  #takeUntil(end: string): string {
    let taken = '';
    for (;;) {
      const character = this.#take() ?? refuse('a name in the pattern has no end');
      if (character === end) return taken === '' ? refuse('a name in the pattern is missing') : taken;
      taken += character;
    }
  }

  // ── choices and sequences ─────────────────────────────────────────────────────────────────────────────────

  #choice(flags: Flags, depth: number): Node {
    if (depth > MAX_DEPTH) refuse(`the pattern is nested more than ${MAX_DEPTH} deep`);
    const branches: Node[] = [];
    let inner = flags;
    do {
      branches.push(this.#sequence(inner, depth, depth === 0 && branches.length === 0));
      if (depth === 0) inner = this.#flags;
    } while (this.#accept('|'));
    return choice(branches);
  }

  /** `isFirst`: flags for the whole pattern may stand at its start, and only there. */
  #sequence(outer: Flags, depth: number, isFirst: boolean): Node {
    let flags = outer;
    const items: Item[] = [];
    while (this.#next !== null && this.#next !== '|' && this.#next !== ')') {
      const character = this.#next;
      if (flags.verbose && this.#skipsBlank(character)) continue;
      if (character === '(') {
        const item = this.#parenthesis(flags, depth, isFirst && items.length === 0);
        if (item === 'flags') flags = this.#flags;
        else if (item !== 'comment') items.push(item);
      } else if (isRepeatMark(character)) this.#repetition(flags, items);
      else items.push(this.#single(flags));
    }
    return sequence(items.map((item) => item.node));
  }

  #skipsBlank(character: string): boolean {
    if (BLANKS.has(character)) {
      this.#advance();
      return true;
    }
    if (character !== '#') return false;
    for (let skipped = this.#take(); skipped !== null && skipped !== '\n'; ) skipped = this.#take();
    return true;
  }

  #single(flags: Flags): Item {
    const character = this.#take() ?? '';
    if (character === '[') return whole(setNode(this.#class(flags)));
    if (character === '.') return whole(flags.dotAll ? ANY : ANY_BUT_NEWLINE);
    if (character === '^') return assertion(flags.multiline ? 'line-start' : 'start');
    if (character === '$') return assertion(flags.multiline ? 'line-end' : 'end-or-last-newline');
    if (!character.startsWith('\\')) return whole(this.#literal(character.codePointAt(0) ?? 0, flags));
    return this.#escape(character, flags);
  }

  #literal(codePoint: number, flags: Flags): Node {
    const key = codePoint * 4 + (flags.ignoreCase ? 2 : 0) + (flags.ascii ? 1 : 0);
    let node = this.#literals.get(key);
    if (node === undefined) {
      const set = setOf(codePoint);
      node = setNode(flags.ignoreCase ? ignoringCase(set, flags.ascii) : set);
      this.#literals.set(key, node);
    }
    return node;
  }

  // ── repetition ────────────────────────────────────────────────────────────────────────────────────────────

  #repetition(flags: Flags, items: Item[]): void {
    const mark = this.#take() ?? '';
    const counts = mark === '{' ? this.#counts() : MARKS[mark];
    if (counts === undefined || counts === null) {
      items.push(whole(this.#literal(0x7b, flags)));
      return;
    }
    const item = items.pop();
    if (item === undefined || item.repeatable === 'nothing')
      refuse('a repetition in the pattern repeats nothing');
    if (item.repeatable === 'multiple') refuse('a repetition in the pattern is repeated');
    const mode: RepeatMode = this.#accept('?') ? 'lazy' : this.#accept('+') ? 'possessive' : 'greedy';
    if (mode === 'possessive') this.#needsBudget = true;
    const [min, max] = counts;
    items.push({ node: repeat(item.node, min, max, mode), repeatable: 'multiple' });
  }

  /** `{m}`, `{m,}`, `{,n}`, `{m,n}`, `{,}` behind the `{`; null: the `{` is a character. */
  #counts(): readonly [number, number] | null {
    if (this.#next === '}') return null;
    const here = this.#position();
    const low = this.#takeWhile(MANY, isDigit);
    const high = this.#accept(',') ? this.#takeWhile(MANY, isDigit) : low;
    if (!this.#accept('}')) {
      this.#goBack(here);
      return null;
    }
    const min = low === '' ? 0 : Number(low);
    const max = high === '' ? Number.POSITIVE_INFINITY : Number(high);
    if (min >= MAX_COUNT || (high !== '' && max >= MAX_COUNT))
      refuse('a repetition in the pattern is too long');
    if (max < min) refuse('a repetition in the pattern has its limits reversed');
    return [min, max];
  }

  // ── groups ────────────────────────────────────────────────────────────────────────────────────────────────

  #parenthesis(flags: Flags, depth: number, isAtStart: boolean): Item | 'flags' | 'comment' {
    this.#advance();
    if (!this.#accept('?')) return this.#capturing(null, flags, depth);
    const extension = this.#take() ?? refuse(UNFINISHED);
    switch (extension) {
      case 'P':
        return this.#named(flags, depth);
      case ':':
        return whole(this.#inside(flags, depth));
      case '#':
        for (let skipped = this.#take(); skipped !== ')'; skipped = this.#take())
          if (skipped === null) refuse('a comment in the pattern has no end');
        return 'comment';
      case '=':
      case '!':
        return this.#look(extension, null, flags, depth);
      case '<': {
        const sign = this.#take();
        if (sign !== '=' && sign !== '!') refuse(UNKNOWN_EXTENSION);
        return this.#look(sign, 'behind', flags, depth);
      }
      case '(':
        return this.#conditional(flags, depth);
      case '>': {
        this.#needsBudget = true;
        const body = this.#inside(flags, depth);
        return whole({ kind: 'atomic', body, least: body.least, most: body.most });
      }
      default: {
        if (!FLAG_LETTERS.has(extension) && extension !== '-') refuse(UNKNOWN_EXTENSION);
        const changed = this.#flagLetters(extension, flags, isAtStart);
        return changed === null ? 'flags' : whole(this.#inside(changed, depth));
      }
    }
  }

  /** What is left of a group, and its `)`. */
  #inside(flags: Flags, depth: number): Node {
    const body = this.#choice(flags, depth + 1);
    if (!this.#accept(')')) refuse(UNFINISHED_GROUP);
    return body;
  }

  #capturing(name: string | null, flags: Flags, depth: number): Item {
    const number = this.#groups.push(null) - 1;
    if (name !== null) {
      if (this.#names.has(name)) refuse('two groups of the pattern have the same name');
      this.#names.set(name, number);
    }
    const body = this.#inside(flags, depth);
    const node: Node = { kind: 'group', number, body, least: body.least, most: body.most };
    this.#groups[number] = node;
    return whole(node);
  }

  #named(flags: Flags, depth: number): Item {
    if (this.#accept('<')) return this.#capturing(groupName(this.#takeUntil('>')), flags, depth);
    if (!this.#accept('=')) refuse(UNKNOWN_EXTENSION);
    const number = this.#names.get(groupName(this.#takeUntil(')'))) ?? refuse(UNKNOWN_GROUP);
    return this.#reference(number, flags);
  }

  #reference(number: number, flags: Flags): Item {
    const group = this.#groups[number] ?? refuse('the pattern refers to a group that is still open');
    this.#checkLookBehind(number);
    this.#needsBudget = true;
    const letters = !flags.ignoreCase ? 'exact' : flags.ascii ? 'ignore-ascii' : 'ignore';
    return whole({ kind: 'reference', number, letters, least: group.least, most: group.most });
  }

  /** A look-behind runs from its left end, where a group inside of it is not set yet. */
  #checkLookBehind(number: number): void {
    if (this.#groupsBeforeLookBehind === null) return;
    if ((this.#groups[number] ?? null) === null) refuse('the pattern refers to a group that is still open');
    if (number >= this.#groupsBeforeLookBehind) refuse('a look-behind refers to a group inside of it');
  }

  #look(sign: '=' | '!', side: 'behind' | null, flags: Flags, depth: number): Item {
    this.#needsBudget = true;
    const isOutermost = side === 'behind' && this.#groupsBeforeLookBehind === null;
    if (isOutermost) this.#groupsBeforeLookBehind = this.#groups.length;
    const body = this.#inside(flags, depth);
    if (isOutermost) this.#groupsBeforeLookBehind = null;
    if (side === 'behind') {
      if (body.least !== body.most) refuse('a look-behind needs a fixed width');
      if (body.least > MAX_COUNT) refuse('a look-behind looks too far');
    }
    const behind = side === 'behind' ? body.least : null;
    return whole({ kind: 'look', behind, isNegative: sign === '!', body, least: 0, most: 0 });
  }

  #conditional(flags: Flags, depth: number): Item {
    this.#needsBudget = true;
    const number = this.#condition(this.#takeUntil(')'));
    this.#checkLookBehind(number);
    if (depth >= MAX_DEPTH) refuse(`the pattern is nested more than ${MAX_DEPTH} deep`);
    const yes = this.#sequence(flags, depth + 1, false);
    const no = this.#accept('|') ? this.#sequence(flags, depth + 1, false) : sequence([]);
    if (this.#next === '|') refuse('a conditional group of the pattern has more than two branches');
    if (!this.#accept(')')) refuse(UNFINISHED_GROUP);
    const least = Math.min(yes.least, no.least);
    return whole({ kind: 'conditional', number, yes, no, least, most: Math.max(yes.most, no.most) });
  }

  #condition(name: string): number {
    if (!/^[0-9]+$/.test(name)) return this.#names.get(groupName(name)) ?? refuse(UNKNOWN_GROUP);
    const number = Number(name);
    if (number === 0) refuse(UNKNOWN_GROUP);
    this.#greatestCondition = Math.max(this.#greatestCondition, number);
    return number;
  }

  // ── flags ─────────────────────────────────────────────────────────────────────────────────────────────────

  /** The flags of `(?i:`; null: of `(?i)`, which have been set for the whole pattern. */
  #flagLetters(first: string, outer: Flags, isAtStart: boolean): Flags | null {
    const added = new Set<string>();
    let letter = first;
    for (; letter !== '-' && letter !== ')' && letter !== ':'; letter = this.#take() ?? refuse(UNFINISHED)) {
      if (!FLAG_LETTERS.has(letter)) refuse('the pattern has an unknown flag');
      added.add(letter);
    }
    if (added.has('L') || added.has('t')) refuse('the pattern has a flag that does not go with texts');
    if (added.has('a') && added.has('u')) refuse(BOTH_KINDS);
    if (letter === ')') {
      if (!isAtStart) refuse('flags for the whole pattern are not at its start');
      this.#setGlobal(added);
      return null;
    }
    const removed = letter === '-' ? this.#removedLetters() : new Set<string>();
    if ([...added].some((one) => removed.has(one))) refuse('a flag of the pattern is turned on and off');
    return changed(outer, added, removed);
  }

  /** Those between `-` and `:`. */
  #removedLetters(): ReadonlySet<string> {
    const removed = new Set<string>();
    for (;;) {
      const letter = this.#take() ?? refuse(UNFINISHED);
      if (letter === ':' && removed.size > 0) return removed;
      if (!/^[imsx]$/.test(letter)) refuse('the pattern turns off what is no flag');
      removed.add(letter);
    }
  }

  #setGlobal(added: ReadonlySet<string>): void {
    for (const letter of added) this.#globalLetters.add(letter);
    if (this.#globalLetters.has('a') && this.#globalLetters.has('u')) refuse(BOTH_KINDS);
    this.#flags = changed(this.#flags, added, new Set());
  }

  // ── escapes ───────────────────────────────────────────────────────────────────────────────────────────────

  #escape(escaped: string, flags: Flags): Item {
    const letter = escaped.slice(1);
    const place = placeOf(letter, flags.ascii);
    if (place !== null) return assertion(place);
    const named = categoryOf(letter, flags.ascii);
    if (named !== null) return whole(setNode(named));
    if (letter >= '1' && letter <= '9' && letter.length === 1) return this.#digits(letter, flags);
    return whole(this.#literal(this.#codePoint(letter), flags));
  }

  /** Three octal digits are a character, everything else is a reference. */
  #digits(first: string, flags: Flags): Item {
    let digits = first;
    if (this.#next !== null && isDigit(this.#next)) {
      digits += this.#take();
      if (/^[0-7]{2}$/.test(digits) && this.#next !== null && isOctal(this.#next)) {
        return whole(this.#literal(octal(digits + this.#take()), flags));
      }
    }
    const number = Number(digits);
    if (number >= this.#groups.length) refuse('the pattern refers to a group that it lacks');
    return this.#reference(number, flags);
  }

  /** Of an escape that stands for one character, inside and outside of classes. */
  #codePoint(letter: string): number {
    const control = CONTROLS.get(letter);
    if (control !== undefined) return control;
    const length = HEXADECIMAL.get(letter);
    if (length !== undefined) {
      const digits = this.#takeWhile(length, isHexadecimal);
      if (digits.length < length) refuse('an escape of the pattern is incomplete');
      const codePoint = Number.parseInt(digits, 16);
      return codePoint <= 0x10ffff ? codePoint : refuse('an escape of the pattern is beyond Unicode');
    }
    if (letter === '0') return octal(`0${this.#takeWhile(2, isOctal)}`);
    if (letter === 'N') refuse('names of characters (`\\N{…}`) are not supported');
    if (/^[A-Za-z0-9]$/.test(letter)) refuse('the pattern has an unknown escape');
    return letter.codePointAt(0) ?? 0;
  }

  // ── classes ───────────────────────────────────────────────────────────────────────────────────────────────

  #class(flags: Flags): CodePointSet {
    const isNegated = this.#accept('^');
    const members: Member[] = [];
    for (;;) {
      const character = this.#take() ?? refuse(UNFINISHED_CLASS);
      if (character === ']' && members.length > 0) break;
      const first = this.#member(character, flags);
      if (!this.#accept('-')) {
        members.push(first);
        continue;
      }
      const second = this.#take() ?? refuse(UNFINISHED_CLASS);
      if (second === ']') {
        members.push(first, 0x2d);
        break;
      }
      const last = this.#member(second, flags);
      if (typeof first !== 'number' || typeof last !== 'number' || last < first)
        refuse('a range of characters in the pattern is reversed or has no ends');
      members.push({ first, last });
    }
    const set = classSet(members, flags);
    return isNegated ? complement(set) : set;
  }

  #member(character: string, flags: Flags): number | { readonly category: CodePointSet } {
    if (!character.startsWith('\\')) return character.codePointAt(0) ?? 0;
    const letter = character.slice(1);
    if (letter === 'b') return 8;
    if (letter >= '1' && letter <= '7') return octal(letter + this.#takeWhile(2, isOctal));
    const named = categoryOf(letter, flags.ascii);
    return named === null ? this.#codePoint(letter) : { category: named };
  }
}

/** A code point, a range of them, or a category, which has no case. */
type Member =
  | number
  | { readonly first: number; readonly last: number }
  | { readonly category: CodePointSet };

function classSet(members: readonly Member[], flags: Flags): CodePointSet {
  const [only] = members;
  if (members.length === 1 && typeof only === 'object' && 'category' in only) return only.category;
  const isSingle = new Set(members).size === 1;
  const ranges: number[] = [];
  let categories: CodePointSet = [];
  for (const member of members) {
    if (typeof member === 'number') {
      // Python compares a capital beyond the basic plane, among other members, with lower cases only: it is lost.
      const isLost = flags.ignoreCase && member > 0xffff && lowerCase(member, flags.ascii) !== member;
      if (isSingle || !isLost) ranges.push(member, member);
    } else if ('category' in member) categories = joined(categories, member.category);
    else ranges.push(member.first, member.last);
  }
  const written = union(ranges);
  return joined(flags.ignoreCase ? ignoringCase(written, flags.ascii) : written, categories);
}

function changed(flags: Flags, added: ReadonlySet<string>, removed: ReadonlySet<string>): Flags {
  const is = (letter: string, before: boolean): boolean =>
    added.has(letter) || (before && !removed.has(letter));
  return {
    ignoreCase: is('i', flags.ignoreCase),
    multiline: is('m', flags.multiline),
    dotAll: is('s', flags.dotAll),
    verbose: is('x', flags.verbose),
    ascii: added.has('a') || (flags.ascii && !added.has('u')),
  };
}

function placeOf(letter: string, isAscii: boolean): Assertion | null {
  switch (letter) {
    case 'A':
      return 'start';
    case 'Z':
      return 'end';
    case 'b':
      return isAscii ? 'ascii-boundary' : 'word-boundary';
    case 'B':
      return isAscii ? 'ascii-inside' : 'word-inside';
    default:
      return null;
  }
}

function categoryOf(letter: string, isAscii: boolean): CodePointSet | null {
  const name = CATEGORIES.get(letter.toLowerCase());
  if (name === undefined) return null;
  return category(name, isAscii, letter !== letter.toLowerCase());
}

function groupName(name: string): string {
  return /^[\p{XID_Start}_]\p{XID_Continue}*$/u.test(name)
    ? name
    : refuse('a group of the pattern has no proper name');
}

function octal(digits: string): number {
  const codePoint = Number.parseInt(digits, 8);
  return codePoint <= 0o377 ? codePoint : refuse('an octal escape of the pattern is greater than 0o377');
}

function whole(node: Node): Item {
  return { node, repeatable: 'yes' };
}

function assertion(at: Assertion): Item {
  return { node: assertionNode(at), repeatable: 'nothing' };
}

function isRepeatMark(character: string): boolean {
  return character === '*' || character === '+' || character === '?' || character === '{';
}

function isDigit(character: string): boolean {
  return character >= '0' && character <= '9' && character.length === 1;
}

function isOctal(character: string): boolean {
  return character >= '0' && character <= '7' && character.length === 1;
}

function isHexadecimal(character: string): boolean {
  return /^[0-9a-fA-F]$/.test(character);
}

const MANY = Number.POSITIVE_INFINITY;
const ANY = setNode(EVERYTHING);
const ANY_BUT_NEWLINE = setNode(NOT_NEWLINE);
const BLANKS: ReadonlySet<string> = new Set([' ', '\t', '\n', '\r', '\v', '\f']);
const FLAG_LETTERS: ReadonlySet<string> = new Set(['a', 'i', 'L', 'm', 's', 't', 'u', 'x']);
const MARKS: Readonly<Record<string, readonly [number, number]>> = {
  '?': [0, 1],
  '*': [0, MANY],
  '+': [1, MANY],
};
const CONTROLS: ReadonlyMap<string, number> = new Map([
  ['a', 7],
  ['f', 12],
  ['n', 10],
  ['r', 13],
  ['t', 9],
  ['v', 11],
]);
const HEXADECIMAL: ReadonlyMap<string, number> = new Map([
  ['x', 2],
  ['u', 4],
  ['U', 8],
]);
const CATEGORIES: ReadonlyMap<string, 'digit' | 'space' | 'word'> = new Map([
  ['d', 'digit'],
  ['s', 'space'],
  ['w', 'word'],
]);
const UNFINISHED = 'the pattern ends within a group';
const UNFINISHED_GROUP = 'a group of the pattern has no `)`';
const UNFINISHED_CLASS = 'a set of characters in the pattern has no `]`';
const UNKNOWN_EXTENSION = 'a group of the pattern begins with an unknown `(?…`';
const UNKNOWN_GROUP = 'the pattern refers to a group that it lacks';
const BOTH_KINDS = 'the flags `a` and `u` of the pattern cannot be combined';
