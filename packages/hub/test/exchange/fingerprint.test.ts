/**
 * What a context could find out of who else is there: ids, the list of functionalities, and how a no looks. Each is the
 * same whatever is installed, or new each time.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '@cordon/core';
import type { HubMessage, SpokeMessage } from '@cordon/protocol';
import { adviser, app, type ScriptedApp, serves, shape, TEXT } from '@cordon/testkit/hub/app.ts';
import { launcherOf, READY, type SpokeEnd } from '@cordon/testkit/hub/spoke.ts';
import fc from 'fast-check';
import { SEED } from '../../../../tools/seed.ts';
import { CATALOGUE } from '../../src/query/catalogue.ts';
import { no, yes } from '../fixture/consent.ts';
import { call, field, plan } from '../fixture/model.ts';
import { raiseStage, type Scene, stageFor } from '../fixture/stage.ts';

const NOTES = app('notes', { keep: 'kept' });
const RIDES = server('rides', 'ride-fare');
const NOTES_ONLY = plan([{ app: 'notes' }]);

function server(name: string, functionality: string, tool = 'do'): ScriptedApp {
  return app(
    name,
    { [tool]: { reply: { structured: { text: 'done' } } } },
    { functionalities: [serves(functionality, tool, shape({}), shape({ text: TEXT }))] },
  );
}

const PROBE = call('probe', { functionality: 'ride-fare' });

test('ids of the same app and functionality have nothing in common, in one session or in forty', async (t) => {
  const ids: string[] = [];
  for (let session = 0; session < 40; session++) {
    const { stage, clear } = raiseStage({
      apps: [NOTES, RIDES],
      script: { planner: [NOTES_ONLY], notes: [[PROBE, PROBE], 'done'] },
    });
    await stage.ask('how much?');
    ids.push(...stage.of('offer.made').map(({ peer }) => peer));
    await clear();
  }
  assert.equal(new Set(ids).size, 80);
  // 72 bits of chance: what two of 80 share by chance alone is a few characters at the same places.
  const secret = ids.map((id) => /^peer-([\w-]{12})$/.exec(id)?.[1] ?? assert.fail(id));
  for (let at = 0; at < 12; at++) {
    const most = Math.max(...counts(secret.map((text) => text[at] ?? '')));
    t.diagnostic(`place ${at}: ${most} of 80 alike`);
    assert.ok(most < 20, `place ${at} is the same in ${most} of 80`);
  }
  const shared = secret.flatMap((one, index) => secret.slice(0, index).map((other) => alike(one, other)));
  assert.ok(Math.max(...shared) < 8);
});

function counts(values: readonly string[]): readonly number[] {
  return [...new Set(values)].map((value) => values.filter((other) => other === value).length);
}

function alike(one: string, other: string): number {
  return [...one].filter((character, index) => character === other[index]).length;
}

test('an id of another context is refused like an invented one, and the trace says whose it was', async (t) => {
  const calendar = app('calendar', {});
  const stage = stageFor(t, {
    apps: [NOTES, RIDES, calendar],
    user: yes(),
    script: { planner: [NOTES_ONLY, plan([{ app: 'calendar' }])], notes: [[PROBE], 'done'] },
  });
  await stage.ask('how much?');
  const [offer] = stage.of('offer.made');
  const { peer, context } = offer ?? assert.fail('nothing was offered');
  const said: string[] = [];
  const asks = (used: string) => call('request', { peer: used, message: {} });
  await stage.ask('how much?', {
    calendar: [
      [asks(peer), asks('peer-AAAAAAAAAAAA')],
      ({ results }) => {
        said.push(...results);
        return 'done';
      },
    ],
  });
  assert.deepEqual(said, ['malformed: there is no such peer', 'malformed: there is no such peer']);
  assert.deepEqual(
    stage.of('message.dropped').map(({ reason }) => reason),
    [`a request to a peer that was offered to \`${context}\``, 'a request to a peer that nobody was offered'],
  );
  assert.deepEqual([stage.ran, stage.questions], [[], []]);
});

const NAMES = CATALOGUE.map(({ name }) => name);

test('every spoke is told the same functionalities, whatever is installed and whatever it is for', async (t) => {
  t.diagnostic(`CORDON_SEED=${SEED}`);
  const others = fc.uniqueArray(
    fc.record({
      name: fc.stringMatching(/^[a-z]{3,8}$/),
      functionality: fc.constantFrom(...NAMES, 'of-my-own'),
    }),
    { maxLength: 5, selector: ({ name }) => name },
  );
  const property = fc.asyncProperty(others, fc.constantFrom('notes', null, 'both'), async (list, who) => {
    const installed = list
      .filter(({ name }) => name !== 'notes')
      .map(({ name, functionality }) => (name < 'm' ? server(name, functionality) : adviser(name)));
    const steps = who === 'both' ? [{ app: 'notes' }, { app: 'rides' }] : [{ app: who }];
    const lists: unknown[] = [];
    const { stage, clear } = raiseStage({
      apps: [NOTES, RIDES, ...installed],
      script: { planner: [plan(steps)] },
      spokes: launcherOf(({ onMessage, send }) => {
        onMessage((message) => {
          if (message.type !== 'turn') return;
          lists.push(message.context.functionalities);
          send({ type: 'answer', id: message.id, text: 'done' });
        });
        send(READY);
      }),
    });
    try {
      await stage.ask('hello');
      assert.deepEqual(
        lists,
        lists.map(() => CATALOGUE),
      );
      assert.ok(lists.length > 0);
    } finally {
      await clear();
    }
  });
  await fc.assert(property, { seed: SEED, numRuns: 15 });
});

/** All that a loop hears after one message of its turn, and whether the hub asked the user or called anything first. */
async function heardAfter(said: (peer: string) => SpokeMessage, scene: Partial<Scene>) {
  const heard: HubMessage[] = [];
  const behave = ({ onMessage, send }: SpokeEnd) => {
    onMessage((message) => {
      if (message.type === 'turn') return send({ type: 'probe', id: 1, functionality: 'ride-fare' });
      if (message.type === 'offer' && heard.length === 0) return send(said(message.peer));
      if (message.type !== 'welcome') heard.push(message);
      if (heard.length === 1) send({ type: 'answer', id: 1, text: 'done' });
    });
    send(READY);
  };
  const { stage, clear } = raiseStage({
    apps: [NOTES, RIDES],
    script: { planner: [NOTES_ONLY] },
    spokes: launcherOf(behave),
    ...scene,
  });
  try {
    await stage.ask('how much?');
    return { heard, questions: stage.questions.length + stage.user.choices.length, ran: stage.ran.length };
  } finally {
    await clear();
  }
}

