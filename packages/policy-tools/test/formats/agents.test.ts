/** Flows between agents, as they come out of recorded traces: what a rule with `->` finds, and what it must not. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '@cordon/core';
import { loadPolicy } from '@cordon/policy';
import { ExplainingMonitor, readTrace } from '../../src/index.ts';

/** Whether what `secret` put out was visible where `send` was called. */
function leaks(trace: Json): boolean {
  const policy = loadPolicy(`
raise "leak" if:
    (out: ToolOutput) -> (call: ToolCall)
    out is tool:secret
    call is tool:send
`);
  assert.ok(policy.ok);
  const read = readTrace(trace);
  assert.ok(read.ok, read.ok ? '' : JSON.stringify(read.fault));
  return new ExplainingMonitor(policy.value).decide(read.value.events).verdict === 'deny';
}

const called = (name: string, id: string, more: Readonly<Record<string, Json>> = {}) => ({
  role: 'assistant',
  content: null,
  tool_calls: [{ id, type: 'function', function: { name, arguments: {} } }],
  ...more,
});
const gave = (id: string, more: Readonly<Record<string, Json>> = {}) => ({
  role: 'tool',
  tool_call_id: id,
  content: 'x',
  ...more,
});

test('in one context order is flow', () => {
  assert.equal(leaks([called('secret', '1'), gave('1'), called('send', '2')]), true);
  assert.equal(leaks([called('send', '2'), called('secret', '1'), gave('1')]), false);
});

test('an agent that hands over passes on what it has seen, one that does not passes on nothing', () => {
  const first = [called('secret', '1', { context: 'a' }), gave('1', { context: 'a', id: 'out' })];
  const handover = { role: 'user', content: 'go on', context: 'b', causes: ['out'] };
  const alone = { role: 'user', content: 'go on', context: 'b' };
  assert.equal(leaks([...first, handover, called('send', '2', { context: 'b' })]), true);
  assert.equal(leaks([...first, alone, called('send', '2', { context: 'b' })]), false);
});

test('parallel agents do not see each other, and who joins them sees both', () => {
  const left = [called('secret', '1', { context: 'left' }), gave('1', { context: 'left', id: 'l' })];
  const right = { role: 'assistant', content: 'ready', context: 'right', id: 'r' };
  const join = { role: 'user', content: 'sum up', context: 'join', causes: ['l', 'r'] };
  assert.equal(leaks([...left, right, called('send', '2', { context: 'right' })]), false);
  assert.equal(leaks([...left, right, join, called('send', '2', { context: 'join' })]), true);
});

test('causes in a circle, causes that nobody knows, and causes of themselves end', () => {
  const circle = [
    { role: 'user', content: '1', context: 'a', id: 'x', causes: ['y'] },
    { role: 'user', content: '2', context: 'b', id: 'y', causes: ['x', 'y'] },
  ];
  const before = [called('secret', '1', { context: 'c' }), gave('1', { context: 'c' })];
  // What nobody knows may have been anything: it carries all that there was.
  assert.equal(leaks([...before, ...circle, called('send', '2', { context: 'b' })]), true);
  assert.equal(leaks([...circle, ...before, called('send', '2', { context: 'b' })]), false);
});

test('a loop carries what an earlier round has seen into the next', () => {
  const round = (n: number, causes: readonly string[]): readonly Json[] => [
    { role: 'user', content: 'again', context: `worker-${n}`, causes },
    called('read', `w${n}`, { context: `worker-${n}` }),
    gave(`w${n}`, { context: `worker-${n}`, id: `done-${n}` }),
  ];
  const secret = [
    called('secret', 's', { context: 'worker-0' }),
    gave('s', { context: 'worker-0', id: 'done-0' }),
  ];
  const send = called('send', 'z', { context: 'worker-3' });
  assert.equal(
    leaks([...secret, ...round(1, ['done-0']), ...round(2, ['done-1']), ...round(3, ['done-2']), send]),
    true,
  );
  assert.equal(
    leaks([...secret, ...round(1, []), ...round(2, ['done-1']), ...round(3, ['done-2']), send]),
    false,
  );
});

test('an output answers the newest call with its id, wherever that stands', () => {
  assert.equal(leaks([called('read', '1'), called('secret', '1'), gave('1'), called('send', '2')]), true);
  assert.equal(leaks([called('secret', '1'), called('read', '1'), gave('1'), called('send', '2')]), false);
  assert.equal(leaks([called('secret', '1'), gave('unknown'), called('send', '2')]), false);
});

test('agents that share a server exchange what they put into it', () => {
  const entry = (context: string, server: string, message: Json) => ({ context, server, message });
  const call = (name: string, id: number) => ({ jsonrpc: '2.0', id, method: 'tools/call', params: { name } });
  const result = (id: number) => ({ jsonrpc: '2.0', id, result: { content: [{ type: 'text', text: 'x' }] } });
  const secret = [entry('a', 'vault', call('secret', 1)), entry('a', 'vault', result(1))];
  const write = [entry('a', 'notes', call('write', 2)), entry('a', 'notes', result(2))];
  const read = [entry('b', 'notes', call('read', 1)), entry('b', 'notes', result(1))];
  const send = entry('b', 'mail', call('send', 1));
  assert.equal(leaks([...secret, ...write, ...read, send]), true);
  assert.equal(leaks([...secret, ...read, send]), false);
});

