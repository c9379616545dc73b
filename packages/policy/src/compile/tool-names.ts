/**
 * Names of tools that lines compare with that of a call, without a pattern.
 *
 * Ring 0.
 */
import type { Expression } from '../syntax/ast.ts';
import { isExact } from './linked-calls.ts';
import { variableName } from './variable-dependencies.ts';

/** `x.name == "…"` and `x.name in ["…", …]`, for the call `x`. What a pattern would take for more than a name is none. */
export function namesComparedWith(
  { operator, left, right }: Extract<Expression, { kind: 'binary' }>,
  call: string,
): ReadonlySet<string> | null {
  const compared = comparedWith(operator, left, right, (side) => isNameOf(side, call));
  const names = compared.flatMap((one) => (one.kind === 'literal' ? [one.value] : []));
  const texts = names.filter((name) => typeof name === 'string').filter(isExact);
  return texts.length > 0 && texts.length === compared.length ? new Set(texts) : null;
}

function comparedWith(
  operator: string,
  left: Expression,
  right: Expression,
  isName: (side: Expression) => boolean,
): readonly Expression[] {
  if (operator === '==' && isName(left)) return [right];
  if (operator === '==' && isName(right)) return [left];
  return operator === 'in' && isName(left) && right.kind === 'list' ? right.items : [];
}

/** `x.name` and `x.function.name`. */
function isNameOf(side: Expression, call: string): boolean {
  if (side.kind !== 'member' || side.name.name !== 'name') return false;
  const { object } = side;
  const isTarget = object.kind === 'member' && object.name.name === 'function';
  return variableName(isTarget ? object.object : object) === call;
}
