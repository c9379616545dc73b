import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, readFileSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';

import { type Effect, type EventBody, HUB_LABEL, id } from '@cordon/core';
import { StoreFailure } from '@cordon/trace';

import { isAwaited } from '../../src/journal/awaited.ts';

import {
  append,
  EXECUTED,
  openOrThrow,
  PROPOSED,
  say,
  startChild,
  storeIn,
  temporaryFolder,
} from '../fixture.ts';

test('a process killed in the middle of appending loses nothing that was acknowledged, awaited or not', async (t) => {
  const folder = temporaryFolder(t);
  for (let round = 0; round < 3; round++) {
    const child = startChild(t, 'append', [folder, '0']);
    await child.line();
    child.go();
    const session = id<'session'>(await child.line());
    const acknowledged: string[] = [];
    for (let n = 0; n < 50 + round; n++) acknowledged.push(await child.line());
    child.process.kill('SIGKILL');
    acknowledged.push(...(await child.rest()));
    await child.ended();

    const store = openOrThrow(folder);
    const verification = store.journal.verify(session);
    assert.ok(verification.intact);
    const kept = store.journal.events(session).map((event): string => event.id);
    assert.deepEqual(kept.slice(0, acknowledged.length), acknowledged);
    // At most the one event that was on its way when the process died.
    assert.ok(kept.length <= acknowledged.length + 1);
    assert.equal(store.sessions.find(session)?.status, 'interrupted');
    assert.ok(store.sessions.resume(session).ok);
    assert.equal(append(store, session, say('goes on')).sequence, kept.length);
    store.close();
  }
});

