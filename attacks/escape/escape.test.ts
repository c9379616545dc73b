/** Every attempt to get out of the sandbox, on this kernel, as this user. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openSandbox } from '@cordon/sandbox';
import { isLeftOut, sampled } from '../../tools/cases.ts';
import { ATTEMPTS, attemptsHere, runSuite } from './suite.ts';

const HERE = attemptsHere();
/** One attempt of every group, and every eighth of all. */
const SAMPLE = new Set(
  HERE.filter(
    ({ group }, index, all) => index % 8 === 0 || all.findIndex((one) => one.group === group) === index,
  ),
);
const results = new Map(
  (await runSuite(sampled(HERE, (one) => SAMPLE.has(one)))).map((one) => [one.attempt.id, one]),
);

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
  assert.deepEqual(known, ['mount-table']);
});

/** Layers that this kernel does not have: what only they stop gets through here, and the self-test says so. */
const { absent } = await openSandbox({ node: process.execPath }).probe();

for (const attempt of HERE)
  test(`${attempt.group}: an app that ${attempt.title} ${attempt.known === undefined ? 'is stopped' : 'is borne'}`, (t) => {
    if (isLeftOut(t, SAMPLE.has(attempt))) return;
    const { outcome, twin, verdict } = results.get(attempt.id) ?? assert.fail('nothing was heard of it');
    assert.deepEqual(twin, { kind: 'through' }, 'what is allowed does not work');
    const isAbsent = attempt.layers.length > 0 && attempt.layers.every((layer) => absent.includes(layer));
    const expected = isAbsent ? 'through' : attempt.known === undefined ? 'stopped' : 'known';
    assert.equal(verdict, expected, JSON.stringify(outcome));
  });
