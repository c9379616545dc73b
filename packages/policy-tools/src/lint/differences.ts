/**
 * The traps of the language: texts, functions and lines that do not do what they seem to, and what other
 * implementations of the language read otherwise. The latter is reported only for rules that these load, because a rule
 * that uses an addition means here what it says here.
 *
 * No decision depends on it. Section numbers are those of the language's specification.
 */
import {
  canBe,
  type Expression,
  freeNames,
  inCircles,
  OBJECT_TYPES,
  type Pattern,
  type RuleTree,
  type Type,
  variablesOf,
  walk,
  withArticle,
} from '@cordon/policy';
import { calledName, type LintBody, type LintContext, literalsIn, partsOf } from './context.ts';

type Call = Extract<Expression, { kind: 'call' }>;
type Binary = Extract<Expression, { kind: 'binary' }>;

export function lintDifferences(context: LintContext): void {
  const seen = new Set<Expression>();
  const look = (part: Expression, body: LintBody | null, isPortable: boolean): void => {
    if (seen.has(part)) return;
    seen.add(part);
    traps(context, part, body, isPortable);
    if (isPortable) differences(context, part, body);
  };
  for (const body of context.bodies.toReversed()) {
    const isPortable = context.isPortable(body.owner);
    for (const part of partsOf(body.lines)) look(part, body, isPortable);
    if (isPortable) unboundVariables(context, body);
  }
  for (const rule of context.tree.rules) {
    const isPortable = context.isPortable(rule);
    walk(rule.message, (part) => look(part, null, isPortable));
    if (isPortable) {
      lostAssignments(context, rule);
      pendingRules(context, rule);
    }
  }
  for (const definition of context.tree.definitions) {
    if (definition.parameters !== null) continue;
    const isPortable = context.isPortable(definition);
    for (const part of partsOf(definition.body)) look(part, null, isPortable);
  }
  groupings(context);
  recursion(context);
}

// ── traps, whoever reads the rule ──────────────────────────────────────────────────────────────────────────────────

function traps(context: LintContext, part: Expression, body: LintBody | null, isPortable: boolean): void {
  switch (part.kind) {
    case 'call':
      anchoredMatch(context, part, body);
      escapes(context, part, body);
      blindFunction(context, part, body, isPortable);
      wrongCall(context, part, body);
      break;
    case 'binary':
      if (part.operator === 'in') searchedText(context, part, body);
      if (part.operator === 'in' || part.operator === '==' || part.operator === '!=') {
        for (const side of [part.left, part.right]) escapedText(context, side);
      }
      break;
    case 'tool-pattern':
      if (part.arguments !== null) patternAlternatives(context, part.arguments);
      break;
    default:
      break;
  }
}

/** Anchored on purpose, or led by what matches anything. */
const SAYS_WHERE =
  /^(?:\(\?[a-zA-Z]+\))?(?:\(\?:|\()*(?:\^|\\A|\.[*+]|\[\\s\\S\][*+]|\[\^[^\]]*\][*+])|(?:\$|\\Z|\.[*+]\??)\)*$/;
/** Words, which an argument holds somewhere or is equal to; branches of them may be all that it can be. */
const PLAIN_WORDS = /^(?:\(\?[a-zA-Z]+\))?[\p{L}\p{N}_]+(?: [\p{L}\p{N}_]+)*$/u;

/**
 * 16.2: the documentation finds links in texts with it. What people and models write is searched; of an argument, which
 * may have a form with a beginning, only words are reported.
 */
