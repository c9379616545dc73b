import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';

import { canonicalJsonOf, type Event, HUB_LABEL, id, type SessionId, settle, USER_LABEL } from '@cordon/core';
import { type BreachKind, StoreFailure } from '@cordon/trace';

import { append, openOrThrow, say, startChild, storeIn, temporaryFolder } from '../fixture.ts';

const APP = id<'app'>('mail');
const CONTEXT = id<'context'>('c1');

test('an appended event has its id, place and time, and is read back as it was', (t) => {
  const names = ['session0', 'lock0', 'event0', 'event1'];
  const store = storeIn(t, temporaryFolder(t), { randomId: () => names.shift() ?? 'none' });
  const session = store.sessions.create();
  const first = store.journal.append(session, null, null, [], USER_LABEL, {
    kind: 'user.message',
    text: 'hello',
  });
  const second = store.journal.append(session, CONTEXT, APP, [first.id], HUB_LABEL, say('hi'));

  assert.deepEqual(first, {
    id: 'event0',
    session: 'session0',
    sequence: 0,
    time: 1_700_000_000_000,
    context: null,
    app: null,
    causes: [],
    label: { integrity: 'trusted', confidentiality: 'private' },
    kind: 'user.message',
    text: 'hello',
  });
  assert.equal(second.sequence, 1);
  assert.deepEqual(second.causes, ['event0']);
  assert.equal(second.context, 'c1');
  assert.equal(second.app, 'mail');
  assert.deepEqual(store.journal.events(session), [first, second]);
  assert.deepEqual(store.journal.events(session, 1), [second]);
  assert.deepEqual(store.journal.events(session, 0, 1), [first]);
});

test('what is settled is not read again from what was stored, and what was stored is the same', async (t) => {
  const store = storeIn(t, temporaryFolder(t));
  const session = store.sessions.create();
  const structured = { b: [{ d: 1, c: 'x' }], a: null };
  await settle(structured, () => Promise.resolve());
  const output = { text: '', structured, isError: false };
  const body = { kind: 'tool-call.executed', milliseconds: 1, output } as const;
  const event = append(store, session, body);
  assert.ok('output' in event && event.output?.structured === structured);
  const [stored] = store.journal.events(session);
  assert.deepEqual(stored, event);
  assert.equal(canonicalJsonOf(stored), canonicalJsonOf({ ...event, output: structuredClone(output) }));
  assert.equal(store.journal.verify(session).intact, true);
});

test('the hash chain is SHA-256 over the previous hash and the canonical JSON of the event', (t) => {
  const names = ['s', 'lock', 'e0', 'e1'];
  const store = storeIn(t, temporaryFolder(t), { randomId: () => names.shift() ?? 'none' });
  const session = store.sessions.create();
  assert.deepEqual(store.journal.head(session), { events: 0, hash: '0'.repeat(64) });
  append(store, session, say('a'));
  append(store, session, say('b'));
  // Computed with sha256sum: 32 zero bytes and the first event's JSON, then that hash and the second's.
  assert.deepEqual(store.journal.head(session), {
    events: 2,
    hash: 'dc2ef69350971b13ef0393dc3b9fc5ba0428ffaaca0589c9c56f03053f52ba16',
  });
});

test('a body cannot take the place of what the journal says about the event', (t) => {
  const store = storeIn(t, temporaryFolder(t));
  const session = store.sessions.create();
  const forged = {
    ...say('x'),
    id: 'forged',
    session: 'other',
    sequence: 7,
    time: 1,
    context: 'c9',
    causes: ['e'],
  };
  const event = store.journal.append(session, CONTEXT, null, [], HUB_LABEL, forged);
  assert.notEqual(event.id, 'forged');
  assert.equal(event.session, session);
  assert.equal(event.sequence, 0);
  assert.equal(event.time, 1_700_000_000_000);
  assert.equal(event.context, 'c1');
  assert.deepEqual(event.causes, []);
});

test('where the body has an app and a label, the app stands and the labels are joined', (t) => {
  const store = storeIn(t, temporaryFolder(t));
  const session = store.sessions.create();
  const event = store.journal.append(session, CONTEXT, null, [], HUB_LABEL, {
    kind: 'tool-output.proposed',
    effect: 'tool-output',
    app: APP,
    tool: 'read',
    callId: '1',
    text: 'x',
    structured: null,
    isError: false,
    label: { integrity: 'untrusted', confidentiality: 'public' },
  });
  assert.equal(event.app, 'mail');
  assert.deepEqual(event.label, { integrity: 'untrusted', confidentiality: 'public' });
});

