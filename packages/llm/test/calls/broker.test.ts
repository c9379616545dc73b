import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Model, ok } from '@cordon/core';
import { says } from '@cordon/testkit/fake-openai/server.ts';
import type { Fetch } from '../../src/index.ts';
import { ask, brokerFor, KEY, never, withFake } from '../fixture.ts';

const unreachable: Fetch = () => assert.fail('nothing may be sent');

function faultOf(model: string, providers = {}) {
  return brokerFor(providers, { fetch: unreachable }).broker.complete(ask('hello', { model }), {
    signal: never(),
  });
}

for (const [model, message] of [
  ['gpt-5', '`gpt-5` does not say which provider to ask'],
  ['openai/', '`openai/` does not say which provider to ask'],
  ['/gpt-5', '`/gpt-5` does not say which provider to ask'],
  ['', 'an empty model id does not say which provider to ask'],
] as const) {
  test(`the model id ${JSON.stringify(model)} is not guessed at`, async () => {
    const result = await faultOf(model, { openai: { kind: 'openai', key: KEY } });
    assert.deepEqual(!result.ok && [result.fault.kind, result.fault.message], ['unknown-model', message]);
    assert.match((!result.ok && result.fault.help) || '', /`provider\/model`/);
  });
}

test('an unknown provider is a fault that lists the known ones', async () => {
  const local = { kind: 'openai-compatible', baseUrl: 'http://127.0.0.1:1/v1' };
  assert.deepEqual(await faultOf('olama/llama3', { local }), {
    ok: false,
    fault: {
      kind: 'unknown-model',
      message: 'there is no provider `olama`',
      help: 'known are `openai`, `anthropic`, `google`, `local`; give the base URL of an OpenAI-compatible server to add one',
      attempts: 0,
    },
  });
});

test('names of object properties are no providers', async () => {
  for (const name of ['constructor', '__proto__', 'toString']) {
    const result = await faultOf(`${name}/x`);
    assert.equal(!result.ok && result.fault.kind, 'unknown-model');
  }
});

for (const [model, variable] of [
  ['openai/gpt-5', 'OPENAI_API_KEY'],
  ['anthropic/claude-sonnet-4-5', 'ANTHROPIC_API_KEY'],
  ['google/gemini-2.5-pro', 'GOOGLE_GENERATIVE_AI_API_KEY'],
] as const) {
  test(`${model} without a key names ${variable}, and the environment is not looked at`, async (context) => {
    const before = process.env[variable];
    process.env[variable] = 'key-of-the-environment';
    context.after(() => {
      if (before === undefined) delete process.env[variable];
      else process.env[variable] = before;
    });
    const name = model.split('/')[0] ?? '';
    assert.deepEqual(await faultOf(model), {
      ok: false,
      fault: {
        kind: 'unauthorised',
        message: `provider \`${name}\` has no key`,
        help: `set ${variable} in the environment of cordon`,
        attempts: 0,
      },
    });
  });
}

test('a key of blanks is none', async () => {
  const result = await faultOf('openai/gpt-5', { openai: { kind: 'openai', key: ' \n' } });
  assert.equal(!result.ok && result.fault.message, 'provider `openai` has no key');
});

test('a key with a line break at its end works', () =>
  withFake(
    () => says('hi'),
    async ({ broker, fake }) => {
      const result = await broker.complete(ask('hello'), { signal: never() });
      assert.equal(result.ok, true);
      assert.equal(fake.requests[0]?.headers.authorization, `Bearer ${KEY}`);
    },
    { config: { key: `${KEY}\n` } },
  ));

for (const [baseUrl, message] of [
  ['localhost:11434', 'is not an http or https address'],
  ['file:///etc/passwd', 'is not an http or https address'],
  ['http://me:secret@127.0.0.1/v1', 'holds a user name or password'],
  ['http://127.0.0.1/v1?key=1', 'has a query or fragment'],
] as const) {
  test(`the base URL ${baseUrl} is refused before anything is sent`, async () => {
    const result = await faultOf('local/x', { local: { kind: 'openai-compatible', baseUrl } });
    assert.equal(!result.ok && result.fault.message, `the base URL of provider \`local\` ${message}`);
  });
}

function recording(): { model: Model; asked: string[] } {
  const asked: string[] = [];
  const answer = ok({
    text: 'obeyed',
    calls: [],
    finish: 'stop' as const,
    usage: { inputTokens: 1, outputTokens: 1 },
  });
  return {
    asked,
    model: {
      complete: async (request) => {
        asked.push(request.model);
        return answer;
      },
    },
  };
}

test('a model that was handed in answers under its name, bare and with a slash', async () => {
  const { model, asked } = recording();
  const { broker } = brokerFor({}, { fetch: unreachable, models: new Map([['obedient', model]]) });
  for (const id of ['obedient', 'obedient/careless']) {
    const result = await broker.complete(ask('hello', { model: id }), { signal: never() });
    assert.equal(result.ok && result.value.text, 'obeyed');
  }
  assert.deepEqual(asked, ['obedient', 'obedient/careless']);
  assert.equal(broker.check('obedient'), null);
});

test('a name that only begins like a model that was handed in is another', async () => {
  const { model, asked } = recording();
  const { broker } = brokerFor({}, { fetch: unreachable, models: new Map([['obedient', model]]) });
  const result = await broker.complete(ask('hello', { model: 'obedientx/y' }), { signal: never() });
  assert.equal(!result.ok && result.fault.kind, 'unknown-model');
  assert.deepEqual(asked, []);
});

test('check knows without a call what would be wrong', () => {
  const { broker } = brokerFor({ anthropic: { kind: 'anthropic', key: KEY } }, { fetch: unreachable });
  assert.equal(broker.check('anthropic/claude-x'), null);
  assert.equal(broker.check('openai/gpt-5')?.help, 'set OPENAI_API_KEY in the environment of cordon');
  assert.equal(broker.check('gpt-5')?.kind, 'unknown-model');
});
