/** `cordon bench` as a user calls it: real processes, data of others, interruptions. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { brotliDecompressSync } from 'node:zlib';
import { isJsonObject, type JsonObject, parseJson } from '@cordon/core';
import { startFakeOpenAi } from '@cordon/testkit/fake-openai/server.ts';
import { isLeftOut } from '../../../tools/cases.ts';
import { DATA_FOLDER } from '../../data.ts';
import { CORDON, Homes } from '../../places.ts';

const homes = new Homes();
const { environment } = homes.create();
const folder = mkdtempSync(join(tmpdir(), 'cordon-bench-'));
const traces = join(folder, 'traces');
const FILES = 10;

before(() => {
  mkdirSync(traces);
  const file = join(DATA_FOLDER, 'traces', 'agentdojo', 'command-r-plus.jsonl.br');
  const lines = brotliDecompressSync(readFileSync(file)).toString('utf8').split('\n').slice(0, 160);
  for (let number = 0; number < FILES; number++)
    writeFileSync(join(traces, `model-${number}.jsonl`), `${lines.join('\n')}\n`);
});
after(() => {
  homes.remove();
  rmSync(folder, { recursive: true, force: true });
});

interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

function start(...args: readonly string[]): ChildProcess {
  return spawn(CORDON, ['bench', ...args], {
    env: { ...environment, NO_COLOR: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

function ended(child: ChildProcess, onError: (text: string) => void = () => {}): Promise<Ended> {
  let [out, err] = ['', ''];
  child.stdout?.on('data', (bytes: Buffer) => {
    out += bytes.toString('utf8');
  });
  child.stderr?.on('data', (bytes: Buffer) => {
    err += bytes.toString('utf8');
    onError(err);
  });
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, out, err })));
}

function lastLine({ out }: Ended): JsonObject {
  const parsed = parseJson(out.trimEnd().split('\n').at(-1) ?? '');
  return parsed.ok && isJsonObject(parsed.value) ? parsed.value : {};
}

test('`list` names every benchmark', async (t) => {
  if (isLeftOut(t)) return;
  const { code, out } = await ended(start('list', '--json'));
  const lines = out.trimEnd().split('\n');
  assert.equal(code, 0);
  for (const name of ['protection', 'functionality', 'overhead', 'detectors'])
    assert.ok(
      lines.some((line) => line.startsWith(`{"kind":"bench.suite","suite":"${name}"`)),
      name,
    );
});

/** Runs a benchmark until it has measured something, and interrupts it then. */
function interrupted(command: readonly string[]): Promise<Ended> {
  const child = start(...command);
  let isSent = false;
  return ended(child, (text) => {
    if (isSent || !text.includes('%')) return;
    isSent = true;
    // As a terminal and a package manager do it, twice.
    child.kill('SIGINT');
    child.kill('SIGINT');
  });
}

test('an interrupted run keeps what it measured, and the same command continues from it', async (t) => {
  if (isLeftOut(t)) return;
  const commandIn = (out: string) => ['protection', '--traces', traces, '--out', out, '--json'];
  let out = '';
  let first: Ended = { code: 0, out: '', err: '' };
  // A busy machine may let it finish before the signals come.
  for (let round = 0; round < 5 && first.code === 0; round++) {
    out = join(folder, `run-${round}`);
    first = await interrupted(commandIn(out));
  }
  const command = commandIn(out);
  assert.equal(first.code, 2, first.err);
  const kept = readFileSync(join(out, 'protection.jsonl'), 'utf8').split('\n').length - 1;
  assert.ok(kept > 0 && kept < FILES, `${kept} records`);
  assert.equal(existsSync(join(out, 'run.lock')), false);

  const second = await ended(start(...command));
  assert.match(second.out, new RegExp(`"kind":"resumed","records":${kept}\\b`));
  const { kind, suite, recorded, obedient, run } = lastLine(second);
  assert.deepEqual([kind, suite, obedient], ['bench.result', 'protection', null]);
  assert.ok(isJsonObject(recorded) && isJsonObject(run));
  assert.deepEqual([run.units, run.measured, run.isOnOtherData, recorded.broken], [FILES, FILES, true, 0]);
  assert.equal(typeof recorded.caught, 'number');
  assert.match(readFileSync(join(out, 'report.html'), 'utf8'), /^<!doctype html>/);

  const third = await ended(start('compare', out, out));
  assert.deepEqual([third.code, /0 figures|figures are the same/.test(third.out)], [0, true]);
});

for (const { what, args, said } of [
  { what: 'a benchmark that there is not', args: ['speed'], said: /there is no benchmark `speed`/ },
  { what: 'two at once', args: ['protection', 'overhead'], said: /unexpected arguments: `overhead`/ },
  {
    what: 'a part that the benchmark has not',
    args: ['protection', '--part', 'half'],
    said: /`protection` has no part `half`.*name `recorded` or `obedient`/,
  },
  {
    what: 'a part of a benchmark without parts',
    args: ['overhead', '--part', 'recorded'],
    said: /`overhead` has no part `recorded`.*leave `--part` out/,
  },
  {
    what: 'a sample of one in none',
    args: ['protection', '--every', '0'],
    said: /`--every` must be a whole number from 2 on/,
  },
  {
    what: 'data that the benchmark takes none of',
    args: ['overhead', '--pairs', CORDON],
    said: /`overhead` takes no `--pairs`.*measure `protection`/,
  },
  {
    what: 'traces that are not there',
    args: ['protection', '--traces', '/nowhere/at/all'],
    said: /there is no \/nowhere\/at\/all/,
  },
  {
    what: 'a file of tasks that is not there',
    args: ['plans', '/nowhere/suites.json'],
    said: /\/nowhere\/suites\.json.*it must have `suites`/,
  },
  {
    what: 'a folder that is a file',
    args: ['protection', '--out', CORDON],
    said: /the folder of the run cannot be used/,
  },
  {
    what: 'a comparison with nothing',
    args: ['compare', '/nowhere/at/all', '.'],
    said: /there is no \/nowhere\/at\/all/,
  },
])
  test(`${what} is refused`, async (t) => {
    if (isLeftOut(t, what === 'traces that are not there')) return;
    const { code, err } = await ended(start(...args));
    assert.equal(code, 2);
    assert.match(err.replace(/\n\s+/g, ' '), said);
  });

