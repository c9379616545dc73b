/**
 * What a rule costs as the trace grows, read from the plan by which it is decided: flows and `==` find partners by
 * index, chains of flow are decided as their events come, and everything else is looked for one by one.
 *
 * No decision depends on it.
 */
import {
  compile,
  type Definition,
  type Detectors,
  type Expression,
  eventVariables,
  freeNames,
  innerTypes,
  isFirstKept,
  neededBy,
  PatternCache,
  planRule,
  quantifierOf,
  type RulePlan,
  type RuleSearch,
  type SearchPlan,
  type Span,
  type Step,
  variablesOf,
} from '@cordon/policy';
import { conjuncts, type LintContext, partsOf } from './context.ts';

/** A part of a rule whose work is done once for each object of the trace, at every event. */
interface Reason extends Span {
  readonly message: string;
  readonly exponent: number;
}

/** Lines of a rule; every line is followed to the variables that it needs. */
const MAX_LINES = 500;

export function lintCost(context: LintContext, detectors: Detectors): void {
  const predicates = new PredicateCosts(context);
  const { rules } = compile(context.tree, context.source, detectors, new PatternCache());
  for (const [number, rule] of context.tree.rules.entries()) {
    const compiled = rules[number];
    if (rule.body.length > MAX_LINES || compiled === undefined) continue;
    const plan = planRule(compiled);
    const joins = plan.kind === 'whole' ? lookedAtAgain(context, rule.body) : tried(plan);
    const searches = searching(context, rule.body, predicates);
    const [first, ...rest] = [...joins, ...searches];
    if (first === undefined) continue;
    const searched = searches.reduce((most, reason) => Math.max(most, reason.exponent), 0);
    const others = new Set(rest.map((reason) => context.line(reason)));
    others.delete(context.line(first));
    const more = others.size === 0 ? '' : `; so does line ${[...others].join(', ')}`;
    context.diagnostics.warning(
      'POL069',
      first,
      `each event costs this rule \`${order(total(joins) + searched)}\` in the length of the trace: ${first.message}${more}`,
      plan.kind === 'joined' && joins.length > 0
        ? 'relate the variables by `->`, `before` or `==`, or put more conditions on one of them alone'
        : 'put conditions on the variables of the rule that few events pass',
    );
  }
}

function total(reasons: readonly Reason[]): number {
  return reasons.reduce((sum, reason) => sum + reason.exponent, 0);
}

function order(exponent: number): string {
  if (exponent <= 1) return 'O(n)';
  const digits = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
  return `O(n${[...String(exponent)].map((digit) => digits[Number(digit)] ?? '').join('')})`;
}

// ── what is tried one by one when an event comes ────────────────────────────────────────────────────────────────

/** Of the searches that a new event can start, what the one that tries most tries: read from the plans that run. */
function tried(plan: RulePlan): readonly Reason[] {
  const search = plan.search('one');
  let most: readonly Reason[] = [];
  for (const one of [...search.pivots, ...search.prefixPlans]) {
    const reasons =
      one === null ? [] : one.order.flatMap((_, level) => triedAt(plan, search, one, level) ?? []);
    if (reasons.length > most.length) most = reasons;
  }
  return most;
}

/** Of a rule with a block or predicate that does not only look back: a later event can change what was decided of older ones. */
function lookedAtAgain({ names }: LintContext, lines: readonly Expression[]): readonly Reason[] {
  const events = eventVariables(lines);
  const overTrace = variablesOf(lines).declarations.filter(({ within }) => within === null);
  const again: Reason[] = [];
  const message = 'later events can change what this says, so older ones are looked at again';
  for (const part of partsOf(lines)) {
    if (part.kind !== 'quantifier' && part.kind !== 'call') continue;
    if (innerTypes([part], names, events).size === 0) continue;
    const end = part.kind === 'quantifier' ? part.callee.end : part.end;
    again.push({ start: part.start, end, message, exponent: overTrace.length });
  }
  return overTrace.length === 0 ? [] : again.slice(0, 1);
}

