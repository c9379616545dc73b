/**
 * A query that goes on where its hub was killed: what was decided then is worth what it would be worth now. The disk is
 * copied at the moment of the death, and another hub opens the copy.
 */

import assert from 'node:assert/strict';
import { cpSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type AnswerBook, id, type Json, ok, type Question, type Result } from '@cordon/core';
import { awaiting, defineDetector, noAnswer } from '@cordon/policy';
import { app, NUMBER, type ScriptedApp, serves, shape, TEXT } from '@cordon/testkit/hub/app.ts';
import { type MemoryOwner, openStore } from '@cordon/trace';
import { no, yes } from '../fixture/consent.ts';
import { quickFolder } from '../fixture/empty-store.ts';
import { call, plan } from '../fixture/model.ts';
import { type Scene, Stage, stageFor } from '../fixture/stage.ts';

interface NextLife extends Scene {
  /** What happens before the session goes on. */
  readonly begins?: (stage: Stage) => void;
}

/** Copies what the disk holds when `die` is called; `revive` opens it as another hub would. */
function mortal(t: TestContext) {
  const folder = quickFolder();
  let next: Stage | null = null;
  t.after(async () => {
    await next?.session.close('end');
    next?.store.close();
    rmSync(folder, { recursive: true, force: true });
  });
  let isDead = false;
  return {
    die: (stage: Stage) => {
      if (isDead) return;
      isDead = true;
      cpSync(dirname(stage.store.file), folder, { recursive: true });
    },
    revive: async ({ begins, ...scene }: NextLife, stage: Stage) => {
      assert.ok(isDead);
      const store = openStore(folder, () => 1_700_000_000_000);
      assert.ok(store.ok);
      next = new Stage(scene, store.value);
      await next.session.close('end');
      begins?.(next);
      next.session = next.open(stage.session.id);
      const outcome = await next.session.resume(new AbortController().signal);
      return { next, outcome };
    },
  };
}

const READS = {
  planner: [plan([{ app: 'mail' }])],
  mail: [[call('read')], 'it says hello'],
};

for (const [what, policy, kind] of [
  ['a rule that came meanwhile', 'raise "no mail" if:\n    (output: ToolOutput)\n', 'refused'],
  ['a rule about something else', 'raise "no mail" if:\n    (output: Egress)\n', 'answered'],
] as const) {
  test(`an output that is delivered again is ${kind}: ${what}`, async (t) => {
    const { die, revive } = mortal(t);
    let asked = 0;
    const mail = app('mail', { read: 'hello' });
    const stage = stageFor(t, {
      apps: [mail],
      script: READS,
      meanwhile: (who, now) => {
        if (who === 'mail' && ++asked === 2) die(now);
      },
    });
    await stage.ask('read my mail');
    const { next, outcome } = await revive(
      { apps: [mail], script: { mail: ['it says hello', 'nothing'] }, policy },
      stage,
    );
    assert.deepEqual([outcome.kind, next.ran], [kind, []]);
  });
}

/** A rule about each output, for which a text has to be looked at; `verdict` is what is found in each. */
function judging(verdict: 'clean' | 'bad') {
  const kept = new Map<string, Result<Json, string>>();
  const book: AnswerBook = {
    find: ({ digest }) => kept.get(digest) ?? null,
    keep: ({ digest }, answer) => void kept.set(digest, answer),
  };
  const isBad = defineDetector({
    name: 'is_bad',
    run: ({ texts }) => {
      const question: Question = { service: 'text', digest: texts.join(' '), input: {} };
      const known = book.find(question);
      if (known === null) return awaiting(question);
      return known.ok ? known.value === 'bad' : noAnswer(known.fault);
    },
  });
  return {
    policy: `from cordon.detectors import is_bad
raise "something bad" if:
    (output: ToolOutput)
    is_bad(output.content)
`,
    detectors: [isBad],
    texts: {
      answer: async (question: Question) => {
        await new Promise((resolve) => setImmediate(resolve));
        book.keep(question, ok(verdict));
      },
      rest: () => undefined,
    },
  };
}

