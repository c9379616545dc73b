import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { ModelMessage } from '@cordon/core';
import { app } from '@cordon/testkit/hub/app.ts';
import { yes } from '../fixture/consent.ts';
import { call, plan, type Script } from '../fixture/model.ts';
import { type Stage, stageFor } from '../fixture/stage.ts';

const MAIL = app('mail', { read: 'a mail', send: 'sent' }, { irreversible: ['send'], untrusted: ['read'] });
const NOTES = app('notes', { list: 'a note' });
const MAIL_PLAN = plan([{ app: 'mail' }]);
const NOTES_PLAN = plan([{ app: 'notes' }]);
const SHORT = { interactions: 4 };

async function chat(stage: Stage, count: number, script: (n: number) => Script): Promise<void> {
  for (let n = 1; n <= count; n++) await stage.ask(`query ${n}`, script(n));
}

const toMail = (n: number): Script => ({ planner: [MAIL_PLAN], mail: [`answer ${n}`] });

/** The conversation that a context's model was shown last, without its system prompt. */
function shown(stage: Stage, who: string): readonly string[] {
  const messages: readonly ModelMessage[] =
    stage.model.seen.findLast((one) => one.who === who)?.request.messages ?? [];
  return messages.filter(({ role }) => role !== 'system').map(({ text }) => text);
}

test('what is too old to be shown is summed up by a model, and the summary shown in its place', async (t) => {
  const stage = stageFor(t, {
    apps: [MAIL],
    script: { summary: ['THE USER ASKED THREE THINGS', 'the system’s'] },
    summaries: 'model',
    memory: SHORT,
  });
  stage.model.learn({ summary: [] });
  await chat(stage, 6, toMail);
  const told = shown(stage, 'mail');
  assert.equal(
    told.some((text) => text.includes('query 1')),
    false,
  );
  assert.equal(told.includes('answer 5'), true);
  assert.equal(
    stage.of('summary.made').every(({ by }) => by === 'model'),
    true,
  );
});

test('a summary is made of the summary before it and of what came after', async (t) => {
  const summaries = ['SYSTEM-1', 'MAIL-1', 'SYSTEM-2', 'MAIL-2'];
  const stage = stageFor(t, {
    apps: [MAIL],
    script: { summary: summaries },
    summaries: 'model',
    memory: SHORT,
  });
  await chat(stage, 9, toMail);
  const asked = stage.model.seen.filter(({ who }) => who === 'summary').map(({ request }) => request);
  const texts = asked.map(({ messages }) => messages.at(-1)?.text ?? '');
  assert.equal(asked.length, 4);
  assert.equal(
    asked.every(({ tools }) => tools.length === 0),
    true,
  );
  assert.equal(texts[3]?.includes('MAIL-1'), true);
  assert.equal(texts[3]?.includes('query 1'), false);
  assert.equal(shown(stage, 'mail')[1], 'MAIL-2');
});

for (const mode of ['extract', 'model'] as const) {
  test(`without a summary of a model (${mode}) the beginnings of what was said stand`, async (t) => {
    const stage = stageFor(t, { apps: [MAIL], script: {}, summaries: mode, memory: SHORT });
    await chat(stage, 6, toMail);
    assert.deepEqual(shown(stage, 'mail').slice(0, 2), [
      'What did we say before? Sum it up.',
      '- the user: query 1\n- answer: answer 1\n- the user: query 2\n- answer: answer 2\n- the user: query 3\n- answer: answer 3',
    ]);
    assert.deepEqual(shown(stage, 'mail').slice(2), [
      'query 4',
      'answer 4',
      'query 5',
      'answer 5',
      'query 6',
    ]);
    assert.equal(
      stage.of('summary.made').every(({ by }) => by === 'extract'),
      true,
    );
  });
}

