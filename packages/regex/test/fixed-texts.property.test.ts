import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { runs } from '../../../tools/cases.ts';
import { SEED } from '../../../tools/seed.ts';
import { FixedTextsMatcher, fixedTextsOf } from '../src/fixed-texts.ts';
import { LinearMatcher } from '../src/linear.ts';
import { compileProgram } from '../src/program.ts';
import { parsePattern } from '../src/python-syntax.ts';

const RUNS = runs(150, 250, 500);

const piece = fc.constantFrom(
  'a',
  'ab',
  'a?',
  'b??',
  '(?:ab|a)',
  '(?:a|ab)',
  '[bc]',
  '(?i:b)',
  '😀',
  '(?:é)?',
  '(c)',
);
const branch = fc.array(piece, { minLength: 1, maxLength: 4 }).map((parts) => parts.join(''));
const pattern = fc.array(branch, { minLength: 1, maxLength: 3 }).map((branches) => branches.join('|'));
const text = fc
  .array(fc.constantFrom('a', 'b', 'c', 'ab', 'aab', 'B', '😀', 'é', ' ', '\ud83d', '\ude00'), {
    maxLength: 40,
  })
  .map((parts) => parts.join(''));

function known(written: string): readonly string[] | null {
  const tree = parsePattern(written, false);
  assert.ok(tree.ok, written);
  return fixedTextsOf(tree.value.root);
}

test(`looking for the texts of a pattern finds what running it finds (CORDON_SEED=${SEED})`, () => {
  let compared = 0;
  fc.assert(
    fc.property(pattern, text, (written, given) => {
      const tree = parsePattern(written, false);
      assert.ok(tree.ok, written);
      const texts = fixedTextsOf(tree.value.root);
      const program = compileProgram(tree.value.root);
      assert.ok(program.ok);
      if (texts === null) return;
      compared++;
      const engine = new LinearMatcher(program.value, false);
      const matcher = new FixedTextsMatcher(texts);
      assert.deepEqual(matcher.findAll(given), engine.findAll(given), written);
      assert.equal(matcher.startsWith(given), engine.startsWith(given), written);
    }),
    { numRuns: RUNS, seed: SEED },
  );
  assert.ok(compared > RUNS / 10, `only ${compared} patterns are a few texts`);
});

test('the texts of a pattern stand in the order in which they are tried', () => {
  assert.deepEqual(known('Note: |ignore (?:all )?of it'), ['Note: ', 'ignore all of it', 'ignore of it']);
  assert.deepEqual(known('ab??c'), ['ac', 'abc']);
  assert.deepEqual(known('a|ab|a'), ['a', 'ab']);
  assert.deepEqual(known('key{1}'), ['key']);
});

test('what matches anything else is not a few texts', () => {
  for (const written of [
    'a*',
    'a?',
    'a{2}',
    'key$',
    '\\bkey',
    'key.',
    '[a-z]',
    '|a',
    '(?:a|b|c)(?:a|b|c)',
    'a{65}',
  ])
    assert.equal(known(written), null, written);
});
