/** Which variables of a body its lines need, directly or through assignments. */

import { freeNames } from '../check/scope.ts';
import type { Order } from '../evaluate/body.ts';
import type { Expression, OrderOperator } from '../syntax/ast.ts';

/** Which variables of a body an expression needs, directly or through assignments. */
export class VariableDependencies {
  readonly #variables: ReadonlyMap<string, number>;
  readonly #assigned: ReadonlyMap<string, Expression>;
  readonly #ranks = new Map<string, number>();

  constructor(
    variables: readonly string[],
    assignments: readonly { variable: { name: string }; value: Expression }[],
  ) {
    this.#variables = new Map(variables.map((name, index) => [name, index]));
    this.#assigned = new Map(assignments.map((assigned) => [assigned.variable.name, assigned.value]));
  }

  of(expression: Expression): ReadonlySet<number> {
    const needs = new Set<number>();
    for (const part of this.partsOf(expression)) {
      for (const name of freeNames(part)) {
        const index = this.#variables.get(name);
        if (index !== undefined) needs.add(index);
      }
    }
    return needs;
  }

  /** An expression, and the values of all assignments that it uses, directly or through others. */
  partsOf(expression: Expression): readonly Expression[] {
    const parts = new Set([expression]);
    for (const part of parts) {
      for (const name of freeNames(part)) {
        const value = this.#assigned.get(name);
        if (value !== undefined) parts.add(value);
      }
    }
    return [...parts];
  }

  /** An assignment's rank is above that of every assignment that it uses. */
  rank(name: string): number {
    const known = this.#ranks.get(name);
    if (known !== undefined) return known;
    this.#ranks.set(name, 0);
    const value = this.#assigned.get(name);
    if (value === undefined) return 0;
    let rank = 0;
    for (const used of freeNames(value))
      if (this.#assigned.has(used)) rank = Math.max(rank, this.rank(used) + 1);
    this.#ranks.set(name, rank);
    return rank;
  }
}

/** `a -> b`, `a ~> b` or `a before b` between two variables, by index. */
export function orderOf(
  line: Expression,
  operator: OrderOperator,
  variables: readonly string[],
): Order | null {
  if (line.kind !== 'binary' || line.operator !== operator) return null;
  const from = variableName(line.left);
  const to = variableName(line.right);
  const ends = { from: variables.indexOf(from ?? ''), to: variables.indexOf(to ?? '') };
  return ends.from < 0 || ends.to < 0 ? null : ends;
}

export function variableName(expression: Expression): string | null {
  if (expression.kind === 'name') return expression.name;
  return expression.kind === 'declaration' ? expression.variable.name : null;
}
