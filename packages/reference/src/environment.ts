/** What an expression is evaluated in. Tests only. */
import type { EventObject, Expression, Occurrence, OrderOperator, semantics, Value } from '@cordon/policy';
import type { Visible } from './origin.ts';

/** What the search says of a body inside of an expression. */
export interface Search {
  holds(body: readonly Expression[], env: Environment): Value;
  forAll(body: readonly Expression[], env: Environment): Value;
  count(body: readonly Expression[], env: Environment, min: number, max: number): Value;
}

export interface ReferenceWorld {
  readonly names: semantics.Names;
  readonly patterns: semantics.PatternCache;
  readonly input: Value;
  domain(type: string): readonly Occurrence[];
  related(operator: OrderOperator, a: Value, b: Value): Value;
  /** The events that were visible where one arose. */
  readonly visible: Visible;
  /** Handed in, because expressions hold bodies and bodies hold expressions. */
  readonly search: Search;
  /** Assignments that `count` has found. */
  counted: number;
}

export interface Environment {
  readonly world: ReferenceWorld;
  readonly values: ReadonlyMap<string, Value>;
  /** The event that each value was read from; null: none. */
  readonly readFrom: ReadonlyMap<string, EventObject | null>;
  /** Of the call that is looked at: the events that its arguments were read from. */
  readonly given?: readonly (EventObject | null)[];
  readonly depth: number;
}
