import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadPolicy, type Policy, type TraceEvent } from '@cordon/policy';
import { evaluate, evaluatePending } from '../src/index.ts';

function policyOf(text: string): Policy {
  const policy = loadPolicy(text);
  assert.ok(policy.ok);
  return policy.value;
}

const call = (id: string, name: string, args = {}): TraceEvent => ({
  type: 'ToolCall',
  id,
  callId: null,
  kind: 'function',
  name,
  arguments: args,
});

const FLOW = policyOf(
  'raise "x" if:\n    (a: ToolCall) -> (b: ToolCall)\n    a is tool:read\n    b is tool:send\n',
);

test('every assignment that satisfies all lines is found', () => {
  const events = [call('1', 'read'), call('2', 'send'), call('3', 'read'), call('4', 'send')];
  assert.deepEqual(
    evaluate(FLOW, events).map((outcome) => outcome.events),
    [
      ['1', '2'],
      ['1', '4'],
      ['3', '4'],
    ],
  );
});

test('pending events bring about what holds a pending event', () => {
  const past = [call('1', 'read'), call('2', 'send')];
  assert.deepEqual(
    evaluatePending(FLOW, past, [call('3', 'send')]).map((outcome) => outcome.events),
    [['1', '3']],
  );
  assert.deepEqual(evaluatePending(FLOW, past, [call('3', 'list')]), []);
});

test('a line that cannot be evaluated leaves an assignment open, unless another refutes it', () => {
  const policy = policyOf(
    'raise "x" if:\n    (a: ToolCall)\n    a.arguments.to == "x"\n    a is tool:send\n',
  );
  assert.deepEqual(
    evaluate(policy, [call('1', 'send'), call('2', 'read')]).map(({ status, events }) => ({
      status,
      events,
    })),
    [{ status: 'open', events: ['1'] }],
  );
});
