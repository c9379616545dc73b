/**
 * Runs in which a model over real HTTP plays: rate limits, wrong answers, a limit that is reached, a key that is refused,
 * and the same run judged again from the answers that it kept.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { isJsonObject, type Json, type JsonObject, type Model } from '@cordon/core';
import { createModelBroker } from '@cordon/llm';
import {
  type FakeAnswer,
  type FakeChatRequest,
  startFakeOpenAi,
} from '@cordon/testkit/fake-openai/server.ts';
import { isLeftOut } from '../../tools/cases.ts';
import { type Ran, runSuite } from '../evaluation/running/run.ts';
import { keptRecords, RunStore } from '../evaluation/running/run-store.ts';
import type { Suite } from '../evaluation/suite.ts';
import { readTasks } from '../functionality/data.ts';
import { functionalitySuite } from '../functionality/suite.ts';
import { startProvider } from '../overhead/simulated-provider.ts';
import { providerModel, replayedModel, Spending, type SpendingLimits } from './index.ts';
import type { PlayedModel } from './played-model.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'cordon-play-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const MAILS = ['e-mail/1', 'e-mail/2'];

/** The functionality suite with these units only. */
function only(keys: readonly string[]): Suite {
  return {
    ...functionalitySuite,
    jobs: 1,
    prepare: async (request) => {
      const prepared = await functionalitySuite.prepare(request);
      if (!prepared.ok) return prepared;
      const { units } = prepared.value;
      return { ok: true, value: { ...prepared.value, units: units.filter(({ key }) => keys.includes(key)) } };
    },
  };
}

interface Trial {
  readonly ran: Ran;
  readonly stopped: readonly string[];
  readonly failures: readonly string[];
}

async function run(
  suite: Suite,
  out: string,
  played: (onStop: (reason: string) => void) => PlayedModel,
): Promise<Trial> {
  const store = RunStore.open(out);
  assert.ok(store.ok);
  const stop = new AbortController();
  const stopped: string[] = [];
  const failures: string[] = [];
  const model = played((reason) => {
    stopped.push(reason);
    stop.abort();
  });
  try {
    const ran = await runSuite(suite, {
      request: { isQuick: false, data: null, traces: null, labels: null, pairs: null, model: model.id },
      store: store.value,
      version: { code: 'c', policy: 'p' },
      start: 'same',
      signal: stop.signal,
      now: () => performance.now(),
      observer: {
        began: () => {},
        progressed: () => {},
        unitFailed: (key, message) => failures.push(`${key}: ${message}`),
      },
      played: { model, agrees: () => null },
    });
    assert.ok(ran.ok, JSON.stringify(ran));
    return { ran: ran.value, stopped, failures };
  } finally {
    store.value.close();
  }
}

function served(
  model: Model,
  limits: SpendingLimits = { calls: 1_000, cost: null },
): (onStop: (reason: string) => void) => PlayedModel {
  return (onStop) =>
    providerModel({
      id: 'local/recorded',
      model,
      spending: new Spending(limits, null),
      onStop,
      now: () => performance.now(),
    });
}

function over(baseUrl: string, key?: string): Model {
  return createModelBroker({
    providers: new Map([
      ['local', { kind: 'openai-compatible', baseUrl, ...(key === undefined ? {} : { key }) }],
    ]),
    fetch,
    random: () => 0,
    clock: Date.now,
    // What a server asks for is waited for in no time.
    sleep: async () => undefined,
  });
}

/** Plays recorded answers: by the e-mail that a question holds; the plan is that no app is needed. */
function recorded(change: (answer: string, mail: number) => string = (answer) => answer) {
  const tasks = readTasks({ data: null });
  assert.ok(tasks.ok);
  const turns = MAILS.map((key) => tasks.value.tasks.find((task) => task.key === key)?.turns[0]);
  return ({ messages, responseFormat }: FakeChatRequest): FakeAnswer => {
    if (responseFormat !== undefined) return { kind: 'completion', text: '{"app":null}' };
    const asked = messages.map(({ content }) => content).join('\n');
    const mail = turns.findIndex((turn) => turn !== undefined && asked.includes(turn.query));
    return { kind: 'completion', text: change(turns[mail]?.reference ?? 'no such mail', mail) };
  };
}

function recordsIn(out: string): ReadonlyMap<string, JsonObject> {
  const kept = keptRecords(out, 'functionality');
  assert.ok(kept.ok);
  return kept.value.records;
}

function column(record: JsonObject | undefined, name: 'baseline' | 'isolated'): JsonObject {
  const found: Json | undefined = record?.[name];
  assert.ok(isJsonObject(found));
  return found;
}

test('a model that answers as expected is judged so, also where it had to be asked again because of a rate limit', async (t) => {
  if (isLeftOut(t)) return;
  const answer = recorded();
  const server = await startFakeOpenAi({
    script: (request, number) =>
      number % 3 === 1
        ? {
            kind: 'failure',
            status: 429,
            headers: { 'retry-after': '1' },
            body: '{"error":{"message":"slow down"}}',
          }
        : answer(request),
  });
  t.after(() => server.close());
  const { ran, failures } = await run(only(MAILS), folder, served(over(server.baseUrl)));
  assert.deepEqual([failures, ran.missing, ran.isInterrupted], [[], [], false]);
  assert.deepEqual(
    ran.result.aims.map(({ measured, isMet }) => [measured, isMet]),
    [
      ['1.00', true],
      ['1.00', true],
    ],
  );
  assert.equal(ran.result.run.model, 'local/recorded');
  assert.equal(column(recordsIn(folder).get('e-mail/1'), 'isolated').editDistance, 0);
});

