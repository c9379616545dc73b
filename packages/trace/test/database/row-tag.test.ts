/** Rows that give a right: what somebody who writes the file without the key can make of them. */
import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';

import {
  type EventId,
  type GrantTerm,
  HUB_LABEL,
  id,
  type PermissionScope,
  type SessionId,
} from '@cordon/core';
import type { Store, StoreKey, StoreOptions } from '@cordon/trace';

import { TAGGED_TABLES } from '../../src/database/row-tag.ts';
import { SCHEMA_STEPS } from '../../src/database/schema.ts';
import { append, openOrThrow, say, storeIn, subjectOf, temporaryFolder } from '../fixture.ts';

const KEY: StoreKey = { kind: 'bytes', bytes: Buffer.alloc(32, 7) };
const KEYED: readonly (readonly [string, StoreOptions])[] = [
  ['the key of the store', { key: KEY }],
  ['the key of the journal', { journalKey: Buffer.alloc(32, 9) }],
];
const SEND = subjectOf('send', 'irreversible-action');

/** As somebody who may write the file and knows the schema, and has no key. */
function write(t: TestContext, store: Store, ...statements: readonly string[]): void {
  const raw = new DatabaseSync(store.file, { enableForeignKeyConstraints: false });
  t.after(() => raw.isOpen && raw.close());
  raw.exec('PRAGMA ignore_check_constraints = ON');
  const sql = "SELECT name FROM sqlite_schema WHERE type = 'trigger'";
  for (const { name } of raw.prepare(sql).all()) raw.exec(`DROP TRIGGER "${String(name)}"`);
  for (const statement of statements) raw.exec(statement);
  raw.close();
}

function give(store: Store, session: SessionId, what: string, scope: PermissionScope, term: GrantTerm) {
  const request = { subject: subjectOf(what, scope), session, digest: 'shown', flows: [`flow of ${what}`] };
  const given = store.grants.give({ ...request, ...term });
  assert.ok(given.ok);
  return given.value;
}

const FORGED = `UPDATE grants SET duration = 'permanent', session = NULL, used_at = NULL, scope = 'exchange'`;

for (const [name, options] of [...KEYED, ['no key', {}] as const]) {
  test(`with ${name} a used grant for once is not made a permanent one, for what cannot be undone, by a change of the file`, (t) => {
    const store = storeIn(t, temporaryFolder(t), options);
    const session = store.sessions.create();
    const once = give(store, session, 'send', 'irreversible-action', { duration: 'once' });
    assert.equal(store.grants.consume(once.id, session), true);
    write(t, store, FORGED);
    for (const one of [session, store.sessions.create()]) {
      assert.equal(store.grants.find(SEND, one, 'shown'), null);
      assert.equal(store.grants.consume(once.id, one), false);
    }
    assert.deepEqual(store.grants.list({ live: true }), []);
    // The twin: one for the session that nobody has touched.
    const kept = give(store, session, 'send', 'irreversible-action', { duration: 'session' });
    assert.equal(store.grants.find(SEND, session, 'shown')?.id, kept.id);
    assert.equal(store.grants.consume(kept.id, session), true);
  });
}

test('without a key an irreversible permission of the session serves no other session, whatever the file says of it', (t) => {
  const store = storeIn(t, temporaryFolder(t));
  const session = store.sessions.create();
  for (const scope of ['irreversible-action', 'policy'] as const)
    give(store, session, 'send', scope, { duration: 'session' });
  write(
    t,
    store,
    `UPDATE grants SET session = NULL`,
    `INSERT INTO grants (id, subject, scope, duration, ends_at, digest, given_at)
      SELECT 'until', subject, 'exchange', 'until', 9e14, digest, given_at FROM grants WHERE key = 1`,
  );
  for (const scope of ['irreversible-action', 'policy'] as const)
    for (const one of [session, store.sessions.create()])
      assert.equal(store.grants.find(subjectOf('send', scope), one, 'shown'), null);
  assert.equal(store.grants.consume(id('until'), session), false);
});

/** One row of each table, in force. */
function withRights(t: TestContext, options: StoreOptions) {
  const store = storeIn(t, temporaryFolder(t), options);
  const session = store.sessions.create();
  const other = store.sessions.create();
  const asked: EventId = append(store, session, say('the question')).id;
  const grant = give(store, session, 'fare', 'exchange', { duration: 'session' });
  const pin = { place: '/home', app: id<'app'>('mail'), configured: {}, description: 'd', digest: 'd1' };
  store.pins.pin({ ...pin, by: 'user' });
  store.pins.agreeTo('/home/cordon.json', 'f1');
  const prompt = { id: asked, session, question: 'which?', choices: [id<'app'>('mail')] };
  store.prompts.open({ kind: 'choice', prompt }, 'fingerprint');
  store.prompts.answer(asked, { kind: 'choice', choice: null });
  const rights = {
    grants: () =>
      store.grants.consume(grant.id, session) &&
      store.grants.find(grant.subject, session, 'shown')?.id === grant.id,
    grant_flows: () => store.grants.hasFlowed('flow of fare'),
    pins: () => store.pins.find('/home', id('mail'))?.digest === 'd1',
    agreed_files: () => store.pins.hasAgreedTo('/home/cordon.json', 'f1'),
    prompts: () => store.prompts.answered(asked) !== null,
  };
  return { store, session, other, asked, grant, rights };
}

