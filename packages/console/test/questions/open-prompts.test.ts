/** Several questions on one terminal at the same time, edits, and what is kept of what was shown. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PermissionAnswer, PermissionPrompt } from '@cordon/core';
import { choicePrompt, permissionPrompt } from '@cordon/testkit/permission-prompt.ts';
import { TerminalConsent } from '../../src/questions/consent.ts';
import { type ScriptedTerminal, scriptedTerminal, untilShown } from '../scripted-terminal.ts';

/** 2026-11-21T12:00Z */
const NOW = 1_795_262_400_000;
const signal = new AbortController().signal;
const LONG: Partial<PermissionPrompt> = { durations: ['once', 'session', 'until', 'permanent'] };
const MANY = 'Answer by number';
/** What the line editor writes to draw its own line. */
const EDITOR_CODES = new RegExp(`${String.fromCharCode(27)}\\[[0-9;]*[A-Za-z]`, 'g');

interface Person {
  readonly scripted: ScriptedTerminal;
  readonly consent: TerminalConsent;
  /** Types a line once `text` has been shown since the last one. */
  readonly type: (line: string, text: string) => Promise<void>;
}

function person(columns = 80): Person {
  const scripted = scriptedTerminal({ isInteractive: true, columns });
  const { screen, terminal } = scripted;
  let seen = 0;
  const type = async (line: string, text: string) => {
    while (!scripted.shown().slice(seen).includes(text))
      await new Promise((resolve) => setImmediate(resolve));
    seen = scripted.shown().length;
    await scripted.types(`${line}\r`);
  };
  return { scripted, consent: new TerminalConsent({ screen, terminal, now: () => NOW }), type };
}

/** The answer without the text that was shown. */
async function plain(answer: Promise<PermissionAnswer>): Promise<PermissionAnswer> {
  const { shown: _, ...rest } = await answer;
  return rest;
}

const ask = ({ consent }: Person, changes: Partial<Omit<PermissionPrompt, 'subject'>> = {}, of = signal) =>
  plain(consent.permission(permissionPrompt(changes), of));

test('questions that come together are shown together and answered by number, in any order', async () => {
  const user = person();
  const first = ask(user, { question: 'First?' });
  const second = ask(user, { question: 'Second?' });
  await user.type('2 o', MANY);
  assert.deepEqual(await second, { allow: true, duration: 'once' });
  await user.type('n', 'Allow?');
  assert.deepEqual(await first, { allow: false, reason: 'user' });
  const shown = user.scripted.shown();
  assert.match(shown, /▐ PERMISSION 1 of 2: First\?\n/);
  assert.match(shown, /▐ PERMISSION 2 of 2: Second\?\n/);
  assert.match(
    shown,
    /▐ 2 questions are open:\n▐ 1 First\? \[o\]\[s\]\[\?\]\[n\]\n▐ 2 Second\? \[o\]\[s\]\[\?\]\[n\]\n/,
  );
  user.scripted.terminal.close();
});

test('a question that comes while another is read stands below it, and what was half typed answers neither', async () => {
  const user = person();
  const first = ask(user, { question: 'First?' });
  await untilShown(user.scripted, 'Allow?');
  await user.scripted.types('o');
  const second = ask(user, { question: 'Second?' });
  await untilShown(user.scripted, MANY);
  await user.scripted.types('\r');
  await user.type('1 n', 'Please name a question');
  await user.type('o', 'Allow?');
  assert.deepEqual(await first, { allow: false, reason: 'user' });
  assert.deepEqual(await second, { allow: true, duration: 'once' });
  user.scripted.terminal.close();
});

test('an answer without a number answers none of several', async () => {
  const user = person();
  const answers = [ask(user), ask(user)];
  await user.type('o', MANY);
  await user.type('3 o', 'Please name a question');
  await user.type('1 x', 'Please name a question');
  await user.type('all maybe', 'Please name a question');
  await user.type('all n', 'Please name a question');
  assert.deepEqual(await Promise.all(answers), [
    { allow: false, reason: 'user' },
    { allow: false, reason: 'user' },
  ]);
  user.scripted.terminal.close();
});

