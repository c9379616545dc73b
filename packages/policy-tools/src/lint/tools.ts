/**
 * Tools and arguments that rules name, held against what the installed apps have: a rule about a misspelt tool never
 * acts, and gives no sign of it.
 *
 * No decision depends on it. Schemas come from apps: they are looked at to a bounded depth, and what is not understood is not judged.
 */
import { isJsonObject, type Json, type JsonObject } from '@cordon/core';
import { type Expression, METHODS, nearest, type Pattern, type Span, type ToolPattern } from '@cordon/policy';
import { compilePattern } from '@cordon/regex';
import { type Constant, conjuncts, keyOf, type LintBody, type LintContext, partsOf } from './context.ts';
import { isArray, type ToolSchema } from './tool-schema.ts';
import { toolMatches } from './truth.ts';

/** `isComplete`: there are no other tools than these. */
export function lintTools(context: LintContext, tools: readonly ToolSchema[], isComplete: boolean): void {
  new ToolLinter(context, tools, isComplete).run();
}

/** What is known of a value: the tool and argument that it is, and the schemas that it may have. */
interface Place {
  readonly tool: string;
  /** `to`, `options.limit`; empty: the arguments themselves. */
  readonly path: string;
  /** Any of these; null: anything is possible. */
  readonly schemas: readonly JsonObject[] | null;
}

class ToolLinter {
  readonly #context: LintContext;
  readonly #tools: readonly ToolSchema[];
  readonly #isComplete: boolean;
  readonly #seen = new Set<Expression>();

  constructor(context: LintContext, tools: readonly ToolSchema[], isComplete: boolean) {
    this.#context = context;
    this.#isComplete = isComplete;
    this.#tools = tools;
  }

  run(): void {
    for (const { parameters, body } of this.#context.tree.definitions)
      if (parameters === null) for (const part of partsOf(body)) this.#part(part, null, new Map());
    for (const body of this.#context.bodies.toReversed()) {
      const calls = this.#calls(body);
      for (const part of partsOf(body.lines)) this.#part(part, body, calls);
    }
  }

  /** Variables that a line of the body takes for calls of one tool. */
  #calls(body: LintBody): ReadonlyMap<string, readonly ToolSchema[]> {
    const calls = new Map<string, readonly ToolSchema[]>();
    for (const line of conjuncts(body.lines)) {
      if (line.kind !== 'binary' || line.operator !== 'is' || line.left.kind !== 'name') continue;
      const pattern = this.#context.value(line.right, body);
      if (pattern.kind === 'tool-pattern') calls.set(line.left.name, this.#matching(pattern.tool.name));
    }
    return calls;
  }

  #part(part: Expression, body: LintBody | null, calls: ReadonlyMap<string, readonly ToolSchema[]>): void {
    if (this.#seen.has(part)) return;
    this.#seen.add(part);
    switch (part.kind) {
      case 'tool-pattern':
        this.#toolPattern(part, body);
        break;
      case 'binary':
        this.#comparison(part, body, calls);
        break;
      case 'call':
        // `call.arguments.get("key")`: not an argument named `get`.
        if (part.callee.kind === 'member' && METHODS.has(part.callee.name.name)) {
          this.#seen.add(part.callee);
          const [key] = part.positional;
          const name = key === undefined ? null : this.#context.literal(key, body);
          const place = part.callee.name.name === 'get' ? this.#place(part.callee.object, body, calls) : null;
          if (place !== null && key !== undefined && typeof name?.value === 'string')
            this.#key(place, name.value, key);
        }
        break;
      case 'member': {
        const place = this.#place(part.object, body, calls);
        if (place !== null) this.#key(place, part.name.name, part.name);
        break;
      }
      case 'index': {
        const place = this.#place(part.object, body, calls);
        const key = this.#context.literal(part.index, body)?.value;
        if (place !== null && typeof key === 'string') this.#key(place, key, part.index);
        break;
      }
      default:
        break;
    }
  }

  // ── names of tools ────────────────────────────────────────────────────────────────────────────────────────

  #matching(name: string): readonly ToolSchema[] {
    return this.#tools.filter((tool) => toolMatches(name, tool.name));
  }

