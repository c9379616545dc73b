import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ModelMessage } from '@cordon/core';
import { ask, brokerFor, KEY, never, READ_TOOL, type WireAnswer, withWire } from './fixture.ts';

const START = {
  type: 'message_start',
  message: {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'claude-x',
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { input_tokens: 25, output_tokens: 1 },
  },
};

function textBlock(index: number, ...texts: readonly string[]): object[] {
  return [
    { type: 'content_block_start', index, content_block: { type: 'text', text: '' } },
    ...texts.map((text) => ({ type: 'content_block_delta', index, delta: { type: 'text_delta', text } })),
    { type: 'content_block_stop', index },
  ];
}

function toolBlock(index: number, id: string, name: string, ...pieces: readonly string[]): object[] {
  return [
    { type: 'content_block_start', index, content_block: { type: 'tool_use', id, name, input: {} } },
    ...pieces.map((partial_json) => ({
      type: 'content_block_delta',
      index,
      delta: { type: 'input_json_delta', partial_json },
    })),
    { type: 'content_block_stop', index },
  ];
}

function end(stop_reason: string): object[] {
  return [
    {
      type: 'message_delta',
      delta: { stop_reason, stop_sequence: null },
      usage: { output_tokens: 12 },
    },
    { type: 'message_stop' },
  ];
}

const CONVERSATION: readonly ModelMessage[] = [
  { role: 'system', text: 'You are terse.' },
  { role: 'user', text: 'read both' },
  {
    role: 'assistant',
    text: 'Reading.',
    calls: [
      { id: 'toolu_a', name: 'read_file', arguments: { path: 'a.txt' } },
      { id: 'toolu_b', name: 'read_file', arguments: { path: 'b.txt' } },
    ],
  },
  { role: 'tool', callId: 'toolu_a', name: 'read_file', text: 'alpha', isError: false },
  { role: 'tool', callId: 'toolu_b', name: 'read_file', text: 'no such file', isError: true },
];

function request(more = {}) {
  return ask('hello', { model: 'anthropic/claude-x', tools: [READ_TOOL], ...more });
}

const at = (baseUrl: string) => brokerFor({ anthropic: { kind: 'anthropic', key: KEY, baseUrl } });

test('Anthropic: messages, tools and results go out in its form, text streams in', () =>
  withWire([[START, ...textBlock(0, 'Good ', 'morning'), ...end('end_turn')]], async (url, requests) => {
    const deltas: string[] = [];
    const result = await at(url).broker.complete(request({ messages: CONVERSATION }), {
      signal: never(),
      onText: (delta) => deltas.push(delta),
    });
    assert.deepEqual(result, {
      ok: true,
      value: {
        text: 'Good morning',
        calls: [],
        finish: 'stop',
        usage: { inputTokens: 25, outputTokens: 12 },
      },
    });
    assert.deepEqual(deltas, ['Good ', 'morning']);
    const sent = requests[0];
    assert.equal(sent?.path, '/v1/messages');
    assert.equal(sent?.headers['x-api-key'], KEY);
    assert.equal(sent?.body.model, 'claude-x');
    assert.equal(sent?.body.stream, true);
    assert.deepEqual(sent?.body.system, [{ type: 'text', text: 'You are terse.' }]);
    assert.deepEqual(sent?.body.messages, [
      { role: 'user', content: [{ type: 'text', text: 'read both' }] },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'Reading.' },
          { type: 'tool_use', id: 'toolu_a', name: 'read_file', input: { path: 'a.txt' } },
          { type: 'tool_use', id: 'toolu_b', name: 'read_file', input: { path: 'b.txt' } },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'toolu_a', content: 'alpha' },
          { type: 'tool_result', tool_use_id: 'toolu_b', content: 'no such file', is_error: true },
        ],
      },
    ]);
    assert.deepEqual(sent?.body.tools, [
      {
        name: 'read_file',
        description: 'Reads a file',
        input_schema: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
      },
    ]);
  }));

test('Anthropic: two tool calls in one turn', () =>
  withWire(
    [
      [
        START,
        ...textBlock(0, 'Reading.'),
        ...toolBlock(1, 'toolu_a', 'read_file', '{"pa', 'th":"a.txt"}'),
        ...toolBlock(2, 'toolu_b', 'read_file', '{"path":"b.txt"}'),
        ...end('tool_use'),
      ],
    ],
    async (url) => {
      const result = await at(url).broker.complete(request(), { signal: never() });
      assert.deepEqual(result, {
        ok: true,
        value: {
          text: 'Reading.',
          calls: [
            { id: 'toolu_a', name: 'read_file', arguments: { path: 'a.txt' } },
            { id: 'toolu_b', name: 'read_file', arguments: { path: 'b.txt' } },
          ],
          finish: 'tool-calls',
          usage: { inputTokens: 25, outputTokens: 12 },
        },
      });
    },
  ));

