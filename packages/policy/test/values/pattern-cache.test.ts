import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PatternCache } from '../../src/values/pattern-cache.ts';

test('the cache stays within its capacity and gives the same answers', () => {
  const cache = new PatternCache(2);
  for (let round = 0; round < 3; round++) {
    for (const pattern of ['a', 'b', 'c', '(']) {
      const compiled = cache.compile(pattern);
      assert.equal(compiled.ok && compiled.value.startsWith(pattern), pattern !== '(');
    }
  }
});

test('the cache keeps the two meanings of a dot apart', () => {
  const cache = new PatternCache();
  const starts = (dotAll: boolean) => {
    const compiled = cache.compile('.', { dotAll });
    return compiled.ok && compiled.value.startsWith('\n');
  };
  assert.deepEqual([starts(false), starts(true), starts(false)], [false, true, false]);
});

test('the cache forgets before large patterns pile up', () => {
  const cache = new PatternCache();
  const small = cache.compile('a+b');
  assert.equal(cache.compile('a+b'), small);
  for (let count = 19_000; count < 19_011; count++) cache.compile(`a{${count}}`);
  assert.notEqual(cache.compile('a+b'), small);
});
