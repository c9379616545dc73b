/**
 * What a trace must have for a rule to say anything about it, read from the rule's text. Sound: where a need is not
 * met, some line of the rule refutes every assignment, and a refuted one is neither a violation nor undecided
 * (specification, "Undecided"). Lines that say nothing about tools or kinds of events add no need.
 *
 * Ring 1.
 */
import type { Definition, Expression, Policy } from '@cordon/policy';
import { FEATURE, type FeatureTable, type Positions } from './trace-features.ts';

/** Any of these features. */
type AnyOf = readonly number[];

export interface RuleNeeds {
  readonly all: readonly AnyOf[];
  /** Something of the one stands before something of the other. */
  readonly inOrder: readonly { readonly before: AnyOf; readonly after: AnyOf }[];
}

/** The needs of each rule, in the order of the text; fills the table. */
export function needsOf(tree: Policy['tree'], table: FeatureTable): readonly RuleNeeds[] {
  const definitions = new Map(tree.definitions.map((definition) => [definition.name.name, definition]));
  const taken = new Set([...definitions.keys(), ...tree.imports.map(({ alias }) => alias)]);
  const counts = new Set(tree.imports.flatMap(({ name, alias }) => (name === 'count' ? [alias] : [])));
  const policy = { table, definitions, taken, counts };
  return tree.rules.map((rule) => new NeedReader(policy, 0, new Map()).body(rule.body));
}

/** Whether a plain chat with these features can give the rule anything to say. */
export function areMet(needs: RuleNeeds, { first, last }: Positions): boolean {
  for (let index = 0; index < needs.all.length; index++) {
    if (!hasAny(needs.all[index] ?? [], first)) return false;
  }
  for (let index = 0; index < needs.inOrder.length; index++) {
    const order = needs.inOrder[index];
    if (order !== undefined && !isInOrder(order.before, order.after, first, last)) return false;
  }
  return true;
}

function hasAny(features: AnyOf, first: Int32Array): boolean {
  for (let index = 0; index < features.length; index++) {
    if ((first[features[index] ?? 0] ?? -1) >= 0) return true;
  }
  return false;
}

function isInOrder(before: AnyOf, after: AnyOf, first: Int32Array, last: Int32Array): boolean {
  for (let left = 0; left < before.length; left++) {
    const start = first[before[left] ?? 0] ?? -1;
    if (start < 0) continue;
    for (let right = 0; right < after.length; right++) {
      if (start < (last[after[right] ?? 0] ?? -1)) return true;
    }
  }
  return false;
}

const EVENT_FEATURES: ReadonlyMap<string, number> = new Map([
  ['Message', FEATURE.message],
  ['ToolCall', FEATURE.toolCall],
  ['ToolOutput', FEATURE.toolOutput],
  ['Tool', FEATURE.elsewhere],
  ['AppRequest', FEATURE.elsewhere],
  ['AppResponse', FEATURE.elsewhere],
  ['DataRelease', FEATURE.elsewhere],
  ['Egress', FEATURE.elsewhere],
  ['Plan', FEATURE.elsewhere],
]);

/** Expressions in expressions, and predicates in predicates: deeper ones add no need. */
const MOST_NESTED = 24;
const MOST_DEPTH = 3;

interface PolicyNames {
  readonly table: FeatureTable;
  readonly definitions: ReadonlyMap<string, Definition>;
  /** By definitions and imports: what else has such a name is hidden. */
  readonly taken: ReadonlySet<string>;
  /** Names of the quantifier. */
  readonly counts: ReadonlySet<string>;
}

/** A variable that ranges over events of the trace. */
interface EventVariable {
  readonly type: string;
  /** What each of its values has at or before its own position. */
  readonly starts: AnyOf[];
  /** What each of its values has at or behind its own position. */
  readonly ends: AnyOf[];
}

/** One body: of a rule, a predicate or a `count`. */
class NeedReader {
  readonly #policy: PolicyNames;
  readonly #depth: number;
  /** Names that stand for events for certain; the value of any other may be undecided. */
  readonly #events: Map<string, EventVariable>;