const COMPLETE = [START, ...textBlock(0, 'hi'), ...end('end_turn')];
const failures: readonly (readonly [string, WireAnswer, string])[] = [
  ['a stream cut after the text', [START, ...textBlock(0, 'hi')], 'cut-stream'],
  ['a stream cut inside the text', COMPLETE.slice(0, 3), 'cut-stream'],
  ['a stream cut after its first event', [START], 'cut-stream'],
  [
    'a cut inside tool arguments',
    [START, ...toolBlock(0, 'toolu_a', 'read_file', '{"pa').slice(0, 2)],
    'cut-stream',
  ],
  ['an empty stream', [], 'cut-stream'],
  [
    'an overload inside the stream',
    [START, { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }],
    'unavailable',
  ],
  [
    'an overload at once',
    { status: 529, body: { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } } },
    'unavailable',
  ],
  [
    '429',
    { status: 429, body: { type: 'error', error: { type: 'rate_limit_error', message: 'Slow' } } },
    'rate-limited',
  ],
  ['a body that is no message', { status: 200, body: { hello: 1 } }, 'invalid-response'],
  [
    'broken arguments',
    [START, ...toolBlock(0, 'toolu_a', 'read_file', '{"pa'), ...end('tool_use')],
    'invalid-response',
  ],
];

for (const [what, answer, kind] of failures) {
  test(`Anthropic: ${what} and then an answer is an answer`, () =>
    withWire([answer, COMPLETE], async (url) => {
      const { broker, waits } = at(url);
      const result = await broker.complete(request(), { signal: never() });
      assert.equal(result.ok && result.value.text, 'hi');
      assert.deepEqual(waits, [100]);
    }));

  test(`Anthropic: ${what} for ever is the fault ${kind}`, () =>
    withWire([answer, answer, answer], async (url) => {
      const result = await at(url).broker.complete(request(), { signal: never() });
      assert.deepEqual(!result.ok && [result.fault.kind, result.fault.attempts], [kind, 3]);
    }));
}

test('Anthropic: 401 fails at once and names the variable', () =>
  withWire(
    [
      {
        status: 401,
        body: { type: 'error', error: { type: 'authentication_error', message: 'invalid x-api-key' } },
      },
    ],
    async (url) => {
      const result = await at(url).broker.complete(request(), { signal: never() });
      assert.deepEqual(result, {
        ok: false,
        fault: {
          kind: 'unauthorised',
          message: 'provider `anthropic` answered 401: `invalid x-api-key`',
          help: 'check ANTHROPIC_API_KEY in the environment of cordon',
          attempts: 1,
        },
      });
    },
  ));

const answerSchema = {
  type: 'object',
  properties: { steps: { type: 'array', items: { type: 'string' } } },
  required: ['steps'],
  additionalProperties: false,
};

test('Anthropic: newer models are asked for a schema by the output format', () =>
  withWire([[START, ...textBlock(0, '{"steps":', '[]}'), ...end('end_turn')]], async (url, requests) => {
    const result = await at(url).broker.complete(request({ tools: [], answerSchema }), { signal: never() });
    assert.equal(result.ok && result.value.text, '{"steps":[]}');
    assert.deepEqual(requests[0]?.body.output_config, {
      format: { type: 'json_schema', schema: answerSchema },
    });
  }));

test('Anthropic: older models are asked for a schema by a tool, whose input comes back as text', () => {
  const answer = [START, ...toolBlock(0, 'toolu_j', 'json', '{"steps":', '[]}'), ...end('tool_use')];
  return withWire([answer], async (url, requests) => {
    const older = { tools: [], answerSchema, model: 'anthropic/claude-3-haiku-20240307' };
    const result = await at(url).broker.complete(request(older), { signal: never() });
    assert.deepEqual(result.ok && [result.value.text, result.value.calls, result.value.finish], [
      '{"steps":[]}',
      [],
      'stop',
    ]);
    assert.match(JSON.stringify(requests[0]?.body.tools), /"name":"json".*"steps"/);
  });
});
