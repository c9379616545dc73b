/** Keeps what a monitor hears, as rules see it. */
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { test } from 'node:test';
import { type Event, type Proposal, toJson } from '@cordon/core';
import { type EventPlace, factEvent, type HubFact, proposalEvent, ReferenceMonitor } from '@cordon/monitor';
import { emptyPolicy, type TraceEvent } from '@cordon/policy';
import { readTrace } from '@cordon/policy-tools';
import { replay } from '../../src/journal/replay.ts';
import { Killed, openIn, play, raiseRig } from '../fault/rig.ts';
import { Chance, scenarioOf } from '../fault/scenario.ts';
import { quickFolder } from '../fixture/empty-store.ts';

class Ear extends ReferenceMonitor {
  readonly heard: TraceEvent[] = [];

  constructor() {
    super({ policy: emptyPolicy() });
  }

  override record(fact: HubFact, place: EventPlace): void {
    this.heard.push(factEvent(fact, place));
  }

  override happened(proposal: Proposal, place: EventPlace): void {
    this.heard.push(proposalEvent(proposal, place));
  }
}

/** Without where it stands in a file, which only recordings have, and in an order of keys that means nothing. */
function asSeen(event: TraceEvent): unknown {
  const { path: _path, parts: _parts, ...seen } = event;
  return toJson(seen);
}

test('a resumed monitor is told what readers of a recorded journal see', async (t) => {
  for (let seed = 1; seed <= 8; seed++) {
    const folder = quickFolder();
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    const scenario = scenarioOf(new Chance(seed));
    const end = () => {
      throw new Killed('nobody is killed here');
    };
    const rig = raiseRig({ folder, scenario, death: null, end });
    const session = openIn(rig);
    await play(session, scenario, 0);
    await session.close('end');
    const events: readonly Event[] = rig.store.journal.events(session.id);
    rig.store.close();

    const ear = new Ear();
    replay(events, ear);
    const read = readTrace(toJson(events), { format: 'cordon-journal' });
    assert.ok(read.ok);
    assert.deepEqual(ear.heard.map(asSeen), read.value.events.map(asSeen), `seed ${seed}`);
  }
});
