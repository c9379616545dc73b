/** What runs the tests cannot pass by mistake: a folder whose process ends early has failed, whatever its exit code says. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { ROOT } from '../imports.ts';

const root = mkdtempSync(join(tmpdir(), 'cordon-run-tests-'));
after(() => rmSync(root, { recursive: true }));

const GOOD = "import { test } from 'node:test'; test('it holds', () => undefined);";

for (const [what, second, code, told] of [
  ['two good files of a folder', GOOD, 0, /^ℹ tests 2$/m],
  ['a test that fails', GOOD.replace('undefined', '{ throw new Error("no") }'), 1, /^ℹ fail 1$/m],
  ['a file that does not load', 'throw new Error("no");', 1, /1 failed/],
  [
    'a process that ends in a test',
    GOOD.replace('undefined', 'process.exit(0)'),
    1,
    /ended before its tests did/,
  ],
  ['a process that ends before a test', 'process.exit(0);', 1, /ended before its tests did/],
  ['a process that is killed', "process.kill(process.pid, 'SIGKILL');", 1, /ended before its tests did/],
] as const)
  test(`${what}: exit code ${code}`, () => {
    const folder = join(root, what);
    mkdirSync(folder);
    writeFileSync(join(folder, 'a.test.mjs'), GOOD);
    writeFileSync(join(folder, 'b.test.mjs'), second);
    const { status, stdout } = run(join(folder, '*.test.mjs'));
    assert.equal(status, code, stdout);
    assert.match(stdout, told);
  });

test('a glob without a file is an error', () => {
  const { status, stderr } = run(join(root, 'nowhere/*.test.mjs'));
  assert.equal(status, 1);
  assert.match(stderr, /no test file is named/);
});

function run(glob: string) {
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  return spawnSync(process.execPath, [join(ROOT, 'tools/runner/run-tests.ts'), glob], {
    env,
    encoding: 'utf8',
  });
}
