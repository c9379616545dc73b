/**
 * A denial tells the model only that it was denied: for every effect and every reason the answer is the same bytes, and
 * no word of the reason is in it.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { REFUSED_TEXT } from '@cordon/core';
import { app, NUMBER, type ScriptedApp, serves, shape, TEXT } from '@cordon/testkit/hub/app.ts';
import fc from 'fast-check';
import { type Says, yes } from '../fixture/consent.ts';
import { call, field, type Line, plan, type Script } from '../fixture/model.ts';
import { raiseStage } from '../fixture/stage.ts';
import '../../../../tools/seed.ts';

const SECRET = 'SECRET-REASON';

const MAIL = app('mail', { read: 'hello', send: 'sent' }, { irreversible: ['send'], untrusted: ['read'] });
const RIDES = app(
  'rides',
  { fare: { input: shape({ to: TEXT }), reply: { structured: { amount: 12, note: 'cash' } } } },
  {
    functionalities: [
      serves('ride-fare', 'fare', shape({ to: TEXT }), shape({ amount: NUMBER, note: TEXT })),
    ],
  },
);
const TELLS: Line = ({ results }) => `HEARD ${results.at(-1)}`;
const REQUEST: readonly Line[] = [
  [call('probe', { functionality: 'ride-fare' })],
  ({ results: [offer] }) => [call('request', { peer: field(offer, 'peer'), message: { to: 'Turin' } })],
];
const NAMES_BOTH = plan([{ app: 'mail' }, { app: 'rides', uses: ['ride-fare'], after: [1] }]);

/** What a context does, and a rule that would stop just that. `asks`: whether the user is asked about it anyway. */
interface Effect {
  readonly name: string;
  readonly apps: readonly ScriptedApp[];
  readonly script: Script;
  readonly rule: (word: string) => string;
  readonly asks: boolean;
}

const EFFECTS: readonly Effect[] = [
  {
    name: 'an irreversible call',
    apps: [MAIL],
    script: { planner: [plan([{ app: 'mail', uses: ['send'] }])], mail: [[call('send')], TELLS] },
    rule: (word) => `${word} "${SECRET}" if:\n    (call: ToolCall)\n    call is tool:send`,
    asks: true,
  },
  {
    name: 'a call',
    apps: [MAIL],
    script: { planner: [plan([{ app: 'mail', uses: ['read'] }])], mail: [[call('read')], TELLS] },
    rule: (word) => `${word} "${SECRET}" if:\n    (call: ToolCall)\n    call is tool:read`,
    asks: false,
  },
  {
    name: 'the delivery of an output',
    apps: [MAIL],
    script: { planner: [plan([{ app: 'mail', uses: ['read'] }])], mail: [[call('read')], TELLS] },
    rule: (word) => `${word} "${SECRET}" if:\n    (output: ToolOutput)\n    "hello" in output.content`,
    asks: false,
  },
  {
    name: 'a request to another app',
    apps: [MAIL, RIDES],
    script: { planner: [plan([{ app: 'mail' }])], mail: [...REQUEST, TELLS] },
    rule: (word) => `${word} "${SECRET}" if:\n    (request: AppRequest)\n    request.message.to == "Turin"`,
    asks: true,
  },
  {
    name: 'the call that serves it',
    apps: [MAIL, RIDES],
    script: { planner: [NAMES_BOTH], mail: [[call('ride-fare', { to: 'Turin' })], TELLS] },
    rule: (word) => `${word} "${SECRET}" if:\n    (call: ToolCall)\n    call is tool:fare`,
    asks: false,
  },
  {
    name: 'the answer of the other app',
    apps: [MAIL, RIDES],
    script: { planner: [NAMES_BOTH], mail: [[call('ride-fare', { to: 'Turin' })], TELLS] },
    rule: (word) => `${word} "${SECRET}" if:\n    (response: AppResponse)\n    response.message.amount == 12`,
    asks: false,
  },
  {
    name: 'the opening of a text',
    apps: [MAIL, RIDES],
    script: {
      planner: [NAMES_BOTH],
      mail: [[call('ride-fare', { to: 'Turin' })], [call('open', { ref: '$1' })], TELLS],
    },
    rule: (word) =>
      `${word} "${SECRET}" if:\n    (release: DataRelease)\n    release.items[0].value == "cash"`,
    asks: true,
  },
];

/** Why it is denied. `user`: what the user says; `word`: what the rule does, if there is one. */
const REASONS: readonly {
  readonly name: string;
  readonly user: Says;
  readonly word: 'raise' | 'ask' | null;
}[] = [
  { name: 'the user says no', user: () => ({ allow: false, reason: 'user', shown: SECRET }), word: null },
  { name: 'nobody answers', user: () => ({ allow: false, reason: 'no-answer' }), word: null },
  {
    name: 'the surface breaks',
    user: () => {
      throw new Error(SECRET);
    },
    word: null,
  },
  {
    name: 'the answer is for longer than is offered',
    user: () => ({ allow: true, duration: 'until', until: 1 }),
    word: null,
  },
  {
    name: 'what the user typed never fits',
    user: ({ data }) => ({
      allow: true,
      duration: 'once',
      edits: [
        { name: data[0]?.name ?? '', value: `${SECRET}[` },
        { name: 'x', value: SECRET },
      ],
    }),
    word: null,
  },
  { name: 'a rule forbids it', user: yes(), word: 'raise' },
  { name: 'a rule asks and the user says no', user: () => ({ allow: false, reason: 'user' }), word: 'ask' },
  {
    name: 'a rule asks and nobody answers',
    user: () => ({ allow: false, reason: 'no-answer' }),
    word: 'ask',
  },
];

interface Heard {
  readonly answer: string | null;
  readonly shown: string;
}

async function heard(effect: Effect, reason: (typeof REASONS)[number] | null): Promise<Heard> {
  const policy = reason?.word == null ? {} : { policy: effect.rule(reason.word) };
  const user = reason?.user ?? yes();
  const { stage, clear } = raiseStage({ apps: effect.apps, script: effect.script, user, ...policy });
  try {
    const { answer } = await stage.ask('do what you can');
    return { answer, shown: stage.model.shownTo('mail').replaceAll(/peer-[\w-]+/g, 'peer') };
  } finally {
    await clear();
  }
}

test('for every effect and every reason the model hears the same, and nothing of the reason', async () => {
  const cases = fc.constantFrom(
    ...EFFECTS.flatMap((effect) =>
      REASONS.filter(({ word }) => effect.asks || word !== null).map((reason) => ({ effect, reason })),
    ),
  );
  const first = new Map<Effect, Heard>();
  await fc.assert(
    fc.asyncProperty(cases, async ({ effect, reason }) => {
      const told = await heard(effect, reason);
      assert.equal(told.answer, `HEARD ${REFUSED_TEXT}`, `${effect.name}, ${reason.name}`);
      assert.equal(told.shown.includes(SECRET), false, `${effect.name}, ${reason.name}`);
      const before = first.get(effect) ?? told;
      first.set(effect, before);
      assert.equal(told.shown, before.shown, `${effect.name}, ${reason.name}`);
    }),
    { numRuns: 60 },
  );
});

for (const effect of EFFECTS) {
  test(`${effect.name} that is allowed is told about`, async () => {
    const { answer } = await heard(effect, null);
    assert.ok(answer !== null && !answer.includes(REFUSED_TEXT), String(answer));
  });
}
