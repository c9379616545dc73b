/**
 * Which events carried knowledge from one context into another: the way between the two ends of a flow, for
 * explanations. Decisions need only the clocks.
 *
 * No decision depends on it.
 */
import type { FlowPoint, FlowRecord, FlowStep } from '@cordon/policy';

/** Explanations of flows that are older are shorter: the ends are there, the way is not. */
const MAX_STEPS = 1_000;

/** The newest steps of a trace. */
export class FlowPaths implements FlowRecord {
  readonly #base: FlowPaths | null;
  #all: FlowStep[] = [];

  constructor(base: FlowPaths | null = null) {
    this.#base = base;
  }

  add(step: FlowStep): void {
    this.#all.push(step);
    if (this.#all.length > 2 * MAX_STEPS) this.#all = this.#all.slice(-MAX_STEPS);
  }

  /** Its own steps, without those of what it continues. */
  get own(): readonly FlowStep[] {
    return this.#all;
  }

  fork(): FlowPaths {
    return new FlowPaths(this);
  }

  /** References of the events that carried `from` to `to`, in order; empty within a context, or if it is unknown. */
  way(from: FlowPoint, to: FlowPoint): readonly string[] {
    const way: string[] = [];
    let { context, position } = to;
    // Each step goes to an earlier event, and there are only so many.
    for (let steps = 0; context !== from.context && steps < MAX_STEPS; steps++) {
      const found = this.#firstThatKnew(from, context, position);
      const source = found === null ? null : this.#sourceThatKnew(from, found);
      if (found === null || source === null) return [];
      way.push(found.by);
      if (source.reference !== null && source.reference !== found.by) way.push(source.reference);
      ({ context, position } = source);
    }
    return way.reverse();
  }

  #firstThatKnew(from: FlowPoint, context: string, until: number): FlowStep | null {
    const inBase = this.#base === null ? null : this.#base.#firstThatKnew(from, context, until);
    if (inBase !== null) return inBase;
    const found = this.#all.find(
      (step) =>
        step.context === context &&
        step.position <= until &&
        (step.seen.get(from.context) ?? 0) >= from.position,
    );
    return found ?? null;
  }

  #sourceThatKnew(from: FlowPoint, { sources }: FlowStep): FlowPoint | null {
    const own = sources.find((source) => source.context === from.context && source.position >= from.position);
    if (own !== undefined) return own;
    const passing = sources.find(
      (source) => this.#firstThatKnew(from, source.context, source.position) !== null,
    );
    return passing ?? null;
  }
}