/** Why the variable that a search binds at a level is not looked up; null: it is, or it is one of a few. */
function triedAt(plan: RulePlan, search: RuleSearch, one: SearchPlan, level: number): Reason | null {
  const { body } = plan.rule;
  const index = one.order[level];
  const variable = index === undefined ? undefined : body.variables[index];
  if (level === 0 || index === undefined || variable === undefined || variable.within !== null) return null;
  const bound = one.order.slice(0, level);
  const isLine = ({ slot, flow, earlier, next, join }: Step): boolean =>
    slot === null && flow === null && earlier === null && next === null && join === null;
  const names = (step: Step): readonly string[] =>
    [...neededBy(body, step)].flatMap((need) => {
      const needed = body.variables[need];
      return needed === undefined || needed.within !== null ? [] : [`\`${needed.name}\``];
    });
  const line = one.levels[level + 1]?.find((step) => isLine(step) && names(step).length > 1);
  if (line !== undefined) {
    const message = `this line relates ${names(line).join(' and ')}, and not by \`->\`, \`before\` or \`==\``;
    return { ...line.span, message, exponent: 1 };
  }
  if (search.joins[index]?.some(({ other }) => bound.includes(other.variable)) === true) return null;
  const { before } = search.prefixes;
  // A circle of flows never holds, which is reported as that.
  if (before[index]?.has(index) === true) return null;
  const flows = bound.some((other) => before[index]?.has(other) || before[other]?.has(index));
  const isFew = isFirstKept(search.retention[index]) && search.told[index]?.length === 0;
  if (flows && (isFew || one.leaves.has(index))) return null;
  const message = flows
    ? `\`${variable.name}\` is tried one by one, because other lines than flows look at it later`
    : `no \`->\`, \`before\` or \`==\` leads to \`${variable.name}\` from the other variables`;
  return { ...variable.span, message, exponent: 1 };
}

// ── what blocks and predicates look through ─────────────────────────────────────────────────────────────────────

/** What finds the events of a variable by index. */
const LOOKED_UP: ReadonlySet<string> = new Set(['->', 'before', '==']);

class Relations {
  readonly #lines: readonly Expression[];
  readonly #names: ReadonlySet<string>;
  readonly #outer: ReadonlySet<string>;
  /** What assigned names, and variables over values, are made from. */
  readonly #sources: ReadonlyMap<string, Expression>;

  /** `outer`: variables that have their values already, of the bodies around a block or the parameters of a predicate. */
  constructor(lines: readonly Expression[], outer: ReadonlySet<string> = new Set()) {
    this.#lines = lines;
    this.#outer = outer;
    const { declarations, assignments } = variablesOf(lines);
    const overTrace = declarations.filter(({ within }) => within === null);
    this.#names = new Set(overTrace.map(({ variable }) => variable.name));
    const sources = new Map<string, Expression>();
    for (const { variable, value } of assignments) sources.set(variable.name, value);
    for (const { variable, within } of declarations) if (within !== null) sources.set(variable.name, within);
    this.#sources = sources;
  }

