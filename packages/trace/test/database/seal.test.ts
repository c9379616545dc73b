import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';

import { HUB_LABEL, id, type SessionId, USER_LABEL } from '@cordon/core';
import { openStore, parseStoreKey, type Store, type StoreKey } from '@cordon/trace';
import { bytesOf, textOf } from '../../src/database/row.ts';
import { TAGGED_TABLES } from '../../src/database/row-tag.ts';
import { sealOf } from '../../src/database/seal.ts';
import {
  boundColumns,
  boundRow,
  OWNER_ONLY,
  placeOf,
  SEALED_COLUMNS,
} from '../../src/database/sealed-column.ts';
import type { Provenance } from '../../src/memory/memory-item.ts';
import { append, openOrThrow, storeIn, subjectOf, temporaryFolder } from '../fixture.ts';

const MARKER = 'MARKER-0b5e';
const KEY = keyOf('6f'.repeat(32));
const OTHER = keyOf('a passphrase of some length');
const USER = { origin: null, source: null, label: USER_LABEL } as const;

test('a store with a key has no text in its files, and gives every text back', (t) => {
  const folder = temporaryFolder(t);
  const store = storeIn(t, folder, { key: KEY });
  const session = fill(store);
  assert.deepEqual(filesWith(folder, MARKER), []);
  assertFilled(store, session);
  store.close();
  assert.deepEqual(filesWith(folder, MARKER), []);
  assertFilled(storeIn(t, folder, { key: KEY }), session);
});

test('a store without a key has its texts in the file', (t) => {
  const folder = temporaryFolder(t);
  const store = storeIn(t, folder);
  const session = fill(store);
  assertFilled(store, session);
  assert.notDeepEqual(filesWith(folder, MARKER), []);
});

for (const [name, given, kind] of [
  ['another key', KEY, 'key-wrong'],
  ['no key', null, 'key-missing'],
  ['the right key', OTHER, null],
] as const) {
  test(`a store that is encrypted opens with ${name}: ${kind ?? 'yes'}`, (t) => {
    const folder = temporaryFolder(t);
    openOrThrow(folder, { key: OTHER }).close();
    const opened = openStore(folder, () => 0, { key: given });
    assert.equal(opened.ok ? null : opened.fault.kind, kind);
    if (opened.ok) opened.value.close();
  });
}

test('a key for a store with texts in the clear is refused, and nothing is changed', (t) => {
  const folder = temporaryFolder(t);
  const store = openOrThrow(folder);
  const session = fill(store);
  store.close();
  const opened = openStore(folder, () => 0, { key: KEY });
  assert.equal(opened.ok ? null : opened.fault.kind, 'key-unused');
  assertFilled(storeIn(t, folder), session);
});

test('an existing store is encrypted, given another key, and decrypted, with every text and every chain kept', (t) => {
  const folder = temporaryFolder(t);
  const store = openOrThrow(folder);
  const session = fill(store);
  const head = store.journal.head(session);
  for (const key of [KEY, OTHER, KEY]) {
    store.reseal(key);
    assert.equal(store.scrub(), true);
    assert.deepEqual(filesWith(folder, MARKER), []);
    assertFilled(store, session);
    assert.deepEqual(store.journal.head(session), head);
  }
  store.close();
  const reopened = storeIn(t, folder, { key: KEY });
  assertFilled(reopened, session);
  reopened.reseal(null);
  assertFilled(reopened, session);
  assert.notDeepEqual(filesWith(folder, MARKER), []);
});

