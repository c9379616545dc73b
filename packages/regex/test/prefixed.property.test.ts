import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { runs } from '../../../tools/cases.ts';
import { SEED } from '../../../tools/seed.ts';
import { LinearMatcher } from '../src/linear.ts';
import { PrefixedMatcher, prefixesOf } from '../src/prefixed.ts';
import { compileProgram } from '../src/program.ts';
import { parsePattern } from '../src/python-syntax.ts';

const RUNS = runs(150, 250, 500);

const start = fc.constantFrom(
  'ab',
  'aa',
  'a[bc]',
  '(?i:ab)',
  '(?:ab|ba)',
  'b{2}',
  '(?:ab)+',
  '😀a',
  'é{2,3}',
);
const rest = fc.constantFrom(
  '',
  'c',
  '[^b]',
  '.{0,3}',
  '(?:a|b)?',
  'b*?c',
  '[a-c]{1,4}',
  '😀',
  '(?:aa|a)',
  '\\s',
  '[a-g]b',
  '[^\\W_][a-f]{2}',
);
const branch = fc.tuple(start, rest, rest).map((parts) => parts.join(''));
const pattern = fc.array(branch, { minLength: 1, maxLength: 3 }).map((branches) => branches.join('|'));
const text = fc
  .array(fc.constantFrom('a', 'b', 'c', 'ab', 'aab', 'A', '😀', 'é', ' ', '\ud83d', '\ude00'), {
    maxLength: 40,
  })
  .map((parts) => parts.join(''));

test(`only looking where a match can begin finds what reading the whole text finds (CORDON_SEED=${SEED})`, () => {
  let compared = 0;
  fc.assert(
    fc.property(pattern, text, (written, given) => {
      const tree = parsePattern(written, false);
      assert.ok(tree.ok, written);
      const prefixes = prefixesOf(tree.value.root);
      const program = compileProgram(tree.value.root);
      assert.ok(program.ok);
      if (prefixes === null) return;
      compared++;
      const whole = new LinearMatcher(program.value, false);
      assert.deepEqual(new PrefixedMatcher(prefixes, whole).findAll(given), whole.findAll(given), written);
    }),
    { numRuns: RUNS, seed: SEED },
  );
  assert.ok(compared > RUNS / 10, `only ${compared} patterns have a known beginning`);
});

test('what can match anywhere, or looks around itself, has no known beginning', () => {
  const known = (written: string) => {
    const tree = parsePattern(written, false);
    assert.ok(tree.ok);
    return prefixesOf(tree.value.root)?.texts ?? null;
  };
  assert.deepEqual(known('key-[0-9]{4}'), ['key-']);
  assert.deepEqual(known('Note: .|ignore (?:all )?of it'), ['Note: ', 'ignore all of it', 'ignore of it']);
  assert.deepEqual(known('(?:key|kay)-[0-9]{4}x'), ['key-', 'kay-']);
  assert.deepEqual(known('https?://[a-z]{2}'), ['https://', 'http://']);
  assert.deepEqual(known('(?:ab){1,3}c'), ['ab']);
  for (const written of ['a[0-9]', '[0-9]key', '(?:key)?x', 'key.*', '\\bkey', 'key$', 'key|.y', 'key(?=x)'])
    assert.equal(known(written), null, written);
});

test('a character of two units can stand behind a beginning', () => {
  const tree = parsePattern('ab[^a-z]c', false);
  assert.ok(tree.ok);
  const program = compileProgram(tree.value.root);
  const prefixes = prefixesOf(tree.value.root);
  assert.ok(program.ok && prefixes !== null);
  const matcher = new PrefixedMatcher(prefixes, new LinearMatcher(program.value, false));
  assert.deepEqual(matcher.findAll('abxc ab😀c abéc ab'), [
    { start: 5, end: 10 },
    { start: 11, end: 15 },
  ]);
});

test('a text that is made of beginnings is read once', () => {
  const tree = parsePattern('abab[0-9]{30}', false);
  assert.ok(tree.ok);
  const program = compileProgram(tree.value.root);
  const prefixes = prefixesOf(tree.value.root);
  assert.ok(program.ok && prefixes !== null);
  let reads = 0;
  const counting = new LinearMatcher(program.value, false);
  const read = counting.findAll.bind(counting);
  counting.findAll = (given) => {
    reads += given.length;
    return read(given);
  };
  const matcher = new PrefixedMatcher(prefixes, counting);
  assert.deepEqual(matcher.findAll('ab'.repeat(50_000)), []);
  // Some places, and then the text.
  assert.ok(reads < 300_000, `${reads} characters were read`);
});