/** Another value that the table could hold there. */
const OTHER_VALUES: Readonly<Record<string, string>> = {
  session: '2',
  scope: `'egress'`,
  duration: `'once'`,
  given_by: `'option'`,
  granted: '2',
};

for (const [name, options] of KEYED)
  for (const [table, { columns }] of Object.entries(TAGGED_TABLES) as [
    keyof typeof TAGGED_TABLES,
    { columns: readonly string[] },
  ][]) {
    const fields = columns.map((column) =>
      column === 's.id' ? 'session' : column === 'g.id' ? 'granted' : column.slice(2),
    );
    test(`with ${name} a row of ${table} gives no right once any of its columns was changed, and does unchanged`, (t) => {
      for (const field of fields) {
        const { store, other, session, rights } = withRights(t, options);
        give(store, other, 'other', 'exchange', { duration: 'session' });
        assert.equal(rights[table](), true, field);
        const time = /_at$/.test(field) ? '1234' : `'another'`;
        write(t, store, `UPDATE ${table} SET ${field} = ${OTHER_VALUES[field] ?? time} WHERE rowid = 1`);
        assert.equal(rights[table](), false, `${table}.${field}`);
        const found = store.rightsWithoutEffect().find((one) => one.table === table);
        assert.equal(found?.changed, 1, `${table}.${field}`);
        assert.equal(store.sessions.find(session)?.status, 'running');
      }
    });
  }

test('every column of a tagged table is in its tag', (t) => {
  const store = storeIn(t, temporaryFolder(t));
  const raw = new DatabaseSync(store.file, { readOnly: true });
  for (const [table, { columns }] of Object.entries(TAGGED_TABLES)) {
    const names = raw.prepare(`SELECT name FROM pragma_table_info('${table}')`).all();
    const tagged = columns.map((column) =>
      column === 's.id' ? 'session' : column === 'g.id' ? 'granted' : column.slice(2),
    );
    assert.deepEqual(
      names.map((row) => String(row.name)).sort(),
      [...tagged, 'tag', ...(table === 'agreed_files' || table === 'grant_flows' ? [] : ['key'])].sort(),
    );
  }
  raw.close();
});

test('with a key a row that was copied, or whose tag was taken away or from another, gives no right', (t) => {
  for (const change of [
    'UPDATE grants SET tag = NULL',
    'UPDATE grants SET tag = (SELECT tag FROM grants WHERE key = 2) WHERE key = 1',
    `UPDATE grants SET tag = x'00' WHERE key = 1`,
    'UPDATE sessions SET id = key; UPDATE grants SET session = 2 WHERE key = 1',
  ]) {
    const { store, session, grant } = withRights(t, { key: KEY });
    give(store, session, 'other', 'exchange', { duration: 'session' });
    write(t, store, change);
    assert.equal(store.grants.find(grant.subject, session, 'shown'), null, change);
  }
});

test('no change that this process makes vouches for a row that somebody forged', (t) => {
  const { store, session, grant } = withRights(t, { key: KEY });
  write(t, store, 'UPDATE grants SET digest = subject');
  store.grants.expire(grant.id, 9e14);
  store.grants.revoke(grant.id);
  assert.equal(store.grants.find(grant.subject, session, 'shown'), null);
  assert.equal(store.rightsWithoutEffect().find(({ table }) => table === 'grants')?.changed, 1);
});

test('what was used, revoked, ended, stopped and answered with the key counts as that', (t) => {
  const { store, session, grant, asked } = withRights(t, { key: KEY });
  const once = give(store, session, 'once', 'exchange', { duration: 'once' });
  assert.equal(store.grants.consume(once.id, session), true);
  store.grants.revoke(grant.id);
  const pin = { place: '/home', app: id<'app'>('mail'), digest: 'd1' };
  assert.equal(store.pins.stop(pin, { configured: {}, description: 'e', digest: 'd2' }), true);
  assert.notEqual(store.pins.find('/home', id('mail'))?.stopped, null);
  assert.equal(store.pins.remove('/home', id('mail')), true);
  assert.deepEqual(store.prompts.close(asked), { kind: 'choice', choice: null });
  assert.deepEqual(
    store.rightsWithoutEffect().filter(({ untagged, changed }) => untagged + changed > 0),
    [],
  );
  assert.deepEqual(
    store.grants.list().map(({ isAuthentic }) => isAuthentic),
    [true, true],
  );
});

