/** No case is lost: every test file runs in both commands, and what `npm test` leaves out the full command runs. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, matchesGlob } from 'node:path';
import { test } from 'node:test';
import { ROOT } from './imports.ts';

const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));

test('`npm test` runs every test file once, and the full command runs `npm test`', () => {
  const words = String(scripts.test).replaceAll('"', '').split(' ');
  const globs = words.filter((word) => word.endsWith('.test.ts'));
  const { stdout } = spawnSync('git', ['ls-files', '*.test.ts'], { cwd: ROOT, encoding: 'utf8' });
  const files = stdout.trim().split('\n');
  assert.ok(files.length > 300);
  const lost = files.filter((file) => globs.filter((glob) => matchesGlob(file, glob)).length !== 1);
  assert.deepEqual(lost, []);
  assert.equal(scripts['test:full'], 'CORDON_CASES=full npm test');
});

test('CI runs the full command', () => {
  assert.match(readFileSync(join(ROOT, '.ci/run'), 'utf8'), /npm run test:full$/m);
});

const PROGRAM = `
  import { test } from 'node:test';
  import { isLeftOut, runs, sampled } from './tools/cases.ts';
  test('often ' + runs(1, 2, 3) + ' of ' + sampled(['a', 'b', 'c'], (one) => one === 'b'), () => undefined);
  test('of the sample', (t) => void isLeftOut(t, true));
  test('of the rest', (t) => void isLeftOut(t));`;

for (const [level, often, left] of [
  ['sample', '1 of b', 1],
  ['full', '2 of a,b,c', 0],
  ['all', '3 of a,b,c', 0],
] as const) {
  test(`at the level \`${level}\` ${left} of two cases is reported as skipped`, () => {
    const { status, stdout } = run(level);
    assert.equal(status, 0);
    assert.match(stdout, new RegExp(`often ${often}`));
    assert.match(stdout, new RegExp(`^(# |ℹ )skipped ${left}$`, 'm'));
  });
}

for (const [time, often, said] of [
  ['1', '1 of b', /# no time left: npm run test:full/],
  ['99999999999', '2 of a,b,c', /skipped 0$/m],
] as const) {
  test(`the full command plays ${often} where its time ends at ${time}`, () => {
    const { status, stdout } = run('full', { CORDON_FULL_UNTIL: time });
    assert.equal(status, 0);
    assert.match(stdout, new RegExp(`often ${often}`));
    assert.match(stdout, said);
  });
}

test('a time that is none runs nothing', () => {
  const { status, stderr } = run('full', { CORDON_FULL_UNTIL: 'noon' });
  assert.notEqual(status, 0);
  assert.match(stderr, /CORDON_FULL_UNTIL is a number of seconds since 1970, not noon/);
});

test('a level that there is not runs nothing', () => {
  const { status, stderr } = run('ful');
  assert.notEqual(status, 0);
  assert.match(stderr, /CORDON_CASES is sample, full, all, not ful/);
});

function run(level: string, more: Readonly<Record<string, string>> = {}) {
  const { NODE_TEST_CONTEXT: _, CORDON_FULL_UNTIL: __, ...env } = process.env;
  const args = ['--input-type=module-typescript', '--eval', PROGRAM];
  return spawnSync(process.execPath, args, {
    cwd: ROOT,
    env: { ...env, CORDON_CASES: level, ...more },
    encoding: 'utf8',
  });
}
