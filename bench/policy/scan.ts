/**
 * How fast logs are scanned, beside what nobody can do without: finding the lines, and parsing each as JSON. Every
 * measurement is its own process, and each round makes every one of them, so that whatever else the machine does
 * falls on all. One core is one core: the process may use no other (`taskset`), since one job would collect its garbage
 * on a second.
 *
 *     node bench/policy/scan.ts [--rounds 5] [--copies 10] [--traces FOLDER] [--json]
 *
 * The folder has `*.jsonl` or `*.jsonl.br` files; they are unpacked into a temporary folder first, each in so many copies that
 * what a program does once does not decide: logs are long. Exit code 0: the aims
 * are met, 1: one is missed, 2: it could not be measured.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { brotliDecompressSync } from 'node:zlib';
import { DATA_FOLDER } from '../data.ts';
import { printRecords } from '../machine/print.ts';
import { thisMachine } from '../machine.ts';
import { type Summary, summary } from '../sample.ts';

const ROOT = join(import.meta.dirname, '../..');
const MAIN = join(ROOT, 'packages/cli/src/main.ts');
const BASELINE = join(import.meta.dirname, 'scan-baseline.ts');
const DEADLINE = 300_000;

/** One core scans with at least this share of the speed of `JSON.parse` alone; two with this many times that. */
const PARSE_AIM = 0.5;
const TWO_JOBS_AIM = 1.6;

const PARSE = 'JSON.parse';

const FLOW_POLICY = `raise "a mail is sent after a file was read" if:
    (file: ToolOutput) -> (mail: ToolCall)
    file is tool:read_file
    mail is tool:send_email
`;

interface Measurement {
  readonly name: string;
  readonly cores: 'one core' | 'all cores';
  readonly command: readonly string[];
}

interface Row {
  readonly name: string;
  /** Million bytes a second. */
  readonly speed: Summary;
}

function unpacked(from: string, into: string, copies: number): readonly string[] {
  const files: string[] = [];
  for (const name of readdirSync(from).filter((file) => /\.jsonl(?:\.br)?$/.test(file))) {
    const raw = readFileSync(join(from, name));
    const bytes = name.endsWith('.br') ? brotliDecompressSync(raw) : raw;
    for (let copy = 0; copy < copies; copy++) {
      const file = join(into, `${copy}-${name.replace(/\.br$/, '')}`);
      writeFileSync(file, bytes);
      files.push(file);
    }
  }
  return files;
}

function measurements(files: readonly string[], folder: string): readonly Measurement[] {
  const flow = join(folder, 'flow.gr');
  writeFileSync(flow, FLOW_POLICY);
  const policies = [
    ['one flow rule', flow],
    ['default.gr', join(ROOT, 'policies/default.gr')],
    ['pack of 20 rules', join(import.meta.dirname, 'pack-20.gr')],
  ] as const;
  const scan = (policy: string, jobs: number) => [
    MAIN,
    'scan',
    policy,
    ...files,
    '--json',
    '--jobs',
    `${jobs}`,
  ];
  return [
    { name: 'lines only', cores: 'one core', command: [BASELINE, 'lines', ...files] },
    { name: PARSE, cores: 'one core', command: [BASELINE, 'parse', ...files] },
    ...policies.flatMap(([name, policy]): readonly Measurement[] => [
      { name: `scan, ${name}, one core`, cores: 'one core', command: scan(policy, 1) },
      { name: `scan, ${name}, one job`, cores: 'all cores', command: scan(policy, 1) },
      { name: `scan, ${name}, two jobs`, cores: 'all cores', command: scan(policy, 2) },
    ]),
  ];
}

/** Million bytes a second: the time that the process itself tells, without its start. Throws if it fails. */
function speedOf({ name, cores, command }: Measurement, cache: string): number {
  const program = [process.execPath, '--disable-warning=ExperimentalWarning', ...command];
  const [file = '', ...args] = cores === 'one core' ? ['taskset', '--cpu-list', '0', ...program] : program;
  const run = spawnSync(file, args, {
    encoding: 'utf8',
    // As the launcher `cordon` has it.
    env: { ...process.env, NODE_COMPILE_CACHE: cache },
    maxBuffer: 1024 * 1024 * 1024,
    timeout: DEADLINE,
  });
  const last = run.stdout.trimEnd().split('\n').at(-1) ?? '';
  if (run.status !== 0 && run.status !== 1) throw new Error(`${name} failed: ${run.stderr}`);
  const { seconds, bytes }: { seconds: number; bytes: number } = JSON.parse(last);
  return bytes / 1e6 / seconds;
}

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    copies: { type: 'string', default: '10' },
    traces: { type: 'string', default: join(DATA_FOLDER, 'traces/agentdojo') },
    json: { type: 'boolean', default: false },
  },
});
const folder = mkdtempSync(join(tmpdir(), 'cordon-bench-scan-'));
try {
  const machine = thisMachine();
  const files = unpacked(values.traces, folder, Number(values.copies));
  const all = measurements(files, folder);
  const cache = join(folder, 'compiled');
  // The first process fills the cache of compiled code.
  for (const measurement of measurements(files.slice(0, 1), folder)) speedOf(measurement, cache);
  const speeds = new Map<string, number[]>(all.map(({ name }) => [name, []]));
  for (let round = 1; round <= Number(values.rounds); round++) {
    for (const measurement of all) {
      if (!values.json) process.stderr.write(`\r\u001b[Kround ${round}: ${measurement.name}`);
      speeds.get(measurement.name)?.push(speedOf(measurement, cache));
    }
  }
  if (!values.json) process.stderr.write('\r\u001b[K');
  const rows = all.map(({ name }): Row => ({ name, speed: summary(speeds.get(name) ?? []) }));
  const medianOf = (name: string): number => rows.find((row) => row.name === name)?.speed.median ?? 0;
  const parse = medianOf(PARSE);
  const pack = medianOf('scan, pack of 20 rules, one core');
  const aims = [
    { name: 'one core: share of JSON.parse', aim: PARSE_AIM, value: pack / parse },
    {
      name: 'two jobs: times one core',
      aim: TWO_JOBS_AIM,
      value: medianOf('scan, pack of 20 rules, two jobs') / pack,
    },
  ];
  if (values.json) console.log(JSON.stringify({ machine, rows, aims }));
  else await printRecords({ scan: { rows, aims } });
  process.exitCode = aims.every(({ aim, value }) => value >= aim) ? 0 : 1;
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : 'failed'}\n`);
  process.exitCode = 2;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
