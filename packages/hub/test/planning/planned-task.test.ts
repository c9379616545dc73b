/** What the planner makes of a query that points back at what the user told another app. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { USER_LABEL } from '@cordon/core';
import { app } from '@cordon/testkit/hub/app.ts';
import { no, yes } from '../fixture/consent.ts';
import { plan } from '../fixture/model.ts';
import { stageFor } from '../fixture/stage.ts';

const TRAVEL = app('travel', { book: 'booked' }, { description: 'Books flights.' });
const CALENDAR = app('calendar', { cancel: 'cancelled' }, { description: 'Keeps meetings.' });
const BOOK = { planner: [plan([{ app: 'travel' }])], travel: ['booked'] };
const TRIP = 'a flight to Turin from the 3rd to the 5th of December';
const AWAY = 'Cancel my meetings on the days I am away.';
const told = (task: string) => JSON.stringify({ app: 'calendar', task });

for (const [user, says, isTold] of [
  ['yes', yes(), true],
  ['no', no(), false],
] as const) {
  test(`what the user told another app reaches the calendar if they say ${user}`, async (t) => {
    const stage = stageFor(t, { apps: [TRAVEL, CALENDAR], script: {}, user: says });
    await stage.ask(TRIP, BOOK);
    const task = 'Cancel the meetings from the 3rd to the 5th of December';
    const { kind } = await stage.ask(AWAY, { planner: [told(task)], calendar: ['done'] });
    assert.equal(kind, 'answered');
    assert.deepEqual(stage.questions, ['Share this with `calendar`?']);
    const [prompt] = stage.user.asked;
    assert.deepEqual(prompt?.data, [{ name: 'task', value: task, isEditable: true }]);
    assert.deepEqual(prompt?.durations, ['once']);
    assert.deepEqual(prompt?.warnings, [
      'you said this in an earlier query, but not to `calendar`; the planner wrote this text',
    ]);
    assert.equal(stage.model.shownTo('calendar').includes('December'), isTold);
    assert.equal(stage.model.shownTo('calendar').includes('Turin'), false);
    const [released] = stage.of('data-release.proposed');
    assert.deepEqual(released?.items, [{ name: 'task', value: task, origin: null, label: USER_LABEL }]);
  });
}

for (const [name, task] of [
  ['the query in other words', 'Delete all appointments while away'],
  ['nothing', ''],
  ['words of the configuration', 'Keep the meetings'],
] as const) {
  test(`a task that says ${name} is not handed over, and nobody is asked`, async (t) => {
    const stage = stageFor(t, { apps: [TRAVEL, CALENDAR], script: {} });
    await stage.ask(TRIP, BOOK);
    await stage.ask(AWAY, { planner: [told(task)], calendar: ['done'] });
    assert.deepEqual([stage.questions, stage.of('data-release.proposed')], [[], []]);
  });
}

test('a date that is written in another way is asked about like the user’s own words', async (t) => {
  const stage = stageFor(t, { apps: [TRAVEL, CALENDAR], script: {}, user: no() });
  await stage.ask(TRIP, BOOK);
  await stage.ask(AWAY, { planner: [told('Cancel 2026-12-03 until 2026-12-05')], calendar: ['done'] });
  assert.deepEqual(stage.questions, ['Share this with `calendar`?']);
});

test('what the same app was told before it knows, and a first query tells nothing', async (t) => {
  const stage = stageFor(t, { apps: [CALENDAR], script: {} });
  await stage.ask('I am away on the 3rd of December', {
    planner: [told('Away on 2026-12-03')],
    calendar: ['noted'],
  });
  await stage.ask(AWAY, {
    planner: [told('Cancel the meetings of the 3rd of December')],
    calendar: ['done'],
  });
  assert.deepEqual([stage.questions, stage.of('data-release.proposed')], [[], []]);
});

test('a private query is told nothing of earlier ones, whatever the planner says', async (t) => {
  const stage = stageFor(t, { apps: [TRAVEL, CALENDAR], script: {}, user: yes() });
  await stage.ask(TRIP, BOOK);
  stage.model.learn({ planner: [told('Cancel the 3rd of December')], calendar: ['done'] });
  await stage.session.ask(AWAY, new AbortController().signal, { isPrivate: true });
  assert.deepEqual([stage.questions, stage.of('data-release.proposed')], [[], []]);
});

test('what was foreseen without the task is dropped', async (t) => {
  const stage = stageFor(t, {
    apps: [TRAVEL, CALENDAR],
    script: {},
    user: yes(),
    speculates: true,
    // The planner takes until the other model has been asked.
    meanwhile: async (who, { model }, { messages }) => {
      const isAway = messages.at(-1)?.text.includes(AWAY) === true;
      while (who === 'planner' && isAway && !model.shownTo('calendar').includes(AWAY)) await setImmediate();
    },
  });
  await stage.ask('@travel book it', { travel: ['booked'] });
  await stage.ask(TRIP, { planner: [plan([{ app: 'travel' }])], travel: ['booked'] });
  const task = 'Cancel the meetings of the 3rd of December';
  await stage.ask(AWAY, { planner: [told(task)], calendar: ['too early', 'done'] });
  assert.equal(stage.of('answer.proposed').at(-1)?.text, 'done');
  assert.equal(
    stage.of('context.ended').some(({ reason }) => reason === 'the plan does not need it'),
    true,
  );
});

for (const [user, says, isTold] of [
  ['yes', yes(), true],
  ['no', no(), false],
] as const) {
  test(`a step beside others is told what the user said elsewhere if they say ${user}`, async (t) => {
    const diary = app('diary', { look: 'free', cancel: 'cancelled' }, { description: 'Keeps a diary.' });
    const stage = stageFor(t, { apps: [TRAVEL, CALENDAR, diary], script: {}, user: says });
    await stage.ask(TRIP, BOOK);
    const steps = [
      { app: 'calendar', task: 'Cancel the meetings of the 3rd of December' },
      { app: 'diary', task: 'Cancel the meetings' },
    ];
    await stage.ask('Cancel my meetings on the days I am away, in both.', {
      planner: [JSON.stringify({ steps })],
      calendar: ['done'],
      diary: ['done'],
      assistant: ['both done'],
    });
    assert.deepEqual(stage.questions, ['Share this with `calendar`?']);
    assert.equal(stage.model.shownTo('calendar').includes('December'), isTold);
    assert.equal(stage.model.shownTo('calendar') === '[]', !isTold);
    assert.equal(stage.model.shownTo('diary').includes('Cancel the meetings'), true);
  });
}
