import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { GrantDuration } from '@cordon/core';
import { app, NUMBER, serves, shape, TEXT } from '@cordon/testkit/hub/app.ts';
import { no, yes } from '../fixture/consent.ts';
import { call, field, type Line, plan, type Script } from '../fixture/model.ts';
import { type Scene, stageFor } from '../fixture/stage.ts';

const MAIL = app('mail', { read: 'hello', send: 'sent' }, { irreversible: ['send'], untrusted: ['read'] });
const RIDES = app(
  'rides',
  { fare: { reply: { structured: { amount: 12 } } } },
  { functionalities: [serves('ride-fare', 'fare', shape({ to: TEXT }), shape({ amount: NUMBER }))] },
);

const SEND: Line = [call('send', { to: 'ada' })];
const PLANNED_SEND = plan([{ app: 'mail', uses: ['send'] }]);
const sends: Script = { planner: [PLANNED_SEND], mail: [SEND, 'done'] };

/** A request that no plan expects, so that each is a question. */
const asksFare: Script = {
  planner: [plan([{ app: 'mail' }])],
  mail: [
    [call('probe', { functionality: 'ride-fare' })],
    ({ results: [offer] }) => [call('request', { peer: field(offer, 'peer'), message: { to: 'Turin' } })],
    'done',
  ],
};

const EXCHANGE: Scene = { apps: [MAIL, RIDES], script: {}, user: yes() };

for (const [duration, again, inAnotherSession] of [
  ['once', 2, 3],
  ['session', 1, 2],
  ['permanent', 1, 1],
] as const) {
  test(`a permission given ${duration} is asked for again only when it no longer holds`, async (t) => {
    const stage = stageFor(t, { ...EXCHANGE, user: yes(duration) });
    await stage.ask('a fare', asksFare);
    await stage.ask('a fare', asksFare);
    assert.equal(stage.user.asked.length, again);
    const other = stage.open();
    await stage.ask('a fare', asksFare, other);
    await other.close('end');
    assert.equal(stage.user.asked.length, inAnotherSession);
    assert.equal(stage.ran.length, 3);
  });
}

test('a refusal is kept for nothing: the next time the user is asked again', async (t) => {
  const stage = stageFor(t, { ...EXCHANGE, user: no() });
  await stage.ask('a fare', asksFare);
  stage.user.says = yes();
  await stage.ask('a fare', asksFare);
  assert.equal(stage.user.asked.length, 2);
  assert.deepEqual(stage.ran, ['rides.fare {"to":"Turin"}']);
});

test('a grant that was revoked is worth nothing', async (t) => {
  const stage = stageFor(t, { ...EXCHANGE, user: yes('permanent') });
  await stage.ask('a fare', asksFare);
  for (const grant of stage.store.grants.list({ live: true })) stage.store.grants.revoke(grant.id);
  stage.user.says = no();
  await stage.ask('a fare', asksFare);
  assert.equal(stage.user.asked.length, 2);
  assert.equal(stage.ran.length, 1);
});

for (const [query, isUsers] of [
  ['send it to ada', true],
  ['send it', undefined],
  ['send it to grace', undefined],
] as const) {
  test(`a question about a call ${isUsers ? 'says' : 'does not say'} that its values are the user’s own: ${query}`, async (t) => {
    const stage = stageFor(t, { apps: [MAIL], script: sends, user: yes() });
    await stage.ask(query);
    const [{ data } = { data: [] }] = stage.user.asked;
    assert.deepEqual(
      data.map((datum) => [datum.value, datum.isUsers]),
      [['{"to":"ada"}', isUsers]],
    );
  });
}

test('what cannot be undone is offered once or for the session', async (t) => {
  const stage = stageFor(t, { apps: [MAIL], script: sends, user: yes() });
  await stage.ask('send it');
  assert.deepEqual(stage.user.asked[0]?.durations, ['once', 'session']);
  assert.equal(stage.ran.length, 1);
});

test('what can be undone is offered for ever, too', async (t) => {
  const stage = stageFor(t, EXCHANGE);
  await stage.ask('a fare', asksFare);
  assert.deepEqual(stage.user.asked[0]?.durations, ['once', 'session', 'until', 'permanent']);
});

const RULE_ASKS = 'ask "mail?" if:\n    (call: ToolCall)\n    call is tool:read';
const SHORT: readonly { readonly what: string; readonly scene: Scene }[] = [
  { what: 'an action that cannot be undone', scene: { apps: [MAIL], script: sends } },
  {
    what: 'what a rule asks about',
    scene: {
      apps: [MAIL],
      policy: RULE_ASKS,
      script: { planner: [plan([{ app: 'mail' }])], mail: [[call('read')], 'done'] },
    },
  },
];

for (const { what, scene } of SHORT) {
  test(`${what} is never permitted for ever, even if the answer says so`, async (t) => {
    const stage = stageFor(t, { ...scene, user: yes('permanent') });
    await stage.ask('do it');
    assert.deepEqual(stage.ran, []);
    assert.deepEqual(stage.store.grants.list(), []);
  });

  test(`${what} is permitted for a session if the answer says so`, async (t) => {
    const stage = stageFor(t, { ...scene, user: yes('session') });
    await stage.ask('do it');
    assert.equal(stage.ran.length, 1);
    assert.deepEqual(
      stage.store.grants.list().map(({ duration }): GrantDuration => duration),
      ['session'],
    );
  });
}

/** The same action, but the plan no longer names it and the context has read what others wrote. */
const readsAndSends: Script = {
  planner: [plan([{ app: 'mail' }])],
  mail: [[call('read')], SEND, 'done'],
};

test('what was agreed to without a warning is not agreed to with one', async (t) => {
  const stage = stageFor(t, { apps: [MAIL], script: sends, user: yes('session') });
  await stage.ask('send it');
  stage.user.says = no();
  await stage.ask('read my mail', readsAndSends);
  assert.deepEqual(
    stage.user.asked.map(({ warnings }) => warnings.length),
    [0, 2],
  );
  assert.deepEqual(stage.ran, ['mail.send {"to":"ada"}', 'mail.read {}']);
});

test('what was agreed to without a warning holds for the same question without one', async (t) => {
  const stage = stageFor(t, { apps: [MAIL], script: sends, user: yes('session') });
  await stage.ask('send it');
  stage.user.says = no();
  await stage.ask('send it', sends);
  assert.equal(stage.user.asked.length, 1);
  assert.equal(stage.ran.length, 2);
});

test('a question shows what would flow, as it is', async (t) => {
  const stage = stageFor(t, { apps: [MAIL], script: sends, user: no() });
  await stage.ask('send it');
  const [prompt] = stage.user.asked;
  assert.deepEqual(prompt?.data, [{ name: 'send', value: '{"to":"ada"}', identifying: ['to'] }]);
  assert.deepEqual(prompt?.subject, { scope: 'irreversible-action', from: 'mail', to: 'mail', what: 'send' });
  assert.equal(prompt?.question, 'Let `mail` do `send`? This cannot be undone.');
});

test('the journal has each question with its answer', async (t) => {
  const stage = stageFor(t, { apps: [MAIL], script: sends, user: yes('session') });
  await stage.ask('send it');
  await stage.ask('send it', sends);
  const kinds = stage
    .of('permission.asked', 'permission.answered', 'grant.given', 'grant.used')
    .map(({ kind }) => kind);
  assert.deepEqual(kinds, ['permission.asked', 'permission.answered', 'grant.given', 'grant.used']);
});
