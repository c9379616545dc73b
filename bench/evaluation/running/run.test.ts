import assert from 'node:assert/strict';
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { fault, type JsonObject, type Result } from '@cordon/core';
import { readResults } from '../result.ts';
import type { BenchRequest, DataFile, Suite, Unit } from '../suite.ts';
import type { Choice } from './choice.ts';
import { type Progress, type Ran, runSuite } from './run.ts';
import { type Beginning, RunStore, type Start } from './run-store.ts';

const REQUEST: BenchRequest = {
  isQuick: false,
  data: null,
  traces: null,
  labels: null,
  pairs: null,
};

const DATA: readonly DataFile[] = [{ name: 'x', sha256: '00' }];
const OTHER_DATA: readonly DataFile[] = [{ name: 'x', sha256: '01' }];

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'cordon-bench-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Counts to the number of its units. */
interface Scripted {
  readonly keys?: readonly string[];
  readonly data?: readonly DataFile[];
  readonly jobs?: number;
  readonly unit?: (key: string, signal: AbortSignal) => Promise<JsonObject>;
}

interface Wished extends Choice {
  readonly isQuick?: boolean;
  readonly code?: string;
  readonly start?: Start;
}

class Trial {
  readonly run: string[] = [];
  readonly beginnings: Beginning[] = [];
  readonly failures: string[] = [];
  readonly progress: Progress[] = [];
  readonly stop = new AbortController();
  closed = 0;

  suite({ keys = ['a', 'b', 'c'], data = [], jobs = 1, unit }: Scripted): Suite {
    return {
      id: 'machine',
      question: 'how many units are there?',
      jobs,
      takes: [],
      prepare: async () => ({
        ok: true,
        value: {
          data,
          units: keys.map(
            (key): Unit => ({
              key,
              weight: 1,
              run: async (signal) => {
                this.run.push(key);
                return unit?.(key, signal) ?? { key };
              },
            }),
          ),
          close: async () => {
            this.closed += 1;
          },
          report: (records) => ({
            result: { counted: records.size },
            aims: [{ what: 'units', measured: String(records.size), aim: '3', isMet: true }],
            sections: [{ kind: 'table', title: 'Units', columns: [''], rows: [], note: null }],
          }),
        },
      }),
    };
  }

  async make(
    scripted: Scripted,
    { isQuick = false, code = 'one', start = 'same', ...choice }: Wished = {},
  ): Promise<Ran> {
    const store = opened(RunStore.open(folder));
    try {
      const ran = await runSuite(this.suite(scripted), {
        request: { ...REQUEST, isQuick, ...choice },
        store,
        version: { code, policy: 'rules' },
        start,
        signal: this.stop.signal,
        now: () => performance.now(),
        observer: {
          began: (beginning) => this.beginnings.push(beginning),
          progressed: (now) => this.progress.push(now),
          unitFailed: (key, message) => this.failures.push(`${key}: ${message}`),
        },
      });
      return opened(ran);
    } finally {
      store.close();
    }
  }
}

function opened<Value>(result: Result<Value, unknown>): Value {
  if (!result.ok) throw new Error(JSON.stringify(result.fault));
  return result.value;
}

test('what was measured before an interruption is not measured again', async () => {
  const first = new Trial();
  const { result, isInterrupted } = await first.make({
    unit: async (key) => {
      if (key === 'b') first.stop.abort();
      return { key };
    },
  });
  assert.equal(isInterrupted, true);
  assert.deepEqual(first.run, ['a', 'b']);
  // What came from `b` came after it was told to stop.
  assert.deepEqual(result.figures, { counted: 1 });
  assert.equal(first.closed, 1);
  const second = new Trial();
  const { result: whole, missing } = await second.make({});
  assert.deepEqual(second.run, ['b', 'c']);
  assert.deepEqual(second.beginnings, [{ kind: 'resumed', records: 1 }]);
  assert.deepEqual([whole.figures, whole.run.measured, missing], [{ counted: 3 }, 3, []]);
});

test('a run that is stopped before its first record has no result', async () => {
  const trial = new Trial();
  trial.stop.abort();
  await assert.rejects(trial.make({}), /interrupted before anything was measured/);
  assert.deepEqual([trial.run, trial.closed, existsSync(join(folder, 'machine.json'))], [[], 1, false]);
});

