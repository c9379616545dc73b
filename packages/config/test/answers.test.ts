import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Consent, id, type PermissionAnswer } from '@cordon/core';
import { summary } from '@cordon/testkit/configuration-folder.ts';
import { choicePrompt, permissionPrompt } from '@cordon/testkit/permission-prompt.ts';
import { type AnswerOptions, AnswersConsent, consentFrom, parseAnswers } from '../src/answers.ts';

const signal = new AbortController().signal;
const DENIED: PermissionAnswer = { allow: false, reason: 'user' };
const UNANSWERED: PermissionAnswer = { allow: false, reason: 'no-answer' };
const ONCE: PermissionAnswer = { allow: true, duration: 'once' };
const SESSION: PermissionAnswer = { allow: true, duration: 'session' };

/** 2026-11-21T12:00Z */
const NOW = 1_795_262_400_000;

function consentOf(text: string): Consent {
  const rules = parseAnswers('answers.json', text);
  if (!rules.ok) throw new Error(rules.fault.map(summary).join('\n'));
  return new AnswersConsent(rules.value, () => NOW);
}

function problems(text: string): string[] {
  const rules = parseAnswers('answers.json', text);
  return rules.ok ? [] : rules.fault.map(summary);
}

test('every key of a match must fit', async () => {
  const rule = (match: string) => consentOf(`[{"match": ${match}, "decision": "once"}]`);
  const prompt = permissionPrompt({ subject: { to: id('metro-hail') }, warnings: ['odd'], expected: false });
  const fitting = [
    '{}',
    '{"scope": "irreversible-action"}',
    '{"from": "quick-ride"}',
    '{"to": "metro-hail"}',
    '{"what": "request_ride"}',
    '{"rule": "permission/irreversible"}',
    '{"expected": false}',
    '{"warned": true}',
    '{"scope": "irreversible-action", "from": "quick-ride", "to": "metro-hail", "what": "request_ride", "expected": false, "warned": true}',
  ];
  for (const match of fitting) assert.deepEqual(await rule(match).permission(prompt, signal), ONCE, match);
  const others = [
    '{"scope": "exchange"}',
    '{"from": "metro-hail"}',
    '{"from": null}',
    '{"to": "quick-ride"}',
    '{"what": "request"}',
    '{"rule": "permission"}',
    '{"expected": true}',
    '{"warned": false}',
    '{"scope": "irreversible-action", "to": "quick-ride"}',
  ];
  for (const match of others)
    assert.deepEqual(await rule(match).permission(prompt, signal), UNANSWERED, match);
});

test('null matches the absence of an app', async () => {
  const consent = consentOf('[{"match": {"from": null}, "decision": "once"}]');
  assert.deepEqual(await consent.permission(permissionPrompt({ subject: { from: null } }), signal), ONCE);
  assert.deepEqual(await consent.permission(permissionPrompt(), signal), UNANSWERED);
});

test('the first rule that matches decides, and no rule denies', async () => {
  const consent = consentOf(`[
    {"match": {"warned": true}, "decision": "deny"}, // first
    {"match": {"from": "quick-ride"}, "decision": "session"},
    {"match": {"from": "quick-ride"}, "decision": "deny"},
  ]`);
  assert.deepEqual(await consent.permission(permissionPrompt({ warnings: ['odd'] }), signal), DENIED);
  assert.deepEqual(await consent.permission(permissionPrompt(), signal), SESSION);
  assert.deepEqual(
    await consent.permission(permissionPrompt({ subject: { from: id('mail') } }), signal),
    UNANSWERED,
  );
  assert.deepEqual(await consentOf('[]').permission(permissionPrompt(), signal), UNANSWERED);
});

test('a duration that is not offered becomes a shorter one, never a longer one', async () => {
  const permanent = consentOf('[{"decision": "permanent"}]');
  assert.deepEqual(await permanent.permission(permissionPrompt(), signal), SESSION);
  assert.deepEqual(await permanent.permission(permissionPrompt({ durations: ['once'] }), signal), ONCE);
  const once = consentOf('[{"decision": "once"}]');
  assert.deepEqual(
    await once.permission(permissionPrompt({ durations: ['session', 'permanent'] }), signal),
    UNANSWERED,
  );
});

