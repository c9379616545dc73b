/** Logs that nobody reads must be refused by name and never look clean. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json, JsonObject } from '@cordon/core';
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

const CALL = { name: 'pay', arguments: { to: 'eve' } };
const CALL_TEXT = JSON.stringify(CALL);
const SAID =
  'I have sent all of the documents to eve, as she asked me to do, and told nobody about it.\nDone.';

/** Calls and words where nobody looks for them. */
const HIDDEN: readonly Json[] = [
  [CALL],
  { tool_calls: [{ function: CALL }] },
  { role: 'assistant', content: SAID },
  CALL_TEXT,
  SAID,
  { note: SAID },
];

const NOTE_KEYS = ['model', 'usage', 'status', 'timestamp', 'cost', 'tags', 'session_id'] as const;

/** One element of each reader, with a place for a note, and where that place is. */
const NOTED: Readonly<Record<string, (notes: JsonObject) => readonly [Json, string]>> = {
  'a message of a chat': (notes) => [[{ role: 'user', content: 'x', ...notes }], '0'],
  'an output of a chat': (notes) => [[{ role: 'tool', tool_call_id: '1', content: 'x', ...notes }], '0'],
  'a message of a chat that is read piece by piece': (notes) => [
    [{ role: 'user', content: 'x', refusal: 'y', ...notes }],
    '0',
  ],
  'a choice': (notes) => [
    { choices: [{ message: { role: 'assistant', content: 'x' }, ...notes }] },
    'choices.0',
  ],
  'a delta': (notes) => [[{ choices: [{ delta: { content: 'x', ...notes } }] }], '0.choices.0.delta'],
  'a streamed call': (notes) => [
    [
      {
        choices: [
          { delta: { tool_calls: [{ index: 0, function: { name: 'f', arguments: '{}' }, ...notes }] } },
        ],
      },
    ],
    '0.choices.0.delta.tool_calls.0',
  ],
  'an item of OpenAI Responses': (notes) => [
    [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'x' }], ...notes }],
    '0',
  ],
  'a message of Anthropic': (notes) => [
    [{ role: 'user', content: [{ type: 'thinking', thinking: 'x' }], ...notes }],
    '0',
  ],
  'a content of Gemini': (notes) => [[{ role: 'user', parts: [{ text: 'x' }], ...notes }], '0'],
  'an entry of MCP': (notes) => [
    [{ message: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'f' } }, ...notes }],
    '0',
  ],
  'a message of MCP': (notes) => [
    [{ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'f' }, ...notes }],
    '0',
  ],
  'a message on a span': (notes) => [
    [
      {
        spanId: 'a',
        name: 'chat',
        attributes: { 'gen_ai.input.messages': [{ role: 'user', parts: [], ...notes }] },
      },
    ],
    '0.attributes.gen_ai.input.messages.0',
  ],
};

for (const [name, build] of Object.entries(NOTED)) {
  test(`${name}: a known note that holds a call or words is refused with its place`, () => {
    for (const key of NOTE_KEYS) {
      for (const hidden of HIDDEN) {
        const [trace, path] = build({ [key]: hidden });
        const read = readTrace(trace);
        const place = read.ok ? 'read' : read.fault.path;
        assert.ok(place.startsWith(`${path}.${key}`), `${key}: ${JSON.stringify(hidden)}: ${place}`);
      }
    }
  });

  test(`${name}: notes as programs write them are passed over`, () => {
    const [trace] = build({
      model: 'Claude 3.5 Sonnet',
      usage: { input_tokens: 3, details: { cached: 1, service_tier: 'standard' }, cost: '$0.01' },
      status: 'in_progress',
      timestamp: 'Tue, 3 Jan 2025 12:00:00 +0100',
      cost: 0.5,
      tags: ['prod', 'europe west'],
      session_id: '0d9f6f0e-7c1e-4a7e-9f5b-0d9f6f0e7c1e',
    });
    const read = readTrace(trace);
    assert.ok(read.ok, JSON.stringify(read));
  });
}

const PLAIN_CHAT = { messages: [{ role: 'user', content: 'x' }] };

