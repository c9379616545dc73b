import assert from 'node:assert/strict';
import { test } from 'node:test';
import { app, NUMBER, serves, shape, TEXT } from '@cordon/testkit/hub/app.ts';
import { no, yes } from '../fixture/consent.ts';
import { call, type Line, plan } from '../fixture/model.ts';
import { stageFor } from '../fixture/stage.ts';

const MAIL = app('mail', { read: 'a mail', send: 'sent' }, { irreversible: ['send'], untrusted: ['read'] });
const NOTES = app('notes', { list: 'a note' });
const MAIL_PLAN = plan([{ app: 'mail' }]);
const NOTES_PLAN = plan([{ app: 'notes' }]);
const NOBODY = plan([{ app: null }]);

test('a context sees its own earlier turns, and no other’s', async (t) => {
  const stage = stageFor(t, { apps: [MAIL, NOTES], script: {} });
  await stage.ask('QUERY-TO-MAIL', { planner: [MAIL_PLAN], mail: ['ANSWER-OF-MAIL'] });
  await stage.ask('QUERY-TO-NOTES', { planner: [NOTES_PLAN], notes: ['ANSWER-OF-NOTES'] });
  await stage.ask('QUERY-TO-NOBODY', { planner: [NOBODY], assistant: ['ANSWER-OF-NOBODY'] });
  await stage.ask('again', { planner: [MAIL_PLAN], mail: ['done'] });
  await stage.ask('again', { planner: [NOBODY], assistant: ['done'] });

  const told = (who: string) => [...new Set(stage.model.shownTo(who).match(/(QUERY-TO|ANSWER-OF)-[A-Z]+/g))];
  assert.deepEqual(told('mail'), ['QUERY-TO-MAIL', 'ANSWER-OF-MAIL']);
  assert.deepEqual(told('notes'), ['QUERY-TO-NOTES']);
  assert.deepEqual(told('assistant'), ['QUERY-TO-NOBODY', 'ANSWER-OF-NOBODY']);
  assert.deepEqual(
    told('planner').filter((words) => words.startsWith('ANSWER')),
    [],
  );
});

test('another session begins without history', async (t) => {
  const stage = stageFor(t, { apps: [MAIL], script: {} });
  await stage.ask('QUERY', { planner: [MAIL_PLAN], mail: ['ANSWER'] });
  const other = stage.open();
  await stage.ask('hello', { planner: [MAIL_PLAN], mail: ['done'] }, other);
  await other.close('end');
  assert.equal(stage.model.seen.at(-1)?.request.messages.length, 2);
});

const SEND: readonly Line[] = [[call('send', { to: 'ada' })], 'done'];

for (const [tool, warnings] of [
  ['read', 1],
  ['send', 0],
] as const) {
  test(`after a turn that called ${tool} the next turn begins with ${warnings} warnings`, async (t) => {
    const stage = stageFor(t, { apps: [MAIL], script: {}, user: yes() });
    await stage.ask('first', { planner: [MAIL_PLAN], mail: [[call(tool)], 'done'] });
    await stage.ask('send it to ada', { planner: [MAIL_PLAN], mail: SEND });
    assert.equal(stage.user.asked.at(-1)?.warnings.length, warnings);
  });
}

const WANTS_CITY = plan([{ app: 'notes', needs: ['city'] }]);

for (const [user, says, told] of [
  ['says yes', yes(), true],
  ['says no', no(), false],
] as const) {
  test(`a fact reaches an app that was not told it only if the user ${user}`, async (t) => {
    const stage = stageFor(t, { apps: [MAIL, NOTES], script: {}, user: says });
    await stage.ask('my city is Turin', { planner: [MAIL_PLAN], mail: ['noted'] });
    const { kind } = await stage.ask('the weather at home', { planner: [WANTS_CITY], notes: ['done'] });
    const [prompt] = stage.user.asked;
    assert.equal(prompt?.question, 'Share this with `notes`?');
    assert.deepEqual(prompt?.data, [{ name: 'city', value: 'Turin', isUsers: true, isEditable: true }]);
    assert.equal(stage.model.shownTo('notes').includes('Turin'), told);
    assert.equal(kind, 'answered');
  });
}

test('the planner is told the names of facts', async (t) => {
  const stage = stageFor(t, { apps: [MAIL, NOTES], script: {} });
  await stage.ask('my city is Turin', { planner: [MAIL_PLAN], mail: ['noted'] });
  const other = stage.open();
  await stage.ask('hello', { planner: [MAIL_PLAN], mail: ['done'] }, other);
  await other.close('end');
  const last = JSON.stringify(stage.model.seen.findLast(({ who }) => who === 'planner')?.request.messages);
  assert.deepEqual([last.includes('city'), last.includes('Turin')], [true, false]);
});

test('the words of apps and models never become facts', async (t) => {
  const liar = app('mail', { read: 'my bank is EVIL' });
  const stage = stageFor(t, { apps: [liar], script: {} });
  await stage.ask('read it', { planner: [MAIL_PLAN], mail: [[call('read')], 'my name is EVIL, key = EVIL'] });
  assert.deepEqual(stage.store.memory({ kind: 'system' }).facts(), []);
});

const FARE = serves('ride-fare', 'fare', shape({ to: TEXT }), shape({ amount: NUMBER }));
const rides = (name: string) =>
  app(
    name,
    { fare: { reply: { structured: { amount: 12 } } } },
    { functionalities: [FARE], private: ['fare'], untrusted: [] },
  );
const BOTH = plan([{ app: 'rides' }, { app: 'taxi' }]);
const askBoth = (to: string): Line => [call('ride-fare', { to })];
const askTaxi = (to: string): Line => [call('ride-fare-2', { to })];

test('data of one app that a coordinator saw go to another app only if the user says so', async (t) => {
  const stage = stageFor(t, { apps: [rides('rides'), rides('taxi')], script: {}, user: no() });
  await stage.ask('compare', {
    planner: [BOTH],
    assistant: [askBoth('Turin'), askTaxi('12 at rides'), 'done'],
  });
  assert.deepEqual(stage.questions, ['Let the assistant ask `taxi` for `ride-fare`?']);
  assert.deepEqual(stage.ran, ['rides.fare {"to":"Turin"}']);
});

test('what a coordinator saw in an earlier turn is asked about like what it saw in this one', async (t) => {
  const stage = stageFor(t, { apps: [rides('rides'), rides('taxi')], script: {}, user: no() });
  await stage.ask('compare', { planner: [BOTH], assistant: [askBoth('Turin'), 'it is 12 at rides'] });
  await stage.ask('tell taxi', { planner: [BOTH], assistant: [askTaxi('12 at rides'), 'done'] });
  assert.deepEqual(stage.questions, ['Let the assistant ask `taxi` for `ride-fare`?']);
  assert.deepEqual(stage.ran, ['rides.fare {"to":"Turin"}']);
});

test('a coordinator that saw nothing of any app in an earlier turn is not asked about', async (t) => {
  const stage = stageFor(t, { apps: [rides('rides'), rides('taxi')], script: {}, user: no() });
  await stage.ask('hello', { planner: [NOBODY], assistant: ['hello'] });
  await stage.ask('ask taxi', { planner: [BOTH], assistant: [askTaxi('Turin'), 'done'] });
  assert.deepEqual(stage.questions, []);
  assert.deepEqual(stage.ran, ['taxi.fare {"to":"Turin"}']);
});
