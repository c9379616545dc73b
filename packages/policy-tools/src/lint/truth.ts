/**
 * Rules and predicates that can never act: lines that are never true, lines that contradict each other, flows in a
 * circle, variables that range over nothing.
 *
 * No decision depends on it.
 */

import {
  canBe,
  type Declaration,
  EMPTY_TYPES,
  type Expression,
  OBJECT_TYPES,
  PLAIN_TYPES,
  quantifierOf,
  type Span,
  type Type,
  variableName,
  variablesOf,
} from '@cordon/policy';
import {
  type Constant,
  calledName,
  conjuncts,
  isOrder,
  keyOf,
  type LintBody,
  type LintContext,
  partsOf,
} from './context.ts';

export function lintTruth(context: LintContext): void {
  const seen = new Set<Expression>();
  for (const body of context.bodies) {
    for (const declaration of variablesOf(body.lines).declarations) emptyDomain(context, body, declaration);
    for (const part of partsOf(body.lines)) {
      if (part.kind !== 'quantifier' || seen.has(part)) continue;
      seen.add(part);
      countLimits(context, body, part);
    }
    // A block of `forall` that never holds is a way to say that there is nothing.
    if (body.kind === 'forall') continue;
    const together = conjuncts(body.lines);
    for (const condition of together) {
      constantlyFalse(context, body, condition);
      alwaysTrue(context, body, condition);
    }
    flowCircles(context, together);
    contradictions(context, body, together);
  }
}

/** What follows where the lines of a body never hold. */
const CONSEQUENCES: Readonly<Record<LintBody['kind'], string>> = {
  rule: 'the rule never acts',
  predicate: 'the predicate is always false',
  count: 'nothing is counted',
  forall: 'the block never holds',
};

// ── lines that are never true ───────────────────────────────────────────────────────────────────────────────────

function constantlyFalse(context: LintContext, body: LintBody, condition: Expression): void {
  if (truthOf(context, body, condition) !== false) return;
  context.diagnostics.warning('POL061', condition, `this line is never true, so ${CONSEQUENCES[body.kind]}`);
}

/** Of a condition that needs no trace; null: it needs one. */
function truthOf(context: LintContext, body: LintBody, condition: Expression): boolean | null {
  const literal = context.literal(condition, body);
  if (literal !== null) return typeof literal.value === 'boolean' ? literal.value : null;
  switch (condition.kind) {
    case 'unary': {
      const inner = condition.operator === 'not' ? truthOf(context, body, condition.operand) : null;
      return inner === null ? null : !inner;
    }
    case 'logic': {
      const sides = [truthOf(context, body, condition.left), truthOf(context, body, condition.right)];
      const decisive = condition.operator === 'or';
      if (sides.includes(decisive)) return decisive;
      return sides.includes(null) ? null : !decisive;
    }
    case 'binary':
      return comparison(context, body, condition);
    default:
      return null;
  }
}

function comparison(
  context: LintContext,
  body: LintBody,
  { operator, left, right }: Extract<Expression, { kind: 'binary' }>,
): boolean | null {
  const a = context.literal(left, body);
  if (operator === 'in') {
    const items = context.literals(right, body);
    if (items === null) return null;
    if (items.length === 0 && !canBe(context.type(left), 'list')) return false;
    return a === null || a.value === null ? null : items.some((item) => isEqual(item.value, a.value));
  }
  const b = context.literal(right, body);
  if (a === null || b === null) return lengthBelowZero(context, body, operator, left, right);
  if (operator === '==') return isEqual(a.value, b.value);
  if (operator === '!=') return !isEqual(a.value, b.value);
  const order = orderOf(a.value, b.value);
  if (order === null || !isOrdering(operator)) return null;
  if (order === 0) return operator.endsWith('=');
  return operator.startsWith('<') === order < 0;
}

function isOrdering(operator: string): boolean {
  return operator === '<' || operator === '<=' || operator === '>' || operator === '>=';
}

function isEqual(a: Constant, b: Constant): boolean {
  if (typeof a === 'string' || typeof b === 'string' || a === null || b === null) return a === b;
  return Number(a) === Number(b);
}

function orderOf(a: Constant, b: Constant): number | null {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  // Only what is ASCII has the same order in UTF-16 and in code points.
  const isPlain = (value: Constant): value is string => typeof value === 'string' && /^[ -~]*$/.test(value);
  if (!isPlain(a) || !isPlain(b)) return null;
  return a === b ? 0 : a < b ? -1 : 1;
}

