import assert from 'node:assert/strict';
import { createHash, createHmac } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';

import type { SessionId } from '@cordon/core';

import { acknowledge, append, openOrThrow, say, storeIn, temporaryFolder } from '../fixture.ts';

const KEY = Buffer.alloc(32, 7);
const OTHER_KEY = Buffer.alloc(32, 8);

/** A closed store with one session of four messages, written with `key`. */
function recorded(folder: string, key: Uint8Array | null): SessionId {
  const store = openOrThrow(folder, { journalKey: key });
  const session = store.sessions.create();
  for (let n = 0; n < 4; n++) append(store, session, say(`message ${n}`));
  store.close();
  return session;
}

function change(folder: string, work: (database: DatabaseSync) => void): void {
  const database = new DatabaseSync(join(folder, 'cordon.db'));
  database.exec('DROP TRIGGER events_are_never_changed; DROP TRIGGER events_are_never_deleted');
  work(database);
  database.close();
}

/** As whoever can write the file and knows how the chain is made: the third message says something else. */
function forge(folder: string): void {
  change(folder, (database) => {
    database.exec(`UPDATE events SET event = replace(event, 'message 2', 'message x')`);
    let head: Uint8Array = new Uint8Array(32);
    for (const { sequence, event } of database.prepare('SELECT * FROM events ORDER BY sequence').all()) {
      head = createHash('sha256').update(head).update(String(event)).digest();
      database.prepare('UPDATE events SET hash = ? WHERE sequence = ?').run(head, Number(sequence));
    }
    database.prepare('UPDATE sessions SET head = ?').run(head);
  });
}

/** The last message never happened, and count and newest hash fit. */
function shorten(folder: string): void {
  change(folder, (database) =>
    database.exec(`DELETE FROM events WHERE sequence = 3; UPDATE sessions SET events = 3,
      head = (SELECT hash FROM events WHERE sequence = 2)`),
  );
}

test('without a key a chain that was computed anew is taken for the journal, where what was acknowledged is forged as well', (t) => {
  const folder = temporaryFolder(t);
  const session = recorded(folder, null);
  forge(folder);
  const store = storeIn(t, folder);
  const found = store.journal.verify(session);
  assert.equal(found.intact ? null : found.kind, 'replaced');
  const head = Buffer.from(store.journal.head(session)?.hash ?? '', 'hex');
  acknowledge(folder, session, 4, head);
  const verification = store.journal.verify(session);
  assert.ok(verification.intact);
  assert.equal(verification.signed, 'none');
});

for (const [name, falsify] of [
  ['a chain that was computed anew', forge],
  ['a journal that was cut short', shorten],
] as const) {
  test(`the signature finds ${name}, and such a session is not gone on with`, (t) => {
    const folder = temporaryFolder(t);
    const session = recorded(folder, KEY);
    falsify(folder);
    const store = storeIn(t, folder, { journalKey: KEY });
    const verification = store.journal.verify(session);
    assert.ok(!verification.intact);
    assert.equal(verification.kind, 'signature');
    const resumed = store.sessions.resume(session);
    assert.ok(!resumed.ok);
    assert.equal(resumed.fault.kind, 'session-damaged');
  });

  test(`a head that was kept finds ${name}, also without a key`, (t) => {
    const folder = temporaryFolder(t);
    const session = recorded(folder, null);
    const before = openOrThrow(folder);
    const head = before.journal.head(session);
    before.close();
    falsify(folder);
    const verification = storeIn(t, folder).journal.verify(session, head);
    assert.ok(!verification.intact);
    assert.match(verification.kind, /^(anchor|truncated)$/);
  });
}

test('what was appended behind a kept head is no breach', (t) => {
  const store = storeIn(t, temporaryFolder(t));
  const session = store.sessions.create();
  const empty = store.journal.head(session);
  append(store, session, say('one'));
  const head = store.journal.head(session);
  append(store, session, say('two'));
  assert.ok(store.journal.verify(session, head).intact);
  assert.ok(store.journal.verify(session, empty).intact);
  assert.deepEqual(store.journal.verify(session, { events: 0, hash: '1'.repeat(64) }), {
    intact: false,
    kind: 'anchor',
    sequence: 0,
    reason: 'its first 0 events are not those of the given head',
  });
});

test('a signed journal is intact with its key, unchecked without one, and nothing with another', (t) => {
  const folder = temporaryFolder(t);
  const session = recorded(folder, KEY);
  const withKey = storeIn(t, folder, { journalKey: KEY });
  const verified = withKey.journal.verify(session);
  assert.ok(verified.intact);
  assert.equal(verified.signed, 'checked');
  assert.ok(withKey.sessions.resume(session).ok);
  withKey.sessions.release(session);

  const without = storeIn(t, folder);
  const unchecked = without.journal.verify(session);
  assert.ok(unchecked.intact);
  assert.equal(unchecked.signed, 'unchecked');
  const refused = without.sessions.resume(session);
  assert.ok(!refused.ok);
  assert.equal(refused.fault.kind, 'session-unsigned');

  const wrong = storeIn(t, folder, { journalKey: OTHER_KEY }).journal.verify(session);
  assert.ok(!wrong.intact);
  assert.equal(wrong.kind, 'signature');
});

test('with a key a journal without a signature is not intact until the user vouches for it', (t) => {
  const folder = temporaryFolder(t);
  const session = recorded(folder, null);
  const store = storeIn(t, folder, { journalKey: KEY });
  const verification = store.journal.verify(session);
  assert.ok(!verification.intact);
  assert.equal(verification.kind, 'unsigned');
  const refused = store.sessions.resume(session);
  assert.ok(!refused.ok);
  assert.equal(refused.fault.kind, 'session-unsigned');
  assert.equal(store.journal.sign(session), true);
  assert.ok(store.journal.verify(session).intact);
  assert.ok(store.sessions.resume(session).ok);
});

test('nobody vouches without the key, or for a session that is being written', (t) => {
  const folder = temporaryFolder(t);
  const session = recorded(folder, null);
  assert.equal(storeIn(t, folder).journal.sign(session), false);
  const store = storeIn(t, folder, { journalKey: KEY });
  const running = store.sessions.create();
  assert.equal(store.journal.sign(running), false);
});

test('the signature is HMAC-SHA256 over session, count and newest hash, and says that acknowledged events are counted', (t) => {
  const folder = temporaryFolder(t);
  const session = recorded(folder, KEY);
  const database = new DatabaseSync(join(folder, 'cordon.db'));
  t.after(() => database.close());
  const row = database.prepare('SELECT head, signature FROM sessions').get() ?? {};
  const head = Buffer.from(row.head as Uint8Array).toString('hex');
  const signed = `["cordon-journal-2","${session}",4,"${head}"]`;
  assert.deepEqual(
    Buffer.from(row.signature as Uint8Array).toString('hex'),
    createHmac('sha256', KEY).update(signed).digest('hex'),
  );
});
