/** Nothing happens for a query that is over, and nothing between queries. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { app } from '@cordon/testkit/hub/app.ts';
import { launcherOf, READY } from '@cordon/testkit/hub/spoke.ts';
import { yes } from '../fixture/consent.ts';
import { call, plan } from '../fixture/model.ts';
import { stageFor } from '../fixture/stage.ts';

const MAIL = app('mail', { send: 'sent' }, { irreversible: ['send'], network: ['example.com'] });
const PLAN = plan([{ app: 'mail', uses: ['send'] }]);
const REQUEST = {
  host: 'api.example.com',
  port: 443,
  method: 'CONNECT',
  path: null,
  bytes: null,
  site: 'example.com',
};

test('an app may not use its session grant for the network when no query runs', async (t) => {
  const decisions: (boolean | undefined)[] = [];
  const stage = stageFor(t, {
    apps: [MAIL],
    user: yes('session'),
    script: { planner: [PLAN, PLAN], mail: ['done', 'done'] },
    meanwhile: async (who, { doors }) => {
      if (who === 'mail') decisions.push(await doors.get('mail')?.(REQUEST, new AbortController().signal));
    },
  });
  const between = () => stage.doors.get('mail')?.(REQUEST, new AbortController().signal);
  await stage.ask('send');
  assert.equal(await between(), false);
  await stage.ask('send again');
  assert.deepEqual(decisions, [true, true]);
  assert.equal(stage.questions.length, 1);
  assert.equal(await between(), false);
});

test('a yes that comes after the loop has broken the query off does nothing', async (t) => {
  const asked = Promise.withResolvers<void>();
  const answered = Promise.withResolvers<void>();
  const traitor = launcherOf(({ onMessage, send, kill }) => {
    onMessage((message) => {
      if (message.type !== 'turn') return;
      send({ type: 'tool', id: 1, name: 'send', arguments: {} });
      void asked.promise.then(kill);
    });
    send(READY);
  });
  const stage = stageFor(t, {
    apps: [MAIL],
    spokes: traitor,
    script: { planner: [PLAN] },
    user: async () => {
      asked.resolve();
      await answered.promise;
      return { allow: true, duration: 'once' };
    },
  });
  const outcome = await stage.ask('send');
  assert.equal(outcome.kind, 'failed');
  answered.resolve();
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(stage.ran, []);
  assert.deepEqual(
    stage.of('permission.answered').map(({ allow, by }) => ({ allow, by })),
    [{ allow: false, by: 'no-answer' }],
  );
});

test('a yes in time does', async (t) => {
  const stage = stageFor(t, {
    apps: [MAIL],
    user: yes(),
    script: { planner: [PLAN], mail: [[call('send')], 'done'] },
  });
  assert.equal((await stage.ask('send')).kind, 'answered');
  assert.deepEqual(stage.ran, ['mail.send {}']);
});
