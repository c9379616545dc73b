/**
 * Values that cannot be what a line takes them for: texts that a field never holds, fields and methods that no such
 * value has, comparisons of kinds that are never equal, regular expressions that never match.
 *
 * No decision depends on it.
 */

import {
  canBe,
  type Expression,
  METHODS,
  nearest,
  OBJECT_TYPES,
  type Span,
  type Type,
  withArticle,
} from '@cordon/policy';
import { calledName, type LintBody, type LintContext, partsOf } from './context.ts';
import { FIELD_VALUES, LABEL_VALUES } from './field-values.ts';

export function lintValues(context: LintContext): void {
  const seen = new Set<Expression>();
  // Inner blocks first: what a name stands for is decided by the innermost.
  for (const body of context.bodies.toReversed()) {
    const said = body.kind === 'rule' && 'message' in body.owner ? [body.owner.message] : [];
    for (const part of partsOf([...body.lines, ...said])) {
      if (seen.has(part)) continue;
      seen.add(part);
      look(context, body, part);
    }
  }
}

function look(context: LintContext, body: LintBody, part: Expression): void {
  switch (part.kind) {
    case 'binary':
      if (part.operator === '==' || part.operator === '!=') equality(context, body, part);
      else if (part.operator === 'in') membership(context, body, part);
      else if (part.operator === 'is' || part.operator === 'is not') identity(context, body, part);
      break;
    case 'member':
      field(context, body, part);
      break;
    case 'call':
      if (part.callee.kind === 'member') method(context, body, part.callee);
      searched(context, body, part);
      break;
    default:
      break;
  }
}

// ── comparisons ─────────────────────────────────────────────────────────────────────────────────────────────────

type Binary = Extract<Expression, { kind: 'binary' }>;

function equality(context: LintContext, body: LintBody, comparison: Binary): void {
  const { left, right } = comparison;
  for (const [subject, other] of [
    [left, right],
    [right, left],
  ] as const) {
    const literal = context.literal(other, body);
    if (typeof literal?.value === 'string') heldText(context, subject, literal.value, other);
  }
  const [a, b] = [context.type(left), context.type(right)];
  if (couldEqual(a, b)) return;
  const [code, verdict] = verdictOf(comparison);
  context.diagnostics.warning(
    code,
    comparison,
    `${withArticle(a)} never equals ${withArticle(b)}, so this is ${verdict} true`,
  );
}

/** What is reported of a comparison of what is never alike. */
function verdictOf({ operator }: Binary): readonly [code: 'POL061' | 'POL062', isTrue: 'never' | 'always'] {
  return operator === '==' || operator === 'is' ? ['POL061', 'never'] : ['POL062', 'always'];
}

function couldEqual(a: Type, b: Type): boolean {
  if (a.kinds === null || b.kinds === null) return true;
  const numeric = ['int', 'float', 'bool'];
  if (canBe(a, ...numeric) && canBe(b, ...numeric)) return true;
  return canBe(b, ...a.kinds);
}

function membership(context: LintContext, body: LintBody, { left, right }: Binary): void {
  const literal = context.literal(left, body);
  if (right.kind === 'member' && right.name.name === 'labels' && isEvent(context.type(right.object))) {
    if (typeof literal?.value === 'string' && !LABEL_VALUES.includes(literal.value)) {
      notHeld(context, left, `no event has the label \`${literal.value}\``, literal.value, LABEL_VALUES);
    }
  }
  const list = context.value(right, body);
  if (list.kind !== 'list') return;
  for (const item of list.items) {
    const value = context.literal(item, body)?.value;
    // A constant may serve several lines.
    if (typeof value === 'string' && list === right) heldText(context, left, value, item);
  }
}

function isEvent(type: Type): boolean {
  return type.kinds !== null && [...type.kinds].every((kind) => OBJECT_TYPES.get(kind)?.isEvent);
}

function heldText(context: LintContext, subject: Expression, text: string, at: Span): void {
  if (subject.kind !== 'member') return;
  const object = context.type(subject.object).kinds;
  const [kind] = object ?? [];
  if (object?.size !== 1 || kind === undefined) return;
  const held = FIELD_VALUES.get(`${kind}.${subject.name.name}`);
  if (held === undefined || held.values.includes(text)) return;
  const name = subject.name.name;
  if (kind === 'Message' && name === 'role' && text === 'tool') {
    context.diagnostics.warning(
      'POL063',
      at,
      'no Message has the role `tool`',
      'what a tool returned is a `ToolOutput`',
    );
    return;
  }
  // Roles of other makers are possible; those that are nearly a known one are slips.
  if (!held.isClosed && nearest(text, held.values) === null) return;
  const what = held.isClosed
    ? `the ${name} of ${withArticle(context.type(subject.object))} is never`
    : `there is no ${name}`;
  notHeld(context, at, `${what} \`${text}\``, text, held.values);
}

function notHeld(
  { diagnostics }: LintContext,
  at: Span,
  message: string,
  text: string,
  values: readonly string[],
): void {
  const suggestion = nearest(text, values);
  const help =
    suggestion === null
      ? `it is ${values.map((value) => `\`${value}\``).join(' or ')}`
      : `did you mean \`${suggestion}\`?`;
  diagnostics.warning('POL063', at, message, help);
}

