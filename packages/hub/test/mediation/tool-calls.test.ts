import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type AppLimits, DEFAULT_APP_LIMITS, type Manifest, REFUSED_TEXT } from '@cordon/core';
import { app, type ScriptedTool, shape, TEXT } from '@cordon/testkit/hub/app.ts';
import { no, yes } from '../fixture/consent.ts';
import { call, type Line, plan } from '../fixture/model.ts';
import { stageFor } from '../fixture/stage.ts';

const APP_ONLY = plan([{ app: 'mail' }]);
const NAMES_SEND = plan([{ app: 'mail', uses: ['read', 'send'] }]);
const NAMES_READ = plan([{ app: 'mail', uses: ['read'] }]);
const READ_THEN_SEND: readonly Line[] = [[call('read')], [call('send', { to: 'ada' })], 'done'];
const hear: Line = ({ results }) => results.join(' ');

const AFTER_FOREIGN_TEXT =
  'the model has read text that others may have written, and the plan does not name this action';

const WARNINGS: readonly {
  readonly when: string;
  readonly planned: string;
  readonly untrusted: readonly string[] | null;
  readonly warnings: readonly string[];
}[] = [
  {
    when: 'untrusted text was read and the plan names the app only',
    planned: APP_ONLY,
    untrusted: ['read'],
    warnings: [AFTER_FOREIGN_TEXT],
  },
  {
    when: 'text of unknown origin was read and the plan names the app only',
    planned: APP_ONLY,
    untrusted: null,
    warnings: [AFTER_FOREIGN_TEXT],
  },
  { when: 'only trusted text was read', planned: APP_ONLY, untrusted: [], warnings: [] },
  { when: 'the plan names the action', planned: NAMES_SEND, untrusted: ['read'], warnings: [] },
  {
    when: 'the plan names other actions only',
    planned: NAMES_READ,
    untrusted: [],
    warnings: ['you did not ask for this: it is not part of the plan for your query'],
  },
];

for (const { when, planned, untrusted, warnings } of WARNINGS) {
  test(`an action that cannot be undone comes with ${warnings.length} warnings when ${when}`, async (t) => {
    const mail = app('mail', { read: 'please send', send: 'sent' }, { irreversible: ['send'], untrusted });
    const stage = stageFor(t, {
      apps: [mail],
      script: { planner: [planned], mail: READ_THEN_SEND },
      user: no(),
    });
    await stage.ask('read my mail and answer ada');
    assert.deepEqual(
      stage.user.asked.map((prompt) => prompt.warnings),
      [warnings],
    );
    assert.deepEqual(stage.ran, ['mail.read {}']);
  });
}

const UNDOABLE: readonly {
  readonly what: string;
  readonly annotations: ScriptedTool['annotations'];
  readonly irreversible: Manifest['irreversible'];
  readonly asks: boolean;
}[] = [
  { what: 'listed in the manifest', annotations: {}, irreversible: ['send'], asks: true },
  { what: 'not listed in the manifest', annotations: {}, irreversible: [], asks: false },
  {
    what: 'listed, though the app says it only reads',
    annotations: { readOnlyHint: true },
    irreversible: ['send'],
    asks: true,
  },
  {
    what: 'not listed, though the app says it destroys',
    annotations: { destructiveHint: true },
    irreversible: [],
    asks: true,
  },
  {
    what: 'not listed, and the app says it does not destroy',
    annotations: { destructiveHint: false },
    irreversible: [],
    asks: false,
  },
  { what: 'of a silent manifest', annotations: {}, irreversible: null, asks: true },
  {
    what: 'of a silent manifest, and the app says it only reads',
    annotations: { readOnlyHint: true },
    irreversible: null,
    asks: false,
  },
];

for (const { what, annotations, irreversible, asks } of UNDOABLE) {
  test(`a tool ${what} is ${asks ? '' : 'not '}asked about`, async (t) => {
    const mail = app(
      'mail',
      { send: { reply: 'sent', ...(annotations && { annotations }) } },
      { irreversible },
    );
    const stage = stageFor(t, {
      apps: [mail],
      script: { planner: [APP_ONLY], mail: [[call('send')], 'done'] },
      user: yes(),
    });
    await stage.ask('send it');
    assert.equal(stage.questions.length, asks ? 1 : 0);
    assert.deepEqual(stage.ran, ['mail.send {}']);
  });
}

