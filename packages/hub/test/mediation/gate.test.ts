import assert from 'node:assert/strict';
import { test } from 'node:test';
import { REFUSED_TEXT } from '@cordon/core';
import { ReferenceMonitor } from '@cordon/monitor';
import { app, NUMBER, type ScriptedApp, serves, shape, TEXT } from '@cordon/testkit/hub/app.ts';
import { broken, no, type Says, silent, yes } from '../fixture/consent.ts';
import { call, field, plan, type Script } from '../fixture/model.ts';
import { type Stage, stageFor } from '../fixture/stage.ts';

const MAIL = app('mail', { read: 'hello', send: 'sent' });
const RIDES = app(
  'rides',
  {
    fare: {
      input: shape({ to: TEXT }),
      output: shape({ amount: NUMBER, note: TEXT }),
      reply: { structured: { amount: 12, note: 'cash only' } },
    },
  },
  {
    functionalities: [
      serves('ride-fare', 'fare', shape({ to: TEXT }), shape({ amount: NUMBER, note: TEXT })),
    ],
  },
);

const MAIL_ONLY = plan([{ app: 'mail', uses: ['read', 'send'] }]);
const MAIL_THEN_RIDES = plan([{ app: 'mail' }, { app: 'rides', uses: ['ride-fare'], after: [1] }]);

const SENDS: Script = { planner: [MAIL_ONLY], mail: [[call('send', { to: 'ada' })], 'done'] };
const READS: Script = { planner: [MAIL_ONLY], mail: [[call('read')], ({ results }) => results.join()] };
const ASKS_FARE: Script = {
  planner: [MAIL_THEN_RIDES],
  mail: [[call('ride-fare', { to: 'Turin' })], ({ results }) => results.join()],
};
const OPENS: Script = {
  planner: [MAIL_THEN_RIDES],
  mail: [
    [call('ride-fare', { to: 'Turin' })],
    [call('open', { ref: '$1' })],
    ({ results }) => results.join(),
  ],
};

/** What a policy stops, each with a rule that is the same but for the value that it looks for. */
const EFFECTS: readonly {
  readonly effect: string;
  readonly rule: (value: string) => string;
  readonly stops: string;
  readonly apps: readonly ScriptedApp[];
  readonly script: Script;
  readonly happened: (stage: Stage) => boolean;
}[] = [
  {
    effect: 'tool call',
    rule: (value) => `(call: ToolCall)\n    call is tool:send\n    call.arguments.to == "${value}"`,
    stops: 'ada',
    apps: [MAIL],
    script: SENDS,
    happened: ({ ran }) => ran.length > 0,
  },
  {
    effect: 'delivery of a tool output',
    rule: (value) => `(output: ToolOutput)\n    "${value}" in output.content`,
    stops: 'hello',
    apps: [MAIL],
    script: READS,
    happened: ({ model }) => model.shownTo('mail').includes('hello'),
  },
  {
    effect: 'request to another app',
    rule: (value) => `(request: AppRequest)\n    request.message.to == "${value}"`,
    stops: 'Turin',
    apps: [MAIL, RIDES],
    script: ASKS_FARE,
    happened: ({ ran }) => ran.length > 0,
  },
  {
    effect: 'call that another app asked for',
    rule: (value) => `(call: ToolCall)\n    call is tool:fare\n    call.arguments.to == "${value}"`,
    stops: 'Turin',
    apps: [MAIL, RIDES],
    script: ASKS_FARE,
    happened: ({ ran }) => ran.length > 0,
  },
  {
    effect: 'response of another app',
    rule: (value) => `(response: AppResponse)\n    response.message.note == "${value}"`,
    stops: 'cash only',
    apps: [MAIL, RIDES],
    script: ASKS_FARE,
    happened: ({ model }) => model.shownTo('mail').includes('amount\\":12'),
  },
  {
    effect: 'release of a text',
    rule: (value) => `(release: DataRelease)\n    any([item.value == "${value}" for item in release.items])`,
    stops: 'cash only',
    apps: [MAIL, RIDES],
    script: OPENS,
    happened: ({ model }) => model.shownTo('mail').includes('cash only'),
  },
  {
    effect: 'answer',
    rule: (value) => `(answer: Message)\n    answer.role == "assistant"\n    "${value}" in answer.content`,
    stops: 'hello',
    apps: [MAIL],
    script: READS,
    happened: (stage) => stage.of('answer.executed').length > 0,
  },
  {
    effect: 'model call',
    rule: (value) => `"${value}" == "now"`,
    stops: 'now',
    apps: [MAIL],
    script: READS,
    happened: ({ model }) => model.seen.length > 0,
  },
];