/** `len(x) < 0` is false and `len(x) >= 0` true. */
function lengthBelowZero(
  context: LintContext,
  body: LintBody,
  operator: string,
  left: Expression,
  right: Expression,
): boolean | null {
  const limit = context.literal(right, body)?.value;
  if (typeof limit !== 'number' || calledName(left, context, body) !== 'len') return null;
  if (operator === '<' && limit <= 0) return false;
  if (operator === '>=' && limit <= 0) return true;
  if ((operator === '<=' || operator === '==') && limit < 0) return false;
  return (operator === '>' || operator === '!=') && limit < 0 ? true : null;
}

// ── lines that are always true ──────────────────────────────────────────────────────────────────────────────────

function alwaysTrue(context: LintContext, body: LintBody, condition: Expression): void {
  // A literal `True` says openly what it is.
  const isLength = condition.kind === 'binary' && truthOf(context, body, condition) === true;
  if (isLength && calledName(condition.left, context, body) === 'len') {
    context.diagnostics.warning('POL062', condition, 'a length is never negative, so this line always holds');
  }
  if (condition.kind !== 'logic' || condition.operator !== 'or') return;
  const [a, b] = [unequal(context, body, condition.left), unequal(context, body, condition.right)];
  if (a === null || b === null || a.key !== b.key || isEqual(a.value, b.value)) return;
  context.diagnostics.warning(
    'POL062',
    condition,
    `\`${a.text}\` always differs from one of the two, so this line always holds`,
    'join the two with `and`',
  );
}

function unequal(
  context: LintContext,
  body: LintBody,
  condition: Expression,
): Extract<Fact, { value: Constant }> | null {
  const fact = factOf(context, body, condition);
  return fact !== null && fact.kind === 'unequal' ? fact : null;
}

// ── counts ──────────────────────────────────────────────────────────────────────────────────────────────────────

function countLimits(
  context: LintContext,
  body: LintBody,
  quantifier: Extract<Expression, { kind: 'quantifier' }>,
): void {
  if (quantifierOf(quantifier.callee.name, context.names) !== 'count') return;
  const { diagnostics } = context;
  const argument = (name: string, position: number): number | null => {
    const given =
      quantifier.named.find((candidate) => candidate.name.name === name)?.value ??
      quantifier.positional[position];
    const value = given === undefined ? null : (context.literal(given, body)?.value ?? null);
    return typeof value === 'number' ? value : null;
  };
  const head = headOf(context, quantifier);
  const hasLimits = quantifier.named.length > 0 || quantifier.positional.length > 0;
  if (!hasLimits) {
    diagnostics.warning(
      'POL062',
      head,
      '`count` without limits is always true',
      'write `count(min=1):`, or leave it out',
    );
    return;
  }
  const [min, max] = [argument('min', 0), argument('max', 1)];
  if (max !== null && (max < 0 || (min !== null && min > max))) {
    const what = max < 0 ? `fewer than ${max + 1}` : `at least ${min} and at most ${max}`;
    diagnostics.warning('POL061', head, `there are never ${what}, so this line is never true`);
  }
}

/** `count(min=2)`, without the colon and the block. */
function headOf({ source }: LintContext, quantifier: Extract<Expression, { kind: 'quantifier' }>): Span {
  const values = [...quantifier.positional, ...quantifier.named.map(({ value }) => value)];
  const last = values.at(-1)?.end ?? quantifier.callee.end;
  const colon = source.text.indexOf(':', last);
  const end = colon < 0 ? last : colon;
  const text = source.text.slice(quantifier.start, end).trimEnd();
  return { start: quantifier.start, end: quantifier.start + text.length };
}

// ── variables that range over nothing ───────────────────────────────────────────────────────────────────────────

function emptyDomain(context: LintContext, body: LintBody, declaration: Declaration): void {
  const { type, within, variable } = declaration;
  const { diagnostics } = context;
  const ending = body.kind === 'forall' ? 'the block always holds' : CONSEQUENCES[body.kind];
  if (within === null) {
    if (!EMPTY_TYPES.has(type.name)) return;
    const help =
      type.name === 'Input'
        ? 'write the rule about the events of the trace, for example `(m: Message)`'
        : 'name the events themselves, for example `(m: Message)` or `(c: ToolCall)`';
    diagnostics.warning('POL060', type, `nothing in a trace is an \`${type.name}\`, so ${ending}`, help);
    return;
  }
  const value = context.value(within, body);
  const isEmptyList = value.kind === 'list' && value.items.length === 0;
  if (isEmptyList || !canHold(context.type(within), type.name)) {
    const what = isEmptyList ? 'in an empty list' : `of type \`${type.name}\` in this`;
    diagnostics.warning('POL060', within, `there is nothing ${what} for \`${variable.name}\`, so ${ending}`);
  }
}