test('several events are appended together or not at all', (t) => {
  const names = ['s', 'lock', 'e0', 'e1', 'e0', 'e2'];
  const store = storeIn(t, temporaryFolder(t), { randomId: () => names.shift() ?? 'none' });
  const session = store.sessions.create();
  const draft = { context: null, app: null, causes: [], label: HUB_LABEL };
  append(store, session, say('first'));
  // The second of the two gets an id that exists already.
  assert.throws(
    () =>
      store.journal.appendAll(session, [
        { ...draft, body: say('a') },
        { ...draft, body: say('b') },
      ]),
    /UNIQUE constraint failed: events.id/,
  );
  assert.equal(store.journal.events(session).length, 1);
  names.push('e3', 'e4');
  names.splice(0, 1);
  const events = store.journal.appendAll(session, [
    { ...draft, body: say('a') },
    { ...draft, body: say('b') },
  ]);
  assert.deepEqual(
    events.map(({ sequence }) => sequence),
    [1, 2],
  );
  assert.equal(store.journal.verify(session).intact, true);
});

test('no events is nothing to append', (t) => {
  const store = storeIn(t, temporaryFolder(t));
  const session = store.sessions.create();
  assert.deepEqual(store.journal.appendAll(session, []), []);
  assert.deepEqual(store.journal.events(session), []);
});

test('listeners see events after they are recorded, in order, also when one of them appends', (t) => {
  const store = storeIn(t, temporaryFolder(t));
  const session = store.sessions.create();
  const seen: string[] = [];
  store.journal.subscribe((event) => {
    assert.deepEqual(store.journal.events(session, event.sequence, 1), [event]);
    if (event.sequence === 0) append(store, session, say('answer'));
  });
  const unsubscribe = store.journal.subscribe((event) => seen.push(`${event.sequence} ${textOf(event)}`));
  append(store, session, say('question'));
  assert.deepEqual(seen, ['0 question', '1 answer']);
  unsubscribe();
  append(store, session, say('unheard'));
  assert.equal(seen.length, 2);
});

test('a listener that throws ends the process, and its event is recorded all the same', async (t) => {
  const folder = temporaryFolder(t);
  const child = startChild(t, 'throw-in-listener', [folder], 'ignore');
  const session = id<'session'>(await child.line());
  assert.equal(await child.line(), 'appended');
  await child.ended();
  assert.notEqual(child.process.exitCode, 0);
  assert.equal(storeIn(t, folder).journal.events(session).length, 1);
});

test('what is appended to a session that is not held here is refused', (t) => {
  const folder = temporaryFolder(t);
  const holder = storeIn(t, folder);
  const other = storeIn(t, folder);
  const session = holder.sessions.create();
  assert.throws(() => append(other, session, say('x')), isFailure('claim-lost'));
  assert.throws(() => append(holder, id('unknown'), say('x')), isFailure('claim-lost'));
  append(holder, session, say('allowed'));
  assert.equal(other.journal.events(session).length, 1);
});

test('nothing can be appended after the end of a session', (t) => {
  const store = storeIn(t, temporaryFolder(t));
  const session = store.sessions.create();
  append(store, session, say('x'));
  assert.equal(store.journal.end(session).kind, 'session.ended');
  assert.throws(() => append(store, session, say('y')), isFailure('claim-lost'));
  assert.equal(store.journal.events(session).length, 2);
});

test('a journal of which nothing was changed is intact', (t) => {
  const { folder, session } = recorded(t);
  const store = storeIn(t, folder);
  const verification = store.journal.verify(session);
  assert.equal(verification.intact, true);
  assert.deepEqual(store.journal.verify(id('unknown')), {
    intact: false,
    kind: 'unknown',
    sequence: 0,
    reason: 'there is no such session',
  });
});

const TAMPERINGS: readonly [string, string, number, BreachKind, string][] = [
  [
    'a changed text',
    `UPDATE events SET event = replace(event, 'message 2', 'message x') WHERE sequence = 2`,
    2,
    'changed',
    'the event or its hash was changed',
  ],
  [
    'a changed hash',
    `UPDATE events SET hash = zeroblob(32) WHERE sequence = 1`,
    1,
    'changed',
    'the event or its hash was changed',
  ],
  ['a deleted event', `DELETE FROM events WHERE sequence = 1`, 1, 'missing', 'an event is missing'],
  [
    'a deleted event and renumbering',
    `DELETE FROM events WHERE sequence = 1;
     UPDATE events SET sequence = sequence - 1 WHERE sequence > 1; UPDATE sessions SET events = 3`,
    1,
    'changed',
    'the event or its hash was changed',
  ],
  ['a cut tail', `DELETE FROM events WHERE sequence = 3`, 3, 'truncated', 'events are missing at the end'],
  [
    'a cut tail and a lowered count',
    `DELETE FROM events WHERE sequence = 3; UPDATE sessions SET events = 3`,
    3,
    'head',
    'the newest hash is another',
  ],
  [
    'two events that changed places',
    `UPDATE events SET sequence = -1 WHERE sequence = 1; UPDATE events SET sequence = 1 WHERE sequence = 2;
     UPDATE events SET sequence = 2 WHERE sequence = -1`,
    1,
    'changed',
    'the event or its hash was changed',
  ],
  [
    'an id that was changed in its column',
    `UPDATE events SET id = 'other' WHERE sequence = 0`,
    0,
    'misplaced',
    'the event belongs elsewhere',
  ],
  ['another newest hash', `UPDATE sessions SET head = zeroblob(32)`, 4, 'head', 'the newest hash is another'],
  [
    'an event that is not JSON',
    `UPDATE events SET event = '{' WHERE sequence = 0`,
    0,
    'changed',
    'the event or its hash was changed',
  ],
  [
    'an event that nobody appended',
    `INSERT INTO events (session, sequence, id, event, hash) SELECT session, 4, 'x', event, hash FROM events LIMIT 1`,
    4,
    'surplus',
    'there are more events than were appended',
  ],
];