test('a choice takes the first rule whose app is offered', async () => {
  const consent = consentOf(`[
    {"match": {"scope": "app-selection"}, "choose": "drive"},
    {"choose": "metro-hail"}
  ]`);
  const chosen = async (...apps: string[]) => (await consent.choose(choicePrompt(...apps), signal))?.app;
  assert.equal(await chosen('quick-ride', 'metro-hail'), 'metro-hail');
  assert.equal(await chosen('metro-hail', 'drive'), 'drive');
  assert.equal(await consent.choose(choicePrompt('mail'), signal), null);
  assert.equal(
    await consentOf('[{"choose": null}, {"choose": "mail"}]').choose(choicePrompt('mail'), signal),
    null,
  );
});

test('a permission until a time ends when the rule says, counted from the answer', async () => {
  const until = (end: string) => consentOf(`[{"decision": {"until": "${end}"}}]`);
  const long = permissionPrompt({ durations: ['once', 'session', 'until', 'permanent'] });
  const answer = async (end: string) => until(end).permission(long, signal);
  assert.deepEqual(await answer('90m'), { allow: true, duration: 'until', until: NOW + 5_400_000 });
  assert.deepEqual(await answer('1w'), { allow: true, duration: 'until', until: NOW + 604_800_000 });
  assert.deepEqual(await answer('2026-11-21T13:00+00:30'), {
    allow: true,
    duration: 'until',
    until: NOW + 1_800_000,
  });
  assert.deepEqual(await answer('2026-11-21T12:00Z'), UNANSWERED);
});

test('what cannot be permitted until a time is permitted once, for the session may be longer', async () => {
  const consent = consentOf('[{"decision": {"until": "1h"}}]');
  assert.deepEqual(await consent.permission(permissionPrompt(), signal), ONCE);
});

test('a time that is none is a problem of the file', () => {
  const help = 'write `{"until": "2h"}`, with `90m`, `2h`, `3d`, `1w`, `today` or `2026-12-01T10:00Z`';
  assert.deepEqual(problems('[{"decision": {"until": "tomorrow"}}, {"decision": {}}]'), [
    `1:25 error ANS004 [0].decision.until: \`tomorrow\` is no time (${help})`,
    `1:52 error ANS004 [1].decision: no time is named (${help})`,
  ]);
  assert.deepEqual(
    problems('[{"match": {"scope": "policy"}, "decision": {"until": "1h"}}]').map((text) =>
      text.slice(5, 17),
    ),
    ['error ANS002'],
  );
});

// Attack: an attacker's line stands among what a text asks for, and a rule lets everything pass.
test('no rule allows what a text asks for, and one may deny it', async () => {
  const [problem, ...others] = problems('[{"match": {"scope": "delegation"}, "decision": "once"}]');
  assert.match(problem ?? '', /error ANS007/);
  assert.deepEqual(others, []);
  const asked = permissionPrompt({
    subject: { scope: 'delegation', from: id('mail'), to: id('mail'), what: 'read' },
  });
  const allowing = consentOf('[{"decision": "session"}]');
  assert.deepEqual(await allowing.permission(asked, signal), { allow: false, reason: 'no-answer' });
  assert.equal((await allowing.permission(permissionPrompt({}), signal)).allow, true);
  const denying = consentOf('[{"match": {"scope": "delegation"}, "decision": "deny"}]');
  assert.deepEqual(await denying.permission(asked, signal), { allow: false, reason: 'user' });
});

test('a choice holds as long as its decision says, once where there is none', async () => {
  const rules = '[{"choose": "mail", "decision": "permanent"}, {"choose": "drive"}]';
  const consent = consentOf(rules);
  assert.deepEqual(await consent.choose(choicePrompt('mail', 'x'), signal), {
    app: 'mail',
    duration: 'permanent',
  });
  assert.deepEqual(await consent.choose(choicePrompt('drive', 'x'), signal), {
    app: 'drive',
    duration: 'once',
  });
});

