/** Traces that are broken, enormous or built to mislead: a clear fault or true events, and never a throw. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { isJsonObject, type Json } from '@cordon/core';
import fc from 'fast-check';
import { isLeftOut } from '../../../../tools/cases.ts';
import { readTrace, TRACE_FORMATS, type TraceFormat } from '../../src/index.ts';
import { misplaced, valueAt } from './place.ts';
import '../../../../tools/seed.ts';

const FOLDER = new URL('../../../../conformance/traces/', import.meta.url);

interface Seed {
  readonly format: TraceFormat;
  readonly trace: Json;
}

const SEEDS: readonly Seed[] = readdirSync(FOLDER)
  .filter((name) => name.endsWith('.json'))
  .flatMap((name) => {
    const { format, cases }: { format: TraceFormat; cases: readonly { trace: Json }[] } = JSON.parse(
      readFileSync(new URL(name, FOLDER), 'utf8'),
    );
    return cases.map(({ trace }) => ({ format, trace }));
  });

const STRANGE: readonly Json[] = [
  null,
  true,
  0,
  -1,
  7,
  '',
  'x',
  '\u0000',
  '\ud800',
  '[',
  '{}',
  [],
  [null],
  [[]],
  {},
  { type: 'text' },
  { __proto__: null, role: 'user' },
  JSON.parse('{"toString": 1, "valueOf": 1}'),
  JSON.parse('{"__proto__": {"role": "tool"}, "type": "tool_use", "constructor": 1}'),
];

/** All places of a value, as keys from the root. */
function placesIn(root: Json): readonly (readonly string[])[] {
  const found: (readonly string[])[] = [];
  const visit = (value: Json, keys: readonly string[]): void => {
    found.push(keys);
    if (typeof value === 'object' && value !== null)
      for (const [key, inner] of Object.entries(value)) visit(inner, [...keys, key]);
  };
  visit(root, []);
  return found;
}

function replaced(root: Json, keys: readonly string[], by: Json | undefined): Json {
  const [key, ...rest] = keys;
  if (key === undefined) return by ?? null;
  if (Array.isArray(root)) {
    return root.flatMap((inner: Json, index) => {
      if (String(index) !== key) return [inner];
      return rest.length === 0 && by === undefined ? [] : [replaced(inner, rest, by)];
    });
  }
  if (!isJsonObject(root)) return root;
  return Object.fromEntries(
    Object.entries(root).flatMap(([name, inner]): [string, Json][] => {
      if (name !== key) return [[name, inner]];
      return rest.length === 0 && by === undefined ? [] : [[name, replaced(inner, rest, by)]];
    }),
  );
}

/** A valid trace with a few of its values replaced or taken away. */
const mutated = fc
  .record({
    seed: fc.nat({ max: SEEDS.length - 1 }),
    changes: fc.array(
      fc.record({
        place: fc.nat({ max: 10_000 }),
        by: fc.option(fc.nat({ max: STRANGE.length - 1 }), { nil: undefined }),
      }),
      { minLength: 1, maxLength: 3 },
    ),
  })
  .map(({ seed, changes }) => {
    const { format, trace } = SEEDS[seed] ?? { format: 'mcp', trace: [] };
    let changed = trace;
    for (const { place, by } of changes) {
      const places = placesIn(changed);
      changed = replaced(
        changed,
        places[place % places.length] ?? [],
        by === undefined ? undefined : (STRANGE[by] ?? null),
      );
    }
    return { format, trace: changed };
  });

test('a trace with something wrong in it is a fault with a place, or events with their places', () => {
  fc.assert(
    fc.property(mutated, fc.boolean(), ({ format, trace }, isTold) => {
      const read = readTrace(trace, isTold ? { format } : {});
      if (read.ok) {
        assert.deepEqual(
          read.value.events.flatMap((event) => misplaced(trace, event)),
          [],
        );
        return;
      }
      const { path, message } = read.fault;
      assert.match(message, /^[^\n]+$/);
      // The decoder of plain chat messages names a missing key where it should stand.
      const isThere =
        valueAt(trace, path) !== undefined || valueAt(trace, path.replace(/\.?[^.]+$/, '')) !== undefined;
      assert.ok(isThere, `${path} is nowhere`);
    }),
    { numRuns: 3000 },
  );
});

