/**
 * Names, types, arity and patterns of a tree, before anything is evaluated: what cannot work is an error, what
 * works otherwise than its author probably thinks is a warning.
 */
import {
  childrenOf,
  type Definition,
  type Expression,
  type Identifier,
  type Parameter,
  type Pattern,
  type PolicyTree,
  patternValues,
  type RuleTree,
  type ToolPattern,
} from '../syntax/ast.ts';
import type { Diagnostics } from '../syntax/codes.ts';
import type { Span } from '../syntax/source.ts';
import {
  BUILTINS,
  DETECTOR_RESULTS,
  type Detectors,
  importedName,
  isModule,
  REGISTERED,
} from '../values/builtins.ts';
import { METHODS } from '../values/methods.ts';
import { detectorOf, VALUE_REFERENCES } from '../values/pattern.ts';
import type { PatternCache } from '../values/pattern-cache.ts';
import {
  ADDED_FIELDS,
  ANY,
  BOOL,
  canBe,
  DICT,
  declaredType,
  FUNCTION,
  INT,
  isTypeName,
  LIST,
  listOf,
  NUMBER,
  nearest,
  OBJECT_TYPES,
  STR,
  type Type,
  typeOf,
  union,
  withArticle,
} from '../values/types.ts';
import { freeNames, inCircles, type Named, Names, variablesOf } from './scope.ts';

export interface CheckOptions {
  readonly dialect: 'cordon' | 'invariant';
  readonly detectors: Detectors;
  /** Gets the regular expressions that are looked at. */
  readonly patterns: PatternCache;
  /** Told of everything that the seed language does not have, whatever the dialect. */
  readonly onAddition?: (at: Span) => void;
}

/** What is known of the value of each expression. */
export type Types = ReadonlyMap<Expression, Type>;

/** Reports everything that is wrong with `tree`; returns what its expressions can be, for whoever looks closer. */
export function checkTypes(tree: PolicyTree, diagnostics: Diagnostics, options: CheckOptions): Types {
  const checker = new Checker(tree, diagnostics, options);
  checker.run();
  return checker.types;
}

type Variables = ReadonlyMap<string, Type>;
type Call = Extract<Expression, { kind: 'call' }>;

class Checker {
  readonly #tree: PolicyTree;
  readonly #names: Names;
  readonly #diagnostics: Diagnostics;
  readonly #options: CheckOptions;
  readonly types = new Map<Expression, Type>();
  /** Constants that have been looked at, or are being looked at. */
  readonly #constants = new Map<Definition, Type>();
  #constantDepth = 0;

  constructor(tree: PolicyTree, diagnostics: Diagnostics, options: CheckOptions) {
    this.#tree = tree;
    this.#names = new Names(tree);
    this.#diagnostics = diagnostics;
    this.#options = options;
  }

  run(): void {
    for (const imported of this.#tree.imports) this.#import(imported);
    this.#duplicates();
    this.#circles();
    for (const definition of this.#tree.definitions) {
      if (definition.parameters === null) this.#constant(definition);
      else this.#predicate(definition, definition.parameters);
    }
    for (const rule of this.#tree.rules) this.#rule(rule);
  }

  #import(imported: PolicyTree['imports'][number]): void {
    if (imported.name === null) {
      if (!isModule(imported.module)) this.#unknownModule(imported.module, imported);
      return;
    }
    const named = importedName(imported.module, imported.name, isTypeName);
    if (named === null) {
      if (!isModule(imported.module)) this.#unknownModule(imported.module, imported);
      else this.#diagnostics.error('POL015', imported, `\`${imported.module}\` has no \`${imported.name}\``);
      return;
    }
    if (imported.module === REGISTERED) this.#addition(imported, `the module \`${REGISTERED}\``);
    if (named.kind === 'detector') this.#detector(named.name, imported);
  }

  #detector(name: string, span: Span): void {
    if (this.#options.detectors.has(name)) return;
    this.#diagnostics.warning(
      'POL055',
      span,
      `the detector \`${name}\` is not available, so rules that need it are undecided`,
      'an undecided rule denies when it is enforced',
    );
  }