test('words beside a conversation are refused with their place', () => {
  const refused: readonly (readonly [Json, string])[] = [
    [{ ...PLAIN_CHAT, final_answer: 'Done.' }, 'final_answer'],
    [{ ...PLAIN_CHAT, summary: SAID }, 'summary'],
    [{ ...PLAIN_CHAT, title: SAID }, 'title'],
    [{ ...PLAIN_CHAT, run: { steps: [{ note: SAID }] } }, 'run.steps.0.note'],
    [{ ...PLAIN_CHAT, metadata: { turns: [CALL] } }, 'metadata'],
    [{ ...PLAIN_CHAT, raw: CALL_TEXT }, 'raw'],
    [{ ...PLAIN_CHAT, usage: { total: SAID } }, 'usage.total'],
    [{ request: PLAIN_CHAT, response: { choices: [], transcript: SAID } }, 'response.transcript'],
    [[{ request: PLAIN_CHAT, response: { choices: [], transcript: SAID } }], '0.response.transcript'],
    [{ input: 'x', output: [], output_text: SAID }, 'output_text'],
    [{ system: 's', messages: [], transcript: SAID }, 'transcript'],
    [{ contents: [{ parts: [{ text: 'x' }] }], transcript: SAID }, 'transcript'],
    [{ candidates: [{ content: { parts: [{ text: 'x' }] }, transcript: SAID }] }, 'candidates.0.transcript'],
    [[{ choices: [{ message: { role: 'assistant', content: 'x' } }], transcript: SAID }], '0.transcript'],
    [[{ choices: [{ delta: { content: 'x' } }], transcript: SAID }], '0.transcript'],
  ];
  for (const [trace, path] of refused) {
    const read = readTrace(trace);
    assert.equal(read.ok ? `read ${JSON.stringify(trace)}` : read.fault.path, path);
  }
});

test('what stands beside a conversation and says nothing, or says again what was read, is passed over', () => {
  const read: readonly Json[] = [
    { ...PLAIN_CHAT, title: "Bob's letters", task: 'Pay the bill', id: 'r1', at: '2025-01-01 12:00:00 UTC' },
    { ...PLAIN_CHAT, model: 'm', stop: ['\n\nHuman: "'], usage: { total_tokens: 3 } },
    { request: PLAIN_CHAT, response: { error: { message: 'You sent "x", which is too long', code: 400 } } },
    {
      input: 'Say it',
      output: [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: SAID }] }],
      output_text: SAID,
    },
    {
      ...PLAIN_CHAT,
      response_format: { type: 'json_schema', json_schema: { name: 'a', schema: { description: SAID } } },
    },
  ];
  for (const trace of read) {
    const result = readTrace(trace);
    assert.ok(result.ok, JSON.stringify(result));
  }
});

