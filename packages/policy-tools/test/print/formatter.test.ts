import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseText } from '@cordon/policy';
import { withoutSpans } from '@cordon/testkit/policy/policy-trees.ts';
import fc from 'fast-check';
import { runs } from '../../../../tools/cases.ts';
import { SEED } from '../../../../tools/seed.ts';
import { format } from '../../src/print/formatter.ts';
import { print } from '../../src/print/printer.ts';

const RUNS = runs(60, 150, 300);

function formatted(text: string): string {
  const result = format(text);
  assert.ok(result.ok, JSON.stringify(result));
  assert.deepEqual(format(result.value), result, 'formatted again it stays as it is');
  return result.value;
}

test('white space, quotes and block marks become canonical', () => {
  const text = `p( x:T ,y ):\n  not(x in y)\n  x.a [0] == - 1\nX:='it'\nraise 'no' if( undecided : allow ):\n\tf( a=1 ,b = [1 , 2] )\n`;
  assert.equal(
    formatted(text),
    `p(x: T, y) :=
    not (x in y)
    x.a[0] == -1

X := "it"

raise "no" if (undecided: allow):
    f(a=1, b=[1, 2])
`,
  );
});

test('strings keep what they say: a quote inside, three quotes and backslashes stay as they are', () => {
  const text = `A := 'say "x"'\nB := 'it\\'s'\nC := r'\\d'\nD := '''a\n  # no comment \n'''\n`;
  assert.equal(
    formatted(text),
    `A := 'say "x"'\nB := 'it\\'s'\nC := r"\\d"\nD := '''a\n  # no comment \n'''\n`,
  );
});

test('names of tools and rules keep their parts together, and operators behind them apart', () => {
  const text =
    'rule no-mail.now:\nraise "x" if:\n    c is tool :send-mail.*( {} )\n    tool:a -b\n    tool:a .b\n';
  assert.equal(
    formatted(text),
    'rule no-mail.now:\nraise "x" if:\n    c is tool:send-mail.*({})\n    tool:a - b\n    tool:a .b\n',
  );
});

test('a rule stands at the margin below its name, whether it was indented or on the same line', () => {
  const expected = 'rule a:\n# why\nraise "x" if:\n    b\n\n# end\n';
  assert.equal(formatted('rule a:\n    # why\n    raise "x" if:\n        b\n# end\n'), expected);
  assert.equal(
    formatted('rule a: # why\n  raise "x" if:\n        b\n# end'),
    expected.replace(':\n# why', ':  # why'),
  );
});

test('comments stay where they belong: above, behind, at the end of a block or outside of it', () => {
  const text = `#!first

#second
X := 1 #one
raise "x" if: # head
  # above
  (m: M)
  count(min=1):
    m.a
    # end of count
  # between
  m.b # behind
  # end of rule
# outside
`;
  assert.equal(
    formatted(text),
    `#!first

#second
X := 1  #one

raise "x" if:  # head
    # above
    (m: M)
    count(min=1):
        m.a
        # end of count
    # between
    m.b  # behind
    # end of rule

# outside
`,
  );
});

test('comments inside of brackets and continued lines stay, and open the bracket', () => {
  const text =
    'x := f(a # one\n  , b,) # two\nraise "x" if:\n    a == 1\n    # or else\n    or b == [ # none\n    ]\n';
  assert.equal(
    formatted(text),
    `x := f(
    a,  # one
    b
)  # two

raise "x" if:
    a == 1
        # or else
        or b == [  # none
        ]
`,
  );
});

test('one blank line stands between statements, at most one between lines, none at the edge of a block', () => {
  const text =
    '\n\nimport a\nimport b\n\n\nX := 1\nY := 2\n\n\nZ := 3\nraise "x" if:\n\n    a\n\n\n    b\n    c\nraise "y" if:\n    d\n\n\n';
  assert.equal(
    formatted(text),
    'import a\nimport b\n\nX := 1\nY := 2\n\nZ := 3\n\nraise "x" if:\n    a\n\n    b\n    c\n\nraise "y" if:\n    d\n',
  );
});

test('a long line is broken inside of its brackets, one item a line', () => {
  const name = 'a_rather_long_name_of_a_value';
  assert.equal(
    formatted(`x := f(${name}, ${name}, k=${name}, l=${name})\n`),
    `x := f(\n    ${name},\n    ${name},\n    k=${name},\n    l=${name}\n)\n`,
  );
  assert.equal(
    formatted(`x := any([find(${name}, item) for item in ${name} if item.${name} == ${name}])\n`),
    `x := any([\n    find(${name}, item)\n    for item in ${name}\n    if item.${name} == ${name}\n])\n`,
  );
  assert.equal(
    formatted(`x := (${name} == 1 and ${name} == 2) and not (${name} == 3 or ${name} == 4)\n`),
    `x := (${name} == 1 and ${name} == 2) and not (\n    ${name} == 3 or ${name} == 4\n)\n`,
  );
});

