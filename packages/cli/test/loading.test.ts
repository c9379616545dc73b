/** What each command loads before it does anything; docs/benchmarks.md says what that costs. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const CORDON = fileURLToPath(new URL('../bin/cordon', import.meta.url));
const SOURCES = new URL('../src/', import.meta.url).href;

/** Modules of Cordon, as `package/file.ts`, that a process has loaded after it imported this one of `cli`. */
function modulesOf(file: string): readonly string[] {
  const program = `
    import { registerHooks } from 'node:module';
    const loaded = [];
    registerHooks({ load(url, context, next) {
      const [, name, path] = /\\/packages\\/([a-z-]+)\\/src\\/(.*)$/.exec(url) ?? [];
      if (name !== undefined) loaded.push(name + '/' + path);
      return next(url, context);
    } });
    await import('${SOURCES}${file}');
    console.log(JSON.stringify(loaded));
  `;
  const args = ['--no-warnings', '--input-type=module', '-e', program];
  return JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8', timeout: 300_000 }));
}

/** Entries that stand for themselves, with all that they load of their package. */
const LONE = [
  'hub/context/owner.ts',
  'hub/journal/begun-session.ts',
  'hub/journal/interruption.ts',
  'sandbox/layers.ts',
  'sandbox/tree-digest.ts',
];

for (const [file, packages] of [
  // Before the prompt: neither what acts nor the policy language.
  [
    'commands/chat.ts',
    [
      ...[
        'core',
        'hub/context/owner.ts',
        'hub/journal/begun-session.ts',
        'hub/journal/interruption.ts',
        'llm',
      ],
      ...['sandbox/layers.ts', 'sandbox/tree-digest.ts', 'trace'],
    ],
  ],
  ['commands/surroundings.ts', ['core', 'sandbox/tree-digest.ts', 'trace']],
  [
    'commands/sessions.ts',
    ['core', 'hub/context/owner.ts', 'hub/journal/interruption.ts', 'sandbox/tree-digest.ts', 'trace'],
  ],
  ['commands/check.ts', ['core', 'detectors', 'policy', 'regex']],
  ['commands/analyze.ts', ['core', 'detectors', 'policy', 'regex']],
  ['commands/fmt.ts', ['core', 'policy', 'regex']],
] as const) {
  test(`${file} loads ${packages.join(', ')}`, () => {
    const loaded = modulesOf(file).map((module) => (LONE.includes(module) ? module : module.split('/')[0]));
    assert.deepEqual([...new Set(loaded)].sort(), ['cli', ...packages]);
  });
}

test('the hub loads no linter, no formatter and no reader of recorded traces', () => {
  const folders = modulesOf('compose.ts').filter((module) =>
    /^policy\/(?:lint|print|formats)\//.test(module),
  );
  // Both say what an event of the journal tells the monitor.
  assert.deepEqual(folders.sort(), ['policy/formats/cordon-event.ts', 'policy/formats/session-facts.ts']);
});

test('code that one command has compiled and kept serves the others', () => {
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
