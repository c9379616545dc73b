/** Label files: what is read, and that a slip is an error. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { after } from 'node:test';
import { readLabelFile } from '../src/apps/label-file.ts';

const folder = mkdtempSync(join(tmpdir(), 'cordon-labels-'));
after(() => rmSync(folder, { recursive: true }));

function read(text: string): ReturnType<typeof readLabelFile> {
  const file = join(folder, 'labels.json');
  writeFileSync(file, text);
  return readLabelFile(file);
}

function codes(text: string): readonly string[] {
  const labels = read(text);
  assert.ok(!labels.ok);
  return labels.fault.map(({ code }) => code);
}

test('names, patterns and names of apps, with comments', () => {
  const labels = read(`{
    // What reads.
    "tools": {
      "get_*": { "readOnly": true, "outward": false },
      "mail/send": { "identifying": ["to", "cc"] },
      "*/list": { "private": false },
    },
  }`);
  assert.ok(labels.ok, JSON.stringify(labels));
  assert.deepEqual(labels.value, [
    { app: null, tool: 'get_*', says: { readOnly: true, outward: false } },
    { app: 'mail', tool: 'send', says: { identifying: ['to', 'cc'] } },
    { app: null, tool: 'list', says: { private: false } },
  ]);
});

test('a misspelt label, a wrong value and a name that is none are errors', () => {
  assert.deepEqual(codes('{"tools": {"a": {"readonly": true}}}'), ['CFG006']);
  assert.deepEqual(codes('{"tools": {"a": {"readOnly": "yes"}}}'), ['CFG005']);
  assert.deepEqual(codes('{"tools": {"a": {"identifying": "to"}}}'), ['CFG005']);
  assert.deepEqual(codes('{"tools": {"": {}, "/x": {}}}'), ['LAB001', 'LAB001']);
  assert.deepEqual(codes('{"tool": {}}'), ['CFG007', 'CFG006']);
  assert.deepEqual(codes('[]'), ['CFG005']);
});

test('the same tool twice is an error: nobody can mean both', () => {
  assert.deepEqual(codes('{"tools": {"a": {"readOnly": true}, "a": {}}}'), ['CFG004']);
});

test('what changes nothing and cannot be undone is a contradiction', () => {
  assert.deepEqual(codes('{"tools": {"a": {"readOnly": true, "irreversible": true}}}'), ['LAB002']);
  for (const other of ['"readOnly": true', '"irreversible": false', '"irreversible": true'])
    assert.deepEqual(codes(`{"tools": {"a": {"tells": ["to"], ${other}}}}`), ['LAB002'], other);
  assert.deepEqual(codes('{"tools": {"a": {"tells": "to"}}}'), ['CFG005']);
  const said = read('{"tools": {"a": {"tells": ["to"], "outward": true}}}');
  assert.deepEqual(said.ok && said.value, [{ app: null, tool: 'a', says: { outward: true, tells: ['to'] } }]);
});

test('which tool undoes a call, and with which of its values', () => {
  const labels = read(`{
    "tools": {
      "add_note": { "undo": { "tool": "delete_note", "with": { "id": "output.note.id", "list": "arguments.list" } } },
    },
  }`);
  assert.ok(labels.ok, JSON.stringify(labels));
  const undo = {
    tool: 'delete_note',
    with: { id: { of: 'output', at: ['note', 'id'] }, list: { of: 'arguments', at: ['list'] } },
  };
  assert.deepEqual(labels.value, [{ app: null, tool: 'add_note', says: { undo } }]);
});

test('an undo without a tool, or with what is no value of the call, is an error', () => {
  const codesOf = (undo: string) => codes(`{"tools": {"a": {"undo": ${undo}}}}`);
  assert.deepEqual(codesOf('{"with": {}}'), ['CFG007']);
  assert.deepEqual(codesOf('{"tool": "b"}'), ['CFG007']);
  assert.deepEqual(codesOf('"b"'), ['CFG005']);
  assert.deepEqual(codesOf('{"tool": "b", "with": {"id": "id"}}'), ['LAB004']);
  assert.deepEqual(codesOf('{"tool": "b", "with": {"id": "output"}}'), ['LAB004']);
  assert.deepEqual(codesOf('{"tool": "b", "with": {"id": "output..id"}}'), ['LAB004']);
  assert.deepEqual(codesOf('{"tool": "b", "with": {"id": 3}}'), ['CFG005']);
  assert.deepEqual(codes('{"tools": {"a": {"readOnly": true, "undo": {"tool": "b", "with": {}}}}}'), [
    'LAB002',
  ]);
});
