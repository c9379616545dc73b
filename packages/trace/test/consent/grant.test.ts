import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';

import {
  canonicalJson,
  type Grant,
  type GrantDuration,
  id,
  type PermissionSubject,
  type SessionId,
  toJson,
} from '@cordon/core';
import { openStore, type Store } from '@cordon/trace';

import { APPLICATION_ID, SCHEMA_STEPS } from '../../src/database/schema.ts';
import { append, openOrThrow, say, startChild, storeIn, subjectOf, temporaryFolder } from '../fixture.ts';

test('a once-grant authorises one action and no second', (t) => {
  const { store, session } = setUp(t);
  const grant = give(store, session, subjectOf('fare'), 'once');
  assert.deepEqual(store.grants.find(subjectOf('fare'), session, 'shown'), grant);
  assert.equal(store.grants.consume(grant.id, session), true);
  assert.equal(store.grants.consume(grant.id, session), false);
  assert.equal(store.grants.find(subjectOf('fare'), session, 'shown'), null);
});

test('a once-grant serves only what was shown, longer ones serve their subject', (t) => {
  const { store, session } = setUp(t);
  give(store, session, subjectOf('once'), 'once');
  give(store, session, subjectOf('session'), 'session');
  give(store, session, subjectOf('permanent'), 'permanent');
  assert.equal(store.grants.find(subjectOf('once'), session, 'other data'), null);
  assert.equal(store.grants.find(subjectOf('once'), session, 'shown')?.duration, 'once');
  assert.equal(store.grants.find(subjectOf('session'), session, 'other data')?.duration, 'session');
  assert.equal(store.grants.find(subjectOf('permanent'), session, 'other data')?.duration, 'permanent');
});

test('of several grants the one given for what is shown comes first, then the longest', (t) => {
  const { store, session } = setUp(t);
  const request = { subject: subjectOf('fare'), session };
  const older = store.grants.give({ ...request, duration: 'session', digest: 'as before' });
  const newer = store.grants.give({ ...request, duration: 'session', digest: 'with a warning' });
  const longest = store.grants.give({ ...request, duration: 'permanent', digest: 'long ago' });
  assert.ok(older.ok && newer.ok && longest.ok);
  const found = (digest: string) => store.grants.find(subjectOf('fare'), session, digest)?.id;
  assert.equal(found('as before'), older.value.id);
  assert.equal(found('with a warning'), newer.value.id);
  assert.equal(found('something else'), longest.value.id);
});

test('session and permanent grants authorise again and again, and spare a once-grant', (t) => {
  const { store, session } = setUp(t);
  const once = give(store, session, subjectOf('fare'), 'once');
  const grant = give(store, session, subjectOf('fare'), 'session');
  for (let n = 0; n < 3; n++) {
    assert.equal(store.grants.find(subjectOf('fare'), session, 'shown')?.id, grant.id);
    assert.equal(store.grants.consume(grant.id, session), true);
  }
  store.grants.revoke(grant.id);
  assert.equal(store.grants.find(subjectOf('fare'), session, 'shown')?.id, once.id);
});

test('once and session grants serve their own session only, permanent ones every session', (t) => {
  const { store, session } = setUp(t);
  const other = store.sessions.create();
  for (const duration of ['once', 'session'] as const) {
    const grant = give(store, session, subjectOf(duration), duration);
    assert.equal(store.grants.find(subjectOf(duration), other, 'shown'), null);
    assert.equal(store.grants.consume(grant.id, other), false);
    assert.equal(store.grants.consume(grant.id, session), true);
  }
  const permanent = give(store, session, subjectOf('permanent'), 'permanent');
  assert.equal(permanent.session, null);
  assert.equal(store.grants.find(subjectOf('permanent'), other, 'shown')?.id, permanent.id);
  assert.equal(store.grants.consume(permanent.id, other), true);
});

test('the end of a session ends its grants, not the permanent ones', (t) => {
  const { store, session } = setUp(t);
  const once = give(store, session, subjectOf('fare'), 'once');
  const forSession = give(store, session, subjectOf('fare'), 'session');
  assert.equal(store.grants.list({ live: true }).length, 2);
  store.journal.end(session);
  assert.equal(store.grants.find(subjectOf('fare'), session, 'shown'), null);
  assert.equal(store.grants.consume(once.id, session), false);
  assert.equal(store.grants.consume(forSession.id, session), false);
  assert.deepEqual(store.grants.list({ live: true }), []);

  const next = store.sessions.create();
  const permanent = give(store, next, subjectOf('fare'), 'permanent');
  store.journal.end(next);
  assert.equal(store.grants.find(subjectOf('fare'), store.sessions.create(), 'shown')?.id, permanent.id);
});

