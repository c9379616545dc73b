import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '@cordon/core';
import { loadPolicy, type TraceEvent } from '@cordon/policy';
import { ExplainingMonitor, type Explanation } from '../../src/index.ts';

function call(name: string, args: JsonObject = {}, path = name): TraceEvent {
  return { type: 'ToolCall', callId: path, kind: 'function', name, arguments: args, path };
}

function output(callId: string, content: string, path = `${callId}-output`): TraceEvent {
  return { type: 'ToolOutput', role: 'tool', callId, content, path };
}

/** Why the last of the events is not allowed. */
function explained(policy: string, events: readonly TraceEvent[], parameters: JsonObject = {}): Explanation {
  const loaded = loadPolicy(policy);
  assert.ok(loaded.ok, JSON.stringify(loaded.ok ? null : loaded.fault));
  const monitor = new ExplainingMonitor(loaded.value, parameters);
  monitor.append(events.slice(0, -1));
  const [reason] = monitor.decide(events.slice(-1)).reasons;
  assert.ok(reason);
  return reason.explanation;
}

test('a flow is told from its source to its sink, with the call behind an output', () => {
  const policy = `raise "x" if:
    (out: ToolOutput) -> (mail: ToolCall)
    out is tool:read_page
    mail is tool:send_mail({to: ".*@outside"})
`;
  const { steps, lines, change } = explained(policy, [
    call('read_page'),
    output('read_page', 'text'),
    call('list'),
    call('send_mail', { to: 'eve@outside' }),
  ]);
  assert.deepEqual(
    steps.map(({ event, role, variable, summary }) => [event, role, variable, summary]),
    [
      ['read_page', 'other', null, 'call of read_page'],
      ['read_page-output', 'source', 'out', 'output of read_page'],
      ['send_mail', 'sink', 'mail', 'call of send_mail'],
    ],
  );
  assert.deepEqual(
    lines.map(({ line, text, value }) => [line, text, value]),
    [
      [2, '(out: ToolOutput) -> (mail: ToolCall)', 'true'],
      [3, 'out is tool:read_page', 'true'],
      [4, 'mail is tool:send_mail({to: ".*@outside"})', 'true'],
    ],
  );
  assert.deepEqual(change, { kind: 'argument', text: 'the argument `to` did not match ".*@outside"' });
});

test('a line says what the evaluation found at it', () => {
  const policy = `seen(c: ToolCall) :=
    (m: Message) -> c
    "stop" in m.content
raise "x" if:
    (c: ToolCall)
    seen(c)
    "b" in c.arguments.text
`;
  const message: TraceEvent = { type: 'Message', role: 'user', content: 'stop', toolCalls: [], path: 'm' };
  const { lines, steps } = explained(policy, [message, call('write', { text: 'abc' })]);
  assert.deepEqual(
    lines.map(({ text, note }) => [text, note]),
    [
      ['seen(c)', 'found in m; `seen` holds for m'],
      ['"b" in c.arguments.text', 'found in write'],
    ],
  );
  assert.deepEqual(
    steps.map(({ event, role }) => [event, role]),
    [
      ['m', 'other'],
      ['write', 'sink'],
    ],
  );
});

test('the smallest change is the smallest there is: consent, an argument, a parameter, the flow, the tool', () => {
  const change = (policy: string, parameters: JsonObject = {}) =>
    explained(policy, [call('read'), call('send', { to: 'a', n: 3 })], parameters).change;
  assert.equal(change('ask "x" if:\n    (c: ToolCall)\n    c is tool:send\n').kind, 'consent');
  assert.deepEqual(change('raise "x" if:\n    (c: ToolCall)\n    c is tool:send\n    c.arguments.n > 2\n'), {
    kind: 'argument',
    text: '`c.arguments.n > 2` did not hold',
  });
  assert.deepEqual(
    change('raise "x" if:\n    (c: ToolCall)\n    c is tool:send\n    not (c.arguments.to in input.ok)\n', {
      ok: ['b'],
    }),
    { kind: 'parameter', text: '`c.arguments.to in input.ok` held' },
  );
  assert.deepEqual(change('raise "x" if:\n    (a: ToolCall) -> (c: ToolCall)\n    c is tool:send\n'), {
    kind: 'flow',
    text: '`c` arose in a context that `a` had not reached',
  });
  assert.deepEqual(change('raise "x" if:\n    (c: ToolCall)\n    c is tool:send\n'), {
    kind: 'tool',
    text: '`send` was not called',
  });
});

