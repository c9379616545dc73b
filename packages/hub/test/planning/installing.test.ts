/** Apps that the user could install: who may propose them, who decides, and how the query goes on. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { failed, fault, id, isJsonObject, type PlannerInput, parseJson } from '@cordon/core';
import { app, NUMBER, type ScriptedApp, serves, shape, TEXT } from '@cordon/testkit/hub/app.ts';
import { StoredPins } from '../../src/apps/app-pins.ts';
import type { PackageSource } from '../../src/planning/installing.ts';
import { yes } from '../fixture/consent.ts';
import { afterDeath, goneOnWith, heldAt } from '../fixture/killed-stage.ts';
import { call, plan, type Script } from '../fixture/model.ts';
import { type Scene, type Stage, stageFor } from '../fixture/stage.ts';

const FARE = { input: shape({ to: TEXT }), reply: { structured: { amount: 12 } } };
const SERVES = serves('ride-fare', 'fare', shape({ to: TEXT }), shape({ amount: NUMBER }));
const metro = (name = 'metro-hail'): ScriptedApp =>
  app(name, { fare: FARE }, { description: 'Books rides.', functionalities: [SERVES] });
const NOTES = app('notes', { look: 'two notes' }, { description: 'Keeps notes.' });
const REGISTRY: PackageSource = { host: 'packages.example', port: 443, path: '/metro-hail' };
const BY_METRO = plan([{ app: 'metro-hail', uses: ['ride-fare'] }]);
const RIDES: Script = {
  planner: [BY_METRO],
  'metro-hail': [[call('fare', { to: 'Turin' })], 'It is 12.'],
};
const QUERY = 'What is a ride to Turin?';

const scene = (change: Partial<Scene> = {}): Scene => ({
  apps: [NOTES],
  couldInstall: [{ app: metro(), source: REGISTRY }],
  script: RIDES,
  chooses: ({ choices: [first] }) => first ?? null,
  ...change,
});

function told(stage: Stage): readonly PlannerInput[] {
  return stage.model.seen.flatMap(({ who, request }) => {
    if (who !== 'planner') return [];
    const parsed = parseJson(request.messages.at(-1)?.text ?? '');
    assert.ok(parsed.ok && isJsonObject(parsed.value));
    return [parsed.value as unknown as PlannerInput];
  });
}

test('an app that is not installed is proposed, chosen, fetched, and serves the query', async (t) => {
  const stage = stageFor(t, scene());
  const outcome = await stage.ask(QUERY);
  assert.equal(outcome.answer, 'It is 12.');
  assert.deepEqual(
    stage.user.choices.map(({ question, choices, installs }) => ({ question, choices, installs })),
    [
      {
        question:
          'The plan for your query needs an app that is not installed, to do `ride-fare`. Install it? `metro-hail`: starts `metro-hail`.',
        choices: ['metro-hail'],
        installs: true,
      },
    ],
  );
  assert.deepEqual(stage.installs, ['fetch metro-hail', 'keep metro-hail']);
  assert.deepEqual(stage.ran, ['metro-hail.fare {"to":"Turin"}']);
  assert.deepEqual(
    stage.of('app.installed').map((event) => event.app),
    ['metro-hail'],
  );
});

test('the planner is shown it as not installed, and as installed from then on', async (t) => {
  const stage = stageFor(t, scene());
  await stage.ask(QUERY);
  await stage.ask('And what of my notes on the mountains?', { planner: [plan([{ app: null }])] });
  const [first, second] = told(stage);
  const shown = {
    id: 'metro-hail',
    description: 'Books rides.',
    uses: [{ name: 'ride-fare', description: SERVES.description }],
  };
  assert.deepEqual(first?.installable, [shown]);
  assert.deepEqual(
    first?.apps.map((one) => one.id),
    ['notes'],
  );
  assert.equal(second?.installable, undefined);
  assert.deepEqual(
    second?.apps.map((one) => one.id),
    ['notes', 'metro-hail'],
  );
});

test('after a no nothing is fetched or started, and the query is planned with what there is', async (t) => {
  const planner = [BY_METRO, plan([{ app: null }])];
  const stage = stageFor(
    t,
    scene({ chooses: () => null, script: { planner, assistant: ['I cannot tell.'] } }),
  );
  assert.equal((await stage.ask(QUERY)).answer, 'I cannot tell.');
  assert.deepEqual(stage.installs, []);
  assert.equal(stage.user.choices.length, 1);
  assert.deepEqual(
    told(stage).map(({ installable }) => installable?.length ?? 0),
    [1, 0],
  );
});

test('a yes for ever to one installation is none to the next', async (t) => {
  const stage = stageFor(t, scene({ couldInstall: [{ app: metro() }, { app: metro('metro-hall') }] }));
  stage.user.choosesFor = 'permanent';
  await stage.ask(QUERY);
  const planner = [plan([{ app: 'metro-hall', uses: ['ride-fare'] }])];
  await stage.ask('Which rides are there up the mountains?', { planner, 'metro-hall': ['none'] });
  assert.equal(stage.user.choices.length, 2);
  assert.deepEqual(stage.of('grant.given'), []);
});

test('a name that is nearly that of another app is said in the question', async (t) => {
  const stage = stageFor(t, scene({ couldInstall: [{ app: metro(), resembles: id('metro-hall') }] }));
  await stage.ask(QUERY);
  assert.match(stage.user.choices[0]?.question ?? '', / Its name is nearly that of `metro-hall`\.$/);
});

test('an app that is not installed is no candidate of a choice among installed ones', async (t) => {
  const planner = [plan([{ app: 'notes', uses: ['look'] }], ['notes', 'metro-hail'])];
  const stage = stageFor(t, scene({ script: { planner, notes: ['two'] } }));
  assert.equal((await stage.ask(QUERY)).answer, 'two');
  assert.deepEqual(stage.user.choices, []);
});

for (const [what, policy, fetched] of [
  ['forbids', 'raise "no" if:\n    (out: Egress)\n    out.host == "packages.example"', 0],
  ['allows', 'raise "no" if:\n    (out: Egress)\n    out.host == "other.example"', 2],
] as const) {
  test(`a policy that ${what} the way to the registry: ${fetched} steps of an installation`, async (t) => {
    const planner = [BY_METRO, plan([{ app: null }])];
    const stage = stageFor(
      t,
      scene({ policy, script: { ...RIDES, planner, assistant: ['I cannot tell.'] } }),
    );
    await stage.ask(QUERY);
    assert.equal(stage.installs.length, fetched);
    assert.equal(stage.of('app.installed').length, fetched / 2);
  });
}

for (const agrees of [true, false]) {
  test(`what it says of itself is reviewed before it counts as installed: ${agrees}`, async (t) => {
    const [notes, rides] = [NOTES, metro()];
    const planner = [BY_METRO, plan([{ app: null }])];
    const stage = stageFor(
      t,
      scene({
        couldInstall: [{ app: rides, source: REGISTRY }],
        script: { ...RIDES, planner, assistant: ['I cannot tell.'] },
        pins: (store) =>
          new StoredPins({
            pins: store.pins,
            place: '/home/ada',
            apps: [notes.installed, rides.installed],
            configured: (installed) => ({ command: installed.id }),
            demanded: () => null,
            reviewer: { agrees: async ({ app: { id: name } }) => name !== 'metro-hail' || agrees },
            pinsUnseen: false,
          }),
      }),
    );
    await stage.ask(QUERY);
    assert.deepEqual(stage.installs, agrees ? ['fetch metro-hail', 'keep metro-hail'] : ['fetch metro-hail']);
    assert.equal(stage.ran.length, agrees ? 1 : 0);
  });
}

test('a package that cannot be fetched is not installed, and the user is told why', async (t) => {
  const why = fault('app-unavailable', 'the registry does not answer');
  const planner = [BY_METRO, plan([{ app: null }])];
  const couldInstall = [{ app: metro(), source: REGISTRY, fetch: async () => failed(why) }];
  const stage = stageFor(t, scene({ couldInstall, script: { planner, assistant: ['I cannot tell.'] } }));
  assert.equal((await stage.ask(QUERY)).answer, 'I cannot tell.');
  assert.deepEqual(stage.installs, ['fetch metro-hail']);
  assert.deepEqual(
    stage.of('app.unavailable').map((event) => [event.app, event.fault.message]),
    [['metro-hail', 'the registry does not answer']],
  );
});

const PROBE = call('probe', { functionality: 'ride-fare' });
const NOTES_ONLY = plan([{ app: 'notes' }]);
const NOTES_AND_RIDE = plan([{ app: 'notes' }, { app: 'metro-hail', uses: ['ride-fare'], after: [1] }]);

test('what an app asks for in vain is asked about when its turn is over, and the query is served anew', async (t) => {
  const stage = stageFor(
    t,
    scene({
      user: yes(),
      script: {
        planner: [NOTES_ONLY, NOTES_AND_RIDE],
        notes: [
          [PROBE],
          ({ results }) => results.join(),
          [call('ride-fare', { to: 'Turin' })],
          ({ results }) => results.join(),
        ],
      },
    }),
  );
  const outcome = await stage.ask(QUERY);
  assert.equal(outcome.answer, '{"amount":12}');
  assert.deepEqual(
    stage.user.choices.map(({ question }) => question),
    [
      'Another app, not you, asked for `ride-fare`, which no installed app does. Install one? Cordon then serves your query again. `metro-hail`: starts `metro-hail`.',
    ],
  );
  const kinds = stage.events().map(({ kind }) => kind);
  assert.ok(kinds.indexOf('choice.asked') > kinds.indexOf('context.ended'));
  assert.deepEqual(stage.installs, ['fetch metro-hail', 'keep metro-hail']);
});

test('a spoke that asks for what could be installed sees what it would see without the list', async (t) => {
  const script: Script = {
    planner: [NOTES_ONLY],
    notes: [[PROBE], ({ results }) => results.join()],
  };
  const stages = [
    stageFor(t, scene({ script, chooses: () => null })),
    stageFor(t, scene({ script, couldInstall: [] })),
  ];
  const seen: string[] = [];
  for (const stage of stages) {
    assert.equal((await stage.ask(QUERY)).answer, 'refused: not permitted');
    const shown = stage.model.seen.filter(({ who }) => who === 'notes').map(({ request }) => request);
    seen.push(JSON.stringify(shown));
  }
  assert.equal(seen[0], seen[1]);
  assert.deepEqual(
    stages.map(({ user }) => user.choices.length),
    [1, 0],
  );
  assert.deepEqual(stages[0]?.installs, []);
});

test('an app that asks for one thing after the other gets one question for the user', async (t) => {
  const other = serves('payment', 'fare', shape({ to: TEXT }), shape({ amount: NUMBER }));
  const till = app('till', { fare: FARE }, { description: 'Pays.', functionalities: [other] });
  const probes = [PROBE, call('probe', { functionality: 'payment' })];
  const stage = stageFor(
    t,
    scene({
      couldInstall: [{ app: metro() }, { app: till }],
      script: { planner: [NOTES_ONLY], notes: [probes, 'done'] },
      chooses: () => null,
    }),
  );
  await stage.ask(QUERY);
  assert.equal(stage.user.choices.length, 1);
  assert.equal(stage.of('install.proposed').length, 2);
});

const DEATHS = [
  ['while the package is fetched', 'fetch', ['fetch metro-hail', 'keep metro-hail']],
  ['when the app is installed and nothing was asked of it', 'model', ['fetch metro-hail', 'keep metro-hail']],
] as const;
for (const [when, held, installs] of DEATHS) {
  test(`a hub that is killed ${when} goes on without asking, or planning, again`, async (t) => {
    const hold = Promise.withResolvers<void>();
    let isHeld = false;
    const stop = async () => {
      isHeld = true;
      await hold.promise;
    };
    const stage = stageFor(t, {
      ...scene(),
      ...(held === 'fetch'
        ? {
            couldInstall: [
              {
                app: metro(),
                source: REGISTRY,
                fetch: () => stop().then(() => failed(fault('cancelled', 'x'))),
              },
            ],
          }
        : { meanwhile: (who: string) => (who === 'metro-hail' ? stop() : undefined) }),
    });
    const outcome = stage.ask(QUERY);
    while (!isHeld) await new Promise((resolve) => setImmediate(resolve));
    const next = afterDeath(
      t,
      {
        ...scene({ script: { ...RIDES, planner: [] } }),
        // The next process finds it among the installed apps, if it came so far.
        ...(held === 'model' ? { apps: [NOTES, metro()] } : {}),
      },
      stage,
    );
    const resumed = next.open(stage.session.id);
    const ended = await resumed.resume(new AbortController().signal);
    assert.equal(ended.answer, 'It is 12.');
    assert.deepEqual(next.user.choices, []);
    assert.deepEqual(told(next), []);
    assert.deepEqual(next.installs, installs);
    await resumed.close('end');
    stage.cancel();
    hold.resolve();
    await outcome;
  });
}

test('a no to an installation stands when its hub was killed behind it', async (t) => {
  const without = plan([{ app: null }]);
  const killed = await heldAt(
    t,
    { who: 'planner', at: 2, query: QUERY },
    scene({
      chooses: () => null,
      script: { planner: [BY_METRO, without] },
    }),
  );
  const next = afterDeath(
    t,
    scene({ script: { planner: [without], assistant: ['I cannot tell.'] } }),
    killed.stage,
  );
  assert.equal(await goneOnWith(next, killed), 'I cannot tell.');
  assert.deepEqual([next.user.choices, next.installs], [[], []]);
});

test('a question that the user stopped the query at is put again', async (t) => {
  const stage: Stage = stageFor(
    t,
    scene({
      chooses: ({ choices: [first] }) => {
        if (stage.user.choices.length > 1) return first ?? null;
        stopping.abort();
        return null;
      },
    }),
  );
  const stopping = new AbortController();
  assert.equal((await stage.session.ask(QUERY, stopping.signal)).kind, 'cancelled');
  const outcome = await stage.session.resume(new AbortController().signal);
  assert.equal(outcome.answer, 'It is 12.');
  assert.equal(stage.user.choices.length, 2);
});

/** Nobody has seen the app before it is installed; then it is what was agreed to. */
const reviewing = (reviews: string[]): Partial<Scene> => ({
  pins: (store) =>
    new StoredPins({
      pins: store.pins,
      place: '/home/ada',
      apps: [NOTES.installed, metro().installed],
      configured: (installed) => ({ command: installed.id }),
      demanded: () => null,
      reviewer: { agrees: async ({ app: { id: name } }) => reviews.push(name) > 0 },
      pinsUnseen: false,
    }),
});

