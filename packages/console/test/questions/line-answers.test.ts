import assert from 'node:assert/strict';
import { test } from 'node:test';
import { id, type PermissionPrompt } from '@cordon/core';
import { choicePrompt, permissionPrompt } from '@cordon/testkit/permission-prompt.ts';
import { LineAnswers } from '../../src/questions/line-answers.ts';
import { WaitingConsent } from '../../src/questions/waiting-consent.ts';
import { scriptedTerminal } from '../scripted-terminal.ts';

const NOW = 1_795_262_400_000;
const signal = new AbortController().signal;

function lines() {
  const { terminal, input } = scriptedTerminal();
  const refused: string[] = [];
  const consent = new LineAnswers({ terminal, now: () => NOW, onRefused: (reason) => refused.push(reason) });
  const ask = (name: string, changes: Partial<Omit<PermissionPrompt, 'subject'>> = {}) =>
    consent.permission(permissionPrompt({ id: id(name), ...changes }), signal);
  const say = (...answers: readonly (object | string)[]) => {
    for (const answer of answers)
      input.write(`${typeof answer === 'string' ? answer : JSON.stringify(answer)}\n`);
  };
  return { consent, ask, say, refused, input };
}

test('each question is answered by its id, in any order', async () => {
  const { ask, say, refused } = lines();
  const answers = [ask('q1'), ask('q2')];
  say({ prompt: 'q2', decision: 'session' }, { prompt: 'q1', decision: 'deny' });
  assert.deepEqual(await Promise.all(answers), [
    { allow: false, reason: 'user' },
    { allow: true, duration: 'session' },
  ]);
  assert.deepEqual(refused, []);
});

test('a yes to all is none to what carries a warning, a no is one to everything', async () => {
  const { ask, say, refused, consent } = lines();
  const fine = ask('q1');
  const warned = ask('q2', { warnings: ['odd'] });
  const choice = consent.choose(choicePrompt('metro'), signal);
  say({ prompt: 'all', decision: 'once' });
  assert.deepEqual(await fine, { allow: true, duration: 'once' });
  assert.deepEqual(refused, [
    'q2: it has a warning: answer it by its id',
    'e2: the question is which app: `choose` one that is offered, or null',
  ]);
  say({ prompt: 'all', decision: 'deny' });
  assert.deepEqual(await warned, { allow: false, reason: 'user' });
  assert.equal(await choice, null);
});

test('an app is chosen, for as long as is said', async () => {
  const { consent, say } = lines();
  const choice = consent.choose(choicePrompt('metro', 'quick'), signal);
  say({ prompt: 'e2', choose: 'quick', decision: 'permanent' });
  assert.deepEqual(await choice, { app: 'quick', duration: 'permanent' });
});

test('edits and a time are part of an answer', async () => {
  const { ask, say } = lines();
  const answer = ask('q1', { durations: ['once', 'session', 'until'] });
  say({ prompt: 'q1', decision: { until: '2h' }, edits: { fare: '{}' } });
  assert.deepEqual(await answer, {
    allow: true,
    duration: 'until',
    until: NOW + 7_200_000,
    edits: [{ name: 'fare', value: '{}' }],
  });
});

test('what is not understood answers nothing and is said', async () => {
  const { ask, say, refused } = lines();
  const answer = ask('q1');
  say(
    'yes',
    '[]',
    { prompt: 'q1', decision: 'always' },
    { prompt: 'q1', decision: 'permanent' },
    { prompt: 'q1', decision: { until: '1h' } },
    { prompt: 'q1', decision: true },
    { prompt: 'q1', decision: 'once', sure: true },
    { prompt: 'q1', choose: 'metro' },
    { prompt: 'q1' },
    { prompt: 'q2', decision: 'once' },
    { decision: 'once' },
    { prompt: 'q1', decision: 'once', edits: { a: 1 } },
    { prompt: 'q1', decision: 'once' },
  );
  assert.deepEqual(await answer, { allow: true, duration: 'once' });
  assert.equal(refused.length, 12);
});

test('the end of the input denies what is open', async () => {
  const { ask, input } = lines();
  const answer = ask('q1');
  input.end();
  assert.deepEqual(await answer, { allow: false, reason: 'no-answer' });
});

test('a question that is withdrawn leaves the next line to others', async () => {
  const { consent, ask, say } = lines();
  const leaving = new AbortController();
  const withdrawn = consent.permission(permissionPrompt({ id: id('q1') }), leaving.signal);
  leaving.abort();
  assert.deepEqual(await withdrawn, { allow: false, reason: 'no-answer' });
  const next = ask('q2');
  say({ prompt: 'q2', decision: 'once' });
  assert.deepEqual(await next, { allow: true, duration: 'once' });
});

test('who waits for another process says so, and no when the time is over', async () => {
  const waited: number[] = [];
  const told: string[] = [];
  const consent = new WaitingConsent({
    waitMs: 5_400_000,
    onWaiting: ({ id: prompt }) => told.push(prompt),
    pause: async (milliseconds) => void waited.push(milliseconds),
  });
  assert.deepEqual(await consent.permission(permissionPrompt(), signal), {
    allow: false,
    reason: 'no-answer',
  });
  assert.equal(await consent.choose(choicePrompt('metro'), AbortSignal.abort()), null);
  assert.deepEqual(waited, [3_600_000, 1_800_000]);
  assert.deepEqual(told, ['e1']);
});
