/** What a call calls, as far as its text says it. */
import { type Names, variablesOf } from '../check/scope.ts';
import type { Call, Definition, Expression } from '../syntax/ast.ts';

/** The predicate of the policy; null: something else. */
export function calledPredicate(call: Call, names: Names): Definition | null {
  const named = call.callee.kind === 'name' ? names.resolve(call.callee.name) : null;
  return named?.kind === 'definition' && named.definition.parameters !== null ? named.definition : null;
}

/** Whether it calls a built-in function, under whatever name that was imported, with `count` arguments by position and no other. */
export function callsBuiltin(
  { callee, positional, named }: Call,
  name: string,
  count: number,
  isLocal: (name: string) => boolean,
  names: Names,
): boolean {
  if (callee.kind !== 'name' || isLocal(callee.name)) return false;
  const resolved = names.resolve(callee.name);
  const isIt = resolved?.kind === 'builtin' && resolved.name === name;
  return isIt && positional.length === count && named.length === 0;
}

/** A predicate that a line calls with its subject alone: what its lines ask of the parameter, the line asks of the subject. */
export interface PredicateOfOne {
  readonly body: readonly Expression[];
  readonly parameter: string;
  /** Names that variables and the parameter have in it, whatever is defined under them elsewhere. */
  readonly isLocal: (name: string) => boolean;
}

/** Predicates in predicates: what deeper ones ask is not known. */
export const MAX_DEPTH = 8;

/** Null: it is no such call. `isLocal`: names that variables and parameters have where it stands. */
export function predicateOfOne(
  call: Call,
  subject: string,
  isLocal: (name: string) => boolean,
  names: Names,
): PredicateOfOne | null {
  if (call.callee.kind === 'name' && isLocal(call.callee.name)) return null;
  const called = calledPredicate(call, names);
  const [parameter, ...others] = called?.parameters ?? [];
  const [argument, ...more] = call.positional;
  const isAlone = others.length === 0 && more.length === 0 && argument?.kind === 'name';
  if (called === null || parameter === undefined || !isAlone || argument.name !== subject) return null;
  const own = new Set(variablesOf(called.body).names);
  // Its lines would be about the variable, and not about what the call is given.
  if (own.has(parameter.name)) return null;
  own.add(parameter.name);
  return { body: called.body, parameter: parameter.name, isLocal: (name) => own.has(name) };
}
