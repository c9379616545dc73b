/** A planner that errs does so in each run in the same places, and in its plans alone. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Model, type ModelRequest, ok } from '@cordon/core';
import { planningWrongly } from './wrong-plans.ts';

const USAGE = { inputTokens: 1, outputTokens: 1 };
const TOOLS = new Map([['mail', ['read_mail', 'send_mail', 'delete_mail']]]);
const PLAN = {
  steps: [
    { app: 'mail', task: 'read', uses: ['read_mail', 'send_mail'], passes: ['read_mail'] },
    { app: null, task: 'sum up' },
  ],
};

/** Says the same to whatever it is asked. */
function saying(text: string): Model {
  return { complete: async () => ok({ text, calls: [], finish: 'stop', usage: USAGE }) };
}

async function answerOf(model: Model, role: ModelRequest['role']): Promise<unknown> {
  const request = { role, messages: [], tools: [] } as unknown as ModelRequest;
  const answer = await model.complete(request, { signal: AbortSignal.timeout(10_000) });
  assert.ok(answer.ok);
  return JSON.parse(answer.value.text);
}

const wrongly = (percent: number, key = 'a', plan: object = PLAN) =>
  planningWrongly(saying(JSON.stringify(plan)), { percent, key, tools: TOOLS });

test('without errors a plan is what the model made of it', async () => {
  assert.deepEqual(await answerOf(wrongly(0), 'planner'), PLAN);
});

test('with nothing but errors no tool of the plan is left, and another one is named', async () => {
  const plan = (await answerOf(wrongly(100), 'planner')) as typeof PLAN;
  assert.equal(plan.steps.length, 2);
  assert.equal(plan.steps[0]?.uses?.length, 1);
  assert.equal(TOOLS.get('mail')?.includes(String(plan.steps[0]?.uses?.[0])), true);
  assert.deepEqual(plan.steps[1], PLAN.steps[1]);
});

test('a tenth of the steps is wrong, each time the same', async () => {
  const plans = await Promise.all(
    Array.from({ length: 300 }, (_, index) => answerOf(wrongly(10, String(index)), 'planner')),
  );
  const again = await Promise.all(
    Array.from({ length: 300 }, (_, index) => answerOf(wrongly(10, String(index)), 'planner')),
  );
  assert.deepEqual(again, plans);
  const sends = plans.filter((plan) => JSON.stringify(plan).includes('send_mail')).length;
  assert.ok(sends > 240 && sends < 300, `${sends} of 300`);
});

test('what names the tools of one app errs, too; what acts does not', async () => {
  const named = { uses: ['send_mail'], from: [] };
  assert.deepEqual(await answerOf(wrongly(100, 'a', named), 'tool-planner'), { from: [] });
  assert.deepEqual(await answerOf(wrongly(100, 'a', named), 'agent'), named);
});

test('an answer that is no plan stays as it is', async () => {
  const model = planningWrongly(saying('"no plan"'), { percent: 100, key: 'a', tools: TOOLS });
  assert.equal(await answerOf(model, 'planner'), 'no plan');
});
