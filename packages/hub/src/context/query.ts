/** What belongs to one query of the user: its plan, its budget, and what was refused on the way. */
import type {
  Clock,
  Event,
  EventId,
  ModelPrices,
  PlanOrigin,
  Reason,
  StepPlan,
  TurnLimits,
} from '@cordon/core';
import { type Fault, failed, fault, type Result } from '@cordon/core';
import { Budget, type Reservation } from './budget.ts';
import { DelegatedCalls } from './delegated-calls.ts';
import type { ContextOwner } from './owner.ts';
import { QueryActivity } from './query-activity.ts';
import { factKey, type KnownFact, NO_PAST, type Observation, type QueryPast } from './query-facts.ts';
import { ReturnedTexts } from './returned-texts.ts';
import { UserTexts } from './session-texts.ts';

export interface QueryParts {
  readonly text: string;
  /** Aborts when the user stops the query. */
  readonly signal: AbortSignal;
  readonly limits: TurnLimits;
  readonly prices: ModelPrices;
  readonly now: Clock;
  /** No context of before comes in, and nothing of it is remembered. */
  readonly isPrivate: boolean;
  /** Whether the user sees parts of the answer while the model still writes; absent: no. */
  readonly streams?: boolean;
  /** The call that it undoes, without a model; absent: none. */
  readonly undoes?: EventId | null;
}

export class Query {
  readonly text: string;
  readonly isPrivate: boolean;
  readonly streams: boolean;
  /** The call that it undoes, without a model; null: a model serves the query. */
  readonly undoes: EventId | null;
  /** Aborts when the user stops the query, when it has reached a limit, and when it is over: what is still under way ends then. */
  readonly signal: AbortSignal;
  readonly budget: Budget;
  readonly activity: QueryActivity;
  /** The user's words, in which values are looked for. */
  readonly said: UserTexts;
  readonly delegated = new DelegatedCalls();
  /** What apps have returned in it. */
  readonly returned = new ReturnedTexts();
  readonly #ending = new AbortController();
  #plan: StepPlan = { steps: [], candidates: [] };
  #refusal: Reason | null = null;
  #isGuessed = false;
  #heardBy: ContextOwner | null = null;
  readonly #observed: Observation[] = [];
  readonly #stated: KnownFact[] = [];
  #past = NO_PAST;

  constructor({ text, signal, limits, prices, now, isPrivate, streams = false, undoes = null }: QueryParts) {
    this.text = text;
    this.said = new UserTexts([text], () => []);
    this.isPrivate = isPrivate;
    this.streams = streams;
    this.undoes = undoes;
    this.signal = AbortSignal.any([signal, this.#ending.signal]);
    this.budget = new Budget({ limits, prices, now, onOver: () => this.#ending.abort() });
    this.activity = new QueryActivity(this.budget);
    this.budget.resume();
  }

  /**
   * A query whose agent loop died leaves a call behind, which would continue in the app, ask the user about something
   * that is over, or take the app from the next query when it runs into its limit.
   */
  end(): void {
    this.budget.end();
    this.#ending.abort();
  }

  /** What happened of it before it was interrupted. */
  resumeFrom(events: readonly Event[]): void {
    this.#past = pastOf(events);
    for (const event of events) this.activity.saw(event);
    this.activity.resume();
  }

  /** What it left in memory before it was interrupted, and did not know when it began. */
  get past(): QueryPast {
    return this.#past;
  }

  get plan(): StepPlan {
    return this.#plan;
  }

  /** Whether the plan is the hub's own guess, because the planner gave none. */
  get isGuessed(): boolean {
    return this.#isGuessed;
  }

  adopt(plan: StepPlan, origin: PlanOrigin): void {
    this.#plan = plan;
    this.#isGuessed = origin === 'fallback';
  }

  /** Whose context has the user's words; null: none yet. */
  get heardBy(): ContextOwner | null {
    return this.#heardBy;
  }

  heard(owner: ContextOwner): void {
    this.#heardBy = owner;
  }

  /** What outputs of apps stated, to be remembered when the query has ended. */
  get observed(): readonly Observation[] {
    return this.#observed;
  }

  observes(observation: Observation): void {
    this.#observed.push(observation);
  }

  /** What the user typed into forms of apps, to be remembered when the query has ended. */
  get stated(): readonly KnownFact[] {
    return this.#stated;
  }

  states(fact: KnownFact): void {
    this.#stated.push(fact);
  }

  /** Why the query counts as refused: the first refusal of something that the plan expected. */
  get refusal(): Reason | null {
    return this.#refusal;
  }

  /** What lay outside the plan was not what the user asked for: refusing it leaves the query whole. */
  refused(reasons: readonly Reason[], expected: boolean): void {
    if (expected) this.#refusal ??= reasons[0] ?? null;
  }

  /** A user who keeps something has not refused the query; a policy that does has (decision 4). */
  withheld(reasons: readonly Reason[]): void {
    const isByPolicy = reasons.some(({ because }) => because !== 'permission');
    this.refused(reasons, isByPolicy);
  }

  /** Another plan takes the place of the one that was refused; `reason` brings the refusal back. */
  startsAnew(reason: Reason | null = null): void {
    this.#refusal = reason;
  }

  /** Announces a model call; a fault: it does not fit the budget, or the query is over. */
  reserve(model: string, characters: number): Result<Reservation, Fault> {
    return this.signal.aborted ? failed(this.#overBecause) : this.budget.reserve(model, characters);
  }

  /** For calls that it can do without, until `signal` aborts: a fault is not the end of the query. */
  spare(signal: AbortSignal): Pick<Query, 'reserve' | 'signal'> {
    const reserve: Query['reserve'] = (model, characters) =>
      this.signal.aborted ? failed(this.#overBecause) : this.budget.reserveSpare(model, characters);
    return { signal, reserve };
  }

  get #overBecause(): Fault {
    return this.budget.exceeded?.fault ?? fault('cancelled', 'the query was stopped');
  }
}

/** Where it stated a fact more than once, what stood there first is what it knew. */
function pastOf(events: readonly Event[]): QueryPast {
  const replaced = new Map<string, string>();
  const told = events.flatMap((event) => (event.kind === 'facts.learnt' ? [event] : []));
  for (const { toldTo, facts } of told.reverse())
    for (const { name, before } of facts) if (before !== null) replaced.set(factKey(name, toldTo), before);
  return { events: new Set(events.map(({ id }) => id)), replaced };
}
