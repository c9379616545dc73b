import assert from 'node:assert/strict';
import { lstatSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { TemporaryFolder } from '@cordon/testkit/app-process.ts';
import { openState } from '../src/index.ts';

const schema = {
  type: 'object',
  properties: { count: { type: 'integer' }, names: { type: 'array', items: { type: 'string' } } },
  required: ['count', 'names'],
} as const;
const initial = { count: 1, names: ['a'] };
const open = (folder: string) => openState({ file: 'things.json', schema, initial, folder });

test('the first start writes the initial state, in a folder that it makes', () => {
  using temporary = new TemporaryFolder();
  const folder = join(temporary.path, 'deep', 'er');
  assert.deepEqual(open(folder).read(), { count: 1, names: ['a'] });
  const text = readFileSync(join(folder, 'things.json'), 'utf8');
  assert.equal(text, '{\n  "count": 1,\n  "names": [\n    "a"\n  ]\n}');
});

test('what is written is there for the next start, and nothing else is left behind', () => {
  using folder = new TemporaryFolder();
  const written = open(folder.path).update(({ count, names }) => ({
    count: count + 1,
    names: [...names, 'b'],
  }));
  assert.deepEqual(written, { count: 2, names: ['a', 'b'] });
  assert.deepEqual(open(folder.path).read(), { count: 2, names: ['a', 'b'] });
  assert.deepEqual(readdirSync(folder.path), ['things.json']);
});

test('a file of an older version gets the keys that it lacks', () => {
  using folder = new TemporaryFolder();
  writeFileSync(join(folder.path, 'things.json'), '{"count":7}');
  assert.deepEqual(open(folder.path).read(), { count: 7, names: ['a'] });
});

test('a file that holds something else is refused and left as it is', () => {
  using folder = new TemporaryFolder();
  const path = join(folder.path, 'things.json');
  for (const text of ['{"count":"seven"}', '[]', 'null', '{"count":', '', '{"count":1,"other":2}']) {
    writeFileSync(path, text);
    assert.throws(() => open(folder.path), Error);
    assert.equal(readFileSync(path, 'utf8'), text);
  }
});

test('a change that does not fit is refused, and so is one that throws; the file stays as it was', () => {
  using folder = new TemporaryFolder();
  const state = open(folder.path);
  assert.throws(() => state.update((now) => ({ ...now, count: 0.5 })), /\/count must be a whole number/);
  assert.throws(() =>
    state.update(() => {
      throw new Error('no');
    }),
  );
  assert.deepEqual(state.read(), { count: 1, names: ['a'] });
});

test('what a reader got cannot change what the next reader gets', () => {
  using folder = new TemporaryFolder();
  const state = open(folder.path);
  Object.assign(state.read(), { count: 9 });
  assert.equal(state.read().count, 1);
});

test('a link in place of the file or of the temporary file does not lead the write elsewhere', () => {
  using folder = new TemporaryFolder();
  const other = join(folder.path, 'other');
  mkdirSync(other);
  const victim = join(other, 'victim');
  writeFileSync(victim, '{"count":3,"names":[]}');
  symlinkSync(victim, join(folder.path, 'things.json'));
  symlinkSync(victim, join(folder.path, `.things.json.${process.pid}.tmp`));
  open(folder.path).update((now) => ({ ...now, count: 4 }));
  assert.equal(readFileSync(victim, 'utf8'), '{"count":3,"names":[]}');
  assert.equal(lstatSync(join(folder.path, 'things.json')).isFile(), true);
  assert.equal(open(folder.path).read().count, 4);
});

test('a file name that leads out of the folder is refused', () => {
  using folder = new TemporaryFolder();
  for (const file of ['../x.json', 'a/b.json', '.hidden', '', '..'])
    assert.throws(() => openState({ file, schema, initial, folder: folder.path }), /not a plain file name/);
});
