import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { DEFAULT_TURN_LIMITS, type ModelPrice, type TurnLimits } from '@cordon/core';
import { Budget, toldUse } from '../../src/context/budget.ts';

interface Wallet {
  readonly budget: Budget;
  /** How often the query was told that a limit was reached. */
  readonly overs: () => number;
}

function budgetOf(
  t: TestContext,
  limits: Partial<TurnLimits>,
  prices: Readonly<Record<string, ModelPrice>> = {},
): Wallet {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'] });
  let overs = 0;
  const budget = new Budget({
    limits: { ...DEFAULT_TURN_LIMITS, ...limits },
    prices: new Map(Object.entries(prices)),
    now: Date.now,
    onOver: () => overs++,
  });
  t.after(() => budget.pause());
  return { budget, overs: () => overs };
}

/** A call of the model `m` that uses so much. */
function spend(budget: Budget, inputTokens: number, outputTokens = 0): string | null {
  const reserved = budget.reserve('m', 0);
  if (!reserved.ok) return reserved.fault.message;
  reserved.value.settle({ inputTokens, outputTokens });
  return null;
}

test('calls fit until the tokens are used, and not one more', (t) => {
  const { budget } = budgetOf(t, { tokens: 100 });
  assert.equal(spend(budget, 60, 39), null);
  assert.equal(spend(budget, 1), null);
  assert.equal(spend(budget, 1), 'the query reached its limit of 100 tokens');
  assert.equal(budget.exceeded?.limit, 'tokens');
  assert.equal(budget.used.tokens, 100);
});

test('what is under way counts: two at the same time cannot each take the last', (t) => {
  const { budget } = budgetOf(t, { tokens: 1_500 });
  const first = budget.reserve('m', 4_000);
  assert.ok(first.ok);
  assert.equal(budget.reserve('m', 0).ok, false);
});

test('what was announced and failed is free again, and settled once', (t) => {
  const { budget } = budgetOf(t, { tokens: 10_000 });
  const first = budget.reserve('m', 4_000);
  assert.ok(first.ok);
  first.value.settle(null);
  first.value.settle({ inputTokens: 9_999, outputTokens: 9 });
  assert.equal(budget.used.tokens, 0);
  assert.equal(spend(budget, 1), null);
});

test('a limit of money holds, with what each model costs', (t) => {
  const { budget } = budgetOf(t, { cost: 0.01 }, { m: { input: 10, output: 40 } });
  assert.equal(spend(budget, 200, 100), null);
  assert.equal(budget.used.cost, 0.006);
  assert.equal(spend(budget, 200, 100), null);
  assert.equal(spend(budget, 1), 'the query reached its cost limit of 0.01');
  assert.equal(budget.exceeded?.limit, 'cost');
});

test('a model without a price does not run where money is limited, and is not free where it is not', (t) => {
  const limited = budgetOf(t, { cost: 5 }, { other: { input: 1, output: 1 } }).budget;
  assert.equal(spend(limited, 1), 'the price of `m` is unknown, so the cost limit cannot be enforced');
  assert.match(limited.exceeded?.fault.help ?? '', /prices/);
});

test('a model that costs nothing runs where nothing may be spent, and no other does', (t) => {
  assert.equal(spend(budgetOf(t, { cost: 0 }, { m: { input: 0, output: 0 } }).budget, 1_000), null);
});

test('where nothing may be spent, a model that costs a little does not run', (t) => {
  assert.notEqual(spend(budgetOf(t, { cost: 0 }, { m: { input: 0, output: 1 } }).budget, 1), null);
});

test('without a limit of money an unknown price is said to be unknown', (t) => {
  const { budget } = budgetOf(t, {});
  assert.equal(budget.used.cost, 0);
  assert.equal(spend(budget, 1), null);
  assert.equal(budget.used.cost, null);
});

for (const tokens of [-1_000_000, Number.NaN, Number.POSITIVE_INFINITY]) {
  test(`a server that reports ${tokens} tokens buys nothing with it`, (t) => {
    const { budget } = budgetOf(t, { tokens: 100 });
    assert.equal(spend(budget, tokens), null);
    assert.notEqual(spend(budget, 1), null);
  });
}

test('the time of a query is over once, and then nothing fits', (t) => {
  const { budget, overs } = budgetOf(t, { seconds: 5 });
  budget.resume();
  t.mock.timers.tick(4_999);
  assert.equal(spend(budget, 1), null);
  t.mock.timers.tick(1);
  assert.equal(overs(), 1);
  assert.equal(spend(budget, 1), 'the query reached its time limit of 5 s');
  assert.equal(budget.exceeded?.limit, 'seconds');
});

test('while the user is asked the time stands still', (t) => {
  const { budget, overs } = budgetOf(t, { seconds: 5 });
  budget.resume();
  t.mock.timers.tick(3_000);
  budget.pause();
  t.mock.timers.tick(3_600_000);
  assert.equal(overs(), 0);
  budget.resume();
  t.mock.timers.tick(1_999);
  assert.equal(overs(), 0);
  assert.equal(budget.used.milliseconds, 4_999);
  t.mock.timers.tick(1);
  assert.equal(overs(), 1);
});

// A question that was open when the query ended is answered by that.
test('what comes when the query is over starts no clock', (t) => {
  const { budget, overs } = budgetOf(t, { seconds: 5 });
  budget.resume();
  t.mock.timers.tick(3_000);
  budget.pause();
  budget.end();
  budget.resume();
  t.mock.timers.tick(3_600_000);
  assert.deepEqual([overs(), budget.used.milliseconds], [0, 3_000]);
});

test('the first limit that is reached is the one that is told', (t) => {
  const { budget } = budgetOf(t, { tokens: 1, seconds: 5 });
  budget.resume();
  spend(budget, 1);
  spend(budget, 1);
  t.mock.timers.tick(5_000);
  assert.equal(budget.exceeded?.limit, 'tokens');
});

test('what was used is told in one line', () => {
  const used = { modelCalls: 5, tokens: 440, milliseconds: 1_240, cost: 0.012345 };
  assert.equal(toldUse(used), '5 model calls, 440 tokens, 1.2 s, a price of 0.0123');
  assert.equal(toldUse({ ...used, modelCalls: 1, cost: null }), '1 model call, 440 tokens, 1.2 s');
});

test('a call that the query can do without is made where four like it fit, and never ends the query', (t) => {
  const { budget, overs } = budgetOf(t, { tokens: 8_000 });
  assert.ok(budget.reserveSpare('m', 4_000).ok);
  // 6000 are left, and this one would count 2000.
  assert.equal(budget.reserveSpare('m', 4_000).ok, false);
  assert.equal(overs(), 0);
  assert.ok(budget.reserve('m', 4_000).ok);
});

test('a call that the query can do without is made where its money is there four times', (t) => {
  const prices = { m: { input: 0, output: 1_000 } };
  const rich = budgetOf(t, { cost: 4 }, prices).budget;
  assert.ok(rich.reserveSpare('m', 0).ok);
  assert.equal(rich.reserveSpare('m', 0).ok, false);
  assert.equal(rich.reserveSpare('of no known price', 0).ok, false);
  assert.equal(rich.exceeded, null);
});
