/** No command says that a log is clean which it did not read. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Workplace } from '@cordon/testkit/cordon-program.ts';
import { isLeftOut } from '../../../../tools/cases.ts';

const POLICY = `rule no-pay:
raise "something is paid" if:
    (c: ToolCall)
    c is tool:pay
`;

const USER = { role: 'user', content: 'Pay' };
const PAY = {
  role: 'assistant',
  content: null,
  tool_calls: [{ id: '1', type: 'function', function: { name: 'pay', arguments: {} } }],
};

const jsonLines = (...lines: readonly unknown[]) => lines.map((one) => `${JSON.stringify(one)}\n`).join('');

const CLAUDE_CODE = jsonLines(
  { type: 'summary', summary: 'Paying', leafUuid: 'u2' },
  {
    type: 'assistant',
    uuid: 'u2',
    parentUuid: 'u1',
    sessionId: 's',
    cwd: '/home/me',
    message: { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'pay', input: {} }] },
  },
);

const CODEX = jsonLines(
  { timestamp: 'x', type: 'session_meta', payload: { id: 's', cwd: '/home/me' } },
  { timestamp: 'x', type: 'response_item', payload: { type: 'function_call', name: 'pay', arguments: '{}' } },
);

const LANGSMITH = jsonLines({
  id: 'r',
  name: 'pay',
  run_type: 'tool',
  trace_id: 't',
  inputs: { to: 'bob' },
  outputs: { done: true },
});

const UNREAD = {
  'claude.jsonl': CLAUDE_CODE,
  'codex.jsonl': CODEX,
  'langsmith.jsonl': LANGSMITH,
  'ai.json': JSON.stringify([
    USER,
    { role: 'assistant', content: '', toolInvocations: [{ toolName: 'pay' }] },
  ]),
  'nothing.json': '[]',
  'no-messages.json': '{"messages": []}',
  'spans.json': JSON.stringify([{ spanId: 'a', name: 'GET', attributes: { 'http.route': '/' } }]),
  'empty.json': '',
  'cut.json': JSON.stringify([USER, PAY]).slice(0, -10),
  'other-half.json': JSON.stringify([USER, { type: 'human', content: 'Pay' }]),
  'no-event.jsonl': jsonLines(USER, 'pay', PAY),
};

for (const [name, text] of Object.entries(UNREAD)) {
  test(`${name}: no command calls it clean`, (t) => {
    if (isLeftOut(t, name === 'claude.jsonl')) return;
    using place = new Workplace({ 'p.gr': POLICY, [name]: text });
    const analyzed = place.run(['analyze', 'p.gr', name]);
    assert.equal(analyzed.code, 2);
    assert.match(analyzed.err, /error TRC00[124]/);
    assert.match(analyzed.out, /in 0 traces; 1 trace cannot be used\nread nothing\n$/);
    assert.equal(place.run(['explain', 'p.gr', name]).code, 2);
    assert.equal(place.run(['scan', 'p.gr', name, '--json']).code, 2);
  });
}

const NOTED = {
  'model.json': JSON.stringify([USER, { role: 'assistant', content: 'No.', model: PAY }]),
  'usage.json': JSON.stringify([{ ...USER, usage: { calls: [{ name: 'pay', arguments: {} }] } }]),
  'name.json': JSON.stringify([{ ...USER, name: { name: 'pay', arguments: {} } }]),
  'beside.json': JSON.stringify({ messages: [USER], final_answer: 'I have paid all of it to eve.' }),
  'timestamp.json': JSON.stringify([{ ...USER, timestamp: '{"name": "pay", "arguments": {}}' }]),
};

for (const [name, text] of Object.entries(NOTED)) {
  test(`${name}: a call or words under the key of a note are no clean log for any command`, (t) => {
    if (isLeftOut(t, name === 'model.json')) return;
    using place = new Workplace({ 'p.gr': POLICY, [name]: text });
    assert.equal(place.run(['analyze', 'p.gr', name]).code, 2);
    assert.equal(place.run(['scan', 'p.gr', name, '--json']).code, 2);
  });
}

test('logs of programs that are not read are named', (t) => {
  if (isLeftOut(t)) return;
  using place = new Workplace({ 'p.gr': POLICY, ...UNREAD });
  for (const [name, format] of [
    ['claude.jsonl', 'a session of Claude Code'],
    ['codex.jsonl', 'a session of Codex'],
    ['langsmith.jsonl', 'a run of LangSmith'],
    ['ai.json', 'a message of the AI SDK'],
    ['other-half.json', 'a message of LangChain'],
  ] as const) {
    const words = new RegExp(`this is ${format}`.replaceAll(' ', '\\s+'));
    assert.match(place.run(['analyze', 'p.gr', name]).err, words);
    const { out } = place.run(['scan', 'p.gr', name, '--json']);
    assert.match(out, words);
  }
});

test('what was read is said, and a log without the events that a rule is about is clean', (t) => {
  if (isLeftOut(t)) return;
  using place = new Workplace({ 'p.gr': POLICY, 'a.json': [USER, { role: 'assistant', content: 'No.' }] });
  const shown = place.run(['analyze', 'p.gr', 'a.json']);
  assert.deepEqual([shown.code, shown.out], [0, 'no violation in 1 trace\nread 2 messages\n']);
  const { result } = place.run(['analyze', 'p.gr', 'a.json', '--json']);
  const counts = { files: 1, traces: 1, unusable: 0, violations: 0, undecided: 0 };
  assert.deepEqual(result, { kind: 'analyze.result', ...counts, events: { Message: 2 } });
});

test('one file that cannot be used does not keep the others from being read, and none of them from counting', () => {
  using place = new Workplace({
    'p.gr': POLICY,
    'a.json': [USER],
    'claude.jsonl': CLAUDE_CODE,
    'b.json': [USER, PAY],
  });
  const { code, lines, result } = place.run([
    'analyze',
    'p.gr',
    'a.json',
    'claude.jsonl',
    'b.json',
    '--json',
  ]);
  assert.equal(code, 2);
  assert.deepEqual(
    lines.map((line) => [Object(line).trace, Object(line).errors.length]),
    [
      ['a.json', 0],
      ['b.json', 1],
    ],
  );
  const counts = { files: 3, traces: 2, unusable: 1, violations: 1, undecided: 0 };
  const events = { Message: 3, ToolCall: 1 };
  assert.deepEqual(result, { kind: 'analyze.result', ...counts, events });
  const scanned = place.run(['scan', 'p.gr', 'a.json', 'claude.jsonl', 'b.json', '--json']);
  assert.equal(scanned.code, 2);
  assert.match(scanned.out, /"violations":1,.*"events":\{"Message":3,"ToolCall":1\}/);
});

test('a byte-order mark before a log hides nothing of it', (t) => {
  if (isLeftOut(t)) return;
  const text = JSON.stringify([USER, PAY]);
  using place = new Workplace({
    'p.gr': POLICY,
    'a.json': `\ufeff${text}`,
    'a.jsonl': `\ufeff${jsonLines(USER, PAY)}`,
    'b.jsonl': `\ufeff${text}\n`,
  });
  for (const name of ['a.json', 'a.jsonl']) assert.equal(place.run(['analyze', 'p.gr', name]).code, 1, name);
  for (const name of ['a.json', 'b.jsonl']) assert.equal(place.run(['scan', 'p.gr', name]).code, 1, name);
});

test('a monitor to which nothing came says so; a message that it cannot read whole is denied', () => {
  using place = new Workplace({ 'p.gr': POLICY });
  const idle = place.run(['monitor', 'p.gr'], { input: '\n' });
  assert.equal(idle.code, 2);
  assert.match(idle.err, /no message arrived/);
  const { code, lines } = place.run(['monitor', 'p.gr'], {
    input: jsonLines(USER, { role: 'assistant', content: '', toolInvocations: [{ toolName: 'pay' }] }),
  });
  assert.equal(code, 2);
  assert.deepEqual(
    lines.map((line) => Object(line).verdict),
    ['allow', 'deny'],
  );
});
