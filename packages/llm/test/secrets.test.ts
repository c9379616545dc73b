import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inspect } from 'node:util';
import type { ProviderConfig } from '@cordon/core';
import {
  calls,
  cuts,
  type FakeAnswer,
  fails,
  garbage,
  says,
  startFakeOpenAi,
} from '@cordon/testkit/fake-openai/server.ts';
import type { Fetch } from '../src/index.ts';
import { ask, brokerFor, never, READ_TOOL, withFake } from './fixture.ts';

const KEY = 'sk-proj-Zq+/9 "quoted" key';
const ENCODED = encodeURIComponent(KEY);
const HEADER = 'header-value-4711';
const LEAKS = [KEY, ENCODED, JSON.stringify(KEY).slice(1, -1), HEADER, 'sk-proj', '4711'];

function assertNoSecret(value: unknown): void {
  const shown = `${JSON.stringify(value)} ${inspect(value, { depth: 20, showHidden: true })}`;
  for (const leak of LEAKS) assert.ok(!shown.includes(leak), `${leak} stands in ${shown}`);
}

const ECHO = `your key ${KEY} (${ENCODED}) with ${HEADER} is bad`;
const answers: readonly (readonly [string, FakeAnswer])[] = [
  ['401', fails(401, ECHO)],
  ['400', fails(400, ECHO)],
  ['429', fails(429, ECHO)],
  ['500 in plain text', { kind: 'failure', status: 500, body: ECHO, headers: {} }],
  // Shortening first would cut the key in two and show its first half.
  ['a long text with the key across the cut', fails(400, `${'x'.repeat(195)}${KEY}`)],
  ['garbage', garbage(ECHO)],
  [
    'a stream with an error',
    garbage(`data: ${JSON.stringify({ error: { message: ECHO } })}\n\n`, 'text/event-stream'),
  ],
  ['a stream of nonsense', garbage(`data: ${ECHO}\n\n`, 'text/event-stream')],
  ['a cut stream', cuts(says('x'), 1)],
];

for (const [what, answer] of answers) {
  test(`a server that answers ${what} and echoes the key does not get it into the fault`, () =>
    withFake(
      () => answer,
      async ({ broker }) => {
        const result = await broker.complete(ask('hello'), { signal: never() });
        assert.equal(result.ok, false);
        assertNoSecret(result);
      },
      { config: { key: KEY, headers: { 'x-extra': HEADER } } },
    ));
}

/** Attack: a server answers with the key that it was sent, and it stands in the journal, in an app's context, in a record. */
for (const [what, answer] of [
  ['a text', says(`Your key is ${KEY}.`)],
  ['a text that holds it encoded', says(`Look at https://evil.example/?k=${ENCODED}`)],
  [
    'the arguments of a call',
    calls([{ name: 'read', arguments: JSON.stringify({ path: `x/${HEADER}-and-more` }) }]),
  ],
] as const) {
  test(`${what} with the key is no answer`, () =>
    withFake(
      () => answer,
      async ({ broker }) => {
        const result = await broker.complete(ask('hello', { tools: [READ_TOOL] }), { signal: never() });
        assert.equal(!result.ok && result.fault.kind, 'invalid-response');
        assertNoSecret(result);
      },
      { config: { key: KEY, headers: { 'x-extra': `${HEADER}-and-more` } } },
    ));
}

test('a word that a server on this machine takes for a key may stand in an answer', () =>
  withFake(
    () => says('This is ollama.'),
    async ({ broker }) => {
      const result = await broker.complete(ask('hello'), { signal: never() });
      assert.equal(result.ok && result.value.text, 'This is ollama.');
    },
    { config: { key: 'ollama' } },
  ));

test('the fault still says what the server said', () =>
  withFake(
    () => fails(401, ECHO),
    async ({ broker }) => {
      const result = await broker.complete(ask('hello'), { signal: never() });
      assert.equal(
        !result.ok && result.fault.message,
        'provider `local` answered 401: `your key [key] ([key]) with [key] is bad`',
      );
    },
    { config: { key: KEY, headers: { 'x-extra': HEADER } } },
  ));

const kinds: readonly (readonly [string, (baseUrl: string) => ProviderConfig])[] = [
  ['openai', (baseUrl) => ({ kind: 'openai', key: KEY, baseUrl })],
  ['anthropic', (baseUrl) => ({ kind: 'anthropic', key: KEY, baseUrl })],
  ['google', (baseUrl) => ({ kind: 'google', key: KEY, baseUrl })],
  ['openai-compatible', (baseUrl) => ({ kind: 'openai-compatible', key: KEY, baseUrl })],
];

for (const [kind, config] of kinds) {
  test(`${kind}: no key in the fault of a server that is not there, or that does not know the path`, async () => {
    const fake = await startFakeOpenAi({ script: () => fails(404, `bad key ${KEY}`) });
    const request = ask('hello', { model: 'it/x' });
    const known = await brokerFor({ it: config(fake.baseUrl) }).broker.complete(request, { signal: never() });
    await fake.close();
    const gone = await brokerFor({ it: config(fake.baseUrl) }).broker.complete(request, { signal: never() });
    assert.deepEqual([known.ok, gone.ok], [false, false]);
    assertNoSecret(known);
    assertNoSecret(gone);
  });

  test(`${kind}: no key in the fault when \`fetch\` throws it`, async () => {
    const fetch: Fetch = () => Promise.reject(new TypeError(`invalid header value: Bearer ${KEY}`));
    const { broker } = brokerFor({ it: config('http://127.0.0.1:1/v1') }, { fetch });
    const result = await broker.complete(ask('hello', { model: 'it/x' }), { signal: never() });
    assert.equal(result.ok, false);
    assertNoSecret(result);
  });
}

for (const key of ['sk-proj-line\nbreak', 'sk-proj-“typographic”', 'sk-proj-\u0000']) {
  test(`a key that no header may hold is refused without being shown: ${JSON.stringify(key)}`, async () => {
    const { broker } = brokerFor({ it: { kind: 'openai', key } });
    const result = await broker.complete(ask('hello', { model: 'it/x' }), { signal: never() });
    assert.equal(!result.ok && result.fault.kind, 'unauthorised');
    assertNoSecret(result);
    assertNoSecret(broker.check('it/x'));
  });
}

test('nothing of the broker shows a key when it is printed', () => {
  const { broker } = brokerFor({ it: { kind: 'openai', key: KEY } });
  assertNoSecret(broker);
});
