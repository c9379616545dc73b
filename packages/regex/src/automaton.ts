/**
 * Deterministic automata over a program, built as far as texts lead: a state is a set of instructions, an edge is
 * computed when a text first takes it and found in a table from then on. The table is bounded: when it is full it
 * is emptied, so a text can make each step cost as much as the program is large, and never more.
 */
import { FAIL, holds, MATCH, type Program } from './program.ts';
import type { Alphabet } from './symbols.ts';

/** A state: what is in it, sixteen members a word, and what assertions may ask of the character read last. */
export interface State {
  readonly members: Uint16Array;
  readonly context: number;
}

/** An edge: where it leads, and whether the place that is left answers the automaton's question. */
interface Edge {
  readonly state: State;
  readonly isHit: boolean;
}

/** Bounds of what one automaton keeps: hundreds of patterns may be in use, and texts that fill their tables. */
const MAX_STATES = 1000;
const MAX_TABLE = 1 << 15;
const MAX_MEMBERS = 1 << 18;

/**
 * `table[place + symbol]` is 0 as long as the edge is not known; else its lowest bit says whether it is a hit,
 * and `placeOf` where the state begins in the table to which it leads.
 */
abstract class Automaton {
  readonly alphabet: Alphabet;
  table: Int32Array;
  /** From where nothing leads to a match, when a text is read from its start; it is always at place 0. */
  readonly nowhere: State;
  protected readonly program: Program;
  readonly #capacity: number;
  #states: State[] = [];
  /** Of the state that a text is read from; negative: it is not in the table. */
  #initialPlace = -1;
  readonly #places = new Map<string, number>();
  #work: number;

  /** `work`: how many instructions may be looked at to compute edges. */
  constructor(program: Program, alphabet: Alphabet, work: number) {
    this.program = program;
    this.alphabet = alphabet;
    this.#work = work;
    const bySize = Math.min(MAX_STATES, MAX_TABLE / alphabet.size, MAX_MEMBERS / program.instructions.length);
    this.#capacity = Math.max(8, Math.floor(bySize));
    this.table = new Int32Array(alphabet.size * 8);
    this.nowhere = { members: this.noMembers(), context: 0 };
    this.enter(this.nowhere);
  }

  protected abstract follow(state: State, symbol: number): Edge;

  abstract initial(): State;