function anchoredMatch(context: LintContext, call: Call, body: LintBody | null): void {
  const [pattern, text] = call.positional;
  if (calledName(call, context, body) !== 'match' || pattern === undefined || text === undefined) return;
  const written = context.literal(pattern, body)?.value;
  if (typeof written !== 'string' || written === '' || SAYS_WHERE.test(written)) return;
  const isSearched = isProse(context, text) || (PLAIN_WORDS.test(written) && isArgument(text, body));
  if (!isSearched) return;
  const given = context.text({ start: pattern.start, end: text.end });
  context.diagnostics.warning(
    'POL084',
    call,
    '`match` only looks at the beginning of the text',
    `write \`any(find(${given.length <= 60 && !given.includes('\n') ? given : '…'}))\` to look everywhere, or begin the pattern with \`^\``,
  );
}

/** Of a call: `call.arguments.body`, and `(part: str) in call.arguments`. */
function isArgument(text: Expression, body: LintBody | null): boolean {
  switch (text.kind) {
    case 'call':
      return text.callee.kind === 'member' && isArgument(text.callee.object, body);
    case 'index':
      return isArgument(text.object, body) || isArguments(text.object);
    case 'member':
      return isArguments(text.object) || isArgument(text.object, body);
    case 'name': {
      const { declarations } = variablesOf(body?.lines ?? []);
      const within = declarations.find(({ variable }) => variable.name === text.name)?.within ?? null;
      return within !== null && isArguments(within);
    }
    default:
      return false;
  }
}

function isArguments(expression: Expression): boolean {
  return expression.kind === 'member' && expression.name.name === 'arguments';
}

/** What people and models write. */
function isProse(context: LintContext, text: Expression): boolean {
  if (text.kind === 'call' && text.callee.kind === 'member') return isProse(context, text.callee.object);
  if (text.kind !== 'member') return false;
  const { kinds } = context.type(text.object);
  const field = text.name.name;
  const isSpoken = kinds?.size === 1 && (kinds.has('Message') || kinds.has('ToolOutput'));
  return (
    (isSpoken && field === 'content') || (kinds?.size === 1 && kinds.has('TextChunk') && field === 'text')
  );
}

const ESCAPE = /\\[ntr]/;

/** 2.3: no escape is processed, so `"\n"` has two characters. */
function escapes(context: LintContext, call: Call, body: LintBody | null): void {
  const { callee } = call;
  if (callee.kind !== 'member' || calledName(call, context, body) !== null) return;
  const method = callee.name.name;
  if (method === 'join') escapedText(context, callee.object);
  if (method === 'split' || method === 'strip') {
    for (const argument of call.positional) escapedText(context, argument);
  }
}

function escapedText({ diagnostics }: LintContext, part: Expression): void {
  if (part.kind !== 'literal' || typeof part.value !== 'string' || !ESCAPE.test(part.value)) return;
  const [pair = ''] = ESCAPE.exec(part.value) ?? [];
  diagnostics.warning(
    'POL085',
    part,
    `\`${pair}\` in a text is a backslash and the letter \`${pair.slice(1)}\``,
    pair === '\\n' ? 'use `splitlines()` for lines, or `find` with a pattern' : 'use `find` with a pattern',
  );
}

/** 13: these look at texts and messages; of a call or an object they see nothing. */
const SEES_TEXTS: ReadonlySet<string> = new Set(['text', 'image']);
/** Here these see all texts within, and numbers; elsewhere they do not. */
const SEES_TEXTS_ELSEWHERE: ReadonlySet<string> = new Set([
  'secrets',
  'pii',
  'copyright',
  'moderated',
  'prompt_injection',
]);

