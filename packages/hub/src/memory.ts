/**
 * What the hub remembers, as the operator uses it: the user's own words and facts for the system, and the turns of
 * each context for that context alone (paper, Appendix A-C). Kept apart by the store, whose handles name one owner.
 *
 * Ring 0.
 */
import type { AppId, EventId, ModelMessage, PlannerInput } from '@cordon/core';

/** Whose turns these are: an app's context, the contexts without app, or the baseline's one shared context. */
export type ContextOwner = AppId | 'vanilla' | 'shared';

export interface KnownFact {
  readonly name: string;
  readonly value: string;
  /** The app in whose conversation the user stated it; null: none. */
  readonly origin: AppId | null;
}

export interface Memory {
  facts(): readonly KnownFact[];
  rememberFact(fact: KnownFact, source: EventId): void;
  /** The user's own earlier queries, oldest first. */
  earlier(): PlannerInput['earlier'];
  rememberQuery(query: string, app: AppId | null, outcome: string): void;
  /** The last turns of one context's owner, oldest first. */
  turns(owner: ContextOwner): readonly ModelMessage[];
  rememberTurn(owner: ContextOwner, query: string, answer: string): void;
}