for (const [name, sql, sequence, kind, reason] of TAMPERINGS) {
  test(`verification finds ${name}`, (t) => {
    const { folder, session } = recorded(t);
    tamper(folder, sql);
    const store = storeIn(t, folder);
    assert.deepEqual(store.journal.verify(session), { intact: false, kind, sequence, reason });
  });
}

test('verification of a long journal goes through all of its pieces', (t) => {
  const folder = temporaryFolder(t);
  const store = openOrThrow(folder);
  const session = store.sessions.create();
  const draft = { context: null, app: null, causes: [], label: HUB_LABEL, body: say('x') };
  store.journal.appendAll(
    session,
    Array.from({ length: 2500 }, () => draft),
  );
  assert.equal(store.journal.verify(session).intact, true);
  store.close();
  tamper(folder, `UPDATE events SET event = replace(event, '"x"', '"y"') WHERE sequence = 2345`);
  assert.deepEqual(storeIn(t, folder).journal.verify(session), {
    intact: false,
    kind: 'changed',
    sequence: 2345,
    reason: 'the event or its hash was changed',
  });
});

test('SQL that reaches the database cannot change or delete an event', (t) => {
  const { folder } = recorded(t);
  const database = new DatabaseSync(join(folder, 'cordon.db'));
  t.after(() => database.close());
  assert.throws(() => database.exec(`UPDATE events SET event = '{}'`), /append-only/);
  assert.throws(() => database.exec('DELETE FROM events'), /append-only/);
});

test('an event that is damaged is a fault, not a wrong event', (t) => {
  const { folder, session } = recorded(t);
  tamper(folder, `UPDATE events SET event = '[' WHERE sequence = 1`);
  assert.throws(() => storeIn(t, folder).journal.events(session), isFailure('corrupt'));
});

test('hostile text and keys are kept as they are and pollute nothing', (t) => {
  const store = storeIn(t, temporaryFolder(t));
  const session = store.sessions.create();
  const texts = ['\u0000', '\ud800', 'a\udc00b', '\u2028', '"}]', '\ufeff', 'x'.repeat(1024 * 1024)];
  for (const text of texts) {
    const event = append(store, session, say(text));
    assert.equal(textOf(event), text);
  }
  const args = JSON.parse('{"__proto__": {"polluted": true}, "constructor": 1, "\\ud800": 2, "": 3}');
  const event = append(store, session, {
    kind: 'model.message',
    text: '',
    calls: [{ id: '1', name: '__proto__', arguments: args }],
  });
  assert.deepEqual(store.journal.events(session).map(textOf), [...texts, '']);
  const [kept] = store.journal.events(session, texts.length);
  assert.deepEqual(kept, event);
  assert.ok(kept?.kind === 'model.message');
  const keptArguments = kept.calls[0]?.arguments ?? {};
  assert.deepEqual(Object.keys(keptArguments).sort(), ['', '__proto__', 'constructor', '\ud800']);
  assert.equal('polluted' in {}, false);
  assert.equal('polluted' in event, false);
  assert.equal(store.journal.verify(session).intact, true);
});

test('a body with `__proto__` gives the event no other prototype', (t) => {
  const store = storeIn(t, temporaryFolder(t));
  const session = store.sessions.create();
  const body = JSON.parse('{"kind": "session.ended", "__proto__": {"id": "forged"}}');
  const event = append(store, session, body);
  assert.equal(Object.getPrototypeOf(event), Object.prototype);
  assert.notEqual(event.id, 'forged');
});

/** A closed store with one session of four messages. */
function recorded(t: Parameters<typeof temporaryFolder>[0]): { folder: string; session: SessionId } {
  const folder = temporaryFolder(t);
  const store = openOrThrow(folder);
  const session = store.sessions.create();
  for (let n = 0; n < 4; n++) append(store, session, say(`message ${n}`));
  store.close();
  return { folder, session };
}

/** As someone who can write the file and knows the schema. */
function tamper(folder: string, sql: string): void {
  const database = new DatabaseSync(join(folder, 'cordon.db'));
  database.exec('DROP TRIGGER events_are_never_changed; DROP TRIGGER events_are_never_deleted');
  database.exec(sql);
  database.close();
}

function textOf(event: Event): string {
  return event.kind === 'model.message' ? event.text : event.kind;
}

function isFailure(kind: string): (error: unknown) => boolean {
  return (error) => error instanceof StoreFailure && error.fault.kind === kind;
}
