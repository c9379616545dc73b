/** What the models can do, the code does: random walks through them, done by the real store, and outcomes compared. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Step, step } from '../src/label.ts';
import { missingTools, walk } from '../src/spin.ts';
import { walkGrants } from './grant-walk.ts';
import { walkPrompts } from './prompt-walk.ts';

const MISSING = missingTools();
const SEED = Number(process.env.CORDON_SEED ?? Math.floor(Math.random() * 1e6));
const WALKS = 40;

/** Bounds that are too large to be searched, and not to be walked. */
const MODELS: readonly {
  readonly name: string;
  readonly bounds: readonly string[];
  readonly drive: (walk: readonly Step[]) => void | Promise<void>;
  /** What at least one of the walks must come to, or they show little. */
  readonly mustSee: readonly Step[];
}[] = [
  {
    name: 'grants',
    bounds: ['GRANTS=6', 'ACTIONS=8', 'OTHER_ACTIONS=8', 'CRASHES=2', 'ALL_GIVE=true'],
    drive: walkGrants,
    mustSee: ['GIVE', 'FIND', 'CONSUME', 'REVOKE', 'EXPIRE', 'END_SESSION', 'RESTART'].map((label) =>
      step(label),
    ),
  },
  {
    name: 'prompts',
    bounds: ['CRASHES=4'],
    drive: walkPrompts,
    mustSee: ['OPENED', 'REPLIED', 'LOOKED', 'CLOSED', 'HUB_KILLED'].map((label) => step(label)),
  },
];

for (const { name, bounds, drive, mustSee } of MODELS) {
  test(`what the model of ${name} does the code does, step by step`, async (t) => {
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
      mustSee.filter(({ label }) => !seen.has(label)),
      [],
    );
  });
}

test('a walk of a model in which a revoked grant goes on is not what the code does', async (t) => {
  if (MISSING !== null) return t.skip(MISSING);
  const refused: string[] = [];
  for (let n = 0; n < WALKS && refused.length === 0; n++) {
    const steps = await walk('grants', SEED + n, [
      'GRANTS=6',
      'ACTIONS=8',
      'OTHER_ACTIONS=8',
      'ALL_GIVE=true',
      'MUTANT_REVOKED_STAYS_FOUND',
    ]);
    try {
      walkGrants(steps);
    } catch (error) {
      assert.ok(error instanceof assert.AssertionError);
      refused.push(error.message);
    }
  }
  assert.equal(refused.length, 1);
});