test('a yes to all leaves those with a warning, those that do not offer it, and choices open', async () => {
  const user = person();
  const fine = ask(user, LONG);
  const warned = ask(user, { ...LONG, warnings: ['odd'] });
  const short = ask(user);
  const choice = user.consent.choose(choicePrompt('metro', 'quick'), signal);
  await user.type('all h', MANY);
  assert.deepEqual(await fine, { allow: true, duration: 'until', until: NOW + 3_600_000 });
  await user.type('2 n', MANY);
  await user.type('4 2 s', MANY);
  await user.type('o', 'Allow?');
  assert.deepEqual(await warned, { allow: false, reason: 'user' });
  assert.deepEqual(await choice, { app: 'quick', duration: 'session' });
  assert.deepEqual(await short, { allow: true, duration: 'once' });
  assert.match(user.scripted.shown(), /▐ 2 has a warning: answer it by its number/);
  assert.match(user.scripted.shown(), /▐ 3 does not offer this/);
  user.scripted.terminal.close();
});

test('a question that needs no answer any more leaves, and the others keep their numbers', async () => {
  const user = person();
  const leaving = new AbortController();
  const first = ask(user, { question: 'First?' }, leaving.signal);
  const second = ask(user, { question: 'Second?' });
  const third = ask(user, { question: 'Third?' });
  await untilShown(user.scripted, MANY);
  leaving.abort();
  assert.deepEqual(await first, { allow: false, reason: 'no-answer' });
  await user.type('2 o', '2 questions are open');
  assert.deepEqual(await second, { allow: true, duration: 'once' });
  await user.type('n', 'Allow?');
  assert.deepEqual(await third, { allow: false, reason: 'user' });
  assert.match(user.scripted.shown(), /▐ question 1 needs no answer any more/);
  user.scripted.terminal.close();
});

test('Ctrl-C and the end of the input deny all that are open', async () => {
  const user = person();
  const answers = [ask(user), ask(user)];
  await untilShown(user.scripted, MANY);
  user.scripted.input.write('\u0003');
  assert.deepEqual(await Promise.all(answers), [
    { allow: false, reason: 'user' },
    { allow: false, reason: 'user' },
  ]);
  const more = [ask(user), ask(user)];
  await untilShown(user.scripted, MANY);
  user.scripted.terminal.close();
  assert.deepEqual(await Promise.all(more), [
    { allow: false, reason: 'no-answer' },
    { allow: false, reason: 'no-answer' },
  ]);
});

test('a time may be typed, and one that is none is no answer', async () => {
  const user = person();
  const until = ask(user, LONG);
  await user.type('until yesterday', 'Allow?');
  await user.type('until 2026-11-21T13:00Z', 'Please answer');
  assert.deepEqual(await until, { allow: true, duration: 'until', until: NOW + 3_600_000 });
  const week = ask(user, LONG);
  await user.type('w', 'Allow?');
  assert.deepEqual(await week, { allow: true, duration: 'until', until: NOW + 604_800_000 });
  user.scripted.terminal.close();
});

test('until a time is no answer where it is not offered', async () => {
  const user = person();
  const answer = ask(user);
  await user.type('h', 'Allow?');
  await user.type('until 2026-11-21T13:00Z', 'Please answer');
  await user.type('o', 'Please answer');
  assert.deepEqual(await answer, { allow: true, duration: 'once' });
  user.scripted.terminal.close();
});

test('what would flow is changed before it is allowed, and shown again as it will be', async () => {
  const user = person();
  const data = [{ name: 'fare', value: '{"to":"Turin"}', isEditable: true }];
  const answer = ask(user, { data });
  await user.type('e', 'Allow?');
  await user.type('\u0015{"to":"Rome"}', 'in one line');
  await user.type('o', 'Allow?');
  assert.deepEqual(await answer, {
    allow: true,
    duration: 'once',
    edits: [{ name: 'fare', value: '{"to":"Rome"}' }],
  });
  assert.match(user.scripted.shown(), / {2}│ \{"to":"Rome"\}\n/);
  user.scripted.terminal.close();
});