  #toolPattern(pattern: ToolPattern & Span, body: LintBody | null): void {
    const matching = this.#matching(pattern.tool.name);
    if (matching.length === 0) {
      this.#unknownTool(pattern.tool.name, pattern.tool);
      return;
    }
    const { arguments: given } = pattern;
    if (given === null) return;
    const misfits = (tool: ToolSchema) => this.#misfits(given, argumentsOf(tool), body);
    // A wildcard stands for tools with different arguments; it is wrong only where it is wrong for all of them.
    if (matching.some((tool) => misfits(tool).length === 0)) return;
    for (const report of matching.slice(0, 1).flatMap(misfits)) report();
  }

  #unknownTool(name: string, at: Span): void {
    const isWildcard = name.includes('*');
    const names = this.#tools.map((tool) => tool.name);
    const near = isWildcard ? null : (nearest(name, names) ?? nearInWords(name, names));
    if (near === null && !this.#isComplete) return;
    const known = names.slice(0, 5).map((one) => `\`${one}\``);
    const listed =
      known.length === 0 ? undefined : `there are ${known.join(', ')}${names.length > 5 ? ', …' : ''}`;
    this.#context.diagnostics.warning(
      'POL066',
      at,
      isWildcard
        ? `no tool of an installed app is called \`${name}\``
        : `no installed app has a tool \`${name}\``,
      near === null ? listed : `did you mean \`${near}\`?`,
    );
  }

  // ── arguments in expressions ──────────────────────────────────────────────────────────────────────────────

  #comparison(
    comparison: Extract<Expression, { kind: 'binary' }>,
    body: LintBody | null,
    calls: ReadonlyMap<string, readonly ToolSchema[]>,
  ): void {
    const { operator, left, right } = comparison;
    if (operator === 'in') {
      const key = this.#context.literal(left, body)?.value;
      const place = this.#place(right, body, calls);
      if (typeof key === 'string' && place !== null) this.#inside(place, key, left);
      const list = this.#context.value(right, body);
      if (list.kind === 'list' && list === right)
        for (const item of list.items) this.#equal(left, item, body, calls);
    } else if (operator === '==' || operator === '!=') {
      this.#equal(left, right, body, calls);
      this.#equal(right, left, body, calls);
    }
  }

  /** `"key" in call.arguments`, or an element of an argument that is a list. */
  #inside(place: Place, key: string, at: Span): void {
    const isArguments =
      place.path === '' || place.schemas?.every((schema) => isJsonObject(schema.properties)) === true;
    if (isArguments) this.#key(place, key, at);
  }

  #equal(
    subject: Expression,
    other: Expression,
    body: LintBody | null,
    calls: ReadonlyMap<string, readonly ToolSchema[]>,
  ): void {
    const literal = this.#context.literal(other, body);
    if (literal === null) return;
    if (typeof literal.value === 'string' && isToolName(subject, this.#context)) {
      if (!this.#tools.some(({ name }) => name === literal.value)) this.#unknownTool(literal.value, other);
      return;
    }
    const place = this.#place(subject, body, calls);
    // A comparison with None asks whether there is anything.
    if (place === null || place.path === '' || literal.value === null) return;
    const problem = valueProblem(place, literal.value, false);
    if (problem !== null) this.#context.diagnostics.warning('POL068', other, problem);
  }

  /** What `call.arguments`, or something in it, is. */
  #place(
    expression: Expression,
    body: LintBody | null,
    calls: ReadonlyMap<string, readonly ToolSchema[]>,
  ): Place | null {
    if (expression.kind === 'member' && expression.name.name === 'arguments') {
      const root = keyOf(expression);
      const call = root.slice(0, -'.arguments'.length);
      const [tool, ...others] = calls.get(call) ?? [];
      if (tool !== undefined && others.length === 0 && root === `${call}.arguments`) return argumentsOf(tool);
    }
    if (expression.kind !== 'member' && expression.kind !== 'index') return null;
    const outer = this.#place(expression.object, body, calls);
    if (outer === null) return null;
    const key =
      expression.kind === 'member'
        ? expression.name.name
        : this.#context.literal(expression.index, body)?.value;
    if (typeof key !== 'string') return null;
    const found = propertyOf(outer, key);
    return found === 'absent' ? null : found;
  }

  #key(place: Place, key: string, at: Span): void {
    if (propertyOf(place, key) !== 'absent') return;
    const known = keysOf(place);
    const suggestion = nearest(key, known) ?? nearInWords(key, known);
    const listed = known.slice(0, 8).map((one) => `\`${one}\``);
    const others = listed.length === 0 ? 'it has none' : `it has ${listed.join(', ')}`;
    const owner = place.path === '' ? `\`${place.tool}\`` : `\`${place.path}\` of \`${place.tool}\``;
    this.#context.diagnostics.warning(
      'POL067',
      at,
      `${owner} has no argument \`${key}\``,
      suggestion === null ? others : `did you mean \`${suggestion}\`?`,
    );
  }

  // ── arguments in patterns ─────────────────────────────────────────────────────────────────────────────────

  /** What in a pattern never matches what can be there, each as a report that can be made. */
  #misfits(pattern: Pattern, place: Place, body: LintBody | null): readonly (() => void)[] {
    const reported = (message: string | null): readonly (() => void)[] =>
      message === null ? [] : [() => this.#context.diagnostics.warning('POL068', pattern, message)];
    switch (pattern.kind) {
      case 'object': {
        const inner = pattern.entries.flatMap((entry) => {
          const there = propertyOf(place, entry.key);
          return there === 'absent'
            ? [() => this.#key(place, entry.key, this.#keySpan(pattern, entry))]
            : this.#misfits(entry.pattern, there, body);
        });
        return [...reported(kindProblem(place, 'object')), ...inner];
      }
      case 'list':
        return reported(kindProblem(place, 'array'));
      case 'value': {
        const literal = this.#context.literal(pattern.value, body);
        return literal === null ? [] : reported(valueProblem(place, literal.value, true));
      }
      case 'value-reference':
        return reported(kindProblem(place, 'string'));
      case 'any':
        return [];
    }
  }

  /** The key of an entry, which the tree has no span for: it stands before the colon before its pattern. */
  #keySpan(pattern: Span, entry: { readonly key: string; readonly pattern: Span }): Span {
    const { text } = this.#context.source;
    const before = text.slice(pattern.start, entry.pattern.start);
    const [written] = /(?:[A-Za-z_][A-Za-z0-9_]*|"[^"\n]*"|'[^'\n]*')\s*:\s*$/.exec(before.slice(-300)) ?? [];
    if (written === undefined) return entry.pattern;
    const start = entry.pattern.start - written.length;
    return { start, end: start + written.replace(/\s*:\s*$/, '').length };
  }
}