test('a line that a kill has cut off is measured again, and the next one does not join it', async () => {
  await new Trial().make({ keys: ['a'] });
  appendFileSync(join(folder, 'machine.jsonl'), '{"key":"b","reco');
  const trial = new Trial();
  await trial.make({ keys: ['a', 'b'] });
  assert.deepEqual(trial.run, ['b']);
  assert.equal(
    readFileSync(join(folder, 'machine.jsonl'), 'utf8'),
    '{"key":"a","record":{"key":"a"}}\n{"key":"b","record":{"key":"b"}}\n',
  );
});

test('a lock that a killed run left behind does not stop the next one', async () => {
  writeFileSync(join(folder, 'run.lock'), '999999999');
  const trial = new Trial();
  await trial.make({});
  assert.equal(trial.run.length, 3);
  assert.equal(existsSync(join(folder, 'run.lock')), false);
});

test('a folder into which a running process writes is refused', () => {
  writeFileSync(join(folder, 'run.lock'), String(process.ppid));
  const store = RunStore.open(folder);
  assert.equal(store.ok, false);
  assert.match(store.ok ? '' : store.fault.message, /another run, process \d+, writes into/);
});

for (const { what, scripted, options, why } of [
  { what: 'other data', scripted: { data: OTHER_DATA }, options: {}, why: 'the data are others' },
  {
    what: 'a sample',
    scripted: {},
    options: { isQuick: true },
    why: 'they are of all units, and this is a sample',
  },
  {
    what: 'other code',
    scripted: {},
    options: { code: 'two' },
    why: 'they were made by another version of the code',
  },
]) {
  test(`records are kept aside for ${what}, and nothing of them is counted`, async () => {
    await new Trial().make({ keys: ['a', 'gone'], data: DATA });
    const trial = new Trial();
    const { result } = await trial.make({ data: DATA, ...scripted }, options);
    assert.deepEqual(trial.beginnings, [{ kind: 'restarted', why, kept: 'machine.1.jsonl' }]);
    assert.deepEqual([trial.run, result.figures], [['a', 'b', 'c'], { counted: 3 }]);
    assert.match(readFileSync(join(folder, 'machine.1.jsonl'), 'utf8'), /"gone"/);
  });
}

test('records of other code count if that is wished, and the result says so from then on', async () => {
  await new Trial().make({ keys: ['a'] });
  const trial = new Trial();
  const { result } = await trial.make({}, { code: 'two', start: 'any code' });
  assert.deepEqual([trial.run, result.run.isMixed], [['b', 'c'], true]);
  const again = await new Trial().make({}, { code: 'two' });
  assert.equal(again.result.run.isMixed, true);
  const anew = await new Trial().make({}, { code: 'two', start: 'none' });
  assert.equal(anew.result.run.isMixed, false);
});

test('a unit that fails is tried once more, and told if it fails again', async () => {
  let failures = 0;
  const trial = new Trial();
  const { missing, result } = await trial.make({
    unit: async (key) => {
      if (key === 'b' || (key === 'a' && failures++ === 0)) throw new Error('no luck');
      return { key };
    },
  });
  assert.deepEqual(trial.run, ['a', 'b', 'c', 'a', 'b']);
  assert.deepEqual(trial.failures, ['a: no luck', 'b: no luck', 'b: no luck']);
  assert.deepEqual([missing, result.run.units, result.run.measured], [['b'], 3, 2]);
});

test('records of units that there are no more are not counted', async () => {
  await new Trial().make({ keys: ['a', 'gone'] });
  const { result } = await new Trial().make({ keys: ['a', 'b'] });
  assert.deepEqual(result.figures, { counted: 2 });
});

test('no more units run at once than the suite allows', async () => {
  let [running, most] = [0, 0];
  await new Trial().make({
    keys: ['a', 'b', 'c', 'd', 'e'],
    jobs: 2,
    unit: async (key) => {
      most = Math.max(most, ++running);
      await new Promise((resolve) => setImmediate(resolve));
      running -= 1;
      return { key };
    },
  });
  assert.equal(most, 2);
});