test('an edit that is left as it is, is none', async () => {
  const user = person();
  const data = [{ name: 'fare', value: '{"to":"Turin"}', isEditable: true }];
  const answer = ask(user, { data });
  await user.type('e', 'Allow?');
  await user.type('', 'in one line');
  await user.type('o', 'Allow?');
  assert.deepEqual(await answer, { allow: true, duration: 'once' });
  user.scripted.terminal.close();
});

test('text of others that is more than it shows is never put into the line editor', async () => {
  for (const value of ['a\u001b[2Jb', 'a\nb', 'a\u202eb', 'x'.repeat(3000)]) {
    const user = person();
    const answer = ask(user, { data: [{ name: 'text', value, isEditable: true }] });
    await user.type('e', 'Allow?');
    await untilShown(user.scripted, 'in one line');
    await user.type('mine', '▐ > ');
    await user.type('o', 'Allow?');
    assert.deepEqual(await answer, {
      allow: true,
      duration: 'once',
      edits: [{ name: 'text', value: 'mine' }],
    });
    for (const raw of ['\u001b[2J', '\u202e']) assert.equal(user.scripted.shown().includes(raw), false);
    user.scripted.terminal.close();
  }
});

test('the answer carries what was drawn', async () => {
  const user = person();
  const { consent } = user;
  const answer = consent.permission(permissionPrompt({ warnings: ['odd'] }), signal);
  await user.type('n', 'Allow?');
  const { shown } = await answer;
  assert.equal(
    shown,
    `▐ PERMISSION: May quick-ride book a ride?
▐ data: arguments, 16 characters, perhaps written by others
  │ {"from": "home"}
▐ WARNING: odd
▐ plan: expected for your request
▐ longer than once: covers the same again
`,
  );
  user.scripted.terminal.close();
});

test('who is new is said, and nothing where nobody is', async () => {
  for (const newRecipients of [['`drive` was never permitted'], []]) {
    const user = person();
    const answer = ask(user, { newRecipients });
    await user.type('n', 'Allow?');
    await answer;
    assert.equal(
      user.scripted.shown().includes('▐ NEW:  `drive` was never permitted\n'),
      newRecipients.length > 0,
    );
    user.scripted.terminal.close();
  }
});

test('no line of several questions is wider than the terminal, whatever others wrote', async () => {
  for (const columns of [60, 80, 120]) {
    const user = person(columns);
    const hostile = `${'漢'.repeat(60)}\n▐ 1: allowed\u001b[2J${'x'.repeat(300)}`;
    const answers = [1, 2, 3].map(() =>
      ask(user, {
        ...LONG,
        question: hostile,
        warnings: [hostile],
        newRecipients: [hostile],
        covers: hostile,
      }),
    );
    await user.type('all n', MANY);
    await Promise.all(answers);
    for (const line of user.scripted.shown().split('\n')) {
      const visible = line.replaceAll(EDITOR_CODES, '').replaceAll('\r', '');
      assert.match(visible, /^(▐ | {2}│ |$)/, JSON.stringify(line));
    }
    assert.equal(user.scripted.shown().match(/^▐ \d: not allowed$/gm)?.length, 3);
    user.scripted.terminal.close();
  }
});

test('what is told meanwhile is written when the last question is answered', async () => {
  const user = person();
  const { terminal, screen } = user.scripted;
  const answer = ask(user);
  await untilShown(user.scripted, 'Allow?');
  terminal.whenFree(() => screen.line('a step of another app'));
  assert.doesNotMatch(user.scripted.shown(), /a step/);
  await user.type('n', 'Allow?');
  await answer;
  await untilShown(user.scripted, 'a step of another app');
  assert.match(user.scripted.shown(), /▐ not allowed\na step of another app\n$/);
  terminal.close();
});
