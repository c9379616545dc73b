/**
 * The facts that a query works with and leaves behind: what the user stated, what apps' outputs stated, and what a query that
 * was interrupted had left in memory by then.
 */
import type { AppId, EventId, Label } from '@cordon/core';

/** A fact that the user stated. */
export interface KnownFact {
  readonly name: string;
  readonly value: string;
  /** The app in whose conversation the user stated it; null: none. */
  readonly origin: AppId | null;
}

/** A closed value of an app's output, or of a call to it, as the configuration says. It is the app's word, not the user's. */
export interface ObservedFact {
  /** `app/name`: how the planner names it. No fact of the user's has such a name. */
  readonly key: string;
  /** Without the app, as another app's context may hear it. */
  readonly name: string;
  readonly value: string;
  readonly origin: AppId;
  readonly label: Label;
}

/** A value that an output stated, and the event that brought it. */
export interface Observation {
  readonly fact: Omit<ObservedFact, 'key'>;
  readonly source: EventId;
}

/**
 * What a resumed query has left in memory itself: it did not know that when it began, and is shown again what it was
 * shown then.
 */
export interface QueryPast {
  readonly events: ReadonlySet<EventId>;
  /** The values that its facts replaced, by `factKey`. */
  readonly replaced: ReadonlyMap<string, string>;
}

export const NO_PAST: QueryPast = { events: new Set(), replaced: new Map() };

export function factKey(name: string, toldTo: AppId | null): string {
  return JSON.stringify([name, toldTo]);
}
