/**
 * Checked tree to functions: every expression becomes a closure over a frame of slots, every body a list of
 * steps with the variables that each needs. Nothing here depends on a trace.
 */

import { freeNames, type Named, Names, variablesOf, walk } from '../check/scope.ts';
import type {
  Anchor,
  Body,
  BodyVariable,
  CallSite,
  Domain,
  DomainKey,
  Evaluate,
  Frame,
  JoinSide,
  Later,
  Locate,
  Order,
  Step,
} from '../evaluate/body.ts';
import type { CompiledRule } from '../evaluate/compiled-rule.ts';
import { counts, holds, holdsForAll } from '../evaluate/quantifiers.ts';
import { declaredOrder, planSearch, type SearchPlan } from '../evaluate/search.ts';
import type { Call, Definition, Expression, Pattern, PolicyTree, RuleTree } from '../syntax/ast.ts';
import type { Source, Span } from '../syntax/source.ts';
import { type Detectors, importedName, matchesIn, ORIGIN_FUNCTIONS, runBuiltin } from '../values/builtins.ts';
import { EventObject } from '../values/event-object.ts';
import { type OriginEvidence, partOf } from '../values/evidence.ts';
import { applyBinary, applyUnary, elementOf, elements, memberOf, truth } from '../values/operators.ts';
import { type ComputedPattern, type PatternContext, referencesOf, toolMatcher } from '../values/pattern.ts';
import type { PatternCache } from '../values/pattern-cache.ts';
import { joined } from '../values/python-str.ts';
import { isTypeName, OBJECT_TYPES } from '../values/types.ts';
import {
  Callable,
  isContents,
  isList,
  isUndecided,
  kindOf,
  ToolPatternValue,
  type Undecided,
  undecided,
  undecidedIn,
  type Value,
  wholly,
} from '../values/value.ts';
import { calledPredicate, callsBuiltin } from './calls.ts';
import { highlighter, mayHighlight, occurrencesOf } from './highlight.ts';
import { linkedCallsOf } from './linked-calls.ts';
import { literalsOf } from './literal-reader.ts';
import { Locators } from './locator.ts';
import { eventVariables, innerTypes, NO_NAMES, quantifierOf } from './past-only.ts';
import { type Layout, NOWHERE, Scope } from './slots.ts';
import { toolsOfLine } from './tool-names.ts';
import { orderOf, VariableDependencies, variableName } from './variable-dependencies.ts';

export interface CompiledPolicy {
  readonly rules: readonly CompiledRule[];
}

/** Compiles a tree that the checker has accepted; `patterns`: what it compiled on the way. */
export function compile(
  tree: PolicyTree,
  source: Source,
  detectors: Detectors,
  patterns: PatternCache,
): CompiledPolicy {
  const names = new Names(tree);
  const compiler = new Compiler(names, source, detectors, patterns);
  const asksOrigin = asksForOrigin(tree, names);
  // An output says by which call it came, whatever the tool.
  const linkedCalls = asksOrigin ? null : linkedCallsOf(tree, names);
  return {
    rules: tree.rules.map((rule, number) => compiler.rule(rule, number, { linkedCalls, asksOrigin })),
  };
}

/** Of a step that only computes a value. */
const RELATES_NOTHING = {
  flow: null,
  earlier: null,
  next: null,
  join: null,
  tools: null,
  required: [],
  some: null,
};

/** Predicates that call predicates; deeper ones are undecided. */
const MAX_DEPTH = 64;

interface CompiledPredicate {
  readonly name: string;
  readonly body: Body;
  readonly plan: SearchPlan;
  readonly parameters: readonly number[];
  slots: number;
}

class Compiler {
  readonly #names: Names;
  readonly #source: Source;
  readonly #detectors: Detectors;
  readonly #patterns: PatternContext;
  readonly #cache: PatternCache;
  readonly #locators = new Locators((expression, scope) => this.#expression(expression, scope));
  readonly #domains: Domain[] = [];
  /** The blocks of `count` lines that need an assignment. */
  readonly #counted = new Map<Expression, Body>();
  readonly #predicates = new Map<Definition, { compiled: CompiledPredicate | null }>();
  readonly #constants = new Map<Definition, { evaluate: Evaluate; slots: number } | null>();

  constructor(names: Names, source: Source, detectors: Detectors, patterns: PatternCache) {
    this.#names = names;
    this.#cache = patterns;
    this.#source = source;
    this.#detectors = detectors;
    this.#patterns = { cache: this.#cache, references: referencesOf(detectors) };
  }

