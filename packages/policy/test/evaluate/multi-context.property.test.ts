/**
 * Flow in traces of several agents, held against its definition: an event knows what came before it in its context, and
 * what its causes knew. Written as a walk over a graph, without clocks.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '@cordon/core';
import { analyze } from '@cordon/policy-tools';
import { RUNS } from '@cordon/testkit/policy/generated-traces.ts';
import fc from 'fast-check';
import { checkUntil, unseen } from '../../../../tools/seed.ts';
import { loadPolicy, type Policy } from '../../src/index.ts';

function policyOf(text: string): Policy {
  const policy = loadPolicy(text);
  assert.ok(policy.ok);
  return policy.value;
}

const FLOW = policyOf('raise "x" if:\n    (a: Message) -> (b: Message)\n');
const NEXT = policyOf('raise "x" if:\n    (a: Message) ~> (b: Message)\n');
const BEFORE = policyOf('raise "x" if:\n    (a: Message) before (b: Message)\n');
const TOLD = policyOf(
  'told(b: Message) :=\n    (a: Message) -> b\n    a.content == "secret"\nraise "x" if:\n    (b: Message)\n    told(b)\n',
);

interface Said {
  readonly context: number;
  /** How many events back; those beyond the beginning are none. */
  readonly causes: readonly number[];
  readonly isSecret: boolean;
}

const said = (contexts: number): fc.Arbitrary<Said> =>
  fc.record({
    context: fc.nat(contexts - 1),
    causes: fc.array(fc.integer({ min: 1, max: 6 }), { maxLength: 2 }),
    isSecret: fc.boolean(),
  });

const conversations = fc
  .integer({ min: 1, max: 5 })
  .chain((contexts) => fc.array(said(contexts), { maxLength: 12 }));

function causesOf(all: readonly Said[], index: number): readonly number[] {
  return (all[index]?.causes ?? []).map((back) => index - back).filter((cause) => cause >= 0);
}

/** In the order of `places`: numbers of the events, which are also their ids. */
function traceOf(all: readonly Said[], places: readonly number[] = [...all.keys()]): readonly JsonObject[] {
  return places.map((index) => ({
    role: 'user',
    content: all[index]?.isSecret === true ? 'secret' : 'word',
    id: `e${index}`,
    context: `c${all[index]?.context}`,
    causes: causesOf(all, index).map((cause) => `e${cause}`),
  }));
}

/** For each event what it knows: by walking from it to everything behind it. */
function knownBy(all: readonly Said[]): readonly ReadonlySet<number>[] {
  return all.map((_, index) => {
    const known = new Set<number>();
    const open = directlyKnown(all, index);
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      if (known.has(next)) continue;
      known.add(next);
      open.push(...directlyKnown(all, next));
    }
    return known;
  });
}

function directlyKnown(all: readonly Said[], index: number): number[] {
  const before = all.slice(0, index).findLastIndex(({ context }) => context === all[index]?.context);
  return [...(before < 0 ? [] : [before]), ...causesOf(all, index)];
}

/** `a b` for each violation, as numbers of `places`. */
function pairs(policy: Policy, trace: readonly JsonObject[], places: readonly number[]): readonly string[] {
  const analysis = analyze(policy, trace);
  assert.ok(analysis.ok && analysis.value.undecided.length === 0);
  const numbers = analysis.value.errors.map(({ events }) =>
    ['a', 'b'].map((name) => places[Number(events[name])]).join(' '),
  );
  return numbers.sort();
}

test('an event flows to those that know of it, and to no other', () => {
  const seen = { flows: 0 };
  checkUntil(
    fc.property(conversations, (all) => {
      const places = [...all.keys()];
      const expected = knownBy(all).flatMap((known, index) =>
        [...known].map((earlier) => `${earlier} ${index}`),
      );
      seen.flows += expected.length;
      assert.deepEqual(pairs(FLOW, traceOf(all), places), expected.sort());
    }),
    2 * RUNS,
    () => unseen(seen),
  );
});

test('an event comes before all that stand behind it, and so wherever it flows to', () => {
  fc.assert(
    fc.property(conversations, (all) => {
      const places = [...all.keys()];
      const expected = places.flatMap((b) => places.slice(0, b).map((a) => `${a} ${b}`));
      const found = pairs(BEFORE, traceOf(all), places);
      assert.deepEqual(found, expected.sort());
      assert.deepEqual(
        pairs(FLOW, traceOf(all), places).filter((pair) => !found.includes(pair)),
        [],
      );
    }),
    { numRuns: RUNS },
  );
});

test('an event stands directly before the next of its context', () => {
  fc.assert(
    fc.property(conversations, (all) => {
      const expected = all.flatMap((one, index) => {
        const before = all.slice(0, index).findLastIndex(({ context }) => context === one.context);
        return before < 0 ? [] : [`${before} ${index}`];
      });
      assert.deepEqual(pairs(NEXT, traceOf(all), [...all.keys()]), expected.sort());
    }),
    { numRuns: RUNS },
  );
});

test('a predicate finds what an event knows of', () => {
  fc.assert(
    fc.property(conversations, (all) => {
      const analysis = analyze(TOLD, traceOf(all));
      assert.ok(analysis.ok);
      const expected = knownBy(all).flatMap((known, index) =>
        [...known].some((earlier) => all[earlier]?.isSecret === true) ? [String(index)] : [],
      );
      assert.deepEqual(
        analysis.value.errors.map(({ events }) => events.b),
        expected,
      );
    }),
    { numRuns: RUNS },
  );
});

test('in one context flow is the order of the list, whatever the causes say', () => {
  fc.assert(
    fc.property(fc.array(said(1), { maxLength: 8 }), (all) => {
      const expected = all.flatMap((_, later) =>
        Array.from({ length: later }, (_, earlier) => `${earlier} ${later}`),
      );
      assert.deepEqual(pairs(FLOW, traceOf(all), [...all.keys()]), expected.sort());
    }),
    { numRuns: RUNS },
  );
});

test('how the events of agents are interleaved does not matter, as long as none stands before its causes', () => {
  fc.assert(
    fc.property(conversations, fc.array(fc.nat(100), { minLength: 12, maxLength: 12 }), (all, choices) => {
      const places = interleaved(all, choices);
      assert.deepEqual(pairs(FLOW, traceOf(all, places), places), pairs(FLOW, traceOf(all), [...all.keys()]));
    }),
    { numRuns: RUNS },
  );
});

/** Another order in which everything stands behind what it knows. */
function interleaved(all: readonly Said[], choices: readonly number[]): readonly number[] {
  const placed: number[] = [];
  const left = new Set(all.keys());
  while (left.size > 0) {
    const ready = [...left].filter((index) => directlyKnown(all, index).every((needed) => !left.has(needed)));
    const next = ready[(choices[placed.length] ?? 0) % ready.length];
    if (next === undefined) throw new Error('events that wait for each other');
    left.delete(next);
    placed.push(next);
  }
  return placed;
}
