/** Generated syntax trees that hold every construct, and texts of them as careless authors write them. */

import type {
  BinaryOperator,
  Definition,
  Expression,
  Identifier,
  Import,
  Pattern,
  PolicyTree,
  RuleTree,
  Token,
} from '@cordon/policy';
import { Diagnostics, dedent, parseTokens, type Role, Source } from '@cordon/policy';
import fc from 'fast-check';

const SPAN = { start: 0, end: 0 };

const NAMES = ['a', 'm', 'call', 'x1', '_y', 'tool', 'undecided', 'forall', 'rule', 'raise', 'r', 'f'];
/** Names that are words of the language somewhere. */
const WORDS = [
  'if',
  'in',
  'is',
  'not',
  'and',
  'or',
  'else',
  'for',
  'import',
  'from',
  'contains_only',
  'before',
  'as',
];

const name = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...NAMES) },
  { weight: 1, arbitrary: fc.constantFrom(...WORDS) },
);
const plainName = fc.constantFrom(...NAMES);

function identifier(text: fc.Arbitrary<string>): fc.Arbitrary<Identifier> {
  return text.map((value) => ({ name: value, ...SPAN }));
}

/** What a string between two quotes can hold: a backslash takes the next character with it. */
const singleLine = fc
  .tuple(
    fc.constantFrom('"', "'"),
    fc.array(
      fc.constantFrom(
        'a',
        ' ',
        'é',
        '#',
        ':',
        '{',
        '}',
        '<',
        '\\d',
        '\\\\',
        '\\"',
        "\\'",
        '\t',
        '\ud83d\ude00',
      ),
      {
        maxLength: 6,
      },
    ),
  )
  .map(([quote, parts]) => parts.join('').replaceAll(`\\${quote}`, quote));