  /** `looked`: what the policy as a whole looks at. */
  rule(
    rule: RuleTree,
    number: number,
    looked: Pick<CompiledRule, 'linkedCalls' | 'asksOrigin'>,
  ): CompiledRule {
    const layout: Layout = { next: 0, events: eventVariables(rule.body) };
    const { body, scope, dependencies, rangesOver } = this.#body(rule.body, layout, null, []);
    const message = this.#expression(rule.message, scope);
    const steps = [...body.steps, ...this.#messageSteps(rule, body, layout, scope, dependencies)];
    return {
      source: this.#source,
      id: rule.name?.name ?? `rule-${number + 1}`,
      number,
      effect: rule.effect,
      whenUndecided: rule.whenUndecided,
      body: { ...body, steps },
      slots: layout.next,
      message,
      staticMessage: this.#staticMessage(rule.message) ?? 'the rule matches',
      ...looked,
      rangesOver,
      domains: this.#domains,
      span: { start: rule.start, end: rule.end },
    };
  }

  /**
   * A message that cannot be said leaves an assignment undecided, as a line that cannot be evaluated does. Each part of
   * it becomes such a line, so that an event is looked at for its own parts, and not with all others.
   */
  #messageSteps(
    rule: RuleTree,
    body: Body,
    layout: Layout,
    scope: Scope,
    dependencies: VariableDependencies,
  ): readonly Step[] {
    return messageParts(rule.message, this.#names).flatMap((part): Step[] => {
      const needed = dependencies.of(part);
      if (needed.size === 0) return [];
      const looksAround =
        innerTypes(dependencies.partsOf(part), this.#names, eventVariables(rule.body)).size > 0;
      const evaluate = this.#expression(part, scope);
      return [
        {
          slot: layout.next++,
          locate: NOWHERE,
          // What is noticed while the message is made is no reason for the violation.
          evaluate: (frame) => {
            const { trail } = frame.context;
            const noticed = trail.length;
            const value = evaluate(frame);
            if (trail.length > noticed) trail.length = noticed;
            return value;
          },
          needs: looksAround ? new Set(body.variables.keys()) : needed,
          ...RELATES_NOTHING,
          isStable: !looksAround,
          span: { start: rule.message.start, end: rule.message.end },
          tree: part,
        },
      ];
    });
  }

  // ── bodies ────────────────────────────────────────────────────────────────────────────────────────────────