test('a revoked grant never authorises again, whatever its duration; one that was not revoked does', (t) => {
  const { store, session } = setUp(t);
  for (const duration of ['once', 'session', 'permanent'] as const) {
    const revoked = give(store, session, subjectOf(duration), duration);
    assert.equal(store.grants.revoke(revoked.id), true);
    assert.equal(store.grants.revoke(revoked.id), false);
    assert.equal(store.grants.find(subjectOf(duration), session, 'shown'), null);
    assert.equal(store.grants.consume(revoked.id, session), false);
    const kept = give(store, session, subjectOf(duration), duration);
    assert.equal(store.grants.find(subjectOf(duration), session, 'shown')?.id, kept.id);
    assert.equal(store.grants.consume(kept.id, session), true);
  }
  assert.equal(store.grants.revoke(id('unknown')), false);
  assert.equal(store.grants.consume(id('unknown'), session), false);
});

test('a revocation by another process holds at once', (t) => {
  const folder = temporaryFolder(t);
  const hub = storeIn(t, folder);
  const session = hub.sessions.create();
  const grant = give(hub, session, subjectOf('fare'), 'permanent');
  assert.equal(hub.grants.consume(grant.id, session), true);
  assert.equal(storeIn(t, folder).grants.revoke(grant.id), true);
  assert.equal(hub.grants.consume(grant.id, session), false);
});

test('irreversible actions and rules that ask are refused as permanent and taken for a while', (t) => {
  const { store, session } = setUp(t);
  for (const scope of ['irreversible-action', 'policy'] as const) {
    const request = { subject: subjectOf('send', scope), session, digest: 'shown' };
    assert.deepEqual(store.grants.give({ ...request, duration: 'permanent' }), {
      ok: false,
      fault: {
        kind: 'never-permanent',
        message: 'irreversible actions and rules that ask are never permitted for longer than a session',
        help: 'permit it once or for this session',
      },
    });
    assert.equal(store.grants.find(request.subject, session, 'shown'), null);
    for (const duration of ['once', 'session'] as const) {
      const grant = give(store, session, request.subject, duration);
      assert.equal(store.grants.consume(grant.id, session), true);
    }
  }
  assert.deepEqual(
    store.grants.list().map(({ duration }) => duration),
    ['session', 'once', 'session', 'once'],
  );
});

test('the schema itself refuses a permanent irreversible grant, a changed, an unrevoked and an unspent one', (t) => {
  const folder = temporaryFolder(t);
  const store = storeIn(t, folder);
  const session = store.sessions.create();
  const spent = give(store, session, subjectOf('fare'), 'once');
  store.grants.consume(spent.id, session);
  store.grants.revoke(spent.id);
  const database = new DatabaseSync(join(folder, 'cordon.db'));
  t.after(() => database.close());
  const insert = (scope: string) =>
    database.exec(`INSERT INTO grants (id, subject, scope, duration, digest, given_at)
      VALUES ('g-${scope}', '{}', '${scope}', 'permanent', '', 0)`);
  assert.throws(() => insert('irreversible-action'), /CHECK constraint failed/);
  assert.throws(() => insert('policy'), /CHECK constraint failed/);
  assert.throws(() => insert('everything'), /CHECK constraint failed/);
  insert('egress');
  assert.throws(() => database.exec(`UPDATE grants SET duration = 'session'`), /never changed/);
  assert.throws(() => database.exec('UPDATE grants SET revoked_at = NULL'), /revoked for good/);
  assert.throws(() => database.exec('UPDATE grants SET used_at = NULL'), /used once/);
});

test('a grant of an unknown session is refused', (t) => {
  const { store } = setUp(t);
  const given = store.grants.give({
    subject: subjectOf('fare'),
    duration: 'once',
    session: id('unknown'),
    digest: '',
  });
  assert.equal(given.ok ? 'given' : given.fault.kind, 'session-unknown');
});

