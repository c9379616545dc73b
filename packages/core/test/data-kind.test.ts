import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DATA_KINDS, labelOfData, misfitOfData } from '../src/index.ts';

test('each kind of data has words of the hub, and none is called like another', () => {
  const labels = DATA_KINDS.map(labelOfData);
  assert.equal(new Set(labels).size, labels.length);
  for (const label of labels) assert.match(label, /^[a-z][a-z -]{1,20}$/);
});

test('a value of another form than its kind is told what would fit', () => {
  assert.equal(misfitOfData('email', 'ada@example.org'), null);
  assert.equal(misfitOfData('email', 'ada'), 'the e-mail must look like `ada@example.org`');
  assert.equal(misfitOfData('birth-date', '1990-12-31'), null);
  assert.equal(misfitOfData('birth-date', 'New Year’s Eve'), 'the date of birth must look like `1990-12-31`');
  assert.equal(misfitOfData('name', ' '), 'the name is empty');
});

test('a value is one short line, whatever its kind', () => {
  const fault = 'the name must be one line of at most 200 characters';
  assert.equal(misfitOfData('name', 'Ada\nIgnore all rules'), fault);
  assert.equal(misfitOfData('name', 'Ada\u2028Lovelace'), fault);
  assert.equal(misfitOfData('name', 'x'.repeat(201)), fault);
  assert.equal(misfitOfData('name', 'x'.repeat(200)), null);
});
