import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadPolicy, type Policy, type TraceEvent } from '../src/index.ts';

function policyOf(text: string): Policy {
  const policy = loadPolicy(text);
  assert.ok(policy.ok);
  return policy.value;
}

function call(name: string, args = {}): TraceEvent {
  return { type: 'ToolCall', callId: null, kind: 'function', name, arguments: args };
}

test('a rule remembers only what passes the conditions on one variable', () => {
  const policy = policyOf(
    'raise "x" if:\n    (a: ToolCall) -> (b: ToolCall)\n    a is tool:read\n    b is tool:send\n',
  );
  const monitor = policy.monitor();
  for (let index = 0; index < 100; index++) monitor.append([call('list')]);
  assert.equal(monitor.size, 0);
  monitor.append([call('read')]);
  assert.equal(monitor.size, 1);
});

/** How many candidates a decision looks at: reads of the arguments of the remembered calls. */
function readsOf(remembered: number, isFlow: boolean): number {
  const flow = isFlow ? '(a: ToolCall) -> (b: ToolCall)' : '(a: ToolCall)\n    (b: ToolCall)';
  const text = `raise "x" if:\n    ${flow}\n    a is tool:read\n    b is tool:send\n    a.arguments.x != b.arguments.y\n`;
  const monitor = policyOf(text).monitor();
  let reads = 0;
  for (let index = 0; index < remembered; index++) {
    const args = {
      get x() {
        reads++;
        return index;
      },
    };
    monitor.append([call('read', args)]);
  }
  reads = 0;
  assert.equal(monitor.foresee([call('send', { y: -1 })]).length, 1);
  return reads;
}

test('the work of a decision does not grow with the trace where the first candidate violates', () => {
  assert.deepEqual(
    [10, 20, 40].map((size) => readsOf(size, true)),
    [1, 1, 1],
  );
  assert.deepEqual(
    [10, 20, 40].map((size) => readsOf(size, false)),
    [1, 1, 1],
  );
});

test('events that the flow excludes are not looked at', () => {
  const text =
    'raise "x" if:\n    (a: ToolCall) -> (b: ToolCall)\n    a is tool:read\n    b is tool:send\n    a.arguments.x != b.arguments.y\n';
  const monitor = policyOf(text).monitor();
  let reads = 0;
  const args = {
    get x() {
      reads++;
      return 0;
    },
  };
  for (let index = 0; index < 50; index++) monitor.append([{ ...call('read', args), context: 'other' }]);
  reads = 0;
  assert.deepEqual(monitor.foresee([{ ...call('send', { y: 1 }), context: 'own' }]), []);
  assert.equal(reads, 0);
  assert.equal(monitor.foresee([{ ...call('send', { y: 1 }), context: 'other' }]).length, 1);
  assert.equal(reads, 1);
});

test('a rule that finds its call inside a message is asked about messages', () => {
  const policy = policyOf('raise "x" if:\n    (m: Message)\n    c := m.tool_calls[0]\n    c is tool:send\n');
  const message = (name: string) => [
    { role: 'assistant', tool_calls: [{ type: 'function', function: { name, arguments: {} } }] },
  ];
  const found = (name: string) => {
    const analysis = policy.analyze(message(name));
    return analysis.ok ? analysis.value.errors.length : null;
  };
  assert.equal(found('send'), 1);
  assert.equal(found('read'), 0);
});

test('a rule asks for its tools by alternatives and predicates', () => {
  const policy = policyOf(
    'out(c: ToolCall) := c is tool:send or c is tool:post\nraise "x" if:\n    (c: ToolCall)\n    out(c)\n',
  );
  const monitor = policy.monitor();
  assert.deepEqual(
    ['send', 'post', 'read', 'post\n'].map((name) => monitor.decide([call(name)]).verdict),
    ['deny', 'deny', 'allow', 'deny'],
  );
});

test('a cause that names a message stands for the message with its calls', () => {
  const policy = policyOf('raise "x" if:\n    (a: ToolCall) -> (b: ToolCall)\n    b is tool:send\n');
  const flows = (cause: string) => {
    const monitor = policy.monitor();
    const message: TraceEvent = {
      type: 'Message',
      role: 'assistant',
      content: null,
      id: 'delegation',
      context: 'outer',
      toolCalls: [
        {
          type: 'ToolCall',
          callId: null,
          kind: 'function',
          name: 'delegate',
          arguments: {},
          context: 'outer',
        },
      ],
    };
    const aside: TraceEvent = {
      type: 'Message',
      role: 'user',
      content: '',
      toolCalls: [],
      id: 'aside',
      context: 'outer',
    };
    monitor.append([aside, message]);
    return monitor.decide([{ ...call('send'), context: 'inner', causes: [cause] }]).verdict;
  };
  assert.equal(flows('delegation'), 'deny');
  assert.equal(flows('aside'), 'allow');
});
