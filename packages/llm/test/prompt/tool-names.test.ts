import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { toolNames } from '../../src/prompt/tool-names.ts';
import '../../../../tools/seed.ts';

test('accepted names stay, others become similar ones that are free', () => {
  const names = toolNames(['files.read', 'files_read', 'files/read', '1st', 'x'.repeat(80)]);
  assert.deepEqual(['files.read', 'files_read', 'files/read', '1st', 'x'.repeat(80)].map(names.out), [
    'files_read_2',
    'files_read',
    'files_read_3',
    '_1st',
    'x'.repeat(56),
  ]);
});

test('a name that the model made up stays as it is', () => {
  assert.equal(toolNames(['a.b']).in('delete_all'), 'delete_all');
});

test('every set of names is translated one to one, back again, and to accepted names', () => {
  const name = fc.oneof(fc.string({ maxLength: 90 }), fc.stringMatching(/^[a._/]{1,5}$/));
  fc.assert(
    fc.property(fc.uniqueArray(name, { maxLength: 20 }), (given) => {
      const names = toolNames(given);
      const out = given.map(names.out);
      assert.equal(new Set(out).size, given.length);
      assert.deepEqual(out.map(names.in), given);
      for (const each of out) assert.match(each, /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/);
    }),
  );
});
