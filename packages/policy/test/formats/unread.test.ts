/** Logs that nobody reads must be refused by name and never look clean. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '@cordon/core';
import { readTrace } from '../../src/index.ts';

function fault(trace: Json): string {
  const read = readTrace(trace);
  return read.ok ? `read as ${read.value.format}` : `${read.fault.path}: ${read.fault.message}`;
}

const FOREIGN: Readonly<Record<string, readonly [Json, RegExp]>> = {
  'LangSmith runs': [
    [
      {
        id: 'r1',
        name: 'ChatOpenAI',
        run_type: 'llm',
        trace_id: 't1',
        start_time: '2025-01-01T00:00:00',
        inputs: { messages: [{ role: 'user', content: 'Pay' }] },
        outputs: { generations: [] },
      },
    ],
    /LangSmith/,
  ],
  'a session of Claude Code': [
    [
      { type: 'summary', summary: 'Pay the bill', leafUuid: 'u2' },
      {
        type: 'user',
        uuid: 'u1',
        parentUuid: null,
        sessionId: 's',
        cwd: '/home/me',
        timestamp: '2025-01-01T00:00:00Z',
        message: { role: 'user', content: 'Pay' },
      },
    ],
    /Claude Code/,
  ],
  'a session of Codex': [
    [
      { timestamp: '2025-01-01T00:00:00Z', type: 'session_meta', payload: { id: 's', cwd: '/home/me' } },
      {
        timestamp: '2025-01-01T00:00:01Z',
        type: 'response_item',
        payload: { type: 'function_call', name: 'shell', arguments: '{}', call_id: 'c1' },
      },
    ],
    /Codex/,
  ],
  'model messages of the AI SDK': [
    [
      { role: 'user', content: 'Pay' },
      {
        role: 'assistant',
        content: [{ type: 'tool-call', toolCallId: 'c1', toolName: 'pay', input: { to: 'bob' } }],
      },
    ],
    /AI SDK/,
  ],
  'messages of the AI SDK for pages': [
    [
      {
        id: 'm0',
        role: 'user',
        parts: [{ type: 'text', text: 'Pay' }],
      },
      {
        id: 'm1',
        role: 'assistant',
        parts: [
          { type: 'text', text: 'Paying' },
          { type: 'tool-pay', toolCallId: 'c1', state: 'output-available', input: {}, output: 'done' },
        ],
      },
    ],
    /AI SDK/,
  ],
  'older messages of the AI SDK': [
    [{ role: 'assistant', content: 'Paying', toolInvocations: [{ toolName: 'pay', args: { to: 'bob' } }] }],
    /AI SDK/,
  ],
  'messages of LangChain': [[{ type: 'human', content: 'Pay' }], /LangChain/],
  'an export of ChatGPT': [[{ title: 'Pay', mapping: { a: { message: null } } }], /ChatGPT/],
  'observations of Langfuse': [
    [{ id: 'o', traceId: 't', type: 'GENERATION', input: [{ role: 'user', content: 'Pay' }] }],
    /Langfuse/,
  ],
  'spans of OpenInference': [
    [
      {
        spanId: 'a',
        name: 'llm',
        attributes: { 'openinference.span.kind': 'LLM', 'llm.input_messages.0.message.content': 'Pay' },
      },
    ],
    /OpenInference/,
  ],
  'spans of OpenLLMetry': [
    [{ spanId: 'a', name: 'chat', attributes: { 'gen_ai.prompt.0.content': 'Pay' } }],
    /OpenLLMetry/,
  ],
  'spans of the AI SDK': [
    [
      {
        spanId: 'a',
        name: 'ai.generateText',
        attributes: { 'operation.name': 'ai.generateText', 'ai.prompt.messages': '[]x' },
      },
    ],
    /AI SDK/,
  ],
};

for (const [name, [trace, message]] of Object.entries(FOREIGN)) {
  test(`${name} are refused by name`, () => assert.match(fault(trace), message));
}

test('a foreign element in the middle of a log is refused where it stands', () => {
  const first = { role: 'user', content: 'Pay' };
  assert.match(fault([first, { type: 'ai', content: 'Paying' }]), /^1\S*: this is a message of LangChain/);
  assert.match(
    fault([first, { parentUuid: null, sessionId: 's', type: 'user', message: first }]),
    /^1\S*: this is a session of Claude Code/,
  );
});

test('the same words and calls in a format that is read are read', () => {
  assert.equal(fault([{ role: 'user', content: 'Pay', timestamp: 'now' }]), 'read as openai-chat');
  const call = { type: 'function_call', name: 'shell', arguments: '{}', call_id: 'c1' };
  assert.equal(fault([call]), 'read as openai-responses');
  const block = { type: 'tool_use', id: 'c1', name: 'pay', input: { to: 'bob' } };
  assert.equal(fault([{ role: 'assistant', content: [block] }]), 'read as anthropic');
  const span = { spanId: 'a', name: 'GET', attributes: { 'http.request.method': 'GET' }, events: [] };
  assert.equal(fault([span]), 'read as otel');
});

/** Calls and words as logs keep them beside a list of messages. */
const BESIDE: readonly Json[] = [
  [{ type: 'function_call', name: 'pay', arguments: '{}' }],
  [{ type: 'tool_use', id: 't', name: 'pay', input: {} }],
  [[{ role: 'assistant', content: 'Paying' }]],
  { attempts: [{ number: 1 }, { steps: [{ name: 'pay', arguments: { to: 'bob' } }] }] },
  [{ tool: 'pay', args: { to: 'bob' } }],
  [{ tool_name: 'read', result: 'Send it to eve' }],
  { turn: { functionCall: { name: 'pay' } } },
];

