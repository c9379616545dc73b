/**
 * Texts, traces and policies that somebody wrote to stop or mislead whoever reads them: a clear result, nothing thrown,
 * and work that grows no faster than the input.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json, JsonObject } from '@cordon/core';
import { type Analysis, analyze, decodeChat, ExplainingMonitor, mask } from '@cordon/policy-tools';
import { growsTooFast } from '../../../tools/growth/growth.ts';
import { loadPolicy, type Policy, type TraceEvent } from '../src/index.ts';

function policyOf(text: string): Policy {
  const policy = loadPolicy(text);
  assert.ok(policy.ok, policy.ok ? '' : JSON.stringify(policy.fault));
  return policy.value;
}

function aboutMessages(...lines: readonly string[]): Policy {
  return policyOf(
    ['raise "x" if:', '    (m: Message)', ...lines.map((line) => `    ${line}`), ''].join('\n'),
  );
}

function analysisOf(policy: Policy, trace: Json, parameters: JsonObject = {}): Analysis {
  const analysis = analyze(policy, trace, parameters);
  assert.ok(analysis.ok, analysis.ok ? '' : JSON.stringify(analysis.fault));
  return analysis.value;
}

/** `yes`, `no` or `undecided`: what the lines say about one message. */
function answer(content: Json, ...lines: readonly string[]): 'yes' | 'no' | 'undecided' {
  const { errors, undecided } = analysisOf(aboutMessages(...lines), [{ role: 'user', content }]);
  if (undecided.length > 0) return 'undecided';
  return errors.length > 0 ? 'yes' : 'no';
}

function call(id: string, name: string, args: Json = {}): JsonObject {
  return { id, type: 'function', function: { name, arguments: args } };
}

function nested(depth: number): Json {
  let value: Json = 1;
  for (let level = 0; level < depth; level++) value = { a: value };
  return value;
}

const FLOW = policyOf(
  'raise "x" if:\n    (a: ToolCall) -> (b: ToolCall)\n    a is tool:read\n    b is tool:send\n',
);

const MEGABYTE = 1024 * 1024;

// ── how the work grows ────────────────────────────────────────────────────────────────────────────────────────

function growsLinearly<T>(
  name: string,
  size: number,
  make: (size: number) => T,
  run: (input: T) => void,
): void {
  test(`the work grows no faster than the input: ${name}`, () => {
    assert.equal(growsTooFast(run, make, size, 10), null);
  });
}

const EXPRESSIONS: readonly (readonly [line: string, unit: string])[] = [
  ['"needle" in m.content', 'a'],
  ['"a" in m.content', 'ab'],
  ['m.content.lower() == "x"', 'A'],
  ['any(find("b+", m.content))', 'ab'],
  ['match("a*b", m.content)', 'a'],
  ['any(find("(a+)+$", m.content))', 'ab'],
  ['match("(a|a)*b", m.content)', 'a'],
  ['match("(a|aa)*b", m.content)', 'a'],
  ['match("(.*)*x", m.content)', 'a'],
  ['any(find("(x+x+)+y", m.content))', 'xz'],
  ['len(m.content.split(" ")) == 1', 'a '],
  ['len(m.content.splitlines()) == 1', 'a\n'],
  ['m.content.strip() == ""', ' '],
  ['len(m.content) == 1', '😀'],
  ['m.content.a == 1', '{"a":'],
  ['any([c == "x" for c in m.content])', 'a'],
  ['m.content.format("a") == ""', '{}'],
];

for (const [line, unit] of EXPRESSIONS) {
  const policy = aboutMessages(line);
  growsLinearly(
    line,
    MEGABYTE / 64,
    (size) => [{ role: 'user', content: unit.repeat(size / unit.length) }],
    (trace) => analysisOf(policy, trace),
  );
}

function callsInOneMessage(size: number): Json {
  const calls = Array.from({ length: size }, (_, index) =>
    call(`c${index}`, index === 0 ? 'read' : index === size - 1 ? 'send' : 'list'),
  );
  return [{ role: 'assistant', content: null, tool_calls: calls }];
}

growsLinearly('calls in one message', 5_000, callsInOneMessage, (trace) =>
  assert.equal(analysisOf(FLOW, trace).errors.length, 1),
);

growsLinearly(
  'outputs that all answer one call',
  4_000,
  (size) => [
    { role: 'assistant', content: null, tool_calls: [call('c', 'read')] },
    ...Array.from({ length: size }, () => ({ role: 'tool', tool_call_id: 'c', content: 'a' })),
  ],
  (trace) => analysisOf(policyOf('raise "x" if:\n    (o: ToolOutput)\n    o is tool:send\n'), trace),
);