test('an installation that was agreed to and reviewed is not asked for again when its query goes on', async (t) => {
  const reviews: string[] = [];
  const killed = await heldAt(t, { who: 'metro-hail', at: 1, query: QUERY }, scene(reviewing(reviews)));
  const next = afterDeath(
    t,
    scene({ ...reviewing(reviews), apps: [NOTES, metro()], script: { ...RIDES, planner: [] } }),
    killed.stage,
  );
  assert.equal(await goneOnWith(next, killed), 'It is 12.');
  assert.deepEqual(next.user.choices, []);
  assert.deepEqual(reviews, ['metro-hail']);
  assert.equal(next.allEvents().filter(({ kind }) => kind === 'app.installed').length, 1);
});

test('a package that could not be fetched is not fetched when the query goes on that did without', async (t) => {
  const why = fault('app-unavailable', 'the registry does not answer');
  const without = plan([{ app: null }]);
  const killed = await heldAt(
    t,
    { who: 'assistant', at: 1, query: QUERY },
    scene({
      couldInstall: [{ app: metro(), source: REGISTRY, fetch: async () => failed(why) }],
      script: { planner: [BY_METRO, without] },
    }),
  );
  const next = afterDeath(t, scene({ script: { assistant: ['I cannot tell.'] } }), killed.stage);
  assert.equal(await goneOnWith(next, killed), 'I cannot tell.');
  assert.deepEqual([next.user.choices, next.installs], [[], []]);
});