const REQUEST = (peer: string): SpokeMessage => ({ type: 'request', id: 1, peer, message: {} });
const REFUSED = [{ type: 'refusal', malformed: false, text: 'refused: not permitted', id: 1 }];

const TAXI = server('taxi', 'ride-fare');
const PROBES: readonly (readonly [string, Partial<Scene>, number])[] = [
  ['nobody serves', { apps: [NOTES] }, 0],
  ['what could be installed', { apps: [NOTES], installable: new Map([['ride-fare', ['metro-hail']]]) }, 0],
  ['only the asking app itself serves', { apps: [server('notes', 'ride-fare')] }, 0],
  ['the user chose none of', { apps: [NOTES, RIDES, TAXI], chooses: () => null }, 1],
];

for (const [what, scene, questions] of PROBES) {
  test(`a probe for a functionality that ${what} is answered with the same bytes`, async () => {
    const { heard, questions: asked } = await heardAfter(REQUEST, scene);
    assert.deepEqual(heard, REFUSED);
    // What waits for a person takes as long as a person takes: that this can be told apart is said in the documents.
    assert.equal(asked, questions);
  });
}

const FORBIDDEN = 'raise "no" if:\n    (asked: AppRequest)';
const UNDELIVERED = 'raise "no" if:\n    (answered: AppResponse)';
const NO_RESULT = 'raise "no" if:\n    (found: ToolOutput)';
const REQUESTS: readonly (readonly [string, Partial<Scene>])[] = [
  ['the user forbids', { user: no() }],
  ['nobody answers for', {}],
  ['a rule forbids', { user: yes(), policy: FORBIDDEN }],
  ['is answered and then kept back by a rule', { user: yes(), policy: UNDELIVERED }],
  ['whose result a rule forbids', { user: yes(), policy: NO_RESULT }],
  [
    'nests too deep',
    { user: yes(), limits: { exchangeDepth: 0 }, apps: [NOTES, adviserServing('rides', 'ride-fare')] },
  ],
];

