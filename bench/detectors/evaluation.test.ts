import assert from 'node:assert/strict';
import { test } from 'node:test';
import { detectorsSuite } from './evaluation.ts';

test('a detector is judged on its own texts, and those that were not run have no figures', async () => {
  const request = { isQuick: true, data: null, traces: null, labels: null, pairs: null };
  const prepared = await detectorsSuite.prepare(request);
  assert.ok(prepared.ok);
  const { units, data, report, close } = prepared.value;
  const unit = units.find(({ key }) => key === 'secrets/Cordon');
  assert.ok(unit !== undefined && data.some(({ name }) => name === 'texts/secrets'));
  const record = await unit.run(new AbortController().signal);
  await close();
  const told = report(new Map([[unit.key, record]]));
  assert.deepEqual(
    told.aims.map(({ what }) => what),
    ['`secrets`, all kinds: found, right', '`secrets`: speed on ordinary text'],
  );
  assert.equal(told.aims[0]?.isMet, true);
  const { detectors } = told.result;
  assert.deepEqual(
    Object.entries(Object(detectors)).flatMap(([name, by]) =>
      Object.keys(Object(by)).length > 0 ? [name] : [],
    ),
    ['secrets'],
  );
  // What is left of a run that was interrupted at once.
  assert.deepEqual(report(new Map()).aims, []);
});
