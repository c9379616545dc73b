/** The tools of which a line asks for a call, or for the output of a call. */
import type { Names } from '../check/scope.ts';
import type { Declaration, Expression } from '../syntax/ast.ts';
import { MAX_DEPTH, predicateOfOne } from './calls.ts';
import { isExact } from './linked-calls.ts';
import { variableName } from './variable-dependencies.ts';

/** What the line must be about: a variable or a parameter. */
interface Subject {
  readonly name: string;
  readonly isCall: boolean;
}

/**
 * The tools that a line about one variable asks for: `x is tool:name` or `x.name == "…"`, several of these joined by
 * `or`, and predicates of that form. `isLocal`: whether a variable or parameter has this name here; it hides every
 * definition of that name elsewhere. Returns null if the line may be about any tool.
 */
export function toolsOfLine(
  line: Expression,
  about: Declaration,
  isLocal: (name: string) => boolean,
  names: Names,
): ReadonlySet<string> | null {
  const subject = { name: about.variable.name, isCall: about.type.name === 'ToolCall' };
  return toolsOf(line, subject, isLocal, names, 0);
}

function toolsOf(
  line: Expression,
  subject: Subject,
  isLocal: (name: string) => boolean,
  names: Names,
  depth: number,
): ReadonlySet<string> | null {
  if (line.kind === 'binary' && line.operator === 'is' && line.right.kind === 'tool-pattern') {
    const isAbout = variableName(line.left) === subject.name;
    return isAbout && !line.right.tool.name.endsWith('\n') ? new Set([line.right.tool.name]) : null;
  }
  if (line.kind === 'binary') return subject.isCall ? namesComparedWith(line, subject.name) : null;
  if (line.kind === 'logic') {
    const left = toolsOf(line.left, subject, isLocal, names, depth);
    const right = toolsOf(line.right, subject, isLocal, names, depth);
    // A pattern on an output without its call is None, which an undecided side of an `and` outweighs.
    if (line.operator === 'and') return subject.isCall ? (left ?? right) : null;
    return left === null || right === null ? null : new Set([...left, ...right]);
  }
  if (line.kind !== 'call' || depth >= MAX_DEPTH) return null;
  const called = predicateOfOne(line, subject.name, isLocal, names);
  if (called === null) return null;
  const inner = { name: called.parameter, isCall: subject.isCall };
  const asked = called.body.map((each) => toolsOf(each, inner, called.isLocal, names, depth + 1));
  return asked.find((tools) => tools !== null) ?? null;
}

/** `x.name == "…"` and `x.name in ["…", …]`, for the call `x`. What a pattern would take for more than a name is none. */
function namesComparedWith(
  { operator, left, right }: Extract<Expression, { kind: 'binary' }>,
  call: string,
): ReadonlySet<string> | null {
  const [name, other] = isNameOf(left, call) || operator === 'in' ? [left, right] : [right, left];
  if (!isNameOf(name, call)) return null;
  const compared =
    operator === '==' ? [other] : operator === 'in' && other.kind === 'list' ? other.items : [];
  const names = compared.flatMap((one) => (one.kind === 'literal' ? [one.value] : []));
  const texts = names.filter((one) => typeof one === 'string').filter(isExact);
  return texts.length > 0 && texts.length === compared.length ? new Set(texts) : null;
}

/** `x.name` and `x.function.name`. */
function isNameOf(side: Expression, call: string): boolean {
  if (side.kind !== 'member' || side.name.name !== 'name') return false;
  const { object } = side;
  const isTarget = object.kind === 'member' && object.name.name === 'function';
  return variableName(isTarget ? object.object : object) === call;
}