growsLinearly(
  'calls that all have one id',
  4_000,
  (size) => Array.from({ length: size }, () => call('c', 'list')),
  (trace) => analysisOf(FLOW, trace),
);

growsLinearly(
  'causes in a circle',
  4_000,
  (size) =>
    Array.from({ length: size }, (_, index) => ({
      role: 'user',
      content: 'a',
      context: `c${index % 3}`,
      id: `e${index}`,
      causes: [`e${(index + 1) % size}`],
    })),
  (trace) => analysisOf(FLOW, trace),
);

growsLinearly(
  'causes of one event that nobody knows',
  4_000,
  (size) => [
    { role: 'user', content: 'a', context: 'one' },
    { role: 'user', content: 'a', causes: Array.from({ length: size }, (_, index) => `nobody${index}`) },
  ],
  (trace) => analysisOf(FLOW, trace),
);

growsLinearly(
  'contexts that each know the one before',
  1_000,
  (size) =>
    Array.from({ length: size }, (_, index) => ({
      role: 'user',
      content: 'a',
      context: `c${index}`,
      id: `e${index}`,
      causes: [`e${index - 1}`],
    })),
  (trace) => analysisOf(FLOW, trace),
);

growsLinearly(
  'contexts that each name a cause that nobody knows',
  1_000,
  (size) =>
    Array.from({ length: size }, (_, index) => ({
      role: 'user',
      content: 'a',
      context: `c${index}`,
      causes: [`nobody${index}`],
    })),
  (trace) => analysisOf(FLOW, trace),
);

growsLinearly(
  'what the schema of a tool requires',
  2_000,
  (size) => {
    const names = Array.from({ length: size }, (_, index) => `k${index}`);
    const properties = Object.fromEntries(names.map((name) => [name, {}]));
    return [{ tools: [{ name: 'f', inputSchema: { properties, required: names.toReversed() } }] }];
  },
  (trace) => analysisOf(policyOf('raise "x" if:\n    (p: ToolParameter)\n    p.name == "n"\n'), trace),
);

growsLinearly(
  'calls that are joined by an argument',
  2_000,
  (size) => Array.from({ length: size }, (_, index) => call(`c${index}`, 'f', { x: index, y: -1 - index })),
  (trace) =>
    analysisOf(
      policyOf('raise "x" if:\n    (a: ToolCall) -> (b: ToolCall)\n    a.arguments.x == b.arguments.y\n'),
      trace,
    ),
);

growsLinearly(
  'calls that are counted',
  2_000,
  (size) => Array.from({ length: size }, (_, index) => call(`c${index}`, 'send')),
  (trace) =>
    analysisOf(
      policyOf('from invariant import count\nraise "x" if:\n    count(min=3):\n        (c: ToolCall)\n'),
      trace,
    ),
);

growsLinearly(
  'chunks of one message',
  4_000,
  (size) => [{ role: 'user', content: Array.from({ length: size }, () => ({ type: 'text', text: 'a' })) }],
  (trace) => analysisOf(policyOf('raise "x" if:\n    (s: str)\n    s == "needle"\n'), trace),
);

growsLinearly(
  'keys of one argument',
  4_000,
  (size) => [
    call('c', 'f', Object.fromEntries(Array.from({ length: size }, (_, index) => [`k${index}`, 'v']))),
  ],
  (trace) =>
    analysisOf(
      policyOf('raise "x" if:\n    (c: ToolCall)\n    (s: str) in c.arguments\n    s == "n"\n'),
      trace,
    ),
);

growsLinearly(
  'decisions about one event after the other',
  2_000,
  (size): readonly TraceEvent[] => {
    const events = decodeChat(
      Array.from({ length: size }, (_, index) => call('c', index % 2 ? 'read' : 'list')),
    );
    assert.ok(events.ok);
    return events.value;
  },
  (events) => {
    const monitor = new ExplainingMonitor(FLOW);
    for (const event of events) {
      monitor.decide([event]);
      monitor.append([event]);
    }
  },
);