test('progress counts the work of this run and the records of all', async () => {
  await new Trial().make({ keys: ['a'] });
  const trial = new Trial();
  await trial.make({});
  assert.deepEqual(trial.progress.at(0), { done: 1, units: 3, workDone: 0, work: 2 });
  assert.deepEqual(trial.progress.at(-1), { done: 3, units: 3, workDone: 2, work: 2 });
});

test('a suite whose data are missing runs nothing and says what is missing', async () => {
  const store = opened(RunStore.open(folder));
  const suite: Suite = {
    ...new Trial().suite({}),
    prepare: async () => ({ ok: false, fault: fault('usage', 'no traces') }),
  };
  const observer = { began: () => {}, progressed: () => {}, unitFailed: () => {} };
  const ran = await runSuite(suite, {
    request: REQUEST,
    store,
    version: { code: '', policy: '' },
    start: 'same',
    signal: new AbortController().signal,
    now: () => 0,
    observer,
  });
  store.close();
  assert.equal(ran.ok ? '' : ran.fault.message, 'no traces');
  assert.equal(existsSync(join(folder, 'machine.jsonl')), false);
});

test('what is written is read again', async () => {
  const { result } = await new Trial().make({});
  const read = opened(readResults(folder));
  assert.deepEqual(read, [result]);
});

for (const [what, spoil] of [
  ['another program', () => '{"kind":"bench.result"}'],
  ['no JSON', () => '{'],
  ['an aim without a verdict', (text: string) => text.replace('"isMet": true', '"isMet": 1')],
  ['a row that is no list', (text: string) => text.replace('"rows": []', '"rows": [1]')],
  ['a machine without a name', (text: string) => text.replace('"cpu"', '"cp"')],
] as const)
  test(`a file of ${what} is no result`, async () => {
    await new Trial().make({});
    const file = join(folder, 'machine.json');
    const text = readFileSync(file, 'utf8');
    assert.notEqual(spoil(text), text);
    writeFileSync(file, spoil(text));
    const read = readResults(folder);
    assert.match(read.ok ? '' : read.fault.message, /is no result of a benchmark/);
  });

test('only units that are chosen by their key are run, the result says so, and all are run anew without the choice', async () => {
  const chosen = new Trial();
  const { result } = await chosen.make({ keys: ['set/a', 'set/b', 'other/a'] }, { only: 'set/' });
  assert.deepEqual([chosen.run, result.run.only, result.run.units], [['set/a', 'set/b'], 'set/', 2]);
  const all = new Trial();
  const whole = await all.make({ keys: ['set/a', 'set/b', 'other/a'] });
  assert.deepEqual([all.run.length, whole.result.run.only], [3, undefined]);
  assert.deepEqual(all.beginnings, [
    { kind: 'restarted', why: 'other units were chosen', kept: 'machine.1.jsonl' },
  ]);
});

test('a choice that no unit fits is refused', async () => {
  await assert.rejects(
    new Trial().make({}, { only: 'nothing' }),
    /no unit of `machine` has `nothing` in its key/,
  );
  await assert.rejects(
    new Trial().make({ keys: [] }, { every: 2 }),
    /no unit of `machine` is in the sample of one in 2/,
  );
});

test('a sample has about one unit in so many, the same each time and whatever others there are', async () => {
  const keys = Array.from({ length: 1200 }, (_, index) => `set/${index}`);
  const first = new Trial();
  const { result } = await first.make({ keys }, { every: 12 });
  assert.ok(first.run.length > 60 && first.run.length < 140, `${first.run.length} units`);
  assert.deepEqual(
    [result.run.every, result.run.units, result.run.measured],
    [12, first.run.length, first.run.length],
  );
  const fewer = new Trial();
  await fewer.make({ keys: keys.toReversed().slice(600) }, { every: 12, start: 'none' });
  assert.deepEqual(
    fewer.run.toReversed(),
    first.run.filter((key) => Number(key.slice('set/'.length)) < 600),
  );
});

test('a sample does not go on from records of all units', async () => {
  await new Trial().make({ keys: ['set/a', 'set/b'] });
  const sample = new Trial();
  await sample.make({ keys: ['set/a', 'set/b'] }, { every: 2 });
  assert.deepEqual(sample.run, ['set/a']);
  assert.deepEqual(sample.beginnings, [
    { kind: 'restarted', why: 'other units were chosen', kept: 'machine.1.jsonl' },
  ]);
});