  #body(
    lines: readonly Expression[],
    layout: Layout,
    outer: Scope | null,
    parameters: readonly string[],
  ): { body: Body; scope: Scope; dependencies: VariableDependencies; rangesOver: ReadonlySet<string> } {
    const { declarations, assignments, names: own } = variablesOf(lines);
    const scope = new Scope([...new Set([...parameters, ...own])], layout, outer);
    const names = declarations.map((declared) => declared.variable.name);
    const dependencies = new VariableDependencies(names, assignments);
    for (const [index, parameter] of parameters.entries()) {
      scope.place(
        parameter,
        ({ site }) => (site === null ? null : (site.locate[index]?.(site.frame) ?? null)),
        ({ site }) => (site === null ? null : (site.anchors[index]?.(site.frame) ?? null)),
      );
    }
    // A name may be used above its assignment, so all are known before any expression is compiled.
    for (const { variable, value } of assignments)
      scope.place(variable.name, this.#locators.lazy(value, scope), anchorOf(value, scope));
    for (const declared of declarations) {
      const { variable, within } = declared;
      const slot = scope.slot(variable.name) ?? 0;
      const outside = within === null ? () => null : anchorOf(within, scope);
      scope.place(
        variable.name,
        this.#locators.ofVariable(declared, scope),
        (frame) => frame.bindings[slot]?.entry ?? outside(frame),
      );
    }
    // In a rule, what looks back from an event of the rule says the same of it for ever.
    const events = outer === null && parameters.length === 0 ? eventVariables(lines) : NO_NAMES;
    const rangesOver = innerTypes(lines, this.#names, events);
    const isStable = (expression: Expression): boolean =>
      rangesOver.size === 0 || innerTypes(dependencies.partsOf(expression), this.#names, events).size === 0;
    const slotOf = (name: string): number => scope.slot(name) ?? 0;
    const variables = declarations.map((declared): BodyVariable => {
      const within = declared.within === null ? null : this.#expression(declared.within, scope);
      return {
        name: declared.variable.name,
        slot: slotOf(declared.variable.name),
        type: rangeType(declared.type.name, within !== null),
        within,
        locateWithin: declared.within === null ? null : this.#locators.lazy(declared.within, scope),
        isStable: declared.within === null || isStable(declared.within),
        domain: null,
        needs: declared.within === null ? new Set() : dependencies.of(declared.within),
        span: { start: declared.start, end: declared.end },
      };
    });
    const steps: Step[] = assignments
      .map((assigned) => ({ assigned, order: dependencies.rank(assigned.variable.name) }))
      .sort((a, b) => a.order - b.order)
      .map(({ assigned }) => ({
        slot: slotOf(assigned.variable.name),
        locate: scope.locator(assigned.variable.name),
        evaluate: this.#expression(assigned.value, scope),
        needs: dependencies.of(assigned.value),
        ...RELATES_NOTHING,
        isStable: isStable(assigned.value),
        span: { start: assigned.value.start, end: assigned.value.end },
        tree: assigned.value,
      }));
    const isLocal = (name: string): boolean => scope.slot(name) !== null;
    for (const line of lines) {
      if (line.kind === 'declaration' || line.kind === 'assignment') continue;
      const needed = dependencies.of(line);
      const about = declarations[[...needed][0] ?? -1];
      const next = orderOf(line, '~>', names);
      steps.push({
        slot: null,
        locate: NOWHERE,
        evaluate: this.#condition(line, scope),
        needs: needed,
        flow: orderOf(line, '->', names),
        earlier: orderOf(line, 'before', names),
        next,
        join: next === null ? this.#joinOf(line, dependencies, scope) : neighbours(next, variables),
        tools: about === undefined ? null : toolsOfLine(line, about, isLocal, this.#names),
        required: literalsOf(line, needed.size === 1 ? about : undefined, declarations, isLocal, {
          names: this.#names,
          patterns: this.#cache,
        }),
        some: this.#counted.get(line) ?? null,
        isStable: isStable(line),
        span: { start: line.start, end: line.end },
        tree: line,
      });
    }
    return { body: { variables, steps, counted: null }, scope, dependencies, rangesOver };
  }

  /** The body of a predicate or quantifier: its variables range over domains, filtered by what needs nothing else. */
  #innerBody(
    lines: readonly Expression[],
    layout: Layout,
    outer: Scope | null,
    parameters: readonly string[],
    isForAll: boolean,
  ): { body: Body; scope: Scope } {
    const { body, scope } = this.#body(lines, layout, outer, parameters);
    const own = new Set(body.variables.map(({ name }) => name));
    const isClosed = (tree: Expression): boolean =>
      [...freeNames(tree)].every((name) => own.has(name) || scope.slot(name) === null);
    const variables = body.variables.map((variable, index): BodyVariable => {
      if (variable.within !== null) return variable;
      const filter = body.steps.filter(
        (step) =>
          step.slot === null &&
          step.needs.size === 1 &&
          step.needs.has(index) &&
          step.isStable &&
          isClosed(step.tree),
      );
      const { type, slot } = variable;
      // A line that refutes is what `forall` looks for, so it filters nothing.
      return {
        ...variable,
        domain: isForAll
          ? this.#domain({ type, slot, filter: [], keys: [], before: [] })
          : this.#domain({
              type,
              slot,
              filter,
              keys: this.#keysOf(variable, lines, scope),
              before: laterOnes(variable, lines, scope),
            }),
      };
    });
    const filtered = variables.length === 1 ? (variables[0]?.domain ?? null) : null;
    const isCounted =
      filtered !== null &&
      body.steps.every((step) => filtered.filter.includes(step)) &&
      !body.steps.some((step) => mayHighlight(step.tree));
    return { body: { ...body, variables, counted: isCounted ? filtered : null }, scope };
  }

  /** Lines that compare a part of the variable alone with what is known before it is bound. */
  #keysOf(variable: BodyVariable, lines: readonly Expression[], scope: Scope): readonly DomainKey[] {
    const { names: inner } = variablesOf(lines);
    const known = (side: Expression): boolean => ![...freeNames(side)].some((name) => inner.has(name));
    const own = (side: Expression): boolean => {
      const names = [...freeNames(side)];
      return (
        names.includes(variable.name) &&
        names.every((name) => name === variable.name || scope.slot(name) === null)
      );
    };
    return lines.flatMap((line): DomainKey[] => {
      if (line.kind !== 'binary' || line.operator !== '==') return [];
      const [left, right] = own(line.left) ? [line.left, line.right] : [line.right, line.left];
      if (!own(left) || !known(right) || innerTypes([left, right], this.#names, NO_NAMES).size > 0) return [];
      return [{ own: this.#expression(left, scope), other: this.#expression(right, scope) }];
    });
  }

  #domain(domain: Domain): Domain {
    this.#domains.push(domain);
    return domain;
  }

  /** `==` between a part of one variable and a part of another. */
  #joinOf(line: Expression, dependencies: VariableDependencies, scope: Scope): Step['join'] {
    if (line.kind !== 'binary' || line.operator !== '==') return null;
    const side = (expression: Expression): JoinSide | null => {
      const [variable, ...others] = dependencies.of(expression);
      const isOne = variable !== undefined && others.length === 0;
      const isStable = innerTypes(dependencies.partsOf(expression), this.#names, NO_NAMES).size === 0;
      return isOne && isStable ? { variable, evaluate: this.#expression(expression, scope) } : null;
    };
    const [left, right] = [side(line.left), side(line.right)];
    if (left === null || right === null || left.variable === right.variable) return null;
    return { sides: [left, right] };
  }

  /** A declaration or a name for a value stands for it inside a larger expression, and is true as a condition. */
  #condition(expression: Expression, scope: Scope): Evaluate {
    if (expression.kind === 'declaration') return () => true;
    if (expression.kind === 'assignment') {
      const evaluate = this.#expression(expression, scope);
      return (frame) => {
        const value = evaluate(frame);
        return isUndecided(value) ? value : true;
      };
    }
    if (expression.kind === 'logic') return this.#logic(expression, scope);
    return this.#expression(expression, scope);
  }

  #logic(expression: Extract<Expression, { kind: 'logic' }>, scope: Scope): Evaluate {
    const left = this.#condition(expression.left, scope);
    const right = this.#condition(expression.right, scope);
    return logic(expression.operator, left, right, mayHighlight(expression.right));
  }

  /** `a in b`: where both are texts, the places in `b` are what the rule is about (specification 11). */
  #membership(expression: Extract<Expression, { kind: 'binary' }>, scope: Scope): Evaluate {
    const left = this.#expression(expression.left, scope);
    const right = this.#expression(expression.right, scope);
    const locate = this.#locators.lazy(expression.right, scope);
    return (frame) =>
      both(left(frame), right(frame), (item, text) => {
        const result = applyBinary('in', item, text);
        if (typeof text === 'string' && result !== false) this.#highlightText(frame, item, text, locate);
        return result;
      });
  }

  #highlightText(frame: Frame, item: Value, text: string, locate: Locate): void {
    const located = frame.context.explains ? locate(frame) : null;
    if (located === null || 'items' in located) return;
    for (const needle of isList(item) ? item : [item]) {
      if (typeof needle !== 'string' || !text.includes(needle)) continue;
      const spans = (): readonly Span[] => occurrencesOf(needle, text, this.#cache);
      frame.context.trail.push({ kind: 'range', event: located.event, path: located.path, text, spans });
    }
  }

  // ── expressions ───────────────────────────────────────────────────────────────────────────────────────────

  #expression(expression: Expression, scope: Scope): Evaluate {
    const evaluate = this.#unclaimed(expression, scope);
    const isLeaf =
      expression.kind === 'literal' || expression.kind === 'name' || expression.kind === 'declaration';
    return isLeaf ? evaluate : (frame) => claim(evaluate(frame), expression);
  }

  #unclaimed(expression: Expression, scope: Scope): Evaluate {
    switch (expression.kind) {
      case 'literal': {
        const { value } = expression;
        return () => value;
      }
      case 'format': {
        const parts = expression.parts.map((part) =>
          typeof part === 'string' ? () => part : this.#expression(part, scope),
        );
        return (frame) => {
          const values = parts.map((part) => part(frame));
          return firstUndecided(values) ?? joined(values);
        };
      }
      case 'name':
        return this.#name(expression.name, scope);
      case 'declaration': {
        const slot = scope.slot(expression.variable.name) ?? 0;
        return (frame) => frame.slots[slot] ?? null;
      }
      case 'member':
        return this.#member(expression.object, expression.name.name, scope);
      case 'index': {
        const object = this.#expression(expression.object, scope);
        const index = this.#expression(expression.index, scope);
        return (frame) => both(object(frame), index(frame), elementOf);
      }
      case 'call':
        return this.#call(expression, scope);
      case 'binary': {
        const { operator } = expression;
        if (operator === 'in') return this.#membership(expression, scope);
        const left = this.#expression(expression.left, scope);
        const right = this.#expression(expression.right, scope);
        return (frame) => both(left(frame), right(frame), (a, b) => applyBinary(operator, a, b));
      }
      case 'logic':
        return this.#logic(expression, scope);
      case 'unary': {
        const { operator } = expression;
        const operand = this.#expression(expression.operand, scope);
        return (frame) => {
          const value = wholly(operand(frame));
          return isUndecided(value) ? value : applyUnary(operator, value);
        };
      }
      case 'ternary': {
        const condition = this.#expression(expression.condition, scope);
        const then = this.#expression(expression.then, scope);
        const otherwise = this.#expression(expression.otherwise, scope);
        return (frame) => {
          const value = wholly(condition(frame));
          return isUndecided(value) ? value : truth(value) ? then(frame) : otherwise(frame);
        };
      }
      case 'list': {
        const items = expression.items.map((item) => this.#expression(item, scope));
        return (frame) => items.map((item) => wholly(item(frame)));
      }
      case 'object': {
        const entries = expression.entries.map((entry) => ({
          key: entry.key,
          value: this.#expression(entry.value, scope),
        }));
        return (frame) => dictionary(entries.map((entry) => [entry.key, entry.value(frame)]));
      }
      case 'comprehension':
        return this.#comprehension(expression, scope);
      case 'tool-pattern':
        return this.#toolPattern(expression.tool.name, expression.arguments, scope);
      case 'quantifier':
        return this.#quantifier(expression, scope);
      case 'assignment':
        return this.#expression(expression.value, scope);
      case 'invalid':
        return () => undecided('the line could not be read');
    }
  }

  #name(name: string, scope: Scope): Evaluate {
    const slot = scope.slot(name);
    if (slot !== null) return (frame) => frame.slots[slot] ?? null;
    const named = this.#names.resolve(name);
    if (named === null) return () => undecided(`nothing is named \`${name}\``);
    return this.#named(named);
  }

  #named(named: Named): Evaluate {
    switch (named.kind) {
      case 'input':
        return (frame) => frame.context.input;
      case 'builtin': {
        const run = new Callable(named.name, (positional, values, mark) =>
          runBuiltin(named.name, this.#cache, positional, values, mark),
        );
        return () => run;
      }
      case 'detector': {
        const detector =
          this.#detectors.get(named.name)?.callable ??
          undecided(`the detector \`${named.name}\` is not available`);
        return () => detector;
      }
      case 'definition':
        return this.#definition(named.definition);
      case 'value':
        return () => named.value;
      case 'type':
      case 'module':
      case 'quantifier':
        return () => undecided('a name that has no value');
    }
  }

  #definition(definition: Definition): Evaluate {
    if (definition.parameters === null) return this.#constant(definition);
    const predicate = this.#predicate(definition);
    return (frame) =>
      new Callable(definition.name.name, (positional) =>
        this.#callPredicate(predicate(), positional, frame, null),
      );
  }

  /** Computed anew at each use, in a separate frame. */
  #constant(definition: Definition): Evaluate {
    let constant = this.#constants.get(definition);
    if (constant === null) return () => undecided(`the constant \`${definition.name.name}\` needs itself`);
    if (constant === undefined) {
      this.#constants.set(definition, null);
      const own: Layout = { next: 0 };
      const first = definition.body[0];
      const evaluate = first === undefined ? () => null : this.#expression(first, new Scope([], own, null));
      constant = { evaluate, slots: own.next };
      this.#constants.set(definition, constant);
    }
    const { evaluate, slots } = constant;
    return (frame) =>
      evaluate({
        slots: new Array(slots),
        bindings: [],
        context: frame.context,
        site: null,
        depth: frame.depth,
      });
  }

  /** Compiled once, when first met; a function because a predicate may call itself. */
  #predicate(definition: Definition): () => CompiledPredicate | null {
    const known = this.#predicates.get(definition);
    if (known !== undefined) return () => known.compiled;
    const layout: Layout = { next: 0 };
    const holder: { compiled: CompiledPredicate | null } = { compiled: null };
    this.#predicates.set(definition, holder);
    const names = (definition.parameters ?? []).map((parameter) => parameter.name);
    const { body, scope } = this.#innerBody(definition.body, layout, null, names, false);
    holder.compiled = {
      name: definition.name.name,
      body,
      plan: planSearch(body, declaredOrder(body), () => false, 'one'),
      parameters: names.map((name) => scope.slot(name) ?? 0),
      slots: layout.next,
    };
    return () => holder.compiled;
  }

  #callPredicate(
    predicate: CompiledPredicate | null,
    positional: readonly Value[],
    frame: Frame,
    site: CallSite | null,
  ): Value {
    if (predicate === null || frame.depth >= MAX_DEPTH)
      return undecided('predicates call each other too deeply');
    if (positional.length < predicate.parameters.length)
      return undecided('the predicate was called with too few arguments');
    const slots: Value[] = new Array(predicate.slots);
    for (const [index, slot] of predicate.parameters.entries()) slots[slot] = positional[index] ?? null;
    const inner = { slots, bindings: [], context: frame.context, site, depth: frame.depth + 1 };
    return holds(predicate.body, predicate.plan, inner, predicate.name);
  }

  #member(object: Expression, name: string, scope: Scope): Evaluate {
    const imported = this.#moduleMember(object, name, scope);
    if (imported !== null) return imported;
    const evaluate = this.#expression(object, scope);
    return (frame) => {
      const value = evaluate(frame);
      return isUndecided(value) ? value : memberOf(value, name);
    };
  }

  #moduleMember(object: Expression, name: string, scope: Scope): Evaluate | null {
    if (object.kind !== 'name' || scope.slot(object.name) !== null) return null;
    const named = this.#names.resolve(object.name);
    if (named === null || named.kind !== 'module') return null;
    const imported = importedName(named.module, name, isTypeName);
    return imported === null
      ? () => undecided(`\`${named.module}\` has no \`${name}\``)
      : this.#named(imported);
  }

  #call(call: Call, scope: Scope): Evaluate {
    const found = this.#foundIn(call, scope);
    if (found !== null) return found;
    const origin = this.#originCall(call, scope);
    if (origin !== null) return origin;
    const callee = this.#expression(call.callee, scope);
    const positional = call.positional.map((argument) => this.#expression(argument, scope));
    const locate = call.positional.map((argument) => this.#locators.lazy(argument, scope));
    const anchors = call.positional.map((argument) => anchorOf(argument, scope));
    const named = call.named.map((argument) => ({
      name: argument.name.name,
      value: this.#expression(argument.value, scope),
    }));
    const predicate = this.#predicateNamed(call, scope);
    // One element can decide these, whatever the others are.
    const isLenient =
      call.callee.kind === 'name' && (call.callee.name === 'any' || call.callee.name === 'all');
    const marks = positional.length > 0;
    return (frame) => {
      const target = predicate === null ? callee(frame) : null;
      if (target !== null && isUndecided(target)) return target;
      const values = positional.map((argument) => argument(frame));
      const open = isLenient ? (values.find(isUndecided) ?? null) : firstUndecided(values);
      if (open !== null) return open;
      // Called by its own name, a predicate knows where its arguments stand.
      if (predicate !== null)
        return this.#callPredicate(predicate(), values, frame, { frame, locate, anchors });
      if (!(target instanceof Callable)) return undecided(`${kindOf(target)} cannot be called`);
      const options = named.length === 0 ? NO_OPTIONS : new Map<string, Value>();
      for (const argument of named) {
        const value = wholly(argument.value(frame));
        if (isUndecided(value)) return value;
        options.set(argument.name, value);
      }
      return target.call(values, options, marks ? highlighter(values, locate, frame) : unmarked);
    };
  }

  /** `any(find(pattern, text))`, without the list of what was found: most rules about contents are such a line. */
  #foundIn(call: Call, scope: Scope): Evaluate | null {
    const inner = this.#isBuiltin(call, 'any', 1, scope) ? call.positional[0] : undefined;
    if (inner?.kind !== 'call' || !this.#isBuiltin(inner, 'find', 2, scope)) return null;
    const [pattern, text] = inner.positional.map((argument) => this.#expression(argument, scope));
    const [, subject] = inner.positional;
    if (pattern === undefined || text === undefined || subject === undefined) return null;
    const locate = this.#locators.lazy(subject, scope);
    return (frame) => {
      const [wanted, given] = [pattern(frame), text(frame)];
      const open = undecidedIn(wanted) ?? undecidedIn(given);
      const matches = open ?? matchesIn(this.#cache, wanted, given);
      if (!('length' in matches)) return claim(matches, inner);
      if (matches.length === 0) return false;
      const located = frame.context.explains ? locate(frame) : null;
      if (typeof given === 'string' && located !== null && !('items' in located)) {
        const { event, path } = located;
        frame.context.trail.push({ kind: 'range', event, path, text: given, spans: () => matches });
      }
      return matches.some(({ start, end }) => end > start);
    };
  }

  #isBuiltin(call: Call, name: string, count: number, scope: Scope): boolean {
    return callsBuiltin(call, name, count, (one) => scope.slot(one) !== null, this.#names);
  }

  /** `origin(…)` and `from_user(…)`: about the value, and what was visible where the event arose that it was read from. */
  #originCall(call: Call, scope: Scope): Evaluate | null {
    if (call.callee.kind !== 'name' || scope.slot(call.callee.name) !== null) return null;
    const named = this.#names.resolve(call.callee.name);
    const [argument] = call.positional;
    if (named?.kind !== 'builtin' || !ORIGIN_FUNCTIONS.has(named.name) || argument === undefined) return null;
    const evaluate = this.#expression(argument, scope);
    const anchor = anchorOf(argument, scope);
    const asksUser = named.name === 'from_user';
    return (frame) => {
      const value = wholly(evaluate(frame));
      if (isUndecided(value)) return value;
      const event = anchor(frame);
      const { origins, trail, explains } = frame.context;
      if (event === null || origins === null) return undecided(NOT_READ);
      const answer = asksUser ? origins.areFromUser(value, event) : origins.of(value, event);
      if (isUndecided(answer)) return answer;
      if (!explains) return answer;
      const found = (): readonly OriginEvidence[] => {
        const sources = origins.of(value, event);
        return isUndecided(sources) ? [] : sources;
      };
      trail.push({ kind: 'origin', found });
      return answer;
    };
  }

  #predicateNamed(call: Call, scope: Scope): (() => CompiledPredicate | null) | null {
    if (call.callee.kind === 'name' && scope.slot(call.callee.name) !== null) return null;
    const definition = calledPredicate(call, this.#names);
    return definition === null ? null : this.#predicate(definition);
  }

  #comprehension(expression: Extract<Expression, { kind: 'comprehension' }>, scope: Scope): Evaluate {
    const iterable = this.#expression(expression.iterable, scope);
    const inner = new Scope([expression.variable.name], scope.layout, scope);
    const slot = inner.slot(expression.variable.name) ?? 0;
    const position = scope.layout.next++;
    const locateIterable = this.#locators.lazy(expression.iterable, scope);
    const locate: Locate = (frame) => {
      const item = frame.slots[slot] ?? null;
      if (item instanceof EventObject) return { event: item, path: [] };
      const index = frame.slots[position];
      return typeof index === 'number' ? partOf(locateIterable(frame), index) : null;
    };
    inner.place(expression.variable.name, locate, anchorOf(expression.iterable, scope));
    const element = this.#expression(expression.element, inner);
    const condition = expression.condition === null ? null : this.#expression(expression.condition, inner);
    return (frame) => {
      const value = iterable(frame);
      if (value === null) return [];
      if (isUndecided(value)) return value;
      const items = elements(value);
      if (items === null) return undecided(`${kindOf(value)} has no elements`);
      // The characters of a text and the keys of an object are no parts of the trace.
      const hasParts = isList(value) || isContents(value);
      const kept: Value[] = [];
      for (const [index, item] of items.entries()) {
        if (isUndecided(item)) {
          kept.push(item);
          continue;
        }
        frame.slots[slot] = item;
        frame.slots[position] = hasParts ? index : null;
        const isKept = condition === null ? true : condition(frame);
        if (isUndecided(isKept)) kept.push(isKept);
        else if (isKept === true) kept.push(wholly(element(frame)));
      }
      return kept;
    };
  }

  #toolPattern(tool: string, pattern: Pattern | null, scope: Scope): Evaluate {
    if (pattern === null) {
      const fixed = new ToolPatternValue(toolMatcher(tool, null, this.#patterns));
      return () => fixed;
    }
    const computed = this.#pattern(pattern, scope);
    return (frame) => new ToolPatternValue(toolMatcher(tool, computed(frame), this.#patterns));
  }

  #pattern(pattern: Pattern, scope: Scope): (frame: Frame) => ComputedPattern {
    switch (pattern.kind) {
      case 'any':
        return () => ({ kind: 'any' });
      case 'value-reference': {
        const { name } = pattern;
        return () => ({ kind: 'value-reference', name });
      }
      case 'object': {
        const entries = pattern.entries.map((entry) => ({
          key: entry.key,
          of: this.#pattern(entry.pattern, scope),
        }));
        return (frame) => ({
          kind: 'object',
          entries: entries.map((entry) => ({ key: entry.key, pattern: entry.of(frame) })),
        });
      }
      case 'list': {
        const items = pattern.items.map((item) => this.#pattern(item, scope));
        return (frame) => ({ kind: 'list', items: items.map((item) => item(frame)) });
      }
      case 'value': {
        const value = this.#expression(pattern.value, scope);
        return (frame) => ({ kind: 'value', value: wholly(value(frame)) });
      }
    }
  }

  #quantifier(expression: Extract<Expression, { kind: 'quantifier' }>, scope: Scope): Evaluate {
    const isForAll = quantifierOf(expression.callee.name, this.#names) === 'forall';
    const { body } = this.#innerBody(expression.body, scope.layout, scope, [], isForAll);
    const plan = planSearch(body);
    if (isForAll) return (frame) => holdsForAll(body, plan, frame);
    const argument = (name: string, position: number): Evaluate => {
      const found =
        expression.named.find((candidate) => candidate.name.name === name)?.value ??
        expression.positional[position];
      return found === undefined ? () => null : this.#expression(found, scope);
    };
    const min = argument('min', 0);
    const max = argument('max', 1);
    if (needsOne(expression)) this.#counted.set(expression, body);
    // A later event may add to what a line of a rule counts, and that is something new, whatever the limits.
    const { events } = scope.layout;
    const isTotalNeeded = events !== undefined && innerTypes([expression], this.#names, events).size > 0;
    return (frame) => {
      const [least, most] = [min(frame), max(frame)];
      const open = [least, most].find(isUndecided);
      if (open !== undefined) return open;
      if ((least !== null && typeof least !== 'number') || (most !== null && typeof most !== 'number')) {
        return undecided('`count` takes numbers');
      }
      return counts(body, plan, frame, { min: least, max: most }, isTotalNeeded);
    };
  }

  // ── what a rule says ──────────────────────────────────────────────────────────────────────────────────────

  #staticMessage(expression: Expression): string | null {
    switch (expression.kind) {
      case 'literal':
        return typeof expression.value === 'string' ? expression.value : null;
      case 'format':
        return expression.parts.map((part) => (typeof part === 'string' ? part : '…')).join('');
      case 'call':
        return expression.positional[0] === undefined ? null : this.#staticMessage(expression.positional[0]);
      case 'name': {
        const first = this.#names.constant(expression.name);
        return first?.kind === 'literal' || first?.kind === 'format' ? this.#staticMessage(first) : null;
      }
      default:
        return null;
    }
  }
}

const NOT_READ = '`origin` takes a value that was read from an event of the rule';

/** Whether some line of the policy asks where a value came from. */
function asksForOrigin(tree: PolicyTree, names: Names): boolean {
  const lines = [...tree.rules, ...tree.definitions].flatMap(({ body }) => body);
  let isAsked = false;
  for (const line of [...lines, ...tree.rules.map(({ message }) => message)]) {
    walk(line, (part) => {
      const named = part.kind === 'name' ? names.resolve(part.name) : null;
      isAsked ||= named?.kind === 'builtin' && ORIGIN_FUNCTIONS.has(named.name);
    });
  }
  return isAsked;
}

/** The newest of the events that the names in an expression stand for or were read from. */
function anchorOf(expression: Expression, scope: Scope): Anchor {
  const names = [...freeNames(expression)].filter((name) => scope.slot(name) !== null);
  let anchors: readonly Anchor[] | null = null;
  return (frame) => {
    anchors ??= names.map((name) => scope.anchor(name));
    let newest: EventObject | null = null;
    for (const anchor of anchors) {
      const event = anchor(frame);
      if (event !== null && (newest === null || event.sequence > newest.sequence)) newest = event;
    }
    return newest;
  };
}

/**
 * The events outside of a body that come behind a variable by its flows and orders, directly or over other variables. These
 * are events whatever they are bound to. A name for a value may be none, and then the line is undecided.
 */
function laterOnes(variable: BodyVariable, lines: readonly Expression[], scope: Scope): readonly Later[] {
  if (OBJECT_TYPES.get(variable.type)?.isEvent !== true) return [];
  const { names: inner } = variablesOf(lines);
  const events = eventVariables(lines);
  const found: Later[] = [];
  for (const hasSeen of [true, false]) {
    const reached = new Set([variable.name]);
    for (const name of reached) {
      for (const line of lines) {
        if (line.kind !== 'binary' || variableName(line.left) !== name) continue;
        if (line.operator !== '->' && (hasSeen || line.operator !== 'before')) continue;
        const later = variableName(line.right);
        if (later === null) continue;
        const slot = inner.has(later) ? null : scope.slot(later);
        if (slot === null) {
          if (events.has(later)) reached.add(later);
        } else if (!found.some((one) => one.slot === slot)) found.push({ slot, hasSeen });
      }
    }
  }
  return found;
}

/** For `(f: File) in …`: a type that nothing has stands for any object (paper, 4.2). */
function rangeType(type: string, isWithin: boolean): string {
  return isWithin && !isTypeName(type) ? 'dict' : type;
}

/** `count(min=1)` and more, where nothing else can be undecided about it. */
function needsOne({ positional, named }: Extract<Expression, { kind: 'quantifier' }>): boolean {
  const [min, ...others] = [...positional, ...named.map(({ value }) => value)];
  const isMin = positional.length > 0 || named[0]?.name.name === 'min';
  const isNumber = min?.kind === 'literal' && typeof min.value === 'number' && min.value >= 1;
  return isMin && isNumber && others.length === 0;
}

function unmarked(): void {}

const NO_OPTIONS = new Map<string, Value>();

/** Decided as soon as one side decides, whatever the other is; a true `or` still collects the evidence of both. */
function logic(operator: 'and' | 'or', left: Evaluate, right: Evaluate, isMarking: boolean): Evaluate {
  const decisive = operator === 'or';
  return (frame) => {
    const a = wholly(left(frame));
    if (a === decisive) {
      if (decisive && isMarking && frame.context.explains) right(frame);
      return decisive;
    }
    const b = wholly(right(frame));
    if (b === decisive) return decisive;
    if (isUndecided(a)) return a;
    if (isUndecided(b)) return b;
    return truth(a) === decisive ? a : b;
  };
}

function both(a: Value, b: Value, apply: (a: Value, b: Value) => Value): Value {
  return undecidedIn(a) ?? undecidedIn(b) ?? apply(a, b);
}

function firstUndecided(values: readonly Value[]): Undecided | null {
  for (const value of values) {
    const open = undecidedIn(value);
    if (open !== null) return open;
  }
  return null;
}

function dictionary(entries: readonly (readonly [string, Value])[]): Value {
  return firstUndecided(entries.map(([, value]) => value)) ?? Object.fromEntries(entries);
}

/** An undecided value belongs to the innermost expression that made it. */
function claim(value: Value, span: Span): Value {
  return isUndecided(value) && value.span === null ? claimedBy(value, span) : value;
}

function claimedBy(value: Undecided, span: Span): Value {
  return undecided(value.reason, { start: span.start, end: span.end }, value.awaits);
}

/** A message for each of its parts that may be undecided. */
function messageParts(message: Expression, names: Names): readonly Expression[] {
  if (message.kind === 'name' || message.kind === 'literal') return [];
  if (message.kind === 'format') {
    return message.parts.flatMap((part) =>
      typeof part === 'string' ? [] : messageParts(part, names).map((one) => ({ ...message, parts: [one] })),
    );
  }
  if (message.kind !== 'call' || !isViolation(message, names)) return [message];
  const { positional, named } = message;
  return [
    ...positional.flatMap((argument) =>
      messageParts(argument, names).map((one) => ({ ...message, positional: [one], named: [] })),
    ),
    ...named.flatMap((argument) =>
      messageParts(argument.value, names).map((value) => ({
        ...message,
        positional: [],
        named: [{ ...argument, value }],
      })),
    ),
  ];
}

/** Where two events of one context stand, so that the first is directly before the second, as a join. */
function neighbours({ from, to }: Order, variables: readonly BodyVariable[]): Step['join'] {
  const side = (variable: number, ahead: number): JoinSide => ({
    variable,
    evaluate: (frame) => {
      const value = frame.slots[variables[variable]?.slot ?? -1] ?? null;
      if (!(value instanceof EventObject)) return undecided('only events follow each other');
      return `${value.place.position + ahead} ${value.place.context}`;
    },
  });
  return { sides: [side(from, 1), side(to, 0)] };
}

function isViolation({ callee }: Call, names: Names): boolean {
  const named = callee.kind === 'name' ? names.resolve(callee.name) : null;
  return named?.kind === 'builtin' && (named.name === 'Violation' || named.name === 'PolicyViolation');
}
