/** What the user has seen and allowed in a question is theirs from then on: rules that ask where a value came from know. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Event, failed, id, toJson } from '@cordon/core';
import { readTrace } from '@cordon/policy-tools';
import { app, NUMBER, serves, shape, TEXT } from '@cordon/testkit/hub/app.ts';
import { no, type Says, yes, yesToWhatIsShown } from '../fixture/consent.ts';
import { call, plan, type Script } from '../fixture/model.ts';
import { stageFor } from '../fixture/stage.ts';

const MAIL = app('mail', { send: 'sent' });
const MAIL_ONLY = plan([{ app: 'mail', uses: ['send'] }]);
const RULE =
  'ask "this goes to somebody you did not name" if:\n    (c: ToolCall)\n    not from_user(c.arguments.to)\n';

const sends = (...to: readonly string[]): Script => ({
  planner: [MAIL_ONLY],
  mail: [...to.map((one) => [call('send', { to: one })]), 'done'],
});

test('who was allowed once is asked about no more, and somebody else is', async (t) => {
  const stage = stageFor(t, {
    apps: [MAIL],
    script: sends('eve@y.org', 'eve@y.org', 'kim@y.org'),
    policy: RULE,
    user: yesToWhatIsShown(),
  });
  await stage.ask('write to them');
  assert.equal(stage.of('permission.asked').length, 2);
  assert.equal(stage.ran.length, 3);
});

test('a yes by rule, which nobody has seen, endorses nothing', async (t) => {
  const stage = stageFor(t, {
    apps: [MAIL],
    script: sends('eve@y.org', 'eve@y.org'),
    policy: RULE,
    user: yes(),
  });
  await stage.ask('write to them');
  assert.equal(stage.of('permission.asked').length, 2);
  assert.equal(stage.ran.length, 2);
});

/** The recipient stands behind the text in what is shown. */
const letter = { body: `Dear all, ${'and so on '.repeat(200)}`, to: 'eve@y.org' };
const LETTERS: Script = {
  planner: [MAIL_ONLY],
  mail: [[call('send', letter)], [call('send', letter)], 'done'],
};

test('a recipient behind the lines that were shown is not endorsed', async (t) => {
  const scene = { apps: [MAIL], script: LETTERS, policy: RULE };
  const cut = stageFor(t, { ...scene, user: yesToWhatIsShown(900) });
  await cut.ask('write to them');
  assert.equal(cut.of('permission.asked').length, 2);
  const whole = stageFor(t, { ...scene, user: yesToWhatIsShown() });
  await whole.ask('write to them');
  assert.equal(whole.of('permission.asked').length, 1);
});

test('a no endorses nothing', async (t) => {
  const stage = stageFor(t, {
    apps: [MAIL],
    script: sends('eve@y.org', 'eve@y.org'),
    policy: RULE,
    user: no(),
  });
  await stage.ask('write to them');
  assert.equal(stage.of('permission.asked').length, 2);
  assert.equal(stage.ran.length, 0);
});

test('whom the user names, nobody asks about', async (t) => {
  const stage = stageFor(t, { apps: [MAIL], script: sends('eve@y.org'), policy: RULE, user: no() });
  await stage.ask('write to Eve@y.org, please');
  assert.equal(stage.of('permission.asked').length, 0);
  assert.equal(stage.ran.length, 1);
});

function journalled(stage: ReturnType<typeof stageFor>): readonly string[] {
  return endorsedIn(stage.allEvents());
}

function endorsedIn(events: readonly Event[]): readonly string[] {
  const read = readTrace(toJson(events), { format: 'cordon-journal' });
  assert.ok(read.ok);
  return read.value.events.flatMap((event) =>
    event.type === 'Endorsement' ? event.values.map(({ value }) => value) : [],
  );
}

test('the journal says what was endorsed, and what nobody has seen is not', async (t) => {
  const scene = { apps: [MAIL], script: sends('eve@y.org'), policy: RULE };
  const seen = stageFor(t, { ...scene, user: yesToWhatIsShown() });
  await seen.ask('write to them');
  assert.ok(journalled(seen).includes('eve@y.org'));
  const unseen = stageFor(t, { ...scene, user: yes() });
  await unseen.ask('write to them');
  assert.deepEqual(journalled(unseen), []);
});