test('a process that opened the store before it got a key can write nothing into it any more', (t) => {
  const folder = temporaryFolder(t);
  const old = storeIn(t, folder);
  const session = old.sessions.create();
  const other = storeIn(t, folder);
  other.reseal(KEY);
  const refused = { name: 'StoreFailure', fault: { kind: 'key-changed' } };
  const kindOf = (work: () => unknown) => {
    try {
      work();
      return 'written';
    } catch (error) {
      return error instanceof Error && 'fault' in error ? Object(error.fault).kind : error;
    }
  };
  assert.equal(
    kindOf(() => old.memory({ kind: 'system' }).learn('a', MARKER, USER)),
    refused.fault.kind,
  );
  assert.notEqual(
    kindOf(() => append(old, session, { kind: 'user.message', text: MARKER })),
    'written',
  );
  assert.equal(
    kindOf(() => old.reseal(OTHER)),
    'key-changed',
  );
  // No text is in these, and a head that nobody can open would keep the store from ever getting another key.
  assert.equal(
    kindOf(() => old.sessions.create()),
    'key-changed',
  );
  assert.equal(
    kindOf(() => old.pins.agreeTo('/a', 'b')),
    'key-changed',
  );
  assert.deepEqual(filesWith(folder, MARKER), []);
  other.reseal(OTHER);
  assert.equal(
    kindOf(() => other.memory({ kind: 'system' }).learn('a', 'b', USER)),
    'written',
  );
});

test('a sealed value opens in its own row and for its own owner only', (t) => {
  const folder = temporaryFolder(t);
  const store = openOrThrow(folder, { key: KEY });
  const session = store.sessions.create();
  for (const app of ['mail', 'notes'])
    for (const text of ['one', 'two'])
      store.memory({ kind: 'spoke', app: id(app) }).record(session, 'user', `${app} ${text}`, USER);
  store.close();
  const swaps: readonly (readonly [string, string])[] = [
    ['another row', 'UPDATE turns SET text = (SELECT text FROM turns WHERE key = 2) WHERE key = 1'],
    ['another owner', 'UPDATE turns SET text = (SELECT text FROM turns WHERE key = 3) WHERE key = 1'],
    ['cut off', 'UPDATE turns SET text = substr(text, 1, 20) WHERE key = 1'],
    ['in the clear', `UPDATE turns SET text = '"forged"' WHERE key = 1`],
  ];
  for (const [name, sql] of swaps) {
    const raw = new DatabaseSync(join(folder, 'cordon.db'));
    const [before] = raw.prepare('SELECT text FROM turns WHERE key = 1').all();
    raw.exec(sql);
    const opened = openOrThrow(folder, { key: KEY });
    const mail = opened.memory({ kind: 'spoke', app: id('mail') });
    assert.throws(() => mail.history(session), { message: /damaged/ }, name);
    raw.prepare('UPDATE turns SET text = ? WHERE key = 1').run(String(before?.text));
    assert.equal(mail.history(session).length, 2);
    opened.close();
    raw.close();
  }
});

const RELABELLED: readonly (readonly [what: string, table: 'turns' | 'summaries' | 'facts', set: string])[] =
  [
    ['the integrity of a turn', 'turns', "integrity = 'trusted'"],
    ['the confidentiality of a turn', 'turns', "confidentiality = 'public'"],
    ['the role of a turn', 'turns', "role = 'user'"],
    ['the session of a turn', 'turns', 'session = 2'],
    ['the app of a turn', 'turns', 'origin = NULL'],
    ['the source of a turn', 'turns', "source = 'another'"],
    ['the time of a turn', 'turns', 'time = 7'],
    ['whose values a turn may hold', 'turns', 'others_values = 0'],
    ['whose values a summary may hold', 'summaries', 'others_values = 0'],
    ['the integrity of a summary', 'summaries', "integrity = 'trusted'"],
    ['what a summary covers', 'summaries', 'through = 0'],
    ['the session of a summary', 'summaries', 'session = 2'],
    ['who stated a fact', 'facts', "learnt = 'stated'"],
    ['the app of a fact', 'facts', "origin = ''"],
    ['the integrity of a fact', 'facts', "integrity = 'trusted'"],
    ['the name of a fact', 'facts', "name = (SELECT name FROM facts WHERE learnt = 'stated')"],
  ];
