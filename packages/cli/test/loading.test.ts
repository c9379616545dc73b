/** What each command loads before it does anything; docs/benchmarks.md says what that costs. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';

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
