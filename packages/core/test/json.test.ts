import assert from 'node:assert/strict';
import { test } from 'node:test';
import { canonicalJson, parseJson } from '../src/index.ts';

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