const TEXTS: readonly (readonly [name: string, text: (size: number) => string])[] = [
  ['rules', (size) => 'raise "x" if:\n    (m: Message)\n    m.role == "a"\n'.repeat(size / 50)],
  ['brackets that are left open', (size) => '('.repeat(size)],
  ['brackets that close nothing', (size) => ')]}'.repeat(size / 3)],
  ['lists inside each other', (size) => `A := ${'['.repeat(size)}`],
  ['NULs', (size) => '\0'.repeat(size)],
  ['characters that are none', (size) => '$?'.repeat(size / 2)],
  ['empty lines', (size) => '\n'.repeat(size)],
  ['a sum', (size) => `A := 1${'+1'.repeat(size / 2)}`],
  ['a list', (size) => `A := [1${',1'.repeat(size / 2)}]`],
  ['strings without an end', (size) => '"a\n'.repeat(size / 3)],
  ['long strings without an end', (size) => `"""a\n'''b\n`.repeat(size / 10)],
  ['an f-string', (size) => `A := f"${'{a}'.repeat(size / 3)}"`],
  ['an f-string of braces', (size) => `A := f"${'{'.repeat(size)}"`],
  [
    'lines that are ever deeper',
    (size) => Array.from({ length: size / 8 }, (_, i) => `${' '.repeat(i % 5)}a:`).join('\n'),
  ],
  [
    'a regular expression',
    (size) => `raise "x" if:\n    (m: Message)\n    match("${'(a'.repeat(size / 2)}", m.content)`,
  ],
];

for (const [name, text] of TEXTS) {
  growsLinearly(`a policy of ${name}`, MEGABYTE / 64, text, (policy) => {
    loadPolicy(policy);
  });
}

/** Lines that each need the next one. */
const CHAINS: readonly (readonly [name: string, text: (size: number) => string])[] = [
  [
    'constants',
    (size) => `${chain(size, (at) => `A${at} := A${at + 1}`)}A${size} := 1\nraise "x" if:\n    A0 == 1\n`,
  ],
  [
    'predicates',
    (size) =>
      `${chain(size, (at) => `p${at}(x) := p${at + 1}(x)`)}p${size}(x) := x == 1\nraise "x" if:\n    p0(1)\n`,
  ],
  [
    'values',
    (size) =>
      `raise "x" if:\n${chain(size, (at) => `    v${at} := v${at + 1}`)}    v${size} := 1\n    v0 == 1\n`,
  ],
  ['variables', (size) => `raise "x" if:\n${chain(size, (at) => `    (v${at}: Message)`)}`],
  ['names that are none', (size) => `raise "x" if:\n${chain(size, (at) => `    nam${at} == 1`)}`],
];

function chain(size: number, line: (at: number) => string): string {
  return Array.from({ length: size }, (_, at) => `${line(at)}\n`).join('');
}

for (const [name, text] of CHAINS) {
  growsLinearly(`a policy of a chain of ${name}`, 1_000, text, (policy) => {
    loadPolicy(policy);
  });
}

growsLinearly(
  'ranges to mask',
  MEGABYTE / 8,
  (size) => ({
    trace: [{ role: 'user', content: 'a'.repeat(size) }],
    ranges: Array.from({ length: size / 64 }, (_, index) => `0.content:${index * 60}-${index * 60 + 5}`),
  }),
  ({ trace, ranges }) => {
    mask(trace, ranges);
  },
);

// ── great and deep values ─────────────────────────────────────────────────────────────────────────────────────

test('a line of ten megabytes is searched to its end', () => {
  const trace = [{ role: 'user', content: `${'a'.repeat(10 * MEGABYTE)}needle` }];
  const { errors } = analysisOf(aboutMessages('"needle" in m.content'), trace);
  assert.deepEqual(
    errors.map(({ ranges }) => ranges),
    [['0', '0.content:10485760-10485766']],
  );
});

test('a hundred thousand calls in one message are all seen', () => {
  const { errors } = analysisOf(FLOW, callsInOneMessage(100_000));
  assert.deepEqual(
    errors.map(({ events }) => events),
    [{ a: '0.tool_calls.0', b: '0.tool_calls.99999' }],
  );
});

test('what is nested ten thousand deep is no event, wherever it stands', () => {
  const deep = nested(10_000);
  const text = `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`;
  const faults = [
    [call('c', 'f', deep)],
    [call('c', 'f', text)],
    [{ role: 'user', content: 'a', metadata: deep }],
    [{ role: 'tool', content: deep }],
    [{ tools: [{ name: 'f', inputSchema: deep }] }],
  ].map((trace) => {
    const events = decodeChat(trace);
    return events.ok ? null : events.fault.path;
  });
  assert.deepEqual(faults, ['0', '0.function.arguments', '0', '0', '0']);
});

