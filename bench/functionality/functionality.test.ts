/** The suite on a handful of tasks, in real processes; and that its judgement tells right from wrong. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isJsonObject, type JsonObject } from '@cordon/core';
import type { Outcome } from '@cordon/hub';
import { isLeftOut } from '../../tools/cases.ts';
import type { Unit } from '../evaluation/suite.ts';
import { judge } from './judgement.ts';
import { functionalitySuite } from './suite.ts';
import type { TaskTurn } from './task.ts';

const REQUEST = { isQuick: true, data: null, traces: null, labels: null, pairs: null };

test('one task of each set is done in one shared context and isolated', async (t) => {
  if (isLeftOut(t)) return;
  const prepared = await functionalitySuite.prepare(REQUEST);
  assert.ok(prepared.ok);
  t.after(() => prepared.value.close());
  const records = new Map<string, JsonObject>();
  for (const key of ['typewriter-1/1', 'relational/19', 'e-mail/1', 'bfcl/multi_turn_base_8']) {
    const unit: Unit | undefined = prepared.value.units.find((one) => one.key === key);
    assert.ok(unit, key);
    const record: JsonObject = await unit.run(t.signal);
    records.set(key, record);
    for (const column of ['baseline', 'isolated'])
      assert.deepEqual(isJsonObject(record[column]) && record[column].wrong, [], `${key}, ${column}`);
  }
  const { aims, result } = prepared.value.report(records);
  assert.equal(result.tasks, 4);
  assert.ok(aims.every(({ isMet }) => isMet));
});

test('a report of nothing meets no aim', async (t) => {
  const prepared = await functionalitySuite.prepare(REQUEST);
  assert.ok(prepared.ok);
  t.after(() => prepared.value.close());
  assert.deepEqual(
    prepared.value.report(new Map()).aims.map(({ isMet }) => isMet),
    [false, false],
  );
});

const TYPED: TaskTurn = {
  query: 'type ab',
  expected: [
    { app: 'typewriter', tool: 'type', arguments: { letter: 'a' } },
    { app: 'typewriter', tool: 'type', arguments: { letter: 'b' } },
  ],
  order: 'total',
  says: ['Milk, soy'],
};
const made = (letter: string) => ({ app: 'typewriter', tool: 'type', arguments: { letter }, at: 0n });
const told = (answer: string): Outcome => ({ kind: 'answered', answer, reason: null, help: null });

test('steps count in their order, with their arguments, and no others with them', () => {
  const steps = (letters: readonly string[], turn: TaskTurn = TYPED) =>
    judge({ turns: [turn] }, letters.map(made), [told('["Milk","Soy"]')]).isStepped;
  assert.equal(steps(['a', 'b']), true);
  assert.equal(steps(['b', 'a']), false);
  assert.equal(steps(['b', 'a'], { ...TYPED, order: 'none' }), true);
  assert.equal(steps(['a', 'c'], { ...TYPED, order: 'none' }), false);
  assert.equal(steps(['b', 'a'], { ...TYPED, order: 'each app' }), false);
  assert.equal(steps(['a']), false);
  assert.equal(steps(['a', 'b', 'b']), false);
});

test('an answer counts by its letters and digits, and only if it was given', () => {
  const answers = (outcome: Outcome) =>
    judge({ turns: [TYPED] }, [made('a'), made('b')], [outcome]).isAnswered;
  assert.equal(answers(told('They are ["Milk","Soy"].')), true);
  assert.equal(answers(told('Milk only')), false);
  assert.equal(answers({ ...told('Milk, soy'), kind: 'refused' }), false);
});

test('where apps share no state only the order in each of them counts', () => {
  const expected = ['files', 'chat', 'files'].map((app, at) => ({ app, tool: 'do', arguments: { at } }));
  const turn: TaskTurn = { query: 'q', expected, order: 'each app', says: [] };
  const steps = (order: readonly number[]) =>
    judge(
      { turns: [turn] },
      order.flatMap((at) => expected.slice(at, at + 1).map((call) => ({ ...call, at: 0n }))),
      [told('done')],
    ).isStepped;
  assert.equal(steps([1, 0, 2]), true);
  assert.equal(steps([0, 2, 1]), true);
  assert.equal(steps([2, 1, 0]), false);
});
