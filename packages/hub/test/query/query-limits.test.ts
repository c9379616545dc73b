/** A query ends at its limits, whatever its loops do, and says which it was and what was used. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ModelPrice } from '@cordon/core';
import { app } from '@cordon/testkit/hub/app.ts';
import { broken, no } from '../fixture/consent.ts';
import { call, type Line, plan } from '../fixture/model.ts';
import { type Scene, stageFor } from '../fixture/stage.ts';

const MAIL = app('mail', { read: 'a mail', send: 'sent' }, { irreversible: ['send'] });
const MAIL_PLAN = plan([{ app: 'mail' }]);
const READS: Line = [call('read')];

function mail(lines: readonly Line[], more: Partial<Scene> = {}): Scene {
  return { apps: [MAIL], script: { planner: [MAIL_PLAN], mail: lines }, ...more };
}

/** The scripted model's calls have 100 tokens in and 10 out. */
const PRICES: ReadonlyMap<string, ModelPrice> = new Map([['scripted/model', { input: 10, output: 100 }]]);
const ONE_CALL = 0.002;

for (const [cost, kind, limit] of [
  [3 * ONE_CALL + 0.0001, 'answered', undefined],
  [2 * ONE_CALL, 'failed', 'cost'],
] as const) {
  test(`three calls of 0.002 with a limit of ${cost}: ${kind}`, async (t) => {
    const stage = stageFor(t, mail([READS, 'done'], { limits: { cost }, prices: PRICES }));
    assert.equal((await stage.ask('read it')).kind, kind);
    const [ended] = stage.of('query.ended');
    assert.equal(ended?.limit, limit);
    assert.equal(ended?.used?.cost?.toFixed(4), limit === undefined ? '0.0060' : '0.0040');
  });
}

test('a model whose price is not known is not asked where money is limited', async (t) => {
  const stage = stageFor(t, mail(['done'], { limits: { cost: 100 } }));
  const outcome = await stage.ask('read it');
  assert.deepEqual(
    [outcome.kind, outcome.reason],
    ['failed', 'the price of `scripted/model` is unknown, so the cost limit cannot be enforced'],
  );
  assert.equal(stage.model.seen.length, 0);
  assert.equal(stage.of('query.ended')[0]?.limit, 'cost');
});

const DEAR = { ...MAIL, installed: { ...MAIL.installed, model: 'expert/dear' } };

test('an app’s own model is the one that is asked, by its own context alone', async (t) => {
  const stage = stageFor(t, { apps: [DEAR], script: { planner: [MAIL_PLAN], mail: [READS, 'done'] } });
  await stage.ask('read it');
  assert.deepEqual(
    stage.model.seen.map(({ who, request }) => [who, request.model]),
    [
      ['planner', 'scripted/model'],
      ['mail', 'expert/dear'],
      ['mail', 'expert/dear'],
    ],
  );
  assert.deepEqual(
    stage.of('model-call.proposed').map(({ model }) => model),
    ['scripted/model', 'expert/dear', 'expert/dear'],
  );
});

test('an app’s own model is paid by its own price', async (t) => {
  const prices = new Map([...PRICES, ['expert/dear', { input: 1_000, output: 1_000 }] as const]);
  const stage = stageFor(t, { apps: [DEAR], script: { planner: [MAIL_PLAN], mail: ['done'] }, prices });
  await stage.ask('read it');
  assert.equal(stage.of('query.ended')[0]?.used?.cost?.toFixed(4), '0.1120');
});

test('an app’s own model without a price does not run where money is limited, though the planner’s has one', async (t) => {
  const stage = stageFor(t, {
    apps: [DEAR],
    script: { planner: [MAIL_PLAN], mail: ['done'] },
    prices: PRICES,
    limits: { cost: 100 },
  });
  const outcome = await stage.ask('read it');
  assert.match(outcome.reason ?? '', /^the price of `expert\/dear` is unknown/);
  assert.deepEqual(
    stage.model.seen.map(({ who }) => who),
    ['planner'],
  );
});

for (const who of ['planner', 'mail'] as const) {
  test(`a query whose ${who} model never answers ends when its time is over`, async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const stage = stageFor(
      t,
      mail(['done'], {
        limits: { seconds: 3 },
        meanwhile: (asked) => {
          if (asked !== who) return undefined;
          t.mock.timers.tick(3_000);
          return new Promise(() => undefined);
        },
      }),
    );
    const outcome = await stage.ask('read it');
    assert.deepEqual([outcome.kind, outcome.reason], ['failed', 'the query reached its time limit of 3 s']);
    assert.match(outcome.help ?? '', /--max-seconds/);
    assert.equal(stage.of('query.ended')[0]?.limit, 'seconds');
  });
}

for (const [whose, kind] of [
  ['user', 'answered'],
  ['model', 'failed'],
] as const) {
  test(`a query of three seconds in which the ${whose} takes four is ${kind}`, async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const takes = (who: typeof whose) => who === whose && t.mock.timers.tick(4_000);
    const stage = stageFor(
      t,
      mail([[call('send')], 'done'], {
        limits: { seconds: 3 },
        meanwhile: (who) => who === 'mail' && takes('model'),
        user: () => {
          takes('user');
          return { allow: true, duration: 'once' };
        },
      }),
    );
    assert.equal((await stage.ask('send it')).kind, kind);
  });
}

