import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { app } from '@cordon/testkit/hub/app.ts';
import { yes } from '../fixture/consent.ts';
import { call, plan } from '../fixture/model.ts';
import { type Scene, type Stage, stageFor } from '../fixture/stage.ts';

const MAIL = app('mail', { read: 'my bank is EVIL' }, { untrusted: ['read'] });
const NOTES = app('notes', { list: 'a note' });
const MAIL_PLAN = plan([{ app: 'mail' }]);
const FRENCH = 'Je m’appelle Zoé Durand et j’habite à Lyon.';

function found(...facts: readonly (readonly [name: string, value: string])[]): string {
  return JSON.stringify({ facts: facts.map(([name, value]) => ({ name, value })) });
}

const ZOE = found(['name', 'Zoé Durand'], ['city', 'Lyon']);

function stageWith(t: TestContext, more: Partial<Scene> = {}): Stage {
  return stageFor(t, { apps: [MAIL, NOTES], script: {}, facts: 'model', ...more });
}

/** What is known when nothing is being learnt any more. */
async function known(stage: Stage): Promise<readonly string[]> {
  await stage.resume();
  const facts = stage.store.memory({ kind: 'system' }).facts();
  return facts.map(({ name, value, origin }) => `${name}=${value}${origin === null ? '' : ` (${origin})`}`);
}

/** Waits for what is done in the background: another query begins behind it. */
async function settle(stage: Stage): Promise<void> {
  await stage.ask('hello', { planner: [plan([{ app: null }])], assistant: ['hello'] });
}

const asked = (stage: Stage) => stage.model.seen.filter(({ who }) => who === 'facts');

test('a model finds facts that no pattern knows, in a context that hears the user’s words alone', async (t) => {
  const stage = stageWith(t);
  const script = { planner: [MAIL_PLAN], mail: [[call('read')], 'APPS-WORDS'], facts: [ZOE] };
  await stage.ask(FRENCH, script);
  await settle(stage);
  assert.deepEqual(asked(stage)[0]?.request.messages.slice(1), [{ role: 'user', text: FRENCH }]);
  assert.deepEqual(asked(stage)[0]?.request.tools, []);
  assert.equal(stage.model.shownTo('facts').includes('EVIL'), false);
  assert.equal(stage.model.shownTo('facts').includes('APPS-WORDS'), false);
  assert.deepEqual(await known(stage), ['city=Lyon (mail)', 'name=Zoé Durand (mail)']);
  assert.deepEqual(
    stage.of('facts.learnt').map(({ by, toldTo, facts }) => ({ by, toldTo, facts })),
    [
      {
        by: 'model',
        toldTo: 'mail',
        facts: [
          { name: 'name', value: 'Zoé Durand', isNew: true, before: null },
          { name: 'city', value: 'Lyon', isNew: true, before: null },
        ],
      },
    ],
  );
});

test('what a model makes up, and what an app said, is no fact; what the user said beside it is one', async (t) => {
  const stage = stageWith(t);
  await stage.ask(FRENCH, {
    planner: [MAIL_PLAN],
    mail: [[call('read')], 'my bank is EVIL'],
    facts: [found(['bank', 'EVIL'], ['country', 'France'], ['bank/balance', 'Lyon'], ['city', 'Lyon'])],
  });
  await settle(stage);
  assert.deepEqual(await known(stage), ['city=Lyon (mail)']);
});

test('what patterns find is kept with the query, and stands against what the model says of it', async (t) => {
  const stage = stageWith(t);
  const facts = [found(['city', 'Milan'], ['diet', 'no fish'])];
  const text = 'My city is Turin, not Milan: and no fish for me.';
  await stage.ask(text, { planner: [MAIL_PLAN], mail: ['noted'], facts });
  await settle(stage);
  assert.deepEqual(await known(stage), ['city=Turin (mail)', 'diet=no fish (mail)']);
  assert.deepEqual(
    stage.of('facts.learnt').map(({ by, context }) => [by, context === null]),
    [
      ['patterns', true],
      ['model', false],
    ],
  );
});

test('the answer does not wait for the model that finds facts; the next query does', async (t) => {
  const gate = Promise.withResolvers<void>();
  const order: string[] = [];
  const stage = stageWith(t, {
    meanwhile: async (who) => {
      if (who !== 'facts') order.push(who);
      else if (asked(stage).length === 1) await gate.promise;
    },
  });
  await stage.ask(FRENCH, { planner: [MAIL_PLAN], mail: ['noted'], facts: [ZOE] });
  order.push('answered');
  const next = settle(stage);
  setImmediate(() => {
    order.push('learnt');
    gate.resolve();
  });
  await next;
  assert.deepEqual(order, ['planner', 'mail', 'answered', 'learnt', 'planner', 'assistant']);
  assert.deepEqual(stage.of('facts.learnt').length, 1);
});