test('every part of the subject counts', (t) => {
  const { store, session } = setUp(t);
  const subject: PermissionSubject = { scope: 'exchange', from: id('a'), to: id('b'), what: 'fare' };
  give(store, session, subject, 'session');
  const others: readonly PermissionSubject[] = [
    { ...subject, scope: 'response' },
    { ...subject, from: id('b') },
    { ...subject, from: null },
    { ...subject, to: null },
    { ...subject, from: id('b'), to: id('a') },
    { ...subject, what: 'Fare' },
    { ...subject, what: 'fare\u0000' },
    { ...subject, what: '' },
  ];
  for (const other of others) assert.equal(store.grants.find(other, session, 'shown'), null);
  assert.notEqual(store.grants.find({ ...subject }, session, 'shown'), null);
});

test('names that differ only in a lone surrogate are different subjects', (t) => {
  const { store, session } = setUp(t);
  give(store, session, subjectOf('send\ud800'), 'session');
  assert.equal(store.grants.find(subjectOf('send\ud801'), session, 'shown'), null);
  assert.equal(store.grants.find(subjectOf('send\ufffd'), session, 'shown'), null);
  assert.equal(store.grants.find(subjectOf('send\ud800'), session, 'shown')?.subject.what, 'send\ud800');
});

test('grants are listed newest first, and by filter', (t) => {
  const { store, session } = setUp(t);
  const other = store.sessions.create();
  const mail = give(
    store,
    session,
    { scope: 'exchange', from: id('travel'), to: id('mail'), what: 'x' },
    'once',
  );
  const drive = give(
    store,
    other,
    { scope: 'data-release', from: null, to: id('drive'), what: 'y' },
    'session',
  );
  const site = give(
    store,
    other,
    { scope: 'egress', from: id('drive'), to: null, what: 'example.org' },
    'permanent',
  );
  store.grants.consume(mail.id, session);
  store.grants.revoke(drive.id);
  const ids = (filter: Parameters<Store['grants']['list']>[0]) =>
    store.grants.list(filter).map((grant) => grant.id);

  assert.deepEqual(ids({}), [site.id, drive.id, mail.id]);
  assert.deepEqual(ids({ live: true }), [site.id]);
  assert.deepEqual(ids({ scope: 'data-release' }), [drive.id]);
  assert.deepEqual(ids({ app: id('drive') }), [site.id, drive.id]);
  assert.deepEqual(ids({ session }), [mail.id]);
  assert.deepEqual(ids({ session, live: true }), []);
  assert.equal(store.grants.list({ session })[0]?.usedAt, 1_700_000_000_000);
  assert.equal(store.grants.list({ scope: 'data-release' })[0]?.revokedAt, 1_700_000_000_000);
});

test('of several processes that spend the same once-grants at the same time, each grant has one winner', async (t) => {
  const folder = temporaryFolder(t);
  const store = storeIn(t, folder);
  const session = store.sessions.create();
  const grants = Array.from(
    { length: 60 },
    (_, n) => give(store, session, subjectOf(`action ${n}`), 'once').id,
  );
  const children = [1, 2, 3].map(() => startChild(t, 'consume', [folder, session, ...grants]));
  for (const child of children) await child.line();
  for (const child of children) child.go();
  const won = (await Promise.all(children.map((child) => child.rest()))).flat();
  assert.deepEqual([...won].sort(), [...grants].sort());
});

function setUp(t: Parameters<typeof temporaryFolder>[0]): { store: Store; session: SessionId } {
  const store = storeIn(t, temporaryFolder(t));
  return { store, session: store.sessions.create() };
}

function give(
  store: Store,
  session: SessionId,
  subject: PermissionSubject,
  duration: Exclude<GrantDuration, 'until'>,
): Grant {
  const given = store.grants.give({ subject, duration, session, digest: 'shown' });
  if (!given.ok) throw new Error(given.fault.message);
  return given.value;
}

/** A store whose clock the test moves. */
function withClock(t: Parameters<typeof temporaryFolder>[0], folder = temporaryFolder(t)) {
  const clock = { now: 1_000 };
  const opened = openStore(folder, () => clock.now);
  if (!opened.ok) throw new Error(opened.fault.message);
  t.after(() => opened.value.close());
  return { clock, folder, store: opened.value };
}

function giveUntil(store: Store, session: SessionId, until: number, what = 'fare') {
  return store.grants.give({
    subject: subjectOf(what),
    duration: 'until',
    until,
    session,
    digest: 'shown',
  });
}