  constructor(policy: PolicyNames, depth: number, known: ReadonlyMap<string, EventVariable>) {
    this.#policy = policy;
    this.#depth = depth;
    // Copies: what a block says of a variable need not hold outside of it.
    this.#events = new Map(
      [...known].map(([name, { type, starts, ends }]) => [
        name,
        { type, starts: [...starts], ends: [...ends] },
      ]),
    );
  }

  body(lines: readonly Expression[]): RuleNeeds {
    for (const line of lines) this.#declare(line);
    const all: AnyOf[] = [...this.#events.values()].flatMap(({ starts }) => starts);
    for (const line of lines) {
      const needs = this.#needs(line, { nested: 0, isPart: false });
      all.push(...needs);
      this.#narrow(line, needs);
    }
    return { all, inOrder: lines.flatMap((line) => this.#orders(line)) };
  }

  /** Only where a declaration must hold for the line to hold. */
  #declare(line: Expression): void {
    if (line.kind === 'binary' && isFlow(line.operator)) {
      this.#declare(line.left);
      this.#declare(line.right);
    } else if (line.kind === 'declaration' && line.within === null) {
      const type = line.type.name;
      const feature = this.#policy.taken.has(type) ? undefined : EVENT_FEATURES.get(type);
      if (feature === undefined) return;
      this.#events.set(line.variable.name, { type, starts: [[feature]], ends: [[feature]] });
    }
  }

  /** What a line says of one variable alone holds for the order of events, too. */
  #narrow(line: Expression, needs: readonly AnyOf[]): void {
    if (line.kind === 'call') return this.#narrowArguments(line.callee, line.positional);
    const subjects = new Set(subjectsOf(line, 0));
    const [subject] = subjects;
    const variable = subjects.size === 1 && subject !== undefined ? this.#events.get(subject) : undefined;
    if (variable === undefined || needs.length === 0) return;
    variable.starts.push(...needs);
    // An output stands behind its call, nobody knows how far.
    if (variable.type === 'ToolCall') variable.ends.push(...needs);
  }

  /** What the lines of a predicate say of its parameters. */
  #narrowArguments(callee: Expression, positional: readonly Expression[]): void {
    const called = this.#called(callee, positional);
    if (called === null) return;
    const inner = this.#inner(called.given);
    inner.body(called.definition.body);
    for (const [index, { name }] of (called.definition.parameters ?? []).entries()) {
      const argument = positional[index];
      const outer = argument === undefined ? undefined : this.#events.get(nameOf(argument) ?? '');
      const said = inner.#events.get(name);
      if (outer === undefined || said === undefined) continue;
      outer.starts.push(...said.starts);
      outer.ends.push(...said.ends);
    }
  }

  /** Each of what it answers must be there for the expression to be true or undecided. */
  #needs(expression: Expression, at: At): AnyOf[] {
    if (at.nested > MOST_NESTED) return [];
    switch (expression.kind) {
      case 'logic':
        return this.#logic(expression.operator, expression.left, expression.right, at);
      case 'binary':
        if (expression.operator === 'is') return this.#toolPattern(expression.left, expression.right, at);
        if (expression.operator === '==') return this.#sameName(expression.left, expression.right);
        return expression.operator === 'in' ? this.#nameAmong(expression.left, expression.right) : [];
      case 'call':
        return this.#predicate(expression.callee, expression.positional);
      case 'quantifier':
        return this.#count(expression);
      default:
        return [];
    }
  }

  #logic(operator: 'and' | 'or', left: Expression, right: Expression, { nested }: At): AnyOf[] {
    const inner = { nested: nested + 1, isPart: true };
    const ofLeft = this.#needs(left, inner);
    const ofRight = this.#needs(right, inner);
    if (operator === 'and') return [...ofLeft, ...ofRight];
    const [first] = ofLeft;
    const [second] = ofRight;
    return first === undefined || second === undefined ? [] : [[...first, ...second]];
  }

  /**
   * `x is tool:name`. For an output without a call it is None, which as a line refutes; but None beside an undecided
   * operand of `and` is undecided, so inside of lines only calls count.
   */
  #toolPattern(subject: Expression, pattern: Expression, { isPart }: At): AnyOf[] {
    const name = nameOf(subject);
    const variable = name === null ? undefined : this.#events.get(name);
    if (pattern.kind !== 'tool-pattern' || variable === undefined) return [];
    return isPart && variable.type !== 'ToolCall' ? [] : this.#tools([pattern.tool.name]);
  }

  /** `x.name == "…"` and `x.function.name == "…"` for a call `x`. */
  #sameName(left: Expression, right: Expression): AnyOf[] {
    const text = this.#isNameOfCall(left) ? textOf(right) : this.#isNameOfCall(right) ? textOf(left) : null;
    return text === null ? [] : this.#tools([text]);
  }

  #nameAmong(left: Expression, right: Expression): AnyOf[] {
    if (!this.#isNameOfCall(left) || right.kind !== 'list') return [];
    const texts = right.items.map(textOf);
    return texts.every((text) => text !== null) ? this.#tools(texts) : [];
  }

  #tools(names: readonly string[]): AnyOf[] {
    const features = names.map((name) => this.#policy.table.tool(name));
    return features.every((feature) => feature !== null) ? [features] : [];
  }

  #isNameOfCall(expression: Expression): boolean {
    const name = calleeOf(expression);
    return name !== null && this.#events.get(name)?.type === 'ToolCall';
  }

  /** A predicate over events is true or undecided only if each of its lines can be. */
  #predicate(callee: Expression, positional: readonly Expression[]): AnyOf[] {
    const called = this.#called(callee, positional);
    return called === null ? [] : [...this.#inner(called.given).body(called.definition.body).all];
  }

  /** The predicate that is called with nothing but events, and what is known of them inside. */
  #called(
    callee: Expression,
    positional: readonly Expression[],
  ): { readonly definition: Definition; readonly given: ReadonlyMap<string, EventVariable> } | null {
    const name = nameOf(callee);
    const definition =
      name === null || this.#events.has(name) ? undefined : this.#policy.definitions.get(name);
    const parameters = definition?.parameters ?? null;
    if (definition === undefined || parameters === null || this.#depth >= MOST_DEPTH) return null;
    if (parameters.length !== positional.length) return null;
    const given = new Map<string, EventVariable>();
    for (const [index, parameter] of parameters.entries()) {
      const argument = positional[index];
      const variable = argument === undefined ? undefined : this.#events.get(nameOf(argument) ?? '');
      if (variable === undefined) return null;
      given.set(parameter.name, { type: variable.type, starts: [], ends: [] });
    }
    return { definition, given };
  }

  /** `count(min=1)` and more needs one assignment of its block. */
  #count(quantifier: Extract<Expression, { kind: 'quantifier' }>): AnyOf[] {
    const min = quantifier.named.find(({ name }) => name.name === 'min')?.value ?? quantifier.positional[0];
    const isSome = min?.kind === 'literal' && typeof min.value === 'number' && min.value >= 1;
    if (!isSome || !this.#policy.counts.has(quantifier.callee.name) || this.#depth >= MOST_DEPTH) return [];
    return [...this.#inner(this.#events).body(quantifier.body).all];
  }

  #inner(known: ReadonlyMap<string, EventVariable>): NeedReader {
    return new NeedReader(this.#policy, this.#depth + 1, known);
  }

  /** `a -> b` of events: in a plain chat, positions in the flat order. */
  #orders(line: Expression): { before: AnyOf; after: AnyOf }[] {
    if (line.kind !== 'binary' || !isFlow(line.operator)) return [];
    const before = this.#events.get(nameOf(line.left) ?? '');
    const after = this.#events.get(nameOf(line.right) ?? '');
    if (before === undefined || after === undefined) return [];
    return before.starts.flatMap((left) => after.ends.map((right) => ({ before: left, after: right })));
  }
}

