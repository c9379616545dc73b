/** What authors are told about the mistakes that are made most often: each once, with its place, and how to mend it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lint } from '@cordon/policy-tools';
import { loadPolicy, type PolicyOptions } from '../../src/index.ts';
import { nearest } from '../../src/values/types.ts';

/** `line:column code [what is underlined] message | help`, of loading and of the linter. */
function told(text: string, options: PolicyOptions = {}): readonly string[] {
  const loaded = loadPolicy(text, options);
  const found = loaded.ok ? [...loaded.value.warnings, ...lint(loaded.value)] : loaded.fault;
  const lines = text.split('\n');
  return found.map(({ code, range, message, help }) => {
    assert.ok(range !== undefined);
    const { line, column, endLine, endColumn } = range;
    const underlined = lines[line - 1]?.slice(column - 1, endLine === line ? endColumn - 1 : undefined);
    return `${line}:${column} ${code} [${underlined}] ${message}${help === undefined ? '' : ` | ${help}`}`;
  });
}

interface Mistake {
  readonly name: string;
  readonly policy: readonly string[];
  readonly expected: readonly string[];
  /** Nearly the same, with nothing wrong. */
  readonly innocent: readonly string[];
  readonly options?: PolicyOptions;
}

function testMistakes(mistakes: readonly Mistake[]): void {
  for (const { name, policy, expected, innocent, options } of mistakes) {
    test(name, () => {
      assert.deepEqual(told(policy.join('\n'), options), expected);
      assert.deepEqual(told(innocent.join('\n'), options), []);
    });
  }
}

const CALL = ['raise "x" if:', '    (c: ToolCall)'];
const MESSAGE = ['raise "x" if:', '    (m: Message)'];

// ── what stands beside something that cannot be read ────────────────────────────────────────────────────────────────

testMistakes([
  {
    name: 'a head without its colon does not hide what is wrong below it',
    policy: ['raise "b" if', '    (c: ToolCall)', '    c is tool:send({to: "("})', '    c.nme == "x"'],
    expected: [
      '1:11 POL003 [if] `:` was expected behind `if`',
      '3:25 POL018 ["("] a group of the pattern has no `)`, so only an equal text matches | other texts make the rule undecided',
      '4:7 POL013 [nme] a ToolCall has no field `nme` | did you mean `name`?',
    ],
    innocent: [...CALL, '    c is tool:send({to: "a"})', '    c.id == "x"'],
  },
  {
    name: 'a head without `if` does not hide what is wrong below it',
    policy: ['raise "b"', '    (m: Message)', '    m.rle == "x"'],
    expected: [
      '1:7 POL003 ["b"] `if` was expected behind `"b"`',
      '3:7 POL013 [rle] a Message has no field `rle` | did you mean `role`?',
    ],
    innocent: ['raise "b"', '    if:', '    (m: Message)', '    m.role == "x"'],
  },
  {
    name: 'a bracket that is never closed does not swallow the lines below, and its variable is known',
    policy: ['raise "b" if:', '    (c: ToolCall', '    c.name == "x"', '    c.nme == "x"'],
    expected: [
      '2:9 POL003 [ToolCall] `)` was expected behind `ToolCall`',
      '4:7 POL013 [nme] a ToolCall has no field `nme` | did you mean `name`?',
    ],
    innocent: ['raise "b" if:', '    (c: ToolCall', '    )', '    c.name == "x"'],
  },
  {
    name: 'a line that cannot be read uses and declares what it names, and is not judged otherwise',
    policy: [
      'raise "b" if:',
      '    (c ToolCall)',
      '    (d: ToolCall)',
      '    n := len(d.name',
      '    c.name == "x"',
      '    n == q',
    ],
    expected: [
      '2:8 POL003 [ToolCall] `)` was expected before `ToolCall`',
      '4:16 POL003 [name] `)` was expected behind `name`',
      '6:10 POL010 [q] nothing is named `q` | declare it, for example `(q: ToolCall)`',
    ],
    innocent: [
      'raise "b" if:',
      '    (c: ToolCall) -> (d: ToolCall)',
      '    n := len(d.name)',
      '    c.name == "x"',
      '    n == 1',
    ],
  },
  {
    name: 'a definition or import that cannot be read still gives its names',
    policy: [
      'from invariant import',
      'LIST := ["a",',
      'p(m: Message := m.role == "user"',
      ...MESSAGE,
      '    p(m)',
      '    m.role in LIST',
      '    count(min=2):',
      '        (c: ToolCall) -> m',
      '    m.rle == "x"',
    ],
    expected: [
      '1:22 POL003 [] the name of a function was expected, not the end of the line',
      '2:14 POL003 [] a value was expected, not the end of the line',
      '3:14 POL003 [:=] `)` was expected before `:=`',
      '10:7 POL013 [rle] a Message has no field `rle` | did you mean `role`?',
    ],
    innocent: [
      'LIST := ["user",',
      '  "tool"]',
      'p(m: Message) := m.content == "a"',
      ...MESSAGE,
      '    p(m)',
      '    m.role in LIST',
    ],
  },
  {
    name: 'a block that is not indented is one mistake, and its lines are read',
    policy: ['raise "a" if:', '(m: Message)', 'm.rle == "user"', 'any(find("a", m.content))', '', ...MESSAGE],
    expected: [
      '1:13 POL004 [:] a block was expected here | indent the lines below, deeper than the line with the `:`',
      '3:3 POL013 [rle] a Message has no field `rle` | did you mean `role`?',
    ],
    innocent: ['raise "a" if:', ' (m: Message)', ' m.role == "user"', ' any(find("a", m.content))'],
  },
  {
    name: 'lines that stand outside of a rule are one mistake, up to the next statement',
    policy: [
      ...MESSAGE,
      '    m.role == "a"',
      '  m.content == "b"',
      '  m.content == "c"',
      ...CALL,
      '    c.nme == 1',
    ],
    expected: [
      '4:3 POL006 [m] `m` does not begin a statement | a line of a rule is indented as deep as the lines above it, with the same tabs or spaces',
      '8:7 POL013 [nme] a ToolCall has no field `nme` | did you mean `name`?',
    ],
    innocent: [...MESSAGE, '    m.role == "a"', '    m.content == "b"', ...CALL, '    c.name == "y"'],
  },
  {
    name: 'a tab above spaces is told as what it is',
    policy: ['raise "b" if:', '\t(c: ToolCall)', '        c.name == "send"'],
    expected: [
      '3:9 POL003 [c] the lines of this block are indented with tabs and with spaces, so this one seems to continue the one above | indent all lines of a block alike, with spaces or with tabs',
    ],
    innocent: ['raise "b" if:', '\t(c: ToolCall)', '\tc.name == "send"'],
  },
  {
    name: 'a line that is too deep is told as what it is',
    policy: [...CALL, '      c.name == "send"'],
    expected: [
      '3:7 POL003 [c] this line is indented deeper than the one that it stands below, so it continues that one | indent the lines of a block alike',
    ],
    innocent: [...CALL, '    c.name ==', '      "send"'],
  },
]);

