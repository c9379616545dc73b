/** What runs as the hub is nobody's to write. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadText, problemsOf } from '@cordon/testkit/configuration-folder.ts';
import { Workplace } from '@cordon/testkit/cordon-program.ts';

const own = import.meta.dirname;

test('an app is not given the folder of the program to write; to read it is', () => {
  const manifest = (files: object) => ({ apps: { a: { command: 'x', manifest: { files } } } });
  const written = problemsOf(loadText(JSON.stringify(manifest({ write: [own] }))));
  assert.match(written.join(), /CFG017 .* would let the app write the program of Cordon/);
  assert.deepEqual(problemsOf(loadText(JSON.stringify(manifest({ read: [own] })))), []);
});

test('a command that is run alone is not given it either', () => {
  using place = new Workplace();
  const run = (option: string) => place.run(['run', option, own, '--', 'node', '-e', '']);
  const written = run('--write');
  assert.match(written.err, /would let the app write the program of Cordon/);
  assert.equal(written.code, 2);
  assert.equal(run('--read').code, 0);
});
