/** A planner that errs does so in each run in the same places, and where it names tools alone. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Model, type ModelRequest, ok, type ToolPlannerAnswer } from '@cordon/core';
import { planningWrongly } from './wrong-plans.ts';

const USAGE = { inputTokens: 1, outputTokens: 1 };
const TOOLS = ['read_mail', 'send_mail', 'delete_mail', 'list_folders'];
const NAMED = {
  uses: ['read_mail', 'send_mail'],
  from: [
    { tool: 'send_mail', argument: 'to', sources: ['field of read_mail', 'user'] },
    { tool: 'send_mail', argument: 'cc', sources: ['user'] },
  ],
  passes: ['read_mail'],
  follows: [],
};

/** Says the same to whatever it is asked. */
function saying(text: string): Model {
  return { complete: async () => ok({ text, calls: [], finish: 'stop', usage: USAGE }) };
}

const INPUT = JSON.stringify({ task: 'answer it', tools: TOOLS.map((name) => ({ name })) });

async function answerOf(model: Model, role: ModelRequest['role']): Promise<unknown> {
  const request = { role, messages: [{ role: 'user', text: INPUT }], tools: [] } as unknown as ModelRequest;
  const answer = await model.complete(request, { signal: AbortSignal.timeout(10_000) });
  assert.ok(answer.ok);
  return JSON.parse(answer.value.text);
}

const wrongly = (percent: number, key = 'a', plan: object = NAMED) =>
  planningWrongly(saying(JSON.stringify(plan)), { percent, key });

async function tenth(): Promise<readonly ToolPlannerAnswer[]> {
  const keys = Array.from({ length: 300 }, (_, index) => String(index));
  const answers = keys.map((key) => answerOf(wrongly(10, key), 'tool-planner'));
  return (await Promise.all(answers)) as readonly ToolPlannerAnswer[];
}

test('without errors it names what the model named', async () => {
  assert.deepEqual(await answerOf(wrongly(0), 'tool-planner'), NAMED);
});

test('with nothing but errors no tool of the task is left, and another one is named, without sources', async () => {
  const { uses, from, passes } = (await answerOf(wrongly(100), 'tool-planner')) as ToolPlannerAnswer;
  assert.equal(uses.length, 1);
  assert.ok(TOOLS.includes(String(uses[0])));
  assert.deepEqual([from, passes], [[], []]);
});

test('a tenth is wrong of tools, sources and answers, each time the same', async () => {
  const answers = await tenth();
  assert.deepEqual(await tenth(), answers);
  const few = (what: string, count: number) => assert.ok(count > 5 && count < 65, `${what}: ${count} of 300`);
  few('missing', answers.filter(({ uses }) => !uses.includes('send_mail')).length);
  few('one more', answers.filter(({ uses }) => uses.some((tool) => !NAMED.uses.includes(tool))).length);
  const sending = answers.filter(({ uses }) => uses.includes('send_mail'));
  few('no sources', sending.filter(({ from = [] }) => from.length === 0).length);
  const isWrong = (source: string) => source.startsWith('text of ');
  few(
    'wrong sources',
    sending.filter(({ from = [] }) => from.some(({ sources }) => sources.some(isWrong))).length,
  );
});

test('the plan of the steps and what acts stay as they are', async () => {
  assert.deepEqual(await answerOf(wrongly(100), 'planner'), NAMED);
  assert.deepEqual(await answerOf(wrongly(100), 'agent'), NAMED);
});

test('an answer that is no plan stays as it is', async () => {
  const model = planningWrongly(saying('"no plan"'), { percent: 100, key: 'a' });
  assert.equal(await answerOf(model, 'tool-planner'), 'no plan');
});
