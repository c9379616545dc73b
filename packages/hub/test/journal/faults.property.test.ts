/**
 * Fault injection: generated sessions, in which hub, apps, agent loops and the model's provider are ended at generated
 * steps, and which are gone on with. Nothing that was acknowledged is lost, no finished step is repeated, and no call that
 * cannot be undone is made again unless the user says so.
 *
 * The seed is printed; `CORDON_SEED` repeats a run, `CORDON_CASES=all` (`npm run faults`) ends the hub at every step.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { type Event, type Json, toJson } from '@cordon/core';
import { ReferenceMonitor } from '@cordon/monitor';
import type { TraceEvent } from '@cordon/policy';
import { isLeftOut, runs } from '../../../../tools/cases.ts';
import { SEED } from '../../../../tools/seed.ts';
import { replay } from '../../src/journal/replay.ts';
import { listeningPolicy } from '../fault/heard.ts';
import { assertDoubts, assertInstalledOnce, assertKept, assertLearnt, assertSound } from '../fault/judge.ts';
import {
  askedIn,
  type Death,
  effectsIn,
  installationsIn,
  Killed,
  openIn,
  play,
  playedIn,
  type Rig,
  type RigOptions,
  raiseRig,
} from '../fault/rig.ts';
import {
  Chance,
  type Scenario,
  scenarioOf,
  statingFacts,
  withInstalls,
  withNeeds,
} from '../fault/scenario.ts';
import { quickFolder } from '../fixture/empty-store.ts';

const IS_ALL = process.env.CORDON_CASES === 'all';
const SCENARIOS = runs(2, 3, 12);
const DEATHS_EACH = 6;
const PROCESSES = runs(1, 2, 40);

function folderFor(t: TestContext): string {
  const folder = quickFolder();
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** The hub's background work collects its failures: each of them must be the kill. */
function isKilled(error: unknown): boolean {
  return error instanceof AggregateError ? error.errors.every(isKilled) : error instanceof Killed;
}

/** One life of the hub: until it is killed, or all is done. */
async function live(options: Omit<RigOptions, 'end'>, judge: (rig: Rig) => void): Promise<Rig> {
  const end = () => {
    throw new Killed('the hub was killed');
  };
  const rig = raiseRig({ ...options, end });
  let session: ReturnType<typeof openIn> | null = null;
  try {
    const asked = askedIn(rig);
    session = openIn(rig);
    judge(rig);
    await play(session, options.scenario, asked);
    await session.close('end');
    session = null;
  } catch (error) {
    if (!isKilled(error)) throw error;
  } finally {
    await session?.close('suspend').catch(() => undefined);
    rig.store.close();
  }
  return rig;
}

/** What the journal and the apps have when nobody is at it. */
function look(folder: string, scenario: Scenario) {
  const rig = raiseRig({ folder, scenario, death: null, end: () => assert.fail() });
  const record = playedIn(rig.store);
  const events = record === undefined ? [] : rig.store.journal.events(record.id);
  return { rig, events, close: () => rig.store.close() };
}

/** Lives one life after the other, the last until the end, and judges what is left after each. */
async function endure(
  t: TestContext,
  scenario: Scenario,
  deaths: readonly (Death | null)[],
  first?: (folder: string) => Promise<void>,
): Promise<Rig['counts']> {
  const folder = folderFor(t);
  await first?.(folder);
  let last: Rig | null = null;
  for (const death of [...deaths, null]) {
    const before = look(folder, scenario);
    before.close();
    if (before.events.at(-1)?.kind === 'session.ended') break;
    last = await live({ folder, scenario, death }, ({ store }) => {
      if (before.events.length === 0) return;
      assertKept(store, before.events);
      assertDoubts(before.events, store.journal.events(before.events[0]?.session ?? assert.fail()));
    });
  }
  const { rig, events, close } = look(folder, scenario);
  assertKept(rig.store, events);
  assertSound(events, effectsIn(folder));
  const isWhole = deaths.every((death) => death?.of !== 'provider');
  if (scenario.learns === true) assertLearnt(rig.store, events, isWhole);
  if (scenario.installs !== undefined)
    assertInstalledOnce(scenario.installs, events, installationsIn(folder));
  assert.equal(events.at(-1)?.kind, 'session.ended');
  const ended = events.filter((event) => event.kind === 'query.ended' && event.outcome === 'failed');
  assert.ok(ended.length <= deaths.length, 'a query fails only where something was ended');
  if (last !== null) assert.deepEqual(last.heard.map(asTold), heardIn(events).map(asTold));
  close();
  return last?.counts ?? { hub: 0, app: 0, spoke: 0, provider: 0, package: 0 };
}

