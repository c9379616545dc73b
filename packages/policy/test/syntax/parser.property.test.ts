import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { loadPolicy } from '../../src/index.ts';
import '../../../../tools/seed.ts';
import { runs } from '../../../../tools/cases.ts';

const RUNS = runs(60, 150, 300);

/** Every diagnostic lies inside the text. */
function checkLoad(text: string): void {
  const policy = loadPolicy(text);
  const diagnostics = policy.ok ? policy.value.warnings : policy.fault;
  const lines = text.split('\n');
  for (const { range, code, message } of diagnostics) {
    assert.match(code, /^POL\d{3}$/);
    assert.ok(!message.includes('\n') && !message.endsWith('.'), message);
    assert.ok(range !== undefined && range.line >= 1 && range.column >= 1);
    assert.ok(range.line <= lines.length && range.endLine <= lines.length, JSON.stringify(range));
    const isOrdered = range.endLine > range.line || range.endColumn >= range.column;
    assert.ok(isOrdered, JSON.stringify(range));
    assert.ok(range.column <= (lines[range.line - 1]?.length ?? 0) + 1, JSON.stringify(range));
  }
  if (!policy.ok) assert.ok(policy.fault.some((diagnostic) => diagnostic.severity === 'error'));
}

test('any text loads or is refused with diagnostics that lie inside of it', () => {
  fc.assert(fc.property(fc.string({ unit: 'binary', maxLength: 200 }), checkLoad), { numRuns: RUNS });
});

const WORDS = [
  'raise',
  'ask',
  'warn',
  'if',
  ':',
  ':=',
  '"x"',
  "'",
  '"""',
  'f"{m}"',
  'f"{"',
  '(',
  ')',
  '[',
  ']',
  '{',
  '}',
  ',',
  '.',
  'm',
  'c',
  '(m: Message)',
  '(c: ToolCall)',
  '->',
  '~>',
  'is',
  'not',
  'in',
  'and',
  'or',
  'tool:f',
  'tool',
  'tool:*',
  '<DUMMY>',
  '*',
  '**',
  '==',
  '=',
  '+',
  '-',
  '1',
  '.5',
  'None',
  'True',
  'from invariant import count',
  'count(min=1):',
  'forall:',
  'rule',
  'a-b',
  'def',
  'import',
  'x',
  'for',
  'else',
  'len',
  'any',
  'match("(", m)',
  '#',
  '\\',
  '\0',
  '\ud800',
  '\n',
  '\n    ',
  '\n        ',
  '\n\t',
  '\r\n',
  ' ',
  'contains_only',
  'input',
  'undecided',
  'allow',
];

test('any sequence of the words of the language does, too', () => {
  const text = fc.array(fc.constantFrom(...WORDS), { maxLength: 60 }).map((words) => words.join(' '));
  fc.assert(fc.property(text, checkLoad), { numRuns: RUNS * 10 });
});

const PROGRAM = `from invariant import count
LIMIT := 3
is_send(c: ToolCall) :=
    c is tool:send({to: ["a", *], b: {c: "x|y"}})
rule no-mail:
raise Violation(f"no {c.name}", who=c.id) if:
    (m: Message) -> (c: ToolCall)
    not is_send(c) or m.content[0] == "a" if True else False
    (s: str) in c.arguments
    x := [y + "a" for y in text(m) if y != s]
    count(min=LIMIT, max=4):
        (o: ToolOutput)
        o -> c
`;

test('any damage to a correct policy is read or reported', () => {
  assert.equal(loadPolicy(PROGRAM).ok, true);
  const damage = fc.tuple(fc.nat(PROGRAM.length), fc.nat(12), fc.constantFrom('', ...WORDS));
  fc.assert(
    fc.property(fc.array(damage, { minLength: 1, maxLength: 3 }), (edits) => {
      let text = PROGRAM;
      for (const [at, length, word] of edits) text = text.slice(0, at) + word + text.slice(at + length);
      checkLoad(text);
    }),
    { numRuns: RUNS * 5 },
  );
});

test('nesting and length are bounded instead of exhausting the stack', () => {
  const wrap = (line: string) => `raise "x" if:\n    (m: Message)\n    ${line}\n`;
  const deep = [
    '('.repeat(50_000),
    `${'['.repeat(20_000)}1${']'.repeat(20_000)} == 1`,
    `${'not '.repeat(20_000)}m.role == "a"`,
    `m${'.a'.repeat(50_000)} == 1`,
    `m${'(m)'.repeat(50_000)} == 1`,
    Array.from({ length: 20_000 }, () => 'm.role == "a"').join(' and '),
    Array.from({ length: 20_000 }, () => '1').join(' + '),
    `m is tool:f(${'{a: '.repeat(20_000)}`,
    Array.from({ length: 20_000 }, () => 'm.role if m').join(' else '),
  ];
  for (const line of deep) {
    const policy = loadPolicy(wrap(line));
    assert.ok(
      !policy.ok && policy.fault.some((diagnostic) => /^POL00[35]$/.test(diagnostic.code)),
      line.slice(0, 20),
    );
  }
  const blocks = Array.from({ length: 3_000 }, (_, depth) => `${' '.repeat(depth + 1)}forall:`).join('\n');
  assert.equal(loadPolicy(`raise "x" if:\n${blocks}`).ok, false);
});

test('long texts without line ends, or of nothing but errors, are read once', () => {
  const texts = [
    'a b '.repeat(200_000),
    '['.repeat(200_000) + ')'.repeat(200_000),
    '\u0001\u0002'.repeat(100_000),
  ];
  for (const text of [...texts, 'x\n'.repeat(100_000), '"\n'.repeat(100_000)]) {
    const policy = loadPolicy(text);
    assert.ok(!policy.ok && policy.fault.length >= 1 && policy.fault.length <= 1000);
  }
});

test('reading takes time in proportion to the text', () => {
  const rule = 'raise "x" if:\n    (m: Message)\n    m.role == "user"\n';
  const policy = loadPolicy(rule.repeat(5_000));
  assert.equal(policy.ok && policy.value.rules.length, 5_000);
});
