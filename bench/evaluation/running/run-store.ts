/**
 * The folder of a run: `<suite>.jsonl` with a line for each record as soon as it is there, `run.json` with what the
 * records hold for, `<suite>.json` with the result. A run that was killed loses the unit that it was at, and nothing
 * else; records that were made of other data, by other code or of a sample are never counted with new ones.
 *
 * INVARIANT (one kind of records): all records of a file were made under the print that `run.json` names for it.
 */
import { createHash } from 'node:crypto';
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import {
  canonicalJsonOf,
  type Fault,
  failed,
  fault,
  isJsonObject,
  type JsonObject,
  ok,
  parseJson,
  type Result,
} from '@cordon/core';
import type { DataFile, SuiteId } from '../suite.ts';

/** What records hold for; with another one they are kept aside. */
export interface Print {
  readonly isQuick: boolean;
  readonly code: string;
  readonly policy: string;
  readonly data: readonly DataFile[];
  /** The model of a provider that played; absent: the obedient one. */
  readonly model?: string;
  /** Only units whose key contains this; absent: all. */
  readonly only?: string;
  readonly every?: number;
}

/**
 * What becomes of records that are there already. `same`: they are gone on from if they hold for what is measured now;
 * `any code`: also those of another version of the code, data and sample being the same; `none`: all is run anew.
 */
export type Start = 'same' | 'any code' | 'none';

/** How a suite's records begin. */
export type Beginning =
  | { readonly kind: 'new' }
  | { readonly kind: 'resumed'; readonly records: number }
  | { readonly kind: 'restarted'; readonly why: string; readonly kept: string };

export interface Opened {
  readonly beginning: Beginning;
  readonly records: Map<string, JsonObject>;
  /** Whether records of another version of the code are among them, because the user wished it. */
  readonly isMixed: boolean;
}

const RUN_FILE = 'run.json';
const LOCK_FILE = 'run.lock';
/** A record may hold what came of thousands of traces. */
const RECORD_LIMITS = { length: 256 * 1024 * 1024, depth: 64, elements: 10_000_000 };

export class RunStore {
  readonly folder: string;
  readonly #descriptors = new Map<SuiteId, number>();
  #run: JsonObject;

  private constructor(folder: string, run: JsonObject) {
    this.folder = folder;
    this.#run = run;
  }

  /** Makes the folder. Refused while another process writes into it. */
  static open(folder: string): Result<RunStore, Fault> {
    try {
      mkdirSync(folder, { recursive: true });
      const holder = lock(join(folder, LOCK_FILE));
      if (holder !== null)
        return failed(
          fault(
            'usage',
            `another run, process ${holder}, writes into ${folder}`,
            `name another folder with \`--out\`; if no such process runs, remove ${LOCK_FILE} there`,
          ),
        );
    } catch (error) {
      return failed(fault('usage', `the folder of the run cannot be used: ${messageOf(error)}`));
    }
    return ok(new RunStore(folder, readRun(join(folder, RUN_FILE))));
  }

  begin(suite: SuiteId, print: Print, start: Start): Opened {
    const file = join(this.folder, `${suite}.jsonl`);
    const isThere = existsSync(file) && statSync(file).size > 0;
    const difference = isThere ? (start === 'none' ? WISHED : this.#difference(suite, print)) : null;
    const isMixed = difference === CODE_CHANGED && start === 'any code';
    let beginning: Beginning = { kind: 'new' };
    if (difference !== null && !isMixed) {
      const kept = keepAside(this.folder, suite);
      beginning = { kind: 'restarted', why: difference, kept };
    }
    const records = existsSync(file) ? readRecords(file) : new Map<string, JsonObject>();
    if (records.size > 0) beginning = { kind: 'resumed', records: records.size };
    const wasMixed = records.size > 0 && this.#suite(suite).isMixed === true;
    this.#remember(suite, { print: { ...print }, isMixed: isMixed || wasMixed });
    this.#descriptors.set(suite, openSync(file, 'a', 0o600));
    return { beginning, records, isMixed: isMixed || wasMixed };
  }

  /** In the file before this returns. */
  append(suite: SuiteId, key: string, record: JsonObject): void {
    const descriptor = this.#descriptors.get(suite);
    if (descriptor === undefined) throw new Error(`${suite} was not begun`);
    writeSync(descriptor, `${JSON.stringify({ key, record })}\n`);
  }

  /** The whole result, as `<suite>.json`. */
  finish(suite: SuiteId, result: object): void {
    replaceFile(join(this.folder, `${suite}.json`), `${JSON.stringify(result, null, 1)}\n`);
  }

  /** The page of all results in the folder; returns where it is. */
  publish(page: string): string {
    const file = join(this.folder, 'report.html');
    replaceFile(file, page);
    return file;
  }

  close(): void {
    for (const descriptor of this.#descriptors.values()) closeSync(descriptor);
    this.#descriptors.clear();
    rmSync(join(this.folder, LOCK_FILE), { force: true });
  }

  #suite(suite: SuiteId): JsonObject {
    const suites = this.#run.suites;
    const known = isJsonObject(suites) ? suites[suite] : undefined;
    return isJsonObject(known) ? known : {};
  }

  /** Null: the records that are there go on. */
  #difference(suite: SuiteId, print: Print): string | null {
    const before = this.#suite(suite).print;
    if (!isJsonObject(before)) return 'nothing says what they were made of';
    if (before.isQuick !== print.isQuick)
      return print.isQuick ? 'they are of all units, and this is a sample' : 'they are of a sample';
    if ((before.only ?? null) !== (print.only ?? null) || (before.every ?? null) !== (print.every ?? null))
      return 'other units were chosen';
    if ((before.model ?? null) !== (print.model ?? null)) return 'another model played';
    if (canonicalJsonOf(before.data) !== canonicalJsonOf(print.data)) return 'the data are others';
    if (before.code !== print.code || before.policy !== print.policy) return CODE_CHANGED;
    return null;
  }

