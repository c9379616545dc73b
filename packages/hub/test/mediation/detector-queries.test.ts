import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type AnswerBook,
  type Decision,
  type Event,
  failed,
  fault,
  type Json,
  ok,
  type Question,
  type Result,
  type Service,
} from '@cordon/core';
import { awaiting, type Detector, defineDetector, noAnswer } from '@cordon/policy';
import { app } from '@cordon/testkit/hub/app.ts';
import type { Answering } from '../../src/index.ts';
import { DetectorQueries, type DetectorQueriesParts } from '../../src/mediation/detector-queries.ts';
import { call, plan, type Script } from '../fixture/model.ts';
import { stageFor } from '../fixture/stage.ts';

const MAIL = app('mail', { read: 'the letter', send: 'sent' });
const MAIL_ONLY = plan([{ app: 'mail', uses: ['read', 'send'] }]);
const SENDS: Script = { planner: [MAIL_ONLY], mail: [[call('send', { to: 'ada' })], 'done'] };
const READS_AND_SENDS: Script = {
  planner: [MAIL_ONLY],
  mail: [[call('read')], [call('send', { to: 'ada' })], 'done'],
};

class Book implements AnswerBook {
  readonly kept = new Map<string, Result<Json, string>>();

  find({ digest }: Question): Result<Json, string> | null {
    return this.kept.get(digest) ?? null;
  }

  keep({ digest }: Question, answer: Result<Json, string>): void {
    this.kept.set(digest, answer);
  }
}

/** `is_bad(text)`: whether whoever is asked says `yes`. */
function asksAbout(book: Book, service: 'llm' | 'moderation'): Detector {
  return defineDetector({
    name: 'is_bad',
    run: ({ texts }) => {
      const prompt = texts.join(' ');
      const question: Question = {
        service,
        digest: `${service}: ${prompt}`,
        input: { system: 'You judge.', prompt },
      };
      const known = book.find(question);
      if (known === null) return awaiting(question);
      return known.ok ? known.value === 'yes' : noAnswer(known.fault);
    },
  });
}

function answeringBy(book: Book, more: Partial<Answering> = {}): Answering {
  return { book, model: 'scripted/judge', services: new Map(), seconds: 30, ...more };
}

const NO_BAD_CALL = `from cordon.detectors import is_bad
raise "bad" if:
    (call: ToolCall)
    call is tool:send
    is_bad(call.arguments.to)`;

const NO_CALL_AFTER_BAD = `from cordon.detectors import is_bad
raise "after something bad" if:
    (out: ToolOutput)
    (call: ToolCall)
    out -> call
    call is tool:send
    is_bad(out)`;

for (const [answer, kind, ran] of [
  ['no', 'answered', ['mail.send {"to":"ada"}']],
  ['yes', 'refused', []],
] as const) {
  test(`a rule that asks a model is decided by its answer: ${answer}`, async (t) => {
    const book = new Book();
    const stage = stageFor(t, {
      apps: [MAIL],
      script: { ...SENDS, inquiry: [answer] },
      policy: NO_BAD_CALL,
      detectors: [asksAbout(book, 'llm')],
      answering: answeringBy(book),
    });
    const outcome = await stage.ask('write to Ada');
    assert.equal(outcome.kind, kind);
    assert.deepEqual(stage.ran, ran);
    assert.equal(stage.model.seen.filter(({ who }) => who === 'inquiry').length, 1);
  });

  test(`what an earlier output holds is asked about when a call follows: ${answer}`, async (t) => {
    const book = new Book();
    const stage = stageFor(t, {
      apps: [MAIL],
      script: { ...READS_AND_SENDS, inquiry: [answer] },
      policy: NO_CALL_AFTER_BAD,
      detectors: [asksAbout(book, 'llm')],
      answering: answeringBy(book),
    });
    const outcome = await stage.ask('read it and write to Ada');
    assert.equal(outcome.kind, kind);
    assert.deepEqual(
      stage.ran.filter((line) => line.startsWith('mail.send')),
      ran,
    );
    assert.deepEqual([...book.kept.keys()], ['llm: the letter']);
  });
}

