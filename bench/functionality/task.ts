/**
 * What a task of a published set is: the apps that it has, what the user says in turn, which calls serve that, and
 * what the answer must say. The obedient model plays it by its scenario; what it is held against is told apart from that.
 */
import type { Json, JsonObject, Manifest } from '@cordon/core';
import type { ReplayApp } from '../runtime/run.ts';

export type SetName =
  | 'typewriter, 1 app'
  | 'typewriter, 26 apps'
  | 'relational data'
  | 'e-mail extraction'
  | 'multi-turn, 1 app'
  | 'multi-turn, several apps';

export interface Task {
  /** Unique among all tasks, and the same in every run. */
  readonly key: string;
  readonly set: SetName;
  readonly apps: readonly ReplayApp[];
  readonly turns: readonly TaskTurn[];
  /** For the obedient model, in its file format. */
  readonly scenario: JsonObject;
}

export interface TaskTurn {
  readonly query: string;
  readonly expected: readonly ExpectedCall[];
  /** Which order of the calls counts: of all of them; of those of each app, where apps share no state; or none. */
  readonly order: 'total' | 'each app' | 'none';
  /** What the answer must say, letters and digits only compared; empty: nothing in particular. */
  readonly says: readonly string[];
  /** The whole answer as the set expects it, where it is compared by its text; absent: it is not. */
  readonly reference?: string;
}

export interface ExpectedCall {
  readonly app: string;
  readonly tool: string;
  /** Null: the set does not say which. */
  readonly arguments: JsonObject | null;
}

/** What a user says of apps that are their own and bring in no text of others. */
export const OWN: Partial<Manifest> = { irreversible: [], untrusted: [], private: [] };

/** An object's schema in which every property is needed. */
export function objectOf(properties: JsonObject): JsonObject {
  return { type: 'object', properties, required: Object.keys(properties), additionalProperties: false };
}

/** A call of a scenario whose id is its place. */
export function callOf(
  index: number,
  { app, tool, purpose }: { readonly app: string; readonly tool: string; readonly purpose: string },
  args: JsonObject,
): JsonObject {
  return { id: `call-${index}`, app, tool, purpose, arguments: args };
}

/** Values that the model knows as they stand. */
export function literals(args: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(args).map(([key, literal]): [string, Json] => [key, { literal }]));
}

export const READ_ONLY = { readOnlyHint: true } as const;

/** What an app says to a call that its set knows nothing of. */
export const NOT_IN_SET = 'Error: there is no such record.';