function blindFunction(context: LintContext, call: Call, body: LintBody | null, isPortable: boolean): void {
  const name = calledName(call, context, body);
  if (name === null) return;
  if (SEES_TEXTS.has(name) || (isPortable && SEES_TEXTS_ELSEWHERE.has(name))) {
    const looked = name === 'text' || name === 'image' ? call.positional : call.positional.slice(0, 1);
    for (const argument of looked) {
      const type = context.type(argument);
      if (seesTexts(type)) continue;
      context.diagnostics.warning(
        'POL086',
        argument,
        `\`${name}\` finds nothing in ${withArticle(type)}`,
        canBe(type, 'ToolCall', 'dict', 'Function')
          ? 'give it the texts in the arguments: declare `(value: str) in call.arguments`'
          : 'give it a text, a message or a tool output',
      );
    }
  }
  const [first] = call.positional;
  if (name === 'prompt_injection' && first !== undefined && calledName(first, context, body) === 'ocr') {
    context.diagnostics.warning(
      'POL086',
      first,
      '`ocr` gives a list of texts, which `prompt_injection` does not judge one by one everywhere',
      'write `any([prompt_injection(page) for page in ocr(…)])`',
    );
  }
}

function seesTexts(type: Type): boolean {
  if (type.kinds === null || canBe(type, 'str', 'Contents', 'Message', 'ToolOutput', 'None')) return true;
  return type.kinds.has('list') && (type.element === null || seesTexts(type.element));
}

/** What such a call always fails on. */
function wrongCall(context: LintContext, call: Call, body: LintBody | null): void {
  const name = calledName(call, context, body);
  const [first] = call.positional;
  if (first === undefined) return;
  const type = context.type(first);
  const isWrong =
    (name === 'tool_call' && !canBe(type, 'ToolOutput')) ||
    (name === 'any' && !canBe(type, 'list', 'str', 'dict', 'Contents')) ||
    ((name === 'len' || name === 'empty') && !canBe(type, 'list', 'str', 'dict', 'Contents')) ||
    (name === 'json_loads' && !canBe(type, 'str'));
  if (!isWrong) return;
  context.diagnostics.warning(
    'POL086',
    first,
    `\`${name}\` cannot be computed for ${withArticle(type)}`,
    name === 'tool_call' ? 'give it a `ToolOutput`' : undefined,
  );
}

/** 6.3: the left side is compared as it is. */
function searchedText(context: LintContext, { left, right }: Binary, body: LintBody | null): void {
  if (left.kind !== 'literal' || typeof left.value !== 'string') return;
  if (!canBe(context.type(right), 'str', 'Contents') || context.value(right, body).kind === 'list') return;
  if (!/\.[*+]|\\[bdswBDSW]|\[[^\]\s]-[^\]\s]\]|\(\?[:i]|^\^\w|\w\$$|\w\|\w/.test(left.value)) return;
  context.diagnostics.warning(
    'POL088',
    left,
    'this text is looked for as it is, not as a regular expression',
    'write `any(find("…", x))`',
  );
}

/** 7: `$` is put behind the whole pattern, so it ends only the last branch. */
function patternAlternatives(context: LintContext, pattern: Pattern): void {
  for (const literal of literalsIn(pattern)) {
    if (typeof literal.value !== 'string') continue;
    const branches = topBranches(literal.value);
    const loose = branches.slice(0, -1).find((branch) => !/\$$|\\Z$|\.\*$/.test(branch));
    if (loose === undefined) continue;
    context.diagnostics.warning(
      'POL087',
      literal,
      `only the last branch must reach the end, so this also matches what merely begins with \`${loose}\``,
      'put the branches into parentheses: `(a|b)`',
    );
  }
}

/** What `|` separates outside of groups and classes. */
function topBranches(pattern: string): readonly string[] {
  const branches: string[] = [];
  let depth = 0;
  let start = 0;
  let inClass = false;
  for (let at = 0; at < pattern.length; at++) {
    const character = pattern[at];
    if (character === '\\') at++;
    else if (inClass) inClass = character !== ']';
    else if (character === '[') inClass = true;
    else if (character === '(') depth++;
    else if (character === ')') depth--;
    else if (character === '|' && depth === 0) {
      branches.push(pattern.slice(start, at));
      start = at + 1;
    }
  }
  return [...branches, pattern.slice(start)];
}

// ── what other implementations read otherwise ───────────────────────────────────────────────────────────────────