// ── other languages ─────────────────────────────────────────────────────────────────────────────────────────────────

testMistakes([
  {
    name: 'values of other languages',
    policy: [...CALL, '    c.irreversible == true', '    c.id == null'],
    expected: [
      '3:23 POL010 [true] nothing is named `true` | write `True`',
      '4:13 POL010 [null] nothing is named `null` | write `None`',
    ],
    innocent: [...CALL, '    c.irreversible == True', '    c.id == None'],
  },
  {
    name: 'operators of other languages',
    policy: [
      ...CALL,
      '    c.name == "a" || c.name == "b"',
      '    c.id == "a" && c.irreversible',
      '    !c.irreversible',
    ],
    expected: [
      '3:19 POL001 [||] `||` is not part of the language | write `or`',
      '4:17 POL001 [&&] `&&` is not part of the language | write `and`',
      '5:5 POL001 [!] `!` is not part of the language | write `not`',
    ],
    innocent: [
      ...CALL,
      '    c.name == "a" or c.name == "b"',
      '    c.id == "a" and c.irreversible',
      '    not (c.id == "b")',
    ],
  },
  {
    name: 'curly quotes around a text are one mistake',
    policy: [...CALL, '    c.name == “a && b”', '    c.id == ‘c’'],
    expected: [
      '3:15 POL001 [“] `“` is not part of the language | write `"` around a text',
      '4:13 POL001 [‘] `‘` is not part of the language | write `"` around a text',
    ],
    innocent: [...CALL, '    c.name == "a “&&” b"'],
  },
  {
    name: 'a character that cannot be seen is named by its number, and a space of another kind is told as one',
    policy: [...MESSAGE, '    m.role\u00a0== "a"', '    m.role\u202e == "b"', '    m.role == "c"'],
    expected: [
      '3:11 POL001 [\u00a0] `U+00A0` is not part of the language | it looks like a space: write one',
      '4:11 POL001 [\u202e] `U+202E` is not part of the language',
    ],
    innocent: [...MESSAGE, '    m.role == "\u00a0\u202e"'],
  },
  {
    name: '`contains` between two values is one mistake',
    policy: [...MESSAGE, '    m.role == "user" and m.content contains "x"'],
    expected: [
      '3:36 POL003 [contains] the end of the line was expected before `contains` | write `"x" in m.content`',
    ],
    innocent: [...MESSAGE, '    m.role == "user" and "x" in m.content'],
  },
  {
    name: '`=` between two values is one mistake',
    policy: [...CALL, '    c.name = "send"'],
    expected: ['3:12 POL003 [=] `=` does not compare | use `==` to compare, `:=` to name a value'],
    innocent: [...CALL, '    c.name == "send"'],
  },
  {
    name: '`if` before a condition',
    policy: [...MESSAGE, '    if m.role == "user":', '        m.content == "x"'],
    expected: [
      '3:8 POL003 [m] the end of the line was expected before `m` | each line of a rule is a condition of its own: write it without a word before it',
    ],
    innocent: [...MESSAGE, '    m.role == "user"', '    m.content == "x"'],
  },
  {
    name: '`not` before a comparison is shown as it should be',
    policy: [...MESSAGE, '    not "x" in m.content', '    "y" not in m.content'],
    expected: [
      '3:5 POL051 [not "x" in m.content] `not` binds tighter than `in`, so only its left side is negated | write `not ("x" in m.content)`',
      '4:9 POL003 [not in] `not in` is not an operator | write `not ("y" in m.content)`',
    ],
    innocent: [...MESSAGE, '    not ("x" in m.content)'],
  },
]);