for (const [listed, integrity, confidentiality] of [
  [{ untrusted: [], private: [] }, 'trusted', 'public'],
  [{ untrusted: ['read'], private: [] }, 'untrusted', 'public'],
  [{ untrusted: [], private: ['read'] }, 'trusted', 'private'],
  [{ untrusted: null, private: null }, 'untrusted', 'private'],
] as const) {
  test(`output is ${integrity} and ${confidentiality} where the manifest says ${JSON.stringify(listed)}`, async (t) => {
    const stage = stageFor(t, {
      apps: [app('mail', { read: 'hello' }, listed)],
      script: { planner: [APP_ONLY], mail: [[call('read')], 'done'] },
    });
    await stage.ask('read');
    assert.deepEqual(stage.of('tool-output.proposed')[0]?.label, { integrity, confidentiality });
    assert.equal(stage.of('answer.proposed')[0]?.label.integrity, integrity);
  });
}

test('what a tool answers to untrusted arguments is untrusted, whatever its manifest says', async (t) => {
  const mail = app(
    'mail',
    { read: 'evil', echo: { reply: ({ text }) => String(text) } },
    { untrusted: ['read'] },
  );
  const stage = stageFor(t, {
    apps: [mail],
    script: {
      planner: [APP_ONLY],
      mail: [[call('read')], ({ results: [text = ''] }) => [call('echo', { text })], 'done'],
    },
  });
  await stage.ask('read');
  assert.equal(stage.of('tool-output.proposed')[1]?.label.integrity, 'untrusted');
});

test('a tool that the context does not have is not called, and the model learns it', async (t) => {
  const stage = stageFor(t, {
    apps: [app('mail', { read: 'hello' }), app('notes', { erase: 'gone' })],
    script: { planner: [APP_ONLY], mail: [[call('erase'), call('notes__erase')], hear] },
    user: yes(),
  });
  assert.equal((await stage.ask('x')).answer, 'there is no tool `erase` there is no tool `notes__erase`');
  assert.deepEqual([stage.ran, stage.questions], [[], []]);
});

test('arguments that do not fit are told to the model, and neither asked nor run', async (t) => {
  const mail = app(
    'mail',
    { send: { input: shape({ to: TEXT }), reply: 'sent' } },
    { irreversible: ['send'] },
  );
  const stage = stageFor(t, {
    apps: [mail],
    script: { planner: [APP_ONLY], mail: [[call('send', { to: 7 })], hear] },
    user: yes(),
  });
  assert.equal((await stage.ask('send')).answer, 'the arguments do not fit: /to must be string');
  assert.deepEqual([stage.ran, stage.questions], [[], []]);
});

test('after a refusal the model can go on', async (t) => {
  const mail = app('mail', { send: 'sent' }, { irreversible: ['send'] });
  const stage = stageFor(t, {
    apps: [mail],
    script: { planner: [APP_ONLY], mail: [[call('send')], ({ results }) => `It was ${results[0]}.`] },
    user: no(),
  });
  assert.equal((await stage.ask('send')).answer, `It was ${REFUSED_TEXT}.`);
});

for (const [how, reply] of [
  ['an error of the tool', { text: 'no such folder', isError: true }],
  ['an error of the protocol', { error: 'no such folder' }],
] as const) {
  test(`the app’s own words about ${how} reach its model, and the query goes on`, async (t) => {
    const stage = stageFor(t, {
      apps: [app('mail', { read: { reply } })],
      script: { planner: [APP_ONLY], mail: [[call('read')], hear] },
    });
    const { kind, answer } = await stage.ask('read');
    assert.equal(kind, 'answered');
    assert.match(answer ?? '', /no such folder/);
  });
}

interface Ending {
  readonly what: string;
  readonly tool: ScriptedTool;
  readonly limits?: Partial<AppLimits>;
  readonly reason: string;
}

const ENDS: readonly Ending[] = [
  {
    what: 'crashes',
    tool: { reply: { crash: 'it ended with code 1' } },
    reason: '`mail` ended during `read`',
  },
  {
    what: 'does not answer',
    tool: { reply: { silence: true } },
    // Also for the call after it, which a busy machine has to answer in time.
    limits: { callSeconds: 2 },
    reason: '`mail` did not answer `read` within 2 s and was stopped',
  },
];

for (const { what, tool, reason, limits } of ENDS) {
  test(`an app that ${what} ends the query, and the next one works`, async (t) => {
    let calls = 0;
    const fragile: ScriptedTool = {
      reply: () => (++calls === 1 && typeof tool.reply === 'object' ? tool.reply : 'hello'),
    };
    const mail = app('mail', { read: fragile }, { limits: { ...DEFAULT_APP_LIMITS, ...limits } });
    const script = { planner: [APP_ONLY], mail: [[call('read')]] };
    const stage = stageFor(t, { apps: [mail], script });
    const first = await stage.ask('read');
    assert.deepEqual([first.kind, first.answer, first.reason], ['failed', null, reason]);
    const second = await stage.ask('read', { ...script, mail: [[call('read')], hear] });
    assert.deepEqual([second.kind, second.answer], ['answered', 'hello']);
    assert.equal(stage.of('app.started').length, 2);
  });
}
