import assert from 'node:assert/strict';
import { test } from 'node:test';

import { DEFAULT_LABEL, id, USER_LABEL } from '@cordon/core';
import { type Memory, type Provenance, StoreFailure } from '@cordon/trace';

import { storeIn, temporaryFolder } from '../fixture.ts';

const USER: Provenance = { origin: null, source: null, label: USER_LABEL };
const MAIL: Provenance = { origin: id('mail'), source: id('event7'), label: DEFAULT_LABEL };

test('what one owner keeps no other owner has, whatever the names', (t) => {
  const store = storeIn(t, temporaryFolder(t));
  const session = store.sessions.create();
  const names = [
    'mail',
    'system',
    'vanilla',
    'shared',
    '"system"',
    'spoke',
    '',
    '%',
    "mail' OR 1=1 --",
    'mail\u0000',
    'mail\ud800',
    '__proto__',
  ];
  const owners = [
    { kind: 'system' } as const,
    { kind: 'vanilla' } as const,
    { kind: 'shared' } as const,
    ...names.map((name) => ({ kind: 'spoke', app: id<'app'>(name) }) as const),
  ];
  for (const [n, owner] of owners.entries()) {
    const memory = store.memory(owner);
    memory.learn('secret', `fact ${n}`, USER);
    memory.record(session, 'user', `turn ${n}`, USER);
  }
  for (const [n, owner] of owners.entries()) {
    const memory = store.memory(owner);
    assert.deepEqual(valuesOf(memory), [`fact ${n}`]);
    assert.deepEqual(
      memory.history(session).map(({ text }) => text),
      [`turn ${n}`],
    );
  }
  const spoke = store.memory({ kind: 'spoke', app: id('mail') });
  store.memories.deleteOwner({ kind: 'spoke', app: id('mail') });
  assert.deepEqual(spoke.facts(), []);
  assert.deepEqual(valuesOf(store.memory({ kind: 'system' })), ['fact 0']);
  assert.equal(store.memories.owners().length, owners.length - 1);
});

test('the owners that have a memory are listed, apps last', (t) => {
  const store = storeIn(t, temporaryFolder(t));
  assert.deepEqual(store.memories.owners(), []);
  store.memory({ kind: 'spoke', app: id('system') }).learn('a', 'b', USER);
  store.memory({ kind: 'vanilla' }).learn('a', 'b', USER);
  store.memory({ kind: 'system' }).learn('a', 'b', USER);
  assert.deepEqual(store.memories.owners(), [
    { kind: 'system' },
    { kind: 'vanilla' },
    { kind: 'spoke', app: 'system' },
  ]);
});

test('history belongs to its session, facts stay over sessions', (t) => {
  const store = storeIn(t, temporaryFolder(t));
  const memory = store.memory({ kind: 'system' });
  const first = store.sessions.create();
  const second = store.sessions.create();
  memory.record(first, 'user', 'I live in Rome', USER);
  memory.record(second, 'user', 'book a ride', USER);
  memory.learn('city', 'Rome', USER);
  store.journal.end(first);
  assert.deepEqual(memory.history(second), [
    {
      id: memory.history(second)[0]?.id,
      session: second,
      role: 'user',
      text: 'book a ride',
      origin: null,
      source: null,
      label: { integrity: 'trusted', confidentiality: 'private' },
      time: 1_700_000_000_000,
    },
  ]);
  assert.deepEqual(valuesOf(memory), ['Rome']);
});

test('history is written by the process that holds the session only', (t) => {
  const folder = temporaryFolder(t);
  const holder = storeIn(t, folder);
  const session = holder.sessions.create();
  const other = storeIn(t, folder).memory({ kind: 'system' });
  assert.throws(() => other.record(session, 'user', 'x', USER), StoreFailure);
  holder.memory({ kind: 'system' }).record(session, 'user', 'x', USER);
  assert.equal(other.history(session).length, 1);
});

test('working memory is the last interactions, each with all that followed the user', (t) => {
  const store = storeIn(t, temporaryFolder(t));
  const memory = store.memory({ kind: 'spoke', app: id('mail') });
  const session = store.sessions.create();
  const other = store.sessions.create();
  memory.record(session, 'assistant', 'welcome', MAIL);
  memory.record(session, 'user', 'one', USER);
  memory.record(session, 'tool', 'one: output', MAIL);
  memory.record(session, 'assistant', 'one: answer', MAIL);
  memory.record(other, 'user', 'elsewhere', USER);
  memory.record(session, 'user', 'two', USER);
  memory.record(session, 'assistant', 'two: answer', MAIL);
  const recent = (interactions: number) => memory.recent(session, interactions).map(({ text }) => text);

  assert.deepEqual(recent(0), []);
  assert.deepEqual(recent(-1), []);
  assert.deepEqual(recent(Number.NaN), []);
  assert.deepEqual(recent(1), ['two', 'two: answer']);
  assert.deepEqual(recent(2), ['one', 'one: output', 'one: answer', 'two', 'two: answer']);
  for (const more of [3, 9, 2.5e300, Number.POSITIVE_INFINITY]) {
    assert.deepEqual(recent(more), ['welcome', 'one', 'one: output', 'one: answer', 'two', 'two: answer']);
  }
});

