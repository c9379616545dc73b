/**
 * Which event could have known of which: the happened-before order over contexts, kept as vector clocks. In a
 * plain chat log there is one context, and the order is that of the list (specification 8; architecture,
 * "Events, contexts, provenance").
 */
import { HUB_LABEL, joinLabels, type Label } from '@cordon/core';
import type { EventFrame } from './trace-event.ts';

/** Where an event stands. `a -> b` is one comparison of two of these, whatever the length of the trace. */
export interface Place {
  readonly context: string;
  /** Position in its context, from 1. */
  readonly position: number;
  /** For each other context, the position of the newest event of it that was visible here. */
  readonly seen: ReadonlyMap<string, number>;
  /** Every event whose sequence is smaller was visible here, whatever its context. */
  readonly allBefore: number;
  /** Position among all events, from 0. */
  readonly sequence: number;
  /** The join of all labels that were visible here, with the event's own. */
  readonly label: Label;
}

/** Whether what stands at `a` was visible where `b` arose. Never of an event and itself. */
export function flows(a: Place, b: Place): boolean {
  if (a.context === b.context) return a.position < b.position;
  return a.sequence < b.allBefore || (b.seen.get(a.context) ?? 0) >= a.position;
}

/** Whether `a` happened earlier in the session than `b`, whoever has seen it (paper, 3.1: i < j). */
export function happensBefore(a: Place, b: Place): boolean {
  return a.sequence < b.sequence;
}

/** Of all that happened earlier than `place`, whoever has seen it, as if it had been visible there. */
export function seeingAll(place: Place): Place {
  return { ...place, allBefore: place.sequence };
}

/** Whether `a` stands directly before `b` in the same context. */
export function directlyPrecedes(a: Place, b: Place): boolean {
  return a.context === b.context && a.position + 1 === b.position;
}

/** Used where a trace has no contexts. */
export const ONLY_CONTEXT = 'trace';
const NO_CAUSES: readonly string[] = [];

/** A point in a context from which on it knew what others had seen. */
export interface FlowStep {
  readonly context: string;
  /** Of the first event of the context that could know of it. */
  readonly position: number;
  /** The event that brought it, as reports name it. */
  readonly by: string;
  readonly sources: readonly FlowPoint[];
  /** What the context had seen then, of each other context. */
  readonly seen: ReadonlyMap<string, number>;
}

/** Where what was handed over came from. */
export interface FlowPoint {
  readonly context: string;
  readonly position: number;
  /** The event that it was; null: it stands for a context as a whole. */
  readonly reference: string | null;
}

/** What explanations keep of flows. A fork continues it and changes nothing in it. */
export interface FlowRecord {
  readonly own: readonly FlowStep[];
  add(step: FlowStep): void;
  fork(): FlowRecord;
  /** References of the events that carried `from` to `to`, in order; empty within a context, or if it is unknown. */
  way(from: FlowPoint, to: FlowPoint): readonly string[];
}

interface Known {
  readonly place: Place;
  readonly reference: string;
}

interface ContextState {
  readonly position: number;
  readonly seen: ReadonlyMap<string, number>;
  readonly allBefore: number;
  readonly label: Label;
}

const EMPTY: ContextState = { position: 0, seen: new Map(), allBefore: 0, label: HUB_LABEL };

/**
 * Contexts that one clock tells apart. A context that has heard of more is taken to have seen everything: clocks
 * stay small whatever an attacker makes of contexts, and no flow is hidden.
 */
const MAX_CLOCK = 256;

/** The clocks of one trace. A fork is a private continuation: it sees its base and changes nothing in it. */
export class Provenance {
  readonly #base: Provenance | null;
  readonly #contexts = new Map<string, ContextState>();
  /** By id; null: several events have it, so a cause with it is ambiguous. */
  readonly #places = new Map<string, Known | null>();
  /** Null: no explanation needs the ways of flows. */
  readonly #paths: FlowRecord | null;
  #sequence: number;
  /** The join of all labels so far. */
  #label: Label;

  constructor(base: Provenance | null = null, paths: FlowRecord | null = null) {
    this.#base = base;
    this.#paths = base === null ? paths : (base.#paths?.fork() ?? null);
    this.#sequence = base === null ? 0 : base.#sequence;
    this.#label = base === null ? HUB_LABEL : base.#label;
  }

  fork(): Provenance {
    return new Provenance(this);
  }