interface At {
  readonly nested: number;
  /** An operand of `and` or `or`, not a line. */
  readonly isPart: boolean;
}

function isFlow(operator: string): boolean {
  return operator === '->' || operator === '~>';
}

function textOf(expression: Expression): string | null {
  return expression.kind === 'literal' && typeof expression.value === 'string' ? expression.value : null;
}

/** The name of a variable, also where it is declared. */
function nameOf(expression: Expression): string | null {
  if (expression.kind === 'name') return expression.name;
  return expression.kind === 'declaration' && expression.within === null ? expression.variable.name : null;
}

/** `x` of `x.name` and `x.function.name`. */
function calleeOf(expression: Expression): string | null {
  if (expression.kind !== 'member' || expression.name.name !== 'name') return null;
  const { object } = expression;
  return nameOf(object.kind === 'member' && object.name.name === 'function' ? object.object : object);
}

/** The variables whose tool a line of comparisons is about; an empty name where there is more to it. */
function subjectsOf(line: Expression, nested: number): readonly string[] {
  if (nested > MOST_NESTED) return [''];
  if (line.kind === 'logic') {
    return [...subjectsOf(line.left, nested + 1), ...subjectsOf(line.right, nested + 1)];
  }
  if (line.kind !== 'binary') return [''];
  const name = nameOf(line.left) ?? calleeOf(line.left) ?? calleeOf(line.right);
  return [name ?? ''];
}
