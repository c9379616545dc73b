/** What the hub takes for an answer of a model, and processes that cannot be started. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Fault, failed, fault, type Json } from '@cordon/core';
import { openBroker, readResponse } from '../src/broker.ts';
import { accessTo, ask, CODE_ROOT, never } from './fixture.ts';

const GOOD = { text: 'hi', calls: [], finish: 'stop', usage: { inputTokens: 1, outputTokens: 2 } };
const CALL = { id: 'a', name: 'read', arguments: { path: '/' } };

for (const [what, answer] of [
  ['a text', GOOD],
  ['a call', { ...GOOD, text: '', calls: [CALL], finish: 'tool-calls' }],
] as const) {
  test(`${what} is an answer`, () => {
    assert.deepEqual(readResponse('local', answer), { ok: true, value: answer });
  });
}

const UNFIT: readonly (readonly [string, Json])[] = [
  ['nothing', null],
  ['tokens below zero', { ...GOOD, usage: { inputTokens: -5_000_000, outputTokens: 1 } }],
  ['tokens that are no number', { ...GOOD, usage: { inputTokens: '1', outputTokens: 1 } }],
  ['no tokens at all', { text: 'hi', calls: [], finish: 'stop' }],
  ['an unknown finish', { ...GOOD, finish: 'granted' }],
  ['arguments that are text', { ...GOOD, calls: [{ ...CALL, arguments: '{}' }] }],
  ['a member that there is not', { ...GOOD, allowed: true }],
];

for (const [what, answer] of UNFIT) {
  test(`${what} is no answer`, () => {
    const read = readResponse('local', answer);
    assert.equal(!read.ok && read.fault.kind, 'invalid-response');
  });
}

test('where nothing can be confined no provider is called, and the reason is said', async () => {
  const why: Fault = fault('sandbox-unavailable', 'bubblewrap is missing', 'install it');
  const sandbox = {
    probe: async () => ({ ready: false, layers: [], absent: [], cached: false }),
    spawn: async () => failed(why),
  };
  const broker = openBroker({ sandbox, codeRoot: '/nowhere', times: { firstWaitMs: 1 } });
  const model = broker.provider('local', accessTo({ kind: 'openai', key: 'k' }));
  const answer = await model.complete(ask('hello'), { signal: never() });
  assert.equal(!answer.ok && answer.fault.kind, 'unavailable');
  await broker.close();
});

test('a process that dies again and again is started later each time', async () => {
  const sandbox = {
    probe: async () => ({ ready: false, layers: [], absent: [], cached: false }),
    spawn: async () => failed(fault('sandbox-unavailable', 'it died')),
  };
  const broker = openBroker({ sandbox, codeRoot: CODE_ROOT, times: { firstWaitMs: 50 } });
  const model = broker.provider('local', accessTo({ kind: 'openai', key: 'k' }));
  const began = performance.now();
  for (let call = 1; call <= 4; call++) {
    const answer = await model.complete(ask('hello'), { signal: never() });
    assert.match(answer.ok ? '' : answer.fault.message, /it died/);
  }
  // Before the second, third and fourth: a timer may be a millisecond early.
  assert.ok(performance.now() - began >= 50 + 100 + 200 - 3);
  await broker.close();
});