for (const [what, table, set] of RELABELLED) {
  test(`in a store with a key no text opens once somebody has changed ${what}, and each does that was left`, (t) => {
    const folder = temporaryFolder(t);
    const store = openOrThrow(folder, { key: KEY });
    const session = store.sessions.create();
    store.sessions.create();
    const memory = store.memory({ kind: 'spoke', app: id('mail') });
    const others: Provenance = {
      origin: id('mail'),
      source: id('event'),
      label: { integrity: 'untrusted', confidentiality: 'private' },
      holdsOthersValues: true,
    };
    memory.record(session, 'assistant', 'a mail', others);
    memory.summarise(session, { text: 'mails', madeBy: 'model', through: 1, ...others });
    memory.learn('account', '7', others, 'observed');
    memory.learn('street', 'Oak Lane', USER);
    // Moved to another session, a text is read as that one's.
    const sessions = store.sessions.list().map((one) => one.id);
    const read = {
      turns: () => sessions.map((one) => memory.history(one)),
      summaries: () => sessions.map((one) => memory.summary(one)),
      facts: () => memory.facts(),
    };
    const raw = new DatabaseSync(store.file);
    t.after(() => {
      raw.close();
      store.close();
    });
    raw.exec('DROP TRIGGER turns_keep_their_owner; DROP TRIGGER summaries_keep_their_owner');
    for (const name of ['turns', 'summaries', 'facts'] as const) assert.doesNotThrow(read[name]);
    const where = table === 'facts' ? "WHERE learnt = 'observed'" : '';
    raw.exec(`UPDATE ${table} SET ${set} ${where}`);
    assert.throws(read[table], { message: /damaged/ });
    for (const name of ['turns', 'summaries', 'facts'] as const)
      if (name !== table) assert.doesNotThrow(read[name]);
  });
}

/** Puts the texts of memory as versions did that bound them to their owner only. */
function asBefore(folder: string): void {
  const raw = new DatabaseSync(join(folder, 'cordon.db'));
  raw.exec('DROP TRIGGER summaries_go_with_corrected_turns');
  const row = raw.prepare('SELECT mark, salt FROM seal').get() ?? {};
  const seal = sealOf(KEY, { derivation: 'hkdf', mark: textOf(row, 'mark'), salt: bytesOf(row, 'salt') });
  for (const sealed of SEALED_COLUMNS.filter(({ table }) =>
    ['facts', 'turns', 'summaries'].includes(table),
  )) {
    const { name, table, column } = sealed;
    if (name === 'facts.name') continue;
    for (const read of raw.prepare(`SELECT ${boundColumns(sealed)} FROM ${table} t`).all()) {
      const row = boundRow(sealed, read, seal);
      const text = seal.open(String(read.sealed_value), placeOf(name, row));
      raw
        .prepare(`UPDATE ${table} SET ${column} = ? WHERE rowid = ?`)
        .run(seal.close(text, placeOf(name, row, OWNER_ONLY)), Number(read.sealed_at));
    }
  }
  raw.prepare('UPDATE seal SET check_value = ?').run(seal.close('"cordon"', ['seal.check_value']));
  raw.exec('ALTER TABLE seal DROP COLUMN binding');
  for (const table of ['turns', 'summaries']) raw.exec(`ALTER TABLE ${table} DROP COLUMN others_values`);
  for (const table of Object.keys(TAGGED_TABLES)) raw.exec(`ALTER TABLE ${table} DROP COLUMN tag`);
  for (const { id: session, head } of raw.prepare('SELECT id, head FROM sessions').all()) {
    const name = String(session);
    const place = (acknowledged: number) => placeOf('sessions.head', { id: name, acknowledged });
    const bytes = seal.openBytes(bytesOf({ head: head ?? null }, 'head'), place(1));
    raw.prepare('UPDATE sessions SET head = ? WHERE id = ?').run(seal.closeBytes(bytes, place(0)), name);
  }
  raw.exec('DROP INDEX turns_by_owner');
  raw.exec('DROP TABLE logins');
  raw.exec('ALTER TABLE sessions DROP COLUMN acknowledged');
  for (const table of ['turns', 'summaries', 'facts']) raw.exec(`ALTER TABLE ${table} DROP COLUMN corrected`);
  raw.exec('PRAGMA user_version = 5');
  raw.close();
}

