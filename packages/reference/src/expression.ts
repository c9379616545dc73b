/**
 * The value of an expression, read off the tree: the definition that the compiled form must agree with.
 *
 * Tests only.
 */

import { EventObject, type Expression, semantics, type Value, values } from '@cordon/policy';
import type { Environment } from './environment.ts';
import { isFromUser, originOf } from './origin.ts';

const { isUndecided, undecided, undecidedIn } = values;

/** A list of which one element is unknown is unknown. */
const wholly = (value: Value): Value => undecidedIn(value) ?? value;

/** Ranges are no part of what a rule says about a trace. */
const unmarked = (): void => {};

type Pattern = NonNullable<Extract<Expression, { kind: 'tool-pattern' }>['arguments']>;

export function expressionValue(expression: Expression, env: Environment): Value {
  switch (expression.kind) {
    case 'literal':
      return expression.value;
    case 'format': {
      const parts = expression.parts.map((part) =>
        typeof part === 'string' ? part : expressionValue(part, env),
      );
      return parts.map(undecidedIn).find((open) => open !== null) ?? semantics.joined(parts);
    }
    case 'name':
      return nameOf(expression.name, env);
    case 'declaration':
      return env.values.get(expression.variable.name) ?? null;
    case 'assignment':
      return expressionValue(expression.value, env);
    case 'member': {
      const imported = moduleMember(expression.object, expression.name.name, env);
      if (imported !== null) return imported;
      return known([expression.object], env, ([object]) =>
        semantics.memberOf(object ?? null, expression.name.name),
      );
    }
    case 'index':
      return known([expression.object, expression.index], env, ([object, index]) =>
        semantics.elementOf(object ?? null, index ?? null),
      );
    case 'call':
      return (
        askedOrigin(expression, env) ??
        known(
          [expression.callee, ...expression.positional, ...expression.named.map((one) => one.value)],
          { ...env, given: expression.positional.map((argument) => anchorOf(argument, env)) },
          (all) => {
            const [callee, ...rest] = all;
            if (callee === undefined || !(callee instanceof values.Callable))
              return undecided('cannot be called');
            const positional = rest.slice(0, expression.positional.length);
            const named = expression.named.map((one, index): [string, Value] => [
              one.name.name,
              rest[expression.positional.length + index] ?? null,
            ]);
            return callee.call(positional, new Map(named), unmarked);
          },
          expression.callee.kind === 'name' && ['any', 'all'].includes(expression.callee.name),
        )
      );
    case 'binary':
      return known([expression.left, expression.right], env, ([left, right]) => {
        const { operator } = expression;
        if (operator === '->' || operator === '~>' || operator === 'before')
          return env.world.related(operator, left ?? null, right ?? null);
        return semantics.applyBinary(operator, left ?? null, right ?? null);
      });
    case 'logic':
      return logicValue(expression, env);
    case 'unary':
      return known([expression.operand], env, ([operand]) =>
        semantics.applyUnary(expression.operator, operand ?? null),
      );
    case 'ternary':
      return known([expression.condition], env, ([condition]) =>
        expressionValue(semantics.truth(condition ?? null) ? expression.then : expression.otherwise, env),
      );
    case 'list':
      return expression.items.map((item) => wholly(expressionValue(item, env)));
    case 'object': {
      const entries = expression.entries.map((entry): [string, Value] => [
        entry.key,
        wholly(expressionValue(entry.value, env)),
      ]);
      return entries.map(([, value]) => value).find(isUndecided) ?? Object.fromEntries(entries);
    }
    case 'comprehension':
      return comprehensionOf(expression, env);
    case 'tool-pattern': {
      const pattern = expression.arguments === null ? null : patternOf(expression.arguments, env);
      return new values.ToolPatternValue(
        semantics.toolMatcher(expression.tool.name, pattern, {
          cache: env.world.patterns,
          references: semantics.referencesOf(new Map()),
        }),
      );
    }
    case 'quantifier':
      return quantifierOf(expression, env);
    case 'invalid':
      return undecided('unreadable');
  }
}

/** As a condition, a declaration or a name for a value is true; elsewhere it stands for its variable. */
export function conditionOf(expression: Expression, env: Environment): Value {
  if (expression.kind === 'declaration') return true;
  const value = expressionValue(expression, env);
  return expression.kind !== 'assignment' || isUndecided(value) ? value : true;
}

function known(
  parts: readonly Expression[],
  env: Environment,
  apply: (values: readonly Value[]) => Value,
  isLenient = false,
): Value {
  const all = parts.map((part) => expressionValue(part, env));
  for (const value of all) {
    const open = isLenient ? (isUndecided(value) ? value : null) : undecidedIn(value);
    if (open !== null) return open;
  }
  return apply(all);
}

/** Kleene's, from left to right, with Python's choice of operand when neither side decides. */
function logicValue(expression: Extract<Expression, { kind: 'logic' }>, env: Environment): Value {
  const decisive = expression.operator === 'or';
  const left = wholly(conditionOf(expression.left, env));
  if (left === decisive) return decisive;
  const right = wholly(conditionOf(expression.right, env));
  if (right === decisive) return decisive;
  if (isUndecided(left)) return left;
  if (isUndecided(right)) return right;
  return semantics.truth(left) === decisive ? left : right;
}

