/** What the hub does is something that the models can do: journals of real runs, and forged ones that must be refused. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Event } from '@cordon/core';
import type { KeptJournal } from '@cordon/testkit/kept-journal.ts';
import { isLeftOut } from '../../tools/cases.ts';
import { exchangeTrace, gateTrace } from '../src/journal-trace.ts';
import { describeStep, encodeTrace, type Step } from '../src/label.ts';
import { type Acceptor, acceptorOf, missingTools } from '../src/spin.ts';
import { FORGERIES, killedInCall } from './forgery.ts';
import { recordedJournals } from './recorded.ts';

const MISSING = missingTools();
const TRACES = {
  gate: ({ events, grants }: KeptJournal) => gateTrace(events, grants),
  exchange: ({ events }: KeptJournal) => exchangeTrace(events),
} as const;
/** So many proposals or requests at the same time are within the bounds of the models. */
const WIDEST = 10;

/** Recorded once for all tests of this file. */
let recording: Promise<readonly KeptJournal[]> | null = null;
function journals(): Promise<readonly KeptJournal[]> {
  recording ??= recordedJournals();
  return recording;
}

async function tracesOf(model: keyof typeof TRACES): Promise<readonly (readonly Step[])[]> {
  return (await journals()).map(TRACES[model]).filter((trace) => trace.length > 0);
}

/** Each trace once: a model has one verdict on all that are alike, and more than half of the journals are. */
function distinct(traces: readonly (readonly Step[])[]): readonly (readonly Step[])[] {
  return [...new Map(traces.map((trace) => [encodeTrace(trace), trace])).values()];
}

/** What was asked before a kill is asked again, so a change there may be a trace that a hub leaves behind. */
function isInterrupted(trace: readonly Step[]): boolean {
  return trace.some(({ label }) => label === 'RESUMED');
}

function widthOf(trace: readonly Step[]): number {
  return Math.max(
    0,
    ...trace
      .filter(({ label }) => label === 'PROPOSED' || label === 'REQUESTED')
      .map(({ label, values }) => (label === 'PROPOSED' ? values[0] : values[1]) + 1),
  );
}

const acceptors = new Map<keyof typeof TRACES, Promise<Acceptor>>();
after(async () => {
  for (const acceptor of acceptors.values()) (await acceptor).close();
});

/** Compiled once. */
function acceptorFor(model: keyof typeof TRACES): Promise<Acceptor> {
  const known = acceptors.get(model) ?? acceptorOf(model);
  acceptors.set(model, known);
  return known;
}

for (const model of ['gate', 'exchange'] as const) {
  test(`every journal that the hub leaves behind is a path of the model of ${model}`, async (t) => {
    if (isLeftOut(t)) return;
    if (MISSING !== null) return t.skip(MISSING);
    const acceptor = await acceptorFor(model);
    const traces = await tracesOf(model);
    const within = traces.filter((trace) => widthOf(trace) <= WIDEST);
    assert.ok(
      within.length > 100 && within.length >= traces.length * 0.97,
      `${within.length} of ${traces.length}`,
    );
    t.diagnostic(`${within.length} journals, ${within.reduce((sum, { length }) => sum + length, 0)} steps`);
    for (const trace of distinct(within)) {
      const result = await acceptor.accept(trace);
      if (!result.accepted) assert.fail(describeRefusal(trace, result.step, result.reason));
    }
  });
}

function describeRefusal(trace: readonly Step[], at: number, reason: string): string {
  const before = trace.slice(Math.max(0, at - 12), at).map(describeStep);
  return `${reason}: ${describeStep(trace[at] ?? { label: 'END', values: [0, 0, 0, 0] })} after ${before.join(' ')}`;
}

for (const { model, name, forge } of FORGERIES) {
  test(`the model of ${model} refuses ${name}`, async (t) => {
    if (isLeftOut(t)) return;
    if (MISSING !== null) return t.skip(MISSING);
    const acceptor = await acceptorFor(model);
    const traces = (await tracesOf(model)).filter((trace) => widthOf(trace) <= 4 && !isInterrupted(trace));
    const forged = traces.map(forge);
    const few = forged.filter((trace) => trace !== null).slice(0, 5);
    assert.ok(few.length > 0, 'no journal has anything to forge');
    for (const trace of few) {
      const result = await acceptor.accept(trace);
      assert.equal(result.accepted, false, trace.map(describeStep).join(' '));
    }
  });
}

test('what a user changed is decided in the place of what was proposed, whatever ended meanwhile', () => {
  const changed = { rule: 'permission/edited', message: 'm', events: [], because: 'permission' };
  const steps = gateTrace([
    event('first', 'a', [], { kind: 'egress.proposed', effect: 'egress' }),
    event('second', 'b', [], { kind: 'data-release.proposed', effect: 'data-release' }),
    event('over', 'a', ['first'], { kind: 'egress.executed' }),
    event('no', 'b', ['second'], decided('deny', [changed])),
    event('third', 'b', [], { kind: 'data-release.proposed', effect: 'data-release' }),
    event('yes', 'b', ['third'], decided('allow', [])),
    event('fourth', 'a', [], { kind: 'egress.proposed', effect: 'egress' }),
  ]);
  const slots = steps.filter(({ label }) => label === 'PROPOSED').map(({ values: [slot] }) => slot);
  assert.deepEqual(slots, [0, 1, 1, 0]);
});

function decided(verdict: 'allow' | 'deny', reasons: readonly object[]): object {
  return { kind: 'data-release.decided', verdict, reasons, permission: 'user' };
}

/** As a reader of a journal has it, with those members that the models read. */
function event(name: string, context: string, causes: readonly string[], body: object): Event {
  return JSON.parse(JSON.stringify({ id: name, context, app: null, causes, ...body }));
}

test('the model of gate accepts a run that is killed in a call that cannot be undone, and tells of the doubt', async (t) => {
  if (isLeftOut(t)) return;
  if (MISSING !== null) return t.skip(MISSING);
  const acceptor = await acceptorFor('gate');
  const killed = (await tracesOf('gate')).flatMap((trace) => killedInCall(trace) ?? []).slice(0, 5);
  assert.equal(killed.length, 5);
  for (const { trace } of killed) {
    const result = await acceptor.accept(trace);
    assert.equal(result.accepted, true, trace.map(describeStep).join(' '));
  }
});