  /** Takes over what `fork`, a fork of this one, has placed. */
  adopt(fork: Provenance): void {
    if (fork.#base !== this || fork.#sequence < this.#sequence) throw new Error('not a current fork');
    for (const [name, state] of fork.#contexts) this.#contexts.set(name, state);
    for (const [id, place] of fork.#places) this.#places.set(id, place);
    for (const step of fork.#paths?.own ?? []) this.#paths?.add(step);
    this.#sequence = fork.#sequence;
    this.#label = fork.#label;
  }

  /** Gives the next event its place. `own`: its label; null: it is as tainted as what was visible in its context. */
  place(event: EventFrame, own: Label | null): Place {
    const { id, context = ONLY_CONTEXT, causes = NO_CAUSES, bornFrom, deliveredTo } = event;
    const before = this.#context(context);
    let state = before;
    if (bornFrom !== undefined && bornFrom !== context)
      state = joinSeen(state, context, bornFrom, this.#context(bornFrom));
    for (const cause of causes) state = this.#joinCause(state, context, cause);
    if (state.seen.size > MAX_CLOCK) state = this.#everything(state);
    const label = own === null ? state.label : joinLabels(state.label, own);
    const place: Place = {
      context,
      position: state.position + 1,
      seen: state.seen,
      allBefore: state.allBefore,
      sequence: this.#sequence++,
      label,
    };
    this.#label = joinLabels(this.#label, label);
    this.#contexts.set(context, place);
    const reference = event.path ?? id ?? String(place.sequence);
    if (deliveredTo !== undefined && deliveredTo !== context) this.#deliver(deliveredTo, place, reference);
    if (state.seen !== before.seen) this.#recordStep(event, place, reference);
    if (id !== undefined) {
      const isTaken = this.#known(id) !== undefined;
      this.#places.set(id, isTaken ? null : { place, reference });
    }
    return place;
  }

  /** A context learns of an event at once. */
  #deliver(context: string, place: Place, by: string): void {
    const receiver = this.#context(context);
    let told = joinSeen(receiver, context, place.context, place);
    // Nothing may ever arise in it, so its clock is kept small where it grows.
    if (told.seen.size > MAX_CLOCK) told = this.#everything(told);
    this.#contexts.set(context, told);
    if (told.seen === receiver.seen) return;
    const source = { context: place.context, position: place.position, reference: by };
    this.#paths?.add({ context, position: told.position + 1, by, sources: [source], seen: told.seen });
  }

  /** The event of an id ends at a later place: a message with its calls is one thing to carry on. */
  extend(id: string, place: Place): void {
    const known = this.#known(id);
    if (known != null && known.place.context === place.context)
      this.#places.set(id, { place, reference: known.reference });
  }

  /** The events that carried what was visible at `from` to `to`. */
  way(from: Place, to: Place): readonly string[] {
    const end = ({ context, position }: Place): FlowPoint => ({ context, position, reference: null });
    return this.#paths?.way(end(from), end(to)) ?? [];
  }

  #recordStep({ causes = NO_CAUSES, bornFrom }: EventFrame, place: Place, by: string): void {
    if (this.#paths === null) return;
    const sources = causes.flatMap((cause): FlowPoint[] => {
      const found = this.#known(cause);
      if (found == null) return [];
      return [{ context: found.place.context, position: found.place.position, reference: found.reference }];
    });
    if (bornFrom !== undefined) {
      sources.push({ context: bornFrom, position: this.#context(bornFrom).position + 1, reference: null });
    }
    const { context, position, seen } = place;
    this.#paths.add({ context, position, by, sources, seen });
  }

  #joinCause(state: ContextState, context: string, cause: string): ContextState {
    const place = this.#known(cause)?.place;
    if (place !== undefined) return joinSeen(state, context, place.context, place);
    // Nobody knows what an unknown cause carries, so it carries everything: absence must not hide a flow.
    return this.#everything(state);
  }

  #everything(state: ContextState): ContextState {
    const label = joinLabels(state.label, this.#label);
    return { position: state.position, seen: EMPTY.seen, allBefore: this.#sequence, label };
  }

  #context(name: string): ContextState {
    const own = this.#contexts.get(name);
    if (own !== undefined) return own;
    return this.#base === null ? EMPTY : this.#base.#context(name);
  }

  #known(id: string): Known | null | undefined {
    const own = this.#places.get(id);
    return own !== undefined || this.#base === null ? own : this.#base.#known(id);
  }
}

/** What a context has seen once it learns of a place in another. Maps are shared between the events of a context and copied only when something new was seen. */
function joinSeen(
  state: ContextState,
  context: string,
  from: string,
  { position, seen, allBefore, label }: ContextState,
): ContextState {
  let merged: Map<string, number> | null = null;
  const learn = (name: string, newest: number): void => {
    if (name === context || newest <= ((merged ?? state.seen).get(name) ?? 0)) return;
    merged ??= new Map(state.seen);
    merged.set(name, newest);
  };
  learn(from, position);
  for (const [name, newest] of seen) learn(name, newest);
  return {
    position: state.position,
    seen: merged ?? state.seen,
    allBefore: Math.max(state.allBefore, allBefore),
    label: joinLabels(state.label, label),
  };
}