test('a store that an earlier version encrypted is sealed anew when it is opened, with every text kept', (t) => {
  const folder = temporaryFolder(t);
  const store = openOrThrow(folder, { key: KEY });
  const session = fill(store);
  const head = store.journal.head(session);
  store.close();
  asBefore(folder);
  const opened = storeIn(t, folder, { key: KEY });
  // What was permitted has no tag, and is asked again (row-tag.test.ts).
  assertTexts(opened, session);
  assert.deepEqual(opened.journal.head(session), head);
  assert.deepEqual(filesWith(folder, MARKER), []);
  const raw = new DatabaseSync(opened.file);
  assert.equal(raw.prepare('SELECT binding FROM seal').get()?.binding, 2);
  raw.exec("UPDATE turns SET integrity = 'untrusted'");
  raw.close();
  assert.throws(() => assertTexts(opened, session), { message: /damaged/ });
});

test('an earlier version that still has the store open writes nothing into it once it was sealed anew', (t) => {
  const folder = temporaryFolder(t);
  const store = openOrThrow(folder, { key: KEY });
  fill(store);
  asBefore(folder);
  storeIn(t, folder, { key: KEY });
  assert.throws(() => store.memory({ kind: 'system' }).learn('a', 'b', USER), { message: /key/ });
  store.close();
});

/** A row with every column to which a text is bound. */
const BOUND = {
  ...{
    owner: 'vanilla',
    id: 'i',
    session: 's',
    role: 'user',
    name: 'n',
    learnt: 'stated',
    made_by: 'model',
    through: 3,
  },
  ...{ origin: null, source: null, integrity: 'trusted', confidentiality: 'private', time: 4.5 },
  ...{ corrected: 0, others_values: 0, acknowledged: 0, sequence: 7 },
};
const LABELLED = ['', 'trusted', 'private', 4.5];
const FLAGGED = { ...BOUND, corrected: 1, others_values: 1, acknowledged: 1, origin: '"mail"', source: 'e' };
for (const [name, row, place] of [
  ['turns.text', BOUND, ['vanilla', 'i', 's', 'user', '', ...LABELLED]],
  [
    'turns.text',
    FLAGGED,
    ['vanilla', 'i', 's', 'user', '"mail"', 'e', ...LABELLED.slice(1), 'corrected', 'values of others'],
  ],
  ['summaries.text', BOUND, ['vanilla', 'i', 's', 'model', 3, ...LABELLED]],
  ['facts.value', { ...BOUND, origin: '' }, ['vanilla', 'i', 'n', 'stated', '', ...LABELLED]],
  ['facts.name', BOUND, ['vanilla']],
  ['events.event', BOUND, ['s', 7]],
  ['sessions.head', BOUND, ['i']],
  ['sessions.head', FLAGGED, ['i', 'acknowledged']],
  ['grants.subject', BOUND, []],
] as const) {
  test(`a text of ${name} is bound to ${JSON.stringify(place)}, as in stores that are there`, () => {
    assert.deepEqual(placeOf(name, row), [name, ...place]);
  });
}

for (const [name, column] of [
  ['turns.text', 'owner'],
  ['turns.text', 'session'],
  ['facts.value', 'learnt'],
  ['events.event', 'sequence'],
  ['prompts.answer', 'id'],
] as const) {
  test(`no text of ${name} is bound to a row without its ${column}`, () => {
    assert.throws(() => placeOf(name, { ...BOUND, [column]: null }), /column/);
  });
}

