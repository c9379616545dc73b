/**
 * What one variable of a rule can still be bound to: the objects of the trace that pass the variable's own
 * conditions, kept by context in the order of their positions so that `a -> b` selects a prefix of each.
 *
 * Ring 0.
 */
import type { Candidate } from './body.ts';
import type { Place } from './provenance.ts';
import { isTraceObject } from './value.ts';

interface Lane {
  readonly candidates: Candidate[];
  readonly positions: number[];
}

export class CandidateStore {
  readonly #all: Candidate[] = [];
  readonly #lanes = new Map<string, Lane>();

  get size(): number {
    return this.#all.length;
  }

  add(candidate: Candidate): void {
    this.#all.push(candidate);
    const place = placeOf(candidate);
    if (place === null) return;
    let lane = this.#lanes.get(place.context);
    if (lane === undefined) {
      lane = { candidates: [], positions: [] };
      this.#lanes.set(place.context, lane);
    }
    lane.candidates.push(candidate);
    lane.positions.push(place.position);
  }

  /** In the order in which they were added. */
  all(): readonly Candidate[] {
    return this.#all;
  }

  /** Those whose event was visible where `target` arose. */
  flowingTo(target: Place): readonly Iterable<Candidate>[] {
    const pieces: Iterable<Candidate>[] = [];
    for (const [context, lane] of this.#lanes) {
      const newest = context === target.context ? target.position - 1 : (target.seen.get(context) ?? 0);
      const end = countUpTo(lane.positions, newest);
      if (end > 0)
        pieces.push(end === lane.candidates.length ? lane.candidates : prefix(lane.candidates, end));
    }
    return pieces;
  }
}

/** Where the candidate itself stands; null for parts of events. */
export function placeOf(candidate: Candidate): Place | null {
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

function* prefix(candidates: readonly Candidate[], end: number): Iterable<Candidate> {
  for (let index = 0; index < end; index++) {
    const candidate = candidates[index];
    if (candidate !== undefined) yield candidate;
  }
}
