import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { objection, pagesNow, RESULTS } from './committed.ts';
import { readResults } from './result.ts';

test('the documentation says what the results of the repository say', () => {
  const pages = pagesNow();
  assert.equal(pages.ok ? '' : pages.fault.message, '');
  for (const { page, text, made } of pages.ok ? pages.value : [])
    assert.equal(text, made, `${page} is not what was measured: run \`npm run bench:docs\``);
});

test('the results of the repository are whole, and of its own data', () => {
  const results = existsSync(RESULTS) ? readResults(RESULTS) : null;
  const objections = results?.ok === true ? results.value.flatMap((one) => objection(one) ?? []) : [];
  assert.deepEqual([results === null || results.ok, objections], [true, []]);
});