test('nobody makes a store one of an earlier version by saying so', (t) => {
  const folder = temporaryFolder(t);
  openOrThrow(folder, { key: KEY }).close();
  const raw = new DatabaseSync(join(folder, 'cordon.db'));
  raw.exec('UPDATE seal SET binding = 1');
  raw.close();
  const opened = openStore(folder, () => 0, { key: KEY });
  assert.equal(opened.ok ? null : opened.fault.kind, 'key-wrong');
});

test('a row that is moved to another owner with its text is refused by the file, and by the seal behind it', (t) => {
  const folder = temporaryFolder(t);
  const store = openOrThrow(folder, { key: KEY });
  const session = store.sessions.create();
  store.memory({ kind: 'spoke', app: id('mail') }).record(session, 'user', 'secret', USER);
  store.memory({ kind: 'vanilla' }).record(session, 'user', 'mine', USER);
  store.close();
  const raw = new DatabaseSync(join(folder, 'cordon.db'));
  const move = "UPDATE turns SET owner = 'vanilla' WHERE key = 1";
  assert.throws(() => raw.exec(move), /a turn keeps its owner/);
  raw.exec(`DROP TRIGGER turns_keep_their_owner; ${move}`);
  raw.close();
  const reopened = storeIn(t, folder, { key: KEY });
  assert.throws(() => reopened.memory({ kind: 'vanilla' }).history(session), { message: /damaged/ });
});

test('a store whose key was taken away by hand opens neither with the key nor without', (t) => {
  const folder = temporaryFolder(t);
  openOrThrow(folder, { key: KEY }).close();
  const raw = new DatabaseSync(join(folder, 'cordon.db'));
  raw.exec('DELETE FROM seal');
  raw.close();
  for (const key of [KEY, null]) {
    const opened = openStore(folder, () => 0, { key });
    assert.equal(opened.ok ? null : opened.fault.kind, 'corrupt');
  }
});

const CHANGED = 'the event or its hash is not what was sealed';
for (const [what, sql, kind, sequence, reason] of [
  [
    'an event',
    'UPDATE events SET event = (SELECT event FROM events WHERE sequence = 0)',
    'changed',
    1,
    CHANGED,
  ],
  ['an event in the clear', "UPDATE events SET event = '{}'", 'changed', 1, CHANGED],
  ['a hash', 'UPDATE events SET hash = zeroblob(60)', 'changed', 1, CHANGED],
  [
    'the newest hash',
    'UPDATE sessions SET head = zeroblob(60) WHERE key = 1',
    'head',
    0,
    'the newest hash is not what was sealed',
  ],
] as const) {
  test(`of a sealed journal it is found where ${what} was changed, and others are told to be whole`, (t) => {
    const folder = temporaryFolder(t);
    const store = storeIn(t, folder, { key: KEY });
    const [changed, whole] = [store.sessions.create(), store.sessions.create()];
    for (const session of [changed, whole])
      for (const text of ['one', 'two', 'three']) append(store, session, { kind: 'user.message', text });
    const file = new DatabaseSync(store.file);
    file.exec('DROP TRIGGER events_are_never_changed');
    file.exec(sql.includes('WHERE key') ? sql : `${sql} WHERE sequence = 1 AND session = 1`);
    file.close();
    assert.deepEqual(store.journal.verify(changed), { intact: false, kind, sequence, reason });
    assert.equal(store.journal.verify(whole).intact, true);
    assert.equal(store.sessions.list().length, 2);
  });
}