// Attack: the hub is killed, and with it go the answers about texts. An output that no rule can judge before they are there
// again would be proposed anew, and the model and the calls behind it repeated.
for (const [verdict, kind] of [
  ['clean', 'answered'],
  ['bad', 'refused'],
] as const) {
  test(`a text is looked at again before a query is resumed, and no step is repeated: it is ${verdict}`, async (t) => {
    const { die, revive } = mortal(t);
    const mail = app('mail', { read: 'hello', file: 'filed' });
    let asked = 0;
    const stage = stageFor(t, {
      apps: [mail],
      script: {
        planner: [plan([{ app: 'mail' }])],
        mail: [[call('read')], [call('file', { to: 'archive' })], 'it says hello'],
      },
      meanwhile: (who, now) => {
        if (who === 'mail' && ++asked === 3) die(now);
      },
      ...judging('clean'),
    });
    await stage.ask('read my mail and file it');
    const script = { mail: ['it says hello', 'nothing'] };
    const { next, outcome } = await revive({ apps: [mail], script, ...judging(verdict) }, stage);
    const again = next.of('query.resumed').length;
    assert.equal(again, 1);
    assert.deepEqual([outcome.kind, next.ran], [kind, []]);
    if (kind === 'answered') assert.equal(next.of('tool-output.proposed').length, 2);
  });
}

test('an app that the user chose is not chosen again, and not lost', async (t) => {
  const apps = [app('metro', { fare: '12' }), app('quick', { fare: '10' })];
  const { die, revive } = mortal(t);
  const scene: Scene = {
    apps,
    script: { planner: [plan([{ app: 'metro' }], ['metro', 'quick'])], quick: ['done'] },
    chooses: () => id('quick'),
    meanwhile: (who, now) => {
      if (who === 'quick') die(now);
    },
  };
  const stage = stageFor(t, scene);
  await stage.ask('Book a ride.');
  const { next, outcome } = await revive(
    { ...scene, script: { quick: ['done'] }, meanwhile: () => undefined },
    stage,
  );
  assert.deepEqual([outcome.kind, next.user.choices.length], ['answered', 0]);
});

for (const [what, metro, questions] of [
  ['what they were', 'metro', 0],
  ['another program', 'another', 1],
] as const) {
  test(`an app that was chosen before a death is chosen by ${questions} questions where one is ${what}`, async (t) => {
    const apps = [app('metro', { fare: '12' }), app('quick', { fare: '10' })];
    const { die, revive } = mortal(t);
    const scene: Scene = {
      apps,
      script: { planner: [plan([{ app: 'metro' }], ['metro', 'quick'])], metro: ['done'] },
      chooses: () => id('metro'),
      meanwhile: (who, now) => {
        if (who === 'metro') die(now);
      },
    };
    const stage = stageFor(t, scene);
    await stage.ask('Book a ride.');
    const { next } = await revive(
      {
        ...scene,
        script: { metro: ['done'], quick: ['done'] },
        chooses: () => id('quick'),
        identity: (name) => (name === 'metro' ? `sha256:${metro}` : 'sha256:quick'),
        meanwhile: () => undefined,
      },
      stage,
    );
    assert.equal(next.user.choices.length, questions);
    assert.deepEqual(
      next.model.seen.map(({ who }) => who),
      questions === 0 ? ['metro'] : ['quick'],
    );
  });
}

const PAYMENT = shape({ amount: NUMBER });
const RECEIPT = shape({ receipt: NUMBER });
const BANK = app(
  'bank',
  { pay: { input: PAYMENT, reply: { structured: { receipt: 7 } } } },
  { irreversible: ['pay'], functionalities: [serves('pay', 'pay', PAYMENT, RECEIPT)] },
);
const PAYS: Scene = {
  apps: [app('shop', { look: 'ok' }), BANK],
  script: {
    planner: [plan([{ app: 'shop' }, { app: 'bank', uses: ['pay'], after: [1] }])],
    shop: [[call('pay', { amount: 5 })], 'done'],
  },
};
const QUESTION = 'Let `bank` do `pay`? This cannot be undone.';
const PAID = 'bank.pay {"amount":5}';

/** The hub dies when a request that the user allowed is on its way, and nothing was paid. */
async function diesOnTheWay(t: TestContext, scene: Scene) {
  const life = mortal(t);
  const stage = stageFor(t, scene);
  stage.store.journal.subscribe(({ kind }) => {
    if (kind === 'app-request.decided') life.die(stage);
  });
  await stage.ask('pay 5');
  assert.deepEqual(stage.questions, [QUESTION]);
  return { stage, revive: (next: NextLife) => life.revive({ ...next, script: { shop: ['done'] } }, stage) };
}

for (const [what, program, questions] of [
  ['another program behind its name', 'second', [QUESTION]],
  ['the same program', 'first', []],
] as const) {
  test(`a yes to an app counts after a death for ${what}: ${questions.length} questions`, async (t) => {
    const identity = { bank: 'first' };
    const scene: Scene = {
      ...PAYS,
      user: yes(),
      identity: (name) => (name === 'bank' ? identity.bank : 'same'),
    };
    const { revive } = await diesOnTheWay(t, scene);
    identity.bank = program;
    const { next, outcome } = await revive(scene);
    assert.deepEqual([outcome.kind, next.ran, next.questions], ['answered', [PAID], questions]);
  });
}