function differences(context: LintContext, part: Expression, body: LintBody | null): void {
  const { diagnostics } = context;
  switch (part.kind) {
    case 'format':
      if (part.parts.length > 1) {
        diagnostics.warning(
          'POL080',
          part,
          'the values in braces are put into the text; other implementations leave the braces as they are',
        );
      } else if (/[{}]/.test(part.parts.join(''))) {
        diagnostics.warning(
          'POL080',
          part,
          'a doubled brace is one brace here; other implementations leave both',
          'write the text without `f`',
        );
      }
      break;
    case 'binary':
      if (part.operator === 'is not' && context.literal(part.right, body)?.value !== null) {
        diagnostics.warning(
          'POL082',
          part,
          'other implementations read this as `is (not …)`, which is never true',
          'write `not (… is …)`, which all of them read alike',
        );
      }
      break;
    case 'ternary':
      looseTernary(context, part);
      break;
    case 'literal':
      multilineText(context, part);
      break;
    case 'tool-pattern':
      if (part.arguments !== null) numbers(context, part.arguments);
      break;
    case 'member':
      if (
        part.name.name === 'data' &&
        canBe(context.type(part.object), 'input') &&
        isInput(context, part.object, body)
      ) {
        diagnostics.warning(
          'POL093',
          part,
          '`input.data` is a parameter here; other implementations give the trace',
          'range over the trace with a variable: `(m: Message)`',
        );
      }
      break;
    case 'logic':
      optionalVariables(context, part);
      break;
    default:
      break;
  }
}

function isInput(context: LintContext, expression: Expression, body: LintBody | null): boolean {
  return expression.kind === 'name' && context.resolve(expression.name, body)?.kind === 'input';
}

/** 2.6: what stands behind `else` is one bare atom there, and what follows it belongs to the whole. */
function looseTernary(context: LintContext, ternary: Extract<Expression, { kind: 'ternary' }>): void {
  const { otherwise } = ternary;
  const isSuffixed = otherwise.kind === 'call' || otherwise.kind === 'member' || otherwise.kind === 'index';
  if (!isSuffixed || isInParentheses(context, otherwise)) return;
  context.diagnostics.warning(
    'POL054',
    ternary,
    'other implementations group this `if`/`else` differently',
    'put the part behind `else` into parentheses',
  );
}

