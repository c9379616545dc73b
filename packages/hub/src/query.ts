/**
 * What belongs to one query of the user: its plan, its budget, and what was refused on the way.
 *
 * Ring 0.
 */
import {
  type Fault,
  failed,
  fault,
  ok,
  type PlanOrigin,
  type Reason,
  type Result,
  type StepPlan,
  type TurnLimits,
  type Usage,
} from '@cordon/core';
import type { ContextOwner } from './memory.ts';

export class Query {
  readonly text: string;
  /** Aborts when the user stops the query, and when it is over: what is still under way for it ends then. */
  readonly signal: AbortSignal;
  readonly #ending = new AbortController();
  readonly #limits: TurnLimits;
  #plan: StepPlan = { steps: [], candidates: [] };
  #tokens = 0;
  #refusal: Reason | null = null;
  #isGuessed = false;
  #heardBy: ContextOwner | null = null;

  constructor(text: string, signal: AbortSignal, limits: TurnLimits) {
    this.text = text;
    this.signal = AbortSignal.any([signal, this.#ending.signal]);
    this.#limits = limits;
  }

  /**
   * A query whose agent loop died leaves a call behind, which would go on in the app, ask the user about something
   * that is over, or take the app from the next query when it runs into its limit.
   */
  end(): void {
    this.#ending.abort();
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

  /** Why the query counts as refused: the first refusal of something that the plan expected. */
  get refusal(): Reason | null {
    return this.#refusal;
  }

  /** What lay outside the plan was not what the user asked for: refusing it leaves the query whole. */
  refused(reasons: readonly Reason[], expected: boolean): void {
    if (expected) this.#refusal ??= reasons[0] ?? null;
  }

  spend(usage: Usage): void {
    this.#tokens += usage.inputTokens + usage.outputTokens;
  }

  /** Whether another model call fits the budget. */
  budget(): Result<true, Fault> {
    if (this.signal.aborted) return failed(fault('cancelled', 'the query was stopped'));
    if (this.#tokens < this.#limits.tokens) return ok(true);
    return failed(fault('budget-exceeded', `the query used its ${this.#limits.tokens} tokens`));
  }
}
