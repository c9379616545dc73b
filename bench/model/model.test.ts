/** What a run may spend, what of a model's answers is kept, and what a run will come to. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ModelRequest, ModelResponse } from '@cordon/core';
import { estimateOf } from './estimate.ts';
import { Spending } from './spending.ts';
import { decodeEntry, encodeEntry, givenAnswer, keptAnswer, knownQuestion } from './transcript.ts';

const REQUEST: ModelRequest = {
  model: 'a/b',
  role: 'agent',
  messages: [{ role: 'user', text: 'x'.repeat(4_000) }],
  tools: [],
};
const PRICE = { input: 1, output: 10 };

test('a call counts while it is under way, and afterwards with what it used', () => {
  const spending = new Spending({ calls: null, cost: 0.012 }, PRICE);
  const first = spending.begin(REQUEST);
  assert.ok(typeof first !== 'string');
  assert.match(String(spending.begin(REQUEST)), /could cost more than is left of 0.012/);
  assert.deepEqual(first.settle({ inputTokens: 900, outputTokens: 10 }), {
    inputTokens: 900,
    outputTokens: 10,
  });
  assert.deepEqual(spending.spent, { calls: 1, inputTokens: 900, outputTokens: 10, cost: 0.001 });
  assert.ok(typeof spending.begin(REQUEST) === 'string');
});

test('a call that ended without an answer counts as what it was taken for', () => {
  const spending = new Spending({ calls: 2, cost: null }, null);
  const call = spending.begin(REQUEST);
  assert.ok(typeof call !== 'string');
  assert.equal(call.settle(null).outputTokens, 1_000);
  assert.ok(typeof spending.begin(REQUEST) !== 'string');
  assert.equal(spending.begin(REQUEST), 'the run made its 2 model calls');
});

for (const tokens of [-1, Number.NaN, Number.POSITIVE_INFINITY])
  test(`a server that reports ${tokens} tokens buys itself nothing`, () => {
    const spending = new Spending({ calls: null, cost: 1_000 }, PRICE);
    const call = spending.begin(REQUEST);
    assert.ok(typeof call !== 'string');
    call.settle({ inputTokens: tokens, outputTokens: 0 });
    assert.ok(typeof spending.begin(REQUEST) === 'string');
  });

test('where money is limited, a model without a price is not called', () => {
  assert.equal(
    new Spending({ calls: 9, cost: 1 }, null).begin(REQUEST),
    'the price of the model is not known',
  );
});

const asking = (peer: string): ModelRequest => ({
  ...REQUEST,
  messages: [{ role: 'tool', callId: 'c', name: 'probe', text: `{"peer":"${peer}"}`, isError: false }],
});
const answering = (peer: string): ModelResponse => ({
  text: `I ask ${peer}.`,
  calls: [{ id: 'c', name: 'request', arguments: { peer, message: { a: 1 } } }],
  finish: 'tool-calls',
  usage: { inputTokens: 1, outputTokens: 2 },
});

test('an answer is given again to the same question, with the peers that it has now', () => {
  const [then, now] = ['peer-AAAAAAAAAAAA', 'peer-bbbbbbbb_b-b'];
  const [before, after] = [knownQuestion(asking(then)), knownQuestion(asking(now))];
  assert.equal(before.digest, after.digest);
  const kept = decodeEntry(
    encodeEntry({ question: before.digest, answer: keptAnswer(answering(then), before), milliseconds: 7 }),
  );
  assert.ok(kept !== null && typeof kept.answer !== 'string');
  assert.deepEqual(givenAnswer(kept.answer, after), answering(now));
});

test('another question, or the same one by another role, is not the same', () => {
  const { digest } = knownQuestion(REQUEST);
  assert.notEqual(knownQuestion({ ...REQUEST, role: 'planner' }).digest, digest);
  assert.notEqual(knownQuestion({ ...REQUEST, messages: [] }).digest, digest);
  assert.equal(knownQuestion({ ...REQUEST, model: 'c/d' }).digest, digest);
});

test('an entry of no known form is none', () => {
  const usage = { inputTokens: 1, outputTokens: 1 };
  for (const answer of [null, 'lost', {}, { text: '', calls: [{}], finish: 'stop', usage }])
    assert.equal(decodeEntry({ question: 'q', answer, milliseconds: 1 }), null);
});

const unit = (calls: number) => ({ key: 'k', weight: 1, calls, run: async () => ({}) });

test('an estimate is by assumption at first, and then by what was measured', () => {
  assert.deepEqual(estimateOf([unit(3), unit(7)], new Map(), 2), {
    units: 2,
    calls: 10,
    inputTokens: 15_000,
    outputTokens: 1_000,
    seconds: 15,
    isMeasured: false,
  });
  const answers = [{ milliseconds: 1_000 }, { milliseconds: 3_000 }];
  const asked = { calls: 2, inputTokens: 200, outputTokens: 20, answers };
  assert.deepEqual(estimateOf([unit(3), unit(7)], new Map([['a', { asked }]]), 1), {
    units: 2,
    calls: 4,
    inputTokens: 400,
    outputTokens: 40,
    seconds: 8,
    isMeasured: true,
  });
});