test('the end says which limit it was and what was used', async (t) => {
  const stage = stageFor(t, mail([READS, READS, READS, 'done'], { limits: { steps: 3 } }));
  const outcome = await stage.ask('read it');
  assert.equal(outcome.kind, 'failed');
  assert.match(outcome.help ?? '', /^it used 4 model calls, 440 tokens, .* `--max-steps` allows more$/);
  const [ended] = stage.of('query.ended');
  assert.deepEqual([ended?.limit, ended?.used?.modelCalls, ended?.used?.tokens], ['steps', 4, 440]);
});

test('a query within its limits says what it used, and names none', async (t) => {
  const stage = stageFor(t, mail([READS, 'done']));
  await stage.ask('read it');
  const [ended] = stage.of('query.ended');
  assert.deepEqual([ended?.limit, ended?.used?.modelCalls, ended?.used?.cost], [undefined, 3, null]);
});

test('loops that run beside each other share one budget', async (t) => {
  const apps = ['a', 'b', 'c', 'd'].map((name) => app(name, { look: 'seen', keep: 'kept' }));
  const forever: readonly Line[] = Array.from({ length: 20 }, (): Line => [call('look')]);
  const stage = stageFor(t, {
    apps,
    script: {
      planner: [plan(apps.map(({ installed }) => ({ app: installed.id })))],
      ...Object.fromEntries(apps.map(({ installed }) => [installed.id, forever])),
    },
    limits: { tokens: 1_100 },
    user: no(),
  });
  const outcome = await stage.ask('look everywhere');
  assert.deepEqual([outcome.kind, outcome.reason], ['failed', 'the query reached its limit of 1100 tokens']);
  // Ten calls of 110 tokens fit. What is under way is counted with an answer of a thousand, so two never race for the last.
  assert.ok(stage.model.seen.length <= 10, `${stage.model.seen.length} calls`);
});

test('when the money is used up, what is under way beside it ends at once', async (t) => {
  const [cheap, dear] = [app('cheap', { look: 'seen' }), app('dear', { look: 'seen' })];
  const stage = stageFor(t, {
    apps: [cheap, { ...dear, installed: { ...dear.installed, model: 'expert/dear' } }],
    script: { planner: [plan([{ app: 'cheap' }, { app: 'dear' }])], cheap: ['never'], dear: ['never'] },
    limits: { cost: 1 },
    prices: PRICES,
    meanwhile: (who) => (who === 'cheap' ? new Promise(() => undefined) : undefined),
  });
  const outcome = await stage.ask('look everywhere');
  assert.deepEqual([outcome.kind, stage.of('query.ended')[0]?.limit], ['failed', 'cost']);
});

test('a step that makes all of its model calls does not take the others down', async (t) => {
  const apps = ['tireless', 'quick'].map((name) => app(name, { look: 'seen' }));
  const stage = stageFor(t, {
    apps,
    script: {
      planner: [plan([{ app: 'tireless' }, { app: 'quick' }])],
      tireless: [[call('look')], [call('look')], [call('look')]],
      quick: ['57'],
      assistant: ['only $1'],
    },
    limits: { steps: 3 },
  });
  assert.equal((await stage.ask('look everywhere')).answer, 'only «57» (from step)');
  assert.equal(stage.of('query.ended')[0]?.limit, undefined);
});

test('a surface that breaks in the middle of a question does not stop the clock for ever', async (t) => {
  let calls = 0;
  const stage = stageFor(t, {
    ...mail([[call('send')], 'done'], { limits: { seconds: 1 }, user: broken() }),
    // The third call, behind the question, takes for ever.
    meanwhile: () => (++calls < 3 ? undefined : new Promise(() => undefined)),
  });
  const outcome = await stage.ask('send it');
  assert.deepEqual([outcome.kind, stage.of('query.ended')[0]?.limit], ['failed', 'seconds']);
  assert.deepEqual(
    stage.of('permission.answered').map(({ allow, by }) => `${allow} ${by}`),
    ['false no-answer'],
  );
});

/** Calls that differ, so that none is taken for another. */
function reads(count: number): Line {
  return Array.from({ length: count }, (_, index) => call('read', { number: index }));
}

for (const count of [32, 33, 64]) {
  test(`${count} calls in one answer of a model all run, and each has its result`, async (t) => {
    let results: readonly string[] = [];
    const stage = stageFor(
      t,
      mail([
        reads(count),
        (heard) => {
          results = heard.results;
          return 'done';
        },
      ]),
    );
    const outcome = await stage.ask('read them');
    assert.deepEqual([outcome.kind, outcome.reason], ['answered', null]);
    assert.equal(stage.ran.length, count);
    assert.deepEqual(results, new Array(count).fill('a mail'));
  });
}

test('of 65 calls in one answer of a model none runs, and the query ends with that reason', async (t) => {
  const stage = stageFor(t, mail([reads(65), 'done']));
  const outcome = await stage.ask('read them');
  assert.deepEqual(
    [outcome.kind, outcome.reason],
    ['failed', 'the model asked for 65 tool calls at once; 64 are the most'],
  );
  assert.deepEqual(stage.ran, []);
});
