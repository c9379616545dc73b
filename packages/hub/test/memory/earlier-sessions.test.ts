/** The history of an app in later sessions (`memory.history`): what comes along, what it brings with it, and what does not. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { app, NUMBER, serves, shape, TEXT } from '@cordon/testkit/hub/app.ts';
import { no, yes } from '../fixture/consent.ts';
import { call, type Line, plan } from '../fixture/model.ts';
import { type Scene, type Stage, stageFor } from '../fixture/stage.ts';

const MAIL = app('mail', { read: 'a mail', send: 'sent' }, { irreversible: ['send'], untrusted: ['read'] });
const NOTES = app('notes', { list: 'a note' });
const MAIL_PLAN = plan([{ app: 'mail' }]);
const NOTES_PLAN = plan([{ app: 'notes' }]);

/** Each in a session of its own, as in another process. */
async function anew(stage: Stage): Promise<void> {
  await stage.session.close('end');
  stage.session = stage.open();
}

function reaching(more: Partial<Scene> = {}): Scene {
  return { apps: [MAIL, NOTES], script: {}, history: 'app', ...more };
}

const told = (stage: Stage, who: string) => {
  const last = stage.model.seen.findLast((one) => one.who === who)?.request.messages ?? [];
  return last.filter(({ role }) => role !== 'system').map(({ text }) => text);
};

test('a follow-up works in a new session: the app’s own history comes along, and no other app sees it', async (t) => {
  const stage = stageFor(t, reaching());
  await stage.ask('QUERY-TO-MAIL', { planner: [MAIL_PLAN], mail: ['ANSWER-OF-MAIL'] });
  await anew(stage);
  await stage.ask('the second one', { planner: [MAIL_PLAN], mail: ['done'] });
  assert.deepEqual(told(stage, 'mail'), ['QUERY-TO-MAIL', 'ANSWER-OF-MAIL', 'the second one']);
  await stage.ask('hello', { planner: [NOTES_PLAN], notes: ['done'] });
  assert.deepEqual(told(stage, 'notes'), ['hello']);
  assert.deepEqual(stage.questions, []);
  const [released] = stage.of('data-release.proposed');
  assert.deepEqual(released?.items, [
    {
      name: 'earlier sessions',
      value: '2 messages of 1 earlier sessions',
      origin: 'mail',
      label: { integrity: 'trusted', confidentiality: 'public' },
    },
  ]);
});

test('with `session` another session begins without history', async (t) => {
  const stage = stageFor(t, reaching({ history: 'session' }));
  await stage.ask('QUERY', { planner: [MAIL_PLAN], mail: ['ANSWER'] });
  await anew(stage);
  await stage.ask('hello', { planner: [MAIL_PLAN], mail: ['done'] });
  assert.deepEqual(told(stage, 'mail'), ['hello']);
});

test('a private query is shown nothing of earlier sessions, and is shown in none', async (t) => {
  const stage = stageFor(t, reaching());
  const secretly = (text: string) => {
    stage.model.learn({ planner: [MAIL_PLAN], mail: ['ANSWER'] });
    return stage.session.ask(text, new AbortController().signal, { isPrivate: true });
  };
  await stage.ask('OPEN', { planner: [MAIL_PLAN], mail: ['ANSWER'] });
  await anew(stage);
  await secretly('SECRET');
  assert.deepEqual(told(stage, 'mail'), ['SECRET']);
  await anew(stage);
  await stage.ask('and now', { planner: [MAIL_PLAN], mail: ['done'] });
  assert.deepEqual(told(stage, 'mail'), ['OPEN', 'ANSWER', 'and now']);
});

const SEND: readonly Line[] = [[call('send', { to: 'ada' })], 'done'];

for (const [tool, integrity, warnings] of [
  ['read', 'untrusted', 1],
  ['send', 'trusted', 0],
] as const) {
  test(`attack: a turn of last week that called ${tool} makes what follows in a new session ${integrity}`, async (t) => {
    const stage = stageFor(t, reaching({ user: yes() }));
    await stage.ask('first', { planner: [MAIL_PLAN], mail: [[call(tool)], 'done'] });
    await anew(stage);
    await stage.ask('send it to ada', { planner: [MAIL_PLAN], mail: SEND });
    assert.equal(stage.user.asked.at(-1)?.warnings.length, warnings);
    const proposed = stage.of('tool-call.proposed').findLast((one) => one.tool === 'send');
    assert.equal(proposed?.label.integrity, integrity);
    await anew(stage);
    // The taint is as old as the oldest turn that is shown, and goes on from session to session.
    await stage.ask('send it to ada again', { planner: [MAIL_PLAN], mail: SEND });
    assert.equal(stage.of('tool-call.proposed').at(-1)?.label.integrity, integrity);
    await stage.ask('list', { planner: [NOTES_PLAN], notes: [[call('list')], 'done'] });
    assert.equal(stage.of('tool-call.proposed').at(-1)?.label.integrity, 'trusted');
  });
}

const FARE = serves('ride-fare', 'fare', shape({ to: TEXT }), shape({ amount: NUMBER }));
const RIDES = app(
  'rides',
  { fare: { reply: { structured: { amount: 12 } } } },
  { functionalities: [FARE], private: ['fare'], untrusted: [] },
);
const FRIENDS = app('friends', { find: 'Ada' }, { private: ['find'] });

