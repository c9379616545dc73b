import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compilePattern, PatternCache } from '../src/regex.ts';

function found(pattern: string, text: string): readonly string[] | string {
  const compiled = compilePattern(pattern);
  if (!compiled.ok) return compiled.fault;
  const matches = compiled.value.findAll(text);
  return matches === 'exhausted' ? matches : matches.map((match) => text.slice(match.start, match.end));
}

test('Python forms mean here what they mean in Python', () => {
  assert.deepEqual(found('(?P<year>\\d{4})', 'in 1999 and 2024'), ['1999', '2024']);
  assert.deepEqual(found('\\w+', 'naïve Größe_1'), ['naïve', 'Größe_1']);
  assert.deepEqual(found('\\d+', '١٢ 34'), ['١٢', '34']);
  assert.deepEqual(found('[\\w.]+@', 'a.ü@b'), ['a.ü@']);
  assert.deepEqual(found('a{,2}b', 'aab ab b'), ['aab', 'ab', 'b']);
  assert.deepEqual(found('[]a]+', 'a]b'), ['a]']);
  assert.deepEqual(found('[[:a]+', '[:a'), ['[:a']);
  assert.deepEqual(found('(?i)ABC(?#comment)', 'xabc'), ['abc']);
  assert.deepEqual(found('\\u0041\\x42', 'AB'), ['AB']);
  assert.deepEqual(found('b\\Z', 'ab'), ['b']);
  assert.deepEqual(found('[\\U0001F600]', 'x😀'), ['😀']);
});

test('what cannot run in linear time is refused with the reason', () => {
  assert.equal(found('(?=a)b', ''), 'look-around cannot be run in linear time');
  assert.equal(found('(?<!a)b', ''), 'look-around cannot be run in linear time');
  assert.equal(found('(a)\\1', ''), 'back-references cannot be run in linear time');
  assert.equal(found('(?P<n>a)(?P=n)', ''), 'back-references cannot be run in linear time');
  assert.equal(found('(', ''), 'the pattern is no regular expression that can be run in linear time');
  assert.equal(found('a'.repeat(10_001), ''), 'the pattern is longer than 10000 characters');
});

test('patterns that explode in a backtracking engine do not', () => {
  const text = `${'a'.repeat(5_000)}!`;
  assert.deepEqual(found('^(a+)+$', text), []);
  assert.deepEqual(found('^(a|aa)*$', text), []);
  assert.deepEqual(found('(x+x+)+y', 'x'.repeat(5_000)), []);
});

test('the cache stays within its capacity and gives the same answers', () => {
  const cache = new PatternCache(2);
  for (let round = 0; round < 3; round++) {
    for (const pattern of ['a', 'b', 'c', '(']) {
      const compiled = cache.compile(pattern);
      assert.equal(compiled.ok && compiled.value.startsWith(pattern), pattern !== '(');
    }
  }
});
