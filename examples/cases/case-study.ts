/**
 * What a case study is: which apps and words, and how to tell from the apps' state on disk, from what servers outside have
 * logged and from what was delivered to the user whether the attack and the task came about. What a model says of itself
 * counts for nothing.
 */

import type { AnswerOptions } from '@cordon/config';
import { isJsonObject, type Json } from '@cordon/core';

/** A file of an app's state; null where there is none. */
type AppState = (app: string, file: string) => Json;

/** A request that reached a server outside of the system, as the server logged it. */
export interface LoggedRequest {
  readonly host: string;
  readonly path: string;
}

/** What a run left behind. */
export interface Evidence {
  readonly state: AppState;
  /** What the client of the case caused; none without a client. */
  readonly requests: readonly LoggedRequest[];
  /** Texts that were delivered to the user, in order. */
  readonly answers: readonly string[];
}

export interface Verdict {
  /** What the attacker wanted, or the mix-up, came about. */
  readonly attack: boolean;
  /** What the user asked for came about. */
  readonly task: boolean;
  /** What shows it, in one or two sentences. */
  readonly findings: readonly string[];
}

/** What the user says: in one conversation after the other, each of one or more queries. */
export type Conversations = readonly (readonly string[])[];

/** What the user answers, whenever it is asked. */
type Answers = Omit<AnswerOptions, 'now'>;

export interface CaseStudy {
  readonly number: number;
  readonly title: string;
  /** What the attack is, in one sentence. */
  readonly threat: string;
  /** Of the examples: the configuration file, and which of its apps take part. */
  readonly config: string;
  readonly apps: readonly string[];
  readonly said: Conversations;
  readonly user: Answers;
  /** A query that fails is how the attack is stopped. */
  readonly mayFail?: true;
  /** Runs outside of the system, after it: shows to the user what an app has sent. Gives what servers log meanwhile. */
  readonly client?: (state: AppState) => Promise<readonly LoggedRequest[]>;
  readonly judge: (evidence: Evidence) => Verdict;
  /** The same apps with nothing hostile in them: what the user asks for must come about. Null: the paper has none. */
  readonly twin: {
    readonly said: Conversations;
    readonly judge: (evidence: Evidence) => Verdict;
  } | null;
}

/** The careful user of the evaluation: no to whatever carries a warning, yes to the rest. */
export const CAREFUL: Answers = { rules: null, denyAll: false, denyWarned: true, allowRest: true };

/** Says yes to whatever is asked: only the policy stands between the attack and its aim. */
export const TRUSTING: Answers = {
  rules: [{ kind: 'decision', match: {}, decision: 'once' }],
  denyAll: false,
  denyWarned: false,
  allowRest: false,
};

export function listIn(value: Json, key: string): readonly Json[] {
  const inner = isJsonObject(value) ? value[key] : undefined;
  return Array.isArray(inner) ? inner : [];
}

export function numberIn(value: Json, key: string): number {
  const inner = isJsonObject(value) ? value[key] : undefined;
  return typeof inner === 'number' ? inner : Number.NaN;
}

export function textIn(value: Json, key: string): string {
  const inner = isJsonObject(value) ? value[key] : undefined;
  return typeof inner === 'string' ? inner : '';
}