/** `call.name`, `call.function.name`. */
function isToolName(expression: Expression, context: LintContext): boolean {
  if (expression.kind !== 'member' || expression.name.name !== 'name') return false;
  const { kinds } = context.type(expression.object);
  return kinds?.size === 1 && (kinds.has('ToolCall') || kinds.has('Function'));
}

/** `send-mail` for `sendMail`, `send_mail` for `mail.send_mail`; null: none. */
function nearInWords(name: string, known: readonly string[]): string | null {
  const plain = (text: string): string => text.toLowerCase().replace(/[^a-z0-9]/g, '');
  const wanted = plain(name);
  if (wanted.length < 3) return null;
  const same = known.find((one) => plain(one) === wanted);
  return same ?? known.find((one) => plain(one).endsWith(wanted) || wanted.endsWith(plain(one))) ?? null;
}

// ── schemas ─────────────────────────────────────────────────────────────────────────────────────────────────────

const MAX_DEPTH = 8;
const MAX_ALTERNATIVES = 32;

function argumentsOf(tool: ToolSchema): Place {
  const schemas = tool.parameters === null ? null : alternatives(tool.parameters, tool.parameters);
  return { tool: tool.name, path: '', schemas: withRoot(schemas, tool.parameters) };
}

/** References of a schema lead from its root, so parts of it carry the definitions along. */
function withRoot(
  schemas: readonly JsonObject[] | null,
  root: JsonObject | null,
): readonly JsonObject[] | null {
  if (schemas === null || root === null) return schemas;
  const definitions = { $defs: root.$defs ?? {}, definitions: root.definitions ?? {} };
  return schemas.map((schema) => ({ ...schema, ...definitions }));
}

/** What a schema may be, references followed; null: not understood. */
function alternatives(schema: Json | undefined, root: JsonObject, depth = 0): readonly JsonObject[] | null {
  if (!isJsonObject(schema) || depth > MAX_DEPTH) return null;
  if (typeof schema.$ref === 'string') return alternatives(referenced(schema.$ref, root), root, depth + 1);
  if (schema.allOf !== undefined || schema.not !== undefined || schema.if !== undefined) return null;
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices === undefined) return [schema];
  if (!isArray(choices) || choices.length > MAX_ALTERNATIVES) return null;
  const found: JsonObject[] = [];
  for (const choice of choices) {
    const inner = alternatives(choice, root, depth + 1);
    if (inner === null) return null;
    found.push(...inner);
    if (found.length > MAX_ALTERNATIVES) return null;
  }
  return found;
}

function referenced(reference: string, root: JsonObject): Json | undefined {
  const [, group = '', name = ''] = /^#\/(\$defs|definitions)\/([^/]+)$/.exec(reference) ?? [];
  const definitions = group === '' ? undefined : root[group];
  return isJsonObject(definitions) && Object.hasOwn(definitions, name) ? definitions[name] : undefined;
}