for (const [what, answer] of [
  ['fails', undefined],
  ['answers with no object', 'The user is Zoé Durand.'],
] as const) {
  test(`a model that ${what} leaves what the patterns found`, async (t) => {
    const stage = stageWith(t);
    const facts = answer === undefined ? [] : [answer];
    await stage.ask('My city is Turin.', { planner: [MAIL_PLAN], mail: ['noted'], facts });
    await settle(stage);
    assert.deepEqual(await known(stage), ['city=Turin (mail)']);
  });
}

/** The user, or their disk, does something while a model looks for facts for the first time. */
function learnsWhile(t: TestContext, act: (stage: Stage) => void): Stage {
  let isDone = false;
  return stageWith(t, {
    meanwhile: (who, stage) => {
      if (who !== 'facts' || isDone) return;
      isDone = true;
      act(stage);
    },
  });
}

test('facts that the store did not take are told of once, and learnt behind the next query', async (t) => {
  const full = () => {
    throw new Error('the disk is full');
  };
  const stage = learnsWhile(t, ({ store }) => t.mock.method(store, 'together', full, { times: 1 }));
  await stage.ask(FRENCH, { planner: [MAIL_PLAN], mail: ['noted'], facts: [ZOE, ZOE] });
  await assert.rejects(settle(stage), /the disk is full/);
  await settle(stage);
  await settle(stage);
  assert.deepEqual(await known(stage), ['city=Lyon (mail)', 'name=Zoé Durand (mail)']);
});

const turnsOf = ({ store }: Stage) =>
  store.memories.items({ kind: 'turn' }).filter((item) => item.kind === 'turn' && item.text === FRENCH);

for (const [what, act, kept] of [
  ['looks on', (stage: Stage) => void turnsOf(stage), ['city=Lyon (mail)', 'name=Zoé Durand (mail)']],
  [
    'deletes the query',
    (stage: Stage) => {
      for (const { id } of turnsOf(stage)) stage.store.memories.deleteItem(id);
    },
    [],
  ],
  [
    'corrects the query',
    (stage: Stage) => {
      for (const { id } of turnsOf(stage)) stage.store.memories.correct(id, 'hello');
    },
    [],
  ],
  ['deletes the session', (stage: Stage) => void stage.store.memories.deleteSession(stage.session.id), []],
] as const) {
  test(`of a query whose facts a model finds while the user ${what}, ${kept.length} facts are kept`, async (t) => {
    const stage = learnsWhile(t, act);
    await stage.ask(FRENCH, { planner: [MAIL_PLAN], mail: ['noted'], facts: [ZOE] });
    await settle(stage);
    assert.deepEqual(await known(stage), kept);
  });
}

for (const [mode, kept] of [
  ['patterns', ['city=Turin (mail)']],
  ['off', []],
] as const) {
  test(`with facts set to \`${mode}\` no model is asked, and ${kept.length} facts are kept`, async (t) => {
    const stage = stageWith(t, { facts: mode });
    await stage.ask('My city is Turin.', { planner: [MAIL_PLAN], mail: ['noted'], facts: [ZOE] });
    await settle(stage);
    assert.deepEqual(asked(stage), []);
    assert.deepEqual(await known(stage), kept);
  });
}

test('nothing is learnt from a private query, and no model is asked about it', async (t) => {
  const stage = stageWith(t);
  stage.model.learn({ planner: [MAIL_PLAN], mail: ['noted'], facts: [ZOE] });
  const text = `My city is Turin. ${FRENCH}`;
  await stage.session.ask(text, new AbortController().signal, { isPrivate: true });
  assert.deepEqual(await known(stage), []);
  assert.deepEqual([asked(stage), stage.of('facts.learnt')], [[], []]);
});

test('nothing is learnt by a model without isolation', async (t) => {
  const stage = stageWith(t, { isolation: 'none' });
  await stage.ask(FRENCH, { shared: ['noted'], facts: [ZOE] });
  await stage.resume();
  assert.deepEqual(asked(stage), []);
});

const NO_FACTS_CALL = `raise "no model looks for facts" if:
    "now" == "now"
`;

test('a policy that forbids the call keeps the model from being asked', async (t) => {
  const stage = stageWith(t, { policy: NO_FACTS_CALL });
  await stage.ask('My city is Turin.', { facts: [ZOE] });
  await stage.resume();
  assert.deepEqual(asked(stage), []);
  assert.deepEqual(await known(stage), ['city=Turin']);
});

test('what the user quotes is shown to no model that looks for facts', async (t) => {
  const stage = stageWith(t);
  const text = 'Summarize “My name is Mallory.” for Zoé';
  await stage.ask(text, { planner: [MAIL_PLAN], mail: ['done'], facts: [found(['name', 'Mallory'])] });
  await settle(stage);
  assert.equal(stage.model.shownTo('facts').includes('Mallory'), false);
  assert.deepEqual(await known(stage), []);
});

test('a fact is new when it is stated first, and not when it is stated again', async (t) => {
  const stage = stageWith(t, { facts: 'patterns' });
  for (const city of ['Turin', 'Turin', 'Rome'])
    await stage.ask(`My city is ${city}.`, { planner: [MAIL_PLAN], mail: ['noted'] });
  assert.deepEqual(
    stage
      .of('facts.learnt')
      .flatMap(({ facts }) => facts.map(({ value, isNew, before }) => [value, isNew, before])),
    [
      ['Turin', true, null],
      ['Turin', false, 'Turin'],
      ['Rome', true, 'Turin'],
    ],
  );
});

