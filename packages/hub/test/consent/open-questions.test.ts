/** Questions that are open at the same time, are answered from elsewhere, or end before they are answered. */
import assert from 'node:assert/strict';
import { cpSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { type TestContext, test } from 'node:test';
import { id, type PermissionAnswer, type PermissionPrompt } from '@cordon/core';
import { app, NUMBER, serves, shape, TEXT } from '@cordon/testkit/hub/app.ts';
import { openStore } from '@cordon/trace';
import { StoredPins } from '../../src/apps/app-pins.ts';
import { no, type Says, yes } from '../fixture/consent.ts';
import { quickFolder } from '../fixture/empty-store.ts';
import { call, plan, type Script } from '../fixture/model.ts';
import { type Scene, Stage, stageFor } from '../fixture/stage.ts';

const MAIL = app('mail', { send: { input: shape({ to: TEXT }), reply: 'sent' } }, { irreversible: ['send'] });
const RIDES = app(
  'rides',
  { fare: { input: shape({ to: TEXT }), reply: { structured: { amount: 12 } } } },
  { functionalities: [serves('ride-fare', 'fare', shape({ to: TEXT }), shape({ amount: NUMBER }))] },
);
const SENDS = plan([{ app: 'mail', uses: ['send'] }]);

/** All calls in one line of the model: the loop makes them at the same time. */
const sendsAtOnce = (...recipients: readonly string[]): Script => ({
  planner: [SENDS],
  mail: [recipients.map((to) => call('send', { to })), 'done'],
});

/** Resolves when so many questions stand before the user. */
async function untilAsked(stage: Stage, count: number): Promise<void> {
  while (stage.user.asked.length < count) await new Promise((resolve) => setImmediate(resolve));
}

/** A user who thinks until the test says what the answer is. */
class Thinking {
  readonly #answers: PromiseWithResolvers<PermissionAnswer>[] = [];

  readonly says: Says = () => {
    const answer = Promise.withResolvers<PermissionAnswer>();
    this.#answers.push(answer);
    return answer.promise;
  };

  answer(index: number, answer: PermissionAnswer): void {
    this.#answers[index]?.resolve(answer);
  }
}

const NEVER: Says = () => new Promise(() => undefined);

test('a question that is asked while the same one is open joins it, and both are refused', async (t) => {
  const thinking = new Thinking();
  const stage = stageFor(t, { apps: [MAIL], script: sendsAtOnce('ada', 'ada'), user: thinking.says });
  const outcome = stage.ask('send to ada twice');
  await untilAsked(stage, 1);
  thinking.answer(0, { allow: false, reason: 'user' });
  await outcome;
  assert.equal(stage.user.asked.length, 1);
  assert.deepEqual(stage.ran, []);
});

test('a yes for once is for one of two that were asked as one question: the other is asked again', async (t) => {
  const stage = stageFor(t, { apps: [MAIL], script: sendsAtOnce('ada', 'ada'), user: yes('once') });
  await stage.ask('send to ada twice');
  assert.equal(stage.user.asked.length, 2);
  assert.equal(stage.ran.length, 2);
});

test('a yes for the session answers both', async (t) => {
  const stage = stageFor(t, { apps: [MAIL], script: sendsAtOnce('ada', 'ada'), user: yes('session') });
  await stage.ask('send to ada twice');
  assert.equal(stage.user.asked.length, 1);
  assert.equal(stage.ran.length, 2);
});

test('different questions are open at the same time, each with an answer of its own', async (t) => {
  const thinking = new Thinking();
  const stage = stageFor(t, { apps: [MAIL], script: sendsAtOnce('ada', 'bob'), user: thinking.says });
  const outcome = stage.ask('send to ada and bob');
  await untilAsked(stage, 2);
  const bobs = stage.user.asked.findIndex(({ data }) => data[0]?.value.includes('bob'));
  thinking.answer(bobs, { allow: true, duration: 'once' });
  thinking.answer(1 - bobs, { allow: false, reason: 'user' });
  await outcome;
  assert.deepEqual(stage.ran, ['mail.send {"to":"bob"}']);
});

const asksFares: Script = {
  planner: [plan([{ app: 'mail' }, { app: 'rides', after: [1] }])],
  mail: [[call('ride-fare', { to: 'Turin' }), call('ride-fare', { to: 'Rome' })], 'done'],
};

test('a permission that lasts makes an open question of the same kind superfluous', async (t) => {
  const reads = app('mail', { read: 'hello' }, { untrusted: ['read'] });
  const thinking = new Thinking();
  const stage = stageFor(t, {
    apps: [reads, RIDES],
    script: { ...asksFares, mail: [[call('read')], ...(asksFares.mail ?? [])] },
    user: thinking.says,
  });
  const outcome = stage.ask('how much is it to Turin, and to Rome?');
  await untilAsked(stage, 2);
  thinking.answer(1, { allow: true, duration: 'session' });
  await outcome;
  assert.deepEqual([...stage.ran].sort(), [
    'mail.read {}',
    'rides.fare {"to":"Rome"}',
    'rides.fare {"to":"Turin"}',
  ]);
  assert.deepEqual(
    stage.of('permission.answered').map(({ by, duration }) => [by, duration]),
    [
      ['user', 'session'],
      ['grant', null],
    ],
  );
});

test('a question is answered from another process while the session waits', async (t) => {
  const stage = stageFor(t, { apps: [MAIL], script: sendsAtOnce('ada'), user: NEVER });
  const outcome = stage.ask('send to ada');
  await untilAsked(stage, 1);
  const [waiting] = stage.store.prompts.pending();
  assert.equal(waiting?.id, stage.user.asked[0]?.id);
  const answer: PermissionAnswer = { allow: true, duration: 'session', shown: 'what was drawn' };
  assert.equal(stage.store.prompts.answer(waiting?.id ?? id(''), { kind: 'permission', answer }).ok, true);
  assert.equal((await outcome).kind, 'answered');
  assert.equal(stage.ran.length, 1);
  const [answered] = stage.of('permission.answered');
  assert.equal(answered?.from, 'elsewhere');
  assert.deepEqual(answered?.shown, {
    text: 'what was drawn',
    digest: '3fab471d9929c0602835de9f7555f71683e2cef69560dc1e9ce1d86352b8d841',
  });
});

test('a no from another process denies', async (t) => {
  const stage = stageFor(t, { apps: [MAIL], script: sendsAtOnce('ada'), user: NEVER });
  const outcome = stage.ask('send to ada');
  await untilAsked(stage, 1);
  const answer: PermissionAnswer = { allow: false, reason: 'user' };
  stage.store.prompts.answer(stage.user.asked[0]?.id ?? id(''), { kind: 'permission', answer });
  await outcome;
  assert.deepEqual(stage.ran, []);
});

for (const [what, here, elsewhere, ran] of [
  ['a no here and a yes from elsewhere', no(), { allow: true, duration: 'once' }, 0],
  ['a yes here and a no from elsewhere', yes(), { allow: false, reason: 'user' }, 0],
  ['a yes here and a yes from elsewhere', yes(), { allow: true, duration: 'once' }, 1],
] as const) {
  test(`${what} at the same moment: it happens ${ran} times`, async (t) => {
    const stage = stageFor(t, {
      apps: [MAIL],
      script: sendsAtOnce('ada'),
      user: (prompt) => {
        const taken = stage.store.prompts.answer(prompt.id, { kind: 'permission', answer: elsewhere });
        assert.equal(taken.ok, true);
        return here(prompt);
      },
    });
    await stage.ask('send to ada');
    assert.equal(stage.ran.length, ran);
  });
}

test('an answer for longer than was offered is not taken from another process either', async (t) => {
  const stage = stageFor(t, { apps: [MAIL], script: sendsAtOnce('ada'), user: NEVER });
  const outcome = stage.ask('send to ada');
  await untilAsked(stage, 1);
  const answer = { allow: true, duration: 'permanent' } as const;
  const prompt = stage.user.asked[0]?.id ?? id('');
  assert.equal(stage.store.prompts.answer(prompt, { kind: 'permission', answer }).ok, false);
  stage.cancel();
  await outcome;
  assert.deepEqual(stage.ran, []);
});

test('an answer for a query that is over counts for nothing', async (t) => {
  const stage = stageFor(t, { apps: [MAIL], script: sendsAtOnce('ada'), user: NEVER });
  const outcome = stage.ask('send to ada');
  await untilAsked(stage, 1);
  stage.cancel();
  await outcome;
  const answer = { allow: true, duration: 'once' } as const;
  const late = stage.store.prompts.answer(stage.user.asked[0]?.id ?? id(''), { kind: 'permission', answer });
  assert.equal(late.ok ? 'taken' : late.fault.kind, 'prompt-over');
  assert.deepEqual(stage.ran, []);
  assert.deepEqual(stage.store.prompts.pending(), []);
});

test('a surface that breaks leaves no question open', async (t) => {
  const broken: Says = () => {
    throw new Error('the terminal is gone');
  };
  const stage = stageFor(t, { apps: [MAIL], script: sendsAtOnce('ada'), user: broken });
  await stage.ask('send to ada');
  assert.deepEqual(stage.store.prompts.pending(), []);
  assert.deepEqual(stage.ran, []);
});

for (const [duration, questions] of [
  ['once', 2],
  ['session', 1],
  ['permanent', 1],
] as const) {
  test(`an app that was chosen ${duration} is asked about ${questions} times in two queries`, async (t) => {
    const apps = [app('metro', { fare: '12' }), app('quick', { fare: '10' })];
    const both = plan([{ app: 'metro' }], ['metro', 'quick']);
    const stage = stageFor(t, {
      apps,
      script: { planner: [both, both], quick: ['done', 'done'] },
      chooses: () => id('quick'),
    });
    stage.user.choosesFor = duration;
    await stage.ask('Book a ride.');
    await stage.ask('Who takes my mother to the airport tomorrow?');
    assert.equal(stage.user.choices.length, questions);
    assert.deepEqual(stage.model.shownTo('metro'), '[]');
  });
}

test('a choice that was made for ever is asked again when one of the apps is another program', async (t) => {
  const apps = [app('metro', { fare: '12' }), app('quick', { fare: '10' })];
  const both = plan([{ app: 'metro' }], ['metro', 'quick']);
  const identity = { quick: 'first' };
  const stage = stageFor(t, {
    apps,
    script: { planner: [both, both, both], quick: ['done', 'done', 'done'] },
    chooses: () => id('quick'),
    identity: (name) => (name === 'quick' ? identity.quick : 'same'),
  });
  stage.user.choosesFor = 'permanent';
  await stage.ask('Book a ride.');
  await stage.ask('Who takes my mother to the airport tomorrow?');
  assert.equal(stage.user.choices.length, 1);
  identity.quick = 'second';
  await stage.ask('When does the last bus of the night leave?');
  assert.equal(stage.user.choices.length, 2);
});

test('what the user saw stands in the journal with its digest; without a surface nothing does', async (t) => {
  const shows: Says = (prompt: PermissionPrompt) => ({ ...no()(prompt), shown: 'drawn' }) as PermissionAnswer;
  const stage = stageFor(t, { apps: [MAIL], script: sendsAtOnce('ada'), user: shows });
  await stage.ask('send to ada');
  const [seen] = stage.of('permission.answered');
  assert.equal(seen?.shown?.text, 'drawn');
  assert.match(seen?.shown?.digest ?? '', /^[0-9a-f]{64}$/);
  const unseen = stageFor(t, { apps: [MAIL], script: sendsAtOnce('ada'), user: no() });
  await unseen.ask('send to ada');
  assert.equal(unseen.of('permission.answered')[0]?.shown, undefined);
});

/** What the disk holds at this moment is what a hub leaves that is killed now. */
function afterDeath(t: TestContext, scene: Scene, stage: Stage): Stage {
  const folder = quickFolder();
  cpSync(dirname(stage.store.file), folder, { recursive: true });
  const store = openStore(folder, () => 1_700_000_000_000);
  assert.ok(store.ok);
  const next = new Stage(scene, store.value);
  t.after(async () => {
    await next.session.close('end');
    store.value.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return next;
}

for (const [how, answer, ran] of [
  ['a yes', { allow: true, duration: 'once' }, 1],
  ['a no', { allow: false, reason: 'user' }, 0],
] as const) {
  test(`${how} that was given while the hub was dead is what the session that goes on finds`, async (t) => {
    const scene: Scene = { apps: [MAIL], script: sendsAtOnce('ada'), user: NEVER };
    const stage = stageFor(t, scene);
    const outcome = stage.ask('send to ada');
    await untilAsked(stage, 1);
    const next = afterDeath(t, { ...scene, script: { mail: ['done'], planner: ['{}'] } }, stage);
    const [waiting] = next.store.prompts.pending();
    assert.equal(waiting?.id, stage.user.asked[0]?.id);
    assert.equal(next.store.prompts.answer(waiting?.id ?? id(''), { kind: 'permission', answer }).ok, true);
    const resumed = next.open(stage.session.id);
    await resumed.resume(new AbortController().signal);
    assert.equal(next.ran.length, ran);
    assert.deepEqual(next.user.asked, []);
    assert.deepEqual(next.store.prompts.pending(), []);
    await resumed.close('end');
    stage.cancel();
    await outcome;
  });
}

const CHANGES: readonly (readonly [string, Partial<Scene>, boolean, number])[] = [
  ['stands there as it was', {}, false, 0],
  ['is about another program', { identity: (name) => `another ${name}` }, false, 1],
  ['says that the sandbox is weaker', { weaker: ['seccomp'] }, false, 1],
  ['says that its recipient is new', {}, true, 1],
];
for (const [what, change, revokes, questions] of CHANGES) {
  test(`a yes that was given while the hub was dead is for what was shown: the question ${what}, ${questions} asked`, async (t) => {
    const scene: Scene = { apps: [MAIL], script: sendsAtOnce('ada'), user: NEVER };
    const stage = stageFor(t, { ...scene, script: { ...scene.script, planner: [SENDS, SENDS] } });
    // The recipient is one that mails were sent to before.
    stage.user.says = yes();
    await stage.ask('send to ada', { mail: [[call('send', { to: 'ada' })], 'done'] });
    stage.user.says = NEVER;
    const outcome = stage.ask('send to ada once more');
    await untilAsked(stage, 2);
    const next = afterDeath(t, { ...scene, user: no(), ...change, script: { mail: ['done'] } }, stage);
    const [waiting] = next.store.prompts.pending();
    const answer = { allow: true, duration: 'once' } as const;
    assert.ok(next.store.prompts.answer(waiting?.id ?? id(''), { kind: 'permission', answer }).ok);
    if (revokes) for (const grant of next.store.grants.list()) next.store.grants.revoke(grant.id);
    const resumed = next.open(stage.session.id);
    await resumed.resume(new AbortController().signal);
    assert.deepEqual([next.user.asked.length, next.ran.length], [questions, 1 - questions]);
    await resumed.close('end');
    stage.cancel();
    await outcome;
  });
}

const WARNS =
  'warn "it has read something" if:\n    (call: ToolCall)\n    call is tool:send\n    (output: ToolOutput)\n';
for (const [what, policy, questions] of [
  ['warns about the call meanwhile', WARNS, 2],
  ['warns of something else', WARNS.replace('tool:send', 'tool:delete'), 1],
] as const) {
  test(`a yes does not count once a rule ${what}: ${questions} questions`, async (t) => {
    const reads = app(
      'mail',
      { send: { input: shape({ to: TEXT }), reply: 'sent' }, read: 'hello' },
      { irreversible: ['send'] },
    );
    const thinking = new Thinking();
    const stage = stageFor(t, {
      apps: [reads],
      policy,
      script: { planner: [SENDS], mail: [[call('send', { to: 'ada' }), call('read')], 'done'] },
      user: thinking.says,
    });
    const outcome = stage.ask('send to ada, and read');
    await untilAsked(stage, 1);
    while (stage.of('tool-output.executed').length === 0) await new Promise((done) => setImmediate(done));
    thinking.answer(0, { allow: true, duration: 'once' });
    await untilAsked(stage, questions);
    thinking.answer(1, { allow: false, reason: 'user' });
    await outcome;
    assert.deepEqual(
      stage.user.asked.map(({ warnings }) => warnings),
      [[], ['it has read something']].slice(0, questions),
    );
    assert.equal(stage.ran.includes('mail.send {"to":"ada"}'), questions === 1);
  });
}

test('a question that was open at a crash and is not put again does not stop the clock of the query', async (t) => {
  const scene: Scene = { apps: [MAIL], script: sendsAtOnce('ada'), user: NEVER, limits: { seconds: 1 } };
  const stage = stageFor(t, scene);
  const outcome = stage.ask('send to ada');
  await untilAsked(stage, 1);
  // Another tool of its own makes the prompt of its model another one, and that model then thinks for ever.
  const other = app(
    'mail',
    { send: { input: shape({ to: TEXT }), reply: 'sent' }, touch: 'ok' },
    { irreversible: ['send'] },
  );
  const thinks: Scene = {
    ...scene,
    apps: [other],
    script: { mail: ['done'] },
    meanwhile: () => new Promise(() => undefined),
  };
  const next = afterDeath(t, thinks, stage);
  const resumed = next.open(stage.session.id);
  const ended = await resumed.resume(AbortSignal.timeout(300_000));
  assert.equal(ended.kind, 'failed');
  assert.match(ended.reason ?? '', /reached its time limit of 1 s/);
  await resumed.close('end');
  stage.cancel();
  await outcome;
});

test('where the session goes on with another query, the old question is over', async (t) => {
  const scene: Scene = { apps: [MAIL], script: sendsAtOnce('ada'), user: NEVER };
  const stage = stageFor(t, scene);
  const outcome = stage.ask('send to ada');
  await untilAsked(stage, 1);
  const next = afterDeath(t, { ...scene, script: { planner: [SENDS], mail: ['hello'] } }, stage);
  const resumed = next.open(stage.session.id);
  await next.ask('good morning', {}, resumed);
  const answer = { allow: true, duration: 'once' } as const;
  const late = next.store.prompts.answer(stage.user.asked[0]?.id ?? id(''), { kind: 'permission', answer });
  assert.equal(late.ok ? 'taken' : late.fault.kind, 'prompt-over');
  await resumed.close('end');
  stage.cancel();
  await outcome;
});

const FARES = shape({ to: TEXT });
const SERVES_FARES = { functionalities: [serves('ride-fare', 'fare', FARES, shape({ amount: NUMBER }))] };
const METRO = app('metro', { fare: { input: FARES, reply: { structured: { amount: 12 } } } }, SERVES_FARES);
const QUICK = app('quick', { fare: { input: FARES, reply: { structured: { amount: 10 } } } }, SERVES_FARES);
const BY_QUICK = plan([{ app: 'metro', uses: ['ride-fare'] }], ['metro', 'quick']);

/** Apps that nobody has agreed to, and a user who is shown each before its first use. */
function unagreed(agrees: () => boolean): Scene {
  const apps = [METRO, QUICK];
  return {
    apps,
    script: { planner: [BY_QUICK, BY_QUICK], quick: ['done', 'done'] },
    chooses: () => id('quick'),
    pins: (store) =>
      new StoredPins({
        pins: store.pins,
        place: '/home/ada/project',
        apps: apps.map(({ installed }) => installed),
        configured: (installed) => ({ command: installed.id }),
        demanded: () => null,
        reviewer: { agrees: async () => agrees() },
        pinsUnseen: false,
      }),
  };
}

for (const duration of ['session', 'permanent'] as const) {
  test(`a choice of a new app that is to hold ${duration} is kept when the user agrees to the app`, async (t) => {
    const stage = stageFor(
      t,
      unagreed(() => true),
    );
    stage.user.choosesFor = duration;
    await stage.ask('Book a ride.');
    assert.equal(
      stage.user.choices[0]?.question,
      'Several apps can do `ride-fare`. Which one? An answer that lasts longer takes effect when you have agreed to the app, which Cordon shows you first (`metro`, `quick`).',
    );
    assert.deepEqual(
      stage.of('grant.given').map((event) => [event.subject.to, event.subject.what, event.duration]),
      [['quick', 'ride-fare', duration]],
    );
    await stage.ask('Who takes my mother to the airport tomorrow?');
    assert.equal(stage.user.choices.length, 1);
  });
}

test('a choice that is to last, of an app that the user then does not agree to, is kept by nobody', async (t) => {
  const stage = stageFor(
    t,
    unagreed(() => false),
  );
  stage.user.choosesFor = 'permanent';
  await stage.ask('Book a ride.');
  assert.deepEqual(stage.of('grant.given'), []);
  assert.deepEqual(stage.store.grants.list(), []);
});

test('a choice for a functionality is not one for a whole query, and the question names it', async (t) => {
  const whole = plan([{ app: 'metro', uses: ['other'] }], ['metro', 'quick']);
  const stage = stageFor(t, {
    apps: [METRO, QUICK],
    script: { planner: [BY_QUICK, whole, BY_QUICK], quick: ['done', 'done', 'done'] },
    chooses: () => id('quick'),
  });
  stage.user.choosesFor = 'permanent';
  await stage.ask('Book a ride.');
  await stage.ask('Who takes my mother to the airport tomorrow?');
  await stage.ask('When does the last bus of the night leave?');
  assert.deepEqual(
    stage.user.choices.map(({ question }) => question),
    ['Several apps can do `ride-fare`. Which one?', 'Several apps can do this. Which one?'],
  );
});

test('a lasting choice of a new app is kept also where the hub is killed before the user has agreed to the app', async (t) => {
  let isDead = false;
  const held = Promise.withResolvers<void>();
  const scene = unagreed(() => true);
  const stage = stageFor(t, {
    ...scene,
    launches: (_, usual) => {
      isDead = true;
      return held.promise.then(usual);
    },
  });
  stage.user.choosesFor = 'permanent';
  const outcome = stage.ask('Book a ride.');
  while (!isDead || stage.of('choice.answered').length === 0)
    await new Promise((resolve) => setImmediate(resolve));
  const next = afterDeath(t, scene, stage);
  const resumed = next.open(stage.session.id);
  await resumed.resume(new AbortController().signal);
  assert.deepEqual(next.user.choices, []);
  assert.deepEqual(
    next.store.grants.list().map(({ subject, duration }) => [subject.to, subject.what, duration]),
    [['quick', 'ride-fare', 'permanent']],
  );
  await resumed.close('end');
  stage.cancel();
  held.resolve();
  await outcome;
});