test('the question is an effect of a context of its own, with its decision and its answer in the journal', async (t) => {
  const book = new Book();
  const stage = stageFor(t, {
    apps: [MAIL],
    script: { ...SENDS, inquiry: ['no'] },
    policy: NO_BAD_CALL,
    detectors: [asksAbout(book, 'llm')],
    answering: answeringBy(book),
  });
  await stage.ask('write to Ada');
  const [created] = stage.of('context.created').filter(({ of }) => of === 'inquiry');
  const proposed = stage.of('tool-call.proposed')[0];
  assert.deepEqual(created?.causes, [proposed?.id]);
  const own = stage.events().filter(({ context }) => context === created?.context);
  assert.deepEqual(
    own.map(({ kind }) => kind),
    [
      'context.created',
      'model-call.proposed',
      'model-call.decided',
      'model-call.executed',
      'question.answered',
      'context.ended',
    ],
  );
  const asked = own.find((event) => event.kind === 'model-call.proposed');
  assert.equal(asked?.kind === 'model-call.proposed' && asked.model, 'scripted/judge');
  assert.deepEqual(asked?.label, { integrity: 'untrusted', confidentiality: 'private' });
  const answered = own.find((event) => event.kind === 'question.answered');
  assert.deepEqual(answered?.kind === 'question.answered' && [answered.answer, answered.reason], [
    'no',
    null,
  ]);
  // The decision stands behind the answer that it rests on.
  const decided = stage.of('tool-call.decided')[0];
  const at = (event: Event | undefined) => stage.events().findIndex(({ id }) => id === event?.id);
  assert.ok(at(decided) > at(answered));
});

test('the same question is put once in a session', async (t) => {
  const book = new Book();
  const stage = stageFor(t, {
    apps: [MAIL],
    script: { ...SENDS, inquiry: ['no'] },
    policy: NO_BAD_CALL,
    detectors: [asksAbout(book, 'llm')],
    answering: answeringBy(book),
  });
  await stage.ask('write to Ada');
  const again = await stage.ask('write to Ada again', SENDS);
  assert.equal(again.kind, 'answered');
  assert.equal(stage.model.seen.filter(({ who }) => who === 'inquiry').length, 1);
});

test('where nobody answers, the rule is undecided and denies', async (t) => {
  const book = new Book();
  const scene = {
    apps: [MAIL],
    policy: NO_BAD_CALL,
    detectors: [asksAbout(book, 'llm')],
  };
  const alone = stageFor(t, { ...scene, script: SENDS });
  const outcome = await alone.ask('write to Ada');
  assert.deepEqual([outcome.kind, alone.ran], ['refused', []]);
  assert.match(outcome.reason ?? '', /nobody has answered what the rule asks/);
  // The script of `inquiry` is empty: the model fails.
  const broken = stageFor(t, { ...scene, script: SENDS, answering: answeringBy(book) });
  assert.deepEqual([(await broken.ask('write to Ada')).kind, broken.ran], ['refused', []]);
});

test('a rule that denies anyway asks nobody', async (t) => {
  const book = new Book();
  const stage = stageFor(t, {
    apps: [MAIL],
    script: { ...SENDS, inquiry: ['no'] },
    policy: `${NO_BAD_CALL}\nraise "never" if:\n    (call: ToolCall)\n    call is tool:send`,
    detectors: [asksAbout(book, 'llm')],
    answering: answeringBy(book),
  });
  await stage.ask('write to Ada');
  assert.deepEqual(
    stage.model.seen.filter(({ who }) => who === 'inquiry'),
    [],
  );
});

function moderation(answer: Service['answer']): Answering['services'] {
  return new Map([['moderation', { name: 'endpoint/moderation', answer }]]);
}

test('a service is asked as a model is, and what it says counts', async (t) => {
  const asked: string[] = [];
  for (const [said, kind] of [
    ['no', 'answered'],
    ['yes', 'refused'],
  ] as const) {
    const book = new Book();
    const stage = stageFor(t, {
      apps: [MAIL],
      script: SENDS,
      policy: NO_BAD_CALL,
      detectors: [asksAbout(book, 'moderation')],
      answering: answeringBy(book, {
        services: moderation(({ digest }) => {
          asked.push(digest);
          return Promise.resolve(ok(said));
        }),
      }),
    });
    assert.equal((await stage.ask('write to Ada')).kind, kind);
    const models = stage.of('model-call.proposed').map(({ model }) => model);
    assert.deepEqual(
      models.filter((model) => model === 'endpoint/moderation'),
      ['endpoint/moderation'],
    );
  }
  assert.deepEqual(asked, ['moderation: ada', 'moderation: ada']);
});

const FAILING: readonly (readonly [string, Service['answer'], RegExp])[] = [
  ['never answers', () => new Promise(() => undefined), /no answer came in time/],
  ['throws', () => Promise.reject(new Error('secret')), /broke/],
  ['fails', () => Promise.resolve(failed(fault('model-failure', 'it is closed'))), /it is closed/],
];

