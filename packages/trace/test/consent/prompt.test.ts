import assert from 'node:assert/strict';
import { test } from 'node:test';

import { id, type PermissionPrompt, type SessionId } from '@cordon/core';
import type { Store, StoredAnswer, StoredQuestion } from '@cordon/trace';

import { openOrThrow, storeIn, temporaryFolder } from '../fixture.ts';

const YES: StoredAnswer = { kind: 'permission', answer: { allow: true, duration: 'session', shown: 'text' } };
const NO: StoredAnswer = { kind: 'permission', answer: { allow: false, reason: 'user' } };

function questionOf(
  session: SessionId,
  name: string,
  changes: Partial<PermissionPrompt> = {},
): StoredQuestion {
  const prompt: PermissionPrompt = {
    id: id(name),
    session,
    context: id('mail#1'),
    subject: { scope: 'exchange', from: id('mail'), to: id('rides'), what: 'fare' },
    question: 'May it?',
    data: [{ name: 'fare', value: '{"to":"Turin"}' }],
    expected: true,
    warnings: [],
    newRecipients: [],
    covers: 'the same again',
    rules: [],
    durations: ['once', 'session'],
    digest: 'd',
    ...changes,
  };
  return { kind: 'permission', prompt };
}

function setUp(t: Parameters<typeof temporaryFolder>[0]): {
  store: Store;
  session: SessionId;
  folder: string;
} {
  const folder = temporaryFolder(t);
  const store = storeIn(t, folder);
  return { store, session: store.sessions.create(), folder };
}

test('a question waits until it is closed, and is listed as it was asked', (t) => {
  const { store, session } = setUp(t);
  const question = questionOf(session, 'q1');
  store.prompts.open(question, 'f1');
  assert.deepEqual(store.prompts.pending(), [
    { id: 'q1', session, question, askedAt: 1_700_000_000_000, answer: null },
  ]);
  assert.equal(store.prompts.close(id('q1')), null);
  assert.deepEqual(store.prompts.pending(), []);
});

test('another process answers, and the one that waits sees it once it looks', (t) => {
  const { store, session, folder } = setUp(t);
  store.prompts.open(questionOf(session, 'q1'), 'f1');
  assert.equal(store.prompts.answered(id('q1')), null);
  assert.equal(storeIn(t, folder).prompts.answer(id('q1'), YES).ok, true);
  assert.deepEqual(store.prompts.answered(id('q1')), YES);
  assert.deepEqual(store.prompts.close(id('q1')), YES);
  assert.equal(store.prompts.close(id('q1')), null);
});

test('of two answers the first counts', (t) => {
  const { store, session } = setUp(t);
  store.prompts.open(questionOf(session, 'q1'), 'f1');
  assert.equal(store.prompts.answer(id('q1'), NO).ok, true);
  const second = store.prompts.answer(id('q1'), YES);
  assert.equal(second.ok ? 'taken' : second.fault.kind, 'prompt-answered');
  assert.deepEqual(store.prompts.close(id('q1')), NO);
});

for (const [how, end] of [
  ['its query is over', (store: Store, session: SessionId) => store.prompts.closeAll(session)],
  ['it was answered where it was asked', (store: Store) => store.prompts.close(id('q1'))],
  ['its session has ended', (store: Store, session: SessionId) => store.journal.end(session)],
] as const) {
  test(`an answer counts for nothing when ${how}`, (t) => {
    const { store, session } = setUp(t);
    store.prompts.open(questionOf(session, 'q1'), 'f1');
    end(store, session);
    const late = store.prompts.answer(id('q1'), YES);
    assert.equal(late.ok ? 'taken' : late.fault.kind, 'prompt-over');
    assert.deepEqual(store.prompts.pending(), []);
  });
}

test('the questions of other sessions stay open', (t) => {
  const { store, session } = setUp(t);
  const other = store.sessions.create();
  store.prompts.open(questionOf(session, 'q1'), 'f1');
  store.prompts.open(questionOf(other, 'q2'), 'f1');
  assert.equal(store.prompts.closeAll(session), 1);
  assert.deepEqual(
    store.prompts.pending().map((prompt) => prompt.id),
    ['q2'],
  );
  assert.deepEqual(store.prompts.pending(session), []);
});

