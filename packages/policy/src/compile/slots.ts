/**
 * The names of an activation of a body, the slots that hold their values, where these values stand, and which events
 * they were read from.
 */
import type { Anchor, Locate } from '../evaluate/body.ts';
import { EventObject } from '../values/event-object.ts';

/** What is known of a name of an activation. */
interface Local {
  readonly slot: number;
  locate: Locate;
  anchor: Anchor;
}

/** The names of an activation and the slots that they have. */
export class Scope {
  readonly #locals: ReadonlyMap<string, Local>;
  readonly #outer: Scope | null;
  readonly layout: Layout;

  constructor(names: readonly string[], layout: Layout, outer: Scope | null) {
    this.#locals = new Map(
      names.map((name) => [name, { slot: layout.next++, locate: NOWHERE, anchor: NO_ANCHOR }]),
    );
    this.#outer = outer;
    this.layout = layout;
  }

  slot(name: string): number | null {
    return this.#local(name)?.slot ?? null;
  }

  /**
   * Says of one of its names where the value stands, and which event it was read from. What is an event itself, is its
   * own.
   */
  place(name: string, locate: Locate, readFrom: Anchor): void {
    const local = this.#locals.get(name);
    if (local === undefined) return;
    local.locate = locate;
    local.anchor = (frame) => {
      const value = frame.slots[local.slot];
      return value instanceof EventObject ? value : readFrom(frame);
    };
  }

  /** The event that the value of a name is, or was read from. */
  anchor(name: string): Anchor {
    return this.#local(name)?.anchor ?? NO_ANCHOR;
  }

  /** Where the value of a name stands. */
  locator(name: string): Locate {
    return this.#local(name)?.locate ?? NOWHERE;
  }

  #local(name: string): Local | null {
    const own = this.#locals.get(name);
    return own ?? (this.#outer === null ? null : this.#outer.#local(name));
  }
}

export const NOWHERE: Locate = () => null;

const NO_ANCHOR: Anchor = () => null;

export interface Layout {
  next: number;
  /** Of a rule: the variables that are bound to events of the trace. */
  readonly events?: ReadonlySet<string>;
}
