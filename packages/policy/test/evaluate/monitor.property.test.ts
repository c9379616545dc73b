/** What a monitor remembers: exactly what has happened, however it came, and nothing of what was refused. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ExplainingMonitor, findingsIn } from '@cordon/policy-tools';
import { choice, eventsOf, policyOf, RUNS, shape } from '@cordon/testkit/policy/generated-traces.ts';
import fc from 'fast-check';
import { checkUntil, unseen } from '../../../../tools/seed.ts';
import type { Finding, FlowRecord, Policy, TraceEvent } from '../../src/index.ts';

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

/** Rules of which no later event changes what earlier ones have fulfilled. */
function joinedRules(policy: Policy): readonly number[] {
  return policy.program.plans.flatMap(({ kind, rule }) => (kind === 'joined' ? [rule.number] : []));
}

test('the rules that an analysis finds violated are those that a monitor finds violated by some event', () => {
  const seen = { violated: 0, quiet: 0 };
  const inputs = fc.tuple(policies, fc.array(shape(CONTEXTS), { maxLength: 8 }), fc.nat(2));
  checkUntil(
    fc.property(inputs, ([rules, shapes, more]) => {
      const policy = policyOf(rules);
      const events = eventsOf(shapes, CONTEXTS);
      const monitor = policy.monitor();
      const asItHappens = new Set<number>();
      for (let at = 0; at < events.length; at += 1 + more) {
        const evaluation = monitor.evaluate(events.slice(at, at + 1 + more));
        for (const { rule, open } of evaluation.findings) if (open === null) asItHappens.add(rule.number);
        monitor.append(evaluation);
      }
      const afterwards = new Set(
        findingsIn(policy, events).flatMap(({ rule, open }) => (open === null ? [rule.number] : [])),
      );
      for (const number of joinedRules(policy)) {
        assert.equal(asItHappens.has(number), afterwards.has(number), `rule ${number}`);
        if (afterwards.has(number)) seen.violated++;
        else seen.quiet++;
      }
    }),
    RUNS,
    () => unseen(seen),
  );
});

/** For a monitor that gathers evidence, but for the ways of flows. */
const NO_FLOWS: FlowRecord = { own: [], add: () => undefined, fork: () => NO_FLOWS, way: () => [] };

test('a monitor that gathers evidence finds what one that only decides finds', () => {
  const seen = { evidence: 0 };
  const said = ({ rule, open, bound }: Finding) => [
    rule.number,
    open?.why.reason ?? null,
    bound.map(({ entry }) => entry?.reference ?? null),
  ];
  const inputs = fc.tuple(policies, fc.array(shape(CONTEXTS), { maxLength: 8 }));
  checkUntil(
    fc.property(inputs, ([rules, shapes]) => {
      const policy = policyOf(rules);
      const deciding = policy.monitor();
      const explaining = policy.monitor({}, NO_FLOWS);
      for (const event of eventsOf(shapes, CONTEXTS)) {
        const [plain, explained] = [deciding.evaluate([event]), explaining.evaluate([event])];
        assert.deepEqual(plain.findings.map(said), explained.findings.map(said));
        assert.ok(plain.findings.every(({ evidence }) => evidence.length === 0));
        seen.evidence += explained.findings.filter(({ evidence }) => evidence.length > 0).length;
        deciding.append(plain);
        explaining.append(explained);
      }
      assert.equal(deciding.size, explaining.size);
    }),
    RUNS,
    () => unseen(seen),
  );
});

test('a denied event leaves no trace', () => {
  const seen = { denied: 0, admitted: 0 };
  const inputs = fc.tuple(
    policies,
    fc.array(fc.tuple(shape(CONTEXTS), fc.nat(2), fc.boolean()), { maxLength: 8 }),
    fc.array(shape(CONTEXTS), { minLength: 1, maxLength: 3 }),
  );
  checkUntil(
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
    RUNS,
    () => unseen(seen),
  );
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