for (const [what, answer, reason] of FAILING) {
  test(`a service that ${what} leaves the rule undecided, which denies`, async (t) => {
    const book = new Book();
    const stage = stageFor(t, {
      apps: [MAIL],
      script: SENDS,
      policy: NO_BAD_CALL,
      detectors: [asksAbout(book, 'moderation')],
      answering: answeringBy(book, { services: moderation(answer), seconds: 0.05 }),
    });
    const outcome = await stage.ask('write to Ada');
    assert.deepEqual([outcome.kind, stage.ran], ['refused', []]);
    assert.match(outcome.reason ?? '', reason);
  });
}

for (const [what, waits, kind] of [
  ['that the user stopped', false, 'answered'],
  ['that took too long', true, 'refused'],
] as const) {
  test(`a question ${what} is ${waits ? 'not put again soon' : 'put again by the next query'}`, async (t) => {
    const book = new Book();
    let times = 0;
    const stop = new AbortController();
    const answer: Service['answer'] = () => {
      times++;
      if (times > 1) return Promise.resolve(ok('no'));
      if (!waits) stop.abort();
      return new Promise(() => undefined);
    };
    const stage = stageFor(t, {
      apps: [MAIL],
      script: SENDS,
      policy: NO_BAD_CALL,
      detectors: [asksAbout(book, 'moderation')],
      answering: answeringBy(book, { services: moderation(answer), seconds: waits ? 0.05 : 30 }),
    });
    const first = await stage.session.ask('write to Ada', stop.signal);
    assert.equal(first.kind, waits ? 'refused' : 'cancelled');
    assert.equal((await stage.ask('write to Ada', SENDS)).kind, kind);
    const [answered] = stage.of('question.answered');
    assert.equal(answered?.reason, waits ? 'no answer came in time' : 'it was stopped');
  });
}

/** `is_bad(text)`: whoever judges texts for the hub has to say whether it is. */
function waitsForJudge(book: Book): Detector {
  return defineDetector({
    name: 'is_bad',
    run: ({ texts }) => {
      const question: Question = { service: 'text', digest: texts.join(' '), input: {} };
      const known = book.find(question);
      if (known === null) return awaiting(question);
      return known.ok ? known.value === 'yes' : noAnswer(known.fault);
    },
  });
}

for (const [what, answer, kind] of [
  ['clean is allowed', ok('no'), 'answered'],
  ['bad is refused', ok('yes'), 'refused'],
  ['undecided is refused', failed('it takes too long to look at the text'), 'refused'],
  ['never looked at is refused', null, 'refused'],
] as const)
  test(`a decision waits for whoever judges a long text, and what is ${what}`, async (t) => {
    const book = new Book();
    const asked: string[] = [];
    const stage = stageFor(t, {
      apps: [MAIL],
      script: READS_AND_SENDS,
      policy: NO_CALL_AFTER_BAD,
      detectors: [waitsForJudge(book)],
      texts: {
        answer: async (question) => {
          asked.push(question.digest);
          await new Promise((resolve) => setImmediate(resolve));
          if (answer !== null) book.keep(question, answer);
        },
        rest: () => undefined,
      },
    });
    const outcome = await stage.ask('read it and write to Ada');
    assert.equal(outcome.kind, kind);
    if (answer !== null) assert.deepEqual(asked, ['the letter']);
    // It is no effect: nothing of it is proposed, and nobody outside is asked.
    assert.deepEqual(stage.of('question.answered'), []);
  });

const LONG_TEXT: Question = { service: 'text', digest: 'a long text', input: {} };

for (const [what, isAnswered, verdict] of [
  ['is decided by what is found in it', true, 'allow'],
  ['that nobody ends looking at is undecided when time is up', false, 'deny'],
] as const) {
  test(`before a query resumes, a text ${what}`, { timeout: 20_000 }, async () => {
    let isLookedAt = false;
    const never = new Promise<void>(() => undefined);
    const answer = async () => {
      isLookedAt = isAnswered;
      if (!isAnswered) await never;
    };
    const queries = new DetectorQueries({
      // Nobody but who looks at texts is asked.
      ...({} as DetectorQueriesParts),
      texts: { answer, rest: () => undefined },
      pause: () => (isAnswered ? never : Promise.resolve()),
    });
    const decide = (awaited: Map<string, Question>): Decision => {
      if (isLookedAt) return { verdict: 'allow', warnings: [] };
      awaited.set(LONG_TEXT.digest, LONG_TEXT);
      return { verdict: 'deny', reasons: [], warnings: [] };
    };
    const decision = await queries.look(decide, new AbortController().signal);
    assert.equal(decision.verdict, verdict);
  });
}
