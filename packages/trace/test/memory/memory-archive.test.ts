import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';

import { DEFAULT_LABEL, id, type SessionId, USER_LABEL } from '@cordon/core';
import type { MemoryItem, MemoryOwner, Provenance, Store } from '@cordon/trace';

import { TABLES_OF_SESSION } from '../../src/journal/erasure.ts';
import { append, openOrThrow, storeIn, subjectOf, temporaryFolder } from '../fixture.ts';

const SYSTEM: MemoryOwner = { kind: 'system' };
const MAIL: MemoryOwner = { kind: 'spoke', app: id('mail') };
const USER: Provenance = { origin: null, source: null, label: USER_LABEL };
const SAID: Provenance = { origin: id('mail'), source: id('event1'), label: USER_LABEL };
const SEEN: Provenance = { origin: id('mail'), source: id('event2'), label: DEFAULT_LABEL };

function textsOf(items: readonly MemoryItem[]): readonly string[] {
  return items.map((item) => (item.kind === 'fact' ? `${item.name}=${item.value}` : item.text));
}

/** Two turns and a summary of the first, for one owner. */
function converse(store: Store, session: SessionId, owner: MemoryOwner, words: string): void {
  const memory = store.memory(owner);
  memory.record(session, 'user', `${words} one`, USER);
  memory.record(session, 'assistant', `${words} two`, SEEN);
  const through = memory.open(session)[0]?.place ?? 0;
  memory.summarise(session, {
    text: `${words} summary`,
    madeBy: 'extract',
    through,
    source: null,
    label: USER_LABEL,
  });
}

test('the user sees what every owner has, and can pick owner, session and kind', (t) => {
  const store = storeIn(t, temporaryFolder(t));
  const first = store.sessions.create();
  const second = store.sessions.create();
  converse(store, first, MAIL, 'mail');
  converse(store, second, SYSTEM, 'system');
  store.memory(MAIL).learn('city', 'Turin', SAID);
  assert.deepEqual(
    store.memories.overview().map(({ bytes, lastAt, ...rest }) => rest),
    [
      { owner: SYSTEM, turns: 2, sessions: 1, summaries: 1, facts: 0 },
      { owner: MAIL, turns: 2, sessions: 1, summaries: 1, facts: 1 },
    ],
  );
  const { memories } = store;
  assert.deepEqual(textsOf(memories.items()), [
    'system summary',
    'system one',
    'system two',
    'city=Turin',
    'mail summary',
    'mail one',
    'mail two',
  ]);
  assert.deepEqual(textsOf(memories.items({ owner: MAIL, kind: 'turn' })), ['mail one', 'mail two']);
  assert.deepEqual(textsOf(memories.items({ session: second, kind: 'summary' })), ['system summary']);
  assert.deepEqual(textsOf(memories.items({ session: first, owner: SYSTEM })), []);
});

test('an item is found by the beginning of its id, if no other begins so', (t) => {
  let n = 0;
  const store = storeIn(t, temporaryFolder(t), { randomId: () => `abcd${n++}x` });
  const session = store.sessions.create();
  converse(store, session, MAIL, 'mail');
  const [item] = store.memories.items({ kind: 'turn' });
  const found = (name: string) => {
    const result = store.memories.find(name);
    return result.ok ? result.value.id : result.fault.kind;
  };
  assert.equal(found(item?.id ?? ''), item?.id);
  assert.equal(found('abcd'), 'item-ambiguous');
  for (const name of ['', '*', '?bcd', 'abc', 'zzzz', '[a]bcd', "abcd' OR 1"])
    assert.equal(found(name), 'item-unknown', name);
});

test('a corrected fact is the user’s own, everywhere it was kept', (t) => {
  const store = storeIn(t, temporaryFolder(t));
  for (const owner of [SYSTEM, MAIL]) store.memory(owner).learn('city', 'Rome', SAID);
  store.memory(SYSTEM).learn('city', 'Paris', { ...SAID, source: id('another event'), origin: null });
  const item = store.memories.items({ owner: MAIL })[0];
  const corrected = store.memories.correct(item?.id ?? '', 'Turin');
  assert.equal(corrected.ok && corrected.value.kind === 'fact' && corrected.value.value, 'Turin');
  assert.deepEqual(textsOf(store.memories.items()), ['city=Paris', 'city=Turin', 'city=Turin']);
});

test('what an app said and the user corrected stands in the place of what the user said before', (t) => {
  const store = storeIn(t, temporaryFolder(t));
  const memory = store.memory(SYSTEM);
  memory.learn('balance', '10', USER);
  memory.learn('balance', '99', SEEN, 'observed');
  const wrong = memory.facts().find(({ learnt }) => learnt === 'observed');
  assert.ok(store.memories.correct(wrong?.id ?? '', '12').ok);
  assert.deepEqual(
    memory.facts().map(({ value, learnt, origin, label }) => [value, learnt, origin, label]),
    [['12', 'stated', null, USER_LABEL]],
  );
});

