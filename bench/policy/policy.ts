/**
 * `npm run bench:policy`: what a decision costs, on sessions of different lengths; what the analysis of a whole log
 * costs; how long a policy takes to load; what a monitor remembers. All in one run, each round making every
 * measurement once; then how fast logs are scanned (`scan.ts`; `--no-scan` leaves it out, `--no-loads` logs and loading). See docs/benchmarks.md; regular
 * expressions: `regex.ts`.
 *
 * Exit codes: 0 every aim is met, 1 one is missed, 2 it could not be measured.
 */

import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { loadPolicy, type Policy } from '@cordon/policy';
import { analyze, ExplainingMonitor } from '@cordon/policy-tools';
import { printRecords } from '../machine/print.ts';
import { thisMachine } from '../machine.ts';
import { summary } from '../sample.ts';
import { eventAt, logOf } from './session.ts';

const PACK = fileURLToPath(new URL('pack-20.gr', import.meta.url));
const FLOW_RULE = `raise "mail after a page was read" if:
    (page: ToolOutput) -> (mail: ToolCall)
    page is tool:get_webpage
    mail is tool:send_money
`;
const LENGTHS = [10, 100, 1_000, 10_000, 100_000];
const CALLS = [10, 100, 1_000, 10_000, 100_000];
const DECISIONS = 3_000;
/** Processes a round: their times spread more than others. */
const COLD_STARTS = 3;

interface Row {
  readonly name: string;
  readonly value: number;
  readonly unit: 'µs' | 'ms' | 'events' | 'MB' | '×';
  /** The value must stay below; null: it only explains others. */
  readonly aim: number | null;
}

function loaded(text: string): Policy {
  const policy = loadPolicy(text);
  if (!policy.ok) throw new Error(policy.fault.map(({ message }) => message).join('; '));
  return policy.value;
}

/** Microseconds of each of many decisions about what could come next. */
function decisions(monitor: ExplainingMonitor, length: number): readonly number[] {
  const times: number[] = [];
  for (let next = 0; next < DECISIONS; next++) {
    const event = eventAt(length + next);
    const start = process.hrtime.bigint();
    monitor.decide([event]);
    times.push(Number(process.hrtime.bigint() - start) / 1_000);
  }
  return times.sort((a, b) => a - b);
}

function share(sorted: readonly number[], part: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}

class Samples {
  readonly #values = new Map<string, number[]>();

  add(name: string, value: number): void {
    const known = this.#values.get(name);
    if (known === undefined) this.#values.set(name, [value]);
    else known.push(value);
  }

