/** Flows that a rule must see, whichever way the data took. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { app, serves, shape, TEXT } from '@cordon/testkit/hub/app.ts';
import { yes } from '../fixture/consent.ts';
import { call, plan } from '../fixture/model.ts';
import { stageFor } from '../fixture/stage.ts';

const MAIL = app(
  'mail',
  { read: { reply: { structured: { text: 'the secret' } } } },
  { functionalities: [serves('newest-mail', 'read', shape({}), shape({ text: TEXT }))], private: null },
);
const CHAT = app(
  'chat',
  { post: { input: shape({ text: TEXT }), reply: { structured: { text: 'posted' } } } },
  { functionalities: [serves('message-send', 'post', shape({ text: TEXT }), shape({ text: TEXT }))] },
);
const BOTH = plan([
  { app: 'mail', uses: ['newest-mail'] },
  { app: 'chat', uses: ['message-send'] },
]);

/** A rule as anyone would write it for a shared context. */
const NO_MAIL_TO_CHAT =
  'raise "mails are not posted" if:\n    (mail: ToolOutput) -> (post: ToolCall)\n    mail is tool:read\n    post is tool:post';

test('a rule about tool outputs sees an output that came by exchange', async (t) => {
  const stage = stageFor(t, {
    apps: [MAIL, CHAT],
    policy: NO_MAIL_TO_CHAT,
    user: yes(),
    script: {
      planner: [BOTH],
      assistant: [[call('newest-mail')], [call('message-send', { text: '$1' })], 'done'],
    },
  });
  await stage.ask('post my mail');
  assert.deepEqual(stage.ran, ['mail.read {}']);
});

test('a rule lets through what was posted before the mail was read', async (t) => {
  const stage = stageFor(t, {
    apps: [MAIL, CHAT],
    policy: NO_MAIL_TO_CHAT,
    user: yes(),
    script: {
      planner: [BOTH],
      assistant: [[call('message-send', { text: 'hello' })], [call('newest-mail')], 'done'],
    },
  });
  await stage.ask('post hello and read my mail');
  assert.deepEqual(stage.ran, ['chat.post {"text":"hello"}', 'mail.read {}']);
});

test('a rule that forbids an output forbids it to the context that asked for it, too', async (t) => {
  const stage = stageFor(t, {
    apps: [MAIL, CHAT],
    policy: 'raise "no secrets" if:\n    (mail: ToolOutput)\n    "secret" in mail.structured.text',
    user: yes(),
    script: { planner: [BOTH], assistant: [[call('newest-mail')], 'I have $1'] },
  });
  assert.equal((await stage.ask('read my mail')).answer, 'I have $1');
  assert.deepEqual(
    stage.of('app-response.proposed').map(({ message }) => message),
    [],
  );
});

const POSTER = app('poster', { read: 'the secret', post: { input: shape({ text: TEXT }), reply: 'posted' } });

test('a rule sees what was read in an earlier turn and is shown again', async (t) => {
  const stage = stageFor(t, {
    apps: [MAIL, CHAT, POSTER],
    // The two turns differ in their context; the process of the app is not what carries it here.
    policy:
      'raise "no" if:\n    (mail: ToolOutput) -> (answer: Message)\n    mail.content == "the secret"\n    answer.role == "assistant"\n    "again" in answer.content',
    script: {
      planner: [plan([{ app: 'poster' }]), plan([{ app: 'poster' }])],
      poster: [[call('read')], 'it is the secret', 'again: the secret'],
    },
  });
  assert.equal((await stage.ask('read')).answer, 'it is the secret');
  assert.equal((await stage.ask('say it again')).answer, null);
});

test('what was private when it was given to an app is private in what the app makes of it', async (t) => {
  const stage = stageFor(t, {
    apps: [MAIL, CHAT],
    user: yes(),
    script: {
      planner: [BOTH],
      assistant: [[call('newest-mail')], [call('message-send', { text: '$1' })], 'done'],
    },
  });
  await stage.ask('post my mail');
  assert.deepEqual(
    stage.of('tool-output.proposed').map(({ tool, label }) => `${tool} ${label.confidentiality}`),
    ['read private', 'post private'],
  );
});

test('what an app makes of the user’s own words is as its manifest says', async (t) => {
  const stage = stageFor(t, {
    apps: [MAIL, CHAT],
    user: yes(),
    script: { planner: [BOTH], assistant: [[call('message-send', { text: 'hi' })], 'done'] },
  });
  await stage.ask('post hi');
  assert.deepEqual(
    stage.of('tool-output.proposed').map(({ tool, label }) => `${tool} ${label.confidentiality}`),
    ['post public'],
  );
});

const SAYS_AGAIN =
  'raise "no" if:\n    (mail: ToolOutput) -> (answer: Message)\n    mail.content == "the secret"\n    answer.role == "assistant"\n    "again" in answer.content';

test('a resumed session remembers what its rules have seen', async (t) => {
  const stage = stageFor(t, {
    apps: [POSTER],
    policy: SAYS_AGAIN,
    script: {
      planner: [plan([{ app: 'poster' }]), plan([{ app: 'poster' }])],
      poster: [[call('read')], 'it is the secret', 'again: the secret'],
    },
  });
  assert.equal((await stage.ask('read')).answer, 'it is the secret');
  await stage.resume();
  assert.equal((await stage.ask('say it again')).answer, null);
});

test('a resumed session says what no rule forbids, in contexts of other names', async (t) => {
  const stage = stageFor(t, {
    apps: [POSTER],
    policy: SAYS_AGAIN,
    script: {
      planner: [plan([{ app: 'poster' }]), plan([{ app: 'poster' }])],
      poster: [[call('read')], 'it is the secret', 'once more: the secret'],
    },
  });
  await stage.ask('read');
  await stage.resume();
  assert.equal((await stage.ask('say it')).answer, 'once more: the secret');
  const contexts = stage.of('context.created').map(({ context }) => context);
  assert.equal(new Set(contexts).size, contexts.length);
});