test('the plans of scripted tasks are printed', async (t) => {
  if (isLeftOut(t)) return;
  const path = join(folder, 'suites.json');
  const task = {
    prompt: 'Lend it to Ada.',
    calls: [{ function: 'lend', args: { to: 'Ada' }, output: 'lent' }],
  };
  writeFileSync(path, JSON.stringify({ suites: { library: { user_tasks: { lend: task } } } }));
  const { code, out } = await ended(start('plans', path));
  assert.deepEqual(
    [code, JSON.parse(out)],
    [0, { plans: { library: { lend: { lend: { to: [{ kind: 'user' }] } } } } }],
  );
});

const MODEL = ['functionality', '--quick', '--model', 'local/recorded'];

async function recordedServer(t: { after: (done: () => unknown) => void }) {
  const server = await startFakeOpenAi({ script: () => ({ kind: 'completion', text: '{"app":null}' }) });
  t.after(() => server.close());
  return server;
}

test('with a model of a provider the run tells what it will come to, and asks nothing without `--yes`', async (t) => {
  if (isLeftOut(t)) return;
  const { baseUrl, requests } = await recordedServer(t);
  const out = join(folder, 'unstarted');
  const command = [...MODEL, '--base-url', baseUrl, '--max-calls', '3', '--out', out];
  const refused = await ended(start(...command));
  assert.equal(refused.code, 2);
  assert.match(
    refused.err.replace(/\n\s+/g, ' '),
    /units with `local\/recorded`: about \d+ model calls, .*cost unknown/,
  );
  assert.match(refused.err, /the run was not started.*--yes/s);
  assert.equal(requests.length, 0);

  const started = await ended(start(...command, '--yes', '--json'));
  assert.equal(started.code, 2, started.err);
  assert.match(started.out, /"kind":"bench.stopped","reason":"the run made its 3 model calls"/);
  assert.match(started.out, /"kind":"bench.spent","calls":3,/);
  // Two units run at a time: the third call may be ended before it reaches the server, and counts as made.
  assert.ok([2, 3].includes(requests.length), `${requests.length} requests`);
});

for (const { what, args, said } of [
  { what: 'a model without a limit', args: MODEL, said: /needs a limit.*--max-calls/ },
  {
    what: 'a limit of money for a model without a price',
    args: [...MODEL, '--max-cost', '1'],
    said: /the price of `local\/recorded` is not known.*`prices`/,
  },
  {
    what: 'a model in a benchmark where none plays',
    args: ['detectors', '--model', 'local/x', '--max-calls', '1'],
    said: /no model of a provider can play `detectors`.*`protection` or `functionality` or `overhead`/,
  },
  {
    what: 'a limit without a model',
    args: ['functionality', '--max-calls', '1'],
    said: /`--max-calls` needs a model.*name it with `--model`/,
  },
  {
    what: 'a model and kept answers at once',
    args: [...MODEL, '--replay', '.'],
    said: /`--replay` asks no model/,
  },
  {
    what: 'a folder that holds no answers',
    args: ['functionality', '--replay', '/nowhere/at/all'],
    said: /\/nowhere\/at\/all holds no answers of a model to `functionality`/,
  },
  {
    what: 'the part of a benchmark that plays no model',
    args: ['protection', '--part', 'recorded', '--model', 'local/x', '--max-calls', '1'],
    said: /`recorded` plays no model/,
  },
])
  test(`${what} is refused, and nothing is asked`, async (t) => {
    if (isLeftOut(t, what === 'a model without a limit')) return;
    const { baseUrl, requests } = await recordedServer(t);
    const base = args.includes('--model') ? ['--base-url', baseUrl] : [];
    const { code, err } = await ended(start(...args, ...base, '--out', join(folder, 'refused')));
    assert.equal(code, 2);
    assert.match(err.replace(/\n\s+/g, ' '), said);
    assert.equal(requests.length, 0);
  });

test('with a price in the configuration the cost is told, and limited', async (t) => {
  if (isLeftOut(t)) return;
  const { baseUrl, requests } = await recordedServer(t);
  const config = join(folder, 'prices.json');
  const prices = { 'local/recorded': { input: 10, output: 100 } };
  writeFileSync(config, JSON.stringify({ apps: {}, providers: { local: { baseURL: baseUrl } }, prices }));
  const command = [...MODEL, '--config', config, '--max-cost', '0.15', '--yes', '--json'];
  const { code, out, err } = await ended(start(...command, '--out', join(folder, 'priced')));
  assert.equal(code, 2, err);
  assert.match(out, /"kind":"bench.estimate","suite":"functionality".*"cost":[\d.]+/);
  assert.match(out, /"reason":"the next model call could cost more than is left of 0.15"/);
  const spent = out.split('\n').find((line) => line.includes('"bench.spent"')) ?? '';
  const parsed = parseJson(spent);
  assert.ok(parsed.ok && isJsonObject(parsed.value), out);
  // A call counts from its beginning: one that the end of the run stops may not reach the server.
  const calls = Number(parsed.value.calls);
  assert.ok(calls >= Math.max(1, requests.length) && calls <= requests.length + 2, spent);
  assert.ok(Number(parsed.value.cost) <= 0.15, spent);
});
