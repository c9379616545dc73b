/** What each command loads before it does anything; docs/benchmarks.md says what that costs. */

import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { isLeftOut } from '../../../tools/cases.ts';

const CORDON = fileURLToPath(new URL('../bin/cordon', import.meta.url));
const PACKAGES = new URL('../../', import.meta.url).href;

/** Modules of Cordon, as `package/file.ts`, that a process has loaded after it imported this one. */
function modulesOf(file: string): readonly string[] {
  const program = `
    import { registerHooks } from 'node:module';
    const loaded = [];
    registerHooks({ load(url, context, next) {
      const [, name, path] = /\\/packages\\/([a-z-]+)\\/src\\/(.*)$/.exec(url) ?? [];
      if (name !== undefined) loaded.push(name + '/' + path);
      return next(url, context);
    } });
    await import('${PACKAGES}${file}');
    console.log(JSON.stringify(loaded));
  `;
  const args = ['--no-warnings', '--input-type=module', '-e', program];
  return JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8', timeout: 300_000 }));
}

/** Entries that stand for themselves, with all that they load of their package. */
const LONE = [
  'hub/context/owner.ts',
  'hub/journal/interruption.ts',
  'hub/journal/session-record.ts',
  'sandbox/spec/layers.ts',
  'sandbox/command/tree-digest.ts',
];

for (const [file, packages] of [
  // Before the prompt: neither what acts nor the policy language.
  [
    'cli/src/commands/use/chat.ts',
    [
      ...['config', 'console', 'core', 'dialler', 'hub/context/owner.ts', 'hub/journal/interruption.ts'],
      ...[
        'hub/journal/session-record.ts',
        'llm',
        'obedient-model',
        'runtime',
        'sandbox/command/tree-digest.ts',
        'sandbox/spec/layers.ts',
        'trace',
      ],
    ],
  ],
  [
    'cli/src/context/command-context.ts',
    ['config', 'console', 'core', 'dialler', 'print', 'sandbox/command/tree-digest.ts', 'trace'],
  ],
  [
    'cli/src/commands/records/sessions.ts',
    [
      ...['config', 'core', 'hub/context/owner.ts'],
      ...['hub/journal/interruption.ts', 'print', 'runtime', 'sandbox/command/tree-digest.ts', 'trace'],
    ],
  ],
  [
    'cli/src/commands/policies/check.ts',
    ['config', 'core', 'detectors', 'monitor', 'policy', 'policy-tools', 'print', 'regex', 'runtime'],
  ],
  [
    'cli/src/commands/policies/analyze.ts',
    [
      'config',
      'console',
      'core',
      'detectors',
      'monitor',
      'policy',
      'policy-tools',
      'print',
      'protocol',
      'regex',
      'runtime',
      'scan',
    ],
  ],
  [
    'cli/src/commands/policies/fmt.ts',
    ['config', 'console', 'core', 'monitor', 'policy', 'policy-tools', 'print', 'regex'],
  ],
] as const) {
  test(`${file} loads ${packages.join(', ')}`, (t) => {
    if (isLeftOut(t, /chat|analyze/.test(file))) return;
    const loaded = modulesOf(file).map((module) => (LONE.includes(module) ? module : module.split('/')[0]));
    assert.deepEqual([...new Set(loaded)].sort(), ['cli', ...packages]);
  });
}

test('the hub loads no linter, no formatter and no reader of recorded traces', () => {
  const loaded = modulesOf('runtime/src/compose.ts');
  assert.ok(loaded.includes('policy/index.ts'));
  assert.deepEqual(
    loaded.filter((module) => module.startsWith('policy-tools/')),
    [],
  );
});

test('`cordon run` reads a manifest without what reads apps', () => {
  const loaded = modulesOf('config/src/run/run-manifest.ts');
  assert.ok(loaded.includes('config/apps/manifest-config.ts'));
  assert.ok(!loaded.includes('config/apps/app-config.ts'));
});

test('code that one command has compiled and kept serves the others', (t) => {
  if (isLeftOut(t)) return;
  const home = mkdtempSync(join(tmpdir(), 'cordon-loading-'));
  try {
    const environment = { PATH: process.env.PATH, HOME: home, NODE_DEBUG_NATIVE: 'COMPILE_CACHE' };
    const kept = (...args: readonly string[]) => {
      const { status, stderr } = spawnSync(CORDON, args, { encoding: 'utf8', env: environment });
      assert.equal(status, 0, stderr);
      const told = (what: string) => stderr.split('\n').filter((line) => line.includes(what));
      return { accepted: told(' was accepted').length, rejected: told(' was rejected') };
    };
    kept('run', '--', 'true');
    kept('policy', 'show');
    const { accepted, rejected } = kept('run', '--', 'true');
    assert.ok(accepted > 50, String(accepted));
    assert.deepEqual(rejected, []);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
});