test('parameters that are nested ten thousand deep are none', () => {
  const parameters = { x: nested(10_000), y: nested(10_000) };
  const trace = [{ role: 'user', content: 'a' }];
  for (const text of [
    'raise "x" if:\n    (m: Message)\n    input.x == input.y\n',
    'raise Violation("x", c=input.x) if:\n    (m: Message)\n    m.role == "user"\n',
    'raise f"{input.x}" if:\n    (m: Message)\n    m.role == "user"\n',
  ]) {
    const { errors, undecided } = analysisOf(policyOf(text), trace, parameters);
    assert.deepEqual([errors.length, undecided.length], [0, 1], text);
    const shallow = analysisOf(policyOf(text), trace, { x: nested(3), y: nested(3) });
    assert.deepEqual([shallow.errors.length, shallow.undecided.length], [1, 0], text);
  }
});

test('a text that is JSON ten thousand deep is a text without members', () => {
  const text = `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`;
  assert.equal(answer(text, 'm.content.a == 1'), 'undecided');
  assert.equal(answer(text, 'json_loads(m.content) == 1'), 'undecided');
  assert.equal(answer('{"a": 1}', 'm.content.a == 1'), 'yes');
});

test('what a rule builds out of a message has an end', () => {
  const lines = [
    '"a" * 1000000000 == "a"',
    '[1] * 1000000000 == [1]',
    '("a" * 10000000) + ("a" * 10000000) == ""',
    'm.content * 20000000 == ""',
    '"a".join(["b" * 10000000] * 1000) == ""',
    '("%s" * 1000) % tuple(["a" * 10000000] * 1000) == ""',
    '("{0}" * 1000).format("a" * 10000000) == ""',
    'f"{["a" * 1000000] * 1000}" == ""'.replaceAll('"a"', "'a'"),
  ];
  assert.deepEqual(
    lines.map((line) => answer('a', line)),
    lines.map(() => 'undecided'),
  );
  assert.equal(answer('a', 'm.content * 3 == "aaa"'), 'yes');
});

test('formats reach nothing but values', () => {
  for (const line of [
    '"{0.__class__}".format("a") == "a"',
    '"{:1000000000}".format("a") == "a"',
    '"%*d" % 5 == ""',
  ])
    assert.equal(answer('a', line), 'undecided', line);
});

// ── names that mean something to the host ─────────────────────────────────────────────────────────────────────

function parsed(text: string): Json {
  return JSON.parse(text);
}

test('keys with names of prototypes are keys, and missing ones are missing', () => {
  const policy = (line: string) => policyOf(`raise "x" if:\n    (c: ToolCall)\n    ${line}\n`);
  const polluted = parsed(
    '[{"type":"function","id":"c","function":{"name":"f","arguments":{"__proto__":{"x":1},"constructor":{"x":2}}}}]',
  );
  const plain = [call('c', 'f')];
  for (const line of [
    'c.arguments.__proto__.x == 1',
    'c.arguments.constructor.x == 2',
    'c is tool:f({__proto__: {x: 1}})',
    '"__proto__" in c.arguments',
  ]) {
    assert.equal(analysisOf(policy(line), polluted).errors.length, 1, line);
    assert.equal(analysisOf(policy(line), plain).errors.length, 0, line);
  }
  assert.equal(Object.hasOwn(Object.prototype, 'x'), false);
});

test('an event has only its own keys', () => {
  const events = decodeChat(parsed('[{"__proto__":{"role":"user","content":"a"}}]'));
  assert.equal(events.ok ? null : events.fault.path, '0');
});

test('rules may use such names, and none of them is there by itself', () => {
  const named = analysisOf(
    policyOf(
      'constructor := "a"\nraise "x" if:\n    (__proto__: Message)\n    __proto__.content == constructor\n',
    ),
    [{ role: 'user', content: 'a' }],
  );
  assert.deepEqual(
    named.errors.map(({ events }) => Object.entries(events)),
    [[['__proto__', '0']]],
  );
  for (const line of [
    'hasOwnProperty("a")',
    'm.constructor == 1',
    'm.content.constructor("a")',
    'input.toString == 1',
  ]) {
    const policy = loadPolicy(`raise "x" if:\n    (m: Message)\n    ${line}\n`);
    const fires = policy.ok && analysisOf(policy.value, [{ role: 'user', content: 'a' }]).errors.length > 0;
    assert.equal(fires, false, line);
  }
});

