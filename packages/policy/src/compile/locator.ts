/**
 * Where the value of an expression stands in the trace: a variable where it was found, a member below its object, a loop
 * variable at its index. What is computed stands nowhere.
 */

import type { Evaluate, Locate } from '../evaluate/body.ts';
import type { Call, Declaration, Expression } from '../syntax/ast.ts';
import type { Span } from '../syntax/source.ts';
import { EventObject } from '../values/event-object.ts';
import { locateElement, locateMethod, locateTexts, partOf } from '../values/evidence.ts';
import { truth } from '../values/operators.ts';
import type { Value } from '../values/value.ts';
import { NOWHERE, type Scope } from './slots.ts';

export class Locators {
  /** Compiles an expression to its value. */
  readonly #evaluated: (expression: Expression, scope: Scope) => Evaluate;

  constructor(evaluated: (expression: Expression, scope: Scope) => Evaluate) {
    this.#evaluated = evaluated;
  }

  /** Compiled when it is first asked: most expressions are never the subject of a range. */
  lazy(expression: Expression, scope: Scope): Locate {
    let locate: Locate | null = null;
    return (frame) => {
      locate ??= this.#made(expression, scope);
      return locate(frame);
    };
  }

  /** An event stands at itself; what else a variable ranges over, where it was found. */
  ofVariable(declared: Declaration, scope: Scope): Locate {
    return (frame) => {
      const found = frame.bindings[scope.slot(declared.variable.name) ?? 0];
      if (found === undefined) return null;
      return found.entry === null ? (found.at ?? null) : { event: found.entry, path: found.path };
    };
  }

  /** Null at run time: the value is computed, so it stands nowhere. */
  #made(expression: Expression, scope: Scope): Locate {
    switch (expression.kind) {
      case 'name':
        return scope.locator(expression.name);
      case 'declaration':
        return scope.locator(expression.variable.name);
      case 'member':
        return this.#ofMember(expression.object, expression.name.name, scope);
      case 'index': {
        const object = this.#evaluated(expression.object, scope);
        const index = this.#evaluated(expression.index, scope);
        const locate = this.lazy(expression.object, scope);
        return (frame) => locateElement(object(frame), index(frame), locate(frame));
      }
      case 'list': {
        const items = expression.items.map((item) => this.lazy(item, scope));
        return (frame) => ({ items: items.map((item) => item(frame)) });
      }
      case 'ternary': {
        const condition = this.#evaluated(expression.condition, scope);
        const then = this.lazy(expression.then, scope);
        const otherwise = this.lazy(expression.otherwise, scope);
        return (frame) => (truth(condition(frame)) ? then(frame) : otherwise(frame));
      }
      case 'logic': {
        const left = this.#evaluated(expression.left, scope);
        const [first, second] = [this.lazy(expression.left, scope), this.lazy(expression.right, scope)];
        const isFirst = (value: Value): boolean => truth(value) === (expression.operator === 'or');
        return (frame) => (isFirst(left(frame)) ? first(frame) : second(frame));
      }
      case 'call':
        return this.#ofCall(expression, scope);
      default:
        return NOWHERE;
    }
  }

  #ofMember(object: Expression, name: string, scope: Scope): Locate {
    const evaluate = this.#evaluated(object, scope);
    const locate = this.lazy(object, scope);
    return (frame) => {
      const value = evaluate(frame);
      if (value instanceof EventObject) return { event: value, path: [name] };
      // A member of a text was read out of it, and is no part of the trace.
      return typeof value === 'string' ? null : partOf(locate(frame), name);
    };
  }

  #ofCall(call: Call & Span, scope: Scope): Locate {
    const evaluate = this.#evaluated(call, scope);
    const { callee } = call;
    const isText = callee.kind === 'name' && callee.name === 'text';
    const isSame = callee.kind === 'name' && callee.name === 'tuple';
    const parts = call.positional.map((argument) => ({
      evaluate: this.#evaluated(argument, scope),
      locate: this.lazy(argument, scope),
    }));
    const owner = callee.kind === 'member' ? callee : null;
    const self = owner === null ? null : this.#evaluated(owner.object, scope);
    const locateSelf = owner === null ? NOWHERE : this.lazy(owner.object, scope);
    return (frame) => {
      if (isSame) return parts[0]?.locate(frame) ?? null;
      if (isText)
        return { items: parts.flatMap((part) => locateTexts(part.evaluate(frame), part.locate(frame))) };
      if (owner !== null && self !== null) {
        const key = parts[0]?.evaluate(frame) ?? null;
        return locateMethod(self(frame), owner.name.name, key, locateSelf(frame));
      }
      const value = evaluate(frame);
      return value instanceof EventObject ? { event: value, path: [] } : null;
    };
  }
}