test('in an older journal a grant does not name its question, and one without a grant endorses nothing', async (t) => {
  const stage = stageFor(t, {
    apps: [MAIL],
    script: sends('eve@y.org'),
    policy: RULE,
    user: yesToWhatIsShown(),
  });
  await stage.ask('write to them');
  const older = stage
    .allEvents()
    .map((event) => (event.kind === 'grant.given' ? { ...event, causes: [] } : event));
  assert.ok(endorsedIn(older).includes('eve@y.org'));
  assert.deepEqual(endorsedIn(older.filter(({ kind }) => kind !== 'grant.given')), []);
});

test('a yes for longer than was offered is none, in the journal too', async (t) => {
  const scene = { apps: [MAIL], script: sends('eve@y.org'), policy: RULE };
  const tooLong: Says = async (prompt) => {
    const seen = await yesToWhatIsShown()(prompt);
    return seen.allow ? { ...seen, duration: 'permanent' } : seen;
  };
  const stage = stageFor(t, { ...scene, user: tooLong });
  await stage.ask('write to them');
  assert.equal(stage.ran.length, 0);
  assert.deepEqual(journalled(stage), []);
});

test('a yes that the store does not keep endorses nothing, and the next one does', async (t) => {
  const stage = stageFor(t, {
    apps: [MAIL],
    script: sends('eve@y.org', 'eve@y.org', 'eve@y.org'),
    policy: RULE,
    user: yesToWhatIsShown(),
  });
  const { grants } = stage.store;
  const give = grants.give.bind(grants);
  grants.give = () => {
    grants.give = give;
    return failed({ kind: 'over-already', message: 'm', help: 'h' });
  };
  await stage.ask('write to them');
  assert.equal(stage.of('permission.asked').length, 2);
  assert.equal(stage.ran.length, 2);
  assert.deepEqual(
    journalled(stage).filter((value) => value === 'eve@y.org'),
    ['eve@y.org'],
  );
});

// Attack: a right that was granted to one app makes the path the user's in another one, too.
test('a path that the user granted is theirs in this session, in the resumed one and in the journal', async (t) => {
  const script = sends('/home/me/a.txt', '/home/me/b.txt');
  const stage = stageFor(t, { apps: [MAIL], script: {}, policy: RULE, user: no() });
  stage.session.recordRight(id('other'), { right: 'write', value: '/home/me/a.txt' });
  await stage.ask('write', script);
  assert.deepEqual([stage.ran.length, journalled(stage)], [0, []]);
  stage.session.recordRight(id('mail'), { right: 'write', value: '/home/me/a.txt' });
  await stage.ask('write', script);
  assert.deepEqual([stage.ran.length, journalled(stage)], [1, ['/home/me/a.txt']]);
  await stage.resume();
  await stage.ask('write', script);
  assert.deepEqual([stage.ran.length, journalled(stage)], [2, ['/home/me/a.txt', '/home/me/a.txt']]);
});

const NOTES = app('notes', { read: 'a note' });
const SENDER = app(
  'mail',
  { send: { reply: { structured: { sent: 1 } } } },
  {
    irreversible: ['send'],
    functionalities: [serves('send-mail', 'send', shape({ to: TEXT }), shape({ sent: NUMBER }))],
  },
);
const NOTES_THEN_MAIL = plan([{ app: 'notes' }, { app: 'mail', uses: ['send-mail'], after: [1] }]);

for (const [seen, user, questions] of [
  ['seen by the user is asked about once', yesToWhatIsShown(), 1],
  ['allowed by rule is asked about again where a rule wants it', yes(), 2],
] as const) {
  test(`a request that is one call which cannot be undone, ${seen}`, async (t) => {
    const stage = stageFor(t, {
      apps: [NOTES, SENDER],
      script: { planner: [NOTES_THEN_MAIL], notes: [[call('send-mail', { to: 'eve@y.org' })], 'done'] },
      policy: RULE,
      user,
    });
    await stage.ask('write to them');
    assert.equal(stage.of('permission.asked').length, questions);
    assert.equal(stage.ran.length, 1);
    assert.equal(journalled(stage).includes('eve@y.org'), questions === 1);
  });
}
