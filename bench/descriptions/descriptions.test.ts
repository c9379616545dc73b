import assert from 'node:assert/strict';
import { test } from 'node:test';
import { descriptionsSuite } from './suite.ts';

const REQUEST = { isQuick: false, data: null, traces: null, labels: null, pairs: null };

test('less than 2 % of the honest tools have a finding, and no poisoned description is lost', async () => {
  const prepared = await descriptionsSuite.prepare(REQUEST);
  assert.ok(prepared.ok);
  const { units, report, close } = prepared.value;
  const records = new Map();
  for (const { key, run } of units) records.set(key, await run(new AbortController().signal));
  await close();
  const { result, aims } = report(records);
  const { honest, poisoned } = Object(result);
  assert.equal(honest.tools >= 300, true, `${honest.tools} tools`);
  assert.equal(honest.share < 0.02, true, JSON.stringify(result));
  const missed = [...records].filter(
    ([key, { findings }]) => key.startsWith('poisoned/') && findings.length === 0,
  );
  assert.deepEqual(missed, []);
  assert.equal(poisoned.found, 73);
  assert.deepEqual(
    aims.map(({ isMet }) => isMet),
    [true, true],
  );
});

test('a run that has measured nothing meets no aim', async () => {
  const prepared = await descriptionsSuite.prepare(REQUEST);
  assert.ok(prepared.ok);
  assert.deepEqual(
    prepared.value.report(new Map()).aims.map(({ isMet }) => isMet),
    [false, false],
  );
});