test('a package that could not be fetched is not fetched again when its query resumes in the same process', async (t) => {
  const why = fault('app-unavailable', 'the registry does not answer');
  const planner = [BY_METRO, plan([{ app: null }])];
  const couldInstall = [{ app: metro(), source: REGISTRY, fetch: async () => failed(why) }];
  const stage = stageFor(t, scene({ couldInstall, script: { planner } }));
  assert.equal((await stage.ask(QUERY)).kind, 'failed');
  stage.model.learn({ assistant: ['I cannot tell.'] });
  assert.equal((await stage.session.resume(new AbortController().signal)).answer, 'I cannot tell.');
  assert.deepEqual([stage.user.choices.length, stage.installs], [1, ['fetch metro-hail']]);
});

test('an app is not planned for or installed again when its query resumes in the same process', async (t) => {
  const stage = stageFor(t, scene({ script: { planner: [BY_METRO] } }));
  assert.equal((await stage.ask(QUERY)).kind, 'failed');
  stage.model.learn({ 'metro-hail': ['It is 12.'] });
  assert.equal((await stage.session.resume(new AbortController().signal)).answer, 'It is 12.');
  assert.equal(stage.user.choices.length, 1);
  assert.equal(told(stage).length, 1);
  assert.equal(stage.of('app.installed').length, 1);
});