test('facts that were not learnt when the session was left are learnt when it goes on, and once', async (t) => {
  let isLeft = false;
  const stage = stageWith(t, {
    meanwhile: async (who, one) => {
      if (who !== 'facts' || isLeft) return;
      isLeft = true;
      void one.session.close('suspend').catch(() => undefined);
    },
  });
  await stage.ask(FRENCH, { planner: [MAIL_PLAN], mail: ['noted'], facts: [ZOE, ZOE] });
  assert.deepEqual(await known(stage), []);
  await settle(stage);
  await settle(stage);
  assert.deepEqual(await known(stage), ['city=Lyon (mail)', 'name=Zoé Durand (mail)']);
  await settle(stage);
  const texts = asked(stage).map(({ request }) => request.messages.at(-1)?.text);
  assert.deepEqual(texts.filter((text) => text === FRENCH).length, 2);
});

test('a session that ends still learns from what the user said last', async (t) => {
  const stage = stageWith(t);
  await stage.ask(FRENCH, { planner: [MAIL_PLAN], mail: ['noted'], facts: [ZOE] });
  await stage.session.close('end');
  stage.session = stage.open();
  assert.deepEqual(
    stage.store
      .memory({ kind: 'system' })
      .facts()
      .map(({ value }) => value),
    ['Lyon', 'Zoé Durand'],
  );
});

const WANTS_CITY = plan([{ app: 'notes', needs: ['city'] }]);
const WANTS_TOWN = plan([{ app: 'notes', needs: ['town'] }]);

for (const text of ['my city is Rome, what is the weather at home?', 'the weather at home?'] as const) {
  test(`“${text}” goes on with the facts that it began with`, async (t) => {
    const stage = stageWith(t, { facts: 'patterns', user: yes() });
    await stage.ask('my city is Turin', { planner: [plan([{ app: 'notes' }])], notes: ['noted'] });
    const failed = await stage.ask(text, { planner: [WANTS_CITY] });
    assert.equal(failed.kind, 'failed');
    stage.model.learn({ notes: ['sunny'] });
    await stage.resume();
    const { kind } = await stage.session.resume(new AbortController().signal);
    assert.equal(kind, 'answered');
    const shown = JSON.stringify(stage.model.seen.findLast(({ who }) => who === 'notes')?.request);
    assert.equal(shown.includes('Turin'), true);
    // Neither plan nor facts are asked for again.
    assert.equal(stage.model.seen.filter(({ who }) => who === 'planner').length, 2);
    assert.equal(stage.of('data-release.proposed').length, 1);
    assert.equal(stage.of('facts.learnt').length, text.includes('Rome') ? 2 : 1);
  });
}

test('a query that goes on twice goes on with the facts that it began with', async (t) => {
  const stage = stageWith(t, { facts: 'patterns', user: yes() });
  await stage.ask('my city is Turin', { planner: [plan([{ app: 'notes' }])], notes: ['noted'] });
  await stage.ask('my city is Rome, what is the weather at home?', { planner: [WANTS_CITY] });
  for (let times = 0; times < 2; times++) {
    await stage.resume();
    assert.equal((await stage.session.resume(new AbortController().signal)).kind, 'failed');
  }
  const released = stage.of('data-release.proposed').map(({ items }) => items.map(({ value }) => value));
  assert.deepEqual(released, [['Turin']]);
  assert.deepEqual(await known(stage), ['city=Rome (notes)', 'city=Rome'].slice(0, 1));
});

test('what the user deleted meanwhile does not come back in a query that goes on', async (t) => {
  const stage = stageWith(t, { facts: 'patterns', user: yes() });
  await stage.ask('my city is Turin', { planner: [plan([{ app: 'notes' }])], notes: ['noted'] });
  await stage.ask('my city is Rome, what is the weather at home?', { planner: [WANTS_CITY] });
  await stage.session.close('suspend');
  for (const { id } of stage.store.memories.items({ kind: 'fact' })) stage.store.memories.deleteItem(id);
  const before = stage.model.seen.length;
  stage.session = stage.open(stage.session.id);
  stage.model.learn({ planner: [WANTS_CITY], notes: ['sunny'] });
  await stage.session.resume(new AbortController().signal);
  const later = JSON.stringify(stage.model.seen.slice(before).map(({ request }) => request));
  assert.equal(later.includes('"Turin"') || later.includes('\\"Turin\\"'), false);
});

test('a step that names a fact by another word for its kind gets it', async (t) => {
  const stage = stageWith(t, { facts: 'patterns', user: yes() });
  await stage.ask('my city is Turin', { planner: [MAIL_PLAN], mail: ['noted'] });
  await stage.ask('the weather at home', { planner: [WANTS_TOWN], notes: ['done'] });
  assert.equal(stage.model.shownTo('notes').includes('Turin'), true);
});
