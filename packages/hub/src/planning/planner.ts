/**
 * What the hub asks of a planner, which is ring 1. A planner reads the user's words: it names apps, finds what the words state
 * about the user, and words its model's instructions. The hub decides what that model sees, checks every answer, and makes the plan.
 */
import type { AppId, InstalledApp, JsonSchema, PlanOrigin } from '@cordon/core';
import type { Fact } from '../memory/facts.ts';
import type { PlanningTask } from './read-plan.ts';

/** What the session is about: the app whose own context answered the last query, and what the user said to it. */
export interface Subject {
  readonly app: AppId;
  /** The user's words about it so far. */
  readonly said: readonly string[];
  /** Names of the facts that were released for it. */
  readonly facts: readonly string[];
}

/** What a query is read against. */
export interface QuerySurroundings {
  readonly apps: readonly InstalledApp[];
  readonly subject: Subject | null;
  /** Whether the user stated facts to anybody: which of them an app needs is for the planner's model to say. */
  readonly knowsFacts: boolean;
}

/** The one app that the query itself states. */
export interface ExplicitPlan {
  readonly app: AppId;
  /** Names of the facts that it needs. */
  readonly needs: readonly string[];
  readonly origin: Extract<PlanOrigin, 'named-app' | 'follow-up'>;
}

/** Who will most likely answer the query: this app, or nobody's context. */
export interface Guess {
  readonly app: AppId | null;
}

/** How the user's words are read. A planner that errs sends the query to an app that the user did not mean. */
export interface Planner {
  /** The plan that the query itself states; null: a model has to plan. */
  readonly explicit: (query: string, surroundings: QuerySurroundings) => ExplicitPlan | null;
  /** Null: it cannot be told. */
  readonly likely: (query: string, apps: readonly InstalledApp[]) => Guess | null;
  /** All of `apps`, the best for this query first; those in `first` before others that fit as well. */
  readonly rank: (
    query: string,
    apps: readonly InstalledApp[],
    first: readonly AppId[],
  ) => readonly InstalledApp[];
  /** The instructions of the planner's model. */
  readonly prompt: (task: PlanningTask) => string;
  /** The form of its answer; with `hasUnlisted` it may want to see more apps. */
  readonly schema: (hasUnlisted: boolean) => JsonSchema;
  /** The instructions of the model that names an app's tools for a step, and the form of its answer. */
  readonly toolPrompt: string;
  readonly toolSchema: JsonSchema;
  /** The instructions of the model that reads a text which the user asked to follow, and the form of its answer. */
  readonly delegationPrompt: string;
  readonly delegationSchema: JsonSchema;
  /** Who serves the query where the model's answer is no plan. */
  readonly fallback: (query: string, apps: readonly InstalledApp[]) => readonly AppId[];
  /** What the user's words state about the user; the hub keeps what it can check. */
  readonly stated: (words: string) => readonly Fact[];
}
