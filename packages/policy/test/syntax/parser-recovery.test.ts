/** One mistake is one diagnostic, at the place where its author would look; what stands below it is read all the same. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { print } from '@cordon/policy-tools';
import { careless, trees } from '@cordon/testkit/policy/policy-trees.ts';
import fc from 'fast-check';
import { runs } from '../../../../tools/cases.ts';
import { SEED } from '../../../../tools/seed.ts';
import { loadPolicy } from '../../src/index.ts';
import { parseText } from '../../src/syntax/parser.ts';

const RUNS = runs(60, 150, 300);

/** `line:column code [what is underlined] message | help` */
function told(text: string): readonly string[] {
  const lines = text.split('\n');
  return parseText(text)
    .diagnostics.all()
    .map(({ code, range, message, help }) => {
      assert.ok(range !== undefined);
      const { line, column, endLine, endColumn } = range;
      const last = endLine === line ? endColumn - 1 : undefined;
      const underlined = lines[line - 1]?.slice(column - 1, last) ?? '';
      return `${line}:${column} ${code} [${underlined}] ${message}${help === undefined ? '' : ` | ${help}`}`;
    });
}

test('a colon that is missing behind `if` is missed there, and the block is read', () => {
  const text = 'raise "x" if\n    (m: Message)\n    m.role = "user"\n\nraise "y" if:\n    a not in b\n';
  assert.deepEqual(told(text), [
    '1:11 POL003 [if] `:` was expected behind `if`',
    '3:12 POL003 [=] `=` does not compare | use `==` to compare, `:=` to name a value',
    '6:7 POL003 [not in] `not in` is not an operator | write `not (a in b)`',
  ]);
});

test('a rule head may go on below its `if`', () => {
  assert.deepEqual(told('raise "x" if\n    (undecided: allow):\n    m.role == "user"\n'), []);
  assert.deepEqual(told('raise "x" if\n  :\n    m.role == "user"\n'), []);
});

test('a message without end is one mistake, and the block is read', () => {
  assert.deepEqual(told('raise "x if:\n    m.role = 1\n'), [
    '1:7 POL002 ["x if:] the string has no end | close it with `"` on the same line',
    '2:12 POL003 [=] `=` does not compare | use `==` to compare, `:=` to name a value',
  ]);
});

test('a bracket that is never closed is missed at the end of its line and ends with the statement', () => {
  const text = 'x := f(a,\n    b\nraise "x" if:\n    (m: Message\n\nrule a:\nraise "y" if:\n    m =\n';
  assert.deepEqual(told(text), [
    '2:5 POL003 [b] `)` was expected behind `b` | it closes the bracket of line 1',
    '4:9 POL003 [Message] `)` was expected behind `Message`',
    '8:7 POL003 [=] `=` does not compare | use `==` to compare, `:=` to name a value',
  ]);
});

test('a word that is missing at the end of a line is missed there', () => {
  assert.deepEqual(told('raise "x"\n    (m: Message)\n'), [
    '1:7 POL003 ["x"] `if` was expected behind `"x"`',
  ]);
});

test('a character of no token is one mistake', () => {
  assert.deepEqual(told('x := a && b\n'), ['1:8 POL001 [&&] `&&` is not part of the language | write `and`']);
  assert.deepEqual(told('x := ü\ny := 1 !\n'), [
    '1:6 POL001 [ü] `ü` is not part of the language',
    '2:8 POL001 [!] `!` is not part of the language | write `not`',
  ]);
});

test('an assignment with `=` is told how to define', () => {
  assert.deepEqual(told('LIMIT = 5\n'), [
    '1:1 POL006 [LIMIT =] this line is not a statement | write `:=` to name a value',
  ]);
});

test('a block of nothing but imports is no block', () => {
  assert.deepEqual(told('raise "x" if:\n    from invariant import count\n'), [
    '1:13 POL004 [:] this block holds imports and no line | move them to the top of the file',
  ]);
  assert.deepEqual(told('raise "x" if:\n    from invariant import count\n    a\n'), []);
});

test('a backslash does not carry a string over the end of its line', () => {
  assert.deepEqual(told('x := "a\\\ny := 1\n'), [
    '1:6 POL002 ["a\\] the string has no end | close it with `"` on the same line',
  ]);
  assert.deepEqual(told('x := "a\\b"\ny := 1\n'), []);
});

test('the line behind the block of a quantifier is a line of its own, unless it begins with `and`', () => {
  const body = (text: string) =>
    parseText(`raise "x" if:\n    forall:\n        a\n    ${text}\n`).tree.rules[0]?.body.map(
      ({ kind }) => kind,
    );
  assert.deepEqual(body('-x == 1'), ['quantifier', 'binary']);
  assert.deepEqual(body('in == 1'), ['quantifier', 'binary']);
  assert.deepEqual(body('and x'), ['logic']);
});