  /** Modules of the host are never reachable: a rule would have all the authority of the program. */
  #unknownModule(module: string, span: Span): void {
    this.#diagnostics.error(
      'POL015',
      span,
      `the module \`${module}\` does not exist`,
      `rules import from \`invariant\` and \`invariant.detectors\`; what the program registers, from \`${REGISTERED}\``,
    );
  }

  #duplicates(): void {
    const { definitions, rules } = this.#tree;
    for (const name of repeated(definitions.map(({ name }) => name)))
      this.#diagnostics.error('POL020', name, `\`${name.name}\` is defined twice`);
    for (const name of repeated(rules.flatMap(({ name }) => name ?? [])))
      this.#diagnostics.error('POL020', name, `two rules are named \`${name.name}\``);
  }

  /** Constants that need themselves have no value; a predicate may call itself. */
  #circles(): void {
    const constants = this.#tree.definitions.filter(({ parameters }) => parameters === null);
    const uses = new Map(
      constants.map(({ name, body }) => [name.name, new Set(body.flatMap((line) => [...freeNames(line)]))]),
    );
    if (![...uses.values()].some((used) => used.size > 0)) return;
    const circular = inCircles(uses);
    for (const { name } of constants) {
      if (circular.has(name.name)) {
        this.#diagnostics.error('POL023', name, `\`${name.name}\` is defined by itself`);
      }
    }
  }

  /** Looked at where it is first needed, so that its type is known there; in a circle anything is possible. */
  #constant(definition: Definition): Type {
    const known = this.#constants.get(definition);
    if (known !== undefined) return known;
    // A long chain of constants would exhaust the stack; its rest is looked at in its turn.
    if (this.#constantDepth >= MAX_CONSTANT_DEPTH) return ANY;
    this.#constants.set(definition, ANY);
    this.#constantDepth++;
    const types = definition.body.map((line) => this.#expression(line, NO_VARIABLES));
    this.#constantDepth--;
    // It would be None, and lines about it would never hold.
    for (const { variable } of variablesOf(definition.body).declarations) {
      this.#diagnostics.error(
        'POL006',
        variable,
        `a constant has no variables, so \`${shortened(variable.name)}\` would have no value`,
        `write a predicate: \`${shortened(definition.name.name)}() := …\``,
      );
    }
    const type = types[0] ?? ANY;
    this.#constants.set(definition, type);
    return type;
  }

  #predicate(definition: Definition, parameters: readonly Parameter[]): void {
    const types = new Map<string, Type>();
    for (const parameter of parameters) {
      if (types.has(parameter.name)) {
        this.#diagnostics.error('POL011', parameter, `the parameter \`${parameter.name}\` is declared twice`);
      }
      types.set(parameter.name, parameter.type === null ? ANY : declaredType(parameter.type));
      if (parameter.type === null) this.#addition(parameter, 'a parameter without a type');
    }
    this.#body(definition.body, types);
  }

  #rule(rule: RuleTree): void {
    if (rule.effect !== 'raise') this.#addition(rule, `\`${rule.effect}\``);
    if (rule.name !== null) this.#addition(rule.name, 'a rule with a name');
    if (rule.whenUndecided === 'allow') this.#addition(rule, '`(undecided: allow)`');
    if (rule.message.kind === 'member' || rule.message.kind === 'index')
      this.#addition(rule.message, 'a part of a value as the message');
    const variables = this.#body(rule.body, new Map());
    this.#expression(rule.message, variables);
    this.#unused(rule, variables);
  }

  #unused(rule: RuleTree, variables: Variables): void {
    const { declarations, assignments } = variablesOf(rule.body);
    const used = new Set<string>(freeNames(rule.message));
    for (const line of rule.body) {
      if (line.kind === 'declaration') {
        for (const name of line.within === null ? [] : freeNames(line.within)) used.add(name);
      } else for (const name of freeNames(line)) used.add(name);
    }
    for (const { variable } of [...declarations, ...assignments]) {
      const isOnly = declarations.length === 1 && assignments.length === 0;
      if (!used.has(variable.name) && variables.has(variable.name) && !isOnly) {
        this.#diagnostics.warning('POL056', variable, `nothing uses \`${variable.name}\``);
      }
    }
  }

  // ── bodies ────────────────────────────────────────────────────────────────────────────────────────────────

  #body(lines: readonly Expression[], outer: Variables): Variables {
    const variables = new Map(outer);
    const { declarations, assignments } = variablesOf(lines);
    const own = new Set<string>();
    for (const declared of [...declarations, ...assignments]) {
      const { name } = declared.variable;
      if (own.has(name) || outer.has(name)) {
        this.#diagnostics.error(
          'POL011',
          declared.variable,
          `\`${name}\` is declared twice`,
          'use another name',
        );
      }
      own.add(name);
      variables.set(
        name,
        'type' in declared ? this.#variableType(declared.type, declared.within !== null) : ANY,
      );
    }
    this.#unreadableVariables(lines, own, variables);
    this.#variableCircles(variablesOf(lines));
    // Assignments first, because other lines may use them from above.
    for (const line of lines) {
      if (line.kind === 'assignment') {
        variables.set(line.variable.name, this.#expression(line.value, variables));
      }
    }
    for (const line of lines) {
      if (line.kind === 'assignment') continue;
      const type = this.#expression(line, variables);
      if (line.kind !== 'declaration' && !canBe(type, 'bool')) this.#neverBoolean(line, type);
    }
    return variables;
  }

  /** What lines that could not be read seem to declare, or use without a declaration that could be read. */
  #unreadableVariables(
    lines: readonly Expression[],
    own: ReadonlySet<string>,
    variables: Map<string, Type>,
  ): void {
    for (const line of lines) {
      if (line.kind !== 'invalid') continue;
      for (const { name, type } of line.declared) {
        if (!own.has(name)) variables.set(name, type !== null && isTypeName(type) ? declaredType(type) : ANY);
      }
      for (const name of line.mentioned) {
        if (!variables.has(name) && this.#names.resolve(name) === null) variables.set(name, ANY);
      }
    }
  }

  #neverBoolean(line: Expression, type: Type): void {
    this.#diagnostics.warning(
      'POL050',
      line,
      `this line is ${withArticle(type)}, and only a line that is true holds`,
      canBe(type, 'function') ? 'call it with its arguments' : 'compare it, or use `any(…)` or `len(…) > 0`',
    );
  }

  /** A variable that ranges over what it is needed for could be bound to nothing: the rule would never fire. */
  #variableCircles({ declarations, assignments }: ReturnType<typeof variablesOf>): void {
    const within = declarations.flatMap(({ variable, within }) =>
      within === null ? [] : [{ variable, value: within }],
    );
    const derived = [...assignments, ...within];
    if (derived.length === 0) return;
    const circular = inCircles(
      new Map(derived.map(({ variable, value }) => [variable.name, freeNames(value)])),
    );
    for (const { variable } of derived) {
      if (circular.has(variable.name)) {
        this.#diagnostics.error('POL023', variable, `\`${variable.name}\` is defined by itself`);
      }
    }
  }

  #variableType(type: Identifier, isWithin: boolean): Type {
    if (isTypeName(type.name)) {
      if (OBJECT_TYPES.get(type.name)?.isAddition === true) this.#addition(type, `the type \`${type.name}\``);
      if (!isWithin && type.name === 'list') {
        this.#diagnostics.error('POL012', type, 'a variable cannot range over the lists of a trace');
      }
      return declaredType(type.name);
    }
    const isImported = this.#names.resolve(type.name)?.kind === 'type';
    if (isWithin && (isImported || /^[A-Z]/.test(type.name))) {
      if (!isImported) this.#addition(type, `the type \`${type.name}\``);
      return declaredType('dict');
    }
    if (isImported) {
      this.#diagnostics.error(
        'POL012',
        type,
        `no object of a trace is a \`${type.name}\``,
        `name the value that holds it: \`(x: ${type.name}) in …\``,
      );
      return ANY;
    }
    const help = suggested(type.name, OBJECT_TYPES.keys());
    this.#diagnostics.error('POL012', type, `there is no type \`${type.name}\``, help);
    return ANY;
  }

  // ── expressions; the result is what is known of the value ─────────────────────────────────────────────────

  #expression(expression: Expression, variables: Variables): Type {
    const type = this.#typed(expression, variables);
    this.types.set(expression, type);
    return type;
  }

  #typed(expression: Expression, variables: Variables): Type {
    switch (expression.kind) {
      case 'literal':
        return literalType(expression.value);
      case 'name':
        return this.#name(expression.name, expression, variables);
      case 'member':
        return this.#member(expression, variables);
      case 'index': {
        const object = this.#expression(expression.object, variables);
        this.#expression(expression.index, variables);
        return elementType(object);
      }
      case 'call':
        return this.#call(expression, variables);
      case 'comprehension': {
        const items = this.#expression(expression.iterable, variables);
        const inner = new Map(variables).set(expression.variable.name, elementType(items));
        const element = this.#expression(expression.element, inner);
        if (expression.condition !== null) this.#expression(expression.condition, inner);
        this.#namedInLoop(expression);
        return listOf(element);
      }
      case 'quantifier':
        return this.#quantifier(expression, variables);
      case 'tool-pattern':
        this.#toolPattern(expression, variables);
        return TOOL_PATTERN;
      case 'binary':
        return this.#binary(expression, variables);
      case 'logic': {
        const left = this.#condition(expression.left, variables);
        return union(left, this.#condition(expression.right, variables));
      }
      case 'unary': {
        const operand = this.#expression(expression.operand, variables);
        if (expression.operator === 'not') return BOOL;
        return operand.kinds?.size === 1 && canBe(operand, 'int') ? INT : NUMBER;
      }
      case 'ternary': {
        this.#expression(expression.condition, variables);
        const then = this.#expression(expression.then, variables);
        return union(then, this.#expression(expression.otherwise, variables));
      }
      case 'list': {
        const items = expression.items.map((item) => this.#expression(item, variables));
        const [first, ...rest] = items;
        return first === undefined ? LIST : listOf(rest.reduce(union, first));
      }
      case 'object':
        for (const { value } of expression.entries) this.#expression(value, variables);
        return DICT;
      case 'declaration':
        if (expression.within !== null) this.#expression(expression.within, variables);
        return variables.get(expression.variable.name) ?? ANY;
      case 'format':
        if (this.#options.dialect === 'invariant') this.#formatAsWritten(expression);
        for (const child of childrenOf(expression)) this.#expression(child, variables);
        return STR;
      case 'assignment':
        return this.#expression(expression.value, variables);
      case 'invalid':
        return ANY;
    }
  }

  /** As a condition a declaration or a name for a value is true. */
  #condition(expression: Expression, variables: Variables): Type {
    const type = this.#expression(expression, variables);
    return expression.kind === 'declaration' || expression.kind === 'assignment' ? BOOL : type;
  }

  /** It would have another value for each element, and the rule knows one. */
  #namedInLoop(loop: Extract<Expression, { kind: 'comprehension' }>): void {
    const parts = loop.condition === null ? [loop.element] : [loop.element, loop.condition];
    for (const { variable } of variablesOf(parts).assignments) {
      this.#diagnostics.error(
        'POL006',
        variable,
        `\`${shortened(variable.name)}\` cannot be named inside of a list comprehension`,
        'name the value on a line of its own',
      );
    }
  }

  #name(name: string, span: Span, variables: Variables): Type {
    const variable = variables.get(name);
    if (variable !== undefined) return variable;
    const named = this.#names.resolve(name);
    if (named === null) {
      if (this.#tree.imports.some((imported) => imported.alias === name)) return ANY;
      if (this.#isLost(name)) return ANY;
      this.#diagnostics.error(
        'POL010',
        span,
        `nothing is named \`${shortened(name)}\``,
        this.#unknownName(name, variables),
      );
    } else if (named.kind === 'builtin' && BUILTINS.get(named.name)?.isAddition === true) {
      this.#addition(span, `\`${named.name}\``);
    } else if (named.kind === 'quantifier') {
      this.#diagnostics.error(
        'POL003',
        span,
        `\`${name}\` needs a block`,
        `write \`${name}:\` and lines below it`,
      );
    }
    return named === null ? ANY : this.#namedType(named);
  }

  /** Whether a statement that could not be read may have given the name. */
  #isLost(name: string): boolean {
    const { unreadable } = this.#tree;
    if (unreadable === undefined) return false;
    return unreadable.has(name) || (unreadable.has('import') && moduleOf(name) !== null);
  }

  #unknownName(name: string, variables: Variables): string | undefined {
    const foreign = FOREIGN_NAMES.get(name.toLowerCase());
    if (foreign !== undefined) return foreign;
    const module = moduleOf(name);
    if (module !== null) return `import it: \`from ${module} import ${name}\``;
    const known = [...variables.keys(), ...this.#names.known()];
    return suggested(name, known, `declare it, for example \`(${shortened(name)}: ToolCall)\``);
  }

  #namedType(named: Named): Type {
    switch (named.kind) {
      case 'definition':
        return named.definition.parameters === null ? this.#constant(named.definition) : FUNCTION;
      case 'builtin':
      case 'detector':
        return FUNCTION;
      case 'input':
        return INPUT;
      case 'value':
        return DICT;
      case 'module':
      case 'type':
      case 'quantifier':
        return ANY;
    }
  }

  #member(expression: Extract<Expression, { kind: 'member' }>, variables: Variables): Type {
    const { object, name } = expression;
    const module = this.#moduleNamed(object, variables);
    if (module === null) return this.#field(this.#expression(object, variables), name, object);
    // An unknown module was reported where it is imported.
    const named = importedName(module, name.name, isTypeName);
    if (named?.kind === 'detector') this.#detector(named.name, name);
    if (isModule(module) && named === null) {
      this.#diagnostics.error('POL015', name, `\`${module}\` has no \`${name.name}\``);
    }
    return ANY;
  }

  /** The module that an expression names; null: it is something else. */
  #moduleNamed(object: Expression, variables: Variables): string | null {
    if (object.kind !== 'name' || variables.has(object.name)) return null;
    const named = this.#names.resolve(object.name);
    return named?.kind === 'module' ? named.module : null;
  }

  /** An error only where no kind of the object has the field; a text or an object may have any. */
  #field(object: Type, name: Identifier, of: Expression): Type {
    const kinds = [...(object.kinds ?? [])];
    const types = kinds.flatMap((kind) => OBJECT_TYPES.get(kind) ?? []);
    if (types.length === 0 || types.length !== kinds.length) return ANY;
    const found = types.flatMap(({ fields }) => fields.get(name.name) ?? []);
    const [first, ...rest] = found;
    if (first === undefined) {
      const known = [...new Set(types.flatMap(({ fields }) => [...fields.keys()]))];
      const help = suggested(name.name, known, `it has ${known.map((one) => `\`${one}\``).join(', ')}`);
      this.#diagnostics.error('POL013', name, `${withArticle(object)} has no field \`${name.name}\``, help);
      return ANY;
    }
    if (kinds.some((kind) => ADDED_FIELDS.get(kind)?.has(name.name) === true)) {
      const owner = of.kind === 'name' ? shortened(of.name) : '…';
      const isShort = canBe(object, 'ToolCall') && (name.name === 'name' || name.name === 'arguments');
      const help = isShort ? `write \`${owner}.function.${name.name}\`` : undefined;
      this.#addition(name, `the field \`${name.name}\``, help);
    }
    return found.length === types.length ? rest.reduce(union, first) : ANY;
  }

  #call(call: Call, variables: Variables): Type {
    this.#expression(call.callee, variables);
    for (const argument of call.positional) this.#expression(argument, variables);
    for (const argument of call.named) this.#expression(argument.value, variables);
    const { callee } = call;
    if (callee.kind === 'member') return this.#calledMember(call, callee, variables);
    if (callee.kind !== 'name' || variables.has(callee.name)) return ANY;
    const named = this.#names.resolve(callee.name);
    return named === null ? ANY : this.#called(named, call, callee, variables);
  }

  /** Data holds no functions: what is called there is a method, or a function of a module. */
  #calledMember(call: Call, callee: Extract<Expression, { kind: 'member' }>, variables: Variables): Type {
    const { object, name } = callee;
    const module = this.#moduleNamed(object, variables);
    if (module === null) return METHODS.get(name.name)?.result ?? ANY;
    const named = importedName(module, name.name, isTypeName);
    if (named?.kind === 'builtin') return this.#calledBuiltin(named.name, call, variables);
    if (named?.kind === 'detector') this.#calledDetector(named.name, call, variables);
    return DETECTOR_RESULTS.get(name.name) ?? ANY;
  }

  #called(named: Named, call: Call, callee: Span & { readonly name: string }, variables: Variables): Type {
    switch (named.kind) {
      case 'builtin':
        return this.#calledBuiltin(named.name, call, variables);
      case 'definition': {
        const { parameters } = named.definition;
        if (parameters === null) return ANY;
        const given = call.positional.length;
        if (given !== parameters.length || call.named.length > 0) {
          const expected = parameters.length === 1 ? '1 argument' : `${parameters.length} arguments`;
          this.#diagnostics.error(
            'POL014',
            callee,
            `\`${callee.name}\` takes ${expected} without names, not ${given + call.named.length}`,
          );
        }
        return BOOL;
      }
      case 'type':
      case 'value':
      case 'input':
      case 'module':
        this.#diagnostics.error('POL016', callee, `\`${callee.name}\` is not a function`);
        return ANY;
      case 'detector':
        this.#calledDetector(named.name, call, variables);
        return DETECTOR_RESULTS.get(named.name) ?? ANY;
      case 'quantifier':
        return ANY;
    }
  }

  /** A detector that is given something else than it takes is undecided for ever: told here, it is mended before it denies. */
  #calledDetector(name: string, call: Call, variables: Variables): void {
    const { parameters, choices = {} } = this.#options.detectors.get(name) ?? {};
    if (parameters === undefined) return;
    if (call.positional.length + call.named.length > parameters.length)
      this.#diagnostics.error('POL014', call.callee, `\`${name}\` takes (${parameters.join(', ')})`);
    this.#argumentNames(name, call, parameters, `it takes (${parameters.join(', ')})`);
    const given = [
      ...call.positional.map((value, at): [string, Expression] => [parameters[at] ?? '', value]),
      ...call.named.map(({ name, value }): [string, Expression] => [name.name, value]),
    ];
    for (const [argument, value] of given) {
      const known = Object.hasOwn(choices, argument) ? choices[argument] : undefined;
      if (known === undefined) continue;
      for (const literal of this.#literals(value, variables))
        if (!known.has(literal.value)) this.#unknownChoice(name, argument, literal, known);
    }
  }

  #argumentNames(
    callee: string,
    { named }: Pick<Call, 'named'>,
    known: readonly string[],
    help?: string,
  ): void {
    for (const { name } of named) {
      if (known.includes(name.name)) continue;
      const message = `\`${callee}\` has no argument named \`${name.name}\``;
      this.#diagnostics.error('POL014', name, message, help);
    }
  }

  #unknownChoice(
    name: string,
    argument: string,
    literal: Span & { readonly value: string },
    known: ReadonlySet<string>,
  ): void {
    const suggestion = nearest(literal.value, known);
    this.#diagnostics.error(
      'POL025',
      literal,
      `\`${argument}\` of \`${name}\` cannot be ${JSON.stringify(shortened(literal.value))}`,
      suggestion === null ? `it can be ${[...known].sort().join(', ')}` : `did you mean "${suggestion}"?`,
    );
  }

  /** The texts that an expression is, or a list holds, where they are written here or in a constant of the policy. */
  #literals(expression: Expression, variables: Variables): readonly (Span & { readonly value: string })[] {
    const written = this.#constantBehind(expression, variables);
    const items = written.kind === 'list' ? written.items : [written];
    return items.flatMap((item) => this.#literal(item, variables) ?? []);
  }

  #constantBehind(expression: Expression, variables: Variables): Expression {
    if (expression.kind !== 'name' || variables.has(expression.name)) return expression;
    return this.#names.constant(expression.name) ?? expression;
  }

  #calledBuiltin(name: string, call: Call, variables: Variables): Type {
    const spec = BUILTINS.get(name);
    if (spec === undefined) return ANY;
    const given = call.positional.length + call.named.length;
    if (given < spec.least || given > spec.most) {
      const expected = spec.least === spec.most ? `${spec.least}` : `at least ${spec.least}`;
      this.#diagnostics.error(
        'POL014',
        call.callee,
        `\`${name}\` takes ${expected} argument${spec.least === 1 ? '' : 's'}, not ${given}`,
      );
    }
    if (spec.names !== null) this.#argumentNames(name, call, spec.names);
    const [pattern] = call.positional;
    if ((name === 'match' || name === 'find') && pattern !== undefined) {
      this.#regularExpression(pattern, variables);
    }
    return spec.result;
  }

  /** A pattern that stands here, or in a constant of the policy. */
  #regularExpression(pattern: Expression, variables: Variables): void {
    const literal = this.#literal(pattern, variables);
    if (literal === null || !SPECIAL.test(literal.value)) return;
    const compiled = this.#options.patterns.compile(literal.value);
    if (!compiled.ok) {
      this.#diagnostics.error('POL018', literal, compiled.fault, patternHelp(compiled.fault));
    } else if (compiled.value.engine === 'budgeted') this.#countedPattern(literal);
  }

  #literal(expression: Expression, variables: Variables): (Span & { readonly value: string }) | null {
    if (expression.kind === 'literal') {
      const { value, start, end } = expression;
      return typeof value === 'string' ? { value, start, end } : null;
    }
    const constant = this.#constantBehind(expression, variables);
    return constant.kind === 'literal' ? this.#literal(constant, NO_VARIABLES) : null;
  }

  #countedPattern(pattern: Span): void {
    this.#diagnostics.warning(
      'POL071',
      pattern,
      'a pattern with look-around, back-references or the like does not run in linear time, so its steps are counted',
      'a text that uses them up makes the rule undecided, which denies when it is enforced',
    );
  }

  #quantifier(expression: Extract<Expression, { kind: 'quantifier' }>, variables: Variables): Type {
    const named = this.#names.resolve(expression.callee.name);
    if (named?.kind !== 'quantifier') this.#notAQuantifier(expression.callee, named);
    else {
      const allowed = named.name === 'count' ? ['min', 'max'] : [];
      this.#argumentNames(named.name, expression, allowed);
      for (const argument of childrenOf(expression)) this.#expression(argument, variables);
      if (expression.positional.length + expression.named.length > allowed.length) {
        this.#diagnostics.error('POL014', expression.callee, `\`${named.name}\` has too many arguments`);
      }
    }
    this.#body(expression.body, variables);
    return BOOL;
  }

  #notAQuantifier(callee: Identifier, named: Named | null): void {
    if (named === null && this.#isLost(callee.name)) return;
    if (named === null && (callee.name === 'forall' || callee.name === 'count')) {
      const help = `import it: \`from invariant import ${callee.name}\``;
      this.#diagnostics.error('POL016', callee, `\`${callee.name}\` is not imported`, help);
      return;
    }
    this.#diagnostics.error(
      'POL016',
      callee,
      `\`${shortened(callee.name)}\` is not a quantifier, and only those have a block`,
      suggested(callee.name, ['forall', 'count'], 'the quantifiers are `forall:` and `count(…):`'),
    );
  }

  #binary(expression: Extract<Expression, { kind: 'binary' }>, variables: Variables): Type {
    const { operator } = expression;
    const left = this.#expression(expression.left, variables);
    const right = this.#expression(expression.right, variables);
    switch (operator) {
      case '->':
      case '~>':
      case 'before':
        if (operator === 'before') this.#addition(expression, '`before` between events', 'write `->`');
        this.#flowSide(expression.left, left);
        this.#flowSide(expression.right, right);
        return BOOL;
      case 'contains_only':
        this.#diagnostics.warning(
          'POL053',
          expression,
          '`a contains_only b` holds when every element of `b` is in `a`',
          'write the comparison with `any([…])`',
        );
        return BOOL;
      case 'in':
        if (!canBe(left, 'list')) return BOOL;
        // `in` None is false whatever stands before it.
        return left.kinds?.size === 1 && !canBe(right, 'None') ? listOf(BOOL) : LIST_OR_BOOL;
      case 'is':
      case 'is not':
        // A pattern gives None for what is no call.
        return operator === 'is' && canBe(right, 'tool pattern') && !isCertainlyCall(left)
          ? BOOL_OR_NONE
          : BOOL;
      case '+':
        return sumType(left, right);
      case '-':
      case '/':
      case '**':
        return NUMBER;
      case '*':
        return COMPUTED;
      case '%':
        return canBe(left, 'str') ? COMPUTED : NUMBER;
      default:
        return BOOL;
    }
  }

  #flowSide(side: Expression, type: Type): void {
    const isVariable = side.kind === 'name' || side.kind === 'declaration';
    const isEvent = type.kinds === null || [...type.kinds].some((kind) => OBJECT_TYPES.get(kind)?.isEvent);
    if (isVariable && isEvent) return;
    this.#diagnostics.error(
      'POL021',
      side,
      isVariable ? `${withArticle(type)} does not flow, only events do` : 'the sides of a flow are variables',
      side.kind === 'binary' ? 'write one flow a line' : 'declare the event, for example `(call: ToolCall)`',
    );
  }

  /** In the seed language an f-string is its text, which is the same where no braces are in it. */
  #formatAsWritten(format: Expression & { kind: 'format' }): void {
    const holdsValue = format.parts.some((part) => typeof part !== 'string');
    if (holdsValue) this.#addition(format, 'a value inside an f-string');
    else if (/[{}]/.test(format.parts.join(''))) this.#addition(format, 'a doubled brace inside an f-string');
  }

  // ── tool patterns ─────────────────────────────────────────────────────────────────────────────────────────

  #toolPattern(pattern: ToolPattern, variables: Variables): void {
    const { name, start, end } = pattern.tool;
    const isQuoted = end - start !== name.length;
    if (isQuoted || !/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) this.#addition(pattern.tool, 'this tool name');
    if (pattern.arguments === null) return;
    this.#pattern(pattern.arguments);
    for (const value of patternValues(pattern.arguments)) this.#expression(value, variables);
  }

  #pattern(pattern: Pattern): void {
    switch (pattern.kind) {
      case 'value-reference':
        if (!VALUE_REFERENCES.has(pattern.name)) {
          const suggestion = nearest(pattern.name, VALUE_REFERENCES);
          this.#diagnostics.error(
            'POL017',
            pattern,
            `there is no value reference \`<${pattern.name}>\``,
            suggestion === null ? undefined : `did you mean \`<${suggestion}>\`?`,
          );
        } else if (pattern.name !== 'DUMMY' && !this.#options.detectors.has(detectorOf(pattern.name))) {
          this.#diagnostics.warning('POL055', pattern, `no detector for \`<${pattern.name}>\` is available`);
        }
        break;
      case 'object':
        for (const entry of pattern.entries) this.#pattern(entry.pattern);
        break;
      case 'list':
        for (const item of pattern.items) this.#pattern(item);
        break;
      case 'value':
        this.#patternText(pattern.value);
        break;
      case 'any':
        break;
    }
  }

  /** A text in a pattern is compared first, so one that is no expression still matches itself. */
  #patternText(value: Expression): void {
    if (value.kind !== 'literal' || typeof value.value !== 'string' || !SPECIAL.test(value.value)) return;
    const compiled = this.#options.patterns.compile(`${value.value}$`, { dotAll: true });
    if (!compiled.ok) {
      this.#diagnostics.warning(
        'POL018',
        value,
        `${compiled.fault}, so only an equal text matches`,
        'other texts make the rule undecided',
      );
    } else if (compiled.value.engine === 'budgeted') this.#countedPattern(value);
  }

  /** What the seed language does not have. */
  #addition(at: Span, what: string, help?: string): void {
    this.#options.onAddition?.(at);
    if (this.#options.dialect === 'cordon') return;
    this.#diagnostics.error(
      'POL022',
      { start: at.start, end: at.end },
      `${what} is an addition to the \`invariant\` dialect`,
      help,
    );
  }
}

