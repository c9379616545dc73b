/** Changes of a file that a person wrote: what is added has its place, and all other text stays. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withMember, withoutPath } from '../../src/index.ts';

function put(
  text: string,
  path: readonly string[],
  key: string,
  value: Parameters<typeof withMember>[2]['value'],
) {
  const changed = withMember(text, path, { key, value });
  return changed.ok ? changed.value : assert.fail(changed.fault);
}

test('a member goes behind the last one, whose comment stays with it', () => {
  const text = '{\n    "a": 1 // one\n}\n';
  assert.equal(put(text, [], 'b', 2), '{\n    "a": 1, // one\n    "b": 2\n}\n');
  assert.equal(put('{\n  "a": 1, // one\n}\n', [], 'b', 2), '{\n  "a": 1, // one\n  "b": 2\n}\n');
});

test('in an object of one line it stays in that line', () => {
  assert.equal(put('{"a": 1}', [], 'b', 2), '{"a": 1, "b": 2}');
  assert.equal(put('{ "a": { "x": 1, } }', ['a', 'y'], 'z', [2]), '{ "a": { "x": 1, "y": { "z": [2] }, } }');
});

test('an empty object is opened, and objects that are absent are made', () => {
  assert.equal(put('{}\n', [], 'a', 1), '{\n  "a": 1\n}\n');
  assert.equal(put('{}\n', ['x', 'y'], 'a', [1]), '{\n  "x": {\n    "y": {\n      "a": [1]\n    }\n  }\n}\n');
});

test('a member that is there is replaced, and no other', () => {
  const text = '{\n  // Mine.\n  "a": {"x": 1}, "b": 2\n}\n';
  assert.equal(put(text, [], 'a', 'now'), '{\n  // Mine.\n  "a": "now", "b": 2\n}\n');
  assert.equal(put(text, ['a'], 'x', 3), '{\n  // Mine.\n  "a": {"x": 3}, "b": 2\n}\n');
});

test('keys of other programs stay, and a path through something else is refused', () => {
  const text = '{\n  "inputs": [],\n  "globalShortcut": "x"\n}\n';
  assert.match(
    put(text, ['apps'], 'a', 1),
    /"inputs": \[\],\n {2}"globalShortcut": "x",\n {2}"apps": \{\n {4}"a": 1\n {2}\}\n\}/,
  );
  assert.equal(withMember(text, ['inputs'], { key: 'a', value: 1 }).ok, false);
  assert.equal(withMember('[]', [], { key: 'a', value: 1 }).ok, false);
});

test('a reason stands above its member, in one line', () => {
  const changed = withMember('{}\n', [], { key: 'a', value: 1, why: 'first\nsecond' });
  assert.equal(changed.ok && changed.value, '{\n  // first second\n  "a": 1\n}\n');
});

test('a member is taken out with its line', () => {
  const removed = (path: readonly string[]) => {
    const text = withoutPath('{\n  "a": {\n    "x": 1,\n    "y": 2\n  }\n}\n', path);
    return text.ok ? text.value : assert.fail(text.fault);
  };
  assert.equal(removed(['a', 'y']), '{\n  "a": {\n    "x": 1\n  }\n}\n');
  assert.equal(removed(['a', 'z']), '{\n  "a": {\n    "x": 1,\n    "y": 2\n  }\n}\n');
});