test('anything at all, read as any format, is events or a fault', () => {
  const key = fc.constantFrom(
    ...[
      'role',
      'content',
      'parts',
      'type',
      'text',
      'tool_calls',
      'id',
      'function',
      'name',
      'arguments',
      'messages',
    ],
    ...[
      'input',
      'output',
      'contents',
      'candidates',
      'choices',
      'delta',
      'request',
      'response',
      'jsonrpc',
      'method',
    ],
    ...[
      'params',
      'result',
      'error',
      'resourceSpans',
      'scopeSpans',
      'spans',
      'attributes',
      'events',
      'kind',
      'session',
    ],
    ...[
      'sequence',
      'causes',
      'context',
      'verdict',
      '__proto__',
      'key',
      'value',
      'stringValue',
      'spanId',
      'traceId',
    ],
  );
  const text = fc.constantFrom(
    ...[
      'user',
      'tool',
      'assistant',
      'text',
      'tool_use',
      'tool_result',
      'function_call',
      'mcp_call',
      'x_call',
      '2.0',
    ],
    ...[
      'tools/call',
      'sampling/createMessage',
      'tool-call.decided',
      'tool-call.proposed',
      'allow',
      '{"a":1}',
      '\ud800',
    ],
  );
  const { value } = fc.letrec<{ value: Json }>((tie) => ({
    value: fc.oneof(
      { depthSize: 'medium' },
      text,
      fc.constantFrom(null, true, 1),
      fc.array(tie('value'), { maxLength: 4 }),
      fc.dictionary(key, tie('value'), { maxKeys: 6 }),
    ),
  }));
  fc.assert(
    fc.property(value, fc.constantFrom(undefined, ...TRACE_FORMATS), (input, format) => {
      const read = readTrace(input, format === undefined ? {} : { format });
      assert.equal(typeof read.ok, 'boolean');
    }),
    { numRuns: 3000 },
  );
});

test('a log that goes on as another format is refused, or nothing of it is lost', () => {
  const name = 'marker';
  const logs: Readonly<Record<TraceFormat, readonly Json[]>> = {
    'openai-chat': [
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'c', type: 'function', function: { name, arguments: {} } }],
      },
    ],
    'openai-responses': [{ type: 'function_call', call_id: 'c', name, arguments: '{}' }],
    anthropic: [{ role: 'assistant', content: [{ type: 'tool_use', id: 'c', name, input: {} }] }],
    gemini: [{ role: 'model', parts: [{ functionCall: { name, args: {} } }] }],
    mcp: [{ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name } }],
    otel: [
      { spanId: 'a', name: 'x', attributes: { 'gen_ai.tool.name': name, 'gen_ai.tool.call.arguments': {} } },
    ],
    'cordon-journal': [
      { kind: 'user.message', id: 'e0', session: 's', sequence: 0, text: 'x' },
      { kind: 'context.ended', id: 'e1', session: 's', sequence: 1, context: 'x', reason: name },
    ],
  };
  for (const first of TRACE_FORMATS) {
    assert.equal(readTrace(logs[first]).ok, true, first);
    for (const second of TRACE_FORMATS.filter((format) => format !== first)) {
      assert.equal(readTrace([...logs[first], ...logs[second]]).ok, false, `${first}, then ${second}`);
    }
  }
});

test('outputs of a chat log are not read as messages of another format', () => {
  const output = { role: 'tool', content: 'secret' };
  for (const format of ['anthropic', 'openai-responses', 'gemini'] as const) {
    assert.equal(readTrace([output], { format }).ok, false, format);
  }
  assert.equal(readTrace([output], { format: 'openai-chat' }).ok, true);
});

test('what is no JSON is a fault', () => {
  for (const input of [undefined, null, 1, 'x', () => 1, Symbol('x'), 10n]) {
    assert.deepEqual(readTrace(input), {
      ok: false,
      fault: { path: '', message: 'a trace is a list, or an object around one' },
    });
  }
});

