import assert from 'node:assert/strict';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';

import { id, type SessionId, USER_LABEL } from '@cordon/core';
import { openStore, StoreFailure } from '@cordon/trace';

import { append, openOrThrow, say, startChild, storeIn, temporaryFolder } from '../fixture.ts';

test('sessions are listed newest first with the first query and how they stand', (t) => {
  const folder = temporaryFolder(t);
  let now = 1000;
  const opened = openStore(folder, () => now);
  assert.ok(opened.ok);
  const store = opened.value;
  t.after(() => store.close());
  const first = store.sessions.create();
  append(store, first, { kind: 'user.message', text: 'book a ride' });
  append(store, first, { kind: 'user.message', text: 'and another' });
  store.journal.end(first);
  now = 2000;
  const second = store.sessions.create();
  store.sessions.release(second);
  const third = store.sessions.create();

  assert.deepEqual(store.sessions.list(), [
    {
      id: third,
      status: 'running',
      startedAt: 2000,
      lastAt: 2000,
      firstQuery: null,
      events: 0,
      holder: process.pid,
    },
    {
      id: second,
      status: 'interrupted',
      startedAt: 2000,
      lastAt: 2000,
      firstQuery: null,
      events: 0,
      holder: null,
    },
    {
      id: first,
      status: 'ended',
      startedAt: 1000,
      lastAt: 1000,
      firstQuery: 'book a ride',
      events: 3,
      holder: null,
    },
  ]);
  assert.equal(store.sessions.list(1).length, 1);
});

test('an interrupted session is resumed with its history and goes on in the same chain', (t) => {
  const folder = temporaryFolder(t);
  const before = openOrThrow(folder);
  const session = before.sessions.create();
  append(before, session, say('before'));
  before.memory({ kind: 'system' }).record(session, 'user', 'hello', {
    origin: null,
    source: null,
    label: USER_LABEL,
  });
  before.close();

  const after = storeIn(t, folder);
  const resumed = after.sessions.resume(session);
  assert.ok(resumed.ok);
  assert.equal(resumed.value.status, 'running');
  assert.equal(resumed.value.events, 1);
  assert.equal(append(after, session, say('after')).sequence, 1);
  assert.equal(after.journal.verify(session).intact, true);
  assert.equal(after.memory({ kind: 'system' }).history(session).length, 1);
  assert.ok(after.sessions.resume(session).ok, 'to resume what is held here already changes nothing');
});

test('what cannot be resumed is refused with the reason', (t) => {
  const folder = temporaryFolder(t);
  const store = storeIn(t, folder);
  const ended = store.sessions.create();
  store.journal.end(ended);
  const held = store.sessions.create();
  const other = storeIn(t, folder);

  assert.equal(faultOf(other.sessions.resume(ended)), 'session-ended');
  assert.equal(faultOf(other.sessions.resume(id('no\u0000such\ud800'))), 'session-unknown');
  assert.deepEqual(other.sessions.resume(held), {
    ok: false,
    fault: {
      kind: 'session-held',
      message: `the session \`${held}\` is in use by another process (${process.pid})`,
      help: 'end that process first, or start a new session; both may use the same data folder',
    },
  });
  store.sessions.release(held);
  assert.ok(other.sessions.resume(held).ok);
});

test('a session of a living process is refused, and taken over once the process was killed', async (t) => {
  const folder = temporaryFolder(t);
  const child = startChild(t, 'append', [folder, '2']);
  await child.line();
  child.go();
  const session: SessionId = id(await child.line());
  await child.line();
  await child.line();

  const store = storeIn(t, folder);
  const refused = store.sessions.resume(session);
  assert.ok(!refused.ok);
  assert.equal(refused.fault.kind, 'session-held');
  assert.match(refused.fault.message, new RegExp(`\\(${child.process.pid}\\)$`));
  assert.equal(store.sessions.find(session)?.status, 'running');

  child.process.kill('SIGKILL');
  await child.ended();
  assert.equal(store.sessions.find(session)?.status, 'interrupted');
  assert.ok(store.sessions.resume(session).ok);
  assert.equal(append(store, session, say('mine now')).sequence, 2);
});

test('a claim whose process id now belongs to another living process is stale all the same', async (t) => {
  const folder = temporaryFolder(t);
  const child = startChild(t, 'append', [folder, '1']);
  await child.line();
  child.go();
  const session: SessionId = id(await child.line());
  await child.line();
  child.process.kill('SIGKILL');
  await child.ended();

  const database = new DatabaseSync(join(folder, 'cordon.db'));
  database.prepare('UPDATE sessions SET claim_pid = ?').run(process.pid);
  database.close();
  const store = storeIn(t, folder);
  assert.equal(store.sessions.find(session)?.holder, null);
  assert.ok(store.sessions.resume(session).ok);
});

test('a process that lost its claim cannot write a second history', (t) => {
  const folder = temporaryFolder(t);
  const suspended = storeIn(t, folder);
  const session = suspended.sessions.create();
  append(suspended, session, say('one'));
  // The one way to lose a claim while alive: somebody deletes the lock file.
  for (const name of readdirSync(join(folder, 'claims'))) rmSync(join(folder, 'claims', name));

  const successor = storeIn(t, folder);
  assert.ok(successor.sessions.resume(session).ok);
  append(successor, session, say('two'));
  assert.throws(
    () => append(suspended, session, say('also two')),
    (error) => error instanceof StoreFailure && error.fault.kind === 'claim-lost',
  );
  suspended.sessions.release(session);
  append(successor, session, say('three'));
  const verification = successor.journal.verify(session);
  assert.ok(verification.intact);
  assert.equal(verification.head.events, 3);
});

test('two processes append to sessions of their own at the same time', async (t) => {
  const folder = temporaryFolder(t);
  const children = [startChild(t, 'append', [folder, '100']), startChild(t, 'append', [folder, '100'])];
  // Both create the fresh store at the same moment.
  await Promise.all(children.map((child) => child.line()));
  for (const child of children) child.go();
  const sessions: string[] = [];
  for (const child of children) {
    sessions.push(await child.line());
    for (let n = 0; n < 100; n++) await child.line();
    child.go();
    await child.ended();
  }

  const store = storeIn(t, folder);
  assert.equal(new Set(sessions).size, 2);
  for (const session of sessions) {
    const verification = store.journal.verify(id(session));
    assert.ok(verification.intact);
    assert.equal(verification.head.events, 100);
  }
});

test('lock files of dead processes are swept, those of the living are not', async (t) => {
  const folder = temporaryFolder(t);
  const child = startChild(t, 'append', [folder, '1']);
  await child.line();
  child.go();
  await child.line();
  const survivor = storeIn(t, folder);
  const kept = survivor.sessions.create();
  assert.equal(readdirSync(join(folder, 'claims')).length, 2);
  child.process.kill('SIGKILL');
  await child.ended();

  const next = openOrThrow(folder);
  next.sessions.create();
  assert.equal(readdirSync(join(folder, 'claims')).length, 2);
  assert.equal(next.sessions.find(kept)?.status, 'running');
  next.close();
  assert.equal(readdirSync(join(folder, 'claims')).length, 1);
});

function faultOf(result: { ok: true } | { ok: false; fault: { kind: string } }): string {
  return result.ok ? 'none' : result.fault.kind;
}
