import assert from 'node:assert/strict';
import { cpSync, mkdirSync, readFileSync, statSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { id } from '@cordon/core';
import { StoreFailure } from '@cordon/trace';

import { extendLog } from '../../src/database/log-room.ts';
import { append, openOrThrow, say, startChild, storeIn, temporaryFolder } from '../fixture.ts';

/** A head of 32 bytes, and 1,000 pages of 4,096 with 24 each. */
const FULL = 4_120_032;

test('a log that has room does not grow, and what is in it is read whatever stands behind', async (t) => {
  const folder = temporaryFolder(t);
  const store = storeIn(t, join(folder, 'store'));
  const session = store.sessions.create();
  append(store, session, say('before'));
  const log = `${store.file}-wal`;
  const used = statSync(log).size;
  assert.ok(used > 0 && used < FULL / 4);
  await store.makeRoom();
  assert.equal(statSync(log).size, FULL);
  assert.deepEqual(readFileSync(log).subarray(used), Buffer.alloc(FULL - used));
  for (let n = 0; n < 20; n++) append(store, session, say(`message ${n}`));
  assert.equal(statSync(log).size, FULL);
  await store.makeRoom();
  assert.equal(statSync(log).size, FULL);

  // As a machine that failed leaves it: without the index in memory, with all of the zeros, some, or half a frame of them.
  for (const bytes of [FULL, FULL / 2, FULL - 100]) {
    const failed = join(folder, `failed-${bytes}`);
    mkdirSync(failed, { mode: 0o700 });
    for (const end of ['', '-wal']) cpSync(store.file + end, join(failed, `cordon.db${end}`));
    cpSync(join(folder, 'store/acknowledged'), join(failed, 'acknowledged'), { recursive: true });
    truncateSync(join(failed, 'cordon.db-wal'), bytes);
    const again = openOrThrow(failed);
    assert.equal(again.journal.events(session).length, 21);
    assert.ok(again.journal.verify(session).intact);
    again.close();
  }
});

test('room is made while another process appends, and nothing of either is lost', async (t) => {
  const folder = temporaryFolder(t);
  const store = storeIn(t, folder);
  const own = store.sessions.create();
  const child = startChild(t, 'append', [folder, '300']);
  await child.line();
  child.go();
  const other = id<'session'>(await child.line());
  let rounds = 0;
  for (let read = 0; read < 300; rounds++) {
    append(store, own, say(`round ${rounds}`));
    // Empties the log, where nobody is reading it.
    store.scrub();
    await store.makeRoom();
    for (let line = 0; line < 10; line++, read++) await child.line();
  }
  assert.equal(rounds, 30);
  for (const [session, events] of [
    [own, 30],
    [other, 300],
  ] as const) {
    assert.equal(store.journal.events(session).length, events);
    assert.ok(store.journal.verify(session).intact);
  }
});

test('room is not made while somebody else writes, who may be about to write behind the end of the log', async (t) => {
  const folder = temporaryFolder(t);
  const store = storeIn(t, folder, { busyMs: 20 });
  const other = storeIn(t, folder);
  append(store, store.sessions.create(), say('x'));
  const used = statSync(`${store.file}-wal`).size;
  let made = Promise.resolve();
  other.together(() => {
    made = store.makeRoom();
  });
  await assert.rejects(made, (error) => error instanceof StoreFailure && error.fault.kind === 'busy');
  assert.equal(statSync(`${store.file}-wal`).size, used);
  await store.makeRoom();
  assert.equal(statSync(`${store.file}-wal`).size, FULL);
});

test('no log is made where none is, and a link in its place is not followed', (t) => {
  const folder = temporaryFolder(t);
  const file = join(folder, 'x');
  assert.throws(() => extendLog(file), { code: 'ENOENT' });
  writeFileSync(`${file}-wal`, '');
  assert.equal(extendLog(file), false);
  assert.equal(statSync(`${file}-wal`).size, 0);

  const secret = join(folder, 'secret');
  writeFileSync(secret, 'mine');
  symlinkSync(secret, join(folder, 'y-wal'));
  assert.throws(() => extendLog(join(folder, 'y')), { code: 'ELOOP' });
  assert.equal(readFileSync(secret, 'utf8'), 'mine');
});

test('a store that is closed meanwhile is left alone', async (t) => {
  const store = openOrThrow(temporaryFolder(t));
  append(store, store.sessions.create(), say('x'));
  const made = store.makeRoom();
  store.close();
  await assert.rejects(made, { code: 'ENOENT' });
});
