import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exitCodeOf } from '../src/context/exit.ts';

test('0 is done, 1 refused, 2 failed', () => {
  assert.equal(exitCodeOf('answered'), 0);
  assert.equal(exitCodeOf('refused'), 1);
  assert.equal(exitCodeOf('cancelled'), 1);
  assert.equal(exitCodeOf('failed'), 2);
});