function propertyOf(place: Place, key: string): Place | 'absent' {
  const path = place.path === '' ? key : `${place.path}.${key}`;
  const anything: Place = { tool: place.tool, path, schemas: null };
  if (place.schemas === null) return anything;
  const found: JsonObject[] = [];
  let isDeclared = false;
  for (const schema of place.schemas) {
    const { properties } = schema;
    if (!isJsonObject(properties) || !Object.hasOwn(properties, key)) {
      if (isOpen(schema)) return anything;
      continue;
    }
    isDeclared = true;
    const inner = withRoot(alternatives(properties[key], schema), schema);
    if (inner === null) return anything;
    found.push(...inner);
  }
  return isDeclared ? { ...anything, schemas: found } : 'absent';
}

/** Whether an object may have keys that its schema does not list. Most schemas do not say, and mean that it may not. */
function isOpen({ type, properties, additionalProperties, patternProperties }: JsonObject): boolean {
  const isExtended = additionalProperties === true || isJsonObject(additionalProperties);
  if (isExtended || patternProperties !== undefined) return true;
  if (isJsonObject(properties)) return false;
  // A text may be JSON, and has the keys of the object in it.
  return type === undefined || typesOf(type).some((one) => one === 'object' || one === 'string');
}

function keysOf({ schemas }: Place): readonly string[] {
  const keys = (schemas ?? []).flatMap(({ properties }) =>
    isJsonObject(properties) ? Object.keys(properties) : [],
  );
  return [...new Set(keys)];
}

function typesOf(type: Json | undefined): readonly string[] {
  const names = isArray(type) ? type : [type];
  return names.filter((name) => typeof name === 'string');
}

/** Why no value of a kind can be there; null: one can. */
function kindProblem(place: Place, kind: 'object' | 'array' | 'string'): string | null {
  if (place.path === '') return kind === 'object' ? null : `the arguments of \`${place.tool}\` are an object`;
  if (place.schemas === null) return null;
  const types = place.schemas.map((schema) => typesOf(schema.type));
  if (types.some((names) => names.length === 0 || names.includes(kind))) return null;
  return mismatch(place, types.flat(), kind);
}

function mismatch(place: Place, types: readonly string[], kind: string): string {
  const allowed = [...new Set(types)].join(' or ');
  return `\`${place.path}\` of \`${place.tool}\` is of type ${allowed}, never of type ${kind}`;
}

/** Why a literal never equals, or as a pattern never matches, what can be there; null: it can. */
function valueProblem(place: Place, value: Constant, isPattern: boolean): string | null {
  if (place.path === '') return isPattern ? `the arguments of \`${place.tool}\` are an object` : null;
  if (place.schemas === null || place.schemas.length === 0) return null;
  const problems = place.schemas.map((schema) => schemaProblem(place, schema, value, isPattern));
  return problems.includes(null) ? null : (problems[0] ?? null);
}

function schemaProblem(place: Place, schema: JsonObject, value: Constant, isPattern: boolean): string | null {
  const types = typesOf(schema.type);
  const kind = kindOfConstant(value);
  if (types.length > 0 && !types.some((type) => type === kind || (type === 'number' && kind === 'integer'))) {
    // 5.0 is an integer in JSON Schema; True equals 1 in rules.
    const isNumeric =
      kind !== 'string' && kind !== 'null' && types.some((type) => type === 'integer' || type === 'number');
    if (!(isNumeric && Number.isInteger(Number(value)) && kind !== 'boolean'))
      return mismatch(place, types, kind);
  }
  const allowed = isArray(schema.enum) ? schema.enum : schema.const === undefined ? null : [schema.const];
  if (allowed === null || allowed.length === 0) return null;
  if (allowed.some((one) => isAllowed(one, value, isPattern))) return null;
  const shown = allowed.slice(0, 6).map((one) => `\`${JSON.stringify(one)}\``);
  return `\`${place.path}\` of \`${place.tool}\` is one of ${shown.join(', ')}${allowed.length > 6 ? ', …' : ''}`;
}

function isAllowed(allowed: Json, value: Constant, isPattern: boolean): boolean {
  if (allowed === value) return true;
  if (!isPattern || typeof value !== 'string' || typeof allowed !== 'string') return false;
  const compiled = compilePattern(`${value}$`, { dotAll: true });
  return !compiled.ok || compiled.value.startsWith(allowed) !== false;
}

function kindOfConstant(value: Constant): 'null' | 'boolean' | 'integer' | 'number' | 'string' {
  if (value === null) return 'null';
  if (typeof value === 'boolean') return 'boolean';
  if (typeof value === 'string') return 'string';
  return Number.isInteger(value) ? 'integer' : 'number';
}