test('another program behind its name does not get what the user refuses it', async (t) => {
  const identity = { bank: 'first' };
  const scene: Scene = {
    ...PAYS,
    user: yes(),
    identity: (name) => (name === 'bank' ? identity.bank : 'same'),
  };
  const { revive } = await diesOnTheWay(t, scene);
  identity.bank = 'second';
  const { next, outcome } = await revive({ ...scene, user: no() });
  assert.deepEqual([outcome.kind, next.ran], ['refused', []]);
});

for (const [what, revokes, questions] of [
  ['was revoked', true, [QUESTION]],
  ['is in force', false, []],
] as const) {
  test(`a permission for the session that ${what} after a death: ${questions.length} questions`, async (t) => {
    const scene: Scene = { ...PAYS, user: yes('session') };
    const { revive } = await diesOnTheWay(t, scene);
    const { next, outcome } = await revive({
      ...scene,
      begins: ({ store }) => {
        if (revokes) for (const { id: grant } of store.grants.list()) assert.ok(store.grants.revoke(grant));
      },
    });
    assert.deepEqual([outcome.kind, next.ran, next.questions], ['answered', [PAID], questions]);
  });
}

const EDITS: Scene['user'] = ({ data: [datum] }) => ({
  allow: true,
  duration: 'once',
  edits: [{ name: datum?.name ?? '', value: '{"amount":3}' }],
});
const THREE = 'bank.pay {"amount":3}';
for (const [what, user, when, questions, ran] of [
  ['a yes for once that came to nothing', yes(), 'app-request.decided', 1, [PAID]],
  ['a yes for once that was used', yes(), 'app-request.executed', 0, [PAID]],
  ['a yes for the session', yes('session'), 'app-request.decided', 0, [PAID]],
  ['a yes to other words that came to nothing', EDITS, 'app-request.decided', 1, [THREE]],
  ['a yes to other words that was used', EDITS, 'app-request.executed', 0, [THREE]],
] as const) {
  test(`${what}, then a stop, then going on: ${questions} more questions`, async (t) => {
    const stage = stageFor(t, { ...PAYS, user });
    let isStopped = false;
    stage.store.journal.subscribe((event) => {
      if (event.kind !== when || isStopped || ('verdict' in event && event.verdict === 'deny')) return;
      isStopped = true;
      stage.cancel();
    });
    const stopped = await stage.ask('pay 5');
    assert.equal(stopped.kind, 'cancelled');
    const ranBefore = stage.ran.length;
    assert.equal(ranBefore, when === 'app-request.executed' ? 1 : 0);
    stage.model.learn({ shop: ['done'] });
    const outcome = await stage.session.resume(new AbortController().signal);
    assert.deepEqual([outcome.kind, stage.ran, stage.questions.length], ['answered', ran, 1 + questions]);
  });
}

test('what was stopped and refused when it was asked again is not done', async (t) => {
  const stage = stageFor(t, { ...PAYS, user: yes() });
  stage.store.journal.subscribe(({ kind }) => {
    if (kind === 'app-request.decided') stage.cancel();
  });
  await stage.ask('pay 5');
  stage.user.says = no();
  stage.model.learn({ shop: ['done'] });
  await stage.session.resume(new AbortController().signal);
  assert.deepEqual(stage.ran, []);
});

test('a yes to what was asked again after a stop counts when its hub is killed then', async (t) => {
  const life = mortal(t);
  const stage = stageFor(t, { ...PAYS, user: yes() });
  let allowed = 0;
  stage.store.journal.subscribe((event) => {
    if (event.kind !== 'app-request.decided' || event.verdict !== 'allow') return;
    if (++allowed === 1) stage.cancel();
    else life.die(stage);
  });
  await stage.ask('pay 5');
  stage.model.learn({ shop: ['done', 'done'] });
  await stage.session.resume(new AbortController().signal);
  const { next, outcome } = await life.revive({ ...PAYS, script: { shop: ['done', 'done'] } }, stage);
  assert.deepEqual([outcome.kind, next.ran, next.questions], ['answered', [PAID], []]);
});