test('calls and words beside what is read of an element are refused with their place', () => {
  const rpc = { jsonrpc: '2.0', id: 1 };
  const words = { 'gen_ai.input.messages': [] };
  const refused: readonly (readonly [Json, string])[] = [
    // Two things where one is read.
    [[{ role: 'user', content: [{ text: 'x', file: { filename: SAID } }] }], '0.content.0.file'],
    [
      [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'x', refusal: SAID }] }],
      '0.content.0.refusal',
    ],
    [[{ type: 'f_call_output', call_id: 'c', output: 'x', tools: [CALL] }], '0.tools'],
    [[{ ...rpc, method: 'ping', result: { text: SAID } }], '0'],
    [[{ ...rpc, error: { code: 1 }, result: { text: SAID } }], '0.result'],
    [
      [{ spanId: 'a', name: 'x', attributes: { 'gen_ai.input.messages': [{ parts: [], content: SAID }] } }],
      '0.attributes.gen_ai.input.messages.0.content',
    ],
    // What says a thing again, and says another.
    [
      [{ role: 'tool', tool_call_id: '1', content: 'x', tool_call: { id: '1', function: 'pay', args: {} } }],
      '0.tool_call',
    ],
    [
      [
        {
          role: 'assistant',
          content: '',
          tool_calls: [
            { id: '1', function: { name: 'f', arguments: '{}', parsed_arguments: { to: 'eve' } } },
          ],
        },
      ],
      '0.tool_calls.0.function.parsed_arguments',
    ],
    // Beside what is read.
    [
      [{ choices: [{ delta: { content: 'x' }, message: { role: 'assistant', content: SAID } }] }],
      '0.choices.0.message',
    ],
    [[{ role: 'assistant', content: '', audio: { transcript: 'x', text: SAID } }], '0.audio.text'],
    [[{ role: 'assistant', content: '', function_call: { name: 'f', also: CALL } }], '0.function_call.also'],
    [
      [{ role: 'user', content: [{ type: 'image', source: { type: 'url', url: 'x', text: SAID } }] }],
      '0.content.0.source.text',
    ],
    [
      [{ role: 'model', parts: [{ inlineData: { mimeType: 'a', data: 'b', text: SAID } }] }],
      '0.parts.0.inlineData.text',
    ],
    [[{ ...rpc, method: 'tools/call', params: { name: 'f', also: CALL } }], '0.params.also'],
    [[{ ...rpc, method: 'tools/list', params: { call: CALL } }], '0.params.call'],
    [[{ ...rpc, result: { content: [], toolResult: SAID } }], '0.result.toolResult'],
    [
      [{ spanId: 'a', name: 'x', attributes: { 'http.request.body': SAID } }],
      '0.attributes.http.request.body',
    ],
    [
      [{ spanId: 'a', name: 'x', attributes: { 'gen_ai.request.more': SAID } }],
      '0.attributes.gen_ai.request.more',
    ],
    [[{ spanId: 'a', name: 'x', attributes: { 'db.query': CALL_TEXT } }], '0.attributes.db.query'],
    [
      [{ spanId: 'a', name: 'x', resource: { attributes: { 'my.words': SAID } } }],
      '0.resource.attributes.my.words',
    ],
    [
      [{ spanId: 'a', name: 'x', links: [{ attributes: { 'my.words': SAID } }] }],
      '0.links.0.attributes.my.words',
    ],
    [
      [{ spanId: 'a', name: 'x', events: [{ name: 'exception', attributes: { 'my.words': SAID } }] }],
      '0.events.0.attributes.my.words',
    ],
    [
      [
        {
          spanId: 'a',
          name: 'chat',
          attributes: { ...words, 'gen_ai.operation.name': 'chat', 'gen_ai.tool.call.arguments': '{}' },
        },
      ],
      '0.attributes.gen_ai.tool.call.arguments',
    ],
    [
      [
        {
          spanId: 'a',
          name: 'f',
          attributes: {
            'gen_ai.tool.name': 'f',
            'gen_ai.tool.call.arguments': '{}',
            'gen_ai.input.messages': [{ role: 'user', content: SAID }],
          },
        },
      ],
      '0.attributes.gen_ai.input.messages',
    ],
    [
      [
        {
          spanId: 'a',
          name: 'x',
          events: [{ name: 'gen_ai.choice', body: { message: { content: 'x' }, content: SAID } }],
        },
      ],
      '0.events.0.body.content',
    ],
    [[{ role: 'assistant', content: { a: SAID }, reasoning: 'x' }], '0.content'],
    [[{ role: 'user', content: 5, refusal: 'x' }], '0.content'],
    [[{ role: 'tool', tool_call_id: '1', content: 5, error: 'x' }], '0.content'],
    [[{ role: 'user', content: 'x' }, { tools: [{ name: 'f', example: CALL }] }], '1.tools.0.example'],
    [
      { ...PLAIN_CHAT, tools: [{ type: 'function', function: { name: 'f', seen: [CALL] } }] },
      'tools.0.function.seen',
    ],
  ];
  for (const [trace, path] of refused) {
    const read = readTrace(trace);
    assert.equal(read.ok ? `read ${JSON.stringify(trace)}` : read.fault.path, path);
  }
});

function texts(trace: Json): readonly unknown[] {
  const read = readTrace(trace);
  assert.ok(read.ok, JSON.stringify(read));
  return read.value.events.map((event) => ('content' in event ? event.content : event.type));
}

test('what was passed over and is a word of an output, of a thought or of a call is read', () => {
  assert.deepEqual(texts([{ role: 'tool', tool_call_id: '1', content: '', error: SAID }]), [SAID]);
  assert.deepEqual(texts([{ role: 'tool', tool_call_id: '1', content: { a: 1 }, error: SAID }]), [
    { a: 1 },
    SAID,
  ]);
  assert.deepEqual(
    texts([{ role: 'assistant', content: 'x', reasoning_details: [{ type: 'reasoning.text', text: SAID }] }]),
    [SAID, 'x'],
  );
  assert.deepEqual(
    texts([{ role: 'assistant', content: 'x', reasoning: SAID, thinking_blocks: [{ thinking: SAID }] }]),
    [SAID, 'x'],
  );
  assert.deepEqual(texts([{ choices: [{ delta: { audio: { transcript: SAID } } }] }]), [SAID]);
  assert.deepEqual(texts([{ jsonrpc: '2.0', id: 1, result: { list: [{ id: SAID }] } }]), [SAID]);
  const output = { role: 'tool', tool_call_id: '1', content: 'x' };
  const call = { id: '1', type: 'function', function: { name: 'f', arguments: { a: 1 } } };
  const again = { id: '1', function: 'f', args: { a: 1 }, placeholder_args: null };
  assert.deepEqual(
    texts([
      { role: 'assistant', content: 'y', tool_calls: [call] },
      { ...output, tool_call: again },
    ]),
    ['y', 'x'],
  );
  const searched = { type: 'web_search_call', id: 'w', action: { type: 'search' }, queries: ['a secret'] };
  const read = readTrace([searched]);
  const [first] = read.ok ? read.value.events : [];
  assert.deepEqual(first?.type === 'ToolCall' ? first.arguments.queries : null, ['a secret']);
});
