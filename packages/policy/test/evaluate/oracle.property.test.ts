import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ExplainingMonitor, findingsIn } from '@cordon/policy-tools';
import { evaluate, evaluatePending, type Outcome } from '@cordon/reference';
import {
  chain,
  chainPolicyOf,
  choice,
  eventsOf,
  ordersPolicy,
  policyOf,
  RUNS,
  type Shape,
  shape,
  workingShape,
} from '@cordon/testkit/policy/generated-traces.ts';
import fc from 'fast-check';
import { checkUntil } from '../../../../tools/seed.ts';
import type { Finding, Policy } from '../../src/index.ts';

// ── comparison ────────────────────────────────────────────────────────────────────────────────────────────────

/** One word a rule; a violation outweighs what is open. */
function verdicts(policy: Policy, found: readonly { rule: number; violated: boolean }[]): readonly string[] {
  return policy.rules.map((rule) => {
    const own = found.filter((one) => one.rule === rule.number);
    return own.some((one) => one.violated) ? 'violated' : own.length > 0 ? 'open' : 'quiet';
  });
}

const fromMonitor = (finding: Finding) => ({ rule: finding.rule.number, violated: finding.open === null });
const fromReference = (outcome: Outcome) => ({ rule: outcome.rule, violated: outcome.status === 'violated' });

const monitorLine = (finding: Finding) =>
  `${finding.rule.number} ${finding.open === null} ${finding.bound.map(({ entry }) => entry?.reference ?? '-').join(' ')}`;
const referenceLine = (outcome: Outcome) =>
  `${outcome.rule} ${outcome.status === 'violated'} ${outcome.events.map((event) => event ?? '-').join(' ')}`;

function compare(
  policies: fc.Arbitrary<Policy>,
  contexts: number,
  traces: fc.Arbitrary<readonly Shape[]>,
): void {
  const seen = new Set<string>();
  const inputs = fc.tuple(policies, traces);
  checkUntil(
    fc.property(inputs, ([policy, shapes]) => {
      const events = eventsOf(shapes, contexts);
      const monitor = policy.monitor();
      for (const [index, event] of events.entries()) {
        const past = events.slice(0, index);
        const decided = verdicts(policy, monitor.evaluate([event]).findings.map(fromMonitor));
        const expected = verdicts(policy, evaluatePending(policy, past, [event]).map(fromReference));
        assert.deepEqual(decided, expected, `after ${index} events`);
        for (const verdict of decided) seen.add(verdict);
        monitor.append([event]);
      }
      assert.deepEqual(
        findingsIn(policy, events).map(monitorLine),
        evaluate(policy, events).map(referenceLine),
      );
    }),
    RUNS,
    // Two evaluators that never find anything would agree as well.
    () => ['open', 'quiet', 'violated'].filter((verdict) => !seen.has(verdict)),
  );
}

const policies = fc.array(choice, { minLength: 1, maxLength: 3 }).map(policyOf);
const chains = fc.array(chain, { minLength: 1, maxLength: 2 }).map(chainPolicyOf);

test('in one context the monitor says after each event what trying every assignment says', () => {
  compare(policies, 1, fc.array(shape(1), { maxLength: 7 }));
});

test('in several contexts with messages between them it does, too', () => {
  compare(policies, 3, fc.array(shape(3), { maxLength: 9 }));
});

test('of chains of flow the monitor says after each event what trying every assignment says', () => {
  compare(chains, 1, fc.array(workingShape(1), { minLength: 3, maxLength: 5 }));
  compare(chains, 2, fc.array(workingShape(2), { minLength: 3, maxLength: 5 }));
});

test('of orders over several contexts it does, where one event stands for all that are alike', () => {
  const calls = workingShape(3).map(
    (one): Shape => ({ ...one, kind: 'call', tool: one.tool === 'list' ? 'read' : one.tool }),
  );
  compare(ordersPolicy, 3, fc.array(calls, { minLength: 3, maxLength: 9 }));
});

test('how events are batched does not matter', () => {
  const inputs = fc.tuple(
    fc.oneof(policies, chains),
    fc.array(shape(3), { minLength: 1, maxLength: 7 }),
    fc.nat(7),
  );
  fc.assert(
    fc.property(inputs, ([policy, shapes, at]) => {
      const events = eventsOf(shapes, 3);
      const split = new ExplainingMonitor(policy);
      split.append(events.slice(0, at));
      const asking = policy.monitor();
      asking.append(events.slice(0, at));
      assert.deepEqual(
        verdicts(policy, asking.evaluate(events.slice(at)).findings.map(fromMonitor)),
        at >= events.length
          ? verdicts(policy, evaluatePending(policy, events, []).map(fromReference))
          : verdicts(
              policy,
              evaluatePending(policy, events.slice(0, at), events.slice(at)).map(fromReference),
            ),
      );
      split.append(events.slice(at));
      const whole = new ExplainingMonitor(policy);
      whole.append(events);
      for (const probe of events) assert.deepEqual(split.decide([probe]), whole.decide([probe]));
      assert.equal(split.size, whole.size);
    }),
    { numRuns: RUNS },
  );
});

test('asking what an event would do leaves no trace', () => {
  const inputs = fc.tuple(
    fc.oneof(policies, chains),
    fc.array(fc.tuple(shape(3), fc.boolean()), { maxLength: 9 }),
  );
  fc.assert(
    fc.property(inputs, ([policy, steps]) => {
      const events = eventsOf(
        steps.map(([one]) => one),
        3,
      );
      const asked = new ExplainingMonitor(policy);
      const plain = new ExplainingMonitor(policy);
      for (const [index, event] of events.entries()) {
        asked.decide([event]);
        if (steps[index]?.[1] === true) continue;
        asked.append([event]);
        plain.append([event]);
      }
      assert.equal(asked.size, plain.size);
      for (const probe of events) assert.deepEqual(asked.decide([probe]), plain.decide([probe]));
    }),
    { numRuns: RUNS },
  );
});
