/**
 * Patterns and texts that are made for each other. No time is measured: what grows faster than the text does not
 * come to an end with texts as long as these.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BudgetedMatcher } from '../src/budgeted.ts';
import { compilePattern } from '../src/index.ts';
import { LinearMatcher } from '../src/linear.ts';
import { compileProgram } from '../src/program.ts';
import { parsePattern } from '../src/python-syntax.ts';

function found(pattern: string, text: string): readonly (readonly [number, number])[] | string {
  const compiled = compilePattern(pattern);
  if (!compiled.ok) return compiled.fault;
  const matches = compiled.value.findAll(text);
  return matches === 'exhausted' ? matches : matches.map(({ start, end }) => [start, end]);
}

function starts(pattern: string, text: string): boolean | string {
  const compiled = compilePattern(pattern, { dotAll: true });
  return compiled.ok ? compiled.value.startsWith(text) : compiled.fault;
}

for (const length of [1_000, 10_000, 100_000]) {
  const many = 'a'.repeat(length);
  test(`what takes a backtracking engine for ever is decided for ${length} characters`, () => {
    assert.deepEqual(found('(a+)+$', `${many}!`), []);
    assert.deepEqual(found('(a+)+$', many), [[0, length]]);
    assert.deepEqual(found('(a|a)*b', many), []);
    assert.deepEqual(found('(a|a)*b', `${many}b`), [[0, length + 1]]);
    assert.deepEqual(found('^(([a-z])+.)+[A-Z]([a-z])+$', many), []);
    assert.deepEqual(found('^(([a-z])+.)+[A-Z]([a-z])+$', `${many}Zz`), [[0, length + 2]]);
    assert.deepEqual(found('(.*a){20}', 'b'.repeat(length)), []);
    assert.deepEqual(found('(.*a){20}', many), [[0, length]]);
    assert.equal(starts('(x+x+)+y$', 'x'.repeat(length)), false);
    assert.equal(starts('(x+x+)+y$', `${'x'.repeat(length)}y`), true);
    assert.equal(starts('(?:a|ab|b)*c$', 'ab'.repeat(length / 2)), false);
  });
}

test('many matches do not cost more than one, even if each could have gone on to the end', () => {
  const length = 1_000_000;
  const matches = found('a.*b|a', 'a'.repeat(length));
  assert.equal(matches.length, length);
  assert.deepEqual(matches[1], [1, 2]);
  assert.deepEqual(found('a.*b|a', `${'a'.repeat(length)}b`), [[0, length + 1]]);
  assert.deepEqual(found('a*b', 'a'.repeat(length)), []);
  assert.deepEqual(found('\\s+$', `${' '.repeat(length)}x`), []);
  assert.equal(found('', 'a'.repeat(length)).length, length + 1);
});

test('ten million characters are searched', () => {
  const length = 10_000_000;
  const text = 'a'.repeat(length);
  assert.deepEqual(found('[b-z]+[0-9]', text), []);
  assert.deepEqual(found('(?i)B|\\d', text), []);
  assert.deepEqual(found('a{3,}b', `${text}b`), [[0, length + 1]]);
});

test('a pattern of the greatest length is as quick to refuse or to run as its length', () => {
  assert.deepEqual(found('(?:a|b)'.repeat(1_400), 'a'.repeat(1_400)), [[0, 1_400]]);
  assert.deepEqual(found('a?'.repeat(2_000), 'aa'), [
    [0, 2],
    [2, 2],
  ]);
  assert.equal(found('('.repeat(10_000), 'a'), 'the pattern is nested more than 200 deep');
  assert.equal(found('[a'.repeat(5_000), 'a'), 'a set of characters in the pattern has no `]`');
  assert.deepEqual(found(`[${'a-z'.repeat(3_000)}]`, 'q'), [[0, 1]]);
  const words = Array.from({ length: 1_500 }, (_, n) => `w${n}`).join('|');
  assert.deepEqual(found(words, 'x w1499'), [[2, 4]]);
});

// ── limits ────────────────────────────────────────────────────────────────────────────────────────────────────

function linear(pattern: string, limits: { uncounted: number; counted: number }): LinearMatcher {
  const tree = parsePattern(pattern, false);
  assert.ok(tree.ok);
  const program = compileProgram(tree.value.root);
  assert.ok(program.ok);
  return new LinearMatcher(program.value, false, limits);
}

/** Texts in which no two stretches of twelve letters are the same for long. */
function scrambled(length: number): string {
  let state = 1;
  let text = '';
  while (text.length < length) {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    text += state & 0x10000 ? 'a' : 'b';
  }
  return text;
}

test('a text that needs a new edge for each character is given up, whatever was read before', () => {
  const matcher = linear('(?:a|b)(?:a|b){60}c|b(?:a|b){14}a', { uncounted: 1_000, counted: 100_000 });
  const text = scrambled(20_000);
  assert.equal(matcher.findAll(text), 'exhausted');
  assert.notEqual(matcher.findAll(text.slice(0, 5)), 'exhausted');
  assert.equal(matcher.findAll(text), 'exhausted');
  assert.deepEqual(matcher.findAll('a'.repeat(20_000)), []);
});

test('the engine that counts steps gives up at its budget, which grows with the text', () => {
  const tree = parsePattern('(?:a|a)*(?=c)', false);
  assert.ok(tree.ok);
  const matcher = new BudgetedMatcher(tree.value, { perCharacter: 10, least: 1_000 });
  assert.equal(matcher.startsWith('a'.repeat(30)), 'exhausted');
  assert.equal(matcher.findAll('a'.repeat(30)), 'exhausted');
  assert.deepEqual(matcher.findAll('aac'), [
    { start: 0, end: 2 },
    { start: 2, end: 2 },
  ]);
  assert.equal(matcher.startsWith('c'.repeat(100_000)), true);
});

test('look-around that costs a few steps a character runs over a million characters', () => {
  const text = 'user password: x1 '.repeat(60_000);
  assert.equal(found('(?<!\\w)password(?=:)', text).length, 60_000);
  assert.deepEqual(found('^(?=.*\\d)(?=.*[a-z]).{8,}$', text.slice(0, 100_000)), [[0, 100_000]]);
  assert.equal(found('(?=(a*))\\1b', `b${'a'.repeat(100_000)}`), 'exhausted');
});

test('a pattern with look-around keeps its own stack, however deep it goes', () => {
  assert.deepEqual(found('(?:(?=a)a)*', 'a'.repeat(100_000)), [
    [0, 100_000],
    [100_000, 100_000],
  ]);
});