test('the same question, asked again after the hub was killed, is the old one with its answer', (t) => {
  const folder = temporaryFolder(t);
  const killed = openOrThrow(folder);
  const session = killed.sessions.create();
  killed.prompts.open(questionOf(session, 'q1'), 'f1');
  killed.close();
  const elsewhere = storeIn(t, folder);
  assert.equal(elsewhere.prompts.pending().length, 1);
  assert.equal(elsewhere.prompts.answer(id('q1'), YES).ok, true);
  const resumed = storeIn(t, folder);
  assert.deepEqual(resumed.prompts.open(questionOf(session, 'q9'), 'f1')?.id, 'q1');
  assert.deepEqual(resumed.prompts.close(id('q1')), YES);
});

test('a question with other data is another one', (t) => {
  const { store, session } = setUp(t);
  store.prompts.open(questionOf(session, 'q1'), 'f1');
  store.prompts.answer(id('q1'), YES);
  assert.equal(store.prompts.open(questionOf(session, 'q2'), 'f2')?.id, 'q2');
  assert.equal(store.prompts.answered(id('q2')), null);
});

test('a question that is over is not taken up again', (t) => {
  const { store, session } = setUp(t);
  store.prompts.open(questionOf(session, 'q1'), 'f1');
  store.prompts.closeAll(session);
  assert.equal(store.prompts.open(questionOf(session, 'q2'), 'f1')?.id, 'q2');
});

test('an answer for longer than is offered, for another kind of question, or for no question is refused', (t) => {
  const { store, session } = setUp(t);
  store.prompts.open(questionOf(session, 'q1'), 'f1');
  const choice = { id: id<'event'>('q2'), session, question: 'Which?', choices: [id<'app'>('a')] };
  store.prompts.open({ kind: 'choice', prompt: choice }, 'f2');
  const kind = (prompt: string, answer: StoredAnswer) => {
    const answered = store.prompts.answer(id(prompt), answer);
    return answered.ok ? 'taken' : answered.fault.kind;
  };
  const permanent: StoredAnswer = { kind: 'permission', answer: { allow: true, duration: 'permanent' } };
  assert.equal(kind('q1', permanent), 'answer-unfit');
  assert.equal(kind('q1', { kind: 'choice', choice: null }), 'answer-unfit');
  assert.equal(kind('q2', YES), 'answer-unfit');
  assert.equal(kind('q2', { kind: 'choice', choice: { app: id('b'), duration: 'once' } }), 'answer-unfit');
  assert.equal(kind('q3', YES), 'prompt-unknown');
  assert.equal(kind('q2', { kind: 'choice', choice: { app: id('a'), duration: 'once' } }), 'taken');
  assert.equal(kind('q1', YES), 'taken');
});

test('every kind of answer comes back as it was given', (t) => {
  const { store, session } = setUp(t);
  const durations = ['once', 'session', 'until', 'permanent'] as const;
  const answers: readonly StoredAnswer[] = [
    { kind: 'permission', answer: { allow: true, duration: 'until', until: 1_800_000_000_000 } },
    {
      kind: 'permission',
      answer: {
        allow: true,
        duration: 'once',
        edits: [{ name: 'fare', value: '{"to":"\u0000"}' }],
        shown: '▐',
      },
    },
    { kind: 'permission', answer: { allow: false, reason: 'no-answer' } },
  ];
  for (const [index, answer] of answers.entries()) {
    store.prompts.open(questionOf(session, `q${index}`, { durations }), `f${index}`);
    assert.equal(store.prompts.answer(id(`q${index}`), answer).ok, true);
    assert.deepEqual(store.prompts.close(id(`q${index}`)), answer);
  }
});

test('a question of an unknown session is not kept', (t) => {
  const { store } = setUp(t);
  assert.equal(store.prompts.open(questionOf(id('unknown'), 'q1'), 'f1'), null);
});