/** The newest of the events that the names in an expression stand for or were read from. */
export function anchorOf(expression: Expression, env: Environment): EventObject | null {
  const events = [...semantics.freeNames(expression)].flatMap((name) => {
    const value = env.values.get(name);
    return (value instanceof EventObject ? value : env.readFrom.get(name)) ?? [];
  });
  const [first, ...rest] = events;
  if (first === undefined) return null;
  return rest.reduce((newest, event) => (event.sequence > newest.sequence ? event : newest), first);
}

/** `origin(…)` or `from_user(…)`; null: it is another call. */
function askedOrigin(call: Extract<Expression, { kind: 'call' }>, env: Environment): Value | null {
  const [argument] = call.positional;
  if (call.callee.kind !== 'name' || env.values.has(call.callee.name) || argument === undefined) return null;
  const named = env.world.names.resolve(call.callee.name);
  const name = named?.kind === 'builtin' ? named.name : null;
  if (name !== 'origin' && name !== 'from_user') return null;
  return known([argument], env, ([value]) => {
    const anchor = anchorOf(argument, env);
    if (anchor === null) return undecided('read from no event');
    const ask = name === 'origin' ? originOf : isFromUser;
    return ask(value ?? null, anchor, env.world.visible);
  });
}

function nameOf(name: string, env: Environment): Value {
  const own = env.values.get(name);
  return own === undefined ? globalValue(env.world.names.resolve(name), env) : own;
}

function moduleMember(object: Expression, name: string, env: Environment): Value | null {
  if (object.kind !== 'name' || env.values.has(object.name)) return null;
  const module = env.world.names.resolve(object.name);
  if (module?.kind !== 'module') return null;
  return globalValue(semantics.importedName(module.module, name, semantics.isTypeName), env);
}

function globalValue(named: semantics.Named | null, env: Environment): Value {
  switch (named?.kind) {
    case 'input':
      return env.world.input;
    case 'value':
      return named.value;
    case 'builtin':
      return new values.Callable(named.name, (positional, options) =>
        semantics.runBuiltin(named.name, env.world.patterns, positional, options, unmarked),
      );
    case 'definition': {
      const { parameters, body, name } = named.definition;
      const outside = { ...env, values: new Map<string, Value>(), readFrom: new Map() };
      const [first] = body;
      if (parameters === null) return first === undefined ? null : expressionValue(first, outside);
      return new values.Callable(name.name, (positional) => {
        if (positional.length < parameters.length || env.depth >= 64)
          return undecided('too few arguments or too deep');
        const bound = parameters.map((parameter, index): [string, Value] => [
          parameter.name,
          positional[index] ?? null,
        ]);
        const readFrom = new Map(parameters.map(({ name }, index) => [name, env.given?.[index] ?? null]));
        return env.world.search.holds(body, {
          ...env,
          values: new Map(bound),
          readFrom,
          depth: env.depth + 1,
        });
      });
    }
    default:
      return undecided('has no value');
  }
}

function comprehensionOf(
  expression: Extract<Expression, { kind: 'comprehension' }>,
  env: Environment,
): Value {
  const iterable = expressionValue(expression.iterable, env);
  if (iterable === null) return [];
  if (isUndecided(iterable)) return iterable;
  const items = semantics.elements(iterable);
  if (items === null) return undecided('has no elements');
  return items.flatMap((item): Value[] => {
    if (isUndecided(item)) return [item];
    const { name } = expression.variable;
    const inner = {
      ...env,
      values: new Map(env.values).set(name, item),
      readFrom: new Map(env.readFrom).set(name, anchorOf(expression.iterable, env)),
    };
    const isKept = expression.condition === null ? true : expressionValue(expression.condition, inner);
    if (isUndecided(isKept)) return [isKept];
    return isKept === true ? [wholly(expressionValue(expression.element, inner))] : [];
  });
}

function patternOf(pattern: Pattern, env: Environment): semantics.ComputedPattern {
  switch (pattern.kind) {
    case 'any':
      return { kind: 'any' };
    case 'value-reference':
      return { kind: 'value-reference', name: pattern.name };
    case 'object': {
      const entries = pattern.entries.map((entry) => ({
        key: entry.key,
        pattern: patternOf(entry.pattern, env),
      }));
      return { kind: 'object', entries };
    }
    case 'list':
      return { kind: 'list', items: pattern.items.map((item) => patternOf(item, env)) };
    case 'value':
      return { kind: 'value', value: wholly(expressionValue(pattern.value, env)) };
  }
}

function quantifierOf(expression: Extract<Expression, { kind: 'quantifier' }>, env: Environment): Value {
  const named = env.world.names.resolve(expression.callee.name);
  if (named?.kind === 'quantifier' && named.name === 'forall')
    return env.world.search.forAll(expression.body, env);
  const argument = (name: string, position: number): Value => {
    const found =
      expression.named.find((one) => one.name.name === name)?.value ?? expression.positional[position];
    return found === undefined ? null : expressionValue(found, env);
  };
  const [min, max] = [argument('min', 0), argument('max', 1)];
  if ((min !== null && typeof min !== 'number') || (max !== null && typeof max !== 'number'))
    return undecided('no number');
  return env.world.search.count(expression.body, env, min ?? 0, max ?? Number.POSITIVE_INFINITY);
}
