import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Expression, parseText } from '@cordon/policy';
import { print, printExpression } from '../../src/print/printer.ts';

function expression(text: string): Expression {
  const { tree, diagnostics } = parseText(`x := ${text}\n`);
  assert.equal(diagnostics.hasErrors(), false, text);
  const line = tree.definitions[0]?.body[0];
  assert.ok(line !== undefined);
  return line;
}

function printed(text: string): string {
  return printExpression(expression(text));
}

test('parentheses that change nothing go, others stay', () => {
  const cases: Readonly<Record<string, string>> = {
    '((a) + (b * c))': 'a + b * c',
    '(a + b) * c': '(a + b) * c',
    'a - (b - c)': 'a - (b - c)',
    '(a - b) - c': 'a - b - c',
    'a ** (b ** c)': 'a ** (b ** c)',
    '(a ** b) ** c': 'a ** b ** c',
    '-(a ** b)': '-(a ** b)',
    '(-a) ** b': '-a ** b',
    'not (a == b)': 'not (a == b)',
    'not (f(x))': 'not f(x)',
    '(a == b) == c': 'a == b == c',
    'a == (b == c)': 'a == (b == c)',
    'a and (b or c)': 'a and (b or c)',
    '(a and b) and c': 'a and b and c',
    '(a.b)(c)[(d)]': 'a.b(c)[d]',
    '(a + b).c': '(a + b).c',
    '[(x) for x in (xs) if (c)]': '[x for x in xs if c]',
    'f((a if b else c), k=(d))': 'f(a if b else c, k=d)',
    'a + (b if c else d)': 'a + (b if c else d)',
    'a is (not None)': 'a is (not None)',
    'a is not None': 'a is not None',
    '(x: T) in (a.b)': '(x: T) in a.b',
    '((x: T) in y).z': '((x: T) in y).z',
    '(1).a': '(1).a',
    '(tool:f).a': '(tool:"f").a',
  };
  for (const [text, expected] of Object.entries(cases)) assert.equal(printed(text), expected, text);
});

test('parentheses are written where people or other readers of the language would group differently', () => {
  assert.equal(printed('a or b and c'), '(a or b) and c');
  assert.equal(printed('not a == b'), '(not a) == b');
  assert.equal(printed('a == b if c else d + e'), '(a == b) if c else (d + e)');
});

test('strings are written in the quotes that can hold them', () => {
  const values: readonly string[] = ['"a"', '"it\'s"', '"say \\"x\\""', '"\\d\\\\"', "'\\\"'", '"""a\n\\"""'];
  for (const text of values) assert.equal(printed(text), text);
  assert.equal(printed("'a'"), '"a"');
  assert.equal(printed('r"\\d"'), '"\\d"');
  assert.equal(printed("'''a'''"), '"a"');
});

test('f-strings keep their holes, with quotes that do not end them', () => {
  assert.equal(printed('f"a {m.b} {{c}}"'), 'f"a {m.b} {{c}}"');
  assert.equal(printed('f\'{m["a"]}\''), 'f"{m[\'a\']}"');
  assert.equal(printed('f"""{m["a"]} \'b\' """'), "f\"{m['a']} 'b' \"");
});

test('patterns keep the difference between a pattern and a value of the same shape', () => {
  const text = 'tool:f({a: *, "b c": [<X>, 1], c: ([1]), d: -1, e: "x" + y})';
  assert.equal(printed(text), text);
  assert.equal(printed('tool:"send mail"'), 'tool:"send mail"');
  assert.equal(printed('tool:"a.b-c"()'), 'tool:a.b-c');
});

test('numbers read back as the same number', () => {
  for (const [text, expected] of [
    ['1.50', '1.5'],
    ['.5', '0.5'],
    ['5.', '5'],
    ['1e400', '1e999'],
    ['12345678901234567890', '12345678901234567000'],
  ] as const)
    assert.equal(printed(text), expected);
});

test('names that are words of the language are put in parentheses where they would be read as those', () => {
  assert.equal(printed('(not) - 1'), '(not) - 1');
  assert.equal(printed('(and).x'), '(and).x');
  assert.equal(printed('f(if=1)'), 'f(if=1)');
});

test('a policy is printed whole, imports first', () => {
  const text = `raise 'x' if:
    (m: Message)
    import a.b as c
LIMIT: 
    5
p(x, y: T) := (x) in y
from invariant import count, forall as every
rule a-b: ask Violation("y", k=1) if (undecided: allow):
    not count(min=LIMIT, max=3):
        (c: ToolCall)
    or m
    n := every:
        p(c, 1)
`;
  assert.equal(
    print(parseText(text).tree),
    `import a.b as c
from invariant import count, forall as every

raise "x" if:
    (m: Message)

LIMIT := 5
p(x, y: T) := x in y

rule a-b:
ask Violation("y", k=1) if (undecided: allow):
    not count(min=LIMIT, max=3):
        (c: ToolCall)
    or m
    n := every:
        p(c, 1)
`,
  );
});

test('a tree that no text stands for is printed as nearly as possible, and nothing is thrown', () => {
  const span = { start: 0, end: 0 };
  const quantifier: Expression = {
    kind: 'quantifier',
    callee: { name: 'forall', ...span },
    positional: [],
    named: [],
    body: [{ kind: 'invalid', declared: [], mentioned: [], ...span }],
    ...span,
  };
  assert.equal(printExpression({ kind: 'list', items: [quantifier], ...span }), '[forall:\n    None]');
  assert.equal(printExpression({ kind: 'literal', value: `"""\n'''`, ...span }), `""""""\n'''"""`);
  const rule = {
    name: null,
    effect: 'raise' as const,
    message: quantifier,
    whenUndecided: 'deny' as const,
    body: [],
    ...span,
  };
  assert.match(print({ imports: [], definitions: [], rules: [rule] }), /^\nraise forall:/);
});
