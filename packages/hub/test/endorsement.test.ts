/** What the user has seen and allowed in a question is theirs from then on: rules that ask where a value came from know. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toJson } from '@cordon/core';
import { readTrace } from '@cordon/policy';
import { app } from './fixture/app.ts';
import { no, yes } from './fixture/consent.ts';
import { call, plan, type Script } from './fixture/model.ts';
import { stageFor } from './fixture/stage.ts';

const MAIL = app('mail', { send: 'sent' });
const MAIL_ONLY = plan([{ app: 'mail', uses: ['send'] }]);
const RULE =
  'ask "this goes to somebody you did not name" if:\n    (c: ToolCall)\n    not from_user(c.arguments.to)\n';

const sends = (...to: readonly string[]): Script => ({
  planner: [MAIL_ONLY],
  mail: [...to.map((one) => [call('send', { to: one })]), 'done'],
});

test('who was allowed once is asked about no more, and somebody else is', async (t) => {
  const stage = stageFor(t, {
    apps: [MAIL],
    script: sends('eve@y.org', 'eve@y.org', 'kim@y.org'),
    policy: RULE,
    user: yes(),
  });
  await stage.ask('write to them');
  assert.equal(stage.of('permission.asked').length, 2);
  assert.equal(stage.ran.length, 3);
});

test('a no endorses nothing', async (t) => {
  const stage = stageFor(t, {
    apps: [MAIL],
    script: sends('eve@y.org', 'eve@y.org'),
    policy: RULE,
    user: no(),
  });
  await stage.ask('write to them');
  assert.equal(stage.of('permission.asked').length, 2);
  assert.equal(stage.ran.length, 0);
});

test('whom the user names, nobody asks about', async (t) => {
  const stage = stageFor(t, { apps: [MAIL], script: sends('eve@y.org'), policy: RULE, user: no() });
  await stage.ask('write to Eve@y.org, please');
  assert.equal(stage.of('permission.asked').length, 0);
  assert.equal(stage.ran.length, 1);
});

test('the journal says what was endorsed', async (t) => {
  const stage = stageFor(t, { apps: [MAIL], script: sends('eve@y.org'), policy: RULE, user: yes() });
  await stage.ask('write to them');
  const read = readTrace(toJson(stage.allEvents()), { format: 'cordon-journal' });
  assert.ok(read.ok);
  const values = read.value.events.flatMap((event) => (event.type === 'Endorsement' ? event.values : []));
  assert.ok(values.some(({ value }) => value === 'eve@y.org'));
});