test('a grant until a time authorises up to that moment, in every session, and not at it', (t) => {
  const { store, clock } = withClock(t);
  const given = giveUntil(store, store.sessions.create(), 2_000);
  assert.ok(given.ok);
  assert.equal(given.value.session, null);
  const other = store.sessions.create();
  clock.now = 1_999;
  assert.equal(store.grants.find(subjectOf('fare'), other, 'shown')?.id, given.value.id);
  assert.equal(store.grants.consume(given.value.id, other), true);
  clock.now = 2_000;
  assert.equal(store.grants.find(subjectOf('fare'), other, 'shown'), null);
  assert.equal(store.grants.consume(given.value.id, other), false);
  assert.deepEqual(store.grants.list({ live: true }), []);
  assert.equal(store.grants.list()[0]?.expiredAt, 2_000);
});

test('a clock that is put back revives no grant, in this process or another', (t) => {
  const { store, clock, folder } = withClock(t);
  const session = store.sessions.create();
  const given = giveUntil(store, session, 2_000);
  assert.ok(given.ok);
  clock.now = 2_000;
  assert.deepEqual(store.grants.list({ live: true }), []);
  clock.now = 1_500;
  assert.equal(store.grants.find(subjectOf('fare'), session, 'shown'), null);
  assert.equal(store.grants.consume(given.value.id, session), false);
  const again = withClock(t, folder);
  again.clock.now = 1_500;
  assert.equal(again.store.grants.consume(given.value.id, session), false);
});

test('what the journal has seen of time counts where the clock was put back before anybody looked', (t) => {
  const { store, clock, folder } = withClock(t);
  const session = store.sessions.create();
  const given = giveUntil(store, session, 2_000);
  assert.ok(given.ok);
  clock.now = 2_001;
  append(store, session, say('later'));
  store.close();
  const again = withClock(t, folder);
  again.clock.now = 1_500;
  assert.equal(again.store.grants.consume(given.value.id, session), false);
});

test('a time that is over, or is none, is refused; one that is to come is taken', (t) => {
  const { store } = withClock(t);
  const session = store.sessions.create();
  for (const until of [999, 1_000, Number.NaN, Number.POSITIVE_INFINITY, 8.64e15 + 1]) {
    const given = giveUntil(store, session, until);
    assert.equal(given.ok ? 'given' : given.fault.kind, 'over-already', String(until));
  }
  assert.equal(giveUntil(store, session, 1_001).ok, true);
});

test('a scope that is none is not permitted beyond the session, whatever it is called', (t) => {
  const { store, session } = setUp(t);
  for (const scope of ['unknown', 'constructor', '__proto__'] as readonly string[]) {
    const subject: PermissionSubject = { ...subjectOf('send'), scope: scope as PermissionSubject['scope'] };
    const given = store.grants.give({ subject, duration: 'permanent', session, digest: 'shown' });
    assert.equal(given.ok ? 'given' : given.fault.kind, 'never-permanent', scope);
  }
});

test('what cannot be undone, and what a rule asks, is never permitted until a time', (t) => {
  const { store } = withClock(t);
  const session = store.sessions.create();
  for (const scope of ['irreversible-action', 'policy'] as const) {
    const subject = subjectOf('send', scope);
    const given = store.grants.give({ subject, duration: 'until', until: 2_000, session, digest: 'shown' });
    assert.equal(given.ok ? 'given' : given.fault.kind, 'never-permanent');
  }
});

test('an end that is set later ends a grant; none is moved back', (t) => {
  const { store, clock } = withClock(t);
  const session = store.sessions.create();
  const permanent = give(store, session, subjectOf('fare'), 'permanent');
  assert.equal(store.grants.expire(permanent.id, 3_000), true);
  assert.equal(store.grants.expire(permanent.id, 4_000), false);
  assert.equal(store.grants.expire(permanent.id, 2_000), true);
  assert.equal(store.grants.consume(permanent.id, session), true);
  clock.now = 2_000;
  assert.equal(store.grants.consume(permanent.id, session), false);
  assert.equal(store.grants.expire(permanent.id, 1_500), false);
  assert.equal(store.grants.expire(id('unknown'), 5_000), false);
});