test('a corrected turn keeps its label, and the summary that said the old text is gone', (t) => {
  const store = storeIn(t, temporaryFolder(t));
  const session = store.sessions.create();
  converse(store, session, MAIL, 'mail');
  const [first, second] = store.memories.items({ kind: 'turn' });
  assert.ok(store.memories.correct(second?.id ?? '', 'other words').ok);
  assert.notEqual(store.memory(MAIL).summary(session), null);
  assert.ok(store.memories.correct(first?.id ?? '', 'first words').ok);
  assert.equal(store.memory(MAIL).summary(session), null);
  assert.deepEqual(
    store
      .memory(MAIL)
      .open(session)
      .map(({ text, label }) => [text, label.integrity]),
    [
      ['first words', 'trusted'],
      ['other words', 'untrusted'],
    ],
  );
});

test('what is deleted is what was named, and nothing else', (t) => {
  const store = storeIn(t, temporaryFolder(t));
  const first = store.sessions.create();
  const second = store.sessions.create();
  for (const session of [first, second])
    for (const owner of [SYSTEM, MAIL]) converse(store, session, owner, owner.kind);
  for (const owner of [SYSTEM, MAIL]) store.memory(owner).learn('city', 'Rome', SAID);
  store.memory(MAIL).learn('town', 'Rome', SAID);
  const { memories } = store;
  const item = memories.items({ owner: MAIL, session: first, kind: 'turn' })[0];
  assert.deepEqual(memories.deleteItem(item?.id ?? '').ok, true);
  assert.deepEqual(textsOf(memories.items({ owner: MAIL, session: first })), ['spoke two']);
  assert.deepEqual(memories.deleteSession(first), { turns: 3, summaries: 1, facts: 0 });
  const fact = memories.items({ owner: SYSTEM, kind: 'fact' })[0];
  const deleted = memories.deleteItem(fact?.id ?? '');
  assert.deepEqual(deleted.ok && deleted.value, { turns: 0, summaries: 0, facts: 2 });
  assert.deepEqual(textsOf(memories.items({ kind: 'fact' })), ['town=Rome']);
  assert.deepEqual(memories.deleteOwner(SYSTEM), { turns: 2, summaries: 1, facts: 0 });
  assert.equal(memories.items({ owner: MAIL }).length, 4);
  assert.deepEqual(memories.deleteEverything(), { turns: 2, summaries: 1, facts: 1 });
  assert.deepEqual(memories.items(), []);
});

test('what is older than is kept goes, and of what is more than is kept the oldest', (t) => {
  let now = 0;
  const folder = temporaryFolder(t);
  const store = storeIn(t, folder, {}, () => now);
  const session = store.sessions.create();
  const memory = store.memory(MAIL);
  for (let n = 0; n < 10; n++) {
    now = n * 1000;
    memory.record(session, 'user', `turn ${n}`, USER);
    memory.learn(`fact ${n}`, 'x', USER);
  }
  store.memory(SYSTEM).record(session, 'user', 'turn x', USER);
  assert.deepEqual(store.memories.prune({ age: null, bytes: null }), { turns: 0, summaries: 0, facts: 0 });
  assert.deepEqual(store.memories.prune({ age: 5000, bytes: null }), { turns: 4, summaries: 0, facts: 4 });
  // Each is kept as eight characters.
  assert.deepEqual(store.memories.prune({ age: null, bytes: 20 }), { turns: 4, summaries: 0, facts: 0 });
  assert.deepEqual(textsOf(store.memories.items({ kind: 'turn' })), ['turn x', 'turn 8', 'turn 9']);
});

test('the items are those of the owner that was named', (t) => {
  const store = storeIn(t, temporaryFolder(t));
  const session = store.sessions.create();
  converse(store, session, MAIL, 'mail');
  converse(store, session, SYSTEM, 'system');
  store.memory(SYSTEM).learn('summary of mine', 'one', USER);
  const found = (owner: MemoryOwner | null) =>
    textsOf(store.memories.items(owner === null ? {} : { owner }))
      .filter((text) => text.includes('summary'))
      .toSorted();
  assert.deepEqual(found(MAIL), ['mail summary']);
  assert.deepEqual(found(null), ['mail summary', 'summary of mine=one', 'system summary']);
});

for (const [name, erase] of [
  [
    'an item',
    (store: Store) => store.memories.deleteItem(store.memories.items({ kind: 'turn' })[0]?.id ?? ''),
  ],
  ['everything', (store: Store) => store.memories.deleteEverything()],
  ['what is too old', (store: Store) => store.memories.prune({ age: -1, bytes: null })],
] as const) {
  test(`${name} that was deleted is in no file any more`, (t) => {
    const folder = temporaryFolder(t);
    const store = storeIn(t, folder);
    const session = store.sessions.create();
    const memory = store.memory(MAIL);
    memory.record(session, 'user', `MARKER-1 ${'long '.repeat(3000)}`, USER);
    assert.equal(isInFiles(folder, 'MARKER-1'), true);
    erase(store);
    assert.equal(store.scrub(), true);
    assert.equal(isInFiles(folder, 'MARKER-1'), false);
  });
}

