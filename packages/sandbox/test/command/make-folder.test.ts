import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { makeFolder } from '@cordon/sandbox';

test('a folder is made with those above it, for its owner alone, and again without an error', (t) => {
  const root = mkdtempSync(join(tmpdir(), 'cordon-folder-'));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  const folder = join(root, 'a', 'b');
  makeFolder(folder);
  makeFolder(folder);
  assert.equal(statSync(folder).mode & 0o777, 0o700);
});

test('a folder that the kernel does not let anybody make is an error, and no endless loop', () => {
  assert.throws(() => makeFolder('/proc/none/of/these'), { code: 'ENOENT' });
});