const multiLine = fc
  .array(fc.constantFrom('a', '\n', '  ', '"', "'", '\\', '\r', 'raise "x" if:', '# b', '    '), {
    minLength: 1,
    maxLength: 8,
  })
  .map((parts) => dedent(parts.join('')))
  .filter((value) => dedent(value) === value && !/"""|["']$/.test(value));
const string = fc.oneof({ weight: 5, arbitrary: singleLine }, { weight: 1, arbitrary: multiLine });

const number = fc.oneof(
  fc.nat(100),
  fc.constantFrom(0.5, 1.25, 1e21, 1e-7, 12345678901234567000, Number.POSITIVE_INFINITY),
);

const BINARY: readonly BinaryOperator[] = [
  ...(['==', '!=', '<', '>', '<=', '>=', 'is', 'is not', 'in', 'contains_only'] as const),
  ...(['->', '~>', 'before', '+', '-', '*', '/', '%', '**'] as const),
];

const hole = fc.oneof(
  name.map((text): Expression => ({ kind: 'name', name: text, ...SPAN })),
  fc
    .tuple(
      plainName,
      singleLine.filter((value) => /^[ -z]*$/.test(value) && !/["'\\]/.test(value)),
    )
    .map(
      ([object, key]): Expression => ({
        kind: 'index',
        object: { kind: 'name', name: object, ...SPAN },
        index: { kind: 'literal', value: key, ...SPAN },
        ...SPAN,
      }),
    ),
  fc.tuple(plainName, plainName).map(
    ([object, field]): Expression => ({
      kind: 'member',
      object: { kind: 'name', name: object, ...SPAN },
      name: { name: field, ...SPAN },
      ...SPAN,
    }),
  ),
);
const formatted = fc
  .tuple(
    fc.array(fc.tuple(fc.constantFrom('', 'a ', '{', '}}', '"', '\\d', 'é#'), hole), { maxLength: 3 }),
    fc.constantFrom('', ' b', '"', '{}'),
  )
  .map(
    ([pairs, last]): Expression => ({
      kind: 'format',
      parts: [...pairs.flat(), last],
      ...SPAN,
    }),
  );

const toolName = fc.constantFrom(
  'send',
  'send-mail',
  'mail.*',
  '*',
  '**',
  'a/b.c-1',
  'Mail',
  '',
  'two words',
  'a"b',
  '7',
);

type Parts = { readonly expression: Expression; readonly pattern: Pattern };

function many<T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T[]> {
  return fc.array(arbitrary, { maxLength: 3 });
}

const parts = fc.letrec<Parts>((tie) => {
  const inner = tie('expression');
  const named = many(fc.record({ name: identifier(name), value: inner }));
  const entries = many(fc.record({ key: fc.oneof(name, string), value: inner }));
  const atoms: fc.Arbitrary<Expression>[] = [
    fc
      .oneof(string, number, fc.constantFrom(null, true, false))
      .map((value) => ({ kind: 'literal', value, ...SPAN })),
    name.map((text) => ({ kind: 'name', name: text, ...SPAN })),
    formatted,
    fc
      .tuple(identifier(plainName.filter((text) => text !== 'tool')), identifier(name))
      .map(([variable, type]) => ({
        kind: 'declaration',
        variable,
        type,
        within: null,
        ...SPAN,
      })),
    identifier(toolName).map((tool) => ({ kind: 'tool-pattern', tool, arguments: null, ...SPAN })),
  ];
  const compound: fc.Arbitrary<Expression>[] = [
    fc
      .tuple(inner, identifier(name))
      .map(([object, field]) => ({ kind: 'member', object, name: field, ...SPAN })),
    fc.tuple(inner, inner).map(([object, index]) => ({ kind: 'index', object, index, ...SPAN })),
    fc.tuple(inner, many(inner), named).map(([callee, positional, rest]) => ({
      kind: 'call',
      callee,
      positional,
      named: rest,
      ...SPAN,
    })),
    fc
      .tuple(fc.constantFrom(...BINARY), inner, inner)
      // `(x: T) in y` is a declaration and no comparison.
      .filter(([operator, left]) => operator !== 'in' || left.kind !== 'declaration' || left.within !== null)
      .map(([operator, left, right]) => ({ kind: 'binary', operator, left, right, ...SPAN })),
    fc.tuple(fc.constantFrom('and' as const, 'or' as const), inner, inner).map(([operator, left, right]) => ({
      kind: 'logic',
      operator,
      left,
      right,
      ...SPAN,
    })),
    fc
      .tuple(fc.constantFrom('not' as const, '-' as const, '+' as const), inner)
      .map(([operator, operand]) => ({
        kind: 'unary',
        operator,
        operand,
        ...SPAN,
      })),
    fc.tuple(inner, inner, inner).map(([condition, then, otherwise]) => ({
      kind: 'ternary',
      condition,
      then,
      otherwise,
      ...SPAN,
    })),
    many(inner).map((items) => ({ kind: 'list', items, ...SPAN })),
    fc
      .tuple(identifier(plainName), inner)
      .map(([variable, value]) => ({ kind: 'assignment', variable, value, ...SPAN })),
    entries.map((list) => ({ kind: 'object', entries: list, ...SPAN })),
    fc
      .tuple(inner, identifier(name), inner, fc.option(inner))
      .map(([element, variable, iterable, condition]) => ({
        kind: 'comprehension',
        element,
        variable,
        iterable,
        condition,
        ...SPAN,
      })),
    fc
      .tuple(identifier(plainName.filter((text) => text !== 'tool')), identifier(name), inner)
      .map(([variable, type, within]) => ({ kind: 'declaration', variable, type, within, ...SPAN })),
    fc.tuple(identifier(toolName), tie('pattern')).map(([tool, pattern]) => ({
      kind: 'tool-pattern',
      tool,
      arguments: pattern,
      ...SPAN,
    })),
  ];
  return {
    expression: fc.oneof({ depthSize: 'small', withCrossShrink: true }, ...atoms, ...compound, ...compound),
    pattern: fc.oneof(
      { depthSize: 'small' },
      fc.constant<Pattern>({ kind: 'any', ...SPAN }),
      fc
        .constantFrom('EMAIL_ADDRESS', 'a:b')
        .map((text): Pattern => ({ kind: 'value-reference', name: text, ...SPAN })),
      inner.map((value): Pattern => ({ kind: 'value', value, ...SPAN })),
      many(tie('pattern')).map((items): Pattern => ({ kind: 'list', items, ...SPAN })),
      many(fc.record({ key: fc.oneof(name, string), pattern: tie('pattern') })).map(
        (list): Pattern => ({ kind: 'object', entries: list, ...SPAN }),
      ),
    ),
  };
});

/** Lines of a block; only here a quantifier may stand, because no bracket can hold a block. */
const { line } = fc.letrec<{ line: Expression }>((tie) => {
  const body = fc.array(tie('line'), { minLength: 1, maxLength: 2 });
  const quantifier = fc
    .tuple(
      identifier(fc.constantFrom('forall', 'count', 'tool')),
      many(parts.expression),
      many(fc.record({ name: identifier(name), value: parts.expression })),
      body,
    )
    .map(
      ([callee, positional, named, lines]): Expression => ({
        kind: 'quantifier',
        callee,
        positional,
        named,
        body: lines,
        ...SPAN,
      }),
    );
  const operand = fc.oneof(
    quantifier,
    quantifier.map((value): Expression => ({ kind: 'unary', operator: 'not', operand: value, ...SPAN })),
  );
  const joined = fc
    .tuple(fc.constantFrom('and' as const, 'or' as const), operand, fc.constantFrom(true, false), name)
    .map(([operator, block, isFirst, other]): Expression => {
      const rest: Expression = { kind: 'name', name: other, ...SPAN };
      return {
        kind: 'logic',
        operator,
        left: isFirst ? block : rest,
        right: isFirst ? rest : block,
        ...SPAN,
      };
    });
  const compared = fc
    .tuple(fc.constantFrom('==' as const, '->' as const), operand)
    .map(([operator, left]): Expression => {
      return { kind: 'binary', operator, left, right: { kind: 'literal', value: true, ...SPAN }, ...SPAN };
    });
  const named = fc
    .tuple(identifier(plainName), fc.oneof(parts.expression, operand))
    .map(([variable, value]): Expression => ({ kind: 'assignment', variable, value, ...SPAN }));
  return {
    line: fc.oneof(
      { depthSize: 'small', depthIdentifier: 'blocks' },
      parts.expression,
      parts.expression,
      named,
      operand,
      joined,
      compared,
    ),
  };
});

const block = fc.array(line, { minLength: 1, maxLength: 3 });

const importTree = fc
  .tuple(fc.constantFrom('invariant', 'a.b.c', 'import', 'as'), fc.option(name), fc.option(name))
  .map(([module, text, alias]): Import => {
    const isNamed = text !== null || module.includes('.');
    return { module, name: text, alias: alias ?? text ?? (isNamed ? 'z' : module), ...SPAN };
  });

const definition = fc
  .tuple(
    identifier(name),
    fc.option(
      many(fc.record({ name, type: fc.option(name) }).map((parameter) => ({ ...parameter, ...SPAN }))),
    ),
    block,
  )
  .map(([called, parameters, body]): Definition => ({ name: called, parameters, body, ...SPAN }));

const message = fc.oneof(
  singleLine.map((value): Expression => ({ kind: 'literal', value, ...SPAN })),
  formatted,
  name.map((text): Expression => ({ kind: 'name', name: text, ...SPAN })),
  fc.tuple(name, many(parts.expression)).map(
    ([callee, positional]): Expression => ({
      kind: 'call',
      callee: { kind: 'name', name: callee, ...SPAN },
      positional,
      named: [],
      ...SPAN,
    }),
  ),
);

const rule = fc
  .record({
    name: fc.option(identifier(fc.constantFrom('no-mail', 'a', 'a.b/c-2', 'if'))),
    effect: fc.constantFrom('raise' as const, 'ask' as const, 'warn' as const),
    message,
    whenUndecided: fc.constantFrom('deny' as const, 'allow' as const),
    body: block,
  })
  .map((tree): RuleTree => ({ ...tree, ...SPAN }));

export const expressions: fc.Arbitrary<Expression> = parts.expression;

export const trees: fc.Arbitrary<PolicyTree> = fc.record({
  imports: fc.array(importTree, { maxLength: 3 }),
  definitions: fc.array(definition, { maxLength: 2 }),
  rules: fc.array(rule, { maxLength: 2 }),
});

/** A text that is the same for two trees, or two parts of trees, exactly if they differ in nothing but their spans and line ends. */
export function withoutSpans(node: PolicyTree | Expression): string {
  return JSON.stringify(node, (key, value: unknown) => {
    if (key === 'start' || key === 'end') return undefined;
    // JSON has no infinite numbers.
    return typeof value === 'number' ? `#${value}` : value;
  });
}

// ── careless texts ──────────────────────────────────────────────────────────────────────────────────────────

/** At the margin some words would begin a statement, even inside of brackets. */
const INSIDE = [' ', '  ', '\t', '\n ', ' # why\n  ', '\n\n   # own line \n\n ', '\n            '];
const BETWEEN = [' ', '  ', '\t'];
const LINE_ENDS = [
  '\n',
  '\n\n\n',
  '  # behind\n',
  '\n# margin\n',
  '\n\n      # deep\n\n',
  '#tight:\n',
  ' \t\n',
];
const UNITS = ['  ', '    ', ' ', '\t', '         '];

/** `text` with other white space and with comments, wherever the language has room for them; `choices` decide which. */
export function careless(text: string, choices: readonly number[]): string {
  const source = new Source('generated.gr', text);
  const { tokens, roles } = parseTokens(source, new Diagnostics(source));
  let at = 0;
  const pick = (options: readonly string[]): string =>
    options[(choices[at++ % choices.length] ?? 0) % options.length] ?? '';
  const unit = pick(UNITS);
  let out = pick(['', '\ufeff', '# first\n', '\n\n']);
  let depth = 0;
  let brackets = 0;
  let isLineStart = true;
  let before: Token | null = null;
  for (const [index, token] of tokens.entries()) {
    const next = tokens[index + 1];
    if (token.kind === 'newline' || token.kind === 'indent' || token.kind === 'dedent') {
      if (token.kind === 'newline' && next?.kind === 'dedent') continue;
      if (token.kind !== 'newline') depth += token.kind === 'indent' ? 1 : -1;
      if (next?.kind !== 'dedent' && next?.kind !== 'end') {
        out += pick(LINE_ENDS);
        isLineStart = true;
      }
      continue;
    }
    if (token.kind === 'end') break;
    if (token.kind === 'operator' && ')]}'.includes(token.text)) brackets--;
    if (isLineStart) out += unit.repeat(depth);
    else if (before !== null) out += gapBetween(before, token, roles, brackets > 0 ? INSIDE : BETWEEN, pick);
    isLineStart = false;
    out += token.text;
    if (token.kind === 'operator' && '([{'.includes(token.text)) brackets++;
    before = token;
  }
  out += pick(['', '\n', '\n\n# last', '\n   # last\n']);
  return pick(['lf', 'lf', 'crlf']) === 'crlf' && !/"""|'''/.test(out) ? out.replaceAll('\n', '\r\n') : out;
}

function gapBetween(
  before: Token,
  token: Token,
  roles: ReadonlyMap<Token, Role>,
  gaps: readonly string[],
  pick: (options: readonly string[]) => string,
): string {
  if (roles.get(token) === 'glued' && (before.end === token.start || roles.get(before) === 'glued')) {
    return before.end === token.start ? '' : ' ';
  }
  // The original had them apart or together for a reason only where both are words or numbers.
  const canTouch = before.end === token.start && roles.get(before) !== 'glued';
  return canTouch ? pick(['', ...gaps.slice(0, gaps === BETWEEN ? 2 : undefined)]) : pick(gaps);
}
