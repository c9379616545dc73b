/** What a monitor remembers: exactly what has happened, however it came, and nothing of what was refused. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { analyzeEvents, ExplainingMonitor } from '@cordon/policy-tools';
import fc from 'fast-check';
import type { TraceEvent } from '../../src/index.ts';
import { choice, eventsOf, policyOf, RUNS, shape } from '../generated.ts';
import '../../../../tools/seed.ts';

const CONTEXTS = 3;

/** `sizes` cuts the events into batches; some are empty. */
function batched(
  events: readonly TraceEvent[],
  sizes: readonly number[],
): readonly (readonly TraceEvent[])[] {
  const batches: (readonly TraceEvent[])[] = [];
  let at = 0;
  for (const size of sizes) {
    batches.push(events.slice(at, at + size));
    at += size;
  }
  batches.push(events.slice(at));
  return batches;
}

/** Two monitors that answer every question alike. */
function assertAlike(one: ExplainingMonitor, other: ExplainingMonitor, probes: readonly TraceEvent[]): void {
  for (const probe of probes) assert.deepEqual(one.decide([probe]), other.decide([probe]));
  assert.deepEqual(one.decide(probes), other.decide(probes));
  assert.equal(one.size, other.size);
}

const policies = fc.array(choice, { minLength: 1, maxLength: 3 });

test('batches of any size leave a monitor that answers alike', () => {
  const inputs = fc.tuple(
    policies,
    fc.array(shape(CONTEXTS), { maxLength: 8 }),
    fc.array(shape(CONTEXTS), { minLength: 1, maxLength: 4 }),
    fc.array(fc.nat(3), { maxLength: 6 }),
  );
  fc.assert(
    fc.property(inputs, ([rules, past, next, sizes]) => {
      const policy = policyOf(rules);
      const events = eventsOf([...past, ...next], CONTEXTS);
      const happened = events.slice(0, past.length);
      const oneByOne = new ExplainingMonitor(policy);
      const inBatches = new ExplainingMonitor(policy);
      for (const event of happened) oneByOne.append([event]);
      for (const batch of batched(happened, sizes)) inBatches.append(batch);
      assertAlike(oneByOne, inBatches, events.slice(past.length));
    }),
    { numRuns: RUNS },
  );
});

test('the batches of an analysis do not matter: it has only the trace', () => {
  const inputs = fc.tuple(policies, fc.array(shape(CONTEXTS), { maxLength: 8 }));
  fc.assert(
    fc.property(inputs, ([rules, shapes]) => {
      const policy = policyOf(rules);
      const events = eventsOf(shapes, CONTEXTS);
      assert.deepEqual(analyzeEvents(policy, events), analyzeEvents(policy, [...events]));
    }),
    { numRuns: Math.ceil(RUNS / 4) },
  );
});

test('a denied event leaves no trace', () => {
  const seen = { denied: 0, admitted: 0 };
  const inputs = fc.tuple(
    policies,
    fc.array(fc.tuple(shape(CONTEXTS), fc.nat(2), fc.boolean()), { maxLength: 8 }),
    fc.array(shape(CONTEXTS), { minLength: 1, maxLength: 3 }),
  );
  fc.assert(
    fc.property(inputs, ([rules, steps, next]) => {
      const policy = policyOf(rules);
      const events = eventsOf([...steps.map(([one]) => one), ...next], CONTEXTS);
      const proposed = new ExplainingMonitor(policy);
      const neverProposed = new ExplainingMonitor(policy);
      let at = 0;
      while (at < steps.length) {
        const [, more = 0, hasConsent = false] = steps[at] ?? [];
        const batch = events.slice(at, Math.min(at + 1 + more, steps.length));
        const { verdict } = proposed.admit(batch, hasConsent ? 'given' : 'not-needed');
        if (verdict === 'allow') {
          neverProposed.append(batch);
          seen.admitted++;
        } else seen.denied++;
        at += batch.length;
      }
      assertAlike(proposed, neverProposed, events.slice(steps.length));
    }),
    { numRuns: RUNS },
  );
  // Where everything is allowed, or nothing, there is nothing to see.
  assert.ok(seen.denied > 0 && seen.admitted > 0);
});

test('deciding twice says the same', () => {
  const inputs = fc.tuple(policies, fc.array(shape(CONTEXTS), { minLength: 1, maxLength: 8 }));
  fc.assert(
    fc.property(inputs, ([rules, shapes]) => {
      const monitor = new ExplainingMonitor(policyOf(rules));
      const events = eventsOf(shapes, CONTEXTS);
      for (const event of events) {
        assert.deepEqual(monitor.decide([event]), monitor.decide([event]));
        monitor.append([event]);
      }
    }),
    { numRuns: Math.ceil(RUNS / 4) },
  );
});