for (const [name, isAnew] of [
  ['the same session', false],
  ['a new session', true],
] as const) {
  test(`private words of earlier turns are asked about in ${name}`, async (t) => {
    const stage = stageFor(t, reaching({ apps: [FRIENDS, RIDES], user: no() }));
    await stage.ask('find ada', { planner: [plan([{ app: 'friends' }])], friends: [[call('find')], 'Ada'] });
    if (isAnew) await anew(stage);
    await stage.ask('what is a ride to her', {
      planner: [plan([{ app: 'friends' }, { app: 'rides', uses: ['ride-fare'], after: [1] }])],
      friends: [[call('ride-fare', { to: 'Oak Lane' })], 'done'],
    });
    assert.deepEqual(stage.questions, ['Let `friends` ask `rides` for `ride-fare`?']);
  });
}

const FORBIDS = 'raise "no earlier sessions" if:\n    (data: DataRelease)\n    "untrusted" in data.labels\n';

for (const [tool, texts] of [
  ['read', ['go on']],
  ['send', ['first', 'done', 'go on']],
] as const) {
  test(`a rule decides whether untrusted history is shown again: after ${tool}`, async (t) => {
    const stage = stageFor(t, reaching({ user: yes(), policy: FORBIDS }));
    await stage.ask('first', { planner: [MAIL_PLAN], mail: [[call(tool)], 'done'] });
    await anew(stage);
    const { kind } = await stage.ask('go on', { planner: [MAIL_PLAN], mail: ['done'] });
    assert.deepEqual([kind, told(stage, 'mail')], ['answered', texts]);
  });
}

test('who deletes a session deletes what later ones are shown of it', async (t) => {
  const stage = stageFor(t, reaching());
  await stage.ask('FIRST', { planner: [MAIL_PLAN], mail: ['ANSWER-1'] });
  const first = stage.session.id;
  await anew(stage);
  await stage.ask('SECOND', { planner: [MAIL_PLAN], mail: ['ANSWER-2'] });
  await anew(stage);
  assert.deepEqual(stage.store.memories.deleteSession(first), { turns: 4, summaries: 0, facts: 0 });
  await stage.ask('THIRD', { planner: [MAIL_PLAN], mail: ['done'] });
  assert.deepEqual(told(stage, 'mail'), ['SECOND', 'ANSWER-2', 'THIRD']);
  // The journals of later sessions say how much was shown, and not what.
  const later = stage.store.sessions.list().filter(({ id }) => id !== first);
  const kept = later.flatMap(({ id }) => stage.store.journal.events(id));
  assert.equal(JSON.stringify(kept).includes('ANSWER-1'), false);
});

test('the prompt of a turn does not grow with the number of sessions, and a summary of the last one stands before', async (t) => {
  const stage = stageFor(t, reaching({ memory: { interactions: 2 }, summaries: 'extract' }));
  for (const number of [1, 2, 3]) {
    for (const part of ['a', 'b', 'c'])
      await stage.ask(`QUERY-${number}${part}`, { planner: [MAIL_PLAN], mail: ['ok'] });
    await anew(stage);
  }
  await stage.ask('now', { planner: [MAIL_PLAN], mail: ['done'] });
  const [question, summary, ...rest] = told(stage, 'mail');
  assert.equal(question, 'What did we say before? Sum it up.');
  assert.equal(summary?.includes('QUERY-3a'), true);
  assert.equal(summary?.includes('QUERY-2'), false);
  assert.deepEqual(rest, ['QUERY-3b', 'ok', 'QUERY-3c', 'ok', 'now']);
});

test('the planner knows the user’s own earlier words of other sessions, and of no app’s', async (t) => {
  const stage = stageFor(t, reaching());
  await stage.ask('QUERY-TO-MAIL', { planner: [MAIL_PLAN], mail: ['ANSWER-OF-MAIL'] });
  await anew(stage);
  await stage.ask('hello', { planner: [NOTES_PLAN], notes: ['done'] });
  const [input = ''] = told(stage, 'planner');
  assert.deepEqual(JSON.parse(input).earlier, [{ query: 'QUERY-TO-MAIL', app: 'mail', outcome: 'answered' }]);
  assert.equal(stage.model.shownTo('planner').includes('ANSWER'), false);
});

test('a query that goes on is shown of other sessions what it was shown at first', async (t) => {
  const stage = stageFor(t, reaching());
  await stage.ask('FIRST', { planner: [MAIL_PLAN], mail: ['ANSWER-1'] });
  await anew(stage);
  // The script ends behind the call: the query fails, and can be gone on with.
  const failed = await stage.ask('SECOND', { planner: [MAIL_PLAN], mail: [[call('read')]] });
  assert.equal(failed.kind, 'failed');
  stage.model.learn({ mail: ['done'] });
  const outcome = await stage.session.resume(new AbortController().signal);
  assert.equal(outcome.answer, 'done');
  assert.deepEqual(stage.ran, ['mail.read {}']);
  assert.equal(stage.of('data-release.proposed').length, 1);
  assert.deepEqual(told(stage, 'mail').slice(0, 3), ['FIRST', 'ANSWER-1', 'SECOND']);
});