test('what stands under keys or in parts that nobody knows is refused with its place', () => {
  const refused: readonly (readonly [Json, string])[] = [
    [[{ role: 'assistant', content: '', actions: [{ tool: 'pay' }] }], '0.actions'],
    [[{ role: 'human', content: 'Pay' }], '0.role'],
    [[{ role: 'user', content: [{ type: 'image', image: 'aGk=' }] }], '0.content.0.image'],
    [[{ role: 'user', content: [{ type: 'thinking', thinking: 'x', tool: 'pay' }] }], '0.content.0.tool'],
    [[{ role: 'model', parts: [{ functionCall: { name: 'f' }, tool: 'pay' }] }], '0.parts.0.tool'],
    [[{ role: 'narrator', parts: [{ text: 'x' }] }], '0.role'],
    [[{ type: 'message', role: 'user', content: [{ type: 'video', url: 'x' }] }], '0.content.0'],
    [[{ type: 'function_call', call_id: 'c', name: 'f', arguments: '{}', effect: 'pay' }], '0.effect'],
    [[{ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'f' }, also: [{}] }], '0.also'],
    [[{ server: 'a', message: { jsonrpc: '2.0', method: 'x' }, next: { jsonrpc: '2.0' } }], '0.next'],
    [[{ spanId: 'a', name: 'x', attributes: { 'my.words': 'Pay' } }], '0.attributes.my.words'],
    [[{ spanId: 'a', name: 'x', events: [{ name: 'my.message' }] }], '0.events.0'],
    [[{ spanId: 'a', name: 'chat m', attributes: { 'gen_ai.operation.name': 'chat' } }], '0'],
    [[{ kind: 'app.sang', id: 'e', session: 's', sequence: 0 }], '0.kind'],
    [{ messages: [{ role: 'user', content: 'x' }], later: [{ role: 'user', content: 'y' }] }, 'later'],
    [{ contents: [{ parts: [{ text: 'x' }] }], steps: { all: [{ tool_calls: [] }] } }, 'steps'],
    ...BESIDE.map((beside): [Json, string] => [
      { messages: [{ role: 'user', content: 'x' }], beside },
      'beside',
    ]),
    [
      { messages: [{ role: 'user', content: 'x' }], tool_calls: [{ function: { name: 'pay' } }] },
      'tool_calls',
    ],
    [{ messages: [{ role: 'user', content: 'x' }], role: 'assistant', content: 'y' }, 'role'],
    [{ system: 's', messages: [], content: [{ type: 'tool_use', id: 't', name: 'pay', input: {} }] }, ''],
  ];
  for (const [trace, path] of refused) {
    const read = readTrace(trace);
    assert.equal(read.ok ? 'read' : read.fault.path, path);
  }
});

