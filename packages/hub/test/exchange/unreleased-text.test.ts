/** What an app can find out of a text that it holds and nobody has released to it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { app, serves, shape, TEXT } from '@cordon/testkit/hub/app.ts';
import { no, yes } from '../fixture/consent.ts';
import { call, type Line, plan } from '../fixture/model.ts';
import { type Scene, stageFor } from '../fixture/stage.ts';

const SECRET = 'the pin is 4711';
const MAIL = app(
  'mail',
  { read: { reply: { structured: { text: SECRET } } } },
  {
    functionalities: [serves('newest-mail', 'read', shape({}), shape({ text: TEXT }))],
    private: null,
    untrusted: null,
  },
);
const PLANNED = plan([{ app: 'notes' }, { app: 'mail', uses: ['newest-mail'], after: [1] }]);
const hear: Line = ({ results }) => results.join(' ');

/** `notes` has a tool whose schema says of its text what it must look like, and of another that it cannot be. */
function guessing(pattern: string): Scene {
  const notes = app('notes', {
    guess: {
      input: shape({ text: { type: 'string', pattern }, never: { type: 'string', pattern: '^never$' } }),
      reply: 'kept',
    },
  });
  return {
    apps: [notes, MAIL],
    user: no(),
    script: {
      planner: [PLANNED],
      notes: [[call('newest-mail')], [call('guess', { text: '$1', never: '' })], hear],
    },
  };
}

test('a schema of an app’s own tool finds nothing out of a text that was not released to it', async (t) => {
  const right = stageFor(t, guessing('4711'));
  const wrong = stageFor(t, guessing('0815'));
  const [hit, miss] = [await right.ask('keep my newest mail'), await wrong.ask('keep my newest mail')];
  assert.equal(hit.answer, 'refused: not permitted');
  assert.equal(miss.answer, 'refused: not permitted');
  assert.deepEqual(right.questions, ['Give `notes` text that came from `mail`?']);
  assert.deepEqual(wrong.questions, right.questions);
});

test('once it was released the app is told what does not fit, and the context has read of it', async (t) => {
  const stage = stageFor(t, { ...guessing('0815'), user: yes() });
  const { answer } = await stage.ask('keep my newest mail');
  assert.match(answer ?? '', /^the arguments do not fit: \/text must match pattern/);
  assert.deepEqual(stage.ran, ['mail.read {}']);
  assert.deepEqual(
    stage
      .of('tool-output.proposed')
      .map(({ tool, label }) => `${tool} ${label.integrity} ${label.confidentiality}`),
    ['read untrusted private', 'guess untrusted private'],
  );
});

test('arguments without a text of others are checked before anybody is asked', async (t) => {
  const stage = stageFor(t, {
    ...guessing('4711'),
    script: { planner: [PLANNED], notes: [[call('guess', { text: 'mine', never: '' })], hear] },
  });
  const { answer } = await stage.ask('keep it');
  assert.match(answer ?? '', /^the arguments do not fit: /);
  assert.deepEqual(stage.questions, []);
});

/** `notes` asks `calendar` so often to keep the text of the mail, in a form that has a pattern. */
function asking(pattern: string, times: number): Scene {
  const form = shape({ text: { type: 'string', pattern } });
  const calendar = app(
    'calendar',
    { keep: { input: shape({ text: TEXT }), reply: 'kept' } },
    { functionalities: [serves('keep-note', 'keep', form, shape({ text: TEXT }))] },
  );
  const asks = Array.from({ length: times }, () => call('keep-note', { text: '$1' }));
  return {
    apps: [app('notes', { list: 'a note' }), calendar, MAIL],
    user: no(),
    script: {
      planner: [
        plan([
          { app: 'notes' },
          { app: 'mail', uses: ['newest-mail'], after: [1] },
          { app: 'calendar', uses: ['keep-note'], after: [1] },
        ]),
      ],
      notes: [[call('newest-mail')], asks, hear],
    },
  };
}

test('that a text of another app does not fit a form is all that is told of it before it is released', async (t) => {
  const wrong = await stageFor(t, asking('^the pin is 0815$', 1)).ask('keep my newest mail');
  assert.equal(wrong.answer, 'malformed: it does not fit its format');
  const right = stageFor(t, asking('^the pin is 4711$', 1));
  await right.ask('keep my newest mail');
  assert.equal(right.questions.length, 1);
});

const NUMBER = { type: 'number' } as const;
for (const [numbers, answer, what, kind] of [
  [shape({ a: NUMBER, b: NUMBER, c: NUMBER }), '{"a":1,"b":2,"c":3}', 'three numbers', 'request.refused'],
  [shape({ a: NUMBER, b: NUMBER }), '{"a":1,"b":2}', 'two numbers', 'message.dropped'],
] as const) {
  test(`whether it fits counts with what readers tell: after ${what} there is a \`${kind}\``, async (t) => {
    const scene = asking('^the pin is 0815$', 1);
    const [first = [], ...others] = scene.script.notes ?? [];
    const stage = stageFor(t, {
      ...scene,
      script: {
        ...scene.script,
        notes: [first, [call('read', { ref: '$1', schema: numbers })], ...others],
        reader: [answer],
      },
    });
    await stage.ask('keep my newest mail');
    assert.equal(
      stage
        .of('request.refused', 'message.dropped')
        .map((event) => event.kind)
        .join(),
      kind,
    );
    assert.deepEqual(stage.questions, []);
  });
}