/** The events whose lines `before` and `after` enclose a call that makes the kernel write the log to the disk. */
function syncedEvents(calls: string): readonly string[] {
  const synced: string[] = [];
  let event: string | null = null;
  let isUnsynced = false;
  for (const call of calls.split('\n')) {
    const said = /write\(1[^"]*"(before|after) ([\w.-]+)\\n"/.exec(call);
    if (said?.[1] === 'before') event = said[2] ?? null;
    if (/pwrite64\([^,]*cordon\.db-wal>/.test(call)) isUnsynced = true;
    if (/(fsync|fdatasync)\([^,]*cordon\.db-wal>/.test(call) && event !== null) isUnsynced = false;
    if (said?.[1] !== 'after' || event === null) continue;
    if (!isUnsynced) synced.push(event);
    event = null;
  }
  return synced;
}

test('a decision that allows is on the disk with all before it when it is acknowledged, and the rest waits', async (t) => {
  if (spawnSync('strace', ['-V']).error !== undefined) return t.skip('strace is not installed');
  const folder = temporaryFolder(t);
  const calls = join(folder, 'calls');
  const watch = ['strace', '-f', '-y', '-o', calls, '-e', 'trace=write,pwrite64,fsync,fdatasync'];
  const child = startChild(t, 'outcomes', [join(folder, 'store')], 'inherit', watch);
  for (let line = 0; line < 12; line++) await child.line();
  child.go();
  await child.ended();
  assert.deepEqual(syncedEvents(readFileSync(calls, 'utf8')), ['tool-call.decided']);
});

test('a killed process loses nothing, and a failed machine at most what came after the last decision that allows', async (t) => {
  const folder = temporaryFolder(t);
  const killed = join(folder, 'killed');
  const child = startChild(t, 'outcomes', [killed]);
  const session = id<'session'>(await child.line());
  for (let line = 0; line < 10; line++) await child.line();
  const synced = Number(await child.line());
  child.process.kill('SIGKILL');
  await child.ended();
  const all = statSync(join(killed, 'cordon.db-wal')).size;
  assert.ok(all > synced);

  // What the disk holds of the log that nobody waited for: nothing, a part of a frame, some frames.
  for (const [bytes, least] of [
    [synced, 2],
    [synced + 100, 2],
    [Math.floor((synced + all) / 2), 2],
    [all, 5],
  ] as const) {
    const failed = join(folder, `failed-${bytes}`);
    cpSync(killed, failed, { recursive: true });
    truncateSync(join(failed, 'cordon.db-wal'), bytes);
    // The machine was started again: what only the kernel had is not missing.
    const store = openOrThrow(failed, { machineRun: 'another' });
    const kept = store.journal.events(session).map(({ kind }) => kind);
    const order = [
      'tool-call.proposed',
      'tool-call.decided',
      'tool-call.executed',
      'model.message',
      'model.message',
    ];
    assert.ok(kept.length >= least);
    assert.deepEqual(kept, order.slice(0, kept.length));
    assert.ok(store.journal.verify(session).intact);
    assert.ok(store.sessions.resume(session).ok);
    assert.equal(append(store, session, say('goes on')).sequence, kept.length);
    store.close();
  }
});

test('only what lets an effect out of the machine, and what the user agreed to, is waited for', () => {
  const decided = (effect: Effect, verdict: 'allow' | 'deny'): EventBody => ({
    kind: `${effect}.decided`,
    verdict,
    reasons: [],
    warnings: [],
    permission: 'not-needed',
  });
  const effects: readonly Effect[] = [
    'model-call',
    'tool-call',
    'tool-output',
    'app-request',
    'app-response',
    'data-release',
    'egress',
    'answer',
  ];
  assert.deepEqual(
    effects.filter((effect) => isAwaited(decided(effect, 'allow'))),
    ['model-call', 'tool-call', 'data-release', 'egress', 'answer'],
  );
  assert.deepEqual(
    effects.filter((effect) => isAwaited(decided(effect, 'deny'))),
    [],
  );
  const subject = { scope: 'exchange', from: null, to: null, what: 'x' } as const;
  const answer = { kind: 'permission.answered', prompt: id<'event'>('1'), by: 'user' } as const;
  const agreed: readonly EventBody[] = [
    { kind: 'session.ended' },
    { kind: 'grant.given', grant: id('1'), subject, duration: 'once' },
    { kind: 'grant.used', grant: id('1') },
    { ...answer, allow: true, duration: 'once' },
  ];
  assert.ok(agreed.every(isAwaited));
  assert.deepEqual([PROPOSED, EXECUTED, say('x')].filter(isAwaited), []);
});

test('opening the store a second time in one process keeps the locks of the first', (t) => {
  // POSIX drops all locks of a process on a file when the process closes any descriptor of it, and without its lock
  // another process may take the write-ahead log away. The kernel's own list is where this can be seen.
  if (!existsSync('/proc/locks')) return t.skip('only Linux lists the locks of a file');
  const folder = temporaryFolder(t);
  const first = storeIn(t, folder);
  append(first, first.sessions.create(), say('one'));
  const inode = statSync(first.file).ino;
  const isLocked = () => readFileSync('/proc/locks', 'utf8').includes(`:${inode} `);
  assert.equal(isLocked(), true);
  openOrThrow(folder).close();
  assert.equal(isLocked(), true);
});

test('two stores in one process and one in another write one after the other and lose nothing', async (t) => {
  const folder = temporaryFolder(t);
  const first = storeIn(t, folder);
  const session = first.sessions.create();
  append(first, session, say('one'));
  openOrThrow(folder).close();
  const child = startChild(t, 'append', [folder, '1']);
  await child.line();
  child.go();
  await child.line();
  await child.line();
  child.go();
  await child.ended();
  append(first, session, say('two'));
  assert.equal(await startChild(t, 'verify', [folder, session]).line(), 'intact 2');
});

test('a store without room left refuses with a fault, keeps what it has and goes on when there is room', (t) => {
  const folder = temporaryFolder(t);
  const small = openOrThrow(folder, { maxBytes: 300_000 });
  const session = small.sessions.create();
  let appended = 0;
  let failure: unknown = null;
  try {
    for (; appended < 1000; appended++) append(small, session, say('x'.repeat(10_000)));
  } catch (error) {
    failure = error;
  }
  assert.ok(failure instanceof StoreFailure);
  assert.equal(failure.fault.kind, 'full');
  assert.match(failure.fault.message, /^there is no room left for the store `.*cordon\.db` \(.*\)$/);
  assert.equal(failure.fault.help, 'free disk space; everything recorded so far is kept');
  assert.ok(appended > 5 && appended < 100);
  const verification = small.journal.verify(session);
  assert.ok(verification.intact);
  assert.equal(verification.head.events, appended);
  small.close();

  const large = storeIn(t, folder);
  assert.ok(large.sessions.resume(session).ok);
  assert.equal(append(large, session, say('x'.repeat(10_000))).sequence, appended);
});

test('an event that cannot be written as JSON is not recorded, and the next one is', (t) => {
  const store = storeIn(t, temporaryFolder(t));
  const session = store.sessions.create();
  const deep = JSON.parse(`${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`);
  assert.throws(
    () =>
      append(store, session, {
        kind: 'model.message',
        text: '',
        calls: [{ id: '1', name: 'x', arguments: deep }],
      }),
    RangeError,
  );
  const draft = { context: null, app: null, causes: [], label: HUB_LABEL };
  assert.equal(store.journal.appendAll(session, [{ ...draft, body: say('next') }])[0]?.sequence, 0);
});

const MIB = 1024 * 1024;

/** Bytes of the file of the store, without the log beside it. */
function fileSize(folder: string): number {
  return statSync(join(folder, 'cordon.db')).size;
}

test('the commit of a large event does not copy the log into the file, which is done soon after', async (t) => {
  const folder = temporaryFolder(t);
  const store = storeIn(t, folder);
  const session = store.sessions.create();
  append(store, session, say('x'.repeat(8 * MIB)));
  assert.ok(fileSize(folder) < MIB, 'copied within the commit');
  append(store, session, say('short'));
  assert.ok(fileSize(folder) < MIB, 'copied within the next commit');
  for (let waited = 0; fileSize(folder) < 8 * MIB && waited < 600; waited++) await setTimeout(100);
  assert.ok(fileSize(folder) > 8 * MIB);
  assert.equal(store.journal.verify(session).intact, true);
});

test('a large event is there after a crash before its log was copied into the file', (t) => {
  const folder = temporaryFolder(t);
  const store = storeIn(t, folder);
  const session = store.sessions.create();
  const event = append(store, session, say('x'.repeat(8 * MIB)));
  assert.ok(fileSize(folder) < MIB);
  // What a process that is killed now leaves behind.
  const left = join(temporaryFolder(t), 'left');
  cpSync(folder, left, { recursive: true });
  const next = storeIn(t, left);
  assert.deepEqual(next.journal.events(session), [event]);
  assert.equal(next.journal.verify(session).intact, true);
});

test('the log is copied while large events are written without a pause', (t) => {
  const folder = temporaryFolder(t);
  const store = storeIn(t, folder);
  const session = store.sessions.create();
  const text = 'x'.repeat(4 * MIB);
  for (let written = 0; written < 16; written++) append(store, session, say(text));
  assert.ok(fileSize(folder) > 32 * MIB);
});
