/** Starts, ends and pauses of a helper process, with a real process that is not confined. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Duplex } from 'node:stream';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { ok } from '@cordon/core';
import { HelperProcess } from '../../src/helper/helper-process.ts';
import type { ConfinedProcess } from '../../src/spec/backend.ts';

const ECHO = 'process.stdin.pipe(process.stdout)';
/** Answers the first line, and ends. */
const ONCE = "process.stdin.once('data', (line) => process.stdout.write(line, () => process.exit(0)))";

function helperOf(source: string, first: number, { idleMs = 60_000, startMs = 0 } = {}) {
  const started: ConfinedProcess[] = [];
  const helper = new HelperProcess({
    spawn: async () => {
      await wait(startMs);
      const child = spawn(process.execPath, ['-e', source], { stdio: ['pipe', 'pipe', 'inherit'] });
      const exited = once(child, 'exit').then(() => ({ message: 'it ended' }));
      const link = Duplex.from({ writable: child.stdin, readable: child.stdout });
      const made = { link, exited, kill: () => child.kill('SIGKILL') };
      // INVARIANT: a helper uses these three members and no others.
      started.push(made as unknown as ConfinedProcess);
      return ok(made as unknown as ConfinedProcess);
    },
    open: (life) => {
      const said = Promise.withResolvers<string>();
      return {
        isBusy: () => false,
        ask: () => {
          life.write('question\n');
          return said.promise;
        },
        hear: (line) => {
          life.hasAnswered = true;
          said.resolve(line);
          return null;
        },
        over: (why) => said.resolve(why),
      };
    },
    lineBytes: 1_000,
    idleMs,
    pauseMs: { first, longest: 60_000 },
  });
  const ask = async () => {
    const peer = await helper.peer();
    return peer.ok ? peer.value.ask() : peer.fault.message;
  };
  return { helper, ask, started };
}

// Attack: a process that ends after each answer makes the hub start processes without a pause.
test('a process that ends after each answer is started again only after a pause', async () => {
  const { helper, ask, started } = helperOf(ONCE, 300);
  const began = performance.now();
  for (let asked = 0; asked < 3; asked++) {
    assert.equal(await ask(), 'question');
    await started.at(-1)?.exited;
  }
  await helper.close();
  assert.equal(started.length, 3);
  assert.ok(performance.now() - began >= 600);
});

test('a process that was ended because it was idle is started again at once', async () => {
  const { helper, ask, started } = helperOf(ECHO, 600_000);
  assert.equal(await ask(), 'question');
  helper.rest();
  assert.equal(await ask(), 'question');
  assert.equal(started.length, 2);
  await helper.close();
});

test('a process whose start takes longer than the idle time is still ended when it is idle', {
  timeout: 60_000,
}, async () => {
  const { helper, ask, started } = helperOf('setInterval(() => {}, 1000)', 1, { idleMs: 50, startMs: 300 });
  assert.equal(await ask(), 'it was idle');
  assert.equal((await started[0]?.exited)?.message, 'it ended');
  await helper.close();
});

test('once it is closed nothing is started, also for who waits', async () => {
  const { helper, ask, started } = helperOf('process.exit(0)', 600_000);
  assert.equal(await ask(), 'it ended');
  const waiting = ask();
  await helper.close();
  assert.equal(await waiting, 'the hub is ending');
  assert.equal(await ask(), 'the hub is ending');
  assert.equal(started.length, 1);
});