/** Whether the walk through a value can meet an object of a type. */
function canHold(value: Type, wanted: string): boolean {
  if (value.kinds === null) return true;
  return [...value.kinds].some((kind) => {
    if (kind === wanted) return true;
    if (kind === 'None') return false;
    if (kind === 'list') return value.element === null || canHold(value.element, wanted);
    if (kind === 'str' || kind === 'int' || kind === 'float' || kind === 'bool') return false;
    // Texts and numbers of an object, and objects in it, but never events.
    if (kind === 'dict') return PLAIN_TYPES.has(wanted) || !OBJECT_TYPES.has(wanted);
    return true;
  });
}

// ── flows in a circle ───────────────────────────────────────────────────────────────────────────────────────────

/** No policy has more; each is compared with those before it. */
const MAX_FLOWS = 200;

function flowCircles(context: LintContext, together: readonly Expression[]): void {
  const after = new Map<string, Set<string>>();
  let count = 0;
  for (const flow of together) {
    if (!isOrder(flow)) continue;
    const [from, to] = [variableName(flow.left), variableName(flow.right)];
    if (from === null || to === null) continue;
    if (++count > MAX_FLOWS) return;
    if (from === to || reaches(after, to, from)) {
      context.diagnostics.warning(
        'POL060',
        flow,
        from === to
          ? `nothing comes before itself, so \`${from} ${flow.operator} ${to}\` never holds`
          : `\`${to}\` comes before \`${from}\` by another line, so this one never holds beside it`,
      );
      continue;
    }
    const targets = after.get(from) ?? new Set();
    after.set(from, targets.add(to));
  }
}

function reaches(after: ReadonlyMap<string, ReadonlySet<string>>, from: string, to: string): boolean {
  const reached = new Set([from]);
  for (const name of reached) {
    if (name === to) return true;
    for (const next of after.get(name) ?? []) reached.add(next);
  }
  return false;
}

// ── lines that contradict each other ────────────────────────────────────────────────────────────────────────────

interface Subject extends Span {
  /** Equal for equal values. */
  readonly key: string;
  readonly text: string;
}

type Fact = Subject &
  (
    | { readonly kind: 'equal' | 'unequal'; readonly value: Constant }
    | { readonly kind: 'one-of'; readonly values: readonly Constant[] }
    | { readonly kind: 'tool'; readonly tool: string }
    | { readonly kind: 'below' | 'above'; readonly limit: number; readonly isStrict: boolean }
    | { readonly kind: 'holds' | 'fails' }
  );

/** So that a hostile rule with thousands of lines about one value is not compared line by line. */
const MAX_FACTS = 32;

function contradictions(context: LintContext, body: LintBody, together: readonly Expression[]): void {
  const known = new Map<string, Fact[]>();
  for (const condition of together) {
    const fact = factOf(context, body, condition);
    if (fact === null) continue;
    const facts = known.get(fact.key) ?? [];
    known.set(fact.key, facts);
    const other = facts.find((candidate) => excludes(candidate, fact) || excludes(fact, candidate));
    if (other !== undefined) {
      context.diagnostics.warning(
        'POL060',
        fact,
        `this line and line ${context.line(other)} never hold together, so ${CONSEQUENCES[body.kind]}`,
        fact.kind === 'equal' || fact.kind === 'tool' ? 'join them with `or`, or write two rules' : undefined,
      );
    } else if (facts.length < MAX_FACTS) facts.push(fact);
  }
}

function factOf(context: LintContext, body: LintBody, condition: Expression): Fact | null {
  const span = { start: condition.start, end: condition.end };
  if (condition.kind === 'unary' && condition.operator === 'not') {
    const inner = factOf(context, body, condition.operand);
    return inner === null ? null : negated(inner, span);
  }
  if (condition.kind === 'binary') return comparisonFact(context, body, condition);
  const isCondition = condition.kind === 'call' || condition.kind === 'member' || condition.kind === 'name';
  if (!isCondition) return null;
  return { kind: 'holds', key: keyOf(condition, body.assigned), text: context.text(span), ...span };
}

