/** A settled value is the same value, its texts are the same texts, and nobody changes it any more. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { isLeftOut } from '../../../tools/cases.ts';
import { SEED } from '../../../tools/seed.ts';
import {
  canonicalCopyOf,
  canonicalJson,
  canonicalJsonOf,
  type Json,
  type JsonObject,
  jsonText,
  settle,
} from '../src/index.ts';

const NOT_AT_ALL = () => Promise.reject(new Error('nothing here is long'));
const copied = (value: Json): JsonObject => JSON.parse(JSON.stringify({ value }));

function isFrozen(value: Json): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return Object.isFrozen(value) && Object.values(value).every(isFrozen);
}

test('the texts of a settled value are those of the same value that is not', async (t) => {
  t.diagnostic(`CORDON_SEED=${SEED}`);
  const property = fc.asyncProperty(fc.jsonValue(), async (json) => {
    const [plain, value] = [copied(json as Json), copied(json as Json)];
    await settle(value, NOT_AT_ALL);
    assert.equal(jsonText(value), JSON.stringify(plain));
    assert.equal(canonicalJson(value), canonicalJson(plain));
    assert.equal(canonicalJson({ b: 1, a: value }), canonicalJson({ b: 1, a: plain }));
    assert.equal(jsonText({ b: 1, a: value }), JSON.stringify({ b: 1, a: plain }));
    assert.deepEqual(value, plain);
    assert.ok(isFrozen(value));
  });
  await fc.assert(property, { seed: SEED });
});

test('keys that look like numbers, and those of a prototype, are keys like others', async () => {
  const text = '{"10":1,"9":2,"__proto__":{"b":1,"a":"\\ud800"},"a":[-0,1e21,null]}';
  const value: JsonObject = JSON.parse(text);
  await settle(value, NOT_AT_ALL);
  assert.equal(jsonText(value), JSON.stringify(JSON.parse(text)));
  assert.equal(canonicalJson(value), canonicalJson(JSON.parse(text)));
});

test('a large value is settled in pieces, and in how many does not depend on the machine', async (t) => {
  if (isLeftOut(t)) return;
  const pausesFor = async (value: JsonObject) => {
    let pauses = 0;
    await settle(value, async () => void pauses++);
    return pauses;
  };
  const rows = (count: number) => Array.from({ length: count }, (_, at) => ({ id: at, name: `n${at}` }));
  const unsorted = (count: number) => Array.from({ length: count }, (_, at) => ({ name: `n${at}`, id: at }));
  assert.equal(await pausesFor({ rows: rows(1_000) }), 0);
  // A row is three values, and its end.
  assert.ok((await pausesFor({ rows: rows(100_000) })) >= 30);
  assert.ok((await pausesFor({ rows: unsorted(100_000) })) >= 60);
  const known = { rows: rows(100_000) };
  await pausesFor(known);
  assert.equal(await pausesFor(known), 0, 'once for each value');
});

test('the copy of an event is what its canonical text reads as, and what is settled is not copied', async (t) => {
  t.diagnostic(`CORDON_SEED=${SEED}`);
  const anything = fc.anything({ withDate: true, withSparseArray: true, withNullPrototype: true });
  const property = fc.property(anything, (value) => {
    const read = JSON.parse(canonicalJsonOf(value));
    assert.deepEqual(canonicalCopyOf(value), read);
    // The order of the keys too.
    assert.equal(JSON.stringify(canonicalCopyOf(value)), JSON.stringify(read));
  });
  fc.assert(property, { seed: SEED });
  const settled = { rows: [1, 2] };
  const loose = { rows: [1, 2] };
  await settle(settled, NOT_AT_ALL);
  const copy = canonicalCopyOf({ settled, loose, none: undefined }) as JsonObject;
  assert.deepEqual(copy, { settled, loose });
  assert.ok(copy.settled === settled && copy.loose !== loose);
});
