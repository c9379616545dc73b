/** What the hub takes for an answer of a model, and processes that cannot be started. */

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { type Fault, failed, fault, type Json } from '@cordon/core';
import { HERE } from '@cordon/dialler';
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
  const broker = openBroker({ sandbox, dial: HERE.dial, codeRoot: '/nowhere', times: { firstWaitMs: 1 } });
  const model = broker.provider('local', accessTo({ kind: 'openai', key: 'k' }));
  const answer = await model.complete(ask('hello'), { signal: never() });
  assert.equal(!answer.ok && answer.fault.kind, 'unavailable');
  await broker.close();
});

test('a sandbox that throws is one that does not start, and is tried again', async () => {
  let tries = 0;
  const sandbox = {
    probe: async () => ({ ready: false, layers: [], absent: [], cached: false }),
    spawn: async () => {
      if (++tries === 1) throw new Error('no memory');
      return failed(fault('sandbox-unavailable', 'it died'));
    },
  };
  const broker = openBroker({ sandbox, dial: HERE.dial, codeRoot: CODE_ROOT, times: { firstWaitMs: 1 } });
  const model = broker.provider('local', accessTo({ kind: 'openai', key: 'k' }));
  for (const words of [/the process could not be started/, /it died/]) {
    const answer = await model.complete(ask('hello'), { signal: never() });
    assert.match(answer.ok ? '' : answer.fault.message, words);
  }
  await broker.close();
});

test('a broker that is closed starts no process, and one that is open does', async () => {
  let tries = 0;
  const sandbox = {
    probe: async () => ({ ready: false, layers: [], absent: [], cached: false }),
    spawn: async () => {
      tries++;
      return failed(fault('sandbox-unavailable', 'it died'));
    },
  };
  const broker = openBroker({ sandbox, dial: HERE.dial, codeRoot: CODE_ROOT });
  const access = accessTo({ kind: 'openai', key: 'k' });
  for (const name of ['local', 'other']) {
    const answer = await broker.provider(name, access).complete(ask('hello'), { signal: never() });
    assert.equal(answer.ok, false);
    await broker.close();
  }
  assert.equal(tries, 1);
});

test('a program waits for a process that is started later, though nothing else keeps it', () => {
  const asking = `import { openBroker } from '@cordon/broker';
    const fault = { kind: 'sandbox-unavailable', message: 'it died' };
    const sandbox = { spawn: async () => ({ ok: false, fault }) };
    const times = { firstWaitMs: 50 };
    const dial = async () => { throw new Error('dialled'); };
    const broker = openBroker({ sandbox, dial, codeRoot: ${JSON.stringify(CODE_ROOT)}, times });
    const access = { settings: {}, target: { host: '127.0.0.1', port: 1 }, callMs: 1_000 };
    const model = broker.provider('local', access);
    const { signal } = new AbortController();
    for (const n of [1, 2]) console.log(n, (await model.complete({}, { signal })).ok);
    await broker.close();`;
  const { stdout, status } = spawnSync(process.execPath, ['--input-type=module', '-e', asking], {
    cwd: import.meta.dirname,
    encoding: 'utf8',
    timeout: 300_000,
  });
  assert.deepEqual([stdout, status], ['1 false\n2 false\n', 0]);
});

test('a process that dies again and again is started later each time', async () => {
  const sandbox = {
    probe: async () => ({ ready: false, layers: [], absent: [], cached: false }),
    spawn: async () => failed(fault('sandbox-unavailable', 'it died')),
  };
  const broker = openBroker({ sandbox, dial: HERE.dial, codeRoot: CODE_ROOT, times: { firstWaitMs: 50 } });
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