test('the same text never stands in the file twice in the same way, but where it is looked up', (t) => {
  const folder = temporaryFolder(t);
  const store = openOrThrow(folder, { key: KEY });
  const session = store.sessions.create();
  const memory = store.memory({ kind: 'system' });
  for (let n = 0; n < 20; n++) memory.record(session, 'user', 'same', USER);
  memory.learn('name', 'same', USER);
  memory.learn('name', 'same', { ...USER, origin: id('mail') });
  store.close();
  const raw = new DatabaseSync(join(folder, 'cordon.db'));
  const count = (sql: string) => raw.prepare(`SELECT count(*) AS n FROM (${sql})`).get()?.n;
  assert.equal(count('SELECT DISTINCT text FROM turns'), 20);
  assert.equal(count('SELECT DISTINCT value FROM facts'), 2);
  assert.equal(count('SELECT DISTINCT name FROM facts'), 1);
  raw.close();
});

/** Columns with text that holds no word of anybody, and why. A new column is a decision. */
const IN_THE_CLEAR: Readonly<Record<string, string>> = {
  'sessions.id': 'random',
  'sessions.claim': 'random',
  'events.id': 'random',
  'grants.id': 'random',
  'grants.scope': 'a word of ours',
  'grants.duration': 'a word of ours',
  'grants.binding': 'digest of what is installed',
  'grants.prompt': 'random',
  'prompts.id': 'random',
  'pins.place': 'a folder of the configuration',
  'pins.app': 'the name of an app in the configuration',
  'pins.configured': 'the configuration, which stands beside in the clear',
  'pins.description': 'what an app says of itself to everybody',
  'pins.digest': 'of these',
  'pins.given_by': 'a word of ours',
  'pins.found_configured': 'as above',
  'pins.found_description': 'as above',
  'pins.found_digest': 'as above',
  'agreed_files.file': 'a path of the configuration',
  'agreed_files.digest': 'of a configuration file',
  'logins.place': 'a folder of the configuration',
  'logins.app': 'the name of an app in the configuration',
  'logins.claimed_by': 'random',
  'seal.mark': 'random',
  'seal.derivation': 'a word of ours',
  'seal.check_value': 'sealed by itself',
  'turns.id': 'random',
  'turns.owner': 'the name of an app in the configuration',
  'turns.role': 'a word of ours',
  'turns.origin': 'the name of an app',
  'turns.source': 'random',
  'turns.integrity': 'a word of ours',
  'turns.confidentiality': 'a word of ours',
  'facts.id': 'random',
  'facts.owner': 'the name of an app',
  'facts.origin': 'the name of an app',
  'facts.source': 'random',
  'facts.learnt': 'a word of ours',
  'facts.integrity': 'a word of ours',
  'facts.confidentiality': 'a word of ours',
  'summaries.id': 'random',
  'summaries.owner': 'the name of an app',
  'summaries.made_by': 'a word of ours',
  'summaries.source': 'random',
  'summaries.integrity': 'a word of ours',
  'summaries.confidentiality': 'a word of ours',
};

test('every column with text is sealed, or stands in the clear for a reason', (t) => {
  const folder = temporaryFolder(t);
  openOrThrow(folder).close();
  const raw = new DatabaseSync(join(folder, 'cordon.db'), { readOnly: true });
  const sql = `SELECT m.name AS name, c.name AS field FROM sqlite_schema m, pragma_table_info(m.name) c
    WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%' AND c.type = 'TEXT'`;
  const found = raw.prepare(sql).all();
  raw.close();
  const texts = found.map(({ name, field }) => `${String(name)}.${String(field)}`);
  const sealed = SEALED_COLUMNS.filter(({ how }) => how !== 'bytes');
  const known = [...sealed.map(({ table, column }) => `${table}.${column}`), ...Object.keys(IN_THE_CLEAR)];
  assert.deepEqual([...texts].sort(), known.sort());
});

for (const [text, kind] of [
  ['6f'.repeat(32), 'bytes'],
  [`${'6F'.repeat(32)}\n`, 'bytes'],
  [Buffer.alloc(32, 7).toString('base64'), 'bytes'],
  [Buffer.alloc(32, 255).toString('base64url'), 'bytes'],
  ['6f'.repeat(31), 'passphrase'],
  ['twelve chars', 'passphrase'],
  ['eleven char', null],
  ['', null],
  ['x'.repeat(1025), null],
] as const) {
  test(`a key of ${text.length} characters is ${kind ?? 'refused'}`, () => {
    const parsed = parseStoreKey(text);
    assert.equal(parsed.ok ? parsed.value.kind : null, kind);
    assert.equal(!parsed.ok && text !== '' && parsed.fault.includes(text), false);
  });
}