test('whether somebody is new can be matched', async () => {
  const consent = consentOf('[{"match": {"new": true}, "decision": "deny"}, {"decision": "once"}]');
  assert.deepEqual(await consent.permission(permissionPrompt(), signal), ONCE);
  const fresh = permissionPrompt({ newRecipients: ['never before'] });
  assert.deepEqual(await consent.permission(fresh, signal), DENIED);
});

test('a cancelled prompt is denied whatever the rules say', async () => {
  const consent = consentOf('[{"decision": "once"}, {"choose": "mail"}]');
  assert.deepEqual(await consent.permission(permissionPrompt(), AbortSignal.abort()), UNANSWERED);
  assert.equal(await consent.choose(choicePrompt('mail'), AbortSignal.abort()), null);
});

test('all problems of an answers file are reported at once', () => {
  assert.deepEqual(
    problems(`[
  {"match": {"scop": "exchange"}, "decision": "once"},
  {"match": {"scope": "exchanges", "warned": "yes", "to": "no app"}, "decision": "allow"},
  {"match": {}},
  {"decision": "deny", "choose": "mail"},
  {"match": {"scope": "irreversible-action"}, "decision": "permanent"},
  {"match": {"to": "mail"}, "choose": "mail"},
  5
]`),
    [
      '2:14 error CFG006 [0].match.scop: the key `scop` is unknown (did you mean `scope`?)',
      '3:23 error ANS004 [1].match.scope: `exchanges` is not a scope (did you mean `exchange`?)',
      '3:59 error CFG008 [1].match.to: `no app` is no name of an app (use the key of the app in `cordon.json`)',
      '3:46 error CFG005 [1].match.warned: `true` or `false` should stand here, not a string ()',
      '3:82 error ANS004 [1].decision: `allow` is not a decision (use one of once, session, permanent, deny)',
      '4:3 error ANS001 [2]: a rule has a `decision`, or a `choose` and for how long (write `"decision": "deny"` or `"choose": "APP"`)',
      '5:3 error ANS001 [3]: a rule has a `decision`, or a `choose` and for how long (write `"decision": "deny"` or `"choose": "APP"`)',
      '6:59 error ANS002 [4].decision: permission for `irreversible-action` never outlives its session (use `once` or `session`)',
      '7:39 error ANS003 [5].choose: `choose` answers which app serves a query, and nothing else can be matched there (match `{"scope": "app-selection"}` or nothing)',
      '8:3 error CFG005 [6]: an object should stand here, not a number ()',
    ],
  );
  assert.deepEqual(problems('{"match": {}}'), [
    '1:1 error CFG005: an array of rules should stand here, not an object ()',
  ]);
  assert.deepEqual(problems('[{'), [
    '1:3 error CFG003: the text ends where a key in double quotes should stand (the file must be JSON; comments and trailing commas are accepted)',
  ]);
  assert.deepEqual(problems('['.repeat(100)), [
    '- error CFG002: values are nested more than 32 deep (use fewer and broader rules)',
  ]);
});

test('a rule for an app that is not installed is a slip, and says which was meant', () => {
  const text = '[{"match": {"to": "mial"}, "decision": "once"}, {"choose": "notes"}]';
  const parsed = parseAnswers('answers.json', text, ['mail', 'metro-hail']);
  assert.deepEqual(
    (parsed.ok ? [] : parsed.fault).map(({ code, path, message, help }) => [code, path, message, help]),
    [
      [
        'ANS005',
        '[0].match.to',
        'there is no app `mial`, so the rule would never match',
        'did you mean `mail`?',
      ],
      [
        'ANS005',
        '[1].choose',
        'there is no app `notes`, so the rule would never match',
        '`cordon apps` lists the apps that are installed',
      ],
    ],
  );
  assert.equal(parseAnswers('answers.json', text.replace('mial', 'mail'), ['mail', 'notes']).ok, true);
});

const NO_OPTIONS: AnswerOptions = {
  now: () => NOW,
  rules: null,
  denyAll: false,
  denyWarned: false,
  allowRest: false,
};

