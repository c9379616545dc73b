/**
 * Names, types, arity and patterns of a tree, before anything is evaluated: what cannot work is an error, what
 * works otherwise than its author probably thinks is a warning.
 *
 * Ring 0.
 */
import type {
  Definition,
  Expression,
  Identifier,
  Pattern,
  PolicyTree,
  RuleTree,
  ToolPattern,
} from './ast.ts';
import { BUILTINS, type Detectors, importedName, isModule } from './builtins.ts';
import type { Diagnostics } from './codes.ts';
import { VALUE_REFERENCES } from './pattern.ts';
import { compilePattern } from './regex.ts';
import { childrenOf, freeNames, type Named, Names, patternValues, variablesOf } from './scope.ts';
import type { Span } from './source.ts';
import { ADDED_FIELDS, isTypeName, nearest, OBJECT_TYPES } from './types.ts';

export interface CheckOptions {
  readonly dialect: 'cordon' | 'invariant';
  readonly detectors: Detectors;
}

/** Reports everything that is wrong with `tree`. */
export function check(tree: PolicyTree, diagnostics: Diagnostics, options: CheckOptions): void {
  new Checker(tree, diagnostics, options).run();
}

/** Variable to the kind of its value; null: not known. */
type Variables = ReadonlyMap<string, string | null>;