test('a long line without brackets stays long: outside of them no break is safe everywhere', () => {
  const text = `x := ${Array.from({ length: 12 }, (_, index) => `long_name_${index}`).join(' and ')}\n`;
  assert.equal(formatted(text), text);
});

test('a bracket that its author opened stays open, and one that was continued for no reason is closed', () => {
  const open = 'raise "x" if:\n    c is tool:send({\n        to: "a",\n        cc: "b"\n    })\n';
  assert.equal(formatted(open), open);
  assert.equal(
    formatted('x := f(\n  g(\n  [a, b]))\ny := f(\n  (a: B))\n'),
    'x := f(g([\n    a,\n    b\n]))\ny := f(\n    (a: B)\n)\n',
  );
  assert.equal(
    formatted('raise "x" if:\n    c is tool:send({to: "a",\n      cc: "b"})\n'),
    'raise "x" if:\n    c is tool:send({to: "a", cc: "b"})\n',
  );
});

test('lines that an author broke outside of brackets are joined if they fit, else kept', () => {
  assert.equal(
    formatted('raise "x" if:\n    a.b\n    .c\n    and\n    d\n'),
    'raise "x" if:\n    a.b.c and d\n',
  );
  const long = 'm.content == "a text that is nearly as long as a line may be"';
  const text = `raise "x" if:\n    ${long}\n        or ${long}\n`;
  assert.equal(formatted(text), text);
});

test('the first line may be indented, tabbed, marked with a byte order or end as on Windows', () => {
  const expected = 'raise "x" if:\n    a  # b\n';
  assert.equal(formatted('\ufeffraise "x" if:\r\n\ta # b \r\n'), expected);
  assert.equal(formatted('    raise "x" if:\n     a # b'), expected);
});

test('nothing stays nothing, and comments alone stay', () => {
  assert.equal(formatted(''), '');
  assert.equal(formatted(' \n\n\t'), '');
  assert.equal(formatted('\n# a\n\n\n  # b'), '# a\n\n# b\n');
});

test('a text that cannot be read is not formatted, and a warning does not stop it', () => {
  const broken = format('x = 1\n', { file: 'a.gr' });
  assert.ok(!broken.ok);
  assert.deepEqual(
    broken.fault.map(({ code, file }) => ({ code, file })),
    [{ code: 'POL006', file: 'a.gr' }],
  );
  assert.equal(formatted('x := a or b   and c\n'), 'x := a or b and c\n');
});

const WORDS = [
  ...[
    'raise',
    '"x"',
    'if',
    ':',
    ':=',
    'x',
    'm',
    'f',
    '(',
    ')',
    '[',
    ']',
    '{',
    '}',
    ',',
    '.',
    '=',
    '==',
    'not',
    'in',
  ],
  ...[
    'and',
    '-',
    '+',
    '*',
    'tool:f',
    '(m: Message)',
    '1',
    "'a'",
    'for',
    'else',
    '# c\n',
    '\n',
    '\n    ',
    '\n        ',
  ],
  ...['forall:', 'rule a:', 'import a', '"""b\n"""', 'f"{m}"', '\n# c\n', 'raise "x" if:\n    ', '\n    m\n'],
];

test(`any words that happen to be a policy are formatted and printed with the same meaning (CORDON_SEED=${SEED})`, () => {
  let read = 0;
  const words = fc.array(fc.constantFrom(...WORDS), { maxLength: 9 });
  fc.assert(
    fc.property(words, fc.constantFrom('', 'raise "x" if:\n    '), (list, head) => {
      const text = head + list.join(' ');
      const { tree, diagnostics } = parseText(text);
      if (diagnostics.hasErrors()) return;
      read++;
      const canonical = formatted(text);
      assert.equal(withoutSpans(parseText(canonical).tree), withoutSpans(tree));
      const printed = print(tree);
      assert.equal(withoutSpans(parseText(printed).tree), withoutSpans(tree), printed);
      assert.equal(print(parseText(printed).tree), printed);
    }),
    { numRuns: RUNS * 20, seed: SEED },
  );
  assert.ok(read > RUNS / 10, `only ${read} texts were policies`);
});
