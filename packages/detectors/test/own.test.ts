import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json, JsonObject } from '@cordon/core';
import { loadPolicy, type Policy } from '@cordon/policy';
import { analyzeEvents, readTrace } from '@cordon/policy-tools';
import { type DetectorModule, defineDetectors, ownDetectors, readDeclared } from '../src/index.ts';

const CALL = { id: '1', type: 'function', function: { name: 'send', arguments: { to: 'eve', size: 7 } } };
const TRACE = [
  { role: 'user', content: 'hello' },
  { role: 'assistant', content: null, tool_calls: [CALL] },
  { role: 'tool', tool_call_id: '1', content: 'done' },
];

function loaded(text: string, detectors: ReturnType<typeof ownDetectors>['detectors']): Policy {
  const policy = loadPolicy(text, { detectors });
  assert.ok(policy.ok, JSON.stringify(policy));
  return policy.value;
}

async function analyzed(module: DetectorModule, text: string, seconds = 5) {
  const own = ownDetectors(module, { clock: () => 0, seconds });
  const policy = loaded(text, own.detectors);
  const read = readTrace(TRACE);
  assert.ok(read.ok);
  return own.judged((awaited) => analyzeEvents(policy, read.value.events, {}, awaited));
}

const RULE = `from cordon.detectors import bad
raise "bad" if:
    (call: ToolCall)
    call is tool:send
    bad(call)`;

test('a predicate gets a frozen copy of a whole event, and its answer decides', async () => {
  const got: JsonObject[] = [];
  const bad = {
    parameters: ['call'],
    evaluate: async (values: JsonObject) => {
      got.push(values);
      const { call } = values;
      return Object(call).arguments.to === 'eve';
    },
  };
  const { errors, undecided } = await analyzed(defineDetectors({ bad }), RULE);
  assert.deepEqual(
    errors.map(({ message, events }) => [message, events]),
    [['bad', { call: '1.tool_calls.0' }]],
  );
  assert.deepEqual(undecided, []);
  assert.equal(got.length, 1);
  const call = Object(got[0]?.call);
  assert.equal(call.kind, 'ToolCall');
  assert.equal(call.name, 'send');
  assert.deepEqual(call.arguments, { to: 'eve', size: 7 });
  assert.deepEqual(call.function, { kind: 'Function', name: 'send', arguments: { to: 'eve', size: 7 } });
  assert.ok(Object.isFrozen(call.arguments));
});

test('one that says no leaves the trace clean', async () => {
  const module = { bad: { parameters: ['call'], evaluate: () => false } };
  assert.deepEqual(await analyzed(module, RULE), { errors: [], undecided: [] });
});

for (const [what, evaluate] of [
  [
    'throws',
    (): Json => {
      throw new Error('secret');
    },
  ],
  ['rejects', () => Promise.reject(new Error('secret'))],
  ['answers nothing', () => undefined as unknown as Json],
  ['answers with a map', () => new Map() as unknown as Json],
  ['answers with no number', () => Number.NaN],
  [
    'changes what it was given',
    (values: JsonObject): Json => Object.assign(Object(values.call), { name: 'x' }),
  ],
  ['never answers', () => new Promise<Json>(() => undefined)],
] as const) {
  test(`one that ${what} leaves the rule undecided, without its words`, async () => {
    const { errors, undecided } = await analyzed({ bad: { parameters: ['call'], evaluate } }, RULE, 0.2);
    assert.deepEqual(errors, []);
    assert.equal(undecided.length, 1);
    assert.doesNotMatch(undecided[0]?.reason ?? '', /secret/);
  });
}

test('arguments are found by name, several elements of the trace together, and others are refused', async () => {
  const got: JsonObject[] = [];
  const module = {
    bad: { parameters: ['call', 'out', 'least'], evaluate: (values: JsonObject) => got.push(values) > 0 },
  };
  const rule = (line: string) => `from cordon.detectors import bad
raise "bad" if:
    (call: ToolCall) -> (out: ToolOutput)
    ${line}`;
  const { errors } = await analyzed(module, rule('bad(call, least=0.5, out=out)'));
  assert.equal(errors.length, 1);
  assert.deepEqual([Object(got[0]?.out).content, got[0]?.least], ['done', 0.5]);
  const { detectors } = ownDetectors(module, { clock: () => 0 });
  for (const line of ['bad(call, out, 1, 2)', 'bad(call, most=1)']) {
    const policy = loadPolicy(rule(line), { detectors });
    assert.ok(!policy.ok || policy.value.warnings.length > 0, line);
  }
});

test('the same values are asked about once, whatever else has happened meanwhile', async () => {
  let asked = 0;
  const module = { bad: { parameters: ['call'], evaluate: () => ++asked > 99 } };
  const own = ownDetectors(module, { clock: () => 0 });
  const policy = loaded(RULE, own.detectors);
  for (const trace of [TRACE, [{ role: 'user', content: 'one more' }, ...TRACE]]) {
    const read = readTrace(trace);
    assert.ok(read.ok);
    await own.judged((awaited) => analyzeEvents(policy, read.value.events, {}, awaited));
  }
  assert.equal(asked, 1);
});

test('more than fits into a question is undecided', async () => {
  const module = { bad: { parameters: ['text'], evaluate: () => false } };
  const own = ownDetectors(module, { clock: () => 0 });
  const policy = loaded(
    `from cordon.detectors import bad\nraise "bad" if:\n    (m: Message)\n    bad(m.content)`,
    own.detectors,
  );
  for (const [length, undecided] of [
    [149_000, 0],
    [151_000, 1],
  ] as const) {
    const read = readTrace([{ role: 'user', content: 'a'.repeat(length) }]);
    assert.ok(read.ok);
    const analysis = await own.judged((awaited) => analyzeEvents(policy, read.value.events, {}, awaited));
    assert.equal(analysis.undecided.length, undecided, String(length));
  }
});

test('a module declares names and parameters that rules can write', () => {
  assert.ok(readDeclared({ bad: ['call'] }).ok);
  for (const wrong of [
    null,
    {},
    { 'no-name': ['a'] },
    { bad: [] },
    { bad: ['a', 'a'] },
    { bad: [1] },
    { bad: 'a' },
    { bad: ['a b'] },
  ])
    assert.ok(!readDeclared(wrong).ok, JSON.stringify(wrong));
});
