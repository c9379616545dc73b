/** What is begun while the planner plans: it saves the time of planning where the plan leads there, and comes to nothing else. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { adviser, app } from '@cordon/testkit/hub/app.ts';
import type { AppDescription } from '../../src/apps/app-description.ts';
import { type AppPins, NO_PINS } from '../../src/apps/app-pins.ts';
import { call, type Line, plan } from '../fixture/model.ts';
import { type Scene, Stage, stageFor } from '../fixture/stage.ts';

const MAIL = app(
  'mail',
  { read: 'a mail' },
  { description: 'Reads e-mails', irreversible: [], untrusted: [], private: [] },
);
const DRIVE = app(
  'drive',
  { find: 'a document' },
  { description: 'Finds documents', irreversible: [], untrusted: [], private: [] },
);

function scene(script: Readonly<Record<string, readonly Line[]>>, more: Partial<Scene> = {}): Scene {
  return { apps: [MAIL, DRIVE], script, speculates: true, ...more };
}

const asked = (stage: Stage) => stage.model.seen.map(({ who }) => who);
const executed = (stage: Stage) => stage.events().filter(({ kind }) => kind === 'tool-call.executed');
const startedApps = (stage: Stage) => stage.of('app.started').map((event) => event.app);

test('the app that is likely is asked beside the planner, and its answer serves', async (t) => {
  const stage = stageFor(
    t,
    scene({ planner: [plan([{ app: 'mail' }])], mail: [[call('read', {})], 'you have one mail'] }),
  );
  assert.equal((await stage.ask('read the newest e-mails')).answer, 'you have one mail');
  // One call to plan and two to serve: what was begun is not asked again.
  assert.deepEqual(asked(stage).toSorted(), ['mail', 'mail', 'planner']);
  const [made] = stage.of('plan.made');
  const [output] = executed(stage);
  assert.equal(made?.context, output?.context);
  assert.ok((made?.sequence ?? 0) < (stage.of('tool-call.proposed')[0]?.sequence ?? 0));
});

test('where the plan leads elsewhere nothing comes of what was begun', async (t) => {
  const stage = stageFor(
    t,
    scene(
      {
        planner: [plan([{ app: 'drive' }])],
        mail: [[call('read', {})]],
        drive: [[call('find', {})], 'found it'],
      },
      {
        // The planner takes until the other model has been asked.
        meanwhile: async (who, stage) => {
          while (who === 'planner' && !asked(stage).includes('mail')) await setImmediate();
        },
      },
    ),
  );
  assert.equal((await stage.ask('what is in the e-mails')).answer, 'found it');
  assert.deepEqual(startedApps(stage), ['drive']);
  assert.deepEqual(
    stage.of('tool-call.proposed').map(({ tool }) => tool),
    ['find'],
  );
  const speculative = stage.of('context.created').find((event) => event.app === 'mail');
  const own = stage.events().filter(({ context }) => context === speculative?.context);
  assert.deepEqual(
    own.filter(({ kind }) => kind === 'model.message' || kind === 'plan.made'),
    [],
  );
  assert.equal(own.at(-1)?.kind, 'context.ended');
});

test('where the end of what was begun cannot be recorded the query fails, and the hub goes on', async (t) => {
  let isFull = true;
  const stage = stageFor(
    t,
    scene(
      { planner: [plan([{ app: 'drive' }])], mail: ['you have one mail'] },
      {
        meanwhile: async (who, stage) => {
          while (who === 'planner' && !asked(stage).includes('mail')) await setImmediate();
        },
      },
    ),
  );
  const { journal } = stage.store;
  const appendAll = journal.appendAll.bind(journal);
  journal.appendAll = (session, drafts) => {
    if (isFull && drafts.some(({ body }) => body.kind === 'context.ended'))
      throw new Error('the disk is full');
    return appendAll(session, drafts);
  };
  await assert.rejects(stage.ask('what is in the e-mails'), /the disk is full/);
  isFull = false;
  const outcome = await stage.ask('and now?', { planner: [plan([{ app: 'drive' }])], drive: ['found it'] });
  assert.equal(outcome.answer, 'found it');
});

test('a query that shares no word with an app is begun without one', async (t) => {
  const stage = stageFor(t, scene({ planner: [plan([{ app: null }])], assistant: ['four'] }));
  assert.equal((await stage.ask('two and two?')).answer, 'four');
  assert.deepEqual(asked(stage).toSorted(), ['assistant', 'planner']);
});

test('the helpers of a plan are there though the model was asked without them', async (t) => {
  const stage = stageFor(
    t,
    scene({
      planner: [plan([{ app: 'mail' }, { app: 'drive', uses: ['find'], after: [1] }])],
      mail: [[call('read', {})], [call('find', {})], 'both'],
    }),
  );
  assert.equal((await stage.ask('read the e-mails')).answer, 'both');
  assert.deepEqual(
    executed(stage).map((event) => event.app),
    ['mail', 'drive'],
  );
});

test('an answer for want of a helper is asked for again with it', async (t) => {
  const stage = stageFor(
    t,
    scene({
      planner: [plan([{ app: 'mail' }, { app: 'drive', uses: ['find'], after: [1] }])],
      mail: ['I cannot find documents', [call('find', {})], 'found it'],
    }),
  );
  assert.equal((await stage.ask('read the e-mails')).answer, 'found it');
});

test('an app that nobody has agreed to is not begun with', async (t) => {
  const stage = stageFor(
    t,
    scene({ planner: [plan([{ app: 'mail' }])], mail: ['you have one mail'] }, { pins: () => NO_PINS }),
  );
  assert.equal((await stage.ask('read the newest e-mails')).answer, 'you have one mail');
  assert.equal(stage.of('plan.made')[0]?.context, null);
});

test('an app with a model of its own is not begun with: its provider would hear what is not for it', async (t) => {
  const own = { ...MAIL, installed: { ...MAIL.installed, model: 'elsewhere/model' } };
  const stage = stageFor(
    t,
    scene({ planner: [plan([{ app: 'drive' }])], drive: ['nothing there'] }, { apps: [own, DRIVE] }),
  );
  assert.equal((await stage.ask('read the newest e-mails')).answer, 'nothing there');
  assert.deepEqual(
    stage.model.seen.filter(({ request }) => request.model === 'elsewhere/model'),
    [],
  );
});

test('a plan that wants facts is served by a context that is given them', async (t) => {
  const stage = stageFor(t, scene({ planner: [plan([{ app: 'mail' }])], mail: ['noted'] }));
  await stage.ask('read the e-mails of Ada, my name is Ada');
  const outcome = await stage.ask('read the e-mails once more', {
    planner: [plan([{ app: 'mail', needs: ['name'] }])],
    mail: ['without it', 'with it'],
  });
  assert.equal(outcome.kind, 'answered');
  assert.equal(outcome.answer, 'with it');
  assert.match(JSON.stringify(stage.model.seen.at(-1)?.request.messages), /name: Ada/);
});

test('a query that goes on takes up what was begun', async (t) => {
  const stage = stageFor(t, scene({ planner: [plan([{ app: 'mail' }])], mail: [[call('read', {})]] }));
  // Its model has no more to say, so the query fails behind the call.
  assert.equal((await stage.ask('read the newest e-mails')).kind, 'failed');
  await stage.resume();
  stage.model.learn({ mail: ['you have one mail'] });
  const outcome = await stage.session.resume(t.signal);
  assert.equal(outcome.answer, 'you have one mail');
  assert.equal(executed(stage).length, 1);
});

for (const { what, text, limits } of [
  { what: 'tokens for an app', text: 'read the newest e-mails', limits: { tokens: 1_300 } },
  { what: 'tokens for nobody', text: 'two and two?', limits: { tokens: 900 } },
  { what: 'money for an app', text: 'read the newest e-mails', limits: { cost: 0.05 } },
  { what: 'money for nobody', text: 'two and two?', limits: { cost: 0.05 } },
]) {
  test(`a guess takes nothing of a budget that the query needs itself: ${what}`, async (t) => {
    const target = text.includes('mail') ? 'mail' : null;
    const stage = stageFor(
      t,
      scene(
        { planner: [plan([{ app: target }])], mail: ['you have one mail'], assistant: ['four'] },
        {
          limits,
          prices: new Map([['scripted/model', { input: 15, output: 75 }]]),
          // The planner is still being asked when the guess would be.
          meanwhile: async (who) => {
            for (let turn = 0; who === 'planner' && turn < 200; turn++) await setImmediate();
          },
        },
      ),
    );
    assert.equal((await stage.ask(text)).kind, 'answered');
    assert.deepEqual(asked(stage), ['planner', target ?? 'assistant']);
  });
}

test('an app that has got a model of its own meanwhile is not begun with by a query that goes on', async (t) => {
  const advice = adviser('mail', { description: 'Reads e-mails' });
  const stage = stageFor(t, scene({ mail: ['you have one mail'] }, { apps: [advice, DRIVE] }));
  // Its planner has nothing to say, so the query fails.
  assert.equal((await stage.ask('read the newest e-mails')).kind, 'failed');
  assert.equal(stage.of('context.created').filter((event) => event.app === 'mail').length, 1);
  await stage.session.close('suspend');
  const own = { ...advice, installed: { ...advice.installed, model: 'elsewhere/model' } };
  const script = { planner: [plan([{ app: 'drive' }])], drive: ['nothing there'] };
  const later = new Stage(scene(script, { apps: [own, DRIVE] }), stage.store);
  stage.session = later.open(stage.session.id);
  assert.equal((await stage.session.resume(t.signal)).answer, 'nothing there');
  assert.deepEqual(
    later.model.seen.filter(({ request }) => request.model === 'elsewhere/model'),
    [],
  );
});

for (const cannotBeUndone of [true, false]) {
  test(`a foreseen app acts as what was agreed to last: ${cannotBeUndone ? 'cannot' : 'can'} be undone`, async (t) => {
    const harmless = app(
      'mail',
      { read: { reply: 'a mail', annotations: { readOnlyHint: true } } },
      { description: 'Reads e-mails', irreversible: null, untrusted: [], private: [] },
    );
    const read: Line = [call('read', {})];
    // What was begun with the other annotations does not hold, and the model is asked anew.
    const mail: readonly Line[] = cannotBeUndone ? [read, read, 'nothing'] : [read, 'you have one mail'];
    const stage = stageFor(
      t,
      scene(
        { planner: [plan([{ app: 'mail' }])], mail },
        { apps: [harmless], pins: () => agreesToAnother({ readOnlyHint: !cannotBeUndone }) },
      ),
    );
    await stage.ask('read the newest e-mails');
    assert.deepEqual(stage.ran, cannotBeUndone ? [] : ['mail.read {}']);
    assert.equal(stage.questions.length, cannotBeUndone ? 1 : 0);
  });
}

/** Between its start and its first use the app announces other annotations, and the user agrees to them. */
function agreesToAnother(annotations: { readonly [hint: string]: boolean }): AppPins {
  const withHints = (said: AppDescription): AppDescription => ({
    ...said,
    tools: said.tools.map((tool) => ({ ...tool, annotations })),
  });
  return {
    ...NO_PINS,
    digest: () => 'sha256:agreed',
    vet: (app, said) => Promise.resolve(NO_PINS.recheck(app, withHints(said))),
  };
}
