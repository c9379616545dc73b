import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { canonicalJson, type Json } from '../src/index.ts';

test('keys stand in the order of their UTF-16 units, at every depth', () => {
  assert.equal(canonicalJson({ b: 1, a: { d: [], c: null } }), '{"a":{"c":null,"d":[]},"b":1}');
  assert.equal(canonicalJson({ ö: 1, z: 2, Z: 3 }), '{"Z":3,"z":2,"ö":1}');
});

test('the order of a list is part of its value', () => {
  assert.notEqual(canonicalJson([1, 2]), canonicalJson([2, 1]));
});

test('numbers are written as JavaScript writes them (RFC 8785, 3.2.2.3)', () => {
  assert.equal(canonicalJson([1.0, -0, 1e21, 0.000001, 1e-7]), '[1,0,1e+21,0.000001,1e-7]');
});

test('equal values have one text, unequal ones two; the text reads back as the value', (t) => {
  const seed = Date.now() % 1_000_000_000;
  t.diagnostic(`seed ${seed}`);
  const value = fc.jsonValue().map((json): Json => JSON.parse(JSON.stringify(json)));
  const property = fc.property(value, value, (a, b) => {
    assert.deepEqual(JSON.parse(canonicalJson(a)), a);
    assert.equal(canonicalJson(shuffled(a)), canonicalJson(a));
    assert.equal(canonicalJson(a) === canonicalJson(b), isEqual(a, b));
  });
  fc.assert(property, { seed });
});

/** The same value with its keys in the opposite order. */
function shuffled(value: Json): Json {
  if (Array.isArray(value)) return value.map(shuffled);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, inner]): [string, Json] => [key, shuffled(inner)]);
  return Object.fromEntries(entries.reverse());
}

function isEqual(a: Json, b: Json): boolean {
  try {
    assert.deepEqual(a, b);
    return true;
  } catch {
    return false;
  }
}
