import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { errorCode } from '../../src/kernel/error-code.ts';

function thrownBy(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error;
  }
}

function endless(): number {
  return 1 + endless();
}

test('an error that has no code keeps its words, and is no code', () => {
  assert.equal(errorCode(thrownBy(() => readFileSync('/nowhere/at/all'))), 'ENOENT');
  assert.equal(errorCode(thrownBy(endless)), 'RangeError: Maximum call stack size exceeded');
  assert.equal(errorCode('ENOENT'), 'unexpected: ENOENT');
});
