/** Tables II and III on answers and calls whose values can be told by hand. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Outcome } from '@cordon/hub';
import { judge } from './judgement.ts';
import { similarity } from './similarity.ts';
import type { TaskTurn } from './task.ts';

const call = (tool: string, args = {}) => ({ app: 'people', tool, arguments: args, at: 0n });
const answered = (answer: string): Outcome => ({ kind: 'answered', answer, reason: null, help: null });
const TURN: TaskTurn = {
  query: 'q',
  expected: [call('find', { name: 'eve' }), call('color', { id: 1 })],
  order: 'total',
  says: ['red'],
};
const mistakes = (calls: readonly ReturnType<typeof call>[], outcome: Outcome, turn: TaskTurn = TURN) =>
  judge({ turns: [turn] }, calls, [outcome]).mistakes;
const [FIND, COLOR] = [call('find', { name: 'eve' }), call('color', { id: 1 })];

test('what is done as expected shows no mistake', () => {
  assert.deepEqual(mistakes([FIND, COLOR], answered('It is red.')), []);
});

for (const { what, calls, told, expected } of [
  { what: 'a second call', calls: [FIND, FIND, COLOR], told: 'red', expected: ['app called twice'] },
  {
    what: 'a call too many',
    calls: [FIND, COLOR, call('list')],
    told: 'red',
    expected: ['unexpected app called'],
  },
  { what: 'a call too few', calls: [FIND], told: 'red', expected: ['expected app not called'] },
  { what: 'another order', calls: [COLOR, FIND], told: 'red', expected: ['unexpected calling order'] },
  {
    what: 'other arguments',
    calls: [FIND, call('color', { id: 2 })],
    told: 'red',
    expected: ['other arguments'],
  },
  { what: 'a wrong answer', calls: [FIND, COLOR], told: 'blue', expected: ['incorrect response'] },
  {
    what: 'several things at once',
    calls: [FIND, call('list')],
    told: 'blue',
    expected: ['unexpected app called', 'expected app not called', 'incorrect response'],
  },
])
  test(`${what} is told by its kind`, () => {
    assert.deepEqual(mistakes(calls, answered(told)), expected);
  });

test('without apps a wrong answer is unexpected, and a question that is too long is told apart', () => {
  const turn = { ...TURN, expected: [] };
  assert.deepEqual(mistakes([], answered('blue'), turn), ['unexpected response']);
  const failed = (reason: string): Outcome => ({ kind: 'failed', answer: null, reason, help: null });
  assert.deepEqual(mistakes([], failed('it exceeds the context window'), turn), ['context window exceeded']);
  assert.deepEqual(mistakes([], failed('the provider is gone'), turn), ['no answer']);
});

test('edit distance counts insertions, deletions, substitutions and swaps, by the longer text', () => {
  assert.equal(similarity('abcd', 'abcd').editDistance, 0);
  assert.equal(similarity('abcd', 'abdc').editDistance, 0.25);
  assert.equal(similarity('abcd', 'abc').editDistance, 0.25);
  assert.equal(similarity('', 'abcd').editDistance, 1);
});

test('the string score is that of Jaro and Winkler', () => {
  const score = (a: string, b: string) => similarity(a, b).stringScore.toFixed(4);
  assert.equal(score('MARTHA', 'MARHTA'), '0.9611');
  assert.equal(score('DIXON', 'DICKSONX'), '0.8133');
  assert.equal(score('abc', 'xyz'), '0.0000');
});

test('an object is compared without the words around it and the order of its fields', () => {
  const near = similarity('Here it is: {"b": 1, "a": "x"}.', '{"a":"x","b":1}');
  assert.deepEqual(near, { editDistance: 0, stringScore: 1 });
});

test('only a turn with a reference is compared by its text', () => {
  const judged = (turn: TaskTurn) => judge({ turns: [turn] }, [FIND, COLOR], [answered('It is red.')]);
  assert.equal(judged(TURN).editDistance, null);
  assert.equal(judged({ ...TURN, reference: 'It is red.' }).editDistance, 0);
});
