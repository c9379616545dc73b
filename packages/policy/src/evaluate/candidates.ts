/**
 * What one variable of a rule can still be bound to: the objects of the trace that pass the variable's own
 * conditions, by context in the order of their positions so that `a -> b` selects a prefix of each, and by the
 * values that `==` compares so that a join looks at equal ones only.
 */

import { flows, type Place } from '../events/provenance.ts';
import type { Occurrence } from '../values/event-object.ts';
import { isTraceObject } from '../values/value.ts';
import type { Candidate, Piece } from './body.ts';
import { ANY_KEY, type JoinKey, STRUCTURED } from './join-key.ts';

/** By what joins compare: which kinds of candidates are there already, where the first stand for all. */
type Known = Map<string, { isCertain: boolean; isOpen: boolean }>;

interface Lane {
  readonly candidates: Candidate[];
  readonly positions: number[];
  /** Among all events. */
  readonly sequences: number[];
  readonly known: Known;
}

/** What is remembered of the objects that pass. */
export type Retention =
  | 'all'
  /** What came first in a context was visible wherever what came later was: one for each value that joins compare. */
  | 'first-of-context'
  /** The same, where later lines only ask what happened earlier, in whatever context. */
  | 'first-of-trace'
  | 'none';

const NO_JOINS: readonly number[] = [];

export class CandidateStore {
  readonly #retention: Retention;
  readonly #told: readonly number[];
  readonly #all: Candidate[] = [];
  /** Those that are events, and where they stand among all events. */
  readonly #placed: Candidate[] = [];
  readonly #sequences: number[] = [];
  readonly #lanes = new Map<string, Lane>();
  readonly #known: Known = new Map();
  /** By join, then by key. */
  readonly #keyed: readonly Map<JoinKey, Candidate[]>[];

  /** `told`: where the first stand for all, the joins by whose values candidates are told apart. */
  constructor(retention: Retention, joins: number, told: readonly number[] = NO_JOINS) {
    this.#retention = retention;
    this.#told = told;
    this.#keyed = joins === 0 ? NOT_JOINED : Array.from({ length: joins }, () => new Map());
  }

  get size(): number {
    return this.#all.length;
  }

  add(candidate: Candidate): void {
    if (this.#retention === 'none') return;
    const place = placeOf(candidate);
    const lane = place === null ? null : this.#lane(place.context);
    if (this.#retention === 'first-of-context' && lane !== null && this.#isKnown(candidate, lane.known))
      return;
    if (this.#retention === 'first-of-trace' && lane !== null && this.#isKnown(candidate, this.#known))
      return;
    this.#all.push(candidate);
    if (lane !== null && place !== null) {
      this.#placed.push(candidate);
      this.#sequences.push(place.sequence);
      lane.candidates.push(candidate);
      lane.positions.push(place.position);
      lane.sequences.push(place.sequence);
    }
    for (const [join, index] of this.#keyed.entries()) {
      const key = candidate.keys?.[join] ?? ANY_KEY;
      const known = index.get(key);
      if (known === undefined) index.set(key, [candidate]);
      else known.push(candidate);
    }
  }

  /** In the order in which they were added. */
  all(): readonly Candidate[] {
    return this.#all;
  }

  /**
   * Those whose event was visible where `target` arose; and, where `source` is given, those of them that may have seen
   * it. Looks at the contexts that it knows of, not at all there are.
   */
  flowingTo(target: Place, source: Place | null = null): readonly Piece<Candidate>[] {
    const after = source === null ? 0 : countUpTo(this.#sequences, source.sequence);
    const early = countUpTo(this.#sequences, target.allBefore - 1);
    const pieces: Piece<Candidate>[] = early > after ? [slice(this.#placed, after, early)] : [];
    const add = (context: string, newest: number): void => {
      const lane = this.#lanes.get(context);
      if (lane === undefined) return;
      // What stands before `allBefore` is in the first piece.
      const start = countUpTo(lane.sequences, target.allBefore - 1);
      const end = countUpTo(lane.positions, newest);
      const from = source === null ? start : Math.max(start, firstAfter(lane.candidates, source));
      if (end > from) pieces.push(slice(lane.candidates, from, end));
    };
    add(target.context, target.position - 1);
    for (const [context, newest] of target.seen) if (context !== target.context) add(context, newest);
    return pieces;
  }

  /** Those whose side of the join may equal `key`; `ANY_KEY` selects all. */
  matching(join: number, key: JoinKey): readonly (readonly Candidate[])[] {
    const index = this.#keyed[join];
    if (index === undefined || key === ANY_KEY) return [this.#all];
    return [index.get(key) ?? [], index.get(ANY_KEY) ?? []];
  }

  #lane(context: string): Lane {
    let lane = this.#lanes.get(context);
    if (lane === undefined) {
      lane = { candidates: [], positions: [], sequences: [], known: new Map() };
      this.#lanes.set(context, lane);
    }
    return lane;
  }

  /**
   * Whether an earlier one decides as much: one that is certain does; one that is undecided only stands for undecided ones,
   * and one that waits for an answer for none, as the answer may be no. If not, it is known from now on.
   */
  #isKnown(candidate: Candidate, all: Known): boolean {
    const values: string[] = [];
    for (const join of this.#told) {
      const key = candidate.keys[join] ?? ANY_KEY;
      // Only what has equal keys and is equal is alike.
      if (key === ANY_KEY || (typeof key === 'string' && key.startsWith(STRUCTURED))) return false;
      values.push(typeof key === 'number' ? `n${key}` : key);
    }
    const value = values.length === 0 ? '' : JSON.stringify(values);
    const known = all.get(value) ?? { isCertain: false, isOpen: false };
    const isOpen = (candidate.open ?? null) !== null;
    const isWaiting = (candidate.again ?? null) !== null;
    if (known.isCertain || (known.isOpen && isOpen && !isWaiting)) return true;
    if (isWaiting) return false;
    if (isOpen) known.isOpen = true;
    else known.isCertain = true;
    all.set(value, known);
    return false;
  }
}

const NOT_JOINED: readonly Map<JoinKey, Candidate[]>[] = [];

/** For a variable of which nothing is remembered. */
export const NOTHING_KEPT = new CandidateStore('none', 0);

/** Where those begin that have seen `source`: of one context, all behind one that has. */
function firstAfter(candidates: readonly Candidate[], source: Place): number {
  let low = 0;
  let high = candidates.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const candidate = candidates[middle];
    const place = candidate === undefined ? null : placeOf(candidate);
    if (place !== null && flows(source, place)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Where the candidate itself stands; null for parts of events. */
export function placeOf(candidate: Occurrence): Place | null {
  return isTraceObject(candidate.value) ? candidate.value.place : null;
}

function countUpTo(positions: readonly number[], newest: number): number {
  let low = 0;
  let high = positions.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((positions[middle] ?? 0) <= newest) low = middle + 1;
    else high = middle;
  }
  return low;
}

function slice(candidates: readonly Candidate[], start: number, end: number): Piece<Candidate> {
  return start === 0 && end === candidates.length ? candidates : new Part(candidates, start, end);
}

class Part implements Piece<Candidate> {
  readonly length: number;
  readonly #all: readonly Candidate[];
  readonly #start: number;

  constructor(all: readonly Candidate[], start: number, end: number) {
    this.#all = all;
    this.#start = start;
    this.length = end - start;
  }

  *[Symbol.iterator](): Iterator<Candidate> {
    for (let index = this.#start; index < this.#start + this.length; index++) {
      const candidate = this.#all[index];
      if (candidate !== undefined) yield candidate;
    }
  }
}
