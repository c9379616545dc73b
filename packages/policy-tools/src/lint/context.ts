/**
 * What all concerns of the linter look at: the bodies of a policy with the names in them, what expressions can be,
 * and expressions as keys that are equal where the expressions mean the same.
 *
 * No decision depends on it.
 */
import {
  ANY,
  type Call,
  type Definition,
  type Diagnostics,
  type Expression,
  freeNames,
  type Named,
  Names,
  type OrderOperator,
  type Pattern,
  type PolicyTree,
  quantifierOf,
  type RuleTree,
  type Source,
  type Span,
  type Type,
  type Types,
  variablesOf,
  walk,
} from '@cordon/policy';

/** The lines of a rule, a predicate or a quantifier. */
export interface LintBody {
  readonly kind: 'rule' | 'predicate' | 'forall' | 'count';
  readonly lines: readonly Expression[];
  /** Names that are variables here, those of the bodies around it and of comprehensions included. */
  readonly variables: ReadonlySet<string>;
  /** Assigned names of this body. */
  readonly assigned: ReadonlyMap<string, Expression>;
  readonly owner: RuleTree | Definition;
}

export type Constant = null | boolean | number | string;

export interface LintParts {
  readonly tree: PolicyTree;
  readonly source: Source;
  readonly types: Types;
  readonly additions: readonly Span[];
  readonly diagnostics: Diagnostics;
}

export class LintContext {
  readonly tree: PolicyTree;
  readonly source: Source;
  readonly diagnostics: Diagnostics;
  readonly names: Names;
  readonly bodies: readonly LintBody[];
  readonly #types: Types;
  /** Where the additions begin, in order. */
  readonly #additions: readonly number[];
  #unportable: ReadonlySet<RuleTree | Definition> | null = null;

  constructor(parts: LintParts) {
    this.tree = parts.tree;
    this.source = parts.source;
    this.diagnostics = parts.diagnostics;
    this.#types = parts.types;
    this.#additions = parts.additions.map(({ start }) => start).sort((a, b) => a - b);
    this.names = new Names(parts.tree);
    this.bodies = this.#allBodies();
  }

  /** What is known of the value of an expression. */
  type(expression: Expression): Type {
    return this.#types.get(expression) ?? ANY;
  }

  /** The text that an expression was read from. */
  text(span: Span): string {
    return this.source.text.slice(span.start, span.end);
  }

  line(span: Span): number {
    return this.source.range(span).line;
  }

  /** What a name stands for in a body, unless it is a variable there. */
  resolve(name: string, body: LintBody | null): Named | null {
    return body?.variables.has(name) === true ? null : this.names.resolve(name);
  }

  /** The module-level definition that a name stands for. */
  definition(name: string, body: LintBody | null): Definition | null {
    const named = this.resolve(name, body);
    return named?.kind === 'definition' ? named.definition : null;
  }

  /** The literal that an expression is, also through constants of the policy. */
  literal(expression: Expression, body: LintBody | null): (Span & { readonly value: Constant }) | null {
    const value = this.value(expression, body);
    if (value.kind === 'literal') return value;
    if (value.kind !== 'unary' || value.operator !== '-') return null;
    const { operand, start, end } = value;
    const isNumber = operand.kind === 'literal' && typeof operand.value === 'number';
    return isNumber ? { value: -Number(operand.value), start, end } : null;
  }

  /** The literals of a list that consists of nothing else, also through a constant. */
  literals(
    expression: Expression,
    body: LintBody | null,
  ): readonly (Span & { readonly value: Constant })[] | null {
    const list = this.value(expression, body);
    if (list.kind !== 'list') return null;
    const items = list.items.map((item) => this.literal(item, body));
    const known = items.filter((item) => item !== null);
    return known.length === items.length ? known : null;
  }

  /** The expression behind the name of a constant, or the expression itself. */
  value(expression: Expression, body: LintBody | null): Expression {
    let next = expression;
    // Definitions can be circular, which is a separate error.
    for (let steps = 0; next.kind === 'name' && steps < 8; steps++) {
      const found: Definition | null = this.definition(next.name, steps === 0 ? body : null);
      const [first] = found?.parameters === null ? found.body : [];
      if (first === undefined) return next;
      next = first;
    }
    return next;
  }

  /**
   * Whether other implementations of the language would load what a rule or definition says: nothing in it, or in what
   * it uses, is an addition. Only then can it mean something else there.
   */
  isPortable(owner: RuleTree | Definition): boolean {
    this.#unportable ??= this.#findUnportable();
    return !this.#unportable.has(owner);
  }

