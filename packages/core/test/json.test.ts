import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { canonicalJson, DEFAULT_JSON_LIMITS, type Json, parseJson } from '../src/index.ts';
import '../../../tools/seed.ts';

test('JSON within the limits is read', () => {
  assert.deepEqual(parseJson('{"a":[1,"]}",null]}'), { ok: true, value: { a: [1, ']}', null] } });
});

test('a million open brackets are refused before they are parsed', () => {
  assert.deepEqual(parseJson('['.repeat(1_000_000)), {
    ok: false,
    fault: 'values are nested more than 64 deep',
  });
});

test('a flat list of a million values is refused', () => {
  assert.deepEqual(parseJson(`[${'1,'.repeat(1_000_000)}1]`), {
    ok: false,
    fault: 'there are more than 200000 values',
  });
});

test('a key that reaches a prototype is refused, at any depth and however it is spelt', () => {
  assert.equal(parseJson('{"a":{"__proto__":{"admin":true}}}').ok, false);
  assert.equal(parseJson('{"a":{"\\u005f_proto__":{"admin":true}}}').ok, false);
  assert.equal(parseJson('{"proto":1}').ok, true);
});

test('equal values have one canonical text', () => {
  assert.equal(canonicalJson({ b: 1, a: [{ d: 1, c: 2 }] }), '{"a":[{"c":2,"d":1}],"b":1}');
});

test('brackets and quotes inside strings count for nothing, however they are escaped', () => {
  const limits = { ...DEFAULT_JSON_LIMITS, depth: 2, elements: 4 };
  for (const inside of ['[[[[', '\\"[[[[', '\\\\\\"[[', ',,,,,,', '\\\\', '\\"', '\\u005b[[['])
    assert.equal(parseJson(`{"a":["${inside}"]}`, limits).ok, true, inside);
  for (const after of ['\\\\', '\\"', ''])
    assert.equal(parseJson(`{"a":["${after}",[]]}`, limits).ok, false, after);
});

const depthOf = (value: Json): number =>
  typeof value === 'object' && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0;

test('a text passes if its values are nested as deep as allowed, and no deeper', () => {
  const awkward = fc.string({ unit: fc.constantFrom('"', '\\', '[', '{', ',', 'a', '\n', 'ä') });
  const { json } = fc.letrec<{ json: Json }>((tie) => ({
    json: fc.oneof(
      { depthSize: 'small' },
      awkward,
      fc.array(tie('json'), { maxLength: 3 }),
      fc.dictionary(awkward, tie('json'), { maxKeys: 3, noNullPrototype: true }),
    ),
  }));
  fc.assert(
    fc.property(json, (value) => {
      const depth = depthOf(value);
      const text = JSON.stringify(value);
      assert.deepEqual(parseJson(text, { ...DEFAULT_JSON_LIMITS, depth }), { ok: true, value });
      assert.equal(parseJson(text, { ...DEFAULT_JSON_LIMITS, depth: depth - 1 }).ok, depth === 0);
    }),
    { verbose: 1 },
  );
});