/** What a monitor is told of a session that is opened again: rules have to see the trace that they saw when it was made. */
function heardIn(events: readonly Event[]): readonly TraceEvent[] {
  const heard: TraceEvent[] = [];
  replay(events, new ReferenceMonitor({ policy: listeningPolicy(heard) }));
  return heard;
}

/** In an order of keys that means nothing. */
function asTold(event: TraceEvent): Json {
  return toJson(event);
}

const KINDS = ['hub', 'hub', 'hub', 'app', 'spoke', 'provider'] as const;

function deathOf(chance: Chance, counts: Rig['counts']): Death {
  const kinds: readonly Death['of'][] = counts.package === 0 ? KINDS : [...KINDS, 'package'];
  const of = kinds[chance.number(kinds.length)] ?? 'hub';
  const when = chance.flip() ? 'before' : 'after';
  return { of, at: 1 + chance.number(Math.max(1, counts[of])), when };
}

/** One app that is shown its earlier session, reads, and does what cannot be undone. */
function withHistory(): Scenario {
  const { apps } = scenarioOf(new Chance(1));
  const [{ name } = { name: '' }] = apps;
  const rounds = { [`${name}/q0`]: [[{ name: `${name}-read`, n: 1 }], [{ name: `${name}-send`, n: 2 }]] };
  const shape = { apps: [name], tasks: [], isCoordinated: false, candidates: [], rounds };
  return { apps, queries: [{ text: 'do q0', ...shape }], repeats: false, grants: 'once', hasEarlier: true };
}

test('a query that is shown an earlier session is shown it again when it goes on, and repeats nothing', async (t) => {
  if (isLeftOut(t)) return;
  const scenario = withHistory();
  let played = '';
  const keep = async (folder: string) => {
    played = folder;
  };
  const shown = () => {
    const { events, close } = look(played, scenario);
    close();
    return events.flatMap((event) =>
      event.kind === 'data-release.proposed' ? event.items.map(({ value }) => value) : [],
    );
  };
  const counts = await endure(t, scenario, [], keep);
  assert.deepEqual(shown(), ['2 messages of 1 earlier sessions']);
  for (let at = 1; at <= counts.hub; at++) {
    await endure(t, scenario, [{ of: 'hub', at, when: at % 2 === 0 ? 'before' : 'after' }], keep);
    assert.equal(shown().at(-1), '2 messages of 1 earlier sessions');
  }
});

/** Generated sessions, each ended at some steps (`CORDON_CASES=all`: at every one). */
async function endureGenerated(t: TestContext, sessions: number, make: (chance: Chance) => Scenario) {
  t.diagnostic(`CORDON_SEED=${SEED}`);
  for (let run = 0; run < sessions; run++) {
    const chance = new Chance(SEED + run);
    const scenario = make(chance);
    const counts = await endure(t, scenario, []);
    const every = Array.from({ length: counts.hub }, (_, at): readonly Death[] => [
      { of: 'hub', at: at + 1, when: chance.flip() ? 'before' : 'after' },
    ]);
    const some = Array.from({ length: DEATHS_EACH }, () =>
      Array.from({ length: chance.flip(0.3) ? 2 : 1 }, () => deathOf(chance, counts)),
    );
    for (const deaths of IS_ALL ? [...every, ...some] : some) {
      try {
        await endure(t, scenario, deaths);
      } catch (error) {
        t.diagnostic(`CORDON_SEED=${SEED}, session ${run}, ${JSON.stringify(deaths)}`);
        throw error;
      }
    }
  }
}