test('with summaries switched off no model is asked, and what is older is not shown', async (t) => {
  const stage = stageFor(t, { apps: [MAIL], script: {}, summaries: 'off', memory: SHORT });
  await chat(stage, 7, toMail);
  assert.deepEqual(stage.of('summary.made'), []);
  assert.deepEqual(shown(stage, 'mail').slice(0, 2), ['query 3', 'answer 3']);
});

test('the prompt of a turn does not grow with the conversation', async (t) => {
  const stage = stageFor(t, {
    apps: [MAIL],
    script: {},
    memory: { interactions: 4, characters: 3000, summaryCharacters: 1000 },
  });
  await chat(stage, 14, (n) => ({ planner: [MAIL_PLAN], mail: [`answer ${n} ${'long '.repeat(400)}`] }));
  const sizes = stage.model.seen
    .filter(({ who }) => who === 'mail')
    .map(({ request }) => JSON.stringify(request.messages).length);
  assert.equal(
    sizes.slice(8).every((size) => size < 6000),
    true,
    String(sizes),
  );
  assert.equal(
    stage.store.memory({ kind: 'spoke', app: MAIL.installed.id }).history(stage.session.id).length,
    28,
  );
});

test('the planner’s summary is of the user’s own words and of how queries ended, and of no app’s', async (t) => {
  const stage = stageFor(t, { apps: [MAIL], script: {}, memory: SHORT });
  await chat(stage, 6, (n) => ({ planner: [MAIL_PLAN], mail: [[call('read')], `APPS-WORDS ${n}`] }));
  const planner = stage.model.shownTo('planner');
  assert.equal(planner.includes('the user: query 1'), true);
  assert.equal(planner.includes('APPS-WORDS'), false);
  const asked = stage.model.seen.filter(({ who }) => who === 'summary');
  assert.deepEqual(asked, []);
});

test('a model that sums up for the system is shown the user’s words alone', async (t) => {
  const stage = stageFor(t, {
    apps: [MAIL],
    script: { summary: Array.from({ length: 9 }, () => 'a summary') },
    summaries: 'model',
    memory: SHORT,
  });
  await chat(stage, 6, (n) => ({ planner: [MAIL_PLAN], mail: [`APPS-WORDS ${n}`] }));
  const [first] = stage.model.seen.filter(({ who }) => who === 'summary');
  const text = first?.request.messages.at(-1)?.text ?? '';
  assert.deepEqual([text.includes('query 1'), text.includes('APPS-WORDS')], [true, false]);
});

test('a summary is shown to the context that it was made of, and to no other', async (t) => {
  const stage = stageFor(t, { apps: [MAIL, NOTES], script: {}, memory: SHORT });
  await chat(stage, 6, (n) => ({ planner: [MAIL_PLAN], mail: [`SECRET ${n}`] }));
  await stage.ask('list', { planner: [NOTES_PLAN], notes: ['done'] });
  assert.equal(stage.model.shownTo('mail').includes('SECRET 1'), true);
  assert.equal(stage.model.shownTo('notes').includes('SECRET'), false);
});

/** Later turns carry on what the earlier ones knew; without them there is nothing but the summary to tell of it. */
function forgetShownTurns(stage: Stage): void {
  const memory = stage.store.memory({ kind: 'spoke', app: MAIL.installed.id });
  for (const { id } of memory.open(stage.session.id)) stage.store.memories.deleteItem(id);
  assert.notEqual(memory.summary(stage.session.id), null);
  assert.deepEqual(memory.open(stage.session.id), []);
}

