/**
 * The literal search: bind every variable of a body to every object of its domain, and look at all lines of
 * every assignment (paper, 3.1: a rule applies if some assignment satisfies all conditions).
 *
 * Tests only.
 */

import {
  type Expression,
  type Occurrence,
  occurrencesWithin,
  semantics,
  type Value,
  values,
} from '@cordon/policy';
import type { Environment, Search } from './environment.ts';
import { anchorOf, conditionOf, expressionValue } from './expression.ts';

const { isUndecided, undecided, undecidedIn } = values;

export interface Assignment {
  readonly env: Environment;
  /** By variable, in the order of the text. */
  readonly bound: readonly Occurrence[];
  /** `refuted`: a line is not true; `open`: none is refuted and one is undecided. */
  readonly status: 'satisfied' | 'open' | 'refuted';
  /** Some line is exactly false. */
  readonly isFalse: boolean;
  readonly hasOpenLine: boolean;
  /** How many assignments `count` found in its lines. */
  readonly counted: number;
}

/** All assignments of a body, in the order of the cross product. */
export function assignmentsOf(body: readonly Expression[], env: Environment): readonly Assignment[] {
  const { declarations, assignments } = semantics.variablesOf(body);
  const found: Assignment[] = [];
  const bind = (index: number, bound: readonly Occurrence[], outer: Environment): void => {
    const declared = declarations[index];
    const inner = withAssigned(assignments, outer);
    if (declared === undefined) {
      found.push(assess(body, inner, bound));
      return;
    }
    for (const occurrence of domainOf(declared, inner)) {
      const name = declared.variable.name;
      const from = occurrence.entry ?? (declared.within === null ? null : anchorOf(declared.within, inner));
      bind(index + 1, [...bound, occurrence], {
        ...env,
        values: new Map(inner.values).set(name, occurrence.value),
        readFrom: new Map(inner.readFrom).set(name, from),
      });
    }
  };
  bind(0, [], env);
  return found;
}

/** Values of `x := e`, as far as what they need is bound: repeated until nothing changes. */
function withAssigned(
  assignments: ReturnType<typeof semantics.variablesOf>['assignments'],
  env: Environment,
): Environment {
  let known = env;
  for (let round = 0; round <= assignments.length; round++) {
    const values = new Map(known.values);
    const readFrom = new Map(known.readFrom);
    for (const { variable, value } of assignments) {
      values.set(variable.name, expressionValue(value, known));
      readFrom.set(variable.name, anchorOf(value, known));
    }
    known = { ...env, values, readFrom };
  }
  return known;
}

function domainOf(
  declared: ReturnType<typeof semantics.variablesOf>['declarations'][number],
  env: Environment,
): readonly Occurrence[] {
  if (declared.within === null) return env.world.domain(declared.type.name);
  const value = expressionValue(declared.within, env);
  if (value === null) return [];
  if (isUndecided(value)) return [{ value, entry: null, path: [] }];
  const type = semantics.isTypeName(declared.type.name) ? declared.type.name : 'dict';
  const open = undecidedIn(value);
  return [
    ...occurrencesWithin(value, type),
    ...(open === null ? [] : [{ value: open, entry: null, path: [] }]),
  ];
}

function assess(body: readonly Expression[], env: Environment, bound: readonly Occurrence[]): Assignment {
  let hasOpenLine = bound.some((occurrence) => isUndecided(occurrence.value));
  let status: Assignment['status'] = hasOpenLine ? 'open' : 'satisfied';
  let isFalse = false;
  const before = env.world.counted;
  for (const line of body) {
    const value = conditionOf(line, env);
    if (isUndecided(value)) {
      hasOpenLine = true;
      if (status === 'satisfied') status = 'open';
    } else if (line.kind !== 'assignment' && value !== true) {
      status = 'refuted';
      isFalse ||= value === false;
    }
  }
  return { env, bound, status, isFalse, hasOpenLine, counted: env.world.counted - before };
}

function holdsOf(body: readonly Expression[], env: Environment): Value {
  const all = uncounted(body, env);
  if (all.some((one) => one.status === 'satisfied')) return true;
  return all.some((one) => one.status === 'open') ? undecided('no assignment is certain') : false;
}

/** A line that is neither true nor false does not refute here. */
function forAllOf(body: readonly Expression[], env: Environment): Value {
  const all = uncounted(body, env);
  if (all.some((one) => one.isFalse)) return false;
  return all.some((one) => one.hasOpenLine) ? undecided('an assignment is open') : true;
}

/** What is counted inside of a predicate or quantifier is not what the rule counts. */
function uncounted(body: readonly Expression[], env: Environment): readonly Assignment[] {
  const before = env.world.counted;
  const all = assignmentsOf(body, env);
  env.world.counted = before;
  return all;
}

function countOf(body: readonly Expression[], env: Environment, min: number, max: number): Value {
  const all = uncounted(body, env);
  const certain = all.filter((one) => one.status === 'satisfied').length;
  const open = all.filter((one) => one.status === 'open').length;
  env.world.counted += certain;
  const verdicts = Array.from(
    { length: open + 1 },
    (_, more) => certain + more >= min && certain + more <= max,
  );
  return verdicts.every((verdict) => verdict === verdicts[0])
    ? (verdicts[0] ?? false)
    : undecided('the count is open');
}

export const SEARCH: Search = { holds: holdsOf, forAll: forAllOf, count: countOf };