for (const { effect, rule, stops, apps, script, happened } of EFFECTS) {
  test(`a rule that raises stops a ${effect}, and the query says why`, async (t) => {
    const stage = stageFor(t, {
      apps,
      script,
      policy: `raise "not so" if:\n    ${rule(stops)}`,
      user: yes(),
    });
    const outcome = await stage.ask('do it');
    assert.equal(happened(stage), false);
    assert.deepEqual([outcome.kind, outcome.reason], ['refused', 'not so']);
  });

  test(`a rule that raises for something else lets a ${effect} happen`, async (t) => {
    const stage = stageFor(t, {
      apps,
      script,
      policy: `raise "not so" if:\n    ${rule('else')}`,
      user: yes(),
    });
    const outcome = await stage.ask('do it');
    assert.equal(happened(stage), true);
    assert.deepEqual([outcome.kind, outcome.reason], ['answered', null]);
  });
}

const ASK_BEFORE_SENDING = 'ask "may mail be sent?" if:\n    (call: ToolCall)\n    call is tool:send';
const ANSWERS: readonly { readonly user: string; readonly says: Says; readonly reason: string }[] = [
  { user: 'says no', says: no(), reason: 'the user said no' },
  { user: 'does not answer', says: silent(), reason: 'nobody answered' },
  { user: 'cannot be asked', says: broken(), reason: 'deciding failed: the terminal is gone' },
];

test('a rule that asks lets the call happen after a yes', async (t) => {
  const stage = stageFor(t, { apps: [MAIL], script: SENDS, policy: ASK_BEFORE_SENDING, user: yes() });
  const outcome = await stage.ask('send it');
  assert.deepEqual(stage.questions, ['Let `mail` do `send`? A rule asks: may mail be sent?.']);
  assert.deepEqual(stage.ran, ['mail.send {"to":"ada"}']);
  assert.equal(outcome.kind, 'answered');
});

for (const { user, says, reason } of ANSWERS) {
  test(`a rule that asks denies where the user ${user}`, async (t) => {
    const stage = stageFor(t, { apps: [MAIL], script: SENDS, policy: ASK_BEFORE_SENDING, user: says });
    const outcome = await stage.ask('send it');
    assert.equal(stage.user.asked.length, 1);
    assert.deepEqual(stage.ran, []);
    assert.deepEqual([outcome.kind, outcome.reason], ['refused', reason]);
  });
}

test('the model learns that it was refused, and nothing of why', async (t) => {
  const policy = 'raise "the secret reason" if:\n    (call: ToolCall)\n    call is tool:send';
  const stage = stageFor(t, { apps: [MAIL], script: SENDS, policy });
  await stage.ask('send it');
  assert.ok(stage.model.shownTo('mail').includes(REFUSED_TEXT));
  assert.ok(!stage.model.shownTo('mail').includes('secret reason'));
});

/** Two calls at once; the user answers the question about the first only when the second has run. */
const THINKS_UNTIL = (ran: (stage: Stage) => boolean, stage: () => Stage): Says => {
  return async () => {
    while (!ran(stage())) await new Promise((resolve) => setImmediate(resolve));
    return { allow: true, duration: 'once' };
  };
};
const IRREVERSIBLE_MAIL = app('mail', { read: 'hello', send: 'sent' }, { irreversible: ['send'] });
const SENDS_AND_READS: Script = {
  planner: [MAIL_ONLY],
  mail: [[call('send', { to: 'ada' }), call('read')], 'done'],
};
const hasRead = ({ ran }: Stage) => ran.includes('mail.read {}');

test('a rule that starts to raise while the user thinks stops the call that was agreed to', async (t) => {
  const stage: Stage = stageFor(t, {
    apps: [IRREVERSIBLE_MAIL],
    script: SENDS_AND_READS,
    policy:
      'raise "no sending after reading" if:\n    (a: ToolCall)\n    a is tool:read\n    (b: ToolCall)\n    b is tool:send',
    user: THINKS_UNTIL(hasRead, () => stage),
  });
  const outcome = await stage.ask('send and read');
  assert.deepEqual(stage.ran, ['mail.read {}']);
  assert.deepEqual([outcome.kind, outcome.reason], ['refused', 'no sending after reading']);
});

