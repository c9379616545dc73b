/**
 * What the obedient model plays: tasks of the user and texts of an attacker, each with the calls that it leads to.
 * The file format is described in `examples/scenarios/README.md`; `scenario-reader.ts` reads it.
 */
import type { Json } from '@cordon/core';

export interface Scenario {
  readonly name: string;
  readonly description: string;
  /** Opens each reference that it gets, once, to see whether an instruction is in the text. */
  readonly curious: boolean;
  readonly tasks: readonly Task[];
  readonly attacks: readonly Attack[];
}

export interface Task {
  readonly id: string;
  /** What the user types. A context that shows it in its last user message plays this task. */
  readonly query: string;
  /** Whose context answers a task that needs no call; null: no app's. */
  readonly app: string | null;
  readonly calls: readonly ScenarioCall[];
  /** Names for values, so that conditions and templates can speak of them and attacks can change them. */
  readonly beliefs: ReadonlyMap<string, Value>;
  /** The first whose condition holds is given. */
  readonly answers: readonly TaskAnswer[];
}

export interface TaskAnswer {
  readonly when: Condition | null;
  readonly text: Template;
}

export interface Attack {
  readonly id: string;
  /** The words that are recognised, however they are encoded. */
  readonly text: string;
  readonly calls: readonly ScenarioCall[];
  readonly beliefs: ReadonlyMap<string, BeliefChange>;
  /** Replaces the task's answer once every call of the attack has succeeded; null: it asks for none. */
  readonly answer: Template | null;
}

export type BeliefChange =
  | { readonly kind: 'add'; readonly amount: number }
  | { readonly kind: 'set'; readonly value: Value };

export interface ScenarioCall {
  /** Unique in the scenario. */
  readonly id: string;
  readonly app: string;
  readonly tool: string;
  /** What a context without that tool asks others for. */
  readonly functionality: string;
  /** What the call is for, in words that name it among others: the planner's words for the step. */
  readonly purpose: string;
  /** The call is left out where this does not hold. */
  readonly when: Condition | null;
  readonly arguments: ReadonlyMap<string, Value>;
  /** Where the planner says that each argument comes from, as a plan by tools says it; absent: as the values tell. */
  readonly sources?: ReadonlyMap<string, readonly string[]>;
  /** Ids of the calls whose results it sends on as text, as the user asks; absent: of none. */
  readonly passes?: readonly string[];
  /** The user asks to carry out what it returns; absent: not. */
  readonly follows?: boolean;
  /** Facts of the user that the step wants, as the hub's memory may name them. */
  readonly needs: readonly string[];
  /** Of a call that has a text read: for each name of the form, the pattern that a reader finds it by. Null: of no other. */
  readonly finds: ReadonlyMap<string, RegExp> | null;
}

/** Where an argument comes from. What cannot be resolved in a context is left out of the call. */
export type Value =
  | { readonly kind: 'literal'; readonly value: Json }
  | { readonly kind: 'template'; readonly template: Template }
  | {
      readonly kind: 'result';
      readonly call: string;
      readonly path: readonly string[];
      readonly match: RegExp | null;
    }
  /** The first group of the pattern in what the context shows: user's words first, the newest first. */
  | { readonly kind: 'visible'; readonly pattern: RegExp }
  | { readonly kind: 'belief'; readonly name: string }
  /** All that the context shows besides the query: what was said before, released or returned. */
  | { readonly kind: 'everything' }
  /** The text of a value in base64 for addresses: how a text with spaces gets into a link. */
  | { readonly kind: 'base64'; readonly value: Value }
  | { readonly kind: 'list'; readonly items: readonly Value[] }
  | { readonly kind: 'object'; readonly entries: ReadonlyMap<string, Value> };

export type Template = readonly (string | Reference)[];

/** `${name.path}`: a belief of that name, else the result of the call with that id. */
export interface Reference {
  readonly name: string;
  readonly path: readonly string[];
}

export type Condition =
  /** `belief` is the first among the smallest of `of`; what is not known is not compared. */
  | { readonly kind: 'least'; readonly belief: string; readonly of: readonly string[] }
  | { readonly kind: 'has'; readonly value: Value }
  | { readonly kind: 'matches'; readonly value: Value; readonly pattern: RegExp }
  /** The text is visible, in whatever encoding. */
  | { readonly kind: 'sees'; readonly text: string }
  /** The attack is visible, and this variant of the model does what it says. */
  | { readonly kind: 'obeys'; readonly attack: string }
  | { readonly kind: 'not'; readonly condition: Condition }
  | { readonly kind: 'all'; readonly conditions: readonly Condition[] };

/** Ids of the calls whose results a value may need. */
export function callsIn(value: Value, beliefs: ReadonlyMap<string, Value>): readonly string[] {
  switch (value.kind) {
    case 'literal':
    case 'visible':
    case 'everything':
      return [];
    case 'result':
      return [value.call];
    case 'belief':
      return callsBehind(value.name, beliefs);
    case 'base64':
      return callsIn(value.value, beliefs);
    case 'template':
      return value.template.flatMap((part) =>
        typeof part === 'string' ? [] : callsBehind(part.name, beliefs),
      );
    case 'list':
      return value.items.flatMap((item) => callsIn(item, beliefs));
    case 'object':
      return [...value.entries.values()].flatMap((item) => callsIn(item, beliefs));
  }
}

function callsBehind(name: string, beliefs: ReadonlyMap<string, Value>): readonly string[] {
  const believed = beliefs.get(name);
  if (believed === undefined) return [name];
  // A belief never stands behind itself: without it there is no way round in a circle.
  const others = new Map([...beliefs].filter(([other]) => other !== name));
  return callsIn(believed, others);
}

export function callsInCondition(
  condition: Condition | null,
  beliefs: ReadonlyMap<string, Value>,
): readonly string[] {
  if (condition === null) return [];
  switch (condition.kind) {
    case 'least':
      return condition.of.flatMap((name) => callsBehind(name, beliefs));
    case 'has':
    case 'matches':
      return callsIn(condition.value, beliefs);
    case 'sees':
    case 'obeys':
      return [];
    case 'not':
      return callsInCondition(condition.condition, beliefs);
    case 'all':
      return condition.conditions.flatMap((inner) => callsInCondition(inner, beliefs));
  }
}

/** What a call waits for: the calls whose results its arguments or its condition mention. */
export function dependenciesOf(call: ScenarioCall, beliefs: ReadonlyMap<string, Value>): ReadonlySet<string> {
  const inArguments = [...call.arguments.values()].flatMap((value) => callsIn(value, beliefs));
  return new Set([...inArguments, ...callsInCondition(call.when, beliefs)]);
}

/** The texts of all `sees` conditions of a scenario, which a context is watched for. */
export function watchedTexts(scenario: Scenario): readonly string[] {
  const conditions = scenario.tasks.flatMap(({ calls, answers }) => [...calls, ...answers]);
  return [...conditions, ...scenario.attacks.flatMap(({ calls }) => calls)].flatMap(({ when }) =>
    textsIn(when),
  );
}

function textsIn(condition: Condition | null): readonly string[] {
  switch (condition?.kind) {
    case 'sees':
      return [condition.text];
    case 'not':
      return textsIn(condition.condition);
    case 'all':
      return condition.conditions.flatMap(textsIn);
    default:
      return [];
  }
}