test('a turn of an event is there once, however often a session says it again', (t) => {
  const store = storeIn(t, temporaryFolder(t));
  const memory = store.memory({ kind: 'spoke', app: id('mail') });
  const session = store.sessions.create();
  const from = { ...USER, source: id<'event'>('event1') };
  for (let times = 0; times < 2; times++) {
    memory.recordOnce(session, 'user', 'one', from);
    memory.recordOnce(session, 'assistant', 'answer', from);
    store.memory({ kind: 'system' }).recordOnce(session, 'user', 'one', from);
  }
  memory.recordOnce(session, 'user', 'two', { ...from, source: id('event2') });
  assert.deepEqual(
    memory.history(session).map(({ text }) => text),
    ['one', 'answer', 'two'],
  );
  assert.equal(store.memory({ kind: 'system' }).history(session).length, 1);
});

test('what an event came to at last stands in the place of what it came to before', (t) => {
  const store = storeIn(t, temporaryFolder(t));
  const memory = store.memory({ kind: 'system' });
  const session = store.sessions.create();
  const from = { ...USER, source: id<'event'>('event1') };
  memory.recordOnce(session, 'user', 'one', from);
  memory.recordInstead(session, 'assistant', 'cancelled', from);
  store.memory({ kind: 'vanilla' }).recordInstead(session, 'assistant', 'another owner', from);
  memory.recordInstead(session, 'assistant', 'answered', from);
  assert.deepEqual(
    memory.history(session).map(({ role, text }) => [role, text]),
    [
      ['user', 'one'],
      ['assistant', 'answered'],
    ],
  );
  assert.equal(store.memory({ kind: 'vanilla' }).history(session).length, 1);
});

test('what a summary covers is in the history and no longer in what is recent', (t) => {
  const store = storeIn(t, temporaryFolder(t));
  const memory = store.memory({ kind: 'spoke', app: id('mail') });
  const session = store.sessions.create();
  const other = store.sessions.create();
  for (const text of ['one', 'two', 'three']) memory.record(session, 'user', text, USER);
  memory.record(other, 'user', 'elsewhere', USER);
  const made = { madeBy: 'extract', source: id<'event'>('event3'), label: DEFAULT_LABEL } as const;
  memory.summarise(session, { ...made, text: 'of one', through: memory.open(session)[0]?.place ?? 0 });
  assert.deepEqual(
    memory.recent(session, 9).map(({ text }) => text),
    ['two', 'three'],
  );
  memory.summarise(session, { ...made, text: 'of two', through: memory.open(session)[0]?.place ?? 0 });
  assert.deepEqual(
    memory.recent(session, 9).map(({ text }) => text),
    ['three'],
  );
  assert.deepEqual(
    memory.open(session).map(({ text }) => text),
    ['three'],
  );
  assert.equal(memory.history(session).length, 3);
  assert.deepEqual(
    memory.recent(other, 9).map(({ text }) => text),
    ['elsewhere'],
  );
  const { id: _, ...summary } = memory.summary(session) ?? { id: '' };
  assert.deepEqual(summary, {
    session,
    text: 'of two',
    madeBy: 'extract',
    source: 'event3',
    label: DEFAULT_LABEL,
    time: 1_700_000_000_000,
  });
  assert.equal(memory.summary(other), null);
  assert.equal(store.memory({ kind: 'vanilla' }).summary(session), null);
});

test('a newer value replaces the older one of the same origin', (t) => {
  const memory = storeIn(t, temporaryFolder(t)).memory({ kind: 'system' });
  memory.learn('address', 'Main Street 1', { ...MAIL, source: id('event1') });
  memory.learn('address', 'Main Street 2', MAIL);
  assert.deepEqual(memory.facts(), [
    {
      id: memory.facts()[0]?.id,
      name: 'address',
      learnt: 'stated',
      value: 'Main Street 2',
      origin: 'mail',
      source: 'event7',
      label: { integrity: 'untrusted', confidentiality: 'private' },
      time: 1_700_000_000_000,
    },
  ]);
});