class Checker {
  readonly #tree: PolicyTree;
  readonly #names: Names;
  readonly #diagnostics: Diagnostics;
  readonly #options: CheckOptions;

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
    for (const definition of this.#tree.definitions) this.#definition(definition);
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
    } else if (named.kind === 'detector' && !this.#options.detectors.has(named.name)) {
      this.#diagnostics.warning(
        'POL055',
        imported,
        `the detector \`${named.name}\` is not available, so rules that need it are undecided`,
        'an undecided rule denies when it is enforced',
      );
    }
  }

  /** Modules of the host are never reachable: a rule would have all the authority of the program. */
  #unknownModule(module: string, span: Span): void {
    this.#diagnostics.error(
      'POL015',
      span,
      `the module \`${module}\` does not exist`,
      'rules import from `invariant` and `invariant.detectors`; other functions are registered by the program',
    );
  }

  #duplicates(): void {
    const seen = new Set<string>();
    for (const { name } of this.#tree.definitions) {
      if (seen.has(name.name)) this.#diagnostics.error('POL020', name, `\`${name.name}\` is defined twice`);
      seen.add(name.name);
    }
    const rules = new Set<string>();
    for (const { name } of this.#tree.rules) {
      if (name === null) continue;
      if (rules.has(name.name))
        this.#diagnostics.error('POL020', name, `two rules are named \`${name.name}\``);
      rules.add(name.name);
    }
  }

  /** Constants that need themselves have no value; a predicate may call itself. */
  #circles(): void {
    const constants = new Map(
      this.#tree.definitions.filter((one) => one.parameters === null).map((one) => [one.name.name, one]),
    );
    for (const definition of constants.values()) {
      const reached = new Set<string>();
      const open = [definition];
      for (let next = open.pop(); next !== undefined; next = open.pop()) {
        for (const name of next.body.flatMap((line) => [...freeNames(line)])) {
          const used = constants.get(name);
          if (used === undefined || reached.has(name)) continue;
          reached.add(name);
          open.push(used);
        }
      }
      if (reached.has(definition.name.name)) {
        this.#diagnostics.error(
          'POL023',
          definition.name,
          `\`${definition.name.name}\` is defined by itself`,
        );
      }
    }
  }

  #definition(definition: Definition): void {
    const parameters = new Map<string, string | null>();
    for (const parameter of definition.parameters ?? []) {
      if (parameters.has(parameter.name)) {
        this.#diagnostics.error('POL011', parameter, `the parameter \`${parameter.name}\` is declared twice`);
      }
      parameters.set(parameter.name, parameter.type);
      if (parameter.type === null) this.#addition(parameter, 'a parameter without a type');
    }
    if (definition.parameters === null) {
      for (const line of definition.body) this.#expression(line, parameters);
    } else this.#body(definition.body, parameters);
  }

  #rule(rule: RuleTree): void {
    if (rule.effect !== 'raise') this.#addition(rule, `\`${rule.effect}\``);
    if (rule.name !== null) this.#addition(rule.name, 'a rule with a name');
    if (rule.whenUndecided === 'allow') this.#addition(rule, '`(undecided: allow)`');
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
        'type' in declared ? this.#variableType(declared.type, declared.within !== null) : null,
      );
    }
    this.#assignmentCircles(assignments);
    for (const line of lines) {
      const kind = this.#expression(line, variables);
      const isPlain = line.kind !== 'declaration' && line.kind !== 'assignment';
      if (isPlain && kind !== null && kind !== 'bool') {
        this.#diagnostics.warning(
          'POL050',
          line,
          `this line is a ${kind}, and only a line that is true holds`,
          'compare it, or use `any(…)` or `len(…) > 0`',
        );
      }
    }
    return variables;
  }

  #assignmentCircles(assignments: ReturnType<typeof variablesOf>['assignments']): void {
    const values = new Map(assignments.map((assigned) => [assigned.variable.name, assigned.value]));
    for (const { variable } of assignments) {
      const reached = new Set<string>();
      const open = [variable.name];
      for (let next = open.pop(); next !== undefined; next = open.pop()) {
        const value = values.get(next);
        for (const name of value === undefined ? [] : freeNames(value)) {
          if (!values.has(name) || reached.has(name)) continue;
          reached.add(name);
          open.push(name);
        }
      }
      if (reached.has(variable.name)) {
        this.#diagnostics.error('POL023', variable, `\`${variable.name}\` is defined by itself`);
      }
    }
  }

  #variableType(type: Identifier, isWithin: boolean): string | null {
    if (isTypeName(type.name)) {
      if (OBJECT_TYPES.get(type.name)?.isAddition === true) this.#addition(type, `the type \`${type.name}\``);
      if (!isWithin && type.name === 'list') {
        this.#diagnostics.error('POL012', type, 'a variable cannot range over the lists of a trace');
      }
      return type.name;
    }
    if (isWithin && /^[A-Z]/.test(type.name)) {
      this.#addition(type, `the type \`${type.name}\``);
      return 'dict';
    }
    const suggestion = nearest(type.name, OBJECT_TYPES.keys());
    this.#diagnostics.error(
      'POL012',
      type,
      `there is no type \`${type.name}\``,
      suggestion === null ? undefined : `did you mean \`${suggestion}\`?`,
    );
    return null;
  }

  // ── expressions; the result is the kind of the value where it is known ────────────────────────────────────

  #expression(expression: Expression, variables: Variables): string | null {
    switch (expression.kind) {
      case 'name':
        return this.#name(expression.name, expression, variables);
      case 'member':
        return this.#member(expression, variables);
      case 'call':
        return this.#call(expression, variables);
      case 'comprehension': {
        this.#expression(expression.iterable, variables);
        const inner = new Map(variables).set(expression.variable.name, null);
        this.#expression(expression.element, inner);
        if (expression.condition !== null) this.#expression(expression.condition, inner);
        return 'list';
      }
      case 'quantifier':
        return this.#quantifier(expression, variables);
      case 'tool-pattern':
        this.#toolPattern(expression, variables);
        return 'tool pattern';
      case 'binary':
        return this.#binary(expression, variables);
      case 'logic': {
        const left = this.#expression(expression.left, variables);
        const right = this.#expression(expression.right, variables);
        const isCondition = (part: Expression, kind: string | null) =>
          part.kind === 'declaration' || kind === 'bool';
        return isCondition(expression.left, left) && isCondition(expression.right, right) ? 'bool' : null;
      }
      case 'declaration':
        if (expression.within !== null) this.#expression(expression.within, variables);
        return variables.get(expression.variable.name) ?? null;
      case 'format':
        if (this.#options.dialect === 'invariant') this.#addition(expression, 'a value inside an f-string');
        break;
      default:
        break;
    }
    for (const child of childrenOf(expression)) this.#expression(child, variables);
    return literalKind(expression);
  }

  #name(name: string, span: Span, variables: Variables): string | null {
    if (variables.has(name)) return variables.get(name) ?? null;
    const named = this.#names.resolve(name);
    if (named === null) {
      if (this.#tree.imports.some((imported) => imported.alias === name)) return null;
      const suggestion = nearest(name, [...variables.keys(), ...this.#names.known()]);
      this.#diagnostics.error(
        'POL010',
        span,
        `nothing is named \`${name}\``,
        suggestion === null
          ? `declare it, for example \`(${shortened(name)}: ToolCall)\``
          : `did you mean \`${suggestion}\`?`,
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
    return null;
  }

  #member(expression: Extract<Expression, { kind: 'member' }>, variables: Variables): string | null {
    const { object, name } = expression;
    const module =
      object.kind === 'name' && !variables.has(object.name) ? this.#names.resolve(object.name) : null;
    if (module?.kind === 'module') {
      // An unknown module was reported where it is imported.
      if (isModule(module.module) && importedName(module.module, name.name, isTypeName) === null) {
        this.#diagnostics.error('POL015', name, `\`${module.module}\` has no \`${name.name}\``);
      }
      return null;
    }
    const kind = this.#expression(object, variables);
    const fields = kind === null ? undefined : OBJECT_TYPES.get(kind)?.fields;
    if (kind === null || fields === undefined) return null;
    const field = fields.get(name.name);
    if (field === undefined) {
      const suggestion = nearest(name.name, fields.keys());
      this.#diagnostics.error(
        'POL013',
        name,
        `a ${kind} has no field \`${name.name}\``,
        suggestion === null
          ? `it has ${[...fields.keys()].map((one) => `\`${one}\``).join(', ')}`
          : `did you mean \`${suggestion}\`?`,
      );
      return null;
    }
    if (ADDED_FIELDS.get(kind)?.has(name.name) === true) this.#addition(name, `the field \`${name.name}\``);
    return field;
  }

  #call(call: Extract<Expression, { kind: 'call' }>, variables: Variables): string | null {
    this.#expression(call.callee, variables);
    for (const argument of call.positional) this.#expression(argument, variables);
    for (const argument of call.named) this.#expression(argument.value, variables);
    if (call.callee.kind !== 'name' || variables.has(call.callee.name)) return null;
    const named = this.#names.resolve(call.callee.name);
    return named === null ? null : this.#called(named, call, call.callee);
  }

  #called(
    named: Named,
    call: Extract<Expression, { kind: 'call' }>,
    callee: Span & { readonly name: string },
  ): string | null {
    switch (named.kind) {
      case 'builtin':
        return this.#calledBuiltin(named.name, call);
      case 'definition': {
        const { parameters } = named.definition;
        if (parameters === null) return null;
        const given = call.positional.length;
        if (given !== parameters.length || call.named.length > 0) {
          const expected = parameters.length === 1 ? '1 argument' : `${parameters.length} arguments`;
          this.#diagnostics.error(
            'POL014',
            callee,
            `\`${callee.name}\` takes ${expected} without names, not ${given + call.named.length}`,
          );
        }
        return 'bool';
      }
      case 'type':
      case 'input':
      case 'module':
        this.#diagnostics.error('POL016', callee, `\`${callee.name}\` is no function`);
        return null;
      case 'detector':
      case 'quantifier':
        return null;
    }
  }

  #calledBuiltin(name: string, call: Extract<Expression, { kind: 'call' }>): string | null {
    const spec = BUILTINS.get(name);
    if (spec === undefined) return null;
    const given = call.positional.length + call.named.length;
    if (given < spec.least || given > spec.most) {
      const expected = spec.least === spec.most ? `${spec.least}` : `at least ${spec.least}`;
      this.#diagnostics.error(
        'POL014',
        call.callee,
        `\`${name}\` takes ${expected} argument${spec.least === 1 ? '' : 's'}, not ${given}`,
      );
    }
    for (const argument of spec.names === null ? [] : call.named) {
      if (!spec.names?.includes(argument.name.name)) {
        this.#diagnostics.error(
          'POL014',
          argument.name,
          `\`${name}\` has no argument named \`${argument.name.name}\``,
        );
      }
    }
    if (name === 'match' || name === 'find') this.#regularExpression(call.positional[0]);
    return spec.result;
  }

  #regularExpression(pattern: Expression | undefined): void {
    if (pattern?.kind !== 'literal' || typeof pattern.value !== 'string') return;
    const compiled = compilePattern(pattern.value);
    if (!compiled.ok) {
      this.#diagnostics.error(
        'POL018',
        pattern,
        compiled.fault,
        'write the condition as several simpler patterns',
      );
    }
  }

  #quantifier(expression: Extract<Expression, { kind: 'quantifier' }>, variables: Variables): string | null {
    const named = this.#names.resolve(expression.callee.name);
    if (named?.kind !== 'quantifier') {
      this.#diagnostics.error(
        'POL016',
        expression.callee,
        `\`${expression.callee.name}\` is no quantifier`,
        'import `forall` or `count` from `invariant`',
      );
    } else {
      const allowed = named.name === 'count' ? ['min', 'max'] : [];
      for (const argument of expression.named) {
        if (!allowed.includes(argument.name.name)) {
          this.#diagnostics.error(
            'POL014',
            argument.name,
            `\`${named.name}\` has no argument named \`${argument.name.name}\``,
          );
        }
        this.#expression(argument.value, variables);
      }
      for (const argument of expression.positional) this.#expression(argument, variables);
      if (expression.positional.length + expression.named.length > allowed.length) {
        this.#diagnostics.error('POL014', expression.callee, `\`${named.name}\` has too many arguments`);
      }
    }
    this.#body(expression.body, variables);
    return 'bool';
  }

  #binary(expression: Extract<Expression, { kind: 'binary' }>, variables: Variables): string | null {
    const { operator } = expression;
    const left = this.#expression(expression.left, variables);
    const right = this.#expression(expression.right, variables);
    switch (operator) {
      case '->':
      case '~>':
        this.#flowSide(expression.left, left);
        this.#flowSide(expression.right, right);
        return 'bool';
      case 'contains_only':
        this.#diagnostics.warning(
          'POL053',
          expression,
          '`a contains_only b` holds when every element of `b` is in `a`',
          'write the comparison with `any([…])`',
        );
        return 'bool';
      case 'in':
        return left === 'list' ? 'list' : 'bool';
      case '+':
      case '-':
      case '*':
      case '/':
      case '%':
      case '**':
        return left === right ? left : null;
      default:
        return 'bool';
    }
  }

  #flowSide(side: Expression, kind: string | null): void {
    const isVariable = side.kind === 'name' || side.kind === 'declaration';
    const isEvent = kind === null || OBJECT_TYPES.get(kind)?.isEvent === true;
    if (isVariable && isEvent) return;
    this.#diagnostics.error(
      'POL021',
      side,
      isVariable ? `a ${kind} does not flow, only events do` : 'the sides of a flow are variables',
      side.kind === 'binary' ? 'write one flow a line' : 'declare the event, for example `(call: ToolCall)`',
    );
  }

  // ── tool patterns ─────────────────────────────────────────────────────────────────────────────────────────

  #toolPattern(pattern: ToolPattern, variables: Variables): void {
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(pattern.tool.name)) this.#addition(pattern.tool, 'this tool name');
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
        } else if (pattern.name !== 'DUMMY') {
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
    if (value.kind !== 'literal' || typeof value.value !== 'string') return;
    const compiled = compilePattern(`${value.value}$`);
    if (!compiled.ok) {
      this.#diagnostics.warning(
        'POL018',
        value,
        `${compiled.fault}, so only an equal text matches`,
        'other texts make the rule undecided',
      );
    }
  }

  /** What the seed language does not have. */
  #addition(at: Span, what: string): void {
    if (this.#options.dialect === 'cordon') return;
    this.#diagnostics.error(
      'POL022',
      { start: at.start, end: at.end },
      `${what} is an addition to the \`invariant\` dialect`,
    );
  }
}

function literalKind(expression: Expression): string | null {
  switch (expression.kind) {
    case 'literal':
      if (expression.value === null) return 'None';
      if (typeof expression.value === 'boolean') return 'bool';
      if (typeof expression.value === 'number') return Number.isInteger(expression.value) ? 'int' : 'float';
      return 'str';
    case 'format':
      return 'str';
    case 'list':
      return 'list';
    case 'object':
      return 'dict';
    case 'unary':
      return expression.operator === 'not' ? 'bool' : null;
    default:
      return null;
  }
}

function shortened(name: string): string {
  return name.length <= 40 ? name : `${name.slice(0, 40)}…`;
}
