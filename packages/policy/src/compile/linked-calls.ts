/** Which calls a policy may look at behind tool outputs: only these have to be remembered. */

import { type Names, variablesOf } from '../check/scope.ts';
import { childrenOf, type Expression, type PolicyTree } from '../syntax/ast.ts';
import { NO_NAMES, quantifierOf, without } from './past-only.ts';
import { variableName } from './variable-dependencies.ts';

/**
 * The tools that patterns name, where patterns are the only way from an output to its call and stand where only
 * their truth counts: there, another call and no call are the same. (They are not beside what may be undecided in an
 * `and`, nor as a line of `forall`: false refutes there, and None does not.)
 */
export function linkedCallsOf(tree: PolicyTree, names: Names): ReadonlySet<string> | null {
  const tools = new Set<string>();
  let hasOutputs = tree.definitions.some(({ parameters }) =>
    (parameters ?? []).some(({ type }) => type === null || type === 'ToolOutput'),
  );
  // Under another name, or as a member of a module, it would not be seen below.
  let needsAll = tree.imports.some(({ name }) => name === null || name === 'tool_call');
  const visitBody = (body: readonly Expression[], isTruth: boolean, outer: ReadonlySet<string>): void => {
    const calls = callVariables(body, outer);
    for (const line of body) visit(line, isTruth, calls);
  };
  const visit = (expression: Expression, isTruth: boolean, calls: ReadonlySet<string>): void => {
    if (expression.kind === 'declaration') hasOutputs ||= expression.type.name === 'ToolOutput';
    if (expression.kind === 'name') needsAll ||= expression.name === 'tool_call';
    if (expression.kind === 'tool-pattern') needsAll = true;
    if (expression.kind === 'quantifier')
      visitBody(expression.body, quantifierOf(expression.callee.name, names) === 'count', calls);
    const { right } = expression.kind === 'binary' ? expression : { right: null };
    if (expression.kind === 'binary' && right?.kind === 'tool-pattern') {
      const isOfCall = calls.has(variableName(expression.left) ?? '');
      if (isOfCall || (isTruth && isExact(right.tool.name))) {
        if (!isOfCall) tools.add(right.tool.name);
        for (const value of childrenOf(right)) visit(value, false, calls);
        visit(expression.left, false, calls);
        return;
      }
    }
    const inner = expression.kind === 'comprehension' ? without(calls, expression.variable.name) : calls;
    const keepsTruth =
      (expression.kind === 'logic' && expression.operator === 'or' && isTruth) ||
      (expression.kind === 'unary' && expression.operator === 'not');
    for (const child of childrenOf(expression)) visit(child, keepsTruth, inner);
  };
  for (const { body, parameters } of tree.definitions) visitBody(body, parameters !== null, NO_NAMES);
  for (const { body, message } of tree.rules) {
    visitBody(body, true, NO_NAMES);
    visit(message, false, NO_NAMES);
  }
  if (!hasOutputs) return NO_NAMES;
  return needsAll ? null : tools;
}

/** The variables that are calls themselves, never outputs: what a pattern says of them needs no link. */
function callVariables(body: readonly Expression[], outer: ReadonlySet<string>): ReadonlySet<string> {
  const { declarations, names } = variablesOf(body);
  const calls = new Set(outer);
  for (const name of names) calls.delete(name);
  for (const { variable, type } of declarations) if (type.name === 'ToolCall') calls.add(variable.name);
  return calls;
}

/** A name that dispatch can look up: a pattern's newline would count as the one that is let through behind a name. */
export function isExact(tool: string): boolean {
  return !tool.includes('*') && !tool.endsWith('\n');
}