test('what an app or an untrusted text says never replaces what the user said', (t) => {
  const memory = storeIn(t, temporaryFolder(t)).memory({ kind: 'system' });
  memory.learn('address', 'Main Street 1', USER);
  memory.learn('address', 'Evil Street 1', MAIL);
  memory.learn('address', 'Evil Street 2', { ...USER, label: DEFAULT_LABEL });
  assert.deepEqual(
    memory.facts().map(({ value, origin, label }) => [value, origin, label.integrity]),
    [
      ['Main Street 1', null, 'trusted'],
      ['Evil Street 2', null, 'untrusted'],
      ['Evil Street 1', 'mail', 'untrusted'],
    ],
  );
});

test('hostile text comes back as it went in', (t) => {
  const store = storeIn(t, temporaryFolder(t));
  const memory = store.memory({ kind: 'spoke', app: id('mail') });
  const session = store.sessions.create();
  const texts = [
    '',
    '\u0000',
    'a\u0000b',
    '\ud800',
    '\udc00\ud800',
    '\ufeff',
    '"',
    '\\',
    "'; DROP TABLE facts; --",
    '__proto__',
  ];
  texts.push('x'.repeat(1024 * 1024), '💣'.repeat(1000), '\r\n\u2028\u202e');
  for (const text of texts) {
    memory.learn(text, text, USER);
    memory.record(session, 'tool', text, MAIL);
    assert.equal(memory.facts().find(({ name }) => name === text)?.value, text);
  }
  assert.equal(memory.facts().length, texts.length);
  assert.deepEqual(
    memory.history(session).map(({ text }) => text),
    texts,
  );
});

function valuesOf(memory: Memory): readonly string[] {
  return memory.facts().map(({ value }) => value);
}

test('what was said elsewhere is the newest of other sessions, up to a time, and of this owner alone', (t) => {
  let now = 100;
  const store = storeIn(t, temporaryFolder(t), undefined, () => now);
  const [first, second, own] = [store.sessions.create(), store.sessions.create(), store.sessions.create()];
  const mail = store.memory({ kind: 'spoke', app: id('mail') });
  const say = (session: typeof own, text: string, memory = mail) => {
    memory.record(session, 'user', text, USER);
    memory.record(session, 'assistant', `answer to ${text}`, MAIL);
    now++;
  };
  say(first, 'a');
  say(second, 'b');
  say(first, 'c');
  say(own, 'own');
  say(second, 'of another', store.memory({ kind: 'spoke', app: id('notes') }));
  say(second, 'later');
  const texts = (until: number, most: number) => mail.elsewhere(own, until, most).map(({ text }) => text);
  assert.deepEqual(texts(104, 2), ['b', 'answer to b', 'c', 'answer to c']);
  assert.deepEqual(texts(105, 1), ['later', 'answer to later']);
  assert.deepEqual(texts(99, 5), []);
  assert.deepEqual(texts(105, 0), []);
  assert.equal(texts(105, 50).length, 8);
});

test('the summary of elsewhere is that of the newest other session, if it was made by then', (t) => {
  let now = 100;
  const store = storeIn(t, temporaryFolder(t), undefined, () => now);
  const [first, second, own] = [store.sessions.create(), store.sessions.create(), store.sessions.create()];
  const mail = store.memory({ kind: 'spoke', app: id('mail') });
  for (const session of [first, second, own]) {
    const made = { madeBy: 'extract', through: 1, source: null, label: DEFAULT_LABEL } as const;
    mail.summarise(session, { ...made, text: `summary ${now}` });
    now++;
  }
  assert.equal(mail.summaryElsewhere(own, 200)?.text, 'summary 101');
  assert.equal(mail.summaryElsewhere(own, 100), null);
  assert.equal(store.memory({ kind: 'system' }).summaryElsewhere(own, 200), null);
});

test('the summary of a session that somebody else holds stays, also for a caller that goes on', (t) => {
  const store = storeIn(t, temporaryFolder(t));
  const session = store.sessions.create();
  const memory = store.memory({ kind: 'system' });
  const made = { madeBy: 'extract', through: 1, source: null, label: DEFAULT_LABEL } as const;
  memory.summarise(session, { ...made, text: 'first' });
  store.sessions.release(session);
  store.together(() => {
    assert.throws(() => memory.summarise(session, { ...made, text: 'second' }), /does not hold the session/);
  });
  assert.equal(memory.summary(session)?.text, 'first');
});

test('of what outputs of an app stated the newest are left', (t) => {
  const store = storeIn(t, temporaryFolder(t));
  const memory = store.memory({ kind: 'system' });
  for (const name of ['one', 'two', 'three']) memory.learn(name, name, MAIL, 'observed');
  memory.learn('other', 'other', { ...MAIL, origin: id('notes') }, 'observed');
  memory.learn('said', 'said', USER);
  memory.trimObserved(id('mail'), 2);
  assert.deepEqual(
    memory.facts().map(({ name }) => name),
    ['other', 'said', 'three', 'two'],
  );
});