for (const times of [1, 2]) {
  test(`what the user put in the place of a message is what goes after a death at decision ${times}`, async (t) => {
    const scene: Scene = {
      ...PAYS,
      user: ({ data: [datum] }) => ({
        allow: true,
        duration: 'once',
        edits: [{ name: datum?.name ?? '', value: '{"amount":3}' }],
      }),
    };
    const { die, revive } = mortal(t);
    const stage = stageFor(t, scene);
    let decided = 0;
    stage.store.journal.subscribe(({ kind }) => {
      if (kind === 'app-request.decided' && ++decided === times) die(stage);
    });
    await stage.ask('pay 5');
    const { next, outcome } = await revive({ ...scene, script: { shop: ['done'] } }, stage);
    assert.deepEqual([outcome.kind, next.ran, next.questions], ['answered', ['bank.pay {"amount":3}'], []]);
  });
}

const NOTED = shape({ amount: NUMBER, note: TEXT });
const LETTERS = app(
  'bank',
  {
    pay: { input: NOTED, reply: { structured: { receipt: 7 } } },
    tip: { input: NOTED, reply: { structured: { receipt: 8 } } },
  },
  {
    irreversible: ['pay', 'tip'],
    functionalities: [serves('pay', 'pay', NOTED, RECEIPT), serves('tip', 'tip', NOTED, RECEIPT)],
  },
);
const note = (word: string) => `${word} `.repeat(30);
const AGAIN = 'Such a call was carried out in this query before it was interrupted.';

for (const [what, tool, warnings] of [
  ['what was made before, in other words', 'pay', [AGAIN]],
  ['what was not made', 'tip', []],
] as const) {
  test(`a model that is asked anew wants ${what}: ${warnings.length} warnings`, async (t) => {
    const { die, revive } = mortal(t);
    const scene = (shop: ScriptedApp): Omit<Scene, 'script'> => ({
      apps: [shop, LETTERS],
      user: yes('session'),
    });
    const stage = stageFor(t, {
      ...scene(app('shop', { look: 'ok' })),
      script: {
        planner: [
          plan([
            { app: 'shop' },
            { app: 'bank', uses: ['pay'], after: [1] },
            { app: 'bank', uses: ['tip'], after: [1] },
          ]),
        ],
        shop: [[call('pay', { amount: 5, note: note('thanks') })], 'done'],
      },
    });
    stage.store.journal.subscribe(({ kind }) => {
      if (kind === 'tool-output.decided') die(stage);
    });
    await stage.ask('pay 5');
    // Another tool of its own makes the prompt of its model another one.
    const { next } = await revive(
      {
        ...scene(app('shop', { look: 'ok', touch: 'ok' })),
        user: ({ warnings: [warning] }) =>
          warning === undefined ? { allow: true, duration: 'once' } : { allow: false, reason: 'user' },
        script: { shop: [[call(tool, { amount: 5, note: note('cheers') })], 'done'] },
      },
      stage,
    );
    assert.deepEqual(
      next.user.asked.map((prompt) => prompt.warnings),
      [warnings],
    );
    assert.equal(next.ran.length, 1 - warnings.length);
  });
}

const ASKS = 'ask "let it read this?" if:\n    (output: ToolOutput)\n';
for (const [what, rules, questions] of [
  ['a rule that had its answer', ASKS, 0],
  ['a rule that came meanwhile', `${ASKS}\nask "really?" if:\n    (output: ToolOutput)\n`, 1],
] as const) {
  test(`an output that is delivered again is asked about: ${what}, ${questions} questions`, async (t) => {
    const { die, revive } = mortal(t);
    let asked = 0;
    const mail = app('mail', { read: 'hello' });
    const stage = stageFor(t, {
      apps: [mail],
      script: READS,
      policy: ASKS,
      user: yes(),
      meanwhile: (who, now) => {
        if (who === 'mail' && ++asked === 2) die(now);
      },
    });
    await stage.ask('read my mail');
    assert.equal(stage.questions.length, 1);
    const { next, outcome } = await revive(
      { apps: [mail], script: { mail: ['it says hello'] }, policy: rules, user: yes() },
      stage,
    );
    assert.deepEqual([outcome.kind, next.questions.length, next.ran], ['answered', questions, []]);
  });
}

test('a question of a query that went another way is over with it', async (t) => {
  const { die, revive } = mortal(t);
  const scene: Scene = { ...PAYS, user: () => new Promise(() => undefined) };
  const stage = stageFor(t, scene);
  const asking = stage.ask('pay 5');
  while (stage.store.prompts.pending().length === 0) await new Promise((resolve) => setImmediate(resolve));
  die(stage);
  stage.cancel();
  await asking;
  const { next, outcome } = await revive(
    {
      ...scene,
      apps: [app('shop', { look: 'ok', touch: 'ok' }), BANK],
      script: { shop: ['it is too dear'] },
    },
    stage,
  );
  assert.equal(outcome.kind, 'answered');
  assert.deepEqual(next.store.prompts.pending(), []);
});