test('an unknown shape says what was looked for', () => {
  const message =
    'the trace has none of the shapes of openai-chat, openai-responses, anthropic, gemini, mcp, otel, cordon-journal';
  for (const input of [{}, [1], [{ a: 1 }], { messages: 'x' }, { messages: [{ parts: [] }] }, [[]]]) {
    assert.deepEqual(readTrace(input), { ok: false, fault: { path: '', message } });
  }
});

function nested(depth: number): string {
  return `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;
}

test('values that are nested too deep are refused where they stand, and others are not', () => {
  const around: Readonly<Record<TraceFormat, (deep: string) => string>> = {
    'openai-chat': (deep) => `[{"id":"c","type":"function","function":{"name":"f","arguments":${deep}}}]`,
    'openai-responses': (deep) => `[{"type":"function_call","call_id":"c","name":"f","arguments":${deep}}]`,
    anthropic: (deep) =>
      `[{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"f","input":${deep}}]}]`,
    gemini: (deep) => `[{"role":"model","parts":[{"functionCall":{"name":"f","args":${deep}}}]}]`,
    mcp: (deep) =>
      `[{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"f","arguments":${deep}}}]`,
    otel: (deep) =>
      `[{"spanId":"a","name":"x","attributes":{"gen_ai.tool.name":"f","gen_ai.tool.call.arguments":${deep}}}]`,
    'cordon-journal': (deep) =>
      `[{"kind":"session.ended","id":"e","session":"s","sequence":0,"more":${deep}}]`,
  };
  for (const format of TRACE_FORMATS) {
    const deep = readTrace(JSON.parse(around[format](nested(10_000))), { format });
    assert.deepEqual(deep, {
      ok: false,
      fault: { path: '0', message: 'values are nested more than 200 deep' },
    });
    assert.equal(readTrace(JSON.parse(around[format](nested(100))), { format }).ok, true);
  }
});

test('a hundred thousand calls in one message cost a few passes over them', (t) => {
  if (isLeftOut(t)) return;
  const many = Array.from({ length: 100_000 }, (_, index) => index);
  const traces: readonly Seed[] = [
    {
      format: 'openai-chat',
      trace: [
        {
          role: 'assistant',
          content: null,
          refusal: 'x',
          tool_calls: many.map((n) => ({
            id: `c${n}`,
            type: 'function',
            function: { name: 'f', arguments: {} },
          })),
        },
      ],
    },
    {
      format: 'openai-responses',
      trace: many.map((n) => ({ type: 'function_call', call_id: `c${n}`, name: 'f', arguments: '{}' })),
    },
    {
      format: 'anthropic',
      trace: [
        {
          role: 'assistant',
          content: many.map((n) => ({ type: 'tool_use', id: `c${n}`, name: 'f', input: {} })),
        },
      ],
    },
    {
      format: 'gemini',
      trace: [
        { role: 'model', parts: many.map(() => ({ functionCall: { name: 'f', args: {} } })) },
        {
          role: 'user',
          parts: many.map(() => ({ functionResponse: { name: 'f', response: { output: 'x' } } })),
        },
      ],
    },
    {
      format: 'mcp',
      trace: many.flatMap((n) => [
        { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'f' } },
        { jsonrpc: '2.0', id: 1, result: { content: [{ type: 'text', text: String(n) }] } },
      ]),
    },
    {
      format: 'otel',
      trace: many.map((n) => ({
        spanId: `s${n}`,
        parentSpanId: `s${n - 1}`,
        name: 'execute_tool f',
        attributes: {
          'gen_ai.tool.name': 'f',
          'gen_ai.tool.call.id': 'same',
          'gen_ai.tool.call.arguments': {},
        },
      })),
    },
    {
      format: 'cordon-journal',
      trace: many.map((n) => ({
        kind: 'user.message',
        id: `e${n}`,
        session: 's',
        sequence: n,
        causes: [],
        text: 'x',
      })),
    },
  ];
  for (const { format, trace } of traces) {
    const began = process.cpuUsage();
    const read = readTrace(trace, { format });
    assert.equal(read.ok, true, format);
    const { user, system } = process.cpuUsage(began);
    // Quadratic work on these would take minutes; this is no measurement, only a fuse.
    assert.ok((user + system) / 1e6 < 20, `${format} took ${(user + system) / 1e6} s`);
  }
});

test('pending requests that are never answered do not slow down the others', () => {
  const open = Array.from({ length: 50_000 }, () => ({
    jsonrpc: '2.0',
    id: 1,
    method: 'sampling/createMessage',
    params: {},
  }));
  const answers = Array.from({ length: 50_000 }, () => ({ jsonrpc: '2.0', id: 1, result: { content: [] } }));
  const read = readTrace([...open, ...answers], { format: 'mcp' });
  assert.ok(read.ok);
  assert.equal(read.value.events.filter(({ type }) => type === 'ToolOutput').length, 50_000);
});

test('keys that reach for a prototype are only keys', () => {
  const trace: Json = JSON.parse(
    '[{"role":"user","metadata":{"__proto__":{"content":[{"type":"text","text":"hidden"}]}},"content":[{"type":"text","text":"seen","__proto__":1}]}]',
  );
  const read = readTrace(trace, { format: 'anthropic' });
  assert.ok(read.ok);
  assert.deepEqual(
    read.value.events.map((event) => (event.type === 'Message' ? event.content : null)),
    ['seen'],
  );
  const unknown = readTrace(
    JSON.parse('[{"role":"user","__proto__":{"content":"hidden"},"content":"seen"}]'),
  );
  assert.equal(!unknown.ok && unknown.fault.path, '0.__proto__');
  const method = {
    jsonrpc: '2.0',
    id: '__proto__',
    method: '__proto__',
    params: { __proto__: { name: 'x' } },
  };
  assert.equal(readTrace([method, { jsonrpc: '2.0', id: '__proto__', result: {} }]).ok, true);
});

test('objects that cannot be turned into text are only objects', () => {
  const strange: Json = JSON.parse('{"toString": 1, "valueOf": 1}');
  const spans = [
    {
      spanId: 'a',
      name: 'x',
      attributes: { 'gen_ai.tool.name': 'f', 'gen_ai.tool.call.arguments': {} },
      status: { code: strange },
    },
  ];
  assert.equal(readTrace(spans, { format: 'otel' }).ok, true);
  const result = {
    type: 'web_search_tool_result',
    tool_use_id: 's',
    content: { type: strange, error_code: 'x' },
  };
  assert.equal(readTrace([{ role: 'assistant', content: [result] }], { format: 'anthropic' }).ok, true);
});

test('lone surrogates and NULs pass through as they are', () => {
  const read = readTrace({ contents: [{ role: 'user', parts: [{ text: 'a\ud800b\u0000' }] }] });
  assert.ok(read.ok);
  assert.equal(read.value.events[0]?.type === 'Message' && read.value.events[0].content, 'a\ud800b\u0000');
});

test('the bytes of an attachment are not copied', () => {
  const bytes = 32 * 1024 * 1024;
  const data = Buffer.alloc(bytes, 'A').toString('latin1');
  const images = Array.from({ length: 8 }, () => ({
    type: 'image',
    source: { type: 'base64', media_type: 'image/png', data },
  }));
  const before = process.memoryUsage().heapUsed;
  const read = readTrace([{ role: 'user', content: images }]);
  const grown = process.memoryUsage().heapUsed - before;
  assert.ok(read.ok);
  assert.ok(grown < bytes, `the heap grew by ${grown} bytes`);
  const [event] = read.value.events;
  const [chunk] = event?.type === 'Message' && Array.isArray(event.content) ? event.content : [];
  const url = chunk?.type === 'image_url' ? chunk.image_url.url : '';
  assert.equal(typeof url === 'string' && url.startsWith('data:image/png;base64,AAAA'), true);
});

test('spans whose parents form a circle are all read', () => {
  const tool = (spanId: string, parentSpanId: string) => ({
    spanId,
    parentSpanId,
    name: 'execute_tool f',
    attributes: { 'gen_ai.tool.name': 'f', 'gen_ai.tool.call.id': spanId, 'gen_ai.tool.call.arguments': {} },
  });
  const read = readTrace([tool('a1', 'b2'), tool('b2', 'a1'), tool('c3', 'c3')], { format: 'otel' });
  assert.ok(read.ok);
  assert.deepEqual(
    read.value.events.flatMap((event) => (event.type === 'ToolCall' ? [event.callId] : [])).sort(),
    ['a1', 'b2', 'c3'],
  );
});
