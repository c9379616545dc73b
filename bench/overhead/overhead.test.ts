/** That each moment of a query counts once, where it was waited for; and one conversation in real processes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Event, HUB_LABEL, id, isJsonObject, type JsonObject, type Model } from '@cordon/core';
import { NOT_NEEDED } from '@cordon/hub';
import { offeredTools, type TurnContext } from '@cordon/protocol';
import { isLeftOut } from '../../tools/cases.ts';
import type { Unit } from '../evaluation/suite.ts';
import { readTasks } from '../functionality/data.ts';
import { type Measure, measures } from './measure.ts';
import { NEED_TOKENS } from './report.ts';
import { startProvider } from './simulated-provider.ts';
import { overheadSuite } from './suite.ts';
import { timeByApps } from './table-four.ts';
import { tokensIn } from './tokens.ts';

let sequence = 0;
function event(time: number, context: string | null, body: object): Event {
  const frame = {
    id: id(`e${++sequence}`),
    session: id('s'),
    sequence,
    time,
    context: context === null ? null : id(context),
    app: null,
    causes: [],
    label: HUB_LABEL,
  };
  // As a reader of a journal has it: the bodies below are those of the kinds that they name, as far as they are read.
  return JSON.parse(JSON.stringify({ ...frame, ...body }));
}

const USAGE = { inputTokens: 1_000, outputTokens: 100 };
const QUERY: readonly Event[] = [
  event(0, null, { kind: 'user.message', text: 'q' }),
  event(1, 'p', { kind: 'context.created', of: 'planner', apps: [] }),
  event(10, 'p', { kind: 'model-call.proposed', tools: [] }),
  event(110, 'p', { kind: 'model-call.executed', milliseconds: 100, usage: USAGE }),
  event(150, null, { kind: 'app.started', milliseconds: 60, layers: [] }),
  event(260, 'a', { kind: 'model-call.executed', milliseconds: 100, usage: USAGE }),
  event(265, 'a', { kind: 'tool-call.executed', milliseconds: 5 }),
  event(270, null, { kind: 'query.ended', outcome: 'answered', reason: null }),
];

test('each moment of a query counts once, where it was waited for', () => {
  const [measure] = measures(QUERY, false);
  assert.deepEqual(measure, {
    total: 270,
    planning: 100,
    model: 100,
    tools: 5,
    starts: 40,
    hubMemory: 0,
    spokeMemory: 0,
    rest: 25,
    modelCalls: 2,
    planCalls: 1,
    factTokens: 0,
    learning: 0,
    needCalls: 0,
    inputTokens: 2_000,
    outputTokens: 200,
    dollars: 0.007,
    apps: 1,
  });
});

test('of the shared context nothing counts that lies before its first model call', () => {
  assert.equal(measures(QUERY, true)[0]?.total, 260);
});

test('a planner that plans beside a model call of the answering context is not waited for', () => {
  const beside = QUERY.toSpliced(
    4,
    0,
    event(112, 'a', { kind: 'model-call.executed', milliseconds: 102, usage: USAGE }),
  );
  const [measure] = measures(beside, false);
  assert.equal(measure?.planning, 0);
  assert.equal(measure?.model, 202);
});

test('what the model of a wrong guess says is waited for by nobody, and its tokens count', () => {
  const inVain = QUERY.toSpliced(
    4,
    0,
    event(112, 'g', { kind: 'model-call.executed', milliseconds: 102, usage: USAGE }),
    event(113, 'g', { kind: 'context.ended', reason: NOT_NEEDED }),
  );
  const [measure] = measures(inVain, false);
  assert.deepEqual(
    [measure?.planning, measure?.model, measure?.modelCalls, measure?.inputTokens],
    [100, 100, 3, 3_000],
  );
});

test('a model that looks for facts behind the answer costs tokens and no time of the query', () => {
  const learning = [
    ...QUERY,
    event(271, 'f', { kind: 'context.created', of: 'facts', apps: [] }),
    event(272, 'f', { kind: 'model-call.proposed', tools: [] }),
    event(472, 'f', { kind: 'model-call.executed', milliseconds: 200, usage: USAGE }),
  ];
  const [measure] = measures(learning, false);
  assert.deepEqual(
    [measure?.total, measure?.model, measure?.modelCalls, measure?.planCalls, measure?.dollars],
    [270, 100, 3, 1, 0.0105],
  );
  assert.deepEqual([measure?.factTokens, measure?.learning], [1_100, 200]);
});

test('calls that have `need` among their tools are counted, and it is as many tokens as the report says', () => {
  const asking = QUERY.toSpliced(
    5,
    0,
    event(160, 'a', { kind: 'model-call.proposed', tools: ['book', 'need'] }),
  );
  assert.equal(measures(asking, false)[0]?.needCalls, 1);
  const book = { name: 'book', description: '', parameters: { properties: { name: { type: 'string' } } } };
  const context: TurnContext = {
    system: '',
    history: [],
    query: '',
    data: [],
    tools: [book],
    offers: [],
    functionalities: [],
    serves: null,
    maxSteps: 1,
  };
  const tools = offeredTools(context, { hasPeer: false, hasReference: false, mayNeed: true });
  const need = tools.find(({ name }) => name === 'need');
  assert.equal(tokensIn(JSON.stringify({ type: 'function', function: need })), NEED_TOKENS);
});

test('a conversation is measured cold and warm, isolated and in one shared context', async (t) => {
  if (isLeftOut(t)) return;
  const prepared = await overheadSuite.prepare({
    isQuick: true,
    data: null,
    traces: null,
    labels: null,
    pairs: null,
  });
  assert.ok(prepared.ok);
  t.after(() => prepared.value.close());
  const unit: Unit | undefined = prepared.value.units.find(({ key }) => key.startsWith('relational/'));
  assert.ok(unit);
  const record: JsonObject = await unit.run(t.signal);
  for (const column of ['baseline', 'isolated']) {
    let memory = 0;
    const phases = record[column];
    for (const phase of ['cold', 'warm']) {
      const measure = isJsonObject(phases) ? phases[phase] : null;
      assert.ok(isJsonObject(measure), `${column}, ${phase}`);
      assert.ok(Number(measure.inputTokens) > 100 && Number(measure.outputTokens) > 0);
      assert.ok(Number(measure.apps) >= 1, 'apps were used');
      const isIsolated = column === 'isolated';
      assert.equal(
        Number(measure.factTokens) > 0,
        isIsolated,
        `${column}, ${phase}: a model looks for facts`,
      );
      assert.equal(
        Number(measure.learning) >= 150,
        isIsolated,
        `${column}, ${phase}: its provider is waited for`,
      );
      memory += Number(measure.hubMemory) + Number(measure.spokeMemory);
      // The provider is really waited for, by the answer or by what learns facts beside it, of which a slow machine overlaps more.
      const waited = Number(measure.model) + Number(measure.learning);
      assert.ok(waited >= 150 * (Number(measure.modelCalls) - Number(measure.planCalls)) * 0.9, `${waited}`);
    }
    // Of one phase there may be nothing to see: what goes on beside a model call is not waited for.
    assert.ok(memory > 0, `${column}: memories were used`);
  }
  const { result, sections } = prepared.value.report(new Map([[unit.key, record]]));
  assert.ok(isJsonObject(result.all) && result.all.queries === 2);
  assert.ok(sections.length >= 5);
  const costs = sections.find(({ title }) => title === 'Model calls, tokens and cost');
  assert.ok(costs?.kind === 'table');
  assert.deepEqual(costs.columns.slice(7, 9), ['in and out for facts', 'calls with `need`']);
  assert.ok(Number(costs.rows[0]?.[7]) > 100);
});

test('a report of nothing meets no aim', async (t) => {
  const prepared = await overheadSuite.prepare({
    isQuick: true,
    data: null,
    traces: null,
    labels: null,
    pairs: null,
  });
  assert.ok(prepared.ok);
  t.after(() => prepared.value.close());
  assert.ok(prepared.value.report(new Map()).aims.every(({ isMet }) => !isMet));
});

test('time in which only a memory worked is that memory’s, and counts once', () => {
  const spans = [
    { of: 'hub', from: 2, to: 5 },
    { of: 'spoke', from: 262, to: 264 },
    // Beside a model call it costs nothing; and a span of another query is none of this one.
    { of: 'spoke', from: 200, to: 210 },
    { of: 'hub', from: 400, to: 500 },
  ] as const;
  const [measure] = measures(QUERY, false, [], spans);
  assert.deepEqual(
    [measure?.hubMemory, measure?.spokeMemory, measure?.model, measure?.tools, measure?.rest],
    [3, 0, 100, 5, 22],
  );
});

const MEASURE: Measure = {
  total: 100,
  planning: 0,
  model: 80,
  tools: 10,
  starts: 0,
  hubMemory: 0,
  spokeMemory: 1,
  rest: 9,
  modelCalls: 2,
  planCalls: 0,
  factTokens: 0,
  learning: 0,
  needCalls: 0,
  inputTokens: 0,
  outputTokens: 0,
  dollars: 0,
  apps: 2,
};

test('table IV is by the number of apps used, and shares the extra time out to hub and spokes', () => {
  const isolated = { ...MEASURE, total: 200, planning: 50, model: 100, hubMemory: 5, starts: 20, rest: 14 };
  const query = { set: 'relational data', installed: 3, phase: 'cold', baseline: MEASURE, isolated } as const;
  const table = timeByApps([query, { ...query, phase: 'warm' }]);
  assert.ok(table.kind === 'table');
  assert.deepEqual(table.rows, [
    [
      ...['relational data', '2', '1', '80.0', '10.0', '1.0', '100.0'],
      ...['50.0', '5.0', '100.0', '10.0', '1.0', '20.0', '14.0', '200.0', '55.0', '20.0', '25.0'],
    ],
  ]);
});

test('where isolation takes no more time there is none to share out', () => {
  const query = { set: 's', installed: 1, phase: 'cold', baseline: MEASURE, isolated: MEASURE } as const;
  const table = timeByApps([query]);
  assert.deepEqual(table.kind === 'table' && table.rows[0]?.slice(-3), ['–', '–', '–']);
});

test('a model of a provider that plays is measured by its own calls, in both columns', async (t) => {
  if (isLeftOut(t)) return;
  const provider = await startProvider();
  t.after(() => provider.close());
  const tasks = readTasks({ data: null });
  assert.ok(tasks.ok);
  const mails = tasks.value.tasks.filter(({ set }) => set === 'e-mail extraction');
  await provider.play(mails.map(({ scenario }) => scenario));
  const prepared = await overheadSuite.prepare({
    isQuick: true,
    data: null,
    traces: null,
    labels: null,
    pairs: null,
    model: 'simulated/obedient',
  });
  assert.ok(prepared.ok);
  t.after(() => prepared.value.close());
  const unit = prepared.value.units.find(({ key }) => key.startsWith('e-mail/'));
  assert.ok(unit?.calls === 8, `${unit?.calls} calls are expected`);
  let calls = 0;
  const counting: Model = {
    complete: (request, options) => {
      calls++;
      return provider.model.complete(request, options);
    },
  };
  const record = await unit.run(t.signal, counting);
  assert.ok(calls >= 4, `${calls} calls`);
  const { sections } = prepared.value.report(new Map([[unit.key, record]]));
  const [method] = sections;
  assert.ok(method?.kind === 'text' && method.text.startsWith('`simulated/obedient` answers'));
});
