import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TokenBucket } from '../../src/apps/token-bucket.ts';

function clocked(perSecond: number, burst: number) {
  let now = 0;
  const rate = new TokenBucket({ perSecond, burst }, () => now);
  const takes = (times: number, amount = 1) =>
    Array.from({ length: times }, () => rate.take(amount)).filter(Boolean).length;
  const pass = (milliseconds: number) => {
    now += milliseconds;
  };
  return { rate, takes, pass };
}

test('a burst passes, then as much as the time has brought', () => {
  const { takes, pass } = clocked(10, 5);
  assert.equal(takes(8), 5);
  pass(250);
  assert.equal(takes(8), 2);
  pass(60_000);
  assert.equal(takes(8), 5);
});

test('what does not fit takes nothing', () => {
  const { takes } = clocked(10, 5);
  assert.equal(takes(1, 6), 0);
  assert.equal(takes(1, 5), 1);
});

test('what is given back never adds up to more than one burst', () => {
  const { rate, takes } = clocked(10, 5);
  takes(3);
  rate.giveBack(2);
  assert.equal(takes(9), 4);
  rate.giveBack(100);
  assert.equal(takes(9), 5);
});