function identity(context: LintContext, body: LintBody, comparison: Binary): void {
  const { left, right, operator } = comparison;
  const subject = context.type(left);
  const [code, verdict] = verdictOf(comparison);
  const isText = [left, right].some((side) => typeof context.literal(side, body)?.value === 'string');
  if (context.value(right, body).kind === 'tool-pattern') {
    if (canBe(subject, 'ToolCall', 'ToolOutput')) return;
    const message = `${withArticle(subject)} is not a call of a tool, so this is ${verdict} true`;
    context.diagnostics.warning(
      code,
      comparison,
      message,
      'a pattern speaks of a `ToolCall` or a `ToolOutput`',
    );
  } else if (isText) {
    const message = `two texts are not the same object, equal or not, so this is ${verdict} true`;
    const help = operator === 'is' ? 'compare with `==`' : 'compare with `!=`';
    context.diagnostics.warning(code, comparison, message, help);
  }
}

// ── fields and methods ──────────────────────────────────────────────────────────────────────────────────────────

/** Kinds whose members are not fields; texts and objects can have any. */
const MEMBERLESS: ReadonlySet<string> = new Set([
  ...['list', 'int', 'float', 'bool', 'None', 'function', 'tool pattern'],
]);

function field(context: LintContext, body: LintBody, member: Extract<Expression, { kind: 'member' }>): void {
  const { kinds } = context.type(member.object);
  const isModule =
    member.object.kind === 'name' && context.resolve(member.object.name, body)?.kind === 'module';
  if (isModule || kinds === null || ![...kinds].every((kind) => MEMBERLESS.has(kind))) return;
  context.diagnostics.warning(
    'POL064',
    member.name,
    `${withArticle(context.type(member.object))} has no field \`${member.name.name}\``,
    kinds.has('list') ? `take it of each element: \`[x.${member.name.name} for x in …]\`` : undefined,
  );
}

/** What authors who think in Python most often mean. */
const PYTHON_METHODS: ReadonlyMap<string, string> = new Map([
  ['startswith', 'write `match("…", x)`, which is anchored at the beginning'],
  ['endswith', 'write `match("(?s).*…$", x)`'],
  ['find', 'write `find("…", x)`'],
  ['index', 'write `"…" in x`'],
  ['count', 'write `len(find("…", x))`'],
  ['replace', 'write the condition with `find("…", x)`'],
  ['contains', 'write `"…" in x`'],
  ['includes', 'write `"…" in x`'],
  ['toLowerCase', 'write `lower()`'],
  ['toUpperCase', 'write `upper()`'],
  ['trim', 'write `strip()`'],
  ['casefold', 'write `lower()`'],
  ['length', 'write `len(x)`'],
]);

function method(
  context: LintContext,
  body: LintBody,
  { object, name }: Extract<Expression, { kind: 'member' }>,
): void {
  if (object.kind === 'name' && context.resolve(object.name, body)?.kind === 'module') return;
  const type = context.type(object);
  // Of a list and the like every member was reported already; of an event, by the checker.
  if (type.kinds !== null && [...type.kinds].every((kind) => MEMBERLESS.has(kind) || OBJECT_TYPES.has(kind)))
    return;
  const known = METHODS.get(name.name);
  if (known !== undefined && canBe(type, ...known.of)) return;
  const fitting = [...METHODS].filter(([, { of }]) => canBe(type, ...of)).map(([method]) => method);
  const suggestion = nearest(name.name, fitting);
  const fits = type.kinds === null ? 'no value has a' : `${withArticle(type)} has no`;
  const others =
    suggestion === null
      ? `there are ${fitting.map((method) => `\`${method}\``).join(', ')}`
      : `did you mean \`${suggestion}\`?`;
  context.diagnostics.warning(
    'POL064',
    name,
    `${fits} method \`${name.name}\``,
    PYTHON_METHODS.get(name.name) ?? others,
  );
}

// ── regular expressions ─────────────────────────────────────────────────────────────────────────────────────────

function searched(context: LintContext, body: LintBody, call: Extract<Expression, { kind: 'call' }>): void {
  const name = calledName(call, context, body);
  const [pattern] = call.positional;
  if ((name !== 'match' && name !== 'find') || pattern === undefined) return;
  const text = context.literal(pattern, body)?.value;
  if (typeof text === 'string') neverMatches(context, text, pattern);
}

/**
 * Only what is easy to know: a character that must follow the end of the text, or stand before its beginning, outside
 * of groups, classes, repetitions and alternatives.
 */
function neverMatches({ diagnostics }: LintContext, pattern: string, at: Span): void {
  // What can match a line end may stand behind `$`, which also holds before the last one.
  const plain = pattern
    .replace(/\\[nsWDZ]/g, '\n')
    .replace(/\\[\s\S]/g, 'x')
    .replace(/\[\^?\]?[^\]]*\]/g, 'x');
  if (/[()|]/.test(plain)) return;
  const behindEnd = /\$[A-Za-z0-9 @:/,;_-](?![?*{])/.test(plain);
  const beforeStart = /[A-Za-z0-9 @:/,;_.-]\^/.test(plain);
  if (!behindEnd && !beforeStart) return;
  diagnostics.warning(
    'POL065',
    at,
    behindEnd
      ? 'nothing can follow `$`, the end of the text, so this pattern never matches'
      : 'nothing can stand before `^`, the beginning of the text, so this pattern never matches',
    `write \`\\${behindEnd ? '$' : '^'}\` for the character`,
  );
}
