/** What the hub takes of a planner, which may err. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type AppId, id } from '@cordon/core';
import { app } from '@cordon/testkit/hub/app.ts';
import { plan } from '../fixture/model.ts';
import { stageFor } from '../fixture/stage.ts';

const MAIL = app('mail', { read: 'a mail' }, { description: 'Reads and sends e-mail' });
const DRIVE = app('drive', { find: 'a file' }, { description: 'Keeps documents' });
const GHOST: AppId = id('ghost');

test('a plan that the query states is one step of the query, and names no use', async (t) => {
  const stage = stageFor(t, { apps: [MAIL, DRIVE], script: { mail: ['done'] } });
  await stage.ask(' @mail read it ');
  const [made] = stage.of('plan.made');
  assert.equal(made?.origin, 'named-app');
  assert.deepEqual(made?.plan, {
    steps: [{ id: '1', app: 'mail', task: '@mail read it', uses: [], needs: [], after: [] }],
    candidates: [],
  });
});

test('a stated app that is not installed leaves the plan to the model', async (t) => {
  const stage = stageFor(t, {
    apps: [MAIL],
    script: { planner: [plan([{ app: 'mail' }])], mail: ['done'] },
    planner: { explicit: () => ({ app: GHOST, needs: [], origin: 'named-app' }) },
  });
  assert.equal((await stage.ask('Read it')).kind, 'answered');
  assert.equal(stage.of('plan.made')[0]?.origin, 'planner');
});

for (const [what, named, chosen] of [
  ['an app that is not installed is left out', [GHOST, MAIL.installed.id], 'mail'],
  ['with no other app nobody’s context serves', [GHOST], null],
] as const) {
  test(`where the model makes no plan, ${what}`, async (t) => {
    const stage = stageFor(t, {
      apps: [MAIL, DRIVE],
      script: { planner: ['no plan'], mail: ['done'], vanilla: ['done'] },
      planner: { fallback: () => named },
    });
    await stage.ask('Read it');
    const [made] = stage.of('plan.made');
    assert.equal(made?.origin, 'fallback');
    assert.deepEqual(
      made?.plan.steps.map((step) => [step.app, step.task, step.uses]),
      [[chosen, 'Read it', []]],
    );
  });
}

test('the model sees installed apps only, whatever the planner ranks', async (t) => {
  const many = Array.from({ length: 40 }, (_, n) =>
    app(`app-${n}`, {}, { description: `Keeps ${'documents '.repeat(20)}` }),
  );
  const ghost = { ...MAIL.installed, id: GHOST };
  const stage = stageFor(t, {
    apps: many,
    script: { planner: ['no plan'], vanilla: ['done'] },
    planner: { rank: (_, apps) => [ghost, ...apps], fallback: () => [] },
  });
  await stage.ask('Read it');
  const seen = stage.model.shownTo('planner');
  assert.equal(seen.includes('ghost'), false);
  assert.equal(seen.includes('app-11'), true);
});
