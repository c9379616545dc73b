/** What others wrote, in every list that a person decides by: it neither moves the terminal nor draws a line of ours. */

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { DEFAULT_LABEL, HUB_LABEL, id, type PermissionPrompt } from '@cordon/core';
import { Workplace } from '@cordon/testkit/cordon-program.ts';
import { openStore } from '@cordon/trace';
import { isLeftOut } from '../../../tools/cases.ts';

const EVIL = '\u001b[2J\u009b31m\u202eX\r\nanswers: allow\n  answers: allow\nFAKE \u2028\u0085FAKE\u0007';
const LABEL = DEFAULT_LABEL;

function hostile(): Workplace {
  const place = new Workplace();
  const opened = openStore(join(place.root, 'data'), Date.now);
  assert.ok(opened.ok);
  const store = opened.value;
  const session = store.sessions.create();
  const app = id<'app'>('mail');
  const append = (body: Parameters<typeof store.journal.append>[5]) =>
    store.journal.append(session, id('mail#1'), app, [], LABEL, body);
  append({ kind: 'session.started', isolation: 'spokes', model: EVIL, notices: [EVIL] });
  append({ kind: 'user.message', text: EVIL });
  append({
    kind: 'model.message',
    text: EVIL,
    calls: [{ id: EVIL, name: EVIL, arguments: { [EVIL]: EVIL } }],
  });
  append({
    kind: 'tool-call.proposed',
    effect: 'tool-call',
    app,
    tool: EVIL,
    arguments: { [EVIL]: EVIL },
    callId: EVIL,
    irreversible: true,
  });
  append({ kind: 'message.dropped', reason: EVIL, bytes: 1 });
  append({ kind: 'app.stopped', reason: EVIL });
  append({ kind: 'query.ended', outcome: 'failed', reason: EVIL });
  append({ kind: 'fact.observed', name: EVIL });
  const learnt = { name: EVIL, value: EVIL, isNew: true, before: null };
  append({ kind: 'facts.learnt', by: 'model', toldTo: app, facts: [learnt] });
  append({ kind: 'choice.asked', question: EVIL, choices: [app] });
  const prompt: PermissionPrompt = {
    id: id('p1'),
    session,
    context: id('mail#1'),
    subject: { scope: 'irreversible-action', from: app, to: app, what: EVIL },
    question: `Let ${EVIL}?`,
    data: [{ name: EVIL, value: EVIL }],
    expected: true,
    warnings: [EVIL],
    newRecipients: [EVIL],
    covers: EVIL,
    rules: [EVIL],
    durations: ['once', 'session'],
    digest: 'd',
  };
  append({ kind: 'permission.asked', prompt });
  store.prompts.open({ kind: 'permission', prompt }, 'f');
  store.prompts.open(
    { kind: 'choice', prompt: { id: id('p2'), session, question: EVIL, choices: [app] } },
    'g',
  );
  store.grants.give({ subject: prompt.subject, duration: 'session', session, digest: 'd' });
  store
    .memory({ kind: 'spoke', app })
    .record(session, 'assistant', EVIL, { origin: app, source: null, label: LABEL });
  store.memory({ kind: 'spoke', app }).learn(EVIL, EVIL, { origin: app, source: null, label: LABEL });
  store
    .memory({ kind: 'system' })
    .learn(EVIL, EVIL, { origin: app, source: null, label: HUB_LABEL }, 'observed');
  store
    .memory({ kind: 'spoke', app })
    .summarise(session, { text: EVIL, madeBy: 'model', through: 1, source: null, label: LABEL });
  store.sessions.release(session);
  store.close();
  return place;
}

const COMMANDS: readonly (readonly string[])[] = [
  ['memory'],
  ['memory', 'show'],
  ['memory', 'search', 'FAKE'],
  ['memory', 'export'],
  ['sessions'],
  ['sessions', '--json'],
  ['prompts'],
  ['prompts', '--json'],
  ['prompts', 'answer', 'p1', 'deny'],
  ['prompts', 'answer', 'p2', 'deny'],
  ['grants', 'list', '--all'],
  ['grants', 'export'],
  ['audit', 'verify'],
  ['audit', 'show', 'SESSION'],
  ['audit', 'show', 'SESSION', '--json'],
];

test('no list moves the terminal, and none has a line that begins with words of others', (t) => {
  if (isLeftOut(t)) return;
  using place = hostile();
  const session = String(Object(place.run(['sessions', '--json', '--data', 'data']).lines[0]).id);
  for (const command of COMMANDS) {
    const args = command.map((word) => (word === 'SESSION' ? session : word));
    const { code, out, err } = place.run([...args, '--data', 'data']);
    const what = command.join(' ');
    // What is remembered here comes from no event, which the audit finds.
    assert.equal(code, what === 'audit verify' ? 1 : 0, what);
    assert.match(out + err, /\S/, what);
    assert.doesNotMatch(out + err, /(?!\n)[\p{C}\p{Zl}\p{Zp}]/u, what);
    assert.doesNotMatch(out + err, /^(?:answers: allow|FAKE)/m, what);
  }
});

test('a question that waits is listed with the answers that it offers, and with no others', () => {
  using place = hostile();
  const { out } = place.run(['prompts', '--data', 'data']);
  assert.deepEqual(out.match(/^ {0,2}answers: .*/gm), [
    '  answers: allow --once, --session; deny',
    '  answers: mail, deny',
  ]);
});
