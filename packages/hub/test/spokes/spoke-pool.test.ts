import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { DEFAULT_TURN_LIMITS, DEFAULT_WARM_LIMITS, failed, fault, type WarmLimits } from '@cordon/core';
import { launcherOf, READY, type SpokeEnd } from '@cordon/testkit/hub/spoke.ts';
import { SpokePool } from '../../src/spokes/spoke-pool.ts';
import { settled, stoppedTime, until } from '../fixture/time.ts';

/** The pause before the pool is filled, and a little. */
const REFILL_MS = 110;

function poolFor(t: TestContext, warm: Partial<WarmLimits> = {}, isBroken = false) {
  const loops: (SpokeEnd & { isKilled: boolean })[] = [];
  const honest = launcherOf((end) => {
    const loop = { ...end, isKilled: false };
    end.onEnd(() => {
      loop.isKilled = true;
    });
    loops.push(loop);
    end.send(READY);
  });
  let launched = 0;
  const pool = new SpokePool(
    {
      launch: async (signal) => {
        launched++;
        return isBroken ? failed(fault('spoke-unavailable', 'no')) : honest.launch(signal);
      },
    },
    DEFAULT_TURN_LIMITS,
    { ...DEFAULT_WARM_LIMITS, ...warm },
  );
  t.after(() => pool.close());
  return { pool, loops, launched: () => launched };
}

test('the pool fills to its size and no further, and is not filled before the answer has been sent', async (t) => {
  const pass = stoppedTime(t);
  const { pool, launched } = poolFor(t, { loops: 3 });
  pool.fill();
  await pass(90);
  assert.equal(launched(), 0);
  await pass(10);
  await until(() => launched() === 3);
  pool.fill();
  await pass(REFILL_MS);
  assert.equal(launched(), 3);
});

test('a loop is handed out once: what it has seen ends with it', async (t) => {
  const pass = stoppedTime(t);
  const { pool, loops, launched } = poolFor(t, { loops: 2 });
  pool.fill();
  await pass(REFILL_MS);
  await until(() => launched() === 2);
  const links = [await pool.take(), await pool.take(), await pool.take()];
  assert.equal(new Set(links.map((link) => link.ok && link.value)).size, 3);
  assert.equal(launched(), 3);
  for (const link of links) if (link.ok) pool.release(link.value);
  await until(() => loops.every(({ isKilled }) => isKilled));
});

test('a loop that died while it waited is passed over', async (t) => {
  const pass = stoppedTime(t);
  const { pool, loops, launched } = poolFor(t, { loops: 2 });
  pool.fill();
  await pass(REFILL_MS);
  await until(() => launched() === 2);
  loops[0]?.kill();
  await settled();
  const taken = await pool.take();
  assert.equal(taken.ok && taken.value.isOver, false);
  assert.equal(launched(), 2);
});

test('a loop that is taken while it starts, and dies then, is passed over', async (t) => {
  let launched = 0;
  const starting: SpokeEnd[] = [];
  const launcher = launcherOf((end) => {
    launched++;
    if (launched === 1) starting.push(end);
    else end.send(READY);
  });
  const pool = new SpokePool(launcher, DEFAULT_TURN_LIMITS, DEFAULT_WARM_LIMITS);
  t.after(() => pool.close());
  pool.warm();
  await until(() => starting.length === 1);
  const taking = pool.take();
  await settled();
  starting[0]?.kill();
  const taken = await taking;
  assert.equal(taken.ok && taken.value.isOver, false);
  assert.equal(launched, 2);
});

test('a loop that nobody needs is ended', async (t) => {
  const pass = stoppedTime(t);
  const { pool, loops, launched } = poolFor(t, { loops: 1, idleSeconds: 0.05 });
  pool.warm();
  await pass(40);
  assert.equal(loops[0]?.isKilled, false);
  await pass(10);
  await until(() => loops[0]?.isKilled === true);
  const taken = await pool.take();
  assert.equal(taken.ok && taken.value.isOver, false);
  assert.equal(launched(), 2);
});

test('loops that cannot be started are not tried in a loop', async (t) => {
  const pass = stoppedTime(t);
  const { pool, launched } = poolFor(t, { loops: 3 }, true);
  pool.fill();
  await pass(300);
  assert.equal(launched(), 1);
  assert.equal((await pool.take()).ok, false);
});

test('the end of the session ends the loops that wait', async (t) => {
  const pass = stoppedTime(t);
  const { pool, loops, launched } = poolFor(t, { loops: 2 });
  pool.fill();
  await pass(REFILL_MS);
  await until(() => launched() === 2);
  pool.close();
  await until(() => loops.every(({ isKilled }) => isKilled));
  pool.fill();
  pool.warm();
  await pass(REFILL_MS);
  assert.equal(launched(), 2);
});