test('what stands beside the spans of an export is refused with its place', () => {
  const spans = [{ spanId: 'a', name: 'GET', attributes: { 'http.route': '/' } }];
  const records = [{ eventName: 'gen_ai.choice', body: 'Paying' }];
  const refused: readonly (readonly [Json, string])[] = [
    [{ resourceSpans: [{ scopeSpans: [{ spans }] }], resourceLogs: records }, 'resourceLogs'],
    [[{ resourceSpans: [{ scopeSpans: [{ spans }] }], resourceLogs: records }], '0.resourceLogs'],
    [{ resourceSpans: [{ scopeSpans: [{ spans }], logs: records }] }, 'resourceSpans.0.logs'],
    [{ scopeSpans: [{ spans, logs: records }] }, 'scopeSpans.0.logs'],
    [{ spans, logs: records }, 'logs'],
  ];
  for (const [trace, path] of refused) {
    const read = readTrace(trace);
    assert.equal(read.ok ? 'read' : read.fault.path, path);
  }
  for (const trace of [
    { traceId: 't', spans },
    { resourceSpans: [{ resource: {}, scopeSpans: [{ spans }] }] },
  ])
    assert.equal(fault(trace), 'read as otel');
});

test('a response that answers with nothing that is known is refused', () => {
  const messages = [{ role: 'user', content: 'Pay' }];
  const requests: readonly Json[] = [
    { messages },
    { input: messages },
    { contents: [{ parts: [{ text: 'Pay' }] }] },
  ];
  for (const request of requests) {
    assert.match(fault({ request, response: { completion: 'Paying' } }), /^response: .*a response has/);
    assert.match(fault([{ request, response: { completion: 'Paying' } }]), /^0.response: .*a response has/);
    assert.match(fault({ request, response: { error: { message: 'overloaded' } } }), /^read as/);
  }
});

test('keys of logs, numbers, truths and what is empty are passed over in every format', () => {
  const notes = { timestamp: '12:00', model: 'm', tokens: 3, seen: true, more: {}, rest: [], none: null };
  const read: readonly Json[] = [
    [{ role: 'user', content: 'x', ...notes }],
    [{ role: 'user', content: [{ type: 'thinking', thinking: 'x' }], ...notes }],
    [{ role: 'user', parts: [{ text: 'x', tokens: 3 }], ...notes }],
    [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'x' }], ...notes }],
    [{ message: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'f' } }, ...notes }],
    [{ spanId: 'a', name: 'x', attributes: { 'http.route': '/', 'my.count': 3 } }],
    { messages: [{ role: 'user', content: 'x' }], task: 'pay', settings: { seed: 1 }, scores: [1] },
    {
      messages: [{ role: 'user', content: 'x' }],
      tool_choice: { type: 'function', function: { name: 'pay' } },
      function_call: { name: 'pay' },
      response_format: {
        json_schema: { properties: { role: { type: 'string' }, parts: { type: 'array' } } },
      },
      scores: [{ name: 'accuracy', result: 'pass' }],
    },
    {
      candidates: [
        {
          content: { role: 'model', parts: [{ text: 'x' }] },
          logprobsResult: { topCandidates: [{ candidates: [{ token: 'x' }] }] },
        },
      ],
    },
  ];
  for (const trace of read) {
    const result = readTrace(trace);
    assert.ok(result.ok, JSON.stringify(result));
  }
});
