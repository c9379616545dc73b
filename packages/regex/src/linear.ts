/**
 * Matching in time proportional to the text, for all matches together and not just for each of them: one reading
 * from the end says for every place which ways lead to a match, then one from the start takes, where several do,
 * the one that Python would have tried first. Nothing is tried twice.
 */
import { BackwardAutomaton, ForwardAutomaton, placeOf, type Row, type State } from './automaton.ts';
import { FAIL, type Program } from './program.ts';
import { Alphabet } from './symbols.ts';

/** UTF-16 offsets. */
export interface Match {
  readonly start: number;
  readonly end: number;
}

export const NO_MATCHES: readonly Match[] = [];

/** A stretch of the text that is read again once it is known that a match begins or goes on in it. */
interface Block {
  readonly left: number;
  readonly right: number;
  /** At its right end, everything behind being read. */
  readonly state: State;
  readonly hasStart: boolean;
}

const BLOCK = 1024;

/**
 * Characters times instructions. An automaton seldom computes more than some hundred edges, but a text and a
 * pattern can be made for each other so that each character needs a new one, for which all instructions are
 * looked at. Up to the first limit that is cheap enough. Beyond it, edges are counted, and an automaton that has
 * none to begin with is used: whether a text is given up must not depend on what was read before it.
 */
const LIMITS = { uncounted: 2 ** 26, counted: 2 ** 28 };

export class LinearMatcher {
  readonly #program: Program;
  readonly #isAnchored: boolean;
  readonly #limits: typeof LIMITS;
  #alphabet: Alphabet | null = null;
  #forward: ForwardAutomaton | null = null;
  #backward: BackwardAutomaton | null = null;

  /** `isAnchored`: no match can begin behind the start of a text. */
  constructor(program: Program, isAnchored: boolean, limits: typeof LIMITS = LIMITS) {
    this.#program = program;
    this.#isAnchored = isAnchored;
    this.#limits = limits;
  }

  /** Python's `re.match`: whether a match begins at the start. */
  startsWith(text: string): boolean | 'exhausted' {
    const automaton = this.#automaton(text, 'forward');
    const { ascii, edge } = automaton.alphabet;
    let { table } = automaton;
    let place = automaton.start();
    const last = isNewline(text, text.length - 1) ? text.length - 1 : text.length;
    for (let at = 0; at < text.length; at++) {
      const unit = text.charCodeAt(at);
      let symbol = 0;
      if (at === last) symbol = automaton.alphabet.lastNewline;
      else if (unit < 128) symbol = ascii[unit] ?? 0;
      else {
        const codePoint = text.codePointAt(at) ?? 0;
        if (codePoint > 0xffff) at += 1;
        symbol = automaton.alphabet.symbolOf(codePoint);
      }
      let entry = table[place + symbol] ?? 0;
      if (entry === 0) {
        entry = automaton.build(place, symbol);
        table = automaton.table;
        if (automaton.isExhausted) return 'exhausted';
      }
      if ((entry & 1) === 1) return true;
      place = placeOf(entry);
      if (place === 0) return false;
    }
    return (automaton.edge(place, edge) & 1) === 1;
  }

  /** Python's `re.finditer`: whole matches from left to right that do not overlap. */
  findAll(text: string): readonly Match[] | 'exhausted' {
    if (this.#isAnchored) {
      const isMatch = this.startsWith(text);
      if (isMatch !== true) return isMatch === false ? NO_MATCHES : isMatch;
    }
    const automaton = this.#automaton(text, 'backward');
    const blocks = readBackward(automaton, text);
    if (blocks === null) return NO_MATCHES;
    return blocks === 'exhausted' ? blocks : new Walk(this.#program, automaton, text).matches(blocks);
  }

  #automaton(text: string, direction: 'forward'): ForwardAutomaton;
  #automaton(text: string, direction: 'backward'): BackwardAutomaton;
  #automaton(text: string, direction: 'forward' | 'backward'): ForwardAutomaton | BackwardAutomaton {
    const program = this.#program;
    this.#alphabet ??= new Alphabet(program);
    if (text.length * program.instructions.length > this.#limits.uncounted) {
      const Automaton = direction === 'forward' ? ForwardAutomaton : BackwardAutomaton;
      return new Automaton(program, this.#alphabet, this.#limits.counted);
    }
    if (direction === 'forward') {
      this.#forward ??= new ForwardAutomaton(program, this.#alphabet, Number.POSITIVE_INFINITY);
      return this.#forward;
    }
    this.#backward ??= new BackwardAutomaton(program, this.#alphabet, Number.POSITIVE_INFINITY);
    return this.#backward;
  }
}

function isNewline(text: string, at: number): boolean {
  return text.charCodeAt(at) === 10;
}

/** The text in blocks from right to left; null: no match begins anywhere. */
function readBackward(automaton: BackwardAutomaton, text: string): readonly Block[] | 'exhausted' | null {
  const { ascii, edge } = automaton.alphabet;
  const blocks: Block[] = [];
  let hasAny = false;
  let place = automaton.start();
  let at = text.length;
  let hits = 0;
  do {
    const right = at;
    const state = automaton.stateAt(place);
    const left = Math.max(0, right - BLOCK);
    let { table } = automaton;
    hits = 0;
    while (at > left) {
      at -= 1;
      const unit = text.charCodeAt(at);
      let symbol = 0;
      if (unit < 128 && at < text.length - 1) symbol = ascii[unit] ?? 0;
      else {
        symbol = symbolBefore(automaton.alphabet, text, at + 1);
        if (isPair(text, at)) at -= 1;
      }
      let entry = table[place + symbol] ?? 0;
      if (entry === 0) {
        entry = automaton.build(place, symbol);
        table = automaton.table;
        if (automaton.isExhausted) return 'exhausted';
      }
      hits |= entry;
      place = placeOf(entry);
    }
    if (at === 0) hits |= automaton.edge(place, edge);
    hasAny ||= (hits & 1) === 1;
    blocks.push({ left: at, right, state, hasStart: (hits & 1) === 1 });
  } while (at > 0);
  return hasAny ? blocks : null;
}

/** Whether the unit at `at` is the second half of a character. */
function isPair(text: string, at: number): boolean {
  const low = text.charCodeAt(at);
  if (low < 0xdc00 || low > 0xdfff || at === 0) return false;
  const high = text.charCodeAt(at - 1);
  return high >= 0xd800 && high <= 0xdbff;
}

/** The symbol of the character that ends at `end`; `edge` at the start of the text. */
function symbolBefore(alphabet: Alphabet, text: string, end: number): number {
  if (end === 0) return alphabet.edge;
  if (end === text.length && isNewline(text, end - 1)) return alphabet.lastNewline;
  const start = isPair(text, end - 1) ? end - 2 : end - 1;
  return alphabet.symbolOf(text.codePointAt(start) ?? 0);
}

/** A step of `Row` is one more than the instruction behind the character; or the way ends in a match. */
const ENDS = FAIL + 1;

/** The reading from the start. */
class Walk {
  readonly #program: Program;
  readonly #automaton: BackwardAutomaton;
  readonly #text: string;
  /** By distance from the left end of the block; between the halves of a character there is none. */
  readonly #rows: Row[];
  /** Likewise: 1 where a match can begin. */
  readonly #isStart: Uint8Array;

