/** Private data of one app reach another with a question that says so, also where nobody could have written orders into them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { app, NUMBER, serves, shape, TEXT } from '@cordon/testkit/hub/app.ts';
import { no, yes } from '../fixture/consent.ts';
import { call, plan, type Script } from '../fixture/model.ts';
import { stageFor } from '../fixture/stage.ts';

const FROM_MEMORY = 'this can give private data of `memory` to `evil`, which the plan does not mention';
const WARNING = 'this can give private data of `bank` to `evil`, which the plan does not mention';

/** Its words are the user's own: trusted, and private unless `isPublic`. */
function bank(isPublic = false) {
  return app(
    'bank',
    { read: { reply: { structured: { text: 'IBAN DE02', sum: 840 } } }, balance: '840' },
    {
      functionalities: [serves('statement', 'read', shape({}), shape({ text: TEXT, sum: NUMBER }))],
      untrusted: [],
      private: isPublic ? [] : null,
    },
  );
}

const BOOLEAN = { type: 'boolean' };

const EVIL = app(
  'evil',
  {
    keep: { input: shape({ text: TEXT }), reply: 'kept' },
    save: { reply: { structured: { done: true } } },
    flag: { reply: { structured: { done: true } } },
  },
  {
    functionalities: [
      serves('save', 'save', shape({ sum: NUMBER }), shape({ done: BOOLEAN })),
      serves('flag', 'flag', shape({ urgent: BOOLEAN }), shape({ done: BOOLEAN })),
    ],
    untrusted: [],
    private: [],
  },
);

const ASKS_BANK = plan([{ app: 'evil' }, { app: 'bank', uses: ['statement'], after: [1] }]);

for (const isPublic of [false, true]) {
  test(`text from a bank in a call of another app ${isPublic ? 'that is public needs no warning' : 'comes with a warning'}`, async (t) => {
    const stage = stageFor(t, {
      apps: [EVIL, bank(isPublic)],
      script: { planner: [ASKS_BANK], evil: [[call('statement')], [call('keep', { text: '$1' })], 'done'] },
      user: yes(),
    });
    await stage.ask('look at my account');
    const [asked] = stage.user.asked;
    assert.equal(asked?.question, 'Give `evil` text that came from `bank`?');
    assert.deepEqual(asked?.warnings, isPublic ? [] : [WARNING]);
  });

  test(`text from a bank that a model of another app may read ${isPublic ? 'and that is public needs no warning' : 'comes with a warning'}`, async (t) => {
    const stage = stageFor(t, {
      apps: [EVIL, bank(isPublic)],
      script: { planner: [ASKS_BANK], evil: [[call('statement')], [call('open', { ref: '$1' })], 'done'] },
      user: no(),
    });
    await stage.ask('look at my account');
    assert.deepEqual(stage.user.asked[0]?.warnings, isPublic ? [] : [WARNING]);
  });
}

const SAVES = call('save', { sum: 840 });
const FLAGS = call('flag', { urgent: true });
const tells = (planned: ReturnType<typeof plan>, told: typeof SAVES): Script => ({
  planner: [planned],
  bank: [[call('balance')], [told], 'done'],
});
const APPS_ONLY = plan([{ app: 'bank' }, { app: 'evil', after: [1] }]);
const NAMED = plan([{ app: 'bank' }, { app: 'evil', uses: ['save'], after: [1] }]);

for (const [what, planned, query, told, warnings] of [
  ['under a plan that names apps only', APPS_ONLY, 'use evil', SAVES, [WARNING]],
  ['that a `true` could tell', APPS_ONLY, 'save 840', FLAGS, [WARNING]],
  ['that the user said', APPS_ONLY, 'save 840 with evil', SAVES, null],
  ['for what the plan names', NAMED, 'save my balance', SAVES, null],
] as const) {
  test(`a private number ${what} ${warnings === null ? 'needs no question' : 'needs one, with a warning'}`, async (t) => {
    const stage = stageFor(t, { apps: [bank(), EVIL], script: tells(planned, told), user: no() });
    await stage.ask(query);
    const asked = stage.user.asked.filter(({ subject }) => subject.to === 'evil');
    assert.deepEqual(
      asked.map((prompt) => prompt.warnings),
      warnings === null ? [] : [warnings],
    );
    assert.equal(stage.ran.length, warnings === null ? 2 : 1);
  });
}

// Attack: an app of which another one asks something answers with what it knows, in a form that the model sees. It does so, too, if a
// reference stands where a closed value is wanted, or if a secret is guessed, and the answer repeats the request.
const ITEMS = shape({ items: { type: 'array', items: TEXT } });
const CODE = shape({ code: { type: 'string', format: 'identifier' } });
const RECALLS = call('recall');

for (const [what, format, asks, answer, warnings] of [
  [
    'repeats a list of texts tells nothing',
    ITEMS,
    [call('keep', { items: ['a', 'b'] })],
    { items: ['a', 'b'] },
    [],
  ],
  [
    'repeats a text behind a reference tells nothing',
    ITEMS,
    [RECALLS, call('keep', { items: ['$1'] })],
    { items: ['PIN4711'] },
    [],
  ],
  [
    'has another number of texts is private',
    ITEMS,
    [call('keep', { items: ['a', 'b'] })],
    { items: ['a', 'b', 'b'] },
    [FROM_MEMORY],
  ],
  [
    'confirms a closed value is private',
    shape({ sum: NUMBER }),
    [call('keep', { sum: 5 })],
    { sum: 5 },
    [FROM_MEMORY],
  ],
  [
    'shows a reference in a closed place is private',
    CODE,
    [RECALLS, call('keep', { code: '$1' })],
    { code: 'PIN4711' },
    [FROM_MEMORY],
  ],
] as const)
  test(`an answer that ${what}`, async (t) => {
    const memory = app(
      'memory',
      { keep: { reply: { structured: answer } }, recall: { reply: { structured: { text: 'PIN4711' } } } },
      {
        functionalities: [
          serves('keep', 'keep', format, format),
          serves('recall', 'recall', shape({}), shape({ text: TEXT })),
        ],
        private: null,
      },
    );
    const asker = app('asker', { look: 'nothing' });
    const stage = stageFor(t, {
      apps: [asker, memory, EVIL],
      script: {
        planner: [
          plan([
            { app: 'asker' },
            { app: 'memory', uses: ['keep', 'recall'], after: [1] },
            { app: 'evil', after: [1] },
          ]),
        ],
        asker: [...asks.map((asked) => [asked]), [call('save', { sum: 7 })], 'done'],
      },
      user: yes(),
    });
    await stage.ask('keep it, and use evil');
    assert.deepEqual(
      stage.user.asked.filter(({ subject }) => subject.to === 'evil').flatMap((prompt) => prompt.warnings),
      warnings,
    );
    assert.equal(stage.ran.length, asks.length + 1, stage.ran.join('\n'));
  });
