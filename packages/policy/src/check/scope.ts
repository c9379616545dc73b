/**
 * What names stand for, and which variables a body declares (specification 3). Shared by everything that gives
 * rules a meaning, so that all of them agree on it.
 */
import {
  childrenOf,
  type Declaration,
  type Definition,
  type Expression,
  type Identifier,
  type Import,
  type PolicyTree,
} from '../syntax/ast.ts';
import type { Span } from '../syntax/source.ts';
import { BUILTINS, type Imported, importedName } from '../values/builtins.ts';
import { isTypeName } from '../values/types.ts';

/** What a name that is no variable stands for. */
export type Named =
  | { readonly kind: 'definition'; readonly definition: Definition }
  | { readonly kind: 'module'; readonly module: string }
  | { readonly kind: 'input' }
  | Imported;

/** The names of a policy outside of its bodies: definitions, then imports, then built-ins, then types. */
export class Names {
  readonly #definitions = new Map<string, Definition>();
  readonly #imports = new Map<string, Import>();

  constructor(tree: PolicyTree) {
    for (const definition of tree.definitions) {
      // The last one counts, as in Python; the checker reports the others.
      this.#definitions.set(definition.name.name, definition);
    }
    for (const imported of tree.imports) this.#imports.set(imported.alias, imported);
  }

  resolve(name: string): Named | null {
    const definition = this.#definitions.get(name);
    if (definition !== undefined) return { kind: 'definition', definition };
    const imported = this.#imports.get(name);
    if (imported !== undefined) {
      return imported.name === null
        ? { kind: 'module', module: imported.module }
        : importedName(imported.module, imported.name, isTypeName);
    }
    if (name === 'input') return { kind: 'input' };
    if (BUILTINS.has(name)) return { kind: 'builtin', name };
    return isTypeName(name) ? { kind: 'type', name } : null;
  }

  /** What a constant of the policy stands for; null: the name is none. */
  constant(name: string): Expression | null {
    const definition = this.#definitions.get(name);
    return definition?.parameters === null ? (definition.body[0] ?? null) : null;
  }

  /** All names, to suggest one for a misspelt one. */
  known(): readonly string[] {
    return [...this.#definitions.keys(), ...this.#imports.keys(), ...BUILTINS.keys(), 'input'];
  }
}

export interface BodyVariables {
  /** In the order of the text. */
  readonly declarations: readonly (Declaration & Span)[];
  readonly assignments: readonly { readonly variable: Identifier; readonly value: Expression }[];
  /** Of both. */
  readonly names: ReadonlySet<string>;
}

/** What the lines of one body declare; a quantifier's block is a separate body. */
export function variablesOf(body: readonly Expression[]): BodyVariables {
  const known = VARIABLES.get(body);
  if (known !== undefined) return known;
  const declarations: (Declaration & Span)[] = [];
  const assignments: { variable: Identifier; value: Expression }[] = [];
  const visit = (expression: Expression): void => {
    if (expression.kind === 'declaration') declarations.push(expression);
    if (expression.kind === 'assignment') assignments.push(expression);
    for (const child of childrenOf(expression)) visit(child);
  };
  for (const line of body) visit(line);
  const names = new Set([...declarations, ...assignments].map(({ variable }) => variable.name));
  const variables = { declarations, assignments, names };
  VARIABLES.set(body, variables);
  return variables;
}

/** Trees never change, and each step of loading asks again. */
const VARIABLES = new WeakMap<readonly Expression[], BodyVariables>();

/**
 * The names that lead back to themselves, where `uses` says which names each name leads to. Linear in the number of
 * uses (Tarjan's strongly connected components, without recursion: chains can be as long as the text).
 */
export function inCircles(uses: ReadonlyMap<string, ReadonlySet<string>>): ReadonlySet<string> {
  const found = new Set<string>();
  const order = new Map<string, number>();
  const lowest = new Map<string, number>();
  const component: string[] = [];
  const isOpen = new Set<string>();
  for (const start of uses.keys()) {
    if (order.has(start)) continue;
    const path: { name: string; rest: Iterator<string> }[] = [];
    const enter = (name: string): void => {
      order.set(name, order.size);
      lowest.set(name, order.get(name) ?? 0);
      component.push(name);
      isOpen.add(name);
      path.push({ name, rest: (uses.get(name) ?? new Set<string>()).values() });
    };
    const lower = (name: string, to: number): void => {
      lowest.set(name, Math.min(lowest.get(name) ?? to, to));
    };
    enter(start);
    for (let top = path.at(-1); top !== undefined; top = path.at(-1)) {
      const next = top.rest.next();
      if (next.done !== true) {
        if (!uses.has(next.value)) continue;
        if (!order.has(next.value)) enter(next.value);
        else if (isOpen.has(next.value)) lower(top.name, order.get(next.value) ?? 0);
        continue;
      }
      path.pop();
      const { name } = top;
      const outer = path.at(-1);
      if (outer !== undefined) lower(outer.name, lowest.get(name) ?? 0);
      if (lowest.get(name) !== order.get(name)) continue;
      const members = component.splice(component.lastIndexOf(name));
      for (const member of members) isOpen.delete(member);
      if (members.length > 1 || uses.get(name)?.has(name) === true)
        for (const member of members) found.add(member);
    }
  }
  return found;
}

/** Visits an expression and all its parts, the blocks of quantifiers included, from the outside in. */
export function walk(expression: Expression, visit: (part: Expression) => void): void {
  visit(expression);
  for (const child of childrenOf(expression)) walk(child, visit);
  if (expression.kind === 'quantifier') for (const line of expression.body) walk(line, visit);
}

/** The names that an expression takes from outside of itself. */
export function freeNames(expression: Expression): ReadonlySet<string> {
  const known = FREE.get(expression);
  if (known !== undefined) return known;
  const free = new Set<string>();
  collect(expression, NONE_BOUND, free);
  FREE.set(expression, free);
  return free;
}

const FREE = new WeakMap<Expression, ReadonlySet<string>>();

const NONE_BOUND: ReadonlySet<string> = new Set();

function collect(expression: Expression, bound: ReadonlySet<string>, free: Set<string>): void {
  switch (expression.kind) {
    case 'name':
      if (!bound.has(expression.name)) free.add(expression.name);
      break;
    case 'declaration':
      if (!bound.has(expression.variable.name)) free.add(expression.variable.name);
      break;
    case 'comprehension': {
      collect(expression.iterable, bound, free);
      const inner = new Set([...bound, expression.variable.name]);
      collect(expression.element, inner, free);
      if (expression.condition !== null) collect(expression.condition, inner, free);
      return;
    }
    case 'quantifier': {
      const inner = new Set([...bound, ...variablesOf(expression.body).names]);
      for (const line of expression.body) collect(line, inner, free);
      break;
    }
    case 'invalid':
      for (const name of expression.mentioned) if (!bound.has(name)) free.add(name);
      break;
    default:
      break;
  }
  for (const child of childrenOf(expression)) collect(child, bound, free);
}
