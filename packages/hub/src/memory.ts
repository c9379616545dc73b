/**
 * What the hub remembers, as the operator uses it: the user's own words and facts for the system, and the turns of
 * each context for that context alone (paper, Appendix A-C). Kept apart by the store, whose handles name one owner.
 *
 * Ring 0.
 */
import type { AppId, EventId, Label, ModelMessage, PlannerInput } from '@cordon/core';
import type { MemoryOwner } from '@cordon/trace';

/** Whose turns these are: an app's context, the contexts without app, or the baseline's one shared context. */
export type ContextOwner = Exclude<MemoryOwner, { kind: 'system' }>;

/** Earlier turns, oldest first, and how trustworthy the context was that they come from. */
export interface RememberedTurns {
  readonly messages: readonly ModelMessage[];
  readonly label: Label;
  /** The last event of each: what is shown again carries on everything that was known there. */
  readonly sources: readonly EventId[];
}

export interface KnownFact {
  readonly name: string;
  readonly value: string;
  /** The app in whose conversation the user stated it; null: none. */
  readonly origin: AppId | null;
}

export interface Memory {
  /** All facts that the user stated, to whomever. */
  facts(): readonly KnownFact[];
  /** The facts that the user stated in this owner's own conversations: its context knows them already. */
  ownFacts(owner: ContextOwner): readonly KnownFact[];
  /** Kept for the system, and for the owner in whose conversation it was stated. */
  rememberFact(fact: KnownFact, owner: ContextOwner, source: EventId): void;
  /** The user's own earlier queries, oldest first. */
  earlier(): PlannerInput['earlier'];
  rememberQuery(query: string, app: AppId | null, outcome: string): void;
  /** The last turns of one context's owner. */
  turns(owner: ContextOwner): RememberedTurns;
  /** `label` and `source`: of the context that gave the answer, and its last event. */
  rememberTurn(
    owner: ContextOwner,
    query: string,
    answer: string,
    from: { readonly label: Label; readonly source: EventId | null },
  ): void;
}