test('a corrected text is in no file any more, and the new one is', (t) => {
  const folder = temporaryFolder(t);
  const store = storeIn(t, folder);
  store.memory(SYSTEM).learn('city', 'MARKER-2', SAID);
  assert.ok(store.memories.correct(store.memories.items()[0]?.id ?? '', 'MARKER-3').ok);
  assert.equal(store.scrub(), true);
  assert.deepEqual([isInFiles(folder, 'MARKER-2'), isInFiles(folder, 'MARKER-3')], [false, true]);
});

test('while another process reads, deleted texts may stay in the file, and that is said', (t) => {
  const folder = temporaryFolder(t);
  const store = storeIn(t, folder, { busyMs: 10 });
  store.memory(SYSTEM).learn('city', 'Rome', SAID);
  const reader = new DatabaseSync(join(folder, 'cordon.db'));
  reader.exec('BEGIN; SELECT * FROM facts');
  store.memories.deleteEverything();
  assert.equal(store.scrub(), false);
  reader.exec('COMMIT');
  reader.close();
  assert.equal(store.scrub(), true);
});

test('a deleted session takes its journal, memory, grants and questions along, and no other chain breaks', (t) => {
  const folder = temporaryFolder(t);
  const store = storeIn(t, folder);
  const kept = store.sessions.create();
  const gone = store.sessions.create();
  for (const session of [kept, gone]) {
    const name = session === gone ? 'MARKER-4' : 'KEPT';
    const asked = append(store, session, { kind: 'user.message', text: name });
    append(store, session, { kind: 'query.delivered', text: name });
    converse(store, session, MAIL, name);
    const subject = subjectOf(name);
    const flows = [`from ${name}`];
    for (const duration of ['session', 'permanent'] as const)
      assert.ok(store.grants.give({ subject, duration, session, digest: name, flows }).ok);
    const prompt = { id: asked.id, session, question: name, choices: [id<'app'>('mail')] };
    assert.notEqual(store.prompts.open({ kind: 'choice', prompt }, name), null);
  }
  store.memory(SYSTEM).learn('city', 'Rome', SAID);
  const held = store.eraseSession(gone);
  assert.deepEqual(held.ok ? null : held.fault, {
    kind: 'session-held',
    message: `the session \`${gone}\` is in use by the process ${process.pid}`,
    help: 'end the process that uses it first',
  });
  store.sessions.release(gone);
  const before = store.journal.head(kept);
  const erased = store.eraseSession(gone);
  assert.equal(erased.ok && erased.value.events, 2);
  assert.equal(store.scrub(), true);

  assert.equal(store.sessions.find(gone), null);
  assert.deepEqual(store.journal.events(gone), []);
  assert.equal(store.journal.verify(kept).intact, true);
  assert.deepEqual(store.journal.head(kept), before);
  assert.equal(store.memory(MAIL).history(kept).length, 2);
  assert.equal(store.grants.list({ session: kept }).length, 1);
  assert.equal(store.grants.list({ duration: 'permanent' }).length, 2);
  assert.equal(store.memory(SYSTEM).facts().length, 1);
  // What the user permitted for good names the session nowhere and stays: it is listed and revoked by itself.
  for (const { id: grant } of store.grants.list({ duration: 'permanent' })) store.grants.revoke(grant);
  const again = store.eraseSession(gone);
  assert.equal(again.ok ? null : again.fault.kind, 'session-unknown');
  assert.throws(() => {
    const raw = new DatabaseSync(join(folder, 'cordon.db'));
    try {
      raw.exec('DELETE FROM events');
    } finally {
      raw.close();
    }
  }, /append-only/);
});

test('no table that belongs to a session is forgotten when one is deleted', (t) => {
  const folder = temporaryFolder(t);
  openOrThrow(folder).close();
  const raw = new DatabaseSync(join(folder, 'cordon.db'), { readOnly: true });
  const sql = `SELECT DISTINCT m.name AS name FROM sqlite_schema m, pragma_foreign_key_list(m.name) f
    WHERE m.type = 'table' AND f."table" = 'sessions'`;
  const tables = raw.prepare(sql).all();
  raw.close();
  assert.deepEqual(tables.map(({ name }) => String(name)).toSorted(), [...TABLES_OF_SESSION].sort());
});

function isInFiles(folder: string, text: string): boolean {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .some(({ parentPath, name }) => readFileSync(join(parentPath, name)).includes(text));
}