// ── spans ─────────────────────────────────────────────────────────────────────────────────────────────────────

const span = (
  spanId: string,
  parentSpanId: string,
  start: number,
  end: number,
  attributes: Readonly<Record<string, Json>>,
) => ({
  traceId: 't',
  spanId,
  parentSpanId,
  name: spanId,
  startTimeUnixNano: start,
  endTimeUnixNano: end,
  attributes,
});

const agent = (id: string, parent: string, start: number, end: number) =>
  span(id, parent, start, end, { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': id });

const tool = (name: string, parent: string, start: number, end: number) =>
  span(`${name}-${start}`, parent, start, end, {
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': name,
    'gen_ai.tool.call.arguments': {},
    'gen_ai.tool.call.result': 'x',
  });

test('what an agent has seen flows into the agents that it starts, and back when they end', () => {
  const down = [agent('lead', '', 1, 99), tool('secret', 'lead', 2, 3), agent('helper', 'lead', 4, 90)];
  assert.equal(leaks([...down, tool('send', 'helper', 5, 6)]), true);
  const up = [agent('lead', '', 1, 99), agent('helper', 'lead', 2, 10), tool('secret', 'helper', 3, 4)];
  assert.equal(leaks([...up, tool('send', 'lead', 20, 21)]), true);
  assert.equal(leaks([...up, tool('send', 'lead', 5, 6)]), false);
});

test('agents that run at the same time do not see each other, one after the other they do', () => {
  const first = [agent('lead', '', 1, 99), agent('left', 'lead', 2, 20), tool('secret', 'left', 3, 4)];
  assert.equal(leaks([...first, agent('right', 'lead', 5, 50), tool('send', 'right', 30, 31)]), false);
  assert.equal(leaks([...first, agent('right', 'lead', 25, 50), tool('send', 'right', 30, 31)]), true);
});

test('an agent that is called as a tool has seen the call', () => {
  const policy = loadPolicy(`
raise "asked" if:
    (ask: ToolCall) -> (call: ToolCall)
    ask is tool:ask_helper
    call is tool:send
`);
  assert.ok(policy.ok);
  const spans = (start: number) => [
    agent('lead', '', 1, 99),
    span('chat', 'lead', 2, 3, {
      'gen_ai.operation.name': 'chat',
      'gen_ai.output.messages': [
        { role: 'assistant', parts: [{ type: 'tool_call', id: 'k', name: 'ask_helper', arguments: {} }] },
      ],
    }),
    agent('helper', 'lead', start, 90),
    tool('send', 'helper', 50, 51),
  ];
  const verdictOf = (trace: Json) => {
    const read = readTrace(trace);
    assert.ok(read.ok);
    return new ExplainingMonitor(policy.value).decide(read.value.events).verdict;
  };
  assert.equal(verdictOf(spans(4)), 'deny');
  assert.equal(verdictOf(spans(2)), 'allow');
});

test('a conversation that is handed over is not told again, and its events have been seen', () => {
  const chat = (id: string, parent: string, start: number, input: readonly Json[], output: readonly Json[]) =>
    span(id, parent, start, start + 1, {
      'gen_ai.operation.name': 'chat',
      'gen_ai.input.messages': input,
      'gen_ai.output.messages': output,
    });
  const user = { role: 'user', parts: [{ type: 'text', content: 'hi' }] };
  const call = { role: 'assistant', parts: [{ type: 'tool_call', id: 'k', name: 'secret', arguments: {} }] };
  const result = { role: 'tool', parts: [{ type: 'tool_call_response', id: 'k', response: 'x' }] };
  const over = { role: 'assistant', parts: [{ type: 'text', content: 'over to b' }] };
  const trace = [
    agent('a', '', 1, 10),
    chat('a1', 'a', 2, [user], [call]),
    chat('a2', 'a', 4, [user, call, result], [over]),
    // Both agents run for themselves: only the copied messages say that b knows them.
    { ...agent('b', '', 8, 30), parentSpanId: '' },
    chat(
      'b1',
      'b',
      12,
      [user, call, result, over],
      [{ role: 'assistant', parts: [{ type: 'text', content: 'ok' }] }],
    ),
    tool('send', 'b', 20, 21),
  ];
  const read = readTrace(trace);
  assert.ok(read.ok);
  const kinds = read.value.events.map((event) => event.type).filter((type) => type !== 'Carrier');
  assert.deepEqual(kinds, [
    'Message',
    'Message',
    'ToolOutput',
    'Message',
    'Message',
    'ToolCall',
    'ToolOutput',
  ]);
  assert.equal(leaks(trace), true);
});
