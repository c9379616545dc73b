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
});
