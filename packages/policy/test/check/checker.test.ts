/** What is known of an expression before there is a trace, seen by what the checker says about a line of it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CODES, loadPolicy } from '../../src/index.ts';

/** Of a rule over a message, a call and an output: the warning about its last line, if there is one. */
function neverBoolean(line: string, before = ''): string | null {
  const policy = `${before}raise "x" if:\n    (m: Message) -> (c: ToolCall)\n    c -> (o: ToolOutput)\n    ${line}\n`;
  const loaded = loadPolicy(policy);
  assert.ok(loaded.ok, loaded.ok ? '' : JSON.stringify(loaded.fault));
  const found = loaded.value.warnings.filter(({ code }) => code === 'POL050');
  assert.ok(found.length <= 1);
  return (
    found[0]?.message.replace('this line is ', '').replace(', and only a line that is true holds', '') ?? null
  );
}

const NEVER: readonly (readonly [string, string])[] = [
  ['len(m.content)', 'an int'],
  ['find("a", m.content)', 'a list'],
  ['m.content', 'a str, list of chunks or None'],
  ['m.role', 'a str'],
  ['m.tool_calls', 'a list'],
  ['m.tool_calls[0].function.name', 'a str'],
  ['[call.name for call in m.tool_calls][0]', 'a str'],
  ['c.id', 'a str or None'],
  ['m.role.lower()', 'a str'],
  ['text(m)', 'a list'],
  ['m.role and c.name', 'a str'],
  ['m.role or len(m.content)', 'a str or int'],
  ['"a" if c.irreversible else 1', 'a str or int'],
  ['1 + 2', 'an int or float'],
  ['m.role + "a"', 'a str'],
  ['["a", "b"] in m.content', 'a bool or list'],
  ['f"{m.role}"', 'a str'],
  ['{a: 1}', 'a dict'],
  ['None', 'None'],
  ['tool:f', 'a tool pattern'],
  ['len', 'a function'],
  ['-len(m.content)', 'an int'],
];

for (const [line, what] of NEVER) {
  if (what.includes('bool')) continue;
  test(`\`${line}\` is never true: it is ${what}`, () => {
    assert.equal(neverBoolean(line), what);
  });
}

const SOMETIMES: readonly string[] = [
  'any(find("a", m.content))',
  'm.content == None',
  'm.content.flag',
  'c.arguments.urgent',
  'c.arguments["urgent"]',
  'm.metadata.get("x")',
  'json_loads(m.content)',
  'c.irreversible',
  'm.role and c.irreversible',
  'c.irreversible if True else "a"',
  '["a", "b"] in m.content',
  '[True, 1][0]',
  'o is tool:f',
  'not m.content',
  'input.flag',
  'm.role == "a" or (d: ToolCall)',
];

for (const line of SOMETIMES) {
  test(`\`${line}\` may be true`, () => {
    assert.equal(neverBoolean(line), null);
  });
}

test('constants, assigned names and predicates are known by what they are', () => {
  assert.equal(neverBoolean('A', 'A := B\nB := "a"\n'), 'a str');
  assert.equal(neverBoolean('A', 'A := B\nB := True\n'), null);
  assert.equal(neverBoolean('x\n    x := len(m.content)'), 'an int');
  assert.equal(neverBoolean('p(m)', 'p(y: Message) := y.role == "a"\n'), null);
  assert.equal(neverBoolean('p', 'p(y: Message) := y.role == "a"\n'), 'a function');
});

test('a predicate whose body is a text is always false, and is told so', () => {
  const loaded = loadPolicy('p(x: str) := x + "b"\nraise "x" if:\n    (m: Message)\n    p(m.role)\n');
  assert.ok(loaded.ok);
  assert.deepEqual(
    loaded.value.warnings.map(({ code, range }) => ({ code, line: range?.line, column: range?.column })),
    [{ code: 'POL050', line: 1, column: 14 }],
  );
});

test('a misspelt field is an error wherever the kind of the object is known', () => {
  const misspelt = (line: string): readonly string[] => {
    const loaded = loadPolicy(`raise "x" if:\n    (m: Message)\n    ${line}\n`);
    return loaded.ok ? [] : loaded.fault.map(({ code, help }) => `${code} ${help}`);
  };
  assert.deepEqual(misspelt('m.tool_calls[0].functoin.name == "f"'), ['POL013 did you mean `function`?']);
  assert.deepEqual(misspelt('any([call.function.argments == {} for call in m.tool_calls])'), [
    'POL013 did you mean `arguments`?',
  ]);
  assert.deepEqual(misspelt('any([chunk.txt == "a" for chunk in m.content])'), []);
  assert.deepEqual(misspelt('m.tool_calls[0].function.name == "f"'), []);
});

test('constants in a long circle are reported, each of them', () => {
  const chain = Array.from({ length: 50 }, (_, index) => `c${index} := c${index + 1}\n`).join('');
  const loaded = loadPolicy(`${chain}c50 := c0\n`);
  assert.ok(!loaded.ok);
  assert.deepEqual(
    loaded.fault.map(({ code }) => code),
    Array.from({ length: 51 }, () => 'POL023'),
  );
});

test('every code has words of its own', () => {
  assert.equal(new Set(Object.values(CODES)).size, Object.keys(CODES).length);
});
