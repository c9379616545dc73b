/**
 * Deterministic automata over a program, built as far as texts lead: a state is a set of instructions, an edge is
 * computed when a text first takes it and found in a table from then on. The table is bounded: when it is full it
 * is emptied, so a text can make each step cost as much as the program is large, and never more.
 *
 * Ring 0.
 */
import { FAIL, holds, MATCH, type Program } from './program.ts';
import type { Alphabet } from './symbols.ts';

/** A state: members in ascending order, and what assertions may ask of the character that was read last. */
export interface State {
  readonly members: Uint16Array;
  readonly context: number;
}

/** An edge: where it leads, and whether the place that is left answers the automaton's question. */
interface Edge {
  readonly state: State;
  readonly isHit: boolean;
}

const NO_MEMBERS = new Uint16Array(0);
/** From where nothing leads to a match, when a text is read from its start; it is always at place 0. */
const NOWHERE: State = { members: NO_MEMBERS, context: 0 };

const MAX_TABLE = 1 << 17;
const MAX_MEMBERS = 1 << 21;

/**
 * `table[place + symbol]` is 0 as long as the edge is not known; else its lowest bit says whether it is a hit,
 * and `placeOf` where the state begins in the table to which it leads.
 */
abstract class Automaton {
  readonly alphabet: Alphabet;
  table: Int32Array;
  protected readonly program: Program;
  readonly #capacity: number;
  #states: State[] = [];
  readonly #places = new Map<string, number>();

  constructor(program: Program, alphabet: Alphabet) {
    this.program = program;
    this.alphabet = alphabet;
    const bySize = Math.min(MAX_TABLE / alphabet.size, MAX_MEMBERS / program.instructions.length);
    this.#capacity = Math.max(8, Math.floor(bySize));
    this.table = new Int32Array(alphabet.size * 8);
    this.enter(NOWHERE);
  }

  protected abstract follow(state: State, symbol: number): Edge;

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

  protected clear(): void {
    this.#states = [];
    this.#places.clear();
    this.table.fill(0);
    this.enter(NOWHERE);
  }

  stateAt(place: number): State {
    const state = this.#states[place / this.alphabet.size];
    if (state === undefined) throw new Error('no state is at this place');
    return state;
  }

  /** What the table says of an edge, which is built if it has to be; like `build` for the places. */
  edge(place: number, symbol: number): number {
    const edge = this.table[place + symbol] ?? 0;
    return edge === 0 ? this.build(place, symbol) : edge;
  }

  /** Computes an edge and enters it into the table. Only the place that the result names is valid afterwards. */
  build(place: number, symbol: number): number {
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
  readonly #reached: Uint8Array;

  constructor(program: Program, alphabet: Alphabet) {
    super(program, alphabet);
    this.#reached = new Uint8Array(program.instructions.length);
  }

  /** Members are the instructions to which the text so far leads. */
  initial(): State {
    const context = this.alphabet.before[this.alphabet.edge] ?? 0;
    return { members: Uint16Array.of(this.program.start), context };
  }

  protected override follow(state: State, symbol: number): Edge {
    const { instructions } = this.program;
    const behind = this.alphabet.behind[symbol] ?? 0;
    const reached = this.#reached.fill(0);
    const next = new Set<number>();
    const open = Array.from(state.members);
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      if (reached[at] === 1) continue;
      reached[at] = 1;
      const instruction = instructions[at];
      if (instruction === undefined) continue;
      if (instruction.kind === 'split') open.push(instruction.first, instruction.second);
      else if (instruction.kind === 'assertion') {
        if (holds(instruction.at, state.context, behind)) open.push(instruction.next);
      } else if (instruction.kind === 'set' && symbol !== this.alphabet.edge) {
        if (instruction.next !== FAIL && this.alphabet.isIn(symbol, instruction.set))
          next.add(instruction.next);
      }
    }
    const isHit = reached[MATCH] === 1;
    if (next.size === 0) return { state: NOWHERE, isHit };
    const members = Uint16Array.from(next).sort();
    return { state: { members, context: this.alphabet.before[symbol] ?? 0 }, isHit };
  }
}

/** Reads a text from its end. A hit: a match begins at the place that is left. */
export class BackwardAutomaton extends Automaton {
  /** Instructions that do not consume, each behind those to which it leads. */
  readonly #order: Uint16Array;
  /** By instruction that consumes: where it goes on. */
  readonly #next: Uint16Array;
  /** By symbol: the instructions that consume it. */
  readonly #consumers: (Uint16Array | undefined)[] = [];
  /** By place of a state and the context before: which instructions lead to a match. */
  readonly #alive = new Map<number, Uint8Array>();

  constructor(program: Program, alphabet: Alphabet) {
    super(program, alphabet);
    this.#order = orderOf(program);
    this.#next = Uint16Array.from(program.instructions, (one) => (one.kind === 'set' ? one.next : FAIL));
  }

  /** Members are the instructions that consume the next character and lead to a match. */
  initial(): State {
    return { members: NO_MEMBERS, context: this.alphabet.behind[this.alphabet.edge] ?? 0 };
  }

  /** For each instruction 1 if it leads to a match from the place of `state`, to which `symbol` leads. */
  aliveAt(place: number, symbol: number): Uint8Array {
    const before = this.alphabet.before[symbol] ?? 0;
    const key = place * 32 + before;
    let alive = this.#alive.get(key);
    if (alive === undefined) {
      alive = this.#computeAlive(this.stateAt(place), before);
      this.#alive.set(key, alive);
    }
    return alive;
  }

  protected override clear(): void {
    super.clear();
    this.#alive.clear();
  }

  protected override follow(state: State, symbol: number): Edge {
    const alive = this.#computeAlive(state, this.alphabet.before[symbol] ?? 0);
    const isHit = alive[this.program.start] === 1;
    if (symbol === this.alphabet.edge) return { state: this.initial(), isHit };
    const members = this.#membersBefore(symbol, alive);
    return { state: { members, context: this.alphabet.behind[symbol] ?? 0 }, isHit };
  }

  #computeAlive(state: State, before: number): Uint8Array {
    const { instructions } = this.program;
    const alive = new Uint8Array(instructions.length);
    alive[MATCH] = 1;
    for (const at of state.members) alive[at] = 1;
    for (const at of this.#order) {
      const instruction = instructions[at];
      if (instruction?.kind === 'split')
        alive[at] = (alive[instruction.first] ?? 0) | (alive[instruction.second] ?? 0);
      else if (instruction?.kind === 'assertion' && holds(instruction.at, before, state.context))
        alive[at] = alive[instruction.next] ?? 0;
    }
    return alive;
  }

  #membersBefore(symbol: number, alive: Uint8Array): Uint16Array {
    const consumers = this.#consumersOf(symbol);
    const members = new Uint16Array(consumers.length);
    let count = 0;
    for (const at of consumers) if (alive[this.#next[at] ?? FAIL] === 1) members[count++] = at;
    return members.slice(0, count);
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
