/** The clock of a call, with a time of its own. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { CallClock, MOST_WAITING_MS } from '../../src/apps/call-clock.ts';

const STEP_MS = 10;

/** An app whose requests wait for a person when the test says so. */
function setting(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let now = 0;
  let askingMs = 0;
  const waiting = {
    isAsking: false,
    get askingMs() {
      return askingMs;
    },
  };
  const pass = (milliseconds: number) => {
    for (let passed = 0; passed < milliseconds; passed += STEP_MS) {
      now += STEP_MS;
      if (waiting.isAsking) askingMs += STEP_MS;
      t.mock.timers.tick(STEP_MS);
    }
  };
  const clock = (limitMs: number) => new CallClock({ limitMs, waiting, now: () => now });
  return { waiting, pass, clock };
}

test('a call is over when its own time is over', (t) => {
  const { pass, clock } = setting(t);
  const call = clock(1_000);
  pass(990);
  assert.equal(call.over.aborted, false);
  pass(10);
  assert.equal(call.over.aborted, true);
});

test('while a person is asked the clock stands still, and goes on after the answer', (t) => {
  const { waiting, pass, clock } = setting(t);
  const call = clock(1_000);
  pass(400);
  waiting.isAsking = true;
  pass(120_000);
  waiting.isAsking = false;
  pass(500);
  assert.equal(call.over.aborted, false);
  pass(200);
  assert.equal(call.over.aborted, true);
});

test('what a person was asked before the call does not lengthen it', (t) => {
  const { waiting, pass, clock } = setting(t);
  waiting.isAsking = true;
  pass(5_000);
  waiting.isAsking = false;
  const call = clock(1_000);
  pass(1_000);
  assert.equal(call.over.aborted, true);
});

test('an app that asks again and again is over after ten minutes more than its time', (t) => {
  const { waiting, pass, clock } = setting(t);
  const call = clock(1_000);
  waiting.isAsking = true;
  pass(MOST_WAITING_MS);
  assert.equal(call.over.aborted, false);
  pass(1_100);
  assert.equal(call.over.aborted, true);
});

test('a call that has ended is never over', (t) => {
  const { pass, clock } = setting(t);
  const call = clock(1_000);
  call.stop();
  pass(5_000);
  assert.equal(call.over.aborted, false);
});