test('an end that has come already ends a grant at once', (t) => {
  const { store } = withClock(t);
  const session = store.sessions.create();
  const grant = give(store, session, subjectOf('fare'), 'session');
  assert.equal(store.grants.expire(grant.id, 1_000), true);
  assert.equal(store.grants.find(subjectOf('fare'), session, 'shown'), null);
});

test('the schema itself refuses an end that is moved back and an end that is taken back', (t) => {
  const { store, folder } = withClock(t);
  const session = store.sessions.create();
  assert.ok(giveUntil(store, session, 2_000).ok);
  const database = new DatabaseSync(join(folder, 'cordon.db'));
  t.after(() => database.close());
  assert.throws(() => database.exec('UPDATE grants SET ends_at = 3000'), /never lasts longer/);
  assert.throws(() => database.exec('UPDATE grants SET ends_at = NULL'), /never lasts longer/);
  database.exec('UPDATE grants SET expired_at = 2000');
  assert.throws(() => database.exec('UPDATE grants SET expired_at = NULL'), /over for good/);
});

test('a flow was permitted if a grant for it was given, and not if that was taken back', (t) => {
  const { store, session } = setUp(t);
  assert.equal(store.grants.hasFlowed('mail to drive'), false);
  const subject = subjectOf('fare');
  const flows = ['mail to drive', 'mail to drive', 'rides to drive'];
  const given = store.grants.give({ subject, duration: 'once', session, digest: 'shown', flows });
  assert.ok(given.ok);
  store.grants.consume(given.value.id, session);
  assert.equal(store.grants.hasFlowed('mail to drive'), true);
  assert.equal(store.grants.hasFlowed('rides to drive'), true);
  assert.equal(store.grants.hasFlowed('mail to rides'), false);
  store.grants.revoke(given.value.id);
  assert.equal(store.grants.hasFlowed('mail to drive'), false);
});

test('a lasting grant of other apps of the same names is seen to be outdated, a spent one is not', (t) => {
  const { store, session } = setUp(t);
  const subject = subjectOf('fare');
  store.grants.give({ subject, duration: 'once', session, digest: 'shown', binding: 'old' });
  assert.equal(store.grants.isOutdated(subject, 'new'), false);
  store.grants.give({ subject, duration: 'session', session, digest: 'shown', binding: 'old' });
  assert.equal(store.grants.isOutdated(subject, 'new'), true);
  assert.equal(store.grants.isOutdated(subject, 'old'), false);
});

test('a store of before delegations keeps its grants and flows, and takes one for a delegation', (t) => {
  const folder = temporaryFolder(t);
  // The files and their rights are those of a store.
  openOrThrow(folder).close();
  const file = join(folder, 'cordon.db');
  rmSync(file);
  const raw = new DatabaseSync(file);
  const before = SCHEMA_STEPS.findIndex((step) => step.includes("'delegation'"));
  for (const step of SCHEMA_STEPS.slice(0, before)) raw.exec(step);
  raw.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${before};
    INSERT INTO grants (key, id, subject, scope, duration, digest, given_at)
      VALUES (7, 'g-7', '${canonicalJson(toJson(subjectOf('fare')))}', 'exchange', 'permanent', 'shown', 1);
    INSERT INTO grant_flows (flow, granted) VALUES ('mail to rides', 7);`);
  raw.close();
  const store = storeIn(t, folder);
  const session = store.sessions.create();
  assert.equal(store.grants.find(subjectOf('fare'), session, 'shown')?.id, 'g-7');
  assert.equal(store.grants.hasFlowed('mail to rides'), true);
  const subject: PermissionSubject = { ...subjectOf('page'), scope: 'delegation' };
  assert.deepEqual(give(store, session, subject, 'once').subject, subject);
  const longer = store.grants.give({ subject, session, duration: 'permanent', digest: 'shown' });
  assert.equal(longer.ok, false);
  const after = new DatabaseSync(file);
  assert.deepEqual(after.prepare('PRAGMA foreign_key_check').all(), []);
  // Each index and trigger is what it is in a new store.
  const schema = 'SELECT type, name, sql FROM sqlite_schema ORDER BY type, name';
  const fresh = new DatabaseSync(storeIn(t, temporaryFolder(t)).file, { readOnly: true });
  t.after(() => fresh.close());
  assert.deepEqual(after.prepare(schema).all(), fresh.prepare(schema).all());
  assert.throws(() => after.exec("UPDATE grants SET digest = 'another'"), {
    message: 'a grant is never changed',
  });
  after.close();
});