test('a session that is ended at any step loses nothing and repeats nothing', async (t) => {
  await endureGenerated(t, SCENARIOS, (chance) => {
    const plain = withNeeds(scenarioOf(chance), chance);
    return chance.flip() ? statingFacts(plain) : plain;
  });
});

test('nor does one in which apps are installed, which is asked, fetched, reviewed and done once', async (t) => {
  if (isLeftOut(t)) return;
  await endureGenerated(t, SCENARIOS, (chance) => withInstalls(scenarioOf(chance), chance));
});

interface Kept {
  /** Of the scenario. */
  readonly seed: number;
  readonly deaths: readonly Death[];
  /** Apps are installed in it; absent: none is. */
  readonly installs?: true;
}

/** Deaths that once made a session repeat a step. */
const KEPT: Readonly<Record<string, Kept>> = {
  'an agent loop ends while the journal answers for its model': {
    seed: 506885684,
    deaths: [
      { of: 'hub', at: 26, when: 'before' },
      { of: 'spoke', at: 2, when: 'before' },
    ],
  },
  'the hub dies between the offers of two apps, and once more': {
    seed: 170510690,
    deaths: [
      { of: 'hub', at: 17, when: 'after' },
      { of: 'hub', at: 75, when: 'after' },
    ],
  },
  'an app was permitted something before it was first agreed to': {
    seed: 21003,
    installs: true,
    deaths: [{ of: 'hub', at: 99, when: 'before' }],
  },
  'the loop ends of an app that had acted before the user was asked to install another': {
    seed: 23001,
    installs: true,
    deaths: [
      { of: 'hub', at: 43, when: 'before' },
      { of: 'spoke', at: 4, when: 'after' },
    ],
  },
  'an app that was pinned in the query ends, and the same process resumes it': {
    seed: 41397787,
    installs: true,
    deaths: [{ of: 'app', at: 2, when: 'before' }],
  },
  'a query fails that observed anew what an earlier one had observed': {
    seed: 47000,
    installs: true,
    deaths: [
      { of: 'hub', at: 57, when: 'after' },
      { of: 'provider', at: 6, when: 'before' },
    ],
  },
};

for (const [what, { seed, deaths, installs = false }] of Object.entries(KEPT)) {
  test(`a resumed query repeats nothing when ${what}`, async (t) => {
    const chance = new Chance(seed);
    const plain = scenarioOf(chance);
    await endure(t, installs ? withInstalls(plain, chance) : { ...plain, hasEarlier: false }, deaths);
  });
}

/** A hub in a process of its own, with apps in theirs, which a signal ends at the step. */
function hubProcess(scenario: Scenario, death: Death): (folder: string) => Promise<void> {
  return async (folder) => {
    const file = join(folder, 'scenario.json');
    writeFileSync(file, JSON.stringify({ scenario, death }));
    const program = fileURLToPath(new URL('../fault/hub-process.ts', import.meta.url));
    const child = spawn(process.execPath, [program, folder, file], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    const { code, signal } = await new Promise<{ code: number | null; signal: string | null }>((resolve) =>
      child.once('exit', (exitCode, exitSignal) => resolve({ code: exitCode, signal: exitSignal })),
    );
    assert.ok(signal === 'SIGKILL' || code === 0, `the hub ended with ${code ?? signal}`);
  };
}

test('so does one whose hub is killed by a signal, with apps in processes of their own', async (t) => {
  t.diagnostic(`CORDON_SEED=${SEED}`);
  for (let run = 0; run < PROCESSES; run++) {
    const chance = new Chance(SEED + 1000 + run);
    const plain = scenarioOf(chance);
    const stating = chance.flip() ? statingFacts(plain) : plain;
    const scenario = run % 2 === 0 ? stating : withInstalls(stating, chance);
    const death: Death = { of: 'hub', at: 1 + chance.number(100), when: chance.flip() ? 'before' : 'after' };
    try {
      await endure(t, scenario, [], hubProcess(scenario, death));
    } catch (error) {
      t.diagnostic(`CORDON_SEED=${SEED}, process ${run}, ${JSON.stringify(death)}`);
      throw error;
    }
  }
});