function adviserServing(name: string, functionality: string): ScriptedApp {
  return adviser(name, { functionalities: [serves(functionality, null, shape({}), shape({ text: TEXT }))] });
}

for (const [what, scene] of REQUESTS) {
  test(`a request that ${what} is refused with the same bytes`, async () => {
    assert.deepEqual((await heardAfter(REQUEST, scene)).heard, REFUSED);
  });
}

test('a request that is allowed is served', async () => {
  const { heard, ran } = await heardAfter(REQUEST, { user: yes() });
  assert.deepEqual(heard, [{ type: 'response', message: { text: { ref: '$1', length: 100 } }, id: 1 }]);
  assert.equal(ran, 1);
});

test('the user is told what could be installed; the spoke hears nothing of it', async (t) => {
  const scene = (installable: ReadonlyMap<string, readonly string[]>): Scene => ({
    apps: [NOTES],
    script: { planner: [NOTES_ONLY], notes: [[PROBE], ({ results }) => results.join()] },
    installable,
  });
  const told = stageFor(t, scene(new Map([['ride-fare', ['metro-hail', 'quick-ride']]])));
  const untold = stageFor(t, scene(new Map()));
  const [first, second] = [await told.ask('how much?'), await untold.ask('how much?')];
  assert.equal(first.answer, 'refused: not permitted');
  assert.deepEqual(first, second);
  assert.deepEqual(
    told.of('install.proposed').map(({ functionality, apps }) => ({ functionality, apps })),
    [{ functionality: 'ride-fare', apps: ['metro-hail', 'quick-ride'] }],
  );
  assert.deepEqual(untold.of('install.proposed'), []);
  const shown = (stage: typeof told) => JSON.stringify(stage.model.seen.map(({ request }) => request));
  assert.equal(shown(told), shown(untold));
  assert.ok(!shown(told).includes('metro-hail'));
});

test('what is installed is not proposed, and nothing twice', async (t) => {
  const installable = new Map([['ride-fare', ['metro-hail']]]);
  const many = Array.from({ length: 9 }, () => call('probe', { functionality: 'payment' }));
  const stage = stageFor(t, {
    apps: [NOTES, RIDES],
    installable: new Map([...installable, ['payment', ['till']]]),
    script: { planner: [NOTES_ONLY], notes: [[PROBE], many, 'done'] },
  });
  await stage.ask('how much?');
  assert.deepEqual(
    stage.of('install.proposed').map(({ functionality }): string => functionality),
    ['payment'],
  );
});

test('an offer says what can be asked and nothing of who answers', async (t) => {
  const offers: JsonObject[] = [];
  const stage = stageFor(t, {
    apps: [NOTES, RIDES],
    script: {
      planner: [NOTES_ONLY],
      notes: [
        [PROBE],
        ({ results: [offer] }) => {
          offers.push(JSON.parse(offer ?? ''));
          return field(offer, 'peer') === '' ? 'none' : 'done';
        },
      ],
    },
  });
  assert.equal((await stage.ask('how much?')).answer, 'done');
  assert.deepEqual(Object.keys(offers[0] ?? {}), ['peer', 'request', 'response']);
  assert.ok(!JSON.stringify(offers).includes('rides'));
});

test('spokes are told the list that the user configured, and it says nothing of what is installed', async (t) => {
  const functionalities = [{ name: 'tide-table', description: 'when the water is high' }];
  const told: unknown[] = [];
  for (const apps of [[NOTES], [NOTES, RIDES]]) {
    const stage = stageFor(t, {
      apps,
      functionalities,
      script: { planner: [NOTES_ONLY] },
      spokes: launcherOf(({ onMessage, send }) => {
        onMessage((message) => {
          if (message.type !== 'turn') return;
          told.push(message.context.functionalities);
          send({ type: 'answer', id: message.id, text: 'done' });
        });
        send(READY);
      }),
    });
    await stage.ask('hello');
  }
  assert.deepEqual(told, [functionalities, functionalities]);
});