  /**
   * How many variables are tried one by one for each search: conditions on one variable alone are kept up as the trace
   * grows, and what an index leads to from outside is looked up.
   */
  searched(): number {
    const tried = new Set<string>();
    for (const line of this.#lines) {
      if (line.kind === 'assignment' || line.kind === 'declaration' || this.#isLookedUp(line)) continue;
      const needed = this.#needs(line);
      if (needed.size < 2) continue;
      for (const name of needed) if (this.#names.has(name)) tried.add(name);
    }
    return tried.size;
  }

  /** The same of a block that tries all objects of all its variables. */
  all(): number {
    return this.#names.size;
  }

  /** Whether a line compares a part of one variable with what is known outside, or says that it comes before that. */
  #isLookedUp(line: Expression): boolean {
    if (line.kind !== 'binary' || !LOOKED_UP.has(line.operator)) return false;
    const [left, right] = [this.#needs(line.left), this.#needs(line.right)];
    const isOwn = (needed: ReadonlySet<string>): boolean =>
      needed.size === 1 && [...needed].every((name) => this.#names.has(name));
    const isOuter = (needed: ReadonlySet<string>): boolean =>
      [...needed].every((name) => !this.#names.has(name));
    if (line.operator !== '==') return isOwn(left) && isOuter(right);
    return (isOwn(left) && isOuter(right)) || (isOuter(left) && isOwn(right));
  }

  /** The trace variables that an expression needs. */
  #needs(expression: Expression): ReadonlySet<string> {
    const needed = new Set<string>();
    const reached = new Set(freeNames(expression));
    for (const name of reached) {
      if (this.#names.has(name) || this.#outer.has(name)) needed.add(name);
      const source = this.#sources.get(name);
      if (source !== undefined) for (const used of freeNames(source)) reached.add(used);
    }
    return needed;
  }
}

// ── quantifiers and predicates that search the trace ────────────────────────────────────────────────────────────

function searching(
  context: LintContext,
  lines: readonly Expression[],
  predicates: PredicateCosts,
): readonly Reason[] {
  const reasons: Reason[] = [];
  const own = namesOf(lines);
  for (const part of partsOf(lines)) {
    if (part.kind === 'quantifier') {
      const exponent = searchedBy(context, part, own);
      const message = 'this block looks through the trace at every event';
      if (exponent > 0) reasons.push({ start: part.start, end: part.callee.end, message, exponent });
    } else if (part.kind === 'call' && part.callee.kind === 'name') {
      const exponent = predicates.of(part.callee.name);
      const message = `\`${part.callee.name}\` looks through the trace at every event`;
      if (exponent > 0) reasons.push({ start: part.start, end: part.end, message, exponent });
    }
  }
  return reasons;
}

/** How many variables a block tries one by one. What refutes a `forall` is not known before it is looked at. */
function searchedBy(
  { names }: LintContext,
  block: Extract<Expression, { kind: 'quantifier' }>,
  outer: ReadonlySet<string>,
): number {
  const relations = new Relations(conjuncts(block.body), outer);
  return quantifierOf(block.callee.name, names) === 'forall' ? relations.all() : relations.searched();
}

/** The variables of a body and of the blocks in it. */
function namesOf(lines: readonly Expression[]): ReadonlySet<string> {
  const own = partsOf(lines).filter((part) => part.kind === 'declaration' || part.kind === 'assignment');
  return new Set(own.map(({ variable }) => variable.name));
}

/** Predicates that call predicates; deeper ones are not looked at, so that no chain of them exhausts the stack. */
const MAX_DEPTH = 64;

/** How many variables over the trace a predicate tries one by one, with those of the predicates that it calls. */
class PredicateCosts {
  readonly #context: LintContext;
  readonly #known = new Map<Definition, number>();

  constructor(context: LintContext) {
    this.#context = context;
  }

  of(name: string, depth = 0): number {
    const definition = this.#context.definition(name, null);
    if (definition === null || definition.parameters === null) return 0;
    const known = this.#known.get(definition);
    if (known !== undefined || depth > MAX_DEPTH || definition.body.length > MAX_LINES) return known ?? 0;
    // A predicate that calls itself is reported elsewhere.
    this.#known.set(definition, 0);
    const outer = new Set([...definition.parameters.map((one) => one.name), ...namesOf(definition.body)]);
    let inner = 0;
    for (const part of partsOf(definition.body)) {
      if (part.kind === 'quantifier') inner = Math.max(inner, searchedBy(this.#context, part, outer));
      if (part.kind === 'call' && part.callee.kind === 'name')
        inner = Math.max(inner, this.of(part.callee.name, depth + 1));
    }
    const cost = new Relations(conjuncts(definition.body), outer).searched() + inner;
    this.#known.set(definition, cost);
    return cost;
  }
}