/** What happens to a plain prompt, to a warned one and to a choice; the terminal answers `session` and the last app. */
async function table(options: Partial<AnswerOptions>, isTerminal: boolean): Promise<string[]> {
  const terminal: Consent = {
    permission: async () => SESSION,
    choose: async ({ choices }) => ({ app: choices.at(-1) ?? id('none'), duration: 'once' }),
  };
  const consent = consentFrom({ ...NO_OPTIONS, ...options }, isTerminal ? terminal : null);
  const word = (answer: PermissionAnswer) => (answer.allow ? answer.duration : answer.reason);
  return [
    word(await consent.permission(permissionPrompt(), signal)),
    word(await consent.permission(permissionPrompt({ warnings: ['odd'] }), signal)),
    String((await consent.choose(choicePrompt('a', 'b'), signal))?.app ?? null),
  ];
}

test('the options of scripts, with a terminal and without', async () => {
  assert.deepEqual(await table({}, true), ['session', 'session', 'b']);
  assert.deepEqual(await table({}, false), ['no-answer', 'no-answer', 'null']);
  assert.deepEqual(await table({ denyWarned: true }, true), ['session', 'user', 'b']);
  assert.deepEqual(await table({ denyWarned: true }, false), ['no-answer', 'user', 'null']);
  assert.deepEqual(await table({ allowRest: true }, true), ['once', 'session', 'a']);
  assert.deepEqual(await table({ allowRest: true }, false), ['once', 'no-answer', 'a']);
  assert.deepEqual(await table({ denyWarned: true, allowRest: true }, true), ['once', 'user', 'a']);
  assert.deepEqual(await table({ denyWarned: true, allowRest: true }, false), ['once', 'user', 'a']);
  assert.deepEqual(await table({ denyAll: true, allowRest: true }, true), ['user', 'user', 'null']);
  assert.deepEqual(await table({ rules: [], allowRest: true }, true), ['no-answer', 'no-answer', 'null']);
});

const FORM = permissionPrompt({
  subject: { scope: 'data-release', from: null, to: id('booking'), what: 'date of birth, name' },
  data: [
    { name: 'name', value: 'Ada', field: 'name', isEditable: true },
    { name: 'date of birth', value: '', field: 'birth-date', isEditable: true },
  ],
  durations: ['once'],
});
const FILL = '"fill": {"birth-date": "1990-12-31", "name": "Eve"}';

test('a rule fills in the empty fields of a form, and no others', async () => {
  const consent = consentOf(`[{"match": {"scope": "data-release"}, "decision": "once", ${FILL}}]`);
  assert.deepEqual(await consent.permission(FORM, signal), {
    ...ONCE,
    edits: [{ name: 'date of birth', value: '1990-12-31' }],
  });
});

for (const [name, rule, answer] of [
  ['a rule without values leaves them empty', '{"decision": "once"}', ONCE],
  ['values of other kinds fill nothing', '{"decision": "once", "fill": {"city": "Turin"}}', ONCE],
  ['a rule that denies gives nothing', '{"decision": "deny"}', DENIED],
] as const) {
  test(name, async () => assert.deepEqual(await consentOf(`[${rule}]`).permission(FORM, signal), answer));
}

test('what does not fit its kind, or is none, is reported', () => {
  const rule = (fill: string) => problems(`[{"decision": "once", "fill": ${fill}}]`);
  assert.deepEqual(rule('{"birth-date": "long ago"}'), [
    '1:46 error ANS006 [0].fill.birth-date: the date of birth must look like `1990-12-31` (write it as the example has it)',
  ]);
  assert.deepEqual(rule('{"phones": "x"}'), [
    '1:32 error CFG006 [0].fill.phones: the key `phones` is unknown (did you mean `phone`?)',
  ]);
  assert.deepEqual(problems(`[{"decision": "deny", ${FILL}}]`), [
    '1:31 error ANS006 [0].fill: only a rule that allows may have `fill` (leave it out, or write `"decision": "once"`)',
  ]);
});

test('no rule and no option for scripts installs an app, though each chooses among installed ones', async () => {
  const installs = { ...choicePrompt('mail'), installs: true } as const;
  const rule = consentOf('[{"choose": "mail"}]');
  const all = consentFrom({ ...NO_OPTIONS, allowRest: true }, null);
  for (const consent of [rule, all]) {
    assert.equal((await consent?.choose(choicePrompt('mail'), signal))?.app, 'mail');
    assert.equal(await consent?.choose(installs, signal), null);
  }
});
