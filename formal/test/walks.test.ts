/**
 * What the models can do, the code does: random walks through them, done by the real store, gate and permissions, with each
 * outcome compared. `CORDON_SEED` repeats a run.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isLeftOut } from '../../tools/cases.ts';
import { SEED } from '../../tools/seed.ts';
import { gateTrace } from '../src/journal-trace.ts';
import { describeStep, type Step } from '../src/label.ts';
import { acceptorOf, missingTools, walk } from '../src/spin.ts';
import { type Walked, walkGate } from './gate-walk.ts';
import { walkGrants } from './grant-walk.ts';
import { walkPrompts } from './prompt-walk.ts';

const MISSING = missingTools();
const WALKS = 40;

interface Walkable {
  readonly name: string;
  /** Larger than what is searched: a walk visits few states. */
  readonly bounds: readonly string[];
  readonly drive: (walk: readonly Step[]) => unknown;
  /** Labels that the walks together must come to, or they show little. */
  readonly mustSee: readonly string[];
  /** Models with something broken: the code does otherwise than some walk of each. */
  readonly mutants: readonly string[];
}

const GRANTS: Walkable = {
  name: 'grants',
  bounds: ['GRANTS=6', 'ACTIONS=8', 'OTHER_ACTIONS=8', 'CRASHES=2', 'ALL_GIVE=true'],
  drive: walkGrants,
  mustSee: ['GIVE', 'FIND', 'CONSUME', 'REVOKE', 'EXPIRE', 'END_SESSION', 'RESTART'],
  mutants: ['REVOKED_STAYS_FOUND', 'EXPIRY_UNCHECKED', 'ANY_SESSION', 'PERMANENT_IRREVERSIBLE'],
};
const PROMPTS: Walkable = {
  name: 'prompts',
  bounds: ['CRASHES=4'],
  drive: walkPrompts,
  mustSee: ['OPENED', 'REPLIED', 'LOOKED', 'CLOSED', 'HUB_KILLED'],
  mutants: ['LAST_ANSWER_COUNTS', 'NOT_TAKEN_UP_AGAIN'],
};
const GATE: Walkable = {
  name: 'gate',
  bounds: ['CRASHES=4', 'GRANTS=2', 'MOST_DOUBTS=9'],
  drive: walkGate,
  mustSee: [
    ...[
      'PROPOSED',
      'ASKED',
      'ANSWERED',
      'STORED',
      'GIVEN',
      'SPENT',
      'DECIDED',
      'BEGUN',
      'EXECUTED',
      'FAILED',
    ],
    ...['CRASHED', 'RESUMED', 'DOUBTED', 'GROWN', 'REVOKED'],
  ],
  mutants: ['SILENT_RETRY', 'SILENCE_IS_CONSENT', 'PERMANENT_IRREVERSIBLE', 'OLD_YES_REPEATS'],
};

for (const { name, bounds, drive, mustSee, mutants } of [GRANTS, PROMPTS, GATE]) {
  test(`what the model of ${name} does the code does, step by step`, async (t) => {
    if (isLeftOut(t, name === 'prompts')) return;
    if (MISSING !== null) return t.skip(MISSING);
    t.diagnostic(`CORDON_SEED=${SEED}`);
    const seen = new Map<string, number>();
    for (let n = 0; n < WALKS; n++) {
      const steps = await walk(name, SEED + n, bounds);
      for (const { label } of steps) seen.set(label, (seen.get(label) ?? 0) + 1);
      await drive(steps);
    }
    t.diagnostic([...seen].map(([label, times]) => `${label.toLowerCase()} ${times}`).join(', '));
    assert.deepEqual(
      mustSee.filter((label) => !seen.has(label)),
      [],
    );
  });

  for (const mutant of mutants) {
    test(`what the model of ${name} does with ${mutant.toLowerCase().replaceAll('_', ' ')} the code does not`, async (t) => {
      if (isLeftOut(t, name === 'prompts')) return;
      if (MISSING !== null) return t.skip(MISSING);
      assert.ok(await isRefused(name, [...bounds, `MUTANT_${mutant}`], drive));
    });
  }
}

/** Whether the code does otherwise than some walk. */
async function isRefused(
  name: string,
  bounds: readonly string[],
  drive: Walkable['drive'],
): Promise<boolean> {
  for (let n = 0; n < 5 * WALKS; n++) {
    const steps = await walk(name, SEED + n, bounds);
    try {
      await drive(steps);
    } catch (error) {
      if (error instanceof assert.AssertionError) return true;
      throw error;
    }
  }
  return false;
}

test('the journal that a walk of the gate leaves behind is a path of the model again', async (t) => {
  if (isLeftOut(t)) return;
  if (MISSING !== null) return t.skip(MISSING);
  const acceptor = await acceptorOf('gate');
  t.after(() => acceptor.close());
  for (let n = 0; n < WALKS; n++) {
    const { events, grants }: Walked = await walkGate(await walk('gate', SEED + n, GATE.bounds));
    const trace = gateTrace(events, grants);
    if (trace.length === 0) continue;
    const result = await acceptor.accept(trace);
    assert.equal(result.accepted, true, trace.map(describeStep).join(' '));
  }
});