/** Of texts without these, which are most, there is nothing that could be wrong as a regular expression. */
const SPECIAL = /[\\^$.|?*+()[\]{}]/;

const NO_VARIABLES: Variables = new Map();

/** Words of other languages, in lower case, and what is written here. */
const FOREIGN_NAMES: ReadonlyMap<string, string> = new Map([
  ['true', 'write `True`'],
  ['false', 'write `False`'],
  ...['null', 'nil', 'none', 'undefined'].map((name): [string, string] => [name, 'write `None`']),
  ...['and', 'or', 'not'].map((name): [string, string] => [
    name,
    `\`${name}\` stands before a condition; in lower case`,
  ]),
  ...['if', 'else'].map((name): [string, string] => [
    name,
    'all lines of a rule must hold; a choice between values is `a if condition else b`',
  ]),
]);

/** From which module a name of the standard library can be imported; null: from none. */
function moduleOf(name: string): string | null {
  const modules = ['invariant', 'invariant.detectors', 'invariant.parsers'];
  const has = (module: string): boolean => {
    const named = importedName(module, name, isTypeName);
    return named?.kind === 'quantifier' || named?.kind === 'detector';
  };
  return modules.find(has) ?? null;
}

const PATTERN_HELP: readonly (readonly [RegExp, string])[] = [
  [/has no `\]`/, 'close the set with `]`, or write `\\[` for the character'],
  [/has no `\)`/, 'close the group with `)`, or write `\\(` for the character'],
  [/closes nothing/, 'write `\\)` for the character'],
  [/ends with a backslash/, 'write `\\\\` for the character'],
  [/repeats nothing|is repeated/, 'write a backslash before `*`, `+` or `?` for the character'],
  [/limits reversed/, 'write the smaller number first: `{2,5}`'],
  [/a range of characters/, 'write the lower end first, as in `[a-z]`, or `\\-` for the character'],
  [/unknown escape/, 'write `\\\\` for a backslash, or leave it out'],
  [/look-behind needs/, 'give the look-behind branches of one length'],
  [/not at its start/, 'move `(?i)` and the like to the beginning of the pattern'],
  [/ends within a group/, 'close the group with `)`, or write `\\(` for the character'],
];