/** 2.1: blank lines go, and a deeper line behind a `:` is taken for a block. */
function multilineText(context: LintContext, literal: Extract<Expression, { kind: 'literal' }>): void {
  if (typeof literal.value !== 'string') return;
  const written = context.text(literal);
  if (!/^[rf]?(?:"""|''')/.test(written)) return;
  const hasBlank = /\n[ \t]*\r?\n/.test(written);
  const hasBlock = /:[ \t]*\r?\n([ \t]*)\S[^\n]*/.test(written) && opensBlock(written);
  if (!hasBlank && !hasBlock) return;
  context.diagnostics.warning(
    'POL092',
    literal,
    hasBlank
      ? 'the blank lines of this text are part of it; other implementations drop them'
      : 'a deeper line behind `:` is part of this text; other implementations take it for a block',
  );
}

function opensBlock(written: string): boolean {
  const lines = written.split('\n').slice(1);
  return lines.some((line, index) => {
    const next = lines[index + 1];
    return /:\s*$/.test(line) && next !== undefined && depthOf(next) > depthOf(line);
  });
}

function depthOf(line: string): number {
  return line.length - line.trimStart().length;
}

/** 7: there `1.0` matches no `1`. */
function numbers(context: LintContext, pattern: Pattern): void {
  for (const literal of literalsIn(pattern)) {
    const { value } = literal;
    if (typeof value !== 'number' || !Number.isInteger(value) || !/[.eE]/.test(context.text(literal)))
      continue;
    const message = `this also matches \`${value}\`; for other implementations the two are different numbers`;
    context.diagnostics.warning('POL090', literal, message);
  }
}

/** 5.1: a variable in a branch is bound there only where the branch is needed. */
function optionalVariables(context: LintContext, logic: Extract<Expression, { kind: 'logic' }>): void {
  if (logic.operator !== 'or') return;
  for (const side of [logic.left, logic.right]) {
    for (const { variable, start, end } of variablesOf([side]).declarations) {
      context.diagnostics.warning(
        'POL083',
        { start, end },
        `\`${variable.name}\` is bound whichever side holds; other implementations bind it only where it is needed`,
        'write a rule for each side',
      );
    }
  }
}

/** 5.1: a variable that no line needs is not bound there, so a rule that only asks for one always acts. */
function unboundVariables(context: LintContext, body: LintBody): void {
  const { declarations, assignments } = variablesOf(body.lines);
  if (body.kind === 'forall') return;
  const used = new Set<string>();
  const message = body.kind === 'rule' && 'message' in body.owner ? [body.owner.message] : [];
  for (const line of [...body.lines, ...message]) {
    if (line.kind !== 'declaration') for (const name of freeNames(line)) used.add(name);
    else if (line.within !== null) for (const name of freeNames(line.within)) used.add(name);
  }
  // Where other variables are used the checker says that nothing uses this one.
  if (body.kind === 'rule' && declarations.length + assignments.length > 1) return;
  for (const { variable, start, end } of declarations) {
    if (used.has(variable.name)) continue;
    const what =
      body.kind === 'count'
        ? 'count it once, however many there are'
        : 'hold without any, even in an empty trace';
    context.diagnostics.warning(
      'POL083',
      { start, end },
      `there must be such an object; in other implementations this line does not bind \`${variable.name}\``,
      `there the lines ${what}; a line that uses \`${variable.name}\` makes them agree`,
    );
  }
}

/** 6.7: names given behind a list comprehension are missing there when the message is computed. */
function lostAssignments(context: LintContext, rule: RuleTree): void {
  const said = freeNames(rule.message);
  let hasComprehension = false;
  for (const line of rule.body) {
    if (hasComprehension && line.kind === 'assignment' && said.has(line.variable.name)) {
      context.diagnostics.warning(
        'POL094',
        line.variable,
        `the message can use \`${line.variable.name}\`; in other implementations the rule then never acts`,
        'give the name above the line with the list comprehension',
      );
    }
    hasComprehension ||= partsOf([line]).some(({ kind }) => kind === 'comprehension');
  }
}

/** 12: only assignments with a new event or call among their variables are reported there. */
function pendingRules(context: LintContext, rule: RuleTree): void {
  const { declarations } = variablesOf(rule.body);
  const hasEvent = declarations.some(({ type }) => OBJECT_TYPES.get(type.name)?.isEvent === true);
  if (hasEvent) return;
  if (declarations.length === 0 && !looksAtTrace(context, rule.body)) return;
  context.diagnostics.warning(
    'POL089',
    { start: rule.start, end: rule.message.end },
    'this rule has no event of its own; other implementations never report it for pending events',
  );
}

/** Whether a quantifier, or a predicate that declares variables, looks through the trace. */
function looksAtTrace(context: LintContext, lines: readonly Expression[]): boolean {
  return partsOf(lines).some((part) => {
    if (part.kind === 'quantifier') return variablesOf(part.body).declarations.length > 0;
    if (part.kind !== 'call' || part.callee.kind !== 'name') return false;
    const definition = context.definition(part.callee.name, null);
    if (definition === null || definition.parameters === null) return false;
    return variablesOf(definition.body).declarations.some(({ within }) => within === null);
  });
}

// ── lines of several operators (2.6, 2.7) ───────────────────────────────────────────────────────────────────────

function groupings(context: LintContext): void {
  for (const body of context.bodies) {
    if (!context.isPortable(body.owner)) continue;
    for (const line of body.lines) grouping(context, line.kind === 'assignment' ? line.value : line);
  }
  for (const definition of context.tree.definitions) {
    if (definition.parameters !== null || !context.isPortable(definition)) continue;
    for (const line of definition.body) grouping(context, line);
  }
}

/** One line or one pair of brackets: how many operators stand side by side in it. */
function grouping(context: LintContext, line: Expression): void {
  const joined: Expression[] = [];
  const operators: string[] = [];
  const flatten = (part: Expression, isOutermost: boolean): void => {
    const isJoin = part.kind === 'logic' || part.kind === 'binary';
    if (!isJoin || (!isOutermost && isInParentheses(context, part))) {
      joined.push(part);
      return;
    }
    flatten(part.left, false);
    operators.push(part.operator);
    flatten(part.right, false);
  };
  flatten(line, true);
  const connectives = operators.filter((operator) => operator === 'and' || operator === 'or');
  if (isMisread(context, line, operators, connectives, joined)) {
    context.diagnostics.warning(
      'POL081',
      line,
      `other implementations may group these ${operators.length} operators differently`,
      'put each condition into parentheses, or on a line of its own',
    );
    return;
  }
  for (const part of joined) for (const inner of bracketed(part)) grouping(context, inner);
}

/** What is in its own brackets. */
function bracketed(part: Expression): readonly Expression[] {
  switch (part.kind) {
    case 'call':
      return [...part.positional, ...part.named.map(({ value }) => value)];
    case 'unary':
      return [part.operand];
    case 'binary':
    case 'logic':
      return [part];
    case 'comprehension':
      return part.condition === null ? [part.element] : [part.element, part.condition];
    case 'list':
      return part.items;
    default:
      return [];
  }
}

function isMisread(
  context: LintContext,
  line: Expression,
  operators: readonly string[],
  connectives: readonly string[],
  operands: readonly Expression[],
): boolean {
  const [first] = operators;
  const isUniform = operators.every((operator) => operator === first);
  const hasNegation = operands.some((part) => part.kind === 'unary' && !isInParentheses(context, part));
  if (connectives.length >= 2) {
    // `f(a) or f(b) or f(c)` comes out the same; `and` beside `or` is reported when loading.
    return !(isUniform && !hasNegation) && new Set(connectives).size === 1;
  }
  if (operators.length < 3 || (isUniform && first === '+')) return false;
  if (connectives.length === 0) return true;
  // Two conditions of one comparison each are read as written.
  return !(
    operators.length === 3 &&
    line.kind === 'logic' &&
    isSingle(context, line.left) &&
    isSingle(context, line.right)
  );
}

function isSingle(context: LintContext, condition: Expression): boolean {
  if (condition.kind !== 'binary') return true;
  const isPlain = (part: Expression): boolean => part.kind !== 'binary' || isInParentheses(context, part);
  return isPlain(condition.left) && isPlain(condition.right);
}

function isInParentheses({ source }: LintContext, part: Expression): boolean {
  return source.text[part.start] === '(' && source.text[part.end - 1] === ')' && part.kind !== 'declaration';
}

// ── predicates that call themselves ─────────────────────────────────────────────────────────────────────────────

/** 5.2: there the limit of evaluations ends them; here they are undecided beyond a depth. */
function recursion(context: LintContext): void {
  const predicates = context.tree.definitions.filter(({ parameters }) => parameters !== null);
  const uses = new Map(
    predicates.map(({ name, body }) => [name.name, new Set(body.flatMap((line) => [...freeNames(line)]))]),
  );
  const circular = inCircles(uses);
  for (const { name } of predicates) {
    if (!circular.has(name.name)) continue;
    context.diagnostics.warning(
      'POL091',
      name,
      `\`${name.name}\` calls itself, and is undecided beyond 64 calls inside each other`,
      'other implementations fail after 100 evaluations; write it without calling itself',
    );
  }
}
