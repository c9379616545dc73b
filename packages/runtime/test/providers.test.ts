/** Who calls a provider: a confined process, so that no library of a provider is in the process of the hub; and where none can be confined, the hub. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { isJsonObject, toJson } from '@cordon/core';
import { says, startFakeOpenAi } from '@cordon/testkit/fake-openai/server.ts';

const SOURCES = new URL('../src/machine/', import.meta.url).href;

/** What a process has loaded of the providers' libraries after `code`, and what `code` gave. */
async function after(code: string, dataFolder: string): Promise<unknown> {
  const program = `
    import { registerHooks } from 'node:module';
    const libraries = new Set();
    registerHooks({ load(url, context, next) {
      const name = /node_modules\\/(@ai-sdk\\/[a-z-]+)\\//.exec(url)?.[1];
      if (name !== undefined) libraries.add(name);
      return next(url, context);
    } });
    const { openProviders } = await import('${SOURCES}providers.ts');
    const { sandboxOnDemand } = await import('${SOURCES}sandbox-on-demand.ts');
    const retries = { attempts: 1, firstWaitMs: 1, longestWaitMs: 1, callSeconds: 60 };
    const sandbox = sandboxOnDemand({ dataFolder: ${JSON.stringify(dataFolder)} }, []);
    const { signal } = new AbortController();
    const open = (isConfined) => openProviders({ retries }, sandbox, isConfined);
    const answered = await (async () => { ${code} })();
    console.log(JSON.stringify({ answered, libraries: [...libraries].sort() }));
  `;
  const args = ['--no-warnings', '--input-type=module', '-e', program];
  const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: 300_000 });
  return toJson(JSON.parse(stdout));
}

async function withFolder(body: (folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'cordon-providers-'));
  try {
    await body(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  }
}

for (const [isConfined, libraries] of [
  [true, []],
  [false, ['@ai-sdk/openai-compatible', '@ai-sdk/provider', '@ai-sdk/provider-utils']],
] as const) {
  test(`a provider is called ${isConfined ? 'outside of' : 'in'} this process`, async () => {
    const fake = await startFakeOpenAi({ script: () => says('four') });
    try {
      await withFolder(async (folder) => {
        const config = JSON.stringify({ kind: 'openai-compatible', baseUrl: fake.baseUrl });
        const code = `
          const providers = open(${isConfined});
          const model = providers.model({ name: 'local', modelId: 'x', config: ${config} });
          const messages = [{ role: 'user', text: '2 + 2?' }];
          const request = { model: 'local/x', role: 'agent', messages, tools: [] };
          const answer = await model.complete(request, { signal });
          await providers.close();
          return answer.ok ? answer.value.text : answer.fault.message;`;
        assert.deepEqual(await after(code, folder), { answered: 'four', libraries });
      });
    } finally {
      await fake.close();
    }
  });
}

test('a service that answers questions of rules is asked by a process, too, and says why it fails', async () => {
  const asked: unknown[] = [];
  const server = createServer(async (incoming, response) => {
    const parts: Buffer[] = [];
    for await (const part of incoming) parts.push(part);
    asked.push([incoming.headers.authorization, JSON.parse(Buffer.concat(parts).toString())]);
    if (asked.length > 1) return void response.writeHead(500).end();
    response.end(JSON.stringify({ results: [{ category_scores: { violence: 0.5 } }] }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = isJsonObject(address) ? address.port : 0;
  try {
    await withFolder(async (folder) => {
      const code = `
        const providers = open(true);
        const endpoint = { url: 'http://127.0.0.1:${port}/v1/moderations', model: null, key: 'k-1' };
        const service = providers.service('moderation', endpoint);
        const question = { service: 'moderation', digest: 'd', input: { texts: ['a fight'] } };
        const answers = [await service.answer(question, signal), await service.answer(question, signal)];
        await providers.close();
        return [service.name, ...answers];`;
      const message = '`endpoint/moderation` answered 500';
      assert.deepEqual(await after(code, folder), {
        answered: [
          'endpoint/moderation',
          { ok: true, value: [{ violence: 0.5 }] },
          { ok: false, fault: { kind: 'model-failure', message } },
        ],
        libraries: [],
      });
      assert.deepEqual(asked[0], ['Bearer k-1', { input: ['a fight'] }]);
    });
  } finally {
    server.close();
  }
});