// ── names ───────────────────────────────────────────────────────────────────────────────────────────────────────────

testMistakes([
  {
    name: 'a quantifier or detector that is not imported',
    policy: [...MESSAGE, '    count(min=2):', '        (c: ToolCall) -> m', '    any(secrets(m.content))'],
    expected: [
      '3:5 POL016 [count] `count` is not imported | import it: `from invariant import count`',
      '5:9 POL010 [secrets] nothing is named `secrets` | import it: `from invariant.detectors import secrets`',
    ],
    innocent: [
      'from invariant import count',
      ...MESSAGE,
      '    m.role == "user"',
      '    count(min=2):',
      '        (c: ToolCall) -> m',
      '        c.name == m.role',
    ],
  },
  {
    name: 'of several near names the one that begins alike, and then the field that the type is about',
    policy: [...MESSAGE, '    m.contet == "x"', '    m.rloe == "user"'],
    expected: [
      '3:7 POL013 [contet] a Message has no field `contet` | did you mean `content`?',
      '4:7 POL013 [rloe] a Message has no field `rloe` | did you mean `role`?',
    ],
    innocent: [...MESSAGE, '    m.content == "x"', '    m.context == "x"'],
  },
  {
    name: 'a value without a name of its own is told in words',
    policy: [...CALL, '    c.function.nme == "x"', '    ToolCall(c)'],
    expected: [
      "3:16 POL013 [nme] a call's `function` has no field `nme` | did you mean `name`?",
      '4:5 POL016 [ToolCall] `ToolCall` is not a function',
    ],
    innocent: [...CALL, '    c.function.name == "x"'],
  },
  {
    name: 'a short field in the dialect of others is told with the long one',
    policy: [...CALL, '    c.arguments.x == "y"', '    c.name == "z"'],
    expected: [
      '3:7 POL022 [arguments] the field `arguments` is an addition to the `invariant` dialect | write `c.function.arguments`',
      '4:7 POL022 [name] the field `name` is an addition to the `invariant` dialect | write `c.function.name`',
    ],
    innocent: [...CALL, '    c.function.arguments.x == "y"', '    c.function.name == "z"'],
    options: { dialect: 'invariant' },
  },
  {
    name: 'a pattern that cannot be used is told with what mends it',
    policy: [
      ...MESSAGE,
      '    any(find("[a-", m.content))',
      '    any(find("a)", m.content))',
      '    any(find("+", m.content))',
    ],
    expected: [
      '3:14 POL018 ["[a-"] a set of characters in the pattern has no `]` | close the set with `]`, or write `\\[` for the character',
      '4:14 POL018 ["a)"] a `)` of the pattern closes nothing | write `\\)` for the character',
      '5:14 POL018 ["+"] a repetition in the pattern repeats nothing | write a backslash before `*`, `+` or `?` for the character',
    ],
    innocent: [...MESSAGE, '    any(find("[a-]", m.content))', '    any(find("a\\)", m.content))'],
  },
]);

test('`match` where a word is looked for is told with `find`', () => {
  assert.deepEqual(told([...MESSAGE, '    match("password", m.content)'].join('\n')), [
    '3:5 POL084 [match("password", m.content)] `match` only looks at the beginning of the text | write `any(find("password", m.content))` to look everywhere, or begin the pattern with `^`',
  ]);
});

test('letters that changed places are one slip', () => {
  assert.equal(nearest('nmae', ['same', 'name']), 'name');
  assert.equal(nearest('ab', ['ba']), null);
  assert.equal(nearest('colour', ['flavour', 'color']), 'color');
});

testMistakes([
  {
    name: 'a constant that declares a variable would have no value',
    policy: [
      'K := (c: ToolCall)',
      'raise "x" if:',
      '    (d: ToolCall)',
      '    d is tool:send',
      '    K is tool:send',
    ],
    expected: [
      '1:7 POL006 [c] a constant has no variables, so `c` would have no value | write a predicate: `K() := …`',
    ],
    innocent: ['K(c: ToolCall) := c is tool:post', 'raise "x" if:', '    (d: ToolCall)', '    K(d)'],
  },
]);