function negated(fact: Fact, span: Span): Fact | null {
  switch (fact.kind) {
    case 'equal':
      return { ...fact, kind: 'unequal', ...span };
    case 'unequal':
      return { ...fact, kind: 'equal', ...span };
    case 'holds':
      return { ...fact, kind: 'fails', ...span };
    case 'fails':
      return { ...fact, kind: 'holds', ...span };
    default:
      return null;
  }
}

function comparisonFact(
  context: LintContext,
  body: LintBody,
  condition: Extract<Expression, { kind: 'binary' }>,
): Fact | null {
  const { operator, left, right } = condition;
  const about = (subject: Expression): Subject => ({
    key: keyOf(subject, body.assigned),
    text: context.text(subject),
    start: condition.start,
    end: condition.end,
  });
  if (operator === 'is' && right.kind === 'tool-pattern') {
    return { kind: 'tool', tool: right.tool.name, ...about(left), key: `${keyOf(left, body.assigned)}.name` };
  }
  const a = context.literal(left, body);
  const b = context.literal(right, body);
  if (operator === 'in') {
    const values = context.literals(right, body)?.map(({ value }) => value);
    if (a === null && values !== undefined && !canBe(context.type(left), 'list')) {
      return { kind: 'one-of', values, ...about(left) };
    }
  }
  if (operator === '==' || operator === '!=') {
    const kind = operator === '==' ? 'equal' : 'unequal';
    if (a !== null && b === null) return { kind, value: a.value, ...about(right) };
    if (b !== null && a === null) return { kind, value: b.value, ...about(left) };
    return null;
  }
  if (operator === 'is' && b?.value === null) return { kind: 'equal', value: null, ...about(left) };
  if (operator === 'is not' && b?.value === null) return { kind: 'unequal', value: null, ...about(left) };
  const limit = a === null ? b?.value : b === null ? a.value : null;
  if (isOrdering(operator) && typeof limit === 'number') {
    // `5 < x` is `x > 5`.
    const kind = operator.startsWith('<') === (a === null) ? 'below' : 'above';
    return { kind, limit, isStrict: operator.length === 1, ...about(a === null ? left : right) };
  }
  return { kind: 'holds', ...about(condition) };
}

/** Whether the two never hold together. Asked both ways round. */
function excludes(a: Fact, b: Fact): boolean {
  switch (a.kind) {
    case 'equal':
      return excludesEqual(a.value, b);
    case 'one-of':
      if (b.kind !== 'one-of') return false;
      return !a.values.some((value) => b.values.some((other) => isEqual(value, other)));
    case 'tool':
      return b.kind === 'tool' && !a.tool.includes('*') && !toolMatches(b.tool, a.tool);
    case 'below':
      if (b.kind !== 'above') return false;
      return a.limit < b.limit || (a.limit === b.limit && (a.isStrict || b.isStrict));
    case 'holds':
      return b.kind === 'fails';
    default:
      return false;
  }
}

function excludesEqual(value: Constant, b: Fact): boolean {
  switch (b.kind) {
    case 'equal':
      return !isEqual(value, b.value);
    case 'unequal':
      return isEqual(value, b.value);
    case 'one-of':
      return !b.values.some((other) => isEqual(value, other));
    case 'tool':
      return typeof value === 'string' && !toolMatches(b.tool, value);
    case 'below':
      return typeof value === 'number' && (value > b.limit || (value === b.limit && b.isStrict));
    case 'above':
      return typeof value === 'number' && (value < b.limit || (value === b.limit && b.isStrict));
    default:
      return false;
  }
}

/** Whether a tool pattern's name, in which `*` is any characters, matches a name. */
export function toolMatches(pattern: string, name: string): boolean {
  const [first = '', ...rest] = pattern.split(/\*+/);
  const last = rest.pop();
  if (last === undefined) return pattern === name;
  if (name.length < first.length + last.length || !name.startsWith(first) || !name.endsWith(last))
    return false;
  let at = first.length;
  for (const piece of rest) {
    const found = name.indexOf(piece, at);
    if (found < 0 || found + piece.length > name.length - last.length) return false;
    at = found + piece.length;
  }
  return true;
}