  #remember(suite: SuiteId, entry: object): void {
    const suites = isJsonObject(this.#run.suites) ? this.#run.suites : {};
    const text = JSON.stringify({ kind: 'bench.run', ...this.#run, suites: { ...suites, [suite]: entry } });
    const parsed = parseJson(text);
    if (parsed.ok && isJsonObject(parsed.value)) this.#run = parsed.value;
    replaceFile(join(this.folder, RUN_FILE), `${JSON.stringify(this.#run, null, 1)}\n`);
  }
}

const WISHED = 'all is to be measured anew';
const CODE_CHANGED = 'they were made by another version of the code';

/** Null: it is ours now; else the process that has it. */
function lock(file: string): number | null {
  for (let attempt = 0; attempt < 2; attempt++) {
    try {
      writeFileSync(file, String(process.pid), { flag: 'wx' });
      return null;
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
      const holder = Number(readFileSync(file, 'utf8'));
      if (holder !== process.pid && isRunning(holder)) return holder;
      rmSync(file, { force: true });
    }
  }
  return 0;
}

function isRunning(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // A process of another user.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

function readRun(file: string): JsonObject {
  if (!existsSync(file)) return {};
  const parsed = parseJson(readFileSync(file, 'utf8'));
  return parsed.ok && isJsonObject(parsed.value) ? parsed.value : {};
}

/** What a kill has cut off is taken away, so that the next line does not join it. */
function readRecords(file: string): Map<string, JsonObject> {
  const bytes = readFileSync(file);
  const end = bytes.lastIndexOf(0x0a) + 1;
  if (end < bytes.length) truncateSync(file, end);
  return recordsIn(bytes);
}

/** Of whole lines only. */
function recordsIn(bytes: Buffer): Map<string, JsonObject> {
  const end = bytes.lastIndexOf(0x0a) + 1;
  const records = new Map<string, JsonObject>();
  for (let from = 0; from < end; ) {
    const to = bytes.indexOf(0x0a, from);
    const parsed = parseJson(bytes.toString('utf8', from, to), RECORD_LIMITS);
    from = to + 1;
    if (!parsed.ok || !isJsonObject(parsed.value)) continue;
    const { key, record } = parsed.value;
    if (typeof key === 'string' && isJsonObject(record)) records.set(key, record);
  }
  return records;
}

/** The records that a run kept of a suite, for whoever only reads them. */
export function keptRecords(folder: string, suite: SuiteId): Result<KeptRecords, Fault> {
  const file = join(folder, `${suite}.jsonl`);
  try {
    const run = readRun(join(folder, RUN_FILE));
    const suites = isJsonObject(run.suites) ? run.suites : {};
    const known = suites[suite];
    const print = isJsonObject(known) && isJsonObject(known.print) ? known.print : {};
    if (typeof print.model !== 'string')
      return failed(fault('usage', `${folder} holds no answers of a model to \`${suite}\``));
    const bytes = readFileSync(file);
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    return ok({ model: print.model, records: recordsIn(bytes), data: { name: `answers/${suite}`, sha256 } });
  } catch (error) {
    return failed(fault('usage', `the answers in ${folder} cannot be read: ${messageOf(error)}`));
  }
}

export interface KeptRecords {
  /** `provider/model` that played. */
  readonly model: string;
  readonly records: ReadonlyMap<string, JsonObject>;
  /** What they are known again by. */
  readonly data: DataFile;
}

/** The name under which the old records are found now. */
function keepAside(folder: string, suite: SuiteId): string {
  for (let number = 1; ; number++) {
    const name = `${suite}.${number}.jsonl`;
    if (existsSync(join(folder, name))) continue;
    renameSync(join(folder, `${suite}.jsonl`), join(folder, name));
    return name;
  }
}

/** Never half of it. */
function replaceFile(file: string, text: string): void {
  const fresh = `${file}.new`;
  writeFileSync(fresh, text);
  renameSync(fresh, file);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