for (const [tool, warned] of [
  ['read', true],
  ['list', false],
] as const) {
  test(`what a context read with ${tool} taints it also when only the summary tells of it`, async (t) => {
    const mixed = app(
      'mail',
      { read: 'a mail', list: 'a list', send: 'sent' },
      { irreversible: ['send'], untrusted: ['read'] },
    );
    const stage = stageFor(t, { apps: [mixed], script: {}, user: yes(), memory: SHORT });
    await stage.ask('query 0', { planner: [MAIL_PLAN], mail: [[call(tool)], 'read it'] });
    await chat(stage, 5, toMail);
    forgetShownTurns(stage);
    await stage.ask('send it', { planner: [MAIL_PLAN], mail: [[call('send', { to: 'ada' })], 'done'] });
    const warnings = stage.user.asked.at(-1)?.warnings ?? [];
    assert.equal(
      warnings.some((text) => text.includes('others may have written')),
      warned,
    );
  });
}

const FLOW = `raise "no mail after reading" if:
    (read: ToolOutput)
    (send: ToolCall)
    read -> send
    read is tool:read
    send is tool:send
`;

for (const [first, sent] of [
  ['read', false],
  ['send', true],
] as const) {
  test(`a flow rule sees through a summary: after ${first} a mail ${sent ? 'goes' : 'does not go'} out`, async (t) => {
    const stage = stageFor(t, { apps: [MAIL], script: {}, user: yes(), policy: FLOW, memory: SHORT });
    await stage.ask('query 0', { planner: [MAIL_PLAN], mail: [[call(first)], 'done'] });
    await chat(stage, 5, toMail);
    forgetShownTurns(stage);
    await stage.resume();
    await stage.ask('send it', { planner: [MAIL_PLAN], mail: [[call('send', { to: 'ada' })], 'done'] });
    assert.equal(stage.ran.includes('mail.send {"to":"ada"}'), sent);
  });
}

/** A user who, beside the session, does something with the memory while a model writes a summary. */
async function summedUpWhile(t: TestContext, act: (stage: Stage) => void): Promise<Stage> {
  let isDone = false;
  const stage = stageFor(t, {
    apps: [MAIL],
    script: { summary: ['SUMMARY OF query 1', 'a summary', 'a summary'] },
    summaries: 'model',
    memory: SHORT,
    meanwhile: (who) => {
      if (who !== 'summary' || isDone) return;
      isDone = true;
      act(stage);
    },
  });
  await chat(stage, 6, toMail);
  return stage;
}

const summariesOf = ({ store }: Stage) => store.memories.items({ kind: 'summary' }).length;
const turnOf = ({ store }: Stage, text: string) =>
  store.memories.items({ kind: 'turn' }).filter((item) => item.kind === 'turn' && item.text === text);

for (const [what, act] of [
  [
    'deletes it',
    (stage: Stage) => {
      for (const { id } of turnOf(stage, 'query 1')) stage.store.memories.deleteItem(id);
    },
  ],
  [
    'corrects it',
    (stage: Stage) => {
      for (const { id } of turnOf(stage, 'query 1')) stage.store.memories.correct(id, 'query one');
    },
  ],
  ['deletes the session', (stage: Stage) => void stage.store.memories.deleteSession(stage.session.id)],
] as const) {
  test(`a turn does not come back by a summary that a model writes while the user ${what}`, async (t) => {
    const stage = await summedUpWhile(t, act);
    assert.equal(JSON.stringify(stage.store.memories.items()).includes('query 1'), false);
  });
}

test('a summary that a model writes while the user looks on is kept', async (t) => {
  const stage = await summedUpWhile(t, ({ store }) => void store.memories.items());
  assert.equal(summariesOf(stage), 2);
});

test('nothing of a private query is summed up', async (t) => {
  const stage = stageFor(t, { apps: [MAIL], script: {}, memory: SHORT });
  await chat(stage, 3, toMail);
  stage.model.learn({ planner: [MAIL_PLAN], mail: ['PRIVATE answer'] });
  await stage.session.ask('PRIVATE query', new AbortController().signal, { isPrivate: true });
  await chat(stage, 4, toMail);
  assert.equal(
    shown(stage, 'mail').some((text) => text.includes('PRIVATE')),
    false,
  );
  assert.equal(JSON.stringify(stage.store.memories.items()).includes('PRIVATE'), false);
});