function keyOf(text: string): StoreKey {
  const parsed = parseStoreKey(text);
  assert.ok(parsed.ok);
  return parsed.value;
}

/** Puts a text wherever the store takes one. */
function fill(store: Store): SessionId {
  const session = store.sessions.create();
  const asked = append(store, session, { kind: 'user.message', text: `${MARKER} query` });
  const memory = store.memory({ kind: 'spoke', app: id('mail') });
  memory.record(session, 'user', `${MARKER} turn`, USER);
  const through = memory.open(session).at(-1)?.place ?? 0;
  memory.summarise(session, {
    text: `${MARKER} summary`,
    madeBy: 'extract',
    through,
    source: asked.id,
    label: USER_LABEL,
  });
  memory.learn(`${MARKER} name`, `${MARKER} value`, USER);
  const given = store.grants.give({
    subject: subjectOf(`${MARKER} what`, 'data-release'),
    duration: 'permanent',
    session,
    digest: `${MARKER} digest`,
    flows: [`${MARKER} flow`],
  });
  assert.ok(given.ok);
  const prompt = {
    id: asked.id,
    session,
    question: `${MARKER} question`,
    choices: [id<'app'>('mail'), id<'app'>('notes')],
  };
  assert.notEqual(store.prompts.open({ kind: 'choice', prompt }, `${MARKER} fingerprint`), null);
  assert.ok(store.prompts.answer(asked.id, { kind: 'choice', choice: null }).ok);
  store.journal.append(session, null, null, [asked.id], HUB_LABEL, {
    kind: 'query.delivered',
    text: `${MARKER} delivered`,
  });
  return session;
}

function assertFilled(store: Store, session: SessionId): void {
  assertTexts(store, session);
  assertRights(store, session);
}

function assertTexts(store: Store, session: SessionId): void {
  const memory = store.memory({ kind: 'spoke', app: id('mail') });
  assert.equal(store.sessions.find(session)?.firstQuery, `${MARKER} query`);
  assert.deepEqual(
    store.journal.events(session).map((event) => ('text' in event ? event.text : null)),
    [`${MARKER} query`, `${MARKER} delivered`],
  );
  assert.equal(store.journal.verify(session).intact, true);
  assert.deepEqual(
    memory.history(session).map(({ text }) => text),
    [`${MARKER} turn`],
  );
  assert.equal(memory.summary(session)?.text, `${MARKER} summary`);
  assert.deepEqual(
    memory.facts().map(({ name, value }) => [name, value]),
    [[`${MARKER} name`, `${MARKER} value`]],
  );
}

function assertRights(store: Store, session: SessionId): void {
  const subject = subjectOf(`${MARKER} what`, 'data-release');
  assert.equal(store.grants.find(subject, session, `${MARKER} digest`)?.digest, `${MARKER} digest`);
  assert.equal(store.grants.hasFlowed(`${MARKER} flow`), true);
  const [waiting] = store.prompts.pending();
  const answered = store.prompts.find(store.journal.events(session)[0]?.id ?? id(''));
  assert.equal(waiting, undefined);
  assert.deepEqual(answered?.answer, { kind: 'choice', choice: null });
}

function filesWith(folder: string, marker: string): readonly string[] {
  const texts = [marker, Buffer.from(marker).toString('base64').slice(0, -4)];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .filter(({ parentPath, name }) => {
      const bytes = readFileSync(join(parentPath, name));
      return texts.some((text) => bytes.includes(text));
    })
    .map(({ name }) => name);
}
