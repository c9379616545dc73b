import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { SEED } from '../../../tools/seed.ts';
import { canonicalJson, canonicalJsonOf, type Json, toJson } from '../src/index.ts';

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
  t.diagnostic(`CORDON_SEED=${SEED}`);
  const value = fc.jsonValue().map((json): Json => JSON.parse(JSON.stringify(json)));
  const property = fc.property(value, value, (a, b) => {
    assert.deepEqual(JSON.parse(canonicalJson(a)), a);
    assert.equal(canonicalJson(shuffled(a)), canonicalJson(a));
    assert.equal(canonicalJson(a) === canonicalJson(b), isEqual(a, b));
  });
  fc.assert(property, { seed: SEED });
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

test('strings are quoted as JSON quotes them, short and long, with every kind of escape', (t) => {
  t.diagnostic(`CORDON_SEED=${SEED}`);
  assert.equal(
    canonicalJson(['"', '\\', '\n', '\u007f', '\u2028', '\ud800', '😀']),
    '["\\"","\\\\","\\n","\u007f","\u2028","\\ud800","😀"]',
  );
  const text = fc.string({ unit: 'binary', maxLength: 100 });
  const property = fc.property(text, (one) => assert.equal(canonicalJson(one), JSON.stringify(one)));
  fc.assert(property, { seed: SEED });
});

test('a value that is no JSON yet has the text of its copy as JSON', (t) => {
  t.diagnostic(`CORDON_SEED=${SEED}`);
  const values = [
    [undefined, 'null'],
    [() => 1, 'null'],
    [[undefined, Symbol('x'), 1], '[null,null,1]'],
    [{ b: undefined, a: () => 1 }, '{}'],
    [{ b: 1, a: undefined, 10: 1, 9: Number.NaN }, '{"10":1,"9":null,"b":1}'],
    [{ at: new Date(0) }, '{"at":"1970-01-01T00:00:00.000Z"}'],
    [JSON.parse('{"__proto__":1,"a":2}'), '{"__proto__":1,"a":2}'],
  ] as const;
  for (const [value, expected] of values) assert.equal(canonicalJsonOf(value), expected);
  const anything = fc.anything({ withDate: true, withSparseArray: true, withNullPrototype: true });
  const property = fc.property(anything, (value) =>
    assert.equal(canonicalJsonOf(value), canonicalJson(toJson(value))),
  );
  fc.assert(property, { seed: SEED });
});
