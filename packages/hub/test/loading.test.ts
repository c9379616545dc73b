/** What the prompt must not wait for is not loaded with the hub; docs/benchmarks.md says what each takes. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';

const HUB = new URL('../src/', import.meta.url).href;

/** Libraries, and Node's HTTP, that a process has loaded after `code`. */
function loadedAfter(code: string): unknown {
  const program = `
    import { registerHooks } from 'node:module';
    const loaded = new Set();
    registerHooks({ load(url, context, next) {
      const name = /node_modules\\/((?:@modelcontextprotocol\\/)?[a-z-]+)\\//.exec(url)?.[1] ?? url;
      if (['ajv', '@modelcontextprotocol/client'].includes(name)) loaded.add(name);
      return next(url, context);
    } });
    ${code}
    if (process.moduleLoadList.includes('NativeModule http')) loaded.add('node:http');
    console.log(JSON.stringify([...loaded].sort()));
  `;
  const args = ['--no-warnings', '--input-type=module', '-e', program];
  return JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8', timeout: 300_000 }));
}

test('the hub loads no schema library, no MCP client and no HTTP before they are needed', () => {
  assert.deepEqual(loadedAfter(`await import('${HUB}index.ts');`), []);
});

test('the first validator loads the schema library', () => {
  const code = `const { validatorOnDemand } = await import('${HUB}apps/schema-validator.ts'); await validatorOnDemand()();`;
  assert.deepEqual(loadedAfter(code), ['ajv']);
});

test('an app that has the network loads HTTP', () => {
  assert.deepEqual(loadedAfter(`await import('${HUB}egress/app-network.ts');`), ['node:http']);
});
