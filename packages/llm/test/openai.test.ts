import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inOrder, says, startFakeOpenAi } from '@cordon/testkit/fake-openai/server.ts';
import type { Fetch } from '../src/index.ts';
import { ask, brokerFor, KEY, never, READ_TOOL } from './fixture.ts';

const MESSAGE = { type: 'message', id: 'msg_1', role: 'assistant', status: 'in_progress', content: [] };
const CALL = { type: 'function_call', id: 'fc_1', call_id: 'call_a', name: 'read_file' };

const CREATED = {
  type: 'response.created',
  response: { id: 'resp_1', created_at: 1_700_000_000, model: 'gpt-5' },
};
const COMPLETED = {
  type: 'response.completed',
  response: { usage: { input_tokens: 9, output_tokens: 4 }, incomplete_details: null },
};
const ANSWER = [
  CREATED,
  { type: 'response.output_item.added', output_index: 0, item: MESSAGE },
  { type: 'response.output_text.delta', item_id: 'msg_1', delta: 'Good ' },
  { type: 'response.output_text.delta', item_id: 'msg_1', delta: 'morning' },
  {
    type: 'response.output_item.added',
    output_index: 1,
    item: { ...CALL, status: 'in_progress', arguments: '' },
  },
  {
    type: 'response.function_call_arguments.delta',
    item_id: 'fc_1',
    output_index: 1,
    delta: '{"path":"a.txt"}',
  },
  {
    type: 'response.output_item.done',
    output_index: 1,
    item: { ...CALL, status: 'completed', arguments: '{"path":"a.txt"}' },
  },
  COMPLETED,
];

/** The hosted address cannot be reached from a test, so that the requests to it are caught. */
function caught(...answers: readonly (readonly object[])[]) {
  const requests: { url: string; key: string | null; body: Record<string, unknown> }[] = [];
  const fetch: Fetch = async (input, init) => {
    const request = new Request(input, init);
    const body = Object.fromEntries(Object.entries(Object(await request.json())));
    requests.push({ url: request.url, key: request.headers.get('authorization'), body });
    const text = (answers[requests.length - 1] ?? []).map((event) => `data: ${JSON.stringify(event)}\n\n`);
    return new Response(text.join(''), { headers: { 'content-type': 'text/event-stream' } });
  };
  return { requests, ...brokerFor({ openai: { kind: 'openai', key: KEY } }, { fetch }) };
}

test('OpenAI is asked by the Responses API, stateless, at its own address whatever the environment says', async (context) => {
  const { OPENAI_BASE_URL: before } = process.env;
  process.env.OPENAI_BASE_URL = 'http://attacker.example/v1';
  context.after(() => {
    if (before === undefined) delete process.env.OPENAI_BASE_URL;
    else process.env.OPENAI_BASE_URL = before;
  });
  const { broker, requests } = caught(ANSWER);
  const deltas: string[] = [];
  const result = await broker.complete(ask('hello', { model: 'openai/gpt-5', tools: [READ_TOOL] }), {
    signal: never(),
    onText: (delta) => deltas.push(delta),
  });
  assert.deepEqual(result, {
    ok: true,
    value: {
      text: 'Good morning',
      calls: [{ id: 'call_a', name: 'read_file', arguments: { path: 'a.txt' } }],
      finish: 'tool-calls',
      usage: { inputTokens: 9, outputTokens: 4 },
    },
  });
  assert.deepEqual(deltas, ['Good ', 'morning']);
  assert.equal(requests[0]?.url, 'https://api.openai.com/v1/responses');
  assert.equal(requests[0]?.key, `Bearer ${KEY}`);
  assert.equal(requests[0]?.body.store, false);
});

test('OpenAI: calls and results go back without ids of conversations it does not keep', async () => {
  const { broker, requests } = caught(ANSWER, ANSWER);
  const first = await broker.complete(ask('hello', { model: 'openai/gpt-5', tools: [READ_TOOL] }), {
    signal: never(),
  });
  assert.ok(first.ok);
  await broker.complete(
    ask('', {
      model: 'openai/gpt-5',
      tools: [READ_TOOL],
      messages: [
        { role: 'user', text: 'hello' },
        { role: 'assistant', text: first.value.text, calls: first.value.calls },
        { role: 'tool', callId: 'call_a', name: 'read_file', text: 'alpha', isError: false },
      ],
    }),
    { signal: never() },
  );
  assert.deepEqual(requests[1]?.body.input, [
    { role: 'user', content: [{ type: 'input_text', text: 'hello' }] },
    { role: 'assistant', content: 'Good morning' },
    { type: 'function_call', call_id: 'call_a', name: 'read_file', arguments: '{"path":"a.txt"}' },
    { type: 'function_call_output', call_id: 'call_a', output: 'alpha' },
  ]);
});

for (const [what, length] of [
  ['inside the text', 3],
  ['after everything but its end', 7],
  ['at once', 0],
] as const) {
  test(`OpenAI: a stream that is cut ${what} is tried again`, async () => {
    const { broker, waits } = caught(ANSWER.slice(0, length), ANSWER);
    const result = await broker.complete(ask('hello', { model: 'openai/gpt-5' }), { signal: never() });
    assert.equal(result.ok && result.value.text, 'Good morning');
    assert.deepEqual(waits, [100]);
  });
}

test('OpenAI: a stream that is always cut is a fault', async () => {
  const cut = ANSWER.slice(0, 4);
  const { broker } = caught(cut, cut, cut);
  const result = await broker.complete(ask('hello', { model: 'openai/gpt-5' }), { signal: never() });
  assert.deepEqual(!result.ok && [result.fault.kind, result.fault.attempts], ['cut-stream', 3]);
});

test('OpenAI: a base URL of the user gets chat completions', async () => {
  const fake = await startFakeOpenAi({ script: inOrder(says('hi')), key: KEY });
  try {
    const { broker } = brokerFor({ openai: { kind: 'openai', key: KEY, baseUrl: fake.baseUrl } });
    const result = await broker.complete(ask('hello', { model: 'openai/gpt-5' }), { signal: never() });
    assert.equal(result.ok && result.value.text, 'hi');
    assert.equal(fake.requests[0]?.model, 'gpt-5');
  } finally {
    await fake.close();
  }
});

test('OpenAI: a base URL of the user without a key is asked without an authorization header', async () => {
  const fake = await startFakeOpenAi({ script: inOrder(says('hi')) });
  try {
    const { broker } = brokerFor({ openai: { kind: 'openai', baseUrl: fake.baseUrl } });
    const result = await broker.complete(ask('hello', { model: 'openai/gpt-5' }), { signal: never() });
    assert.equal(result.ok && result.value.text, 'hi');
    assert.equal(fake.requests[0]?.headers.authorization, undefined);
  } finally {
    await fake.close();
  }
});