test('ids and contexts with such names are ids and contexts', () => {
  const { errors } = analysisOf(policyOf('raise "x" if:\n    (a: Message) -> (b: Message)\n'), [
    { role: 'user', content: 'a', context: '__proto__', id: '__proto__' },
    { role: 'user', content: 'b', context: 'constructor', causes: ['__proto__'] },
    { role: 'user', content: 'c', context: 'toString' },
  ]);
  assert.deepEqual(
    errors.map(({ events }) => events),
    [{ a: '0', b: '1' }],
  );
  const outputs = [
    { role: 'tool', tool_call_id: '__proto__', content: 'a' },
    { role: 'tool', tool_call_id: 'constructor', content: 'a' },
  ];
  const linked = policyOf('raise "x" if:\n    (o: ToolOutput)\n    o is tool:*\n');
  assert.deepEqual(analysisOf(linked, outputs), { errors: [], undecided: [] });
});

test('masking follows a path only where it leads, and changes nothing else', () => {
  const trace = [{ role: 'user', content: 'abc' }];
  const nowhere = [
    '0.__proto__:0-1',
    '__proto__.x:0-1',
    'constructor:0-1',
    '0.content.a:0-1',
    '0.content:9-12',
    '1:0-1',
  ];
  assert.deepEqual(mask(trace, nowhere), trace);
  assert.deepEqual(mask(trace, ['0.content:1-2']), [{ role: 'user', content: 'a*c' }]);
  assert.deepEqual(
    mask(parsed('[{"__proto__":"abc"}]'), ['0.__proto__:0-2']),
    parsed('[{"__proto__":"**c"}]'),
  );
  assert.equal(Object.hasOwn(Object.prototype, 'x'), false);
});

// ── characters that are half ones, or none ────────────────────────────────────────────────────────────────────

test('halves of characters and NULs are characters', () => {
  for (const content of ['\ud800', '\udc00', 'a\ud800b', '\ud800\ud800\udc00', '\0', 'a\0b']) {
    assert.equal(answer(content, 'any(find(".", m.content))', 'm.content in m.content'), 'yes', content);
    assert.equal(answer(content, 'm.content == m.content.strip()', 'len(m.content) > 0'), 'yes', content);
  }
  const { errors } = analysisOf(aboutMessages('"b" in m.content'), [
    { role: 'user', content: 'a\ud800b\0b' },
  ]);
  assert.deepEqual(
    errors.map(({ ranges }) => ranges),
    [['0', '0.content:2-3', '0.content:4-5']],
  );
});

test('a policy with halves of characters and NULs is told where they are', () => {
  const policy = loadPolicy('raise "x" if:\n    (m: Message)\ud800\n    m.role == "a" \0\n');
  const places = policy.ok
    ? []
    : policy.fault.map(({ code, range }) => `${code} ${range?.line}:${range?.column}`);
  assert.deepEqual(places, ['POL001 2:17', 'POL001 3:19']);
});

// ── ids that lie ──────────────────────────────────────────────────────────────────────────────────────────────

test('events with one id, events that cause themselves and causes in a circle still have an order', () => {
  const flows = (trace: Json) =>
    analysisOf(policyOf('raise "x" if:\n    (a: Message) -> (b: Message)\n'), trace).errors.map(
      ({ events }) => `${events.a} ${events.b}`,
    );
  const say = (id: string, context: string, ...causes: readonly string[]) => ({
    ...{ role: 'user', content: 'a', id, context },
    ...(causes.length > 0 ? { causes } : {}),
  });
  assert.deepEqual(flows([say('e', 'one'), say('e', 'one')]), ['0 1']);
  assert.deepEqual(flows([say('e', 'one', 'e')]), []);
  assert.deepEqual(flows([say('a', 'one', 'b'), say('b', 'two', 'a')]), ['0 1']);
  assert.deepEqual(flows([say('a', 'one'), say('b', 'two')]), []);
});

test('what is no JSON is a fault of the trace, not of the program', () => {
  const inputs: readonly unknown[] = [
    undefined,
    null,
    5,
    'x',
    [undefined],
    [() => 1],
    [Symbol('a')],
    [5n],
    [new Map()],
    [{ role: 'user', content: () => 1 }],
    [{ role: Symbol('x') }],
    [[1]],
    [{ tools: [null] }],
    [{ tools: {} }],
    [{ type: null }],
    new Array(3),
  ];
  for (const [index, input] of inputs.entries()) {
    assert.equal(analyze(aboutMessages('m.role == "user"'), input).ok, false, `input ${index}`);
  }
});
