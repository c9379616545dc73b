/** A query in which an app asks for data, killed at every step of its journal and gone on with: what was typed is not typed again. */
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import type { Event } from '@cordon/core';
import { sampled } from '../../../../tools/cases.ts';
import { assertSound } from '../fault/judge.ts';
import { type Death, effectsIn, isForm, Killed, openIn, raiseRig } from '../fault/rig.ts';
import { NEED, type Scenario } from '../fault/scenario.ts';
import { quickFolder } from '../fixture/empty-store.ts';

/** It asks for a name and an e-mail address, and then reads. */
const SCENARIO: Scenario = {
  apps: [{ name: 'amber', tools: [{ name: 'amber-read', irreversible: false }], serves: [] }],
  queries: [
    {
      text: 'do q0',
      apps: ['amber'],
      tasks: [],
      isCoordinated: false,
      candidates: [],
      rounds: { 'amber/q0': [[{ name: NEED, n: 0 }], [{ name: 'amber-read', n: 1 }]] },
    },
  ],
  repeats: false,
  grants: 'once',
};

const { signal } = new AbortController();

/** Asks, or goes on; null: the hub was killed on the way. */
async function live(folder: string, death: Death | null, scenario = SCENARIO) {
  const end = () => {
    throw new Killed('the hub was killed');
  };
  const rig = raiseRig({ folder, scenario, death, end });
  const session = openIn(rig);
  try {
    const isNew = rig.store.journal.events(session.id).every(({ kind }) => kind !== 'user.message');
    const outcome = await (isNew ? session.ask('do q0', signal) : session.resume(signal));
    const facts = rig.store.memory({ kind: 'system' }).facts();
    const told = facts.map(({ name, value, origin }) => [name, value, origin]);
    const ended = rig.store
      .memory({ kind: 'system' })
      .recent(session.id, 1)
      .map(({ text }) => text);
    return { outcome, told, ended, events: rig.store.journal.events(session.id) };
  } catch (error) {
    if (!(error instanceof Killed)) throw error;
    return null;
  } finally {
    await session.close('suspend').catch(() => undefined);
    rig.store.close();
  }
}

function folderFor(t: TestContext): string {
  const folder = quickFolder();
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function formsIn(events: readonly Event[]): number {
  return events.filter((event) => event.kind === 'permission.asked' && isForm(event.prompt)).length;
}

/** Of the steps at which a hub can be killed, the sample tries every third. */
const isTried = (_: Event, index: number) => index % 3 === 0;

/** Events between which an answer stands in the journal, and not yet what was decided upon it. */
const BETWEEN: ReadonlySet<string> = new Set(['permission.answered', 'grant.given']);

test('what the user typed before the hub was killed is not asked for again', async (t) => {
  const whole = await live(folderFor(t), null);
  assert.ok(whole !== null);
  assert.equal(whole.outcome.answer, 'done 1');
  assert.equal(formsIn(whole.events), 1);
  const steps = whole.events.slice(
    0,
    whole.events.findIndex(({ kind }) => kind === 'query.ended'),
  );
  const asked = steps.findIndex(({ kind }) => kind === 'permission.asked');
  const said = steps.findIndex(({ kind }) => kind === 'user.message');
  for (const step of sampled(steps.slice(said + 1), isTried)) {
    const folder = folderFor(t);
    assert.equal(await live(folder, { of: 'hub', at: step.sequence + 1, when: 'after' }), null, step.kind);
    const goneOn = await live(folder, null);
    assert.ok(goneOn !== null, step.kind);
    const at = `${step.sequence} ${step.kind}`;
    assert.equal(goneOn.outcome.answer, 'done 1', at);
    assert.deepEqual(
      goneOn.told,
      [
        ['e-mail', 'ada@example.org', 'amber'],
        ['name', 'Ada Lovelace', 'amber'],
      ],
      at,
    );
    const isAskedAgain = step.sequence === steps[asked]?.sequence || BETWEEN.has(step.kind);
    assert.equal(formsIn(goneOn.events), isAskedAgain ? 2 : 1, at);
    assertSound(goneOn.events, effectsIn(folder));
  }
});

test('a query that asked for data is remembered as that, wherever its hub was killed', async (t) => {
  const keeping: Scenario = { ...SCENARIO, keepsData: true };
  const whole = await live(folderFor(t), null, keeping);
  assert.deepEqual(whole?.ended, ['do q0', 'asked for data']);
  const said = whole.events.findIndex(({ kind }) => kind === 'user.message');
  const end = whole.events.findIndex(({ kind }) => kind === 'query.ended');
  for (const step of sampled(whole.events.slice(said + 1, end), isTried)) {
    const folder = folderFor(t);
    const death: Death = { of: 'hub', at: step.sequence + 1, when: 'after' };
    assert.equal(await live(folder, death, keeping), null, step.kind);
    const goneOn = await live(folder, null, keeping);
    const at = `${step.sequence} ${step.kind}`;
    assert.deepEqual(goneOn?.ended, ['do q0', 'asked for data'], at);
    const ends = goneOn.events.flatMap((event) => (event.kind === 'query.ended' ? [event.asksForData] : []));
    assert.deepEqual(ends, [true], at);
    assertSound(goneOn.events, effectsIn(folder));
  }
});