  /** The place of the initial state, which every text asks for; valid as long as that of any other. */
  start(): number {
    if (this.#initialPlace < 0) this.#initialPlace = this.enter(this.initial());
    return this.#initialPlace;
  }

  /** The place of a state in the table; places found earlier may be invalid afterwards. */
  enter(state: State): number {
    const key = keyOf(state);
    const known = this.#places.get(key);
    if (known !== undefined) return known;
    if (this.#states.length >= this.#capacity) this.clear();
    const place = this.#states.push(state) * this.alphabet.size - this.alphabet.size;
    if (place + this.alphabet.size > this.table.length) {
      const larger = new Int32Array(Math.min(this.table.length * 2, this.#capacity * this.alphabet.size));
      larger.set(this.table);
      this.table = larger;
    }
    this.#places.set(key, place);
    return place;
  }

  protected noMembers(): Uint16Array<ArrayBuffer> {
    return new Uint16Array((this.program.instructions.length >> 4) + 1);
  }

  protected clear(): void {
    this.#states = [];
    this.#initialPlace = -1;
    this.#places.clear();
    this.table.fill(0);
    this.enter(this.nowhere);
  }

  stateAt(place: number): State {
    const state = this.#states[place / this.alphabet.size];
    if (state === undefined) throw new Error('no state is at this place');
    return state;
  }

  /** More edges have been computed than may be: what was read is to be thrown away. */
  get isExhausted(): boolean {
    return this.#work < 0;
  }

  /** What the table says of an edge, which is built if it has to be; like `build` for the places. */
  edge(place: number, symbol: number): number {
    const edge = this.table[place + symbol] ?? 0;
    return edge === 0 ? this.build(place, symbol) : edge;
  }

  /** Computes an edge and enters it into the table. Only the place that the result names is valid afterwards. */
  build(place: number, symbol: number): number {
    this.#work -= this.program.instructions.length;
    const { state, isHit } = this.follow(this.stateAt(place), symbol);
    const before = this.#states;
    const edge = ((this.enter(state) + 1) << 1) | (isHit ? 1 : 0);
    if (before === this.#states) this.table[place + symbol] = edge;
    return edge;
  }
}

export function placeOf(edge: number): number {
  return (edge >> 1) - 1;
}

function keyOf(state: State): string {
  let key = String.fromCharCode(state.context);
  for (let at = 0; at < state.members.length; at += 4096)
    key += String.fromCharCode(...state.members.subarray(at, at + 4096));
  return key;
}

/** Reads a text from its start. A hit: what has been read is a match. */
export class ForwardAutomaton extends Automaton {
  /** Which instructions have been reached in the step at hand, and which are to be followed. */
  readonly #isReached: Uint8Array;
  readonly #open: number[] = [];

  constructor(program: Program, alphabet: Alphabet, work: number) {
    super(program, alphabet, work);
    this.#isReached = new Uint8Array(program.instructions.length);
  }

  /** Members are the instructions to which the text so far leads. */
  override initial(): State {
    const members = this.noMembers();
    add(members, this.program.start);
    return { members, context: this.alphabet.before[this.alphabet.edge] ?? 0 };
  }

  protected override follow(state: State, symbol: number): Edge {
    const behind = this.alphabet.behind[symbol] ?? 0;
    const members = this.noMembers();
    let isDead = true;
    this.#isReached.fill(0);
    forEach(state.members, (at) => this.#reach(at));
    for (let at = this.#open.pop(); at !== undefined; at = this.#open.pop()) {
      const instruction = this.program.instructions[at];
      if (instruction?.kind === 'split') {
        this.#reach(instruction.first);
        this.#reach(instruction.second);
      } else if (instruction?.kind === 'assertion') {
        if (holds(instruction.at, state.context, behind)) this.#reach(instruction.next);
      } else if (instruction?.kind === 'set' && symbol !== this.alphabet.edge) {
        if (instruction.next === FAIL || !this.alphabet.isIn(symbol, instruction.set)) continue;
        add(members, instruction.next);
        isDead = false;
      }
    }
    const context = this.alphabet.before[symbol] ?? 0;
    return { state: isDead ? this.nowhere : { members, context }, isHit: this.#isReached[MATCH] === 1 };
  }

  #reach(at: number): void {
    if (this.#isReached[at] === 1) return;
    this.#isReached[at] = 1;
    this.#open.push(at);
  }
}

/** What is known of a place in a text. */
export interface Row {
  /** By instruction: 1 if it leads to a match from there. */
  readonly isAlive: Uint8Array;
  /** By instruction, where it goes on behind the next character: see `LinearMatcher`. 0: not known yet. */
  readonly steps: Uint16Array;
}

/** Reads a text from its end. A hit: a match begins at the place that is left. */
export class BackwardAutomaton extends Automaton {
  /** Instructions that do not consume, each behind those to which it leads. */
  readonly #order: Uint16Array;
  /** By instruction: where it goes on if it consumes; else FAIL. */
  readonly #next: Uint16Array;
  /** By symbol: the instructions that consume it. */
  readonly #consumers: (Uint16Array | undefined)[] = [];
  /** Parallel to the table, and by state and context. */
  #rows: (Row | undefined)[] = [];
  readonly #rowsByContext = new Map<number, Row>();
  readonly #isAlive: Uint8Array;

  constructor(program: Program, alphabet: Alphabet, work: number) {
    super(program, alphabet, work);
    this.#order = orderOf(program);
    this.#next = Uint16Array.from(program.instructions, (one) => (one.kind === 'set' ? one.next : FAIL));
    this.#isAlive = new Uint8Array(program.instructions.length);
  }

  /** Members are the instructions that consume the next character and lead to a match. */
  override initial(): State {
    return { members: this.noMembers(), context: this.alphabet.behind[this.alphabet.edge] ?? 0 };
  }

  /** Of the place of a state from which `symbol` leads on. */
  rowAt(place: number, symbol: number): Row {
    const known = this.#rows[place + symbol];
    if (known !== undefined) return known;
    const before = this.alphabet.before[symbol] ?? 0;
    const key = place * 32 + before;
    let row = this.#rowsByContext.get(key);
    if (row === undefined) {
      const isAlive = new Uint8Array(this.program.instructions.length);
      this.#fillAlive(isAlive, this.stateAt(place), before);
      row = { isAlive, steps: new Uint16Array(isAlive.length) };
      this.#rowsByContext.set(key, row);
    }
    this.#rows[place + symbol] = row;
    return row;
  }

  protected override clear(): void {
    super.clear();
    this.#rows = [];
    this.#rowsByContext.clear();
  }

  protected override follow(state: State, symbol: number): Edge {
    const isAlive = this.#isAlive.fill(0);
    this.#fillAlive(isAlive, state, this.alphabet.before[symbol] ?? 0);
    const isHit = isAlive[this.program.start] === 1;
    if (symbol === this.alphabet.edge) return { state: this.nowhere, isHit };
    const members = this.noMembers();
    for (const at of this.#consumersOf(symbol)) if (isAlive[this.#next[at] ?? FAIL] === 1) add(members, at);
    return { state: { members, context: this.alphabet.behind[symbol] ?? 0 }, isHit };
  }

  #fillAlive(isAlive: Uint8Array, state: State, before: number): void {
    const { instructions } = this.program;
    isAlive[MATCH] = 1;
    forEach(state.members, (at) => {
      isAlive[at] = 1;
    });
    for (const at of this.#order) {
      const instruction = instructions[at];
      if (instruction?.kind === 'split')
        isAlive[at] = (isAlive[instruction.first] ?? 0) | (isAlive[instruction.second] ?? 0);
      else if (instruction?.kind === 'assertion' && holds(instruction.at, before, state.context))
        isAlive[at] = isAlive[instruction.next] ?? 0;
    }
  }

  #consumersOf(symbol: number): Uint16Array {
    let consumers = this.#consumers[symbol];
    if (consumers === undefined) {
      const found: number[] = [];
      for (const [at, instruction] of this.program.instructions.entries())
        if (instruction.kind === 'set' && this.alphabet.isIn(symbol, instruction.set)) found.push(at);
      consumers = Uint16Array.from(found);
      this.#consumers[symbol] = consumers;
    }
    return consumers;
  }
}

function add(members: Uint16Array, at: number): void {
  const word = at >> 4;
  members[word] = (members[word] ?? 0) | (1 << (at & 15));
}

function forEach(members: Uint16Array, visit: (at: number) => void): void {
  for (let word = 0; word < members.length; word++) {
    for (let bits = members[word] ?? 0; bits !== 0; bits &= bits - 1)
      visit(word * 16 + 31 - Math.clz32(bits & -bits));
  }
}

/** There is such an order by INVARIANT (no empty circle). */
function orderOf(program: Program): Uint16Array {
  const order: number[] = [];
  const isSeen = new Uint8Array(program.instructions.length);
  const open: number[] = [];
  for (let root = 0; root < program.instructions.length; root++) {
    open.push(root);
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      // A negative number comes up again when all behind it is in the order.
      if (at < 0) {
        order.push(-at);
        continue;
      }
      if (isSeen[at] === 1) continue;
      isSeen[at] = 1;
      const instruction = program.instructions[at];
      if (instruction?.kind === 'split') open.push(-at, instruction.first, instruction.second);
      else if (instruction?.kind === 'assertion') open.push(-at, instruction.next);
    }
  }
  return Uint16Array.from(order);
}