  /** Those that use additions, and then whatever uses them. */
  #findUnportable(): ReadonlySet<RuleTree | Definition> {
    const { rules, definitions } = this.tree;
    const users = new Map<Definition, (RuleTree | Definition)[]>();
    const found = new Set<RuleTree | Definition>();
    for (const owner of [...definitions, ...rules]) {
      const isMarked = 'effect' in owner && (owner.name !== null || owner.effect !== 'raise');
      if (isMarked || this.#hasAddition(owner)) found.add(owner);
      for (const name of new Set(owner.body.flatMap((line) => [...freeNames(line)]))) {
        const used = this.definition(name, null);
        if (used === null) continue;
        const own = users.get(used) ?? [];
        users.set(used, own);
        own.push(owner);
      }
    }
    for (const owner of found) {
      if ('effect' in owner) continue;
      for (const user of users.get(owner) ?? []) found.add(user);
    }
    return found;
  }

  #hasAddition({ start, end }: Span): boolean {
    let low = 0;
    let high = this.#additions.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#additions[middle] ?? 0) < start) low = middle + 1;
      else high = middle;
    }
    const next = this.#additions[low];
    return next !== undefined && next < end;
  }

  // ── bodies ────────────────────────────────────────────────────────────────────────────────────────────────

  #allBodies(): readonly LintBody[] {
    const bodies: LintBody[] = [];
    for (const definition of this.tree.definitions) {
      if (definition.parameters === null) continue;
      const parameters = new Set(definition.parameters.map(({ name }) => name));
      this.#addBody(bodies, 'predicate', definition.body, parameters, definition);
    }
    for (const rule of this.tree.rules) this.#addBody(bodies, 'rule', rule.body, new Set(), rule);
    return bodies;
  }

  #addBody(
    bodies: LintBody[],
    kind: LintBody['kind'],
    lines: readonly Expression[],
    outer: ReadonlySet<string>,
    owner: LintBody['owner'],
  ): void {
    const { declarations, assignments } = variablesOf(lines);
    const parts = partsOf(lines);
    const loops = parts.filter((part) => part.kind === 'comprehension');
    const own = [...declarations, ...assignments, ...loops].map(({ variable }) => variable.name);
    const variables = new Set([...outer, ...own]);
    const assigned = new Map(assignments.map(({ variable, value }) => [variable.name, value]));
    bodies.push({ kind, lines, variables, assigned, owner });
    const quantifiers = parts.filter((part) => part.kind === 'quantifier');
    const nested = new Set(quantifiers.flatMap((one) => partsOf(one.body)));
    for (const quantifier of quantifiers) {
      if (nested.has(quantifier)) continue;
      const inner = quantifierOf(quantifier.callee.name, this.names) ?? 'count';
      this.#addBody(bodies, inner, quantifier.body, variables, owner);
    }
  }
}

/** Lines and all their parts, the blocks of quantifiers included, from the outside in. */
export function partsOf(lines: readonly Expression[]): readonly Expression[] {
  const parts: Expression[] = [];
  for (const line of lines) walk(line, (part) => parts.push(part));
  return parts;
}

/** What must hold together: lines, and what `and` joins in them. */
export function conjuncts(lines: readonly Expression[]): readonly Expression[] {
  const found: Expression[] = [];
  const split = (expression: Expression): void => {
    if (expression.kind === 'logic' && expression.operator === 'and') {
      split(expression.left);
      split(expression.right);
    } else found.push(expression);
  };
  for (const line of lines) split(line);
  return found;
}

/** What the function or constant that is called stands for; null: a method, or nothing that is known. */
export function calledName(
  expression: Expression,
  context: LintContext,
  body: LintBody | null,
): string | null {
  if (expression.kind !== 'call') return null;
  const { callee } = expression;
  if (callee.kind === 'name') {
    const named = context.resolve(callee.name, body);
    return named?.kind === 'builtin' || named?.kind === 'detector' ? named.name : null;
  }
  if (callee.kind !== 'member' || callee.object.kind !== 'name') return null;
  return context.resolve(callee.object.name, body)?.kind === 'module' ? callee.name.name : null;
}

// ── expressions as keys ─────────────────────────────────────────────────────────────────────────────────────────

/** How the names of variables are written in keys; null: as they are. */
export type Renaming = (name: string) => string | null;

const AS_IT_IS: Renaming = () => null;

/** UTF-16 units of the values that one key looks through names for: a chain of `:=` could make it grow without end. */
const MAX_INLINED = 2000;

const NOTHING_ASSIGNED: ReadonlyMap<string, Expression> = new Map();

/**
 * A text that is the same for expressions that mean the same but for spaces, parentheses, the order of the sides of
 * `==`, and names given with `:=`.
 */
