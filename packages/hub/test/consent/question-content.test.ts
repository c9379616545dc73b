/** What a question must say, and that nobody can ask for ever. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { id } from '@cordon/core';
import { app, shape, TEXT } from '@cordon/testkit/hub/app.ts';
import { egressRequirement } from '../../src/consent/requirements.ts';
import { no, yes } from '../fixture/consent.ts';
import { call, type Line, plan } from '../fixture/model.ts';
import { stageFor } from '../fixture/stage.ts';

const MAIL = app('mail', { send: { input: shape({ to: TEXT }), reply: 'sent' } }, { irreversible: ['send'] });
const PLAN = plan([{ app: 'mail', uses: ['send'] }]);

test('a question that is due anyway says also what a rule asks', async (t) => {
  const stage = stageFor(t, {
    apps: [MAIL],
    policy: 'ask "this leaves the company" if:\n    (call: ToolCall)\n    call.arguments.to == "eve"',
    user: yes(),
    script: { planner: [PLAN], mail: [[call('send', { to: 'eve' })], [call('send', { to: 'ada' })], 'done'] },
  });
  await stage.ask('send');
  assert.deepEqual(stage.questions, [
    'Let `mail` do `send`? This cannot be undone. A rule asks: this leaves the company.',
    'Let `mail` do `send`? This cannot be undone.',
  ]);
});

test('a context that asks again and again is refused without a question in the end', async (t) => {
  const tries = Array.from({ length: 20 }, (_, index): Line => [call('send', { to: `eve${index}` })]);
  const stage = stageFor(t, {
    apps: [MAIL],
    user: no(),
    script: { planner: [PLAN, PLAN], mail: [...tries, 'done', [call('send', { to: 'ada' })], 'done'] },
  });
  await stage.ask('send');
  assert.equal(stage.questions.length, 12);
  stage.user.says = yes();
  await stage.ask('send to ada');
  assert.deepEqual(stage.ran, ['mail.send {"to":"ada"}']);
});

test('an effect that breaks in the middle stands in the trace as failed', async (t) => {
  const stage = stageFor(t, {
    apps: [MAIL],
    script: { planner: [PLAN] },
    meanwhile: (who) => {
      if (who === 'mail') throw new Error('the model is broken');
    },
  });
  await stage.ask('send').catch(() => null);
  const kinds = stage.events().map(({ kind }) => kind);
  assert.equal(kinds.filter((kind) => kind === 'model-call.failed').length, 1);
});

test('a question about a tunnel says where it leads once, and where it leads behind the site', () => {
  const dataFor = (host: string, site: string, path: string | null = null) =>
    egressRequirement(
      id('mail'),
      { site, host, port: 993, method: 'CONNECT', path, bytes: null },
      null,
    ).data.map(({ value }) => value);
  assert.deepEqual(dataFor('imap.example.org', 'imap.example.org'), []);
  assert.deepEqual(dataFor('a.b.example.org', 'example.org'), ['a.b.example.org']);
  assert.deepEqual(dataFor('example.org', 'example.org', '/x'), ['example.org/x']);
});
