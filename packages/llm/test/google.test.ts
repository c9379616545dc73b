import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ModelMessage } from '@cordon/core';
import { ask, brokerFor, KEY, never, READ_TOOL, type WireAnswer, withWire } from './fixture.ts';

function event(parts: readonly object[], finishReason: string | null = null): object {
  return {
    candidates: [
      { content: { role: 'model', parts }, index: 0, ...(finishReason !== null && { finishReason }) },
    ],
    usageMetadata: { promptTokenCount: 8, candidatesTokenCount: 3, totalTokenCount: 11 },
  };
}

const CONVERSATION: readonly ModelMessage[] = [
  { role: 'system', text: 'You are terse.' },
  { role: 'user', text: 'read it' },
  { role: 'assistant', text: '', calls: [{ id: 'c1', name: 'read_file', arguments: { path: 'a.txt' } }] },
  { role: 'tool', callId: 'c1', name: 'read_file', text: 'alpha', isError: false },
];

function request(more = {}) {
  return ask('hello', { model: 'google/gemini-x', tools: [READ_TOOL], ...more });
}

const at = (baseUrl: string) => brokerFor({ google: { kind: 'google', key: KEY, baseUrl } });

test('Google: messages, tools and results go out in its form, text streams in', () =>
  withWire([[event([{ text: 'Good ' }]), event([{ text: 'morning' }], 'STOP')]], async (url, requests) => {
    const deltas: string[] = [];
    const result = await at(url).broker.complete(request({ messages: CONVERSATION }), {
      signal: never(),
      onText: (delta) => deltas.push(delta),
    });
    assert.deepEqual(result, {
      ok: true,
      value: { text: 'Good morning', calls: [], finish: 'stop', usage: { inputTokens: 8, outputTokens: 3 } },
    });
    assert.deepEqual(deltas, ['Good ', 'morning']);
    const sent = requests[0];
    assert.equal(sent?.path, '/v1/models/gemini-x:streamGenerateContent?alt=sse');
    assert.equal(sent?.headers['x-goog-api-key'], KEY);
    assert.deepEqual(sent?.body.systemInstruction, { parts: [{ text: 'You are terse.' }] });
    assert.deepEqual(sent?.body.contents, [
      { role: 'user', parts: [{ text: 'read it' }] },
      {
        role: 'model',
        parts: [
          {
            functionCall: { id: 'c1', name: 'read_file', args: { path: 'a.txt' } },
            // Nobody remembers a signature of this call; the library says so in the documented way.
            thoughtSignature: 'skip_thought_signature_validator',
          },
        ],
      },
      {
        role: 'user',
        parts: [
          {
            functionResponse: {
              id: 'c1',
              name: 'read_file',
              response: { name: 'read_file', content: 'alpha' },
            },
          },
        ],
      },
    ]);
    assert.match(JSON.stringify(sent?.body.tools), /"functionDeclarations":\[\{"name":"read_file"/);
  }));

test('Google: two tool calls in one turn, whose signatures come back with them', () =>
  withWire(
    [
      [
        event([
          { functionCall: { name: 'read_file', args: { path: 'a.txt' } }, thoughtSignature: 'c2lnbmVk' },
        ]),
        event([{ functionCall: { name: 'read_file', args: { path: 'b.txt' } } }], 'STOP'),
      ],
      [event([{ text: 'done' }], 'STOP')],
    ],
    async (url, requests) => {
      const { broker } = at(url);
      const first = await broker.complete(request(), { signal: never() });
      assert.ok(first.ok);
      const { calls, finish } = first.value;
      assert.deepEqual(
        calls.map(({ name, arguments: given }) => [name, given]),
        [
          ['read_file', { path: 'a.txt' }],
          ['read_file', { path: 'b.txt' }],
        ],
      );
      assert.notEqual(calls[0]?.id, calls[1]?.id);
      assert.equal(finish, 'tool-calls');
      const messages: ModelMessage[] = [
        { role: 'user', text: 'read both' },
        { role: 'assistant', text: '', calls },
        ...calls.map(({ id, name }) => ({
          role: 'tool' as const,
          callId: id,
          name,
          text: 'x',
          isError: false,
        })),
      ];
      await broker.complete(request({ messages }), { signal: never() });
      assert.deepEqual(JSON.stringify(requests[1]?.body).match(/"thoughtSignature":"[^"]*"/g), [
        '"thoughtSignature":"c2lnbmVk"',
      ]);
    },
  ));

const COMPLETE = [event([{ text: 'hi' }], 'STOP')];
const failures: readonly (readonly [string, WireAnswer, string])[] = [
  ['a cut stream', [event([{ text: 'h' }])], 'cut-stream'],
  ['an empty stream', [], 'cut-stream'],
  [
    'an error inside the stream',
    [event([{ text: 'h' }]), { error: { code: 503, message: 'overloaded', status: 'UNAVAILABLE' } }],
    'unavailable',
  ],
  ['503', { status: 503, body: { error: { code: 503, message: 'overloaded' } } }, 'unavailable'],
  ['429', { status: 429, body: [{ error: { code: 429, message: 'quota' } }] }, 'rate-limited'],
  ['a body that is no answer', { status: 200, body: { hello: 1 } }, 'invalid-response'],
];

for (const [what, answer, kind] of failures) {
  test(`Google: ${what} and then an answer is an answer`, () =>
    withWire([answer, COMPLETE], async (url) => {
      const { broker, waits } = at(url);
      const result = await broker.complete(request(), { signal: never() });
      assert.equal(result.ok && result.value.text, 'hi');
      assert.deepEqual(waits, [100]);
    }));

  test(`Google: ${what} for ever is the fault ${kind}`, () =>
    withWire([answer, answer, answer], async (url) => {
      const result = await at(url).broker.complete(request(), { signal: never() });
      assert.deepEqual(!result.ok && [result.fault.kind, result.fault.attempts], [kind, 3]);
    }));
}

test('Google: a blocked answer is a refusal', () =>
  withWire([[event([{ text: '' }], 'SAFETY')]], async (url) => {
    const result = await at(url).broker.complete(request(), { signal: never() });
    assert.equal(result.ok && result.value.finish, 'refusal');
  }));

test('Google: a schema is asked for by its JSON mode', () => {
  const answerSchema = {
    type: 'object',
    properties: { steps: { type: 'array', items: { type: 'string' } } },
  };
  return withWire([[event([{ text: '{"steps":[]}' }], 'STOP')]], async (url, requests) => {
    const result = await at(url).broker.complete(request({ tools: [], answerSchema }), { signal: never() });
    assert.equal(result.ok && result.value.text, '{"steps":[]}');
    assert.match(
      JSON.stringify(requests[0]?.body.generationConfig),
      /"responseMimeType":"application\/json".*"steps"/,
    );
  });
});
