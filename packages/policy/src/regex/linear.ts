/**
 * Matching in time proportional to the text, for all matches together and not just for each of them: one reading
 * from the end says for every place which ways lead to a match, then one from the start takes, where several do,
 * the one that Python would have tried first. Nothing is tried twice.
 *
 * Ring 0.
 */
import { BackwardAutomaton, ForwardAutomaton, placeOf, type State } from './automaton.ts';
import type { Program } from './program.ts';
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

const BLOCK = 4096;

export class LinearMatcher {
  readonly #program: Program;
  readonly #isAnchored: boolean;
  #alphabet: Alphabet | null = null;
  #forward: ForwardAutomaton | null = null;
  #backward: BackwardAutomaton | null = null;

  /** `isAnchored`: no match can begin behind the start of a text. */
  constructor(program: Program, isAnchored: boolean) {
    this.#program = program;
    this.#isAnchored = isAnchored;
  }

  /** Python's `re.match`: whether a match begins at the start. */
  startsWith(text: string): boolean {
    this.#forward ??= new ForwardAutomaton(this.#program, this.#letters());
    const automaton = this.#forward;
    const { ascii, edge } = automaton.alphabet;
    let { table } = automaton;
    let place = automaton.enter(automaton.initial());
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
      }
      if ((entry & 1) === 1) return true;
      place = placeOf(entry);
      if (place === 0) return false;
    }
    return (automaton.edge(place, edge) & 1) === 1;
  }

  /** Python's `re.finditer`: whole matches from left to right that do not overlap. */
  findAll(text: string): readonly Match[] {
    if (this.#isAnchored && !this.startsWith(text)) return NO_MATCHES;
    this.#backward ??= new BackwardAutomaton(this.#program, this.#letters());
    const blocks = readBackward(this.#backward, text);
    return blocks === null ? NO_MATCHES : new Walk(this.#program, this.#backward, text).matches(blocks);
  }

  #letters(): Alphabet {
    this.#alphabet ??= new Alphabet(this.#program);
    return this.#alphabet;
  }
}

function isNewline(text: string, at: number): boolean {
  return text.charCodeAt(at) === 10;
}

/** The text in blocks from right to left; null: no match begins anywhere. */
function readBackward(automaton: BackwardAutomaton, text: string): readonly Block[] | null {
  const { ascii, edge } = automaton.alphabet;
  const blocks: Block[] = [];
  let hasAny = false;
  let place = automaton.enter(automaton.initial());
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

/** The reading from the start. */
class Walk {
  readonly #program: Program;
  readonly #automaton: BackwardAutomaton;
  readonly #text: string;
  /** By distance from the left end of the block: which instructions lead to a match. */
  readonly #alive: Uint8Array[] = [];

  constructor(program: Program, automaton: BackwardAutomaton, text: string) {
    this.#program = program;
    this.#automaton = automaton;
    this.#text = text;
  }

  matches(blocks: readonly Block[]): readonly Match[] {
    const { start, advancingStart } = this.#program;
    const matches: Match[] = [];
    let from = -1;
    let instruction = start;
    let at = 0;
    // Behind an empty match, the next one at the same place must not be empty.
    let emptyAt = -1;
    for (const block of blocks.toReversed()) {
      if (from < 0 && !block.hasStart) {
        at = Math.max(at, block.right + this.#widthAt(block.right));
        continue;
      }
      this.#readAgain(block);
      while (at <= block.right) {
        const alive = this.#alive[at - block.left];
        if (alive === undefined) throw new Error('a place was not read');
        if (from < 0) {
          instruction = at === emptyAt ? advancingStart : start;
          if (alive[instruction] !== 1) {
            at += this.#widthAt(at);
            continue;
          }
          from = at;
        }
        const consumer = this.#preferred(instruction, alive);
        if (consumer === null) {
          matches.push({ start: from, end: at });
          if (from === at) emptyAt = at;
          from = -1;
        } else {
          instruction = consumer;
          at += this.#widthAt(at);
        }
      }
    }
    return matches;
  }

  /** Where it goes on behind the character that the preferred way consumes; null: the way ends in a match. */
  #preferred(start: number, alive: Uint8Array): number | null {
    let at = start;
    for (;;) {
      const instruction = this.#program.instructions[at];
      switch (instruction?.kind) {
        case 'split':
          at = alive[instruction.first] === 1 ? instruction.first : instruction.second;
          break;
        case 'assertion':
          at = instruction.next;
          break;
        case 'set':
          return instruction.next;
        case 'match':
          return null;
        default:
          throw new Error('a way that leads to a match has ended');
      }
    }
  }

  #widthAt(at: number): number {
    return (this.#text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
  }

  #readAgain(block: Block): void {
    const automaton = this.#automaton;
    let place = automaton.enter(block.state);
    for (let at = block.right; at > block.left; ) {
      const symbol = symbolBefore(automaton.alphabet, this.#text, at);
      this.#alive[at - block.left] = automaton.aliveAt(place, symbol);
      place = placeOf(automaton.edge(place, symbol));
      at -= isPair(this.#text, at - 1) ? 2 : 1;
    }
    if (block.left === 0) this.#alive[0] = automaton.aliveAt(place, automaton.alphabet.edge);
  }
}
