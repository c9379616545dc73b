import assert from 'node:assert/strict';
import { cpSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { type Event, id, USER_LABEL } from '@cordon/core';
import { modelOfQuery } from '../../src/journal/interruption.ts';
import { ResumeCursor } from '../../src/journal/resume-cursor.ts';
import { type Death, effectsIn, Killed, openIn, type Rig, raiseRig } from '../fault/rig.ts';
import type { Scenario } from '../fault/scenario.ts';
import { quickFolder } from '../fixture/empty-store.ts';

/** One app that reads and then sends, once each. */
const SCENARIO: Scenario = {
  apps: [
    {
      name: 'amber',
      tools: [
        { name: 'amber-read', irreversible: false },
        { name: 'amber-send', irreversible: true },
      ],
      serves: [],
    },
  ],
  queries: [
    {
      text: 'do q0',
      apps: ['amber'],
      tasks: [],
      isCoordinated: false,
      candidates: [],
      rounds: { 'amber/q0': [[{ name: 'amber-read', n: 1 }], [{ name: 'amber-send', n: 2 }]] },
    },
  ],
  repeats: false,
  grants: 'session',
};

const { signal } = new AbortController();

function folderFor(t: TestContext): string {
  const folder = quickFolder();
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function rigIn(folder: string, scenario: Scenario, death: Death | null): Rig {
  const end = () => {
    throw new Killed('the hub was killed');
  };
  return raiseRig({ folder, scenario, death, end });
}

/** Asks the query in a hub that ends when the `count`-th event of this kind is recorded, before or after. */
async function killAt(folder: string, kind: Event['kind'], when: Death['when'], count = 1): Promise<void> {
  const dry = quickFolder();
  const whole = rigIn(dry, SCENARIO, null);
  const session = openIn(whole);
  await session.ask('do q0', signal);
  const events = whole.store.journal.events(session.id);
  await session.close('end');
  whole.store.close();
  rmSync(dry, { recursive: true, force: true });
  const found = events.filter((event) => event.kind === kind)[count - 1] ?? assert.fail(`no ${kind}`);

  const rig = rigIn(folder, SCENARIO, { of: 'hub', at: found.sequence + 1, when });
  const mortal = openIn(rig);
  await assert.rejects(mortal.ask('do q0', signal), Killed);
  await mortal.close('suspend').catch(() => undefined);
  rig.store.close();
}

async function goneOn(t: TestContext, folder: string, scenario = SCENARIO) {
  const rig = rigIn(folder, scenario, null);
  const before = rig.store.sessions.list()[0]?.events ?? 0;
  const session = openIn(rig);
  t.after(async () => {
    await session.close('end');
    rig.store.close();
  });
  const { unfinished } = session;
  const outcome = await session.resume(signal);
  const events = rig.store.journal.events(session.id);
  return { rig, session, unfinished, outcome, events, later: events.slice(before) };
}

function kinds(events: readonly Event[], prefix: string): readonly string[] {
  return events.flatMap(({ kind }) => (kind.startsWith(prefix) ? [kind] : []));
}

test('what is finished is neither decided, asked nor called again', async (t) => {
  const folder = folderFor(t);
  await killAt(folder, 'answer.proposed', 'before');
  const { unfinished, outcome, later, rig } = await goneOn(t, folder);
  assert.equal(unfinished?.text, 'do q0');
  assert.equal(unfinished.finished, 2);
  assert.deepEqual(outcome, { kind: 'answered', answer: 'done 1 2', reason: null, help: null });
  assert.deepEqual(kinds(later, 'tool-call'), []);
  assert.deepEqual(kinds(later, 'model'), []);
  assert.deepEqual(kinds(later, 'permission'), []);
  assert.equal(rig.counts.provider, 0, 'no model was asked');
  assert.deepEqual(
    effectsIn(folder).map(({ n }) => n),
    [1, 2],
  );
});

test('the events of before stay where they are, and the same context goes on', async (t) => {
  const folder = folderFor(t);
  await killAt(folder, 'model-call.proposed', 'before', 3);
  const { events, later } = await goneOn(t, folder);
  const created = events.filter((event) => event.kind === 'context.created' && event.of === 'standard');
  assert.equal(created.length, 1);
  const [model] = later.filter(({ kind }) => kind === 'model-call.proposed');
  assert.equal(model?.context, created[0]?.context);
  assert.equal(events.filter(({ kind }) => kind === 'user.message').length, 1);
});

test('a call that was allowed and has no outcome is in doubt, and not made again without a yes to the doubt', async (t) => {
  const folder = folderFor(t);
  await killAt(folder, 'tool-call.executed', 'before', 2);
  assert.equal(effectsIn(folder).length, 2, 'it did take effect');
  const { rig, session, outcome, later } = await goneOn(t, folder);
  const [doubt] = later.filter((event) => event.kind === 'tool-call.in-doubt');
  assert.deepEqual(doubt?.fault, {
    kind: 'interrupted',
    message: 'the hub ended before the outcome was recorded',
    outcome: 'unknown',
  });
  // A permission for the session had been given: it does not cover the doubt.
  assert.equal(rig.doubts.length, 1);
  assert.match(rig.doubts[0]?.warnings[0] ?? '', /^This very call was made before, and it is not known/);
  assert.deepEqual(rig.doubts[0]?.durations, ['once']);
  assert.equal(outcome.kind, 'refused');
  assert.equal(effectsIn(folder).length, 2);
  assert.equal(session.inDoubt.length, 1, 'nobody knows still');
});

test('with that yes it is made again, once, and is in doubt no more', async (t) => {
  const folder = folderFor(t);
  await killAt(folder, 'tool-call.executed', 'before', 2);
  const { session, outcome } = await goneOn(t, folder, { ...SCENARIO, repeats: true });
  assert.equal(outcome.kind, 'answered');
  assert.deepEqual(
    effectsIn(folder).map(({ n }) => n),
    [1, 2, 2],
  );
  assert.deepEqual(session.inDoubt, []);
});

test('a call that can be undone and has no outcome is made again without a question', async (t) => {
  const folder = folderFor(t);
  await killAt(folder, 'tool-call.executed', 'before', 1);
  const { rig, outcome, later } = await goneOn(t, folder);
  assert.equal(outcome.kind, 'answered');
  assert.deepEqual(rig.doubts, []);
  assert.deepEqual(kinds(later, 'tool-call').slice(0, 2), ['tool-call.failed', 'tool-call.proposed']);
});

test('a call that was proposed and not decided is decided now, as the same proposal', async (t) => {
  const folder = folderFor(t);
  await killAt(folder, 'tool-call.proposed', 'after', 2);
  const { outcome, events } = await goneOn(t, folder);
  assert.equal(outcome.kind, 'answered');
  const sends = events.filter((event) => event.kind === 'tool-call.proposed' && event.tool === 'amber-send');
  assert.equal(sends.length, 1);
});

test('a context whose prompt is another leaves the journal behind: nothing recorded is used for what was not recorded', async (t) => {
  const folder = folderFor(t);
  await killAt(folder, 'answer.proposed', 'before');
  const [amber] = SCENARIO.apps;
  assert.ok(amber !== undefined);
  // A tool that the app did not have makes every prompt of its context another one.
  const tools = [...amber.tools, { name: 'amber-new', irreversible: false }];
  const { rig, outcome, later } = await goneOn(t, folder, { ...SCENARIO, apps: [{ ...amber, tools }] });
  assert.ok(rig.counts.provider > 0, 'the model was asked anew');
  assert.deepEqual(
    later.flatMap((event) => (event.kind === 'tool-call.proposed' ? [event.tool] : [])),
    ['amber-read', 'amber-send'],
  );
  assert.match(rig.doubts[0]?.warnings[0] ?? '', /carried out in this query before it was interrupted/);
  assert.equal(outcome.kind, 'refused');
  assert.deepEqual(
    effectsIn(folder).map(({ n }) => n),
    [1, 2, 1],
    'what can be undone is read again, what cannot is not done',
  );
});

test('an answer that was given is given again, and nothing else happens', async (t) => {
  const folder = folderFor(t);
  await killAt(folder, 'query.ended', 'before');
  const { outcome, later } = await goneOn(t, folder);
  assert.equal(outcome.answer, 'done 1 2');
  assert.equal(later.at(-1)?.kind, 'query.ended');
  assert.deepEqual(kinds(later, 'model'), []);
  assert.deepEqual(kinds(later, 'tool'), []);
});

test('another query gives an unfinished one up, and the journal says so', async (t) => {
  const folder = folderFor(t);
  await killAt(folder, 'tool-call.executed', 'after', 1);
  const rig = rigIn(folder, SCENARIO, null);
  const session = openIn(rig);
  t.after(async () => {
    await session.close('end');
    rig.store.close();
  });
  await session.ask('do q0', signal);
  const ended = rig.store.journal.events(session.id).filter((event) => event.kind === 'query.ended');
  assert.deepEqual(
    ended.map(({ outcome, reason }) => [outcome, reason]),
    [
      ['cancelled', 'it was interrupted, and another query was asked'],
      ['answered', null],
    ],
  );
  assert.equal(session.unfinished, null);
  await assert.rejects(session.resume(signal), /no interrupted query to resume/);
});

test('a query that failed is gone on with in the same process too', async (t) => {
  const folder = folderFor(t);
  const rig = rigIn(folder, SCENARIO, { of: 'provider', at: 3, when: 'before' });
  const session = openIn(rig);
  t.after(async () => {
    await session.close('end');
    rig.store.close();
  });
  const failed = await session.ask('do q0', signal);
  assert.equal(failed.kind, 'failed');
  assert.equal(session.unfinished?.ended, 'failed');
  const { kind, answer } = await session.resume(signal);
  assert.deepEqual([kind, answer], ['answered', 'done 1 2']);
  assert.deepEqual(
    effectsIn(folder).map(({ n }) => n),
    [1, 2],
  );
});

test('a query tells the model that was in use, and is the same query under another one', async (t) => {
  const rig = rigIn(folderFor(t), SCENARIO, { of: 'provider', at: 3, when: 'before' });
  const session = openIn(rig);
  t.after(async () => {
    await session.close('end');
    rig.store.close();
  });
  const choose = (modelId: string) => session.useModel({ modelId, summaries: 'extract', facts: 'patterns' });
  choose('scripted/large');
  await session.ask('do q0', signal);
  choose('scripted/small');
  assert.equal(session.unfinished?.model, 'scripted/large');
  await session.resume(signal);
  const told = rig.store.journal
    .events(session.id)
    .flatMap((event) =>
      event.kind === 'user.message' || event.kind === 'query.resumed' ? [[event.kind, event.model]] : [],
    );
  assert.deepEqual(told, [
    ['user.message', 'scripted/large'],
    ['query.resumed', 'scripted/small'],
  ]);
});

test('the words of a query are found again in a journal that tells no model, and other words are not', () => {
  const frame = { context: null, app: null, causes: [], label: USER_LABEL, sequence: 0, time: 0 };
  const said: Event = {
    ...frame,
    id: id('e0'),
    session: id('s'),
    kind: 'user.message',
    text: 'do q0',
  };
  const found = (text: string) =>
    new ResumeCursor([said], new Map()).find(null, { kind: 'user.message', text, model: 'a/b' }, []);
  assert.equal(found('do q0'), said);
  assert.equal(found('do q1'), null);
  assert.equal(modelOfQuery({ said, events: [said], ended: null }), null);
});

test('a session whose journal was changed is not gone on with', async (t) => {
  const folder = folderFor(t);
  await killAt(folder, 'tool-call.executed', 'after', 1);
  const database = new DatabaseSync(join(folder, 'store', 'cordon.db'));
  database.exec('DROP TRIGGER events_are_never_changed');
  database.exec(`UPDATE events SET event = replace(event, 'amber-read', 'amber-send')`);
  database.close();
  const rig = rigIn(folder, SCENARIO, null);
  t.after(() => rig.store.close());
  assert.throws(
    () => openIn(rig),
    /the journal of the session `\w+` was changed: the event or its hash was changed/,
  );
});

/**
 * A hub that is killed when the sending is done, and whose journal then is what it was when the sending was about to be
 * proposed: the newest part of the log was lost. Only what was acknowledged says that there was more.
 */
async function sentAndLost(folder: string): Promise<void> {
  const store = join(folder, 'store');
  const files = ['cordon.db', 'cordon.db-wal'];
  const rig = rigIn(folder, SCENARIO, null);
  let kept = false;
  const stop = new AbortController();
  rig.store.journal.subscribe((event) => {
    if (event.kind === 'tool-output.decided' && !kept) {
      kept = true;
      for (const file of files) cpSync(join(store, file), join(folder, file));
    }
    if (event.kind === 'tool-call.executed' && kept) stop.abort();
  });
  const session = openIn(rig);
  await session.ask('do q0', stop.signal);
  await session.close('suspend');
  rig.store.close();
  for (const file of files) cpSync(join(folder, file), join(store, file));
  for (const file of readdirSync(store)) if (file.endsWith('-shm')) rmSync(join(store, file));
}

function sent(folder: string): number {
  return effectsIn(folder).filter(({ tool }) => tool === 'amber-send').length;
}

for (const repeats of [false, true]) {
  test(`a journal that lost a call is told, and the call is ${repeats ? 'made again only because' : 'not made again unless'} the user says so`, async (t) => {
    const folder = folderFor(t);
    await sentAndLost(folder);
    assert.equal(sent(folder), 1);
    const rig = rigIn(folder, { ...SCENARIO, repeats }, null);
    const [record] = rig.store.sessions.list();
    const resume = record?.id ?? assert.fail();
    const events = rig.store.journal.events(resume);
    assert.equal(
      events.some((event) => event.kind === 'tool-call.proposed' && event.tool === 'amber-send'),
      false,
    );
    const options = { isolation: 'spokes', notices: [], resume } as const;
    const refused = rig.hub.openSession(options);
    assert.equal(refused.ok ? null : refused.fault.kind, 'session-shortened');
    assert.equal(rig.store.journal.events(resume).length, events.length);
    const opened = rig.hub.openSession({ ...options, acceptsLoss: true });
    const session = opened.ok ? opened.value : assert.fail();
    t.after(async () => {
      await session.close('end');
      rig.store.close();
    });
    await session.resume(signal);
    assert.equal(rig.doubts.length >= 1, true);
    assert.match(rig.doubts[0]?.warnings[0] ?? '', /^Events of this session were lost/);
    assert.equal(sent(folder), repeats ? 2 : 1);
    const resumed = rig.store.journal.events(resume).find(({ kind }) => kind === 'session.resumed');
    assert.ok(resumed?.kind === 'session.resumed' && (resumed.lost ?? 0) > 0);
  });
}
