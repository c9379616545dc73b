/** A private query: no context in, no memory out. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { app } from '@cordon/testkit/hub/app.ts';
import { no, yes } from '../fixture/consent.ts';
import { call, plan, type Script } from '../fixture/model.ts';
import { type Scene, type Stage, stageFor } from '../fixture/stage.ts';

const MAIL = app('mail', { read: 'a mail', send: 'sent' }, { irreversible: ['send'] });
const NOTES = app('notes', { list: 'a note' });
const WANTS_CITY = plan([{ app: 'mail', needs: ['city'] }]);
const MAIL_PLAN = plan([{ app: 'mail' }]);

function scene(more: Partial<Scene> = {}): Scene {
  return { apps: [MAIL, NOTES], script: {}, user: yes(), ...more };
}

async function privately(stage: Stage, text: string, script: Script) {
  stage.model.learn(script);
  return stage.session.ask(text, new AbortController().signal, { isPrivate: true });
}

/** Everything that a model was shown since the stage had heard so much. */
function shownSince(stage: Stage, from: number): string {
  return JSON.stringify(stage.model.seen.slice(from).map(({ request }) => request));
}

test('a private query gets nothing from before: no history, no facts, no earlier queries', async (t) => {
  const stage = stageFor(t, scene());
  await stage.ask('my city is Turin, EARLIERWORDS', { planner: [MAIL_PLAN], mail: ['EARLIERANSWER'] });
  const from = stage.model.seen.length;
  const { kind } = await privately(stage, 'read it', { planner: [WANTS_CITY], mail: ['done'] });
  assert.equal(kind, 'answered');
  assert.doesNotMatch(shownSince(stage, from), /EARLIER|Turin|city/);
  assert.deepEqual(stage.questions, []);
});

test('the same query gets all of it if it is not private', async (t) => {
  const stage = stageFor(t, scene());
  await stage.ask('my city is Turin, EARLIERWORDS', { planner: [MAIL_PLAN], mail: ['EARLIERANSWER'] });
  const from = stage.model.seen.length;
  await stage.ask('read it', { planner: [WANTS_CITY], mail: ['done'] });
  assert.match(shownSince(stage, from), /EARLIERANSWER.*Turin|Turin.*EARLIERANSWER/);
});

for (const [how, isPrivate] of [
  ['a private', true],
  ['an open', false],
] as const) {
  test(`${how} query is ${isPrivate ? 'not ' : ''}remembered`, async (t) => {
    const stage = stageFor(t, scene());
    const first = { planner: [MAIL_PLAN], mail: ['SECRETANSWER'] };
    const query = 'my city is Turin, SECRETWORDS';
    await (isPrivate ? privately(stage, query, first) : stage.ask(query, first));
    const from = stage.model.seen.length;
    await stage.ask('read it', { planner: [MAIL_PLAN], mail: ['done'] });
    assert.equal(/SECRETWORDS/.test(shownSince(stage, from)), !isPrivate);
    assert.equal(/SECRETANSWER/.test(shownSince(stage, from)), !isPrivate);
    assert.equal(/city/.test(shownSince(stage, from)), !isPrivate);
    const kept = [{ kind: 'system' } as const, { kind: 'spoke', app: MAIL.installed.id } as const];
    const facts = kept.flatMap((owner) => stage.store.memory(owner).facts());
    const turns = kept.flatMap((owner) => stage.store.memory(owner).recent(stage.session.id, 100));
    assert.equal(facts.length > 0, !isPrivate);
    assert.equal(/SECRET/.test(JSON.stringify(turns)), !isPrivate);
  });
}

test('nothing continues a private query, and it continues nothing', async (t) => {
  const stage = stageFor(t, scene());
  await stage.ask('Who sent the newest mail?', { planner: [MAIL_PLAN], mail: ['Ada'] });
  await privately(stage, 'and the second one?', { planner: [plan([{ app: null }])], assistant: ['which?'] });
  await stage.ask('and the third one?', { planner: [plan([{ app: null }])], assistant: ['which?'] });
  assert.deepEqual(
    stage.of('plan.made').map(({ origin }) => origin),
    ['planner', 'planner', 'planner'],
  );
});

test('a private query is in the journal, and marked there', async (t) => {
  const stage = stageFor(t, scene());
  await privately(stage, 'SECRETWORDS', { planner: [MAIL_PLAN], mail: [[call('read')], 'done'] });
  await stage.ask('in the open', { planner: [MAIL_PLAN], mail: ['done'] });
  assert.deepEqual(
    stage.of('user.message').map((event) => [event.text, event.private]),
    [
      ['SECRETWORDS', true],
      ['in the open', undefined],
    ],
  );
  assert.equal(stage.of('tool-call.executed').length, 1);
});

const READER = app(
  'post',
  { read: 'a letter', send: 'sent' },
  { irreversible: ['send'], untrusted: ['read'] },
);
const STRANGER = '`x@evil.example` in `to` is not from your words';

for (const [how, isPrivate] of [
  ['in private', true],
  ['in the open', false],
] as const) {
  test(`whom the user named ${how} is ${isPrivate ? 'a stranger' : 'known'} to the next query`, async (t) => {
    const stage = stageFor(t, { apps: [READER], script: {}, user: no() });
    const first = { planner: [plan([{ app: 'post', uses: ['send'] }])], post: ['noted'] };
    const text = 'what is x@evil.example?';
    await (isPrivate ? privately(stage, text, first) : stage.ask(text, first));
    await stage.resume();
    await stage.ask('answer the letter', {
      planner: [plan([{ app: 'post', uses: ['read', 'send'] }])],
      post: [[call('read')], [call('send', { to: 'x@evil.example' })], 'done'],
    });
    assert.deepEqual(stage.user.asked.at(-1)?.warnings, isPrivate ? [STRANGER] : []);
  });
}

test('whom the user names in private is known while that query runs', async (t) => {
  const stage = stageFor(t, { apps: [READER], script: {}, user: no() });
  await privately(stage, 'answer the letter, to x@evil.example', {
    planner: [plan([{ app: 'post', uses: ['read', 'send'] }])],
    post: [[call('read')], [call('send', { to: 'x@evil.example' })], 'done'],
  });
  assert.deepEqual(stage.user.asked.at(-1)?.warnings, []);
});

test('what cannot be undone is asked in private as well', async (t) => {
  const stage = stageFor(t, scene());
  await privately(stage, 'send it', { planner: [MAIL_PLAN], mail: [[call('send')], 'done'] });
  assert.deepEqual(stage.questions, ['Let `mail` do `send`? This cannot be undone.']);
});

test('the baseline keeps a private query to itself, too', async (t) => {
  const stage = stageFor(t, scene({ isolation: 'none' }));
  await privately(stage, 'SECRETWORDS', { shared: ['SECRETANSWER'] });
  await stage.ask('hello', { shared: ['done'] });
  const last = JSON.stringify(stage.model.seen.at(-1)?.request.messages);
  assert.doesNotMatch(last, /SECRET/);
});