  constructor(program: Program, automaton: BackwardAutomaton, text: string) {
    this.#program = program;
    this.#automaton = automaton;
    this.#text = text;
    const size = Math.min(BLOCK, text.length) + 2;
    this.#rows = new Array<Row>(size);
    this.#isStart = new Uint8Array(size);
  }

  matches(blocks: readonly Block[]): readonly Match[] | 'exhausted' {
    const { start, advancingStart } = this.#program;
    const matches: Match[] = [];
    let from = -1;
    let instruction = start;
    let at = 0;
    // Behind an empty match, the next one at the same place must not be empty.
    let emptyAt = -1;
    for (const block of blocks.toReversed()) {
      if (from < 0 && !block.hasStart) {
        at = Math.max(at, block.right + widthAt(this.#text, block.right));
        continue;
      }
      this.#readAgain(block);
      if (this.#automaton.isExhausted) return 'exhausted';
      while (at <= block.right) {
        if (from < 0 && at !== emptyAt) {
          while (at <= block.right && this.#isStart[at - block.left] !== 1) at += 1;
          if (at > block.right) break;
          from = at;
          instruction = start;
        }
        const row = this.#rows[at - block.left] ?? NO_ROW;
        if (from < 0) {
          if (row.isAlive[advancingStart] !== 1) {
            at += widthAt(this.#text, at);
            continue;
          }
          from = at;
          instruction = advancingStart;
        }
        const known = row.steps[instruction] ?? 0;
        const step = known === 0 ? this.#step(row, instruction) : known;
        if (step === ENDS) {
          matches.push({ start: from, end: at });
          if (from === at) emptyAt = at;
          from = -1;
        } else {
          instruction = step - 1;
          at += widthAt(this.#text, at);
        }
      }
    }
    return matches;
  }

  /** Of the ways that lead to a match, the one that is preferred. */
  #step(row: Row, start: number): number {
    let step = 0;
    for (let at = start; step === 0; ) {
      const instruction = this.#program.instructions[at];
      switch (instruction?.kind) {
        case 'split':
          at = row.isAlive[instruction.first] === 1 ? instruction.first : instruction.second;
          break;
        case 'assertion':
          at = instruction.next;
          break;
        case 'set':
          step = instruction.next + 1;
          break;
        case 'match':
          step = ENDS;
          break;
        default:
          throw new Error('a way that leads to a match has ended');
      }
    }
    row.steps[start] = step;
    return step;
  }

  #readAgain(block: Block): void {
    const automaton = this.#automaton;
    const text = this.#text;
    const rows = this.#rows;
    const { ascii } = automaton.alphabet;
    let { table } = automaton;
    let place = automaton.enter(block.state);
    for (let at = block.right; at > block.left; ) {
      const unit = text.charCodeAt(at - 1);
      const isSimple = unit < 128 && at < text.length;
      const symbol = isSimple ? (ascii[unit] ?? 0) : symbolBefore(automaton.alphabet, text, at);
      rows[at - block.left] = automaton.rowAt(place, symbol);
      let entry = table[place + symbol] ?? 0;
      if (entry === 0) {
        entry = automaton.build(place, symbol);
        table = automaton.table;
      }
      this.#isStart[at - block.left] = entry & 1;
      place = placeOf(entry);
      at -= 1;
      if (!isSimple && isPair(text, at)) {
        this.#isStart[at - block.left] = 0;
        at -= 1;
      }
    }
    if (block.left > 0) return;
    rows[0] = automaton.rowAt(place, automaton.alphabet.edge);
    this.#isStart[0] = automaton.edge(place, automaton.alphabet.edge) & 1;
  }
}

/** Never seen: every place at which the walk arrives has been read. */
const NO_ROW: Row = { isAlive: new Uint8Array(0), steps: new Uint16Array(0) };

/** Of the character at a place, in UTF-16 units. */
export function widthAt(text: string, at: number): number {
  const unit = text.charCodeAt(at);
  return unit >= 0xd800 && unit <= 0xdbff && (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
}
