/** What the events of a journal tell the monitor, where a mapping of its own once told something else. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Event } from '@cordon/core';
import { factEvent } from '../src/cordon-event.ts';
import { SessionFacts, type Told } from '../src/session-facts.ts';

/** As a reader of a journal has it, with those members that the mapping reads. */
function event(name: string, context: string | null, body: object): Event {
  return JSON.parse(JSON.stringify({ id: name, context, app: null, causes: [], ...body }));
}

const PLAN = event('plan', null, {
  kind: 'plan.made',
  plan: { steps: [], candidates: [] },
  origin: 'planner',
});
const created = (context: string, of: string) =>
  event(`${context} is made`, context, { kind: 'context.created', of });
const told = (facts: readonly Told[]) =>
  facts.map((one) => (one.kind === 'fact' ? `${one.fact.kind} in ${one.fact.context}` : one.proposal.effect));

test('the plan of an app that did not start is not that of the summary behind it', () => {
  const facts = new SessionFacts();
  assert.deepEqual(told(facts.factsOf(PLAN)), []);
  assert.deepEqual(told(facts.factsOf(created('summary#1', 'summary'))), []);
  assert.deepEqual(told(facts.factsOf(created('facts#1', 'facts'))), []);
});

test('a plan is that of the first context which serves the query', () => {
  const facts = new SessionFacts();
  facts.factsOf(PLAN);
  assert.deepEqual(told(facts.factsOf(created('planner#1', 'planner'))), []);
  assert.deepEqual(told(facts.factsOf(created('mail#2', 'standard'))), ['plan.made in mail#2']);
  assert.deepEqual(told(facts.factsOf(created('mail#3', 'standard'))), []);
});

test('a plan does not outlive its query', () => {
  const facts = new SessionFacts();
  facts.factsOf(PLAN);
  facts.factsOf(event('next', null, { kind: 'user.message', text: 'next' }));
  assert.deepEqual(told(facts.factsOf(created('mail#1', 'standard'))), []);
});

test('a part of an answer tells nothing, and the answer tells of itself', () => {
  const facts = new SessionFacts();
  const proposed = (name: string, effect: string) =>
    event(name, 'mail#1', { kind: `${effect}.proposed`, effect, text: 'First.', from: 0 });
  const allowed = (name: string, effect: string) =>
    event(`${name} decided`, 'mail#1', { kind: `${effect}.decided`, verdict: 'allow', causes: [name] });
  for (const effect of ['answer-part', 'answer'])
    assert.deepEqual(told(facts.factsOf(proposed(effect, effect))), []);
  assert.deepEqual(told(facts.factsOf(allowed('answer-part', 'answer-part'))), []);
  assert.deepEqual(told(facts.factsOf(allowed('answer', 'answer'))), ['answer']);
});

// Attack: the error that names the path makes it somebody else's word; and another app makes the user's path its own.
test('a path that the user granted counts as theirs where that app is used, and nowhere else', () => {
  const granted = (app: string, right: string, value: string) => ({
    ...event(`${right} of ${app}`, null, { kind: 'right.granted', right, value }),
    app,
  });
  const served = (context: string, app: string, of = 'standard') => ({ ...created(context, of), app });
  const facts = new SessionFacts();
  const heard = (one: unknown) => facts.factsOf(one as Event);
  assert.deepEqual(told(heard(served('reader#1', 'reader'))), []);
  assert.deepEqual(told(heard(granted('reader', 'read', '/home/me/a.txt'))), []);
  heard(granted('reader', 'write', '/home/me/b.txt'));
  heard(granted('reader', 'network', 'example.com'));
  heard(granted('reader', 'variable', 'TOKEN'));
  const [endorsed, ...more] = heard(served('reader#2', 'reader'));
  assert.deepEqual(more, []);
  assert.ok(endorsed?.kind === 'fact' && endorsed.fact.kind === 'values.endorsed');
  assert.equal(endorsed.fact.context, 'reader#2');
  const seen = factEvent(endorsed.fact, endorsed.place);
  assert.ok(seen.type === 'Endorsement');
  assert.deepEqual(seen.values, [
    { name: 'read', value: '/home/me/a.txt' },
    { name: 'write', value: '/home/me/b.txt' },
  ]);
  assert.deepEqual(told(heard(served('mail#1', 'mail'))), []);
  assert.deepEqual(told(heard(served('reader#3', 'reader', 'reader'))), []);
});
