/** Rules about the order of a whole session: `before` sees the contexts of all apps, `->` what one of them has seen. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toJson } from '@cordon/core';
import { loadPolicy, type Policy } from '@cordon/policy';
import { analyzeEvents, readTrace } from '@cordon/policy-tools';
import { app, serves, shape, TEXT } from '@cordon/testkit/hub/app.ts';
import { yes } from '../fixture/consent.ts';
import { call, plan } from '../fixture/model.ts';
import { type Stage, stageFor } from '../fixture/stage.ts';

const MAIL = app(
  'mail',
  { search_mail: { reply: { structured: { text: 'the secret' } } } },
  {
    functionalities: [serves('mail-search', 'search_mail', shape({}), shape({ text: TEXT }))],
    private: null,
  },
);
const TRAVEL = app(
  'travel',
  { book_flight: { input: shape({ to: TEXT }), reply: { structured: { text: 'booked' } } } },
  { functionalities: [serves('flight-booking', 'book_flight', shape({ to: TEXT }), shape({ text: TEXT }))] },
);

function booking(effect: 'raise' | 'warn', operator: '->' | 'before', name = 'book'): string {
  return `rule ${name}:\n${effect} "no flight is booked once a mail was searched" if:\n    (a: ToolCall) ${operator} (b: ToolCall)\n    a is tool:search_mail\n    b is tool:book_flight\n`;
}

const SEARCH = 'what do my mails say?';
const BOOK = 'book a flight to Oslo';
const SCRIPT = {
  mail: [[call('search_mail')], 'they say it'],
  travel: [[call('book_flight', { to: 'Oslo' })], 'that is all'],
};

/** Two queries of one session, each served by one app, which hears nothing of the other. */
async function searchThenBook(stage: Stage): Promise<void> {
  await stage.ask(SEARCH, { planner: [plan([{ app: 'mail' }])] });
  await stage.ask(BOOK, { planner: [plan([{ app: 'travel' }])] });
}

const BOTH_RAN = ['mail.search_mail {}', 'travel.book_flight {"to":"Oslo"}'];

test('a rule with before stops what follows in the context of another app', async (t) => {
  const policy = booking('raise', 'before');
  const stage = stageFor(t, { apps: [MAIL, TRAVEL], policy, user: yes(), script: SCRIPT });
  await searchThenBook(stage);
  assert.deepEqual(stage.ran, ['mail.search_mail {}']);
});

test('a rule with before allows the same two calls in the other order', async (t) => {
  const policy = booking('raise', 'before');
  const stage = stageFor(t, { apps: [MAIL, TRAVEL], policy, user: yes(), script: SCRIPT });
  await stage.ask(BOOK, { planner: [plan([{ app: 'travel' }])] });
  await stage.ask(SEARCH, { planner: [plan([{ app: 'mail' }])] });
  assert.deepEqual(stage.ran, [...BOTH_RAN].reverse());
});

test('a rule with a flow allows what follows in a context that was told nothing', async (t) => {
  const policy = booking('raise', '->');
  const stage = stageFor(t, { apps: [MAIL, TRAVEL], policy, user: yes(), script: SCRIPT });
  await searchThenBook(stage);
  assert.deepEqual(stage.ran, BOTH_RAN);
});

test('a rule with before knows in a resumed session what happened in another app', async (t) => {
  const policy = booking('raise', 'before');
  const stage = stageFor(t, { apps: [MAIL, TRAVEL], policy, user: yes(), script: SCRIPT });
  await stage.ask(SEARCH, { planner: [plan([{ app: 'mail' }])] });
  await stage.resume();
  await stage.ask(BOOK, { planner: [plan([{ app: 'travel' }])] });
  assert.deepEqual(stage.ran, ['mail.search_mail {}']);
});

test('another session of the user is no part of the order', async (t) => {
  const policy = booking('raise', 'before');
  const stage = stageFor(t, { apps: [MAIL, TRAVEL], policy, user: yes(), script: SCRIPT });
  await stage.ask(SEARCH, { planner: [plan([{ app: 'mail' }])] });
  const other = stage.open();
  await stage.ask(BOOK, { planner: [plan([{ app: 'travel' }])] }, other);
  await other.close('end');
  assert.deepEqual(stage.ran, BOTH_RAN);
});

// Attack: an app learns by what it is refused what the user did with another app.
test('a context that is refused by a rule with before is told nothing of the other app', async (t) => {
  const policy = booking('raise', 'before', 'no-flight');
  const stage = stageFor(t, { apps: [MAIL, TRAVEL], policy, user: yes(), script: SCRIPT });
  await searchThenBook(stage);
  const shown = stage.model.shownTo('travel');
  assert.ok(shown.includes('"refused: not permitted"'));
  assert.deepEqual(
    ['search_mail', 'the secret', 'they say it', SEARCH, 'no-flight', 'no flight'].filter((word) =>
      shown.includes(word),
    ),
    [],
  );
  const reasons = stage
    .events()
    .flatMap((event) => ('verdict' in event && event.verdict === 'deny' ? event.reasons : []));
  assert.deepEqual(
    reasons.map(({ rule }) => rule),
    ['no-flight'],
  );
});

