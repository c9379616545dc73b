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

/** Packages of Cordon whose files a process has loaded after it imported this one of `cli`; without `cli` itself. */
function packagesOf(file: string): readonly string[] {
  const program = `
    import { registerHooks } from 'node:module';
    const loaded = new Set();
    registerHooks({ load(url, context, next) {
      const [, name, path] = /\\/packages\\/([a-z]+)\\/src\\/(.*)$/.exec(url) ?? [];
      if (name !== undefined && name !== 'cli') loaded.add(LONE.has(name + '/' + path) ? name + '/' + path : name);
      return next(url, context);
    } });
    const LONE = new Set(['hub/begun-session.ts', 'sandbox/layers.ts']);
    await import('${SOURCES}${file}');
    console.log(JSON.stringify([...loaded].sort()));
  `;
  const args = ['--no-warnings', '--input-type=module', '-e', program];
  return JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8', timeout: 30_000 }));
}

for (const [file, packages] of [
  // Before the prompt: neither what acts nor the policy language.
  ['commands/chat.ts', ['core', 'hub/begun-session.ts', 'llm', 'sandbox/layers.ts', 'trace']],
  ['commands/surroundings.ts', ['core', 'trace']],
  ['commands/opened-store.ts', ['core', 'trace']],
  ['commands/check.ts', ['core', 'detectors', 'policy']],
  ['commands/analyze.ts', ['core', 'detectors', 'policy']],
  ['commands/fmt.ts', ['core', 'policy']],
] as const) {
  test(`${file} loads ${packages.join(', ')}`, () => {
    assert.deepEqual(packagesOf(file), packages);
  });
}

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