test('what an app asked for in vain is installed for the same query when that goes on in the same process', async (t) => {
  const first = { planner: [NOTES_ONLY], notes: [[PROBE]] };
  const stage = stageFor(t, scene({ user: yes(), script: first }));
  assert.equal((await stage.ask(QUERY)).kind, 'failed');
  stage.model.learn({
    planner: [NOTES_AND_RIDE],
    // The hub first makes the failed model call again, as it does in a new process.
    notes: ['none', [call('ride-fare', { to: 'Turin' })], ({ results }) => results.join()],
  });
  assert.equal((await stage.session.resume(new AbortController().signal)).answer, '{"amount":12}');
  assert.equal(stage.user.choices.length, 1);
});

test('what a user was asked about in a session is not asked again in a later query of it, killed or not', async (t) => {
  const script: Script = { planner: [NOTES_ONLY], notes: [[PROBE], 'none'] };
  const stage = stageFor(t, scene({ script, chooses: () => null }));
  await stage.ask(QUERY);
  await stage.resume();
  await stage.ask(QUERY, script);
  assert.equal(stage.user.choices.length, 1);
});

test('a query that was served anew and acted is served anew when it goes on', async (t) => {
  const killed = await heldAt(
    t,
    { who: 'notes', at: 4, query: QUERY },
    scene({
      user: yes(),
      script: {
        planner: [NOTES_ONLY, NOTES_AND_RIDE],
        notes: [[PROBE], 'none', [call('ride-fare', { to: 'Turin' })]],
      },
    }),
  );
  const next = afterDeath(
    t,
    scene({ apps: [NOTES, metro()], script: { notes: [({ results }) => results.join()] } }),
    killed.stage,
  );
  assert.equal(await goneOnWith(next, killed), '{"amount":12}');
  assert.deepEqual([next.user.choices, next.ran], [[], []]);
});

test('of many apps that could be installed the planner is shown the six that fit best', async (t) => {
  const others = ['maps', 'coins', 'birds', 'boats', 'songs', 'stars', 'plants'].map((thing) => ({
    app: app(thing, { look: 'none' }, { description: `Keeps ${thing}.` }),
  }));
  const stage = stageFor(t, scene({ couldInstall: [...others, { app: metro(), source: REGISTRY }] }));
  await stage.ask(QUERY);
  const shown = told(stage)[0]?.installable?.map((one) => one.id) ?? [];
  assert.deepEqual([shown.length, shown[0]], [6, 'metro-hail']);
});