test('a rule that has nothing to say after the user thought lets the call happen', async (t) => {
  const stage: Stage = stageFor(t, {
    apps: [IRREVERSIBLE_MAIL],
    script: SENDS_AND_READS,
    policy:
      'raise "no sending after listing" if:\n    (a: ToolCall)\n    a is tool:list\n    (b: ToolCall)\n    b is tool:send',
    user: THINKS_UNTIL(hasRead, () => stage),
  });
  const outcome = await stage.ask('send and read');
  assert.deepEqual(stage.ran, ['mail.read {}', 'mail.send {"to":"ada"}']);
  assert.equal(outcome.kind, 'answered');
});

test('a rule that starts to ask while the user thinks is asked for itself', async (t) => {
  const answers = [true, false];
  const stage: Stage = stageFor(t, {
    apps: [IRREVERSIBLE_MAIL],
    script: SENDS_AND_READS,
    policy:
      'ask "sending after reading?" if:\n    (a: ToolCall)\n    a is tool:read\n    (b: ToolCall)\n    b is tool:send',
    user: async (prompt) => {
      await THINKS_UNTIL(hasRead, () => stage)(prompt);
      return answers.shift() === true ? { allow: true, duration: 'once' } : { allow: false, reason: 'user' };
    },
  });
  await stage.ask('send and read');
  assert.deepEqual(stage.questions, [
    'Let `mail` do `send`? This cannot be undone.',
    'Let `mail` do `send`? A rule asks: sending after reading?.',
  ]);
  assert.deepEqual(stage.ran, ['mail.read {}']);
});

test('a tool call is decided twice: as a call and as an output', async (t) => {
  // How often a decision is evaluated is tested with the monitor: once, where nothing happens in between.
  const decide = t.mock.method(ReferenceMonitor.prototype, 'decide');
  const decided = async (calls: number) => {
    const before = decide.mock.callCount();
    const script = {
      planner: [MAIL_ONLY],
      mail: [Array.from({ length: calls }, () => call('read')), 'done'],
    };
    await stageFor(t, { apps: [MAIL], script, user: yes() }).ask('read');
    return decide.mock.callCount() - before;
  };
  assert.equal((await decided(4)) - (await decided(1)), 6);
});

test('an app reaches the network only through the gate', async (t) => {
  const request = {
    host: 'api.example.com',
    port: 443,
    method: 'CONNECT',
    path: null,
    bytes: null,
    site: 'example.com',
  };
  for (const [says, leaves] of [
    [yes(), true],
    [no(), false],
  ] as const) {
    const decisions: (boolean | undefined)[] = [];
    const stage = stageFor(t, {
      apps: [app('mail', { read: 'hello' }, { network: ['example.com'] })],
      script: READS,
      user: says,
      meanwhile: async (who, { doors }) => {
        if (who !== 'mail' || decisions.length > 0) return;
        decisions.push(await doors.get('mail')?.(request, new AbortController().signal));
      },
    });
    await stage.ask('read');
    assert.deepEqual(decisions, [leaves]);
    assert.equal(stage.questions.length, 1);
  }
});

test('a peer id that the policy refused a request to stays usable for another request', async (t) => {
  const stage = stageFor(t, {
    apps: [MAIL, RIDES],
    policy: 'raise "not there" if:\n    (request: AppRequest)\n    request.message.to == "Turin"',
    user: yes(),
    script: {
      planner: [plan([{ app: 'mail' }])],
      mail: [
        [call('probe', { functionality: 'ride-fare' })],
        ({ results: [offer] }) =>
          ['Turin', 'Rome'].map((to) => call('request', { peer: field(offer, 'peer'), message: { to } })),
        ({ results }) => results.join(' '),
      ],
    },
  });
  const outcome = await stage.ask('how much?');
  assert.equal(
    outcome.answer,
    `${REFUSED_TEXT} {"amount":12,"note":{"ref":"«cash only» (from ride-fare)","length":100}}`,
  );
});
