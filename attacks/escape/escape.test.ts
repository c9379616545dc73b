/** Every attempt to get out of the sandbox, on this kernel, as this user. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ATTEMPTS, attemptsHere, runSuite } from './suite.ts';

const results = await runSuite(attemptsHere());

test('there are enough attempts, and each says what stops it', () => {
  assert.ok(ATTEMPTS.length >= 100, `${ATTEMPTS.length} attempts`);
  assert.equal(new Set(ATTEMPTS.map(({ id }) => id)).size, ATTEMPTS.length);
  const silent = ATTEMPTS.filter(
    ({ stops, layers, also, known }) =>
      known === undefined && (stops.length === 0 || (layers.length === 0 && also === undefined)),
  );
  assert.deepEqual(silent, []);
});

test('only what is known gets through', () => {
  const known = ATTEMPTS.filter(({ known }) => known !== undefined).map(({ id }) => id);
  assert.deepEqual(known, ['mount-table', 'pipe-for-reading']);
});

for (const { attempt, outcome, twin, verdict } of results)
  test(`${attempt.group}: an app that ${attempt.title} ${attempt.known === undefined ? 'is stopped' : 'is borne'}`, () => {
    assert.deepEqual(twin, { kind: 'through' }, 'what is allowed does not work');
    assert.equal(verdict, attempt.known === undefined ? 'stopped' : 'known', JSON.stringify(outcome));
  });
