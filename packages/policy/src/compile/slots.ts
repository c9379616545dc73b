/**
 * The names of an activation of a body, the slots that hold their values, where these values stand, and which events
 * they were read from.
 *
 * Ring 0.
 */
import type { Anchor, Locate } from '../evaluate/body.ts';

/** The names of an activation and the slots that they have. */
export class Scope {
  readonly #slots: ReadonlyMap<string, number>;
  readonly #locators = new Map<string, Locate>();
  readonly #anchors = new Map<string, Anchor>();
  readonly #outer: Scope | null;
  readonly layout: Layout;

  constructor(names: readonly string[], layout: Layout, outer: Scope | null) {
    this.#slots = new Map(names.map((name) => [name, layout.next++]));
    this.#outer = outer;
    this.layout = layout;
  }

  slot(name: string): number | null {
    const own = this.#slots.get(name);
    if (own !== undefined) return own;
    return this.#outer === null ? null : this.#outer.slot(name);
  }

  /** Where the value of one of its names stands. */
  setLocator(name: string, locate: Locate): void {
    this.#locators.set(name, locate);
  }

  /** The event that the value of one of its names is, or was read from. */
  setAnchor(name: string, anchor: Anchor): void {
    this.#anchors.set(name, anchor);
  }

  anchor(name: string): Anchor {
    const own = this.#slots.has(name) ? (this.#anchors.get(name) ?? NO_ANCHOR) : null;
    return own ?? this.#outer?.anchor(name) ?? NO_ANCHOR;
  }

  locator(name: string): Locate {
    const own = this.#slots.has(name) ? (this.#locators.get(name) ?? NOWHERE) : null;
    return own ?? this.#outer?.locator(name) ?? NOWHERE;
  }
}

export const NOWHERE: Locate = () => null;

const NO_ANCHOR: Anchor = () => null;

export interface Layout {
  next: number;
  /** Of a rule: the variables that are bound to events of the trace. */
  readonly events?: ReadonlySet<string>;
}
