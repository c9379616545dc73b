import assert from 'node:assert/strict';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { test } from 'node:test';

import { HUB_LABEL, id } from '@cordon/core';
import { StoreFailure } from '@cordon/trace';

import { append, openOrThrow, say, startChild, storeIn, temporaryFolder } from './fixture.ts';

test('a process killed in the middle of appending loses nothing that was acknowledged', async (t) => {
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