// ── the journal says the same ───────────────────────────────────────────────────────────────────────────────────

/** What rules say of each call: live, as warnings of its decision; afterwards, of the journal that was exported. */
const BOTH_OPERATORS = [
  booking('warn', 'before', 'before-calls'),
  booking('warn', '->', 'seen-calls'),
  'rule before-outputs:\nwarn "x" if:\n    (a: ToolOutput) before (b: ToolCall)\n',
  'rule seen-outputs:\nwarn "x" if:\n    (a: ToolOutput) -> (b: ToolCall)\n',
  'rule before-words:\nwarn "x" if:\n    (a: Message) before (b: ToolCall)\n    a.role == "assistant"\n',
  'rule seen-words:\nwarn "x" if:\n    (a: Message) -> (b: ToolCall)\n    a.role == "assistant"\n',
  'rule before-plans:\nwarn "x" if:\n    (a: ToolCall) before (b: ToolCall)\n    (p: Plan) before a\n    p.context != a.context\n',
].join('');

function live(stage: Stage): readonly string[] {
  const said = stage
    .events()
    .flatMap((event) =>
      'verdict' in event ? event.warnings.map(({ rule }) => `${rule} ${event.causes[0]}`) : [],
    );
  return said.sort();
}

function recorded(stage: Stage, policy: Policy): readonly string[] {
  const events = stage.events();
  const journal = readTrace(toJson(events), { format: 'cordon-journal' });
  assert.ok(journal.ok);
  const { errors, undecided } = analyzeEvents(policy, journal.value.events);
  assert.deepEqual(undecided, []);
  return [...new Set(errors.map(({ rule, events: { b } }) => `${rule} ${events[Number(b)]?.id}`))].sort();
}

function loaded(text: string): Policy {
  const policy = loadPolicy(text);
  assert.ok(policy.ok);
  return policy.value;
}

/** The rules that spoke of a call, without which call it was. */
function rulesIn(found: readonly string[]): readonly string[] {
  return [...new Set(found.map((one) => one.slice(0, one.indexOf(' '))))];
}

test('the monitor and the analysis of the exported journal say the same of two apps in one session', async (t) => {
  const stage = stageFor(t, { apps: [MAIL, TRAVEL], policy: BOTH_OPERATORS, user: yes(), script: SCRIPT });
  await searchThenBook(stage);
  assert.deepEqual(stage.ran, BOTH_RAN);
  const said = live(stage);
  assert.deepEqual(rulesIn(said), ['before-calls', 'before-outputs', 'before-words', 'seen-words']);
  assert.deepEqual(recorded(stage, loaded(BOTH_OPERATORS)), said);
});

test('they say the same of apps that serve one query together', async (t) => {
  const stage = stageFor(t, {
    apps: [MAIL, TRAVEL],
    policy: BOTH_OPERATORS,
    user: yes(),
    script: {
      planner: [
        plan([
          { app: 'mail', uses: ['mail-search'] },
          { app: 'travel', uses: ['flight-booking'] },
        ]),
      ],
      assistant: [[call('mail-search')], [call('flight-booking', { to: 'Oslo' })], 'done'],
    },
  });
  await stage.ask('search my mails, then book a flight to Oslo');
  assert.deepEqual(stage.ran, BOTH_RAN);
  const said = live(stage);
  assert.deepEqual(rulesIn(said), [
    'before-calls',
    'before-outputs',
    'before-plans',
    'before-words',
    'seen-calls',
    'seen-outputs',
    'seen-words',
  ]);
  assert.deepEqual(recorded(stage, loaded(BOTH_OPERATORS)), said);
});

test('they say the same of apps that are at work at the same time', async (t) => {
  const stage = stageFor(t, {
    // Of more than one call each, so that neither waits for the other.
    apps: [
      app('mail', { search_mail: 'the secret', other: '' }),
      app('travel', { book_flight: 'booked', other: '' }),
    ],
    policy: BOTH_OPERATORS,
    user: yes(),
    script: {
      planner: [plan([{ app: 'mail' }, { app: 'travel' }])],
      mail: [[call('search_mail')], [call('other')], 'they say it'],
      travel: [[call('book_flight')], [call('other')], 'booked'],
      assistant: ['done'],
    },
  });
  await stage.ask('search my mails, and book a flight');
  assert.equal(stage.ran.length, 4);
  const said = live(stage);
  assert.ok(rulesIn(said).includes('before-words'));
  assert.deepEqual(recorded(stage, loaded(BOTH_OPERATORS)), said);
});

test('what the journal of an unwatched session would have been stopped for is what a monitor stops', async (t) => {
  const stage = stageFor(t, { apps: [MAIL, TRAVEL], user: yes(), script: SCRIPT });
  await searchThenBook(stage);
  const found = (operator: '->' | 'before') => rulesIn(recorded(stage, loaded(booking('raise', operator))));
  assert.deepEqual([found('before'), found('->')], [['book'], []]);
});