for (const word of ['and', 'or', 'is', 'in', 'contains_only']) {
  test(`a line that defines \`${word}\` does not continue the line before`, () => {
    const read = (text: string) =>
      parseText(text)
        .diagnostics.all()
        .map(({ message }) => message);
    assert.deepEqual(read(`a := ""\n${word}(x: str) := x == a\n`), []);
    assert.deepEqual(read(`a := ""\n\n${word}() :=\n    True\n`), []);
    assert.deepEqual(read(`a := "" == ""\n${word} ("b")\n`), []);
    assert.equal(parseText(`a := ""\n${word} ("b")\n`).tree.definitions.length, 1);
  });
}

test('an f-string of several lines loses its common indentation like any other', () => {
  const [definition] = parseText('x := f"""\n   a {b}\n\n     c\n   """\n').tree.definitions;
  const [line] = definition?.body ?? [];
  assert.ok(line?.kind === 'format');
  assert.deepEqual(
    line.parts.map((part) => (typeof part === 'string' ? part : part.kind)),
    ['\na ', 'name', '\n\n  c\n'],
  );
});

test('the height of a tree is bounded also where each chain and each bracket is within its limit', () => {
  const nested = (times: number) =>
    told(`x := ${high(times)}\n`).map((diagnostic) => diagnostic.split(' ')[1]);
  assert.deepEqual(nested(90), ['POL005']);
  assert.deepEqual(nested(1), []);
});

/** Parts inside of parts: 300 for each of `times`. */
function high(times: number): string {
  let line = 'm.role';
  for (let depth = 0; depth < times; depth++) line = `(${line})${' + 1'.repeat(300)}`;
  return line;
}

test('a line that is too high is told of by itself, and the lines around it are read', () => {
  const { tree, diagnostics } = parseText(`raise f(${high(3)}) if:
    forall:
        a
        ${high(3)}
        b
    ${high(3)}
    c
x := 1
`);
  const lines = diagnostics.all().map(({ code, range }) => `${code} ${range?.line}`);
  assert.deepEqual(lines, ['POL005 1', 'POL005 4', 'POL005 6']);
  const [rule] = tree.rules;
  assert.deepEqual(
    [rule?.message, ...(rule?.body ?? [])].map((part) => part?.kind),
    ['invalid', 'quantifier', 'invalid', 'name'],
  );
  const [block] = rule?.body ?? [];
  assert.ok(block?.kind === 'quantifier');
  assert.deepEqual(
    block.body.map(({ kind }) => kind),
    ['name', 'invalid', 'name'],
  );
  assert.equal(tree.definitions.length, 1);
  // A block is higher than the lines in it.
  assert.deepEqual(told(`raise "x" if:\n    forall:\n        ${high(1)}\n`), []);
});

test('a constant that is too high is not said to be defined by itself', () => {
  const policy = loadPolicy(`x := ${high(3)}\n`);
  assert.deepEqual(policy.ok ? [] : policy.fault.map(({ code }) => code), ['POL005']);
});

/** Whatever the text is: no throw, places inside of it, in order, sentences in one line. */
function check(text: string): void {
  const { diagnostics } = parseText(text);
  const lines = text.split('\n');
  let before = { line: 0, column: 0 };
  for (const { range, message, help } of diagnostics.all()) {
    assert.ok(range !== undefined);
    const { line, column, endLine, endColumn } = range;
    assert.ok(line > before.line || (line === before.line && column >= before.column), 'in order');
    assert.ok(endLine > line || endColumn >= column, 'the end behind the beginning');
    assert.ok(column <= (lines[line - 1]?.length ?? -1) + 1, 'the beginning inside');
    assert.ok(endColumn <= (lines[endLine - 1]?.length ?? -1) + 1, 'the end inside');
    assert.match(`${message} ${help ?? ''}`, /^\P{Cc}*$/u);
    assert.doesNotMatch(message, /^[A-Z]|\.$/);
    before = { line, column };
  }
}

const damage = fc.record({
  at: fc.nat(),
  length: fc.nat(10),
  by: fc.constantFrom(
    '',
    '"',
    "'",
    '"""',
    '(',
    ')',
    '{',
    '}',
    '[',
    ':',
    '\n',
    '\n  ',
    '#',
    'if',
    'f"{',
    '\0',
    '\ud800',
  ),
});

test(`any damage to a policy is told in places of the text, in their order (CORDON_SEED=${SEED})`, () => {
  const texts = fc
    .tuple(
      trees,
      fc.array(fc.nat(1000), { minLength: 20, maxLength: 40 }),
      fc.array(damage, { maxLength: 4 }),
    )
    .map(([tree, choices, edits]) => {
      let text = careless(print(tree), choices);
      for (const { at, length, by } of edits) {
        const start = at % (text.length + 1);
        text = text.slice(0, start) + by + text.slice(start + length);
      }
      return text;
    });
  fc.assert(fc.property(texts, check), { numRuns: RUNS, seed: SEED });
});

test(`any text is read or told so (CORDON_SEED=${SEED})`, () => {
  fc.assert(fc.property(fc.string({ unit: 'binary', maxLength: 300 }), check), { numRuns: RUNS, seed: SEED });
});
