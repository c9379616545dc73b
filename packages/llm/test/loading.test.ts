import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';

const INDEX = new URL('../src/index.ts', import.meta.url).href;

/** Names of the providers' libraries that a process has loaded after `code`. */
function librariesAfter(code: string): unknown {
  const program = `
    import { registerHooks } from 'node:module';
    const loaded = new Set();
    registerHooks({ load(url, context, next) {
      const name = /node_modules\\/(@ai-sdk\\/[a-z-]+)\\//.exec(url)?.[1];
      if (name !== undefined) loaded.add(name);
      return next(url, context);
    } });
    const { createModelBroker } = await import(${JSON.stringify(INDEX)});
    ${code}
    console.log(JSON.stringify([...loaded].sort()));
  `;
  const args = ['--no-warnings', '--input-type=module', '-e', program];
  return JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8', timeout: 300_000 }));
}

const BROKER = `
  const providers = new Map([['local', { kind: 'openai-compatible', baseUrl: 'http://127.0.0.1:1/v1' }]]);
  const limits = { attempts: 1, firstWaitMs: 1, longestWaitMs: 1, callSeconds: 10 };
  const fetch = () => Promise.reject(new Error('no network'));
  const parts = { random: Math.random, clock: Date.now, sleep: async () => {}, fetch, limits };
  const broker = createModelBroker({ providers, ...parts });
  broker.check('local/x');
`;

test('no provider’s library is loaded before the first call', () => {
  assert.deepEqual(librariesAfter(BROKER), []);
});

test('the first call loads the library of its provider and no other', () => {
  const request = `{ model: 'local/x', role: 'agent', messages: [{ role: 'user', text: 'hi' }], tools: [] }`;
  const call = `await broker.complete(${request}, { signal: new AbortController().signal });`;
  assert.deepEqual(librariesAfter(BROKER + call), [
    '@ai-sdk/openai-compatible',
    '@ai-sdk/provider',
    '@ai-sdk/provider-utils',
  ]);
});