export function keyOf(
  expression: Expression,
  assigned: ReadonlyMap<string, Expression> = NOTHING_ASSIGNED,
  renaming: Renaming = AS_IT_IS,
  room = { left: MAX_INLINED },
): string {
  const key = (part: Expression): string => keyOf(part, assigned, renaming, room);
  const nameKey = (name: string): string => renaming(name) ?? name;
  switch (expression.kind) {
    case 'literal':
      return JSON.stringify(expression.value);
    case 'format':
      return `f(${expression.parts.map((part) => (typeof part === 'string' ? JSON.stringify(part) : key(part))).join()})`;
    case 'name': {
      const value = assigned.get(expression.name);
      if (value === undefined) return nameKey(expression.name);
      room.left -= value.end - value.start + 1;
      return room.left < 0 ? nameKey(expression.name) : key(value);
    }
    case 'member':
      return memberKey(expression, key);
    case 'index':
      return `${key(expression.object)}[${key(expression.index)}]`;
    case 'call':
      return `${key(expression.callee)}(${argumentsKey(expression, key)})`;
    case 'binary':
      return binaryKey(expression.operator, key(expression.left), key(expression.right));
    case 'logic':
      return `(${key(expression.left)} ${expression.operator} ${key(expression.right)})`;
    case 'unary':
      return `${expression.operator}(${key(expression.operand)})`;
    case 'ternary':
      return `(${key(expression.then)} if ${key(expression.condition)} else ${key(expression.otherwise)})`;
    case 'list':
      return `[${expression.items.map(key).join()}]`;
    case 'object':
      return `{${expression.entries.map((entry) => `${JSON.stringify(entry.key)}:${key(entry.value)}`).join()}}`;
    case 'comprehension': {
      const condition = expression.condition === null ? '' : ` if ${key(expression.condition)}`;
      return `[${key(expression.element)} for ${nameKey(expression.variable.name)} in ${key(expression.iterable)}${condition}]`;
    }
    case 'declaration': {
      const within = expression.within === null ? '' : ` in ${key(expression.within)}`;
      return `(${nameKey(expression.variable.name)}:${expression.type.name})${within}`;
    }
    case 'assignment':
      return `${nameKey(expression.variable.name)}:=${key(expression.value)}`;
    case 'tool-pattern': {
      const pattern = expression.arguments === null ? '' : `(${patternKey(expression.arguments, key)})`;
      return `tool:${JSON.stringify(expression.tool.name)}${pattern}`;
    }
    case 'quantifier': {
      const head = `${expression.callee.name}(${argumentsKey(expression, key)})`;
      return `${head}:{${expression.body.map(key).sort().join(';')}}`;
    }
    case 'invalid':
      return `invalid@${expression.start}`;
  }
}

function argumentsKey(
  { positional, named }: Pick<Call, 'positional' | 'named'>,
  key: (part: Expression) => string,
): string {
  const byName = named.map(({ name, value }) => `${name.name}=${key(value)}`);
  return [...positional.map(key), ...byName.sort()].join();
}

/** `call.function.name` is `call.name`. */
function memberKey(
  member: Extract<Expression, { kind: 'member' }>,
  key: (part: Expression) => string,
): string {
  const { object, name } = member;
  const isShort =
    object.kind === 'member' &&
    object.name.name === 'function' &&
    (name.name === 'name' || name.name === 'arguments');
  return `${key(isShort ? object.object : object)}.${name.name}`;
}

const MIRRORED: Readonly<Record<string, string>> = { '>': '<', '>=': '<=' };

function binaryKey(operator: string, left: string, right: string): string {
  const isSymmetric = operator === '==' || operator === '!=';
  const mirrored = MIRRORED[operator];
  if (mirrored !== undefined) return `(${right} ${mirrored} ${left})`;
  const [a, b] = isSymmetric && right < left ? [right, left] : [left, right];
  return `(${a} ${operator} ${b})`;
}

function patternKey(pattern: Pattern, key: (part: Expression) => string): string {
  switch (pattern.kind) {
    case 'any':
      return '*';
    case 'value-reference':
      return `<${pattern.name}>`;
    case 'object': {
      const entries = pattern.entries.map(
        (entry) => `${JSON.stringify(entry.key)}:${patternKey(entry.pattern, key)}`,
      );
      return `{${entries.sort().join()}}`;
    }
    case 'list':
      return `[${pattern.items.map((item) => patternKey(item, key)).join()}]`;
    case 'value':
      return key(pattern.value);
  }
}

const ORDERS: ReadonlySet<string> = new Set<OrderOperator>(['->', '~>', 'before']);

/** The literals in a pattern. */
export function literalsIn(pattern: Pattern): readonly (Span & { readonly value: Constant })[] {
  switch (pattern.kind) {
    case 'object':
      return pattern.entries.flatMap((entry) => literalsIn(entry.pattern));
    case 'list':
      return pattern.items.flatMap(literalsIn);
    case 'value':
      return pattern.value.kind === 'literal' ? [pattern.value] : [];
    case 'any':
    case 'value-reference':
      return [];
  }
}

/** Whether a line says in which order two events come. */
export function isOrder(line: Expression): line is Extract<Expression, { kind: 'binary' }> {
  return line.kind === 'binary' && ORDERS.has(line.operator);
}