  median(name: string): number {
    return summary(this.#values.get(name) ?? [Number.NaN]).median;
  }
}

function milliseconds(work: () => void): number {
  const start = performance.now();
  work();
  return performance.now() - start;
}

function heapMegabytes(): number {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  return process.memoryUsage().heapUsed / 1e6;
}

/**
 * In a process of its own, in milliseconds: to import the language, which reads and compiles its modules, and then to
 * load the pack for the first time, from text to rules. The reading of the file is in neither. `compiled`: a folder of
 * compiled code, and all functions in it, as the launcher `cordon` has it; null: as Node runs a program.
 */
function cold(compiled: string | null): { readonly imported: number; readonly loaded: number } {
  const script = `import { readFileSync } from 'node:fs';
const text = readFileSync(process.argv[1], 'utf8'); const begun = performance.now();
const { loadPolicy } = await import('@cordon/policy'); const imported = performance.now() - begun;
const start = performance.now(); loadPolicy(text); const loaded = performance.now() - start;
console.log(JSON.stringify({ imported, loaded }));`;
  const options = compiled === null ? [] : ['--no-lazy'];
  const told = execFileSync(process.execPath, [...options, '--input-type=module', '-e', script, PACK], {
    encoding: 'utf8',
    env: compiled === null ? process.env : { ...process.env, NODE_COMPILE_CACHE: compiled },
    cwd: fileURLToPath(new URL('.', import.meta.url)),
  });
  return JSON.parse(told);
}

function measured(rounds: number, withLoads: boolean): readonly Row[] {
  if (!withLoads) return measuredWith(rounds, null);
  const compiled = mkdtempSync(join(tmpdir(), 'cordon-bench-policy-'));
  try {
    // The first process fills the folder.
    cold(compiled);
    return measuredWith(rounds, compiled);
  } finally {
    rmSync(compiled, { recursive: true, force: true });
  }
}

/** @param compiled null: without logs and without loading, which take longest */
function measuredWith(rounds: number, compiled: string | null): readonly Row[] {
  const samples = new Samples();
  const text = readFileSync(PACK, 'utf8');
  const pack = loaded(text);
  const flow = loaded(FLOW_RULE);
  const rows: Row[] = [];
  const monitors = LENGTHS.map((length) => {
    const before = heapMegabytes();
    const monitor = new ExplainingMonitor(pack);
    for (let position = 0; position < length; position++) monitor.append([eventAt(position)]);
    const grown = heapMegabytes() - before;
    return { length, monitor, grown };
  });
  const logs = compiled === null ? [] : CALLS.map((calls) => ({ calls, log: logOf(calls) }));
  for (let warm = 0; warm < 50; warm++) loadPolicy(text);
  for (const { monitor, length } of monitors) decisions(monitor, length);
  for (let round = 1; round <= rounds; round++) {
    console.error(`… round ${round} of ${rounds}`);
    for (const { monitor, length } of monitors) {
      const times = decisions(monitor, length);
      samples.add(`p50 ${length}`, share(times, 0.5));
      samples.add(`p99 ${length}`, share(times, 0.99));
    }
    if (compiled === null) continue;
    for (const { calls, log } of logs) {
      samples.add(
        `flow ${calls}`,
        milliseconds(() => analyze(flow, log)),
      );
      samples.add(
        `pack ${calls}`,
        milliseconds(() => analyze(pack, log)),
      );
    }
    for (let load = 0; load < 50; load++) {
      const time = milliseconds(() => loadPolicy(text));
      // The first after other work finds cold caches, as a program does that loads one policy now and then.
      samples.add(load === 0 ? 'load again' : 'load warm', time);
    }
    for (let start = 0; start < COLD_STARTS; start++) {
      for (const [name, folder] of [
        ['', null],
        [', as launched', compiled],
      ] as const) {
        const { imported, loaded } = cold(folder);
        samples.add(`import cold${name}`, imported);
        samples.add(`load cold${name}`, loaded);
      }
    }
  }
  for (const { length, monitor, grown } of monitors) {
    const after = `next event after ${length.toLocaleString('en')}`;
    rows.push({
      name: `${after}, p50`,
      value: samples.median(`p50 ${length}`),
      unit: 'µs',
      aim: length === 1_000 ? 20 : null,
    });
    rows.push({
      name: `${after}, p99`,
      value: samples.median(`p99 ${length}`),
      unit: 'µs',
      aim: length === 1_000 ? 200 : null,
    });
    rows.push({ name: `${after}: events remembered`, value: monitor.size, unit: 'events', aim: null });
    rows.push({ name: `${after}: memory of the session`, value: grown, unit: 'MB', aim: null });
  }
  rows.push({
    name: 'p50 after 100,000 events, of that after 100',
    value: samples.median('p50 100000') / samples.median('p50 100'),
    unit: '×',
    aim: 1.5,
  });
  if (compiled === null) return rows;
  for (const calls of CALLS) {
    const log = `log of ${calls.toLocaleString('en')} calls`;
    const aim = calls === 1_000 ? 5 : null;
    rows.push({ name: `${log}, one flow rule`, value: samples.median(`flow ${calls}`), unit: 'ms', aim });
    rows.push({ name: `${log}, 20 rules`, value: samples.median(`pack ${calls}`), unit: 'ms', aim: null });
  }
  rows.push({
    name: 'flow rule a call: 100,000 calls, of that with 1,000',
    value: samples.median('flow 100000') / 100 / samples.median('flow 1000'),
    unit: '×',
    aim: 2,
  });
  for (const how of ['', ', as launched']) {
    const name = `first in a process${how}`;
    rows.push({
      name: `load 20 rules, ${name}`,
      value: samples.median(`load cold${how}`),
      unit: 'ms',
      aim: 10,
    });
    rows.push({
      name: `import the language, ${name}`,
      value: samples.median(`import cold${how}`),
      unit: 'ms',
      aim: null,
    });
  }
  rows.push({
    name: 'load 20 rules, after other work',
    value: samples.median('load again'),
    unit: 'ms',
    aim: null,
  });
  rows.push({ name: 'load 20 rules, warm', value: samples.median('load warm'), unit: 'ms', aim: 2 });
  return rows;
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      rounds: { type: 'string', default: '7' },
      json: { type: 'boolean', default: false },
      loads: { type: 'boolean', default: true },
      scan: { type: 'boolean', default: true },
    },
    allowNegative: true,
  });
  const rounds = Number(values.rounds);
  if (!Number.isInteger(rounds) || rounds < 3) {
    console.error('--rounds takes a number of at least 3: fewer say nothing on a shared machine');
    return 2;
  }
  const machine = thisMachine();
  const rows = measured(rounds, values.loads);
  if (values.json === true) console.log(JSON.stringify({ machine, rows }, null, 2));
  else await printRecords({ policy: { rows } });
  const own = rows.some(({ value, aim }) => aim !== null && value >= aim) ? 1 : 0;
  return values.scan ? Math.max(own, scanned(values.json)) : own;
}

/** Scanning is measured by processes of its own; its exit code means the same. */
function scanned(json: boolean): number {
  const script = fileURLToPath(new URL('scan.ts', import.meta.url));
  const run = spawnSync(process.execPath, [script, ...(json ? ['--json'] : [])], { stdio: 'inherit' });
  return run.status ?? 2;
}

try {
  process.exitCode = await main();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 2;
}
