/**
 * Which events can change what predicates and quantifiers say of events that were before: none, where a line says
 * that all they look at comes before.
 */

import { type Names, variablesOf } from '../check/scope.ts';
import { type Call, childrenOf, type Definition, type Expression } from '../syntax/ast.ts';
import { OBJECT_TYPES } from '../values/types.ts';
import { calledPredicate } from './calls.ts';
import { variableName } from './variable-dependencies.ts';

/** The variables that are bound to events of the trace. */
export function eventVariables(lines: readonly Expression[]): ReadonlySet<string> {
  const events = variablesOf(lines).declarations.filter(
    ({ type, within }) => within === null && OBJECT_TYPES.get(type.name)?.isEvent === true,
  );
  return new Set(events.map(({ variable }) => variable.name));
}

export const NO_NAMES: ReadonlySet<string> = new Set();

/**
 * The types that quantifiers in lines, and the predicates that they call, range over. What looks back only, from one
 * of `events`, is left out: no later event can change what it says.
 */
export function innerTypes(
  lines: readonly Expression[],
  names: Names,
  events: ReadonlySet<string>,
): ReadonlySet<string> {
  const types = new Set<string>();
  const seen = new Set<Definition>();
  const pastOnly = new Set<Definition>();
  const visitInner = (body: readonly Expression[]): void => {
    for (const { type, within } of variablesOf(body).declarations) if (within === null) types.add(type.name);
    for (const line of body) visit(line, NO_NAMES);
  };
  const visitDefinition = (definition: Definition): void => {
    if (seen.has(definition)) return;
    seen.add(definition);
    visitInner(definition.body);
  };
  const visit = (expression: Expression, known: ReadonlySet<string>): void => {
    const called = expression.kind === 'call' ? calledPredicate(expression, names) : null;
    if (expression.kind === 'call' && called !== null) {
      const parameters = eventParameters(called, expression, known);
      if (!isPastOnly(called.body, parameters)) visitDefinition(called);
      else if (!pastOnly.has(called)) {
        pastOnly.add(called);
        for (const line of called.body) visit(line, NO_NAMES);
      }
      for (const argument of expression.positional) visit(argument, known);
      return;
    }
    const named = expression.kind === 'name' ? names.resolve(expression.name) : null;
    if (named?.kind === 'definition') visitDefinition(named.definition);
    if (expression.kind === 'quantifier') {
      const isCount = quantifierOf(expression.callee.name, names) === 'count';
      if (isCount && isPastOnly(expression.body, known))
        for (const line of expression.body) visit(line, NO_NAMES);
      else visitInner(expression.body);
    }
    const inner = expression.kind === 'comprehension' ? without(known, expression.variable.name) : known;
    for (const child of childrenOf(expression)) visit(child, inner);
  };
  for (const line of lines) visit(line, events);
  return types;
}

/** The parameters that a call binds to events of the rule. */
function eventParameters(
  definition: Definition,
  call: Call,
  events: ReadonlySet<string>,
): ReadonlySet<string> {
  const bound = (definition.parameters ?? []).filter((_, index) => {
    const argument = call.positional[index];
    return argument?.kind === 'name' && events.has(argument.name);
  });
  return new Set(bound.map(({ name }) => name));
}

/** Whether each variable over the trace must, by a line of the body, come before one of `events`. */
function isPastOnly(body: readonly Expression[], events: ReadonlySet<string>): boolean {
  const { declarations, names } = variablesOf(body);
  const known = new Set(events);
  // What the body declares itself is not what the rule calls by the same name.
  for (const name of names) known.delete(name);
  const open = new Set(
    declarations.filter(({ within }) => within === null).map(({ variable }) => variable.name),
  );
  const orders = body.flatMap((line) =>
    line.kind === 'binary' && (line.operator === '->' || line.operator === 'before')
      ? [[variableName(line.left), variableName(line.right)]]
      : [],
  );
  for (let found = true; found && open.size > 0; ) {
    found = false;
    for (const [from, to] of orders) {
      if (from == null || to == null || !open.has(from) || !known.has(to)) continue;
      open.delete(from);
      known.add(from);
      found = true;
    }
  }
  return open.size === 0;
}

/** What a quantifier is, under whatever name it was imported. */
export function quantifierOf(name: string, names: Names): 'forall' | 'count' | null {
  const named = names.resolve(name);
  if (named?.kind !== 'quantifier') return null;
  return named.name === 'forall' ? 'forall' : 'count';
}

/** The names, but for one that means something else further in. */
export function without(names: ReadonlySet<string>, name: string): ReadonlySet<string> {
  return names.has(name) ? new Set([...names].filter((other) => other !== name)) : names;
}
