/** A short soak: what the long one (`node bench/isolation/soak.ts`) would find after a thousand spokes, after thirty. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { isLeftOut } from '../../tools/cases.ts';
import { REPOSITORY } from '../harness/cordon.ts';

test('thirty spokes come and go, and leave no process, descriptor or folder behind', async (t) => {
  if (isLeftOut(t)) return;
  const soak = join(REPOSITORY, 'bench/isolation/soak.ts');
  const { stdout } = await promisify(execFile)(process.execPath, [soak, '--spokes', '30'], {
    timeout: 300_000,
  });
  const [, before, after] = stdout.split('\n');
  assert.match(before ?? '', /^before: 0 processes, \d+ descriptors, 0 temporary$/);
  // Of descriptors there may be fewer: it fails where anything is more.
  assert.match(after ?? '', /^after: {2}0 processes, \d+ descriptors, 0 temporary$/);
});
