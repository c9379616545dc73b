import assert from 'node:assert/strict';
import { test } from 'node:test';
import { failed, ok, type RetryLimits } from '@cordon/core';
import fc from 'fast-check';
import { failure } from '../../src/transport/failure.ts';
import { requestedWait, sleep, withRetries } from '../../src/transport/retry.ts';
import '../../../../tools/seed.ts';

const LIMITS: RetryLimits = { attempts: 6, firstWaitMs: 100, longestWaitMs: 500, callSeconds: 10 };
const PASSING = failure('unavailable', 'provider `p` answered 500', { passing: true });
const never = () => new AbortController().signal;

/** Time passes only in waits, and in attempts by `attemptMs`. */
function virtual(random: number, attemptMs = 0) {
  let now = 0;
  const waits: number[] = [];
  return {
    waits,
    pass: () => {
      now += attemptMs;
    },
    parts: {
      random: () => random,
      clock: () => now,
      sleep: async (ms: number) => {
        waits.push(ms);
        now += ms;
      },
      deadline: never,
    },
  };
}

for (const [random, waits] of [
  [0, [50, 100, 200, 250, 250]],
  [0.5, [75, 150, 300, 375, 375]],
  [1, [100, 200, 400, 500, 500]],
] as const) {
  test(`waits double up to the longest; chance ${random} gives ${waits.join(', ')} ms`, async () => {
    const time = virtual(random);
    const result = await withRetries('p', async () => failed(PASSING), LIMITS, time.parts, never());
    assert.deepEqual(result, {
      ok: false,
      fault: { kind: 'unavailable', message: 'provider `p` answered 500', attempts: 6 },
    });
    assert.deepEqual(time.waits, waits);
  });
}

test('a success ends it, whatever came before', async () => {
  let attempts = 0;
  const time = virtual(1);
  const once = async () => (++attempts < 3 ? failed(PASSING) : ok('answer'));
  assert.deepEqual(await withRetries('p', once, LIMITS, time.parts, never()), { ok: true, value: 'answer' });
  assert.deepEqual(time.waits, [100, 200]);
});

test('a wait that the provider asks for is a lower bound, not an upper one', async () => {
  const asked = [300, 10];
  const time = virtual(1);
  let attempts = 0;
  const once = async () => failed({ ...PASSING, waitMs: asked[attempts++] ?? null });
  await withRetries('p', once, { ...LIMITS, attempts: 3 }, time.parts, never());
  assert.deepEqual(time.waits, [300, 200]);
});

test('no wait is begun that would outlast the time limit', async () => {
  const time = virtual(1, 4900);
  const once = async () => {
    time.pass();
    return failed(PASSING);
  };
  const result = await withRetries('p', once, LIMITS, time.parts, never());
  assert.deepEqual(!result.ok && [result.fault.kind, result.fault.attempts], ['unavailable', 2]);
  assert.deepEqual(time.waits, [100]);
});

test('a time limit that strikes in a later attempt says what failed before', async () => {
  const late = new AbortController();
  const time = virtual(1);
  let attempts = 0;
  const once = async () => {
    if (++attempts === 2) late.abort();
    return failed(PASSING);
  };
  const parts = { ...time.parts, deadline: () => late.signal };
  const result = await withRetries('p', once, LIMITS, parts, never());
  assert.equal(
    !result.ok && result.fault.message,
    'provider `p` did not finish its answer within 10 s; before that, provider `p` answered 500',
  );
});

test('an answer that comes together with the cancellation is not delivered', async () => {
  const user = new AbortController();
  const once = async () => {
    user.abort();
    return ok('answer');
  };
  const result = await withRetries('p', once, LIMITS, virtual(1).parts, user.signal);
  assert.equal(!result.ok && result.fault.kind, 'cancelled');
});

test('the signal of an attempt aborts with the user and with the time limit', async () => {
  const user = new AbortController();
  const late = new AbortController();
  const seen: AbortSignal[] = [];
  const once = async (signal: AbortSignal) => {
    seen.push(signal);
    return ok(1);
  };
  const parts = { ...virtual(1).parts, deadline: () => late.signal };
  await withRetries('p', once, LIMITS, parts, user.signal);
  await withRetries('p', once, LIMITS, parts, never());
  assert.deepEqual(
    seen.map((signal) => signal.aborted),
    [false, false],
  );
  user.abort();
  assert.deepEqual(
    seen.map((signal) => signal.aborted),
    [true, false],
  );
  late.abort();
  assert.deepEqual(
    seen.map((signal) => signal.aborted),
    [true, true],
  );
});

test('sleep ends early with the signal, without an error', async () => {
  const stop = new AbortController();
  const sleeping = sleep(1_000_000, stop.signal);
  stop.abort();
  assert.equal(await sleeping, undefined);
  assert.equal(await sleep(1_000_000, AbortSignal.abort()), undefined);
});

const NOW = Date.parse('2026-01-01T00:00:00Z');
for (const [headers, expected] of [
  [{}, null],
  [{ 'retry-after': '2' }, 2000],
  [{ 'retry-after': '0' }, 0],
  [{ 'retry-after': '1.5' }, 1500],
  [{ 'retry-after': 'Thu, 01 Jan 2026 00:00:30 GMT' }, 30_000],
  [{ 'retry-after': 'Wed, 31 Dec 2025 00:00:00 GMT' }, 0],
  [{ 'retry-after-ms': '250', 'retry-after': '9' }, 250],
  [{ 'retry-after-ms': 'soon', 'retry-after': '9' }, 9000],
  [{ 'retry-after': '-5' }, null],
  [{ 'retry-after': '1e999' }, null],
  [{ 'retry-after': 'Infinity' }, null],
  [{ 'retry-after': 'tomorrow' }, null],
  [{ 'retry-after': '' }, null],
] as const) {
  test(`${JSON.stringify(headers)} asks to wait ${expected} ms`, () => {
    assert.equal(requestedWait(new Headers(headers), NOW), expected);
  });
}

test('whatever a server writes, the wait is none or a finite number that is not negative', () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[ -~]*$/), (text) => {
      const waitMs = requestedWait(new Headers({ 'retry-after': text }), NOW);
      assert.ok(waitMs === null || (Number.isFinite(waitMs) && waitMs >= 0));
    }),
  );
});
