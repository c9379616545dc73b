/** Two engines that know nothing of each other find the same; what no engine was asked for is refused, not thrown. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { BudgetedMatcher } from '../src/budgeted.ts';
import { compilePattern } from '../src/index.ts';
import { LinearMatcher } from '../src/linear.ts';
import { compileProgram, instructionsAtMost } from '../src/program.ts';
import { parsePattern } from '../src/python-syntax.ts';
import '../../../tools/seed.ts';
import { runs } from '../../../tools/cases.ts';

const RUNS = runs(60, 150, 300);

const ATOMS = [
  'a',
  'b',
  'é',
  '😀',
  '.',
  '\\w',
  '\\W',
  '[ab]',
  '[^a]',
  '[a-z]',
  '\\n',
  ' ',
  '[\\s\\S]',
  'ab',
  '\\d',
];
const PLACES = ['^', '$', '\\b', '\\B', '\\A', '\\Z'];
const COUNTS = ['', '', '', '*', '+', '?', '*?', '+?', '??', '{2}', '{1,2}', '{,2}', '{2,}', '{0,2}?'];
const HEADS = ['', '', '(?i)', '(?m)', '(?s)', '(?a)'];

const patterns = fc
  .letrec<{ node: string }>((tie) => ({
    node: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      fc.constantFrom(...ATOMS, ''),
      fc.constantFrom(...PLACES),
      fc.array(tie('node'), { maxLength: 3 }).map((parts) => parts.join('')),
      fc.array(tie('node'), { minLength: 1, maxLength: 3 }).map((branches) => `(?:${branches.join('|')})`),
      fc.tuple(tie('node'), fc.constantFrom(...COUNTS)).map(([body, count]) => `(${body})${count}`),
    ),
  }))
  .node.chain((body) => fc.constantFrom(...HEADS).map((head) => head + body))
  .filter((pattern) => pattern.length < 60);

const texts = fc
  .array(fc.constantFrom('a', 'a', 'b', 'A', '1', ' ', '\n', 'é', '😀', '\ud83d', '\u212a', '_'), {
    maxLength: 10,
  })
  .map((characters) => characters.join(''));

/** For the budgeted engine alone: enough that it seldom gives up on texts as short as these. */
const MANY_STEPS = { perCharacter: 64, least: 300_000 };

test('the linear engine finds what the one that tries ways finds', () => {
  let compared = 0;
  fc.assert(
    fc.property(patterns, fc.array(texts, { minLength: 1, maxLength: 4 }), (pattern, samples) => {
      const tree = parsePattern(pattern, false);
      assert.ok(tree.ok, pattern);
      const program = compileProgram(tree.value.root);
      const compiled = compilePattern(pattern);
      assert.ok(program.ok && compiled.ok);
      const linear = new LinearMatcher(program.value, false);
      const budgeted = new BudgetedMatcher(tree.value, MANY_STEPS);
      for (const text of samples) {
        const expected = budgeted.findAll(text);
        const starts = budgeted.startsWith(text);
        if (expected === 'exhausted' || starts === 'exhausted') continue;
        compared += 1;
        for (const engine of [linear, compiled.value]) {
          assert.deepEqual(engine.findAll(text), expected, JSON.stringify([pattern, text]));
          assert.equal(engine.startsWith(text), starts, JSON.stringify([pattern, text]));
        }
      }
    }),
    { numRuns: RUNS },
  );
  assert.ok(compared >= RUNS / 2, `${compared} texts compared`);
});

test('a program has no more instructions than were expected before it was laid out', () => {
  fc.assert(
    fc.property(patterns, (pattern) => {
      const tree = parsePattern(pattern, false);
      assert.ok(tree.ok, pattern);
      const program = compileProgram(tree.value.root);
      assert.ok(program.ok, pattern);
      const expected = instructionsAtMost(tree.value.root);
      assert.ok(program.value.instructions.length <= expected, JSON.stringify([pattern, expected]));
    }),
    { numRuns: RUNS },
  );
});

for (const [pattern, expected, laidOut] of [
  ['abc', 5, 5],
  ['a|b|cd', 8, 8],
  ['ghp_[A-Za-z0-9]{36}', 42, 42],
  ['x+y*z', 8, 8],
  ['[a-z]{3,}@', 8, 8],
  ['(?:ab){2,5}c', 22, 20],
] as const) {
  test(`${pattern} is expected to have ${expected} instructions, and has ${laidOut}`, () => {
    const tree = parsePattern(pattern, false);
    assert.ok(tree.ok);
    const program = compileProgram(tree.value.root);
    assert.ok(program.ok);
    assert.equal(instructionsAtMost(tree.value.root), expected);
    assert.equal(program.value.instructions.length, laidOut);
  });
}

test('a text that is longer than a block gives the same matches as its engine of steps', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(
        'a+',
        '[^b]+b',
        '(?:a|é|😀)*',
        '\\b\\w',
        '(?s)b.{3}',
        '$',
        '(?m)^.',
        'a*?b',
        '(?:ab)+|a',
      ),
      fc.array(fc.constantFrom('a', 'aaaa', 'b', '\n', '😀', 'é', '\ud83d'), {
        minLength: 600,
        maxLength: 1_500,
      }),
      (pattern, parts) => {
        const text = parts.join('');
        const tree = parsePattern(pattern, false);
        const compiled = compilePattern(pattern);
        assert.ok(tree.ok && compiled.ok);
        assert.deepEqual(compiled.value.findAll(text), new BudgetedMatcher(tree.value).findAll(text));
      },
    ),
    { numRuns: Math.ceil(RUNS / 10) },
  );
});

test('any text is a pattern or is refused with one sentence, and never throws on any text', () => {
  const pieces = [
    '(',
    ')',
    '(?',
    '(?P<n>',
    '(?P=n)',
    '[',
    ']',
    '^',
    '-',
    '{',
    '}',
    '1',
    ',',
    '*',
    '+',
    '?',
    '|',
  ];
  const more = [
    '\\',
    '\\d',
    'a',
    '(?i)',
    '(?:',
    '(?=',
    '(?<=',
    '(?<!',
    '(?>',
    '(?(1)',
    '\\1',
    '$',
    '.',
    '#',
    ':',
    '😀',
  ];
  const garbage = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 30 }),
    fc.array(fc.constantFrom(...pieces, ...more), { maxLength: 20 }).map((parts) => parts.join('')),
  );
  fc.assert(
    fc.property(garbage, texts, (pattern, text) => {
      const compiled = compilePattern(pattern);
      if (!compiled.ok) {
        assert.match(compiled.fault, /^[^\n]+[^.\n]$/);
        return;
      }
      const matches = compiled.value.findAll(text);
      for (const { start, end } of matches === 'exhausted' ? [] : matches)
        assert.ok(0 <= start && start <= end && end <= text.length);
      compiled.value.startsWith(text);
    }),
    { numRuns: RUNS * 3 },
  );
});