test('a question that is put back with its old yes is asked again, and one whose answer nobody has taken is not', (t) => {
  const store = storeIn(t, temporaryFolder(t), { key: KEY });
  const session = store.sessions.create();
  const question = { question: 'Which?', choices: [id<'app'>('mail')] };
  const ask = () => {
    const asked = append(store, session, { kind: 'choice.asked', ...question }).id;
    const opened = store.prompts.open(
      { kind: 'choice', prompt: { id: asked, session, ...question } },
      'same',
    );
    return opened ?? assert.fail();
  };
  const answer = { kind: 'choice', choice: { app: id<'app'>('mail'), duration: 'once' } } as const;
  const first = ask();
  store.prompts.answer(first.id, answer);
  // The session was killed and goes on: it finds the answer under the same question.
  assert.deepEqual(ask().answer, answer);
  write(t, store, 'CREATE TABLE copy AS SELECT * FROM prompts');
  assert.notEqual(store.prompts.close(first.id), null);
  store.journal.append(session, null, null, [first.id], HUB_LABEL, {
    kind: 'choice.answered',
    choice: id('mail'),
  });
  write(t, store, 'DELETE FROM prompts', 'INSERT INTO prompts SELECT * FROM copy');
  const again = ask();
  assert.equal(again.answer, null);
  assert.notEqual(again.id, first.id);
});

/** Rows as a version left them that had no tags. */
function asBefore(store: Store): void {
  const raw = new DatabaseSync(store.file);
  for (const table of Object.keys(TAGGED_TABLES)) raw.exec(`UPDATE ${table} SET tag = NULL`);
  raw.close();
}

test('rights that an encrypted store has from before there were tags are asked again, and its texts stay', (t) => {
  const folder = temporaryFolder(t);
  const store = openOrThrow(folder, { key: KEY });
  const session = store.sessions.create();
  append(store, session, { kind: 'user.message', text: 'hello' });
  const grant = give(store, session, 'fare', 'exchange', { duration: 'permanent' });
  store.pins.agreeTo('/home/cordon.json', 'f1');
  store.close();
  asBefore(store);
  const opened = storeIn(t, folder, { key: KEY });
  assert.equal(opened.grants.find(grant.subject, opened.sessions.create(), 'shown'), null);
  assert.equal(opened.pins.hasAgreedTo('/home/cordon.json', 'f1'), false);
  assert.equal(opened.sessions.find(session)?.firstQuery, 'hello');
  assert.equal(opened.grants.list()[0]?.isAuthentic, false);
  const rights = opened.rightsWithoutEffect();
  assert.equal(rights.find(({ table }) => table === 'grants')?.untagged, 1);
  opened.pins.agreeTo('/home/cordon.json', 'f1');
  assert.equal(opened.pins.hasAgreedTo('/home/cordon.json', 'f1'), true);
});

test('without a key a store from before there were tags keeps its rights', (t) => {
  const folder = temporaryFolder(t);
  const store = openOrThrow(folder);
  const grant = give(store, store.sessions.create(), 'fare', 'exchange', { duration: 'permanent' });
  store.close();
  asBefore(store);
  const opened = storeIn(t, folder);
  assert.equal(opened.grants.find(grant.subject, opened.sessions.create(), 'shown')?.id, grant.id);
});

test('who gives a store its key, or another one, keeps the rights; a row that was forged before gets none', (t) => {
  const { store, session, rights } = withRights(t, {});
  const forged = give(store, session, 'forged', 'exchange', { duration: 'session' });
  const all = () => Object.values(rights).every((right) => right());
  store.reseal(KEY);
  assert.equal(all(), true);
  write(t, store, `UPDATE grants SET given_at = 5 WHERE id = '${forged.id}'`);
  store.reseal({ kind: 'bytes', bytes: Buffer.alloc(32, 8) });
  assert.equal(all(), true);
  assert.equal(store.grants.find(forged.subject, session, 'shown'), null);
});

test('a store that holds planted agreements and no text vouches for none of them when it is first opened with a key', (t) => {
  const folder = temporaryFolder(t);
  const store = openOrThrow(folder);
  store.pins.agreeTo('/home/cordon.json', 'f1');
  store.close();
  const opened = storeIn(t, folder, { key: KEY });
  assert.equal(opened.isSealed, true);
  assert.equal(opened.pins.hasAgreedTo('/home/cordon.json', 'f1'), false);
});

test('a tagged grant and its flow keep their tags where the tables are copied', (t) => {
  const folder = temporaryFolder(t);
  const store = openOrThrow(folder, { key: KEY });
  const session = store.sessions.create();
  const first = give(store, session, 'find', 'exchange', { duration: 'permanent' });
  const kept = give(store, session, 'look', 'exchange', { duration: 'permanent' });
  const raw = new DatabaseSync(store.file);
  // The rows have other numbers than their order says.
  raw.exec(`DELETE FROM grant_flows WHERE granted = (SELECT key FROM grants WHERE id = '${first.id}')`);
  raw.exec(`PRAGMA user_version = ${SCHEMA_STEPS.findIndex((step) => step.includes("'delegation'"))}`);
  raw.close();
  store.close();
  const again = storeIn(t, folder, { key: KEY });
  assert.equal(again.grants.find(subjectOf('look', 'exchange'), session, 'shown')?.id, kept.id);
  assert.equal(again.grants.hasFlowed('flow of look'), true);
  assert.equal(again.grants.hasFlowed('flow of find'), false);
});
