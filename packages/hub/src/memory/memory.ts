/**
 * What the hub remembers, as the operator uses it: the user's own words and facts for the system, and the turns of
 * each context for that context alone (paper, Appendix A-C). Kept apart by the store, whose handles name one owner.
 *
 * Ring 0.
 */
import type { AppId, EarlierOutcome, EventId, Label, ModelMessage, PlannerInput } from '@cordon/core';
import type { MemoryOwner, NewSummary } from '@cordon/trace';
import type { ContextOwner } from '../context/owner.ts';
import type { KnownFact, Observation, ObservedFact, QueryPast } from '../context/query-facts.ts';
import type { Said } from './working-memory.ts';

/** Earlier turns, oldest first, and how trustworthy the context was that they come from. */
export interface RememberedTurns {
  /** Of what is older than the others, the summary. */
  readonly messages: readonly ModelMessage[];
  readonly label: Label;
  /** The last event of each: what is shown again carries on everything that was known there. */
  readonly sources: readonly EventId[];
  /** Whether closed values may stand in them that others may have chosen. */
  readonly holdsOthersValues: boolean;
}

/** What an owner is shown again of its other sessions. */
export interface CarriedTurns extends Omit<RememberedTurns, 'sources'> {
  readonly turns: number;
  readonly sessions: number;
}

/** Turns that no longer fit into what is shown, and are in no summary yet. */
export interface OlderTurns {
  /** The summary that the new one takes the place of; null: there is none. */
  readonly before: string | null;
  readonly turns: readonly Said[];
  /** Of all of it together. */
  readonly label: Label;
  readonly sources: readonly EventId[];
  /** Whether closed values may stand in it that others may have chosen. */
  readonly holdsOthersValues: boolean;
  /** Place of the last of them. */
  readonly through: number;
}

/** The context that gave an answer. */
export interface AnsweredBy {
  readonly label: Label;
  readonly holdsOthersValues: boolean;
  /** Its last event. */
  readonly source: EventId | null;
  /** The event of the user's words. */
  readonly said: EventId;
}

export interface Memory {
  /** All facts that the user stated, to whomever. `past`: of the query that asks, whose own facts it did not know. */
  facts(past?: QueryPast): readonly KnownFact[];
  /** The facts that the user stated in this owner's own conversations: its context knows them already. */
  ownFacts(owner: ContextOwner, past?: QueryPast): readonly KnownFact[];
  /** Kept for the system, and for the owner in whose conversation it was stated. */
  rememberFact(fact: KnownFact, owner: ContextOwner, source: EventId): void;
  /** What apps' outputs stated, the newest, each for itself: none takes the place of what the user said, or of another app's. */
  observed(past?: QueryPast): readonly ObservedFact[];
  /** Kept for the system and for the app. `label`: of the output. */
  observe(observation: Observation): void;
  /** The user's own earlier queries, oldest first. `said`: of the query that is being served; what was kept of it already is left out. */
  earlier(said: EventId): PlannerInput['earlier'];
  /** Of what the user asked before those; null: there is none. Made of the user's words and the operator's acts alone. */
  earlierSummary(said: EventId): string | null;
  /** `said`: the event of the user’s words. Remembered once for each; of how it ended, the last. */
  rememberQuery(query: string, app: AppId | null, outcome: EarlierOutcome, said: EventId): void;
  /** Whether a query is remembered as it was asked. Attack: a fact of what the user deleted or corrected meanwhile is kept. */
  holdsQuery(query: string, said: EventId): boolean;
  /** How a query ended that was remembered; null: it was not. */
  outcomeOf(said: EventId): EarlierOutcome | null;
  /** The last turns of one context's owner. `said`: as for `earlier`. */
  turns(owner: ContextOwner, said?: EventId): RememberedTurns;
  /** The last turns of an app's other sessions, as far as there is room beside those of this one; null: none are shown. */
  carried(owner: ContextOwner, said: EventId): CarriedTurns | null;
  /** Remembered once for each. */
  rememberTurn(owner: ContextOwner, query: string, answer: string, from: AnsweredBy): void;
  /** What `work` has kept is kept as a whole, or nothing of it. */
  together(work: () => void): void;
  /** What is to be summed up; null: all that is not in a summary still fits. */
  older(owner: MemoryOwner): OlderTurns | null;
  /**
   * In the place of what `older` gave. Attack: what the user has deleted or corrected since then comes back by a summary.
   * False: it is not what was summed up any more, and nothing is kept.
   */
  keepSummary(owner: MemoryOwner, of: OlderTurns, summary: NewSummary): boolean;
}