/** What would mend a pattern that cannot be used, as far as its fault tells. */
function patternHelp(fault: string): string {
  return PATTERN_HELP.find(([what]) => what.test(fault))?.[1] ?? 'write the condition as simpler patterns';
}
/** Constants that need constants. */
const MAX_CONSTANT_DEPTH = 32;
const COMPUTED = typeOf('int', 'float', 'str', 'list');
const TOOL_PATTERN = typeOf('tool pattern');
const INPUT = typeOf('input');
const BOOL_OR_NONE = typeOf('bool', 'None');
const LIST_OR_BOOL = typeOf('bool', 'list');

function literalType(value: null | boolean | number | string): Type {
  if (value === null) return typeOf('None');
  if (typeof value === 'boolean') return BOOL;
  if (typeof value === 'number') return Number.isInteger(value) ? INT : typeOf('float');
  return STR;
}

/** What `x[…]` and a loop over `x` give. */
function elementType(type: Type): Type {
  if (type.kinds?.size !== 1) return ANY;
  if (type.kinds.has('list')) return type.element ?? ANY;
  return type.kinds.has('str') ? STR : ANY;
}

function isCertainlyCall(type: Type): boolean {
  return type.kinds?.size === 1 && type.kinds.has('ToolCall');
}

/** `+` joins numbers, texts and lists, each with its own. */
function sumType(left: Type, right: Type): Type {
  const kinds = ['str', 'list'].filter((kind) => canBe(left, kind) && canBe(right, kind));
  const numbers = ['int', 'float', 'bool'];
  if (canBe(left, ...numbers) && canBe(right, ...numbers)) kinds.push('int', 'float');
  return kinds.length === 0 ? ANY : typeOf(...kinds);
}

/** Those whose name stands before them in the list. */
function repeated(names: readonly Identifier[]): readonly Identifier[] {
  const seen = new Set<string>();
  return names.filter(({ name }) => {
    const isKnown = seen.has(name);
    seen.add(name);
    return isKnown;
  });
}

/** The known name that was probably meant, else the other help. */
function suggested(name: string, known: Iterable<string>, otherwise?: string): string | undefined {
  const suggestion = nearest(name, known);
  return suggestion === null ? otherwise : `did you mean \`${suggestion}\`?`;
}

function shortened(name: string): string {
  return name.length <= 40 ? name : `${name.slice(0, 40)}…`;
}
