import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEFAULT_APP_LIMITS } from '@cordon/core';
import type { Excess } from '../../src/spec/backend.ts';
import { readUnits } from '../../src/watch/watchdog.ts';
import { Watchers } from '../../src/watch/watchers.ts';

/** A sandbox that is this very process: nothing of it is beyond any limit. */
const HARMLESS = {
  outer: { pid: process.pid, started: 'never' },
  root: { pid: process.pid, started: 'never' },
  hasPidNamespace: false,
  hasNetworkNamespace: false,
  hasTmp: false,
  limits: { ...DEFAULT_APP_LIMITS, memoryMiB: 60_000, openFiles: 60_000, processes: 4_000 },
  group: null,
  ownFolders: [],
};

// Attack: whoever makes the watching thread fail would be free of every limit.
test('when the watching thread fails, every sandbox is told to end, and the next is watched again', async () => {
  const watchers = new Watchers(readUnits());
  const alive = setInterval(() => undefined, 1_000); // the thread keeps no process alive
  try {
    const told = (limits = HARMLESS.limits) => {
      const { promise, resolve } = Promise.withResolvers<Excess>();
      watchers.watch({ ...HARMLESS, limits }, resolve);
      return promise;
    };
    const bystander = told();
    // What no launch would send, so that the thread throws.
    watchers.watch({ ...HARMLESS, root: null as never }, () => undefined);
    assert.deepEqual(await bystander, {
      limit: 'unwatched',
      message: 'its use of memory, time and disk could not be watched any more',
    });
    const next = told({ ...HARMLESS.limits, processes: 0 });
    const { limit, message } = await next;
    assert.equal(limit, 'processes');
    assert.match(message, /processes, more than its 0/);
  } finally {
    clearInterval(alive);
  }
});