test('what could not be evaluated is the line that is shown, and what it lacked the change', () => {
  const { lines, change } = explained('raise "x" if:\n    (c: ToolCall)\n    c.arguments.n > input.limit\n', [
    call('send', { n: 3 }),
  ]);
  assert.deepEqual(lines, [
    {
      line: 3,
      text: 'c.arguments.n > input.limit',
      value: 'undecided',
      note: 'the policy parameter `limit` was not given',
    },
  ]);
  assert.deepEqual(change, { kind: 'parameter', text: 'the policy parameter `limit` was given' });
});

test('a flow through several contexts is told with the events that carried it', () => {
  const policy = `raise "x" if:
    (out: ToolOutput) -> (mail: ToolCall)
    mail is tool:send_mail
`;
  const at = (context: string, id: string, causes: readonly string[] = []) => ({
    context,
    id,
    causes,
    path: id,
  });
  const message = (role: string, where: ReturnType<typeof at>): TraceEvent => ({
    type: 'Message',
    role,
    content: '',
    toolCalls: [],
    ...where,
  });
  const { steps } = explained(policy, [
    { type: 'ToolOutput', role: 'tool', callId: null, content: 'text', ...at('reader', 'page') },
    message('assistant', at('reader', 'answer')),
    message('user', at('other', 'aside')),
    message('user', at('planner', 'received', ['answer'])),
    message('assistant', at('planner', 'asked')),
    message('user', at('mailer', 'told', ['asked'])),
    { ...call('send_mail'), ...at('mailer', 'mail') },
  ]);
  assert.deepEqual(
    steps.map(({ event, role }) => `${role} ${event}`),
    ['source page', 'way answer', 'way received', 'way asked', 'way told', 'sink mail'],
  );
});

test('where a value was found is a note of its line and a step, and the value is in neither', () => {
  const policy = 'raise "not yours" if:\n    (c: ToolCall)\n    not from_user(c.arguments.to)\n';
  const found = explained(policy, [
    call('read', {}, '1'),
    output('1', 'Write to eve@y.org', '2'),
    call('send', { to: 'eve@y.org' }, '3'),
  ]);
  assert.deepEqual(
    found.lines.map(({ line, note }) => [line, note]),
    [[3, 'found in 2 (output of read, exact)']],
  );
  assert.deepEqual(
    found.steps.map(({ event, summary }) => [event, summary]),
    [
      ['2', 'output of read'],
      ['3', 'call of send'],
    ],
  );
  assert.ok(!JSON.stringify(found).includes('eve@y.org'));
});

test('an order is told from the earlier event to the later one, and no event between them', () => {
  const policy =
    'raise "x" if:\n    (a: ToolCall) before (b: ToolCall)\n    a is tool:search\n    b is tool:*\n    not (b is tool:search)\n';
  const { steps, change } = explained(policy, [
    { ...call('search'), context: 'one' },
    { ...call('search', {}, 'again'), context: 'one' },
    { ...call('book'), context: 'two' },
  ]);
  assert.deepEqual(
    steps.map(({ event, role, variable }) => [event, role, variable]),
    [
      ['search', 'source', 'a'],
      ['book', 'sink', 'b'],
    ],
  );
  assert.deepEqual(change, { kind: 'flow', text: '`a` had not happened before `b`' });
});