test('a session that is open is not opened again by the same hub until it was left', async (t) => {
  let opened: Result<unknown, { readonly kind: string }> | null = null;
  const stage = stageFor(t, {
    apps: [app('mail', { read: 'hello' })],
    script: READS,
    meanwhile: (_who, now) => {
      opened ??= now.tryOpen(now.session.id);
    },
  });
  await stage.ask('read my mail');
  assert.deepEqual(opened && Object(opened).fault?.kind, 'session-held');
  const { id: session } = stage.session;
  await stage.session.close('suspend');
  stage.session = stage.open(session);
  assert.equal(stage.session.id, session);
});

const FACTS: readonly MemoryOwner[] = [{ kind: 'system' }, { kind: 'spoke', app: id('mail') }];
for (const [what, isFirst] of [
  ['before all of it', true],
  ['between two parts of it', false],
] as const) {
  test(`a hub that dies while it remembers an answered query, ${what}, forgets nothing of it`, async (t) => {
    const { die, revive } = mortal(t);
    const mail = app('mail', { read: 'hello' });
    const stage = stageFor(t, { apps: [mail], script: READS });
    let writes = 0;
    const memory = stage.store.memory;
    const dying = (owner: MemoryOwner) => {
      const handle = memory(owner);
      const recordOnce = handle.recordOnce.bind(handle);
      handle.recordOnce = (...turn) => {
        if (writes++ === (isFirst ? 0 : 2)) die(stage);
        recordOnce(...turn);
      };
      return handle;
    };
    Object.assign(stage.store, { memory: dying });
    await stage.ask('my name is Ada');
    const { next, outcome } = await revive({ apps: [mail], script: {} }, stage);
    assert.deepEqual([outcome.kind, outcome.answer], ['answered', 'it says hello']);
    for (const owner of FACTS) {
      const kept = next.store.memory(owner);
      assert.deepEqual(
        [kept.facts().map(({ value }) => value), kept.history(stage.session.id).map(({ role }) => role)],
        [['Ada'], ['user', 'assistant']],
      );
    }
  });
}

for (const [answer, kind] of [
  [no(), 'refused'],
  [yes(), 'answered'],
] as const) {
  test(`a query that was remembered as ${kind} before its hub died has ended so`, async (t) => {
    const { die, revive } = mortal(t);
    const scene: Scene = {
      apps: [app('mail', { send: 'sent' }, { irreversible: ['send'] })],
      script: { planner: [plan([{ app: 'mail' }]), 'none'], mail: [[call('send')], 'that is all'] },
      user: answer,
    };
    const stage = stageFor(t, scene);
    const { together } = stage.store;
    Object.assign(stage.store, {
      together: (work: () => void) => {
        together(work);
        die(stage);
      },
    });
    assert.equal((await stage.ask('send it')).kind, kind);
    const { next, outcome } = await revive({ ...scene, script: {} }, stage);
    assert.deepEqual([outcome.kind, outcome.answer, next.ran], [kind, 'that is all', []]);
  });
}

for (const [when, isAfter] of [
  ['before', false],
  ['after', true],
] as const) {
  for (const [ending, between] of [
    ['cancelled', (stage: Stage) => stage.cancel()],
    ['failed', null],
  ] as const) {
    test(`a hub that dies ${when} it remembers a ${ending} query remembers at last that it was answered`, async (t) => {
      const { die, revive } = mortal(t);
      const mail = app('mail', { read: 'hello' });
      const stage = stageFor(t, {
        apps: [mail],
        script: { planner: [plan([{ app: 'mail' }])], mail: [[call('read')], () => ''] },
        meanwhile: (who, now, { messages }) => {
          if (who === 'mail' && messages.some(({ role }) => role === 'tool')) between?.(now);
        },
        ...(between === null ? { limits: { steps: 1 } } : {}),
      });
      const { together } = stage.store;
      Object.assign(stage.store, {
        together: (work: () => void) => {
          if (!isAfter) die(stage);
          together(work);
          die(stage);
        },
      });
      assert.equal((await stage.ask('my name is Ada')).kind, ending);
      const { next, outcome } = await revive(
        { apps: [mail], script: { mail: ['it says hello', 'it says hello'] } },
        stage,
      );
      assert.deepEqual([outcome.kind, outcome.answer, next.ran], ['answered', 'it says hello', []]);
      const kept = next.store.memory({ kind: 'system' });
      assert.deepEqual(
        [kept.facts().map(({ value }) => value), kept.history(stage.session.id).map(({ text }) => text)],
        [['Ada'], ['my name is Ada', 'answered']],
      );
    });
  }
}