test('a wrong answer counts as a mistake of the model, and not as a unit that could not be measured', async (t) => {
  if (isLeftOut(t)) return;
  const wrong = recorded((answer, mail) => (mail === 0 ? '{"sender":"nobody"}' : answer));
  const server = await startFakeOpenAi({ script: wrong });
  t.after(() => server.close());
  const { ran } = await run(only(MAILS), folder, served(over(server.baseUrl)));
  assert.deepEqual(ran.missing, []);
  const records = recordsIn(folder);
  for (const name of ['baseline', 'isolated'] as const) {
    const { isAnswered, mistakes, editDistance } = column(records.get('e-mail/1'), name);
    assert.deepEqual([isAnswered, mistakes], [false, ['unexpected response']]);
    assert.ok(Number(editDistance) > 0.5);
    assert.equal(column(records.get('e-mail/2'), name).isAnswered, true);
  }
});

test('a run that reaches its limit keeps what it measured, goes on, and is judged again without the model', async (t) => {
  if (isLeftOut(t)) return;
  const server = await startFakeOpenAi({ script: recorded() });
  let isOpen = true;
  t.after(() => (isOpen ? server.close() : undefined));
  const [suite, model] = [only(MAILS), over(server.baseUrl)];
  const first = await run(suite, folder, served(model, { calls: 3, cost: null }));
  assert.deepEqual([first.stopped[0], first.ran.isInterrupted], ['the run made its 3 model calls', true]);
  assert.deepEqual([server.requests.length, first.ran.missing], [3, ['e-mail/2']]);

  const second = await run(suite, folder, served(model));
  assert.deepEqual([second.ran.missing, second.ran.isInterrupted], [[], false]);
  const before = readFileSync(join(folder, 'functionality.jsonl'), 'utf8').trim().split('\n').length;
  assert.equal(before, 2);

  await server.close();
  isOpen = false;
  const kept = keptRecords(folder, 'functionality');
  assert.ok(kept.ok);
  const again = await run(suite, join(folder, 'again'), () => replayedModel(kept.value, false));
  assert.deepEqual([again.failures, again.ran.missing], [[], []]);
  assert.deepEqual(again.ran.result.figures, second.ran.result.figures);
  assert.equal(again.ran.result.run.isReplay, true);
});

test('a key that is refused ends the run at once, and nothing counts as measured', async (t) => {
  const server = await startFakeOpenAi({ script: recorded(), key: 'right' });
  t.after(() => server.close());
  const store = RunStore.open(folder);
  assert.ok(store.ok);
  t.after(() => store.value.close());
  const stop = new AbortController();
  const model = served(over(server.baseUrl, 'wrong'))(() => stop.abort());
  const ran = await runSuite(only(MAILS), {
    request: { isQuick: false, data: null, traces: null, labels: null, pairs: null, model: model.id },
    store: store.value,
    version: { code: 'c', policy: 'p' },
    start: 'same',
    signal: stop.signal,
    now: () => performance.now(),
    observer: { began: () => {}, progressed: () => {}, unitFailed: () => {} },
    played: { model, agrees: () => null },
  });
  assert.equal(ran.ok ? '' : ran.fault.message, 'interrupted before anything was measured');
  assert.ok(server.requests.length <= 2, `${server.requests.length} requests`);
});

test('a provider that is down leaves units without a record, and they are not wrong', async (t) => {
  if (isLeftOut(t)) return;
  const server = await startFakeOpenAi({
    script: () => ({ kind: 'failure', status: 500, headers: {}, body: '' }),
  });
  t.after(() => server.close());
  const { ran, failures } = await run(only(['e-mail/1']), folder, served(over(server.baseUrl)));
  assert.deepEqual(ran.missing, ['e-mail/1']);
  assert.match(failures[0] ?? '', /e-mail\/1: the model could not be asked/);
});

test('a task in which apps exchange data is played again without the model', async (t) => {
  if (isLeftOut(t)) return;
  const provider = await startProvider();
  let isOpen = true;
  t.after(() => (isOpen ? provider.close() : undefined));
  const tasks = readTasks({ data: null });
  assert.ok(tasks.ok);
  const key = 'relational/19';
  const scenario = tasks.value.tasks.find((task) => task.key === key)?.scenario;
  assert.ok(scenario !== undefined);
  await provider.play([scenario]);
  const named: Model = {
    complete: (request, options) =>
      provider.model.complete({ ...request, model: 'simulated/obedient' }, options),
  };
  const first = await run(only([key]), folder, served(named));
  assert.deepEqual([first.failures, first.ran.missing], [[], []]);
  await provider.close();
  isOpen = false;
  const kept = keptRecords(folder, 'functionality');
  assert.ok(kept.ok);
  const again = await run(only([key]), join(folder, 'again'), () => replayedModel(kept.value, false));
  assert.deepEqual([again.failures, again.ran.missing], [[], []]);
  assert.deepEqual(again.ran.result.figures, first.ran.result.figures);
});

test('a unit of which no answers were kept is not measured', async (t) => {
  if (isLeftOut(t)) return;
  const data = { name: 'answers/functionality', sha256: '00' };
  const { ran, failures } = await run(only(['e-mail/1']), folder, () =>
    replayedModel({ model: 'a/b', records: new Map(), data }, false),
  );
  assert.deepEqual(ran.missing, ['e-mail/1']);
  assert.match(failures[0] ?? '', /no answers were kept of this unit/);
});
