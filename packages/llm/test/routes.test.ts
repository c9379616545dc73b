/** Where a call goes: to a model that was handed in, or to whoever calls the provider, wherever that is. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Model, ok } from '@cordon/core';
import { providerAccess, routeModels, serviceAccess } from '../src/index.ts';
import { ask, never } from './fixture.ts';

function saying(text: string): Model {
  const usage = { inputTokens: 1, outputTokens: 1 };
  return { complete: async () => ok({ text, calls: [], finish: 'stop', usage }) };
}

test('a call of a provider goes to whoever calls it, any other does not', async () => {
  const config = { kind: 'openai-compatible', baseUrl: 'http://127.0.0.1:1/v1' } as const;
  const models = routeModels(
    { providers: new Map([['local', config]]), models: new Map([['tame', saying('handed in')]]) },
    ({ name, modelId, config: found }) => saying(`${name} ${modelId} ${found === config}`),
  );
  const textOf = async (model: string) => {
    const answer = await models.complete(ask('hello', { model }), { signal: never() });
    return answer.ok ? answer.value.text : answer.fault.kind;
  };
  assert.equal(await textOf('local/qwen'), 'local qwen true');
  assert.equal(await textOf('tame'), 'handed in');
  assert.equal(await textOf('openai/gpt'), 'unauthorised');
  assert.equal(await textOf('elsewhere/gpt'), 'unknown-model');
});

const LIMITS = { attempts: 1, firstWaitMs: 1, longestWaitMs: 1, callSeconds: 7 };

for (const [config, host, port] of [
  [{ kind: 'openai' }, 'api.openai.com', 443],
  [{ kind: 'anthropic' }, 'api.anthropic.com', 443],
  [{ kind: 'google' }, 'generativelanguage.googleapis.com', 443],
  [{ kind: 'anthropic', baseUrl: 'https://gateway.example.com:8443/v1' }, 'gateway.example.com', 8443],
  [{ kind: 'openai-compatible', baseUrl: 'http://localhost/v1' }, 'localhost', 80],
  [{ kind: 'openai-compatible', baseUrl: 'http://[::1]:11434/v1' }, '::1', 11434],
] as const) {
  test(`${config.kind} is reached at ${host}, port ${port}`, () => {
    const { target, callMs } = providerAccess({ name: 'p', modelId: 'm', config }, LIMITS);
    assert.deepEqual([target, callMs], [{ host, port }, 7_000]);
  });
}

test('a service is reached at its address', () => {
  const endpoint = { url: 'https://models.example.com/v1/embeddings', model: null, key: null };
  assert.deepEqual(serviceAccess('embedding', endpoint).target, { host: 'models.example.com', port: 443 });
});
