import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Question } from '@cordon/core';
import { ExplainingMonitor } from '@cordon/policy-tools';
import {
  awaiting,
  defineDetector,
  loadPolicy,
  noAnswer,
  type Policy,
  type TraceEvent,
} from '../../src/index.ts';

/** `is_bad(x)`: what is in `known` for the text; else it waits. */
function policyOf(known: Map<string, boolean>, body: string): Policy {
  const detectors = [
    defineDetector({
      name: 'is_bad',
      run: ({ texts }) => {
        const text = texts.join();
        const answer = known.get(text);
        return answer ?? awaiting({ service: 'llm', digest: text, input: { prompt: text } });
      },
    }),
    defineDetector({ name: 'never', run: () => noAnswer('never') }),
  ];
  const policy = loadPolicy(
    `from invariant import count\nfrom cordon.detectors import is_bad, never\nraise "bad" if:\n${body}`,
    {
      detectors,
    },
  );
  assert.ok(policy.ok, JSON.stringify(policy));
  return policy.value;
}

function output(id: string, content: string): TraceEvent {
  return {
    id,
    context: 'c',
    app: null,
    causes: [],
    type: 'ToolOutput',
    role: 'tool',
    callId: id,
    content,
    structured: null,
    isError: false,
    label: { integrity: 'untrusted', confidentiality: 'private' },
  };
}

const CALL: TraceEvent = {
  id: 'call',
  context: 'c',
  app: null,
  causes: [],
  type: 'ToolCall',
  callId: 'call',
  kind: 'function',
  name: 'send',
  arguments: { to: 'ada', and: 'bob' },
  irreversible: true,
};

function asked(monitor: ExplainingMonitor): readonly string[] {
  const awaited = new Map<string, Question>();
  monitor.decide([CALL], awaited);
  return [...awaited.keys()].sort();
}

const AFTER = `    (out: ToolOutput)
    (call: ToolCall)
    out -> call
    call is tool:send
    is_bad(out)`;

for (const [second, verdict] of [
  [true, 'deny'],
  [false, 'allow'],
] as const) {
  test(`what was open when it came is looked at again: of two outputs the second is ${second ? 'bad' : 'fine'}`, () => {
    const known = new Map<string, boolean>();
    const monitor = new ExplainingMonitor(policyOf(known, AFTER));
    monitor.append([output('o1', 'one')]);
    monitor.append([output('o2', 'two')]);
    assert.equal(monitor.decide([CALL]).verdict, 'deny');
    assert.deepEqual(asked(monitor), ['one', 'two']);
    known.set('one', false);
    assert.equal(monitor.decide([CALL]).verdict, 'deny');
    assert.deepEqual(asked(monitor), ['two']);
    known.set('two', second);
    assert.equal(monitor.decide([CALL]).verdict, verdict);
    assert.deepEqual(asked(monitor), []);
  });
}

test('an answer counts in a predicate, a comprehension and a count, too', () => {
  const bodies = [
    '    (call: ToolCall)\n    any([is_bad(v) for v in call.arguments.values()])',
    '    (call: ToolCall)\n    bad_call(call)\nbad_call(c: ToolCall) :=\n    is_bad(c.arguments.to)\n',
    '    (call: ToolCall)\n    count(min=1):\n        (out: ToolOutput)\n        is_bad(out)',
  ];
  for (const [index, body] of bodies.entries()) {
    const known = new Map<string, boolean>();
    const monitor = new ExplainingMonitor(policyOf(known, body));
    monitor.append([output('o1', 'one')]);
    const questions = [['ada', 'bob'], ['ada'], ['one']][index] ?? [];
    assert.deepEqual(asked(monitor), questions);
    for (const question of questions) known.set(question, false);
    assert.equal(monitor.decide([CALL]).verdict, 'allow', body);
    known.set(questions.at(-1) ?? '', true);
    assert.equal(monitor.decide([CALL]).verdict, 'deny', body);
  }
});

test('a line that no answer helps does not keep another from being asked, which may refute', () => {
  const known = new Map<string, boolean>();
  const body = '    (call: ToolCall)\n    never(call)\n    is_bad(call.arguments.to)';
  const monitor = new ExplainingMonitor(policyOf(known, body));
  assert.deepEqual(asked(monitor), ['ada']);
  known.set('ada', false);
  assert.equal(monitor.decide([CALL]).verdict, 'allow');
  known.set('ada', true);
  assert.equal(monitor.decide([CALL]).verdict, 'deny');
});
