/**
 * The measurements of the machine's cost are programs of their own, which can also be run by hand (`npm run
 * bench:isolation` and its like); this runs each as a process, one after the other, and keeps what it prints for programs.
 */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import {
  type Fault,
  isJsonObject,
  type Json,
  type JsonObject,
  ok,
  parseJson,
  type Result,
} from '@cordon/core';
import { dataFile } from '../data.ts';
import type { BenchRequest, DataFile, PreparedSuite, Unit } from '../evaluation/suite.ts';
import { TRACES, traceFiles } from '../protection/recorded.ts';
import { machineReport } from './report.ts';

interface Program {
  readonly key: string;
  readonly script: string;
  readonly options: readonly string[];
  /** Null: a sample leaves it out. */
  readonly quick: readonly string[] | null;
  /** About so many seconds. */
  readonly weight: number;
}

const ISOLATION = 'isolation/isolation.ts';

/** A kind of measurement of the isolation benchmark. */
function isolation(only: string, weight: number, isInSample = true): Program {
  return {
    key: `isolation/${only}`,
    script: ISOLATION,
    options: ['--only', only, '--rounds', '7'],
    quick: isInSample ? ['--only', only, '--rounds', '3'] : null,
    weight,
  };
}

const PROGRAMS: readonly Program[] = [
  isolation('starts', 5),
  isolation('warm', 6),
  isolation('trips', 10),
  isolation('calls', 10, false),
  isolation('memory', 30),
  isolation('neighbour', 60, false),
  {
    key: 'isolation/spokes',
    script: ISOLATION,
    options: ['--only', 'spokes', '--spokes', '500'],
    quick: null,
    weight: 60,
  },
  {
    key: 'policy',
    script: 'policy/policy.ts',
    options: ['--no-scan', '--rounds', '7'],
    quick: ['--no-scan', '--no-loads', '--rounds', '3'],
    weight: 60,
  },
  { key: 'scan', script: 'policy/scan.ts', options: ['--rounds', '5'], quick: null, weight: 260 },
  { key: 'hub', script: 'hub/hub.ts', options: ['--rounds', '40'], quick: null, weight: 60 },
  { key: 'outputs', script: 'hub/outputs.ts', options: ['--rounds', '3'], quick: null, weight: 400 },
  { key: 'start', script: 'start.ts', options: ['--rounds', '7'], quick: null, weight: 60 },
];

const DEADLINE_MS = 15 * 60_000;
/** Larger than what any of them prints. */
const MOST_OUTPUT = 4 * 1024 * 1024;

export async function preparedMachine({ isQuick }: BenchRequest): Promise<Result<PreparedSuite, Fault>> {
  const data: DataFile[] = [];
  // Others' traces are for the rules; here they are so many bytes, and always the same.
  const files = isQuick ? ok([]) : traceFiles(TRACES);
  if (!files.ok) return files;
  for (const { path, name } of files.value) data.push(await dataFile(path, `traces/${name}`));
  const chosen = PROGRAMS.filter(({ quick }) => !isQuick || quick !== null);
  const leftOut = PROGRAMS.filter((program) => !chosen.includes(program)).map(({ key }) => key);
  return ok({
    data,
    units: chosen.map((program) => unitOf(program, isQuick)),
    notices: leftOut.length === 0 ? [] : [`the sample leaves out: ${leftOut.join(', ')}`],
    close: async () => {},
    report: (records) => machineReport(records),
  });
}

function unitOf({ key, script, options, quick, weight }: Program, isQuick: boolean): Unit {
  const args = isQuick ? (quick ?? options) : options;
  return { key, weight, run: (signal) => printed(join(import.meta.dirname, '..', script), args, signal) };
}

/** What the program prints with `--json`. Throws if it could not measure. */
async function printed(script: string, args: readonly string[], signal: AbortSignal): Promise<JsonObject> {
  const child = spawn(process.execPath, [script, ...args, '--json'], {
    stdio: ['ignore', 'pipe', 'pipe'],
    signal: AbortSignal.any([signal, AbortSignal.timeout(DEADLINE_MS)]),
  });
  let output = '';
  let words = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output = (output + text).slice(0, MOST_OUTPUT);
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    words = (words + text).slice(-2_000);
  });
  const status = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  // 1: an aim is missed, which the report tells.
  if (status !== 0 && status !== 1) throw new Error(`${script} ended with ${status}: ${words.trim()}`);
  const parsed = parseJson(output, { length: MOST_OUTPUT, depth: 16, elements: 200_000 });
  const value: Json = parsed.ok ? parsed.value : null;
  if (!isJsonObject(value)) throw new Error(`${script} printed no result: ${output.slice(0, 200)}`);
  return value;
}
