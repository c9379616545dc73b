/**
 * Runs a suite: what has a record is not run again, what is left is run so many at a time, each record is kept as soon
 * as it is there. Whatever stops the run, what was measured stays, and the same command continues from it.
 *
 * INVARIANT (whole records): a unit that was told to stop leaves no record, whatever it returns.
 */

import { setTimeout as pause } from 'node:timers/promises';
import { VERSION } from '@cordon/cli/version';
import { type Fault, failed, fault, type JsonObject, ok, type Result } from '@cordon/core';
import { thisMachine } from '../../machine.ts';
import { ASKED, type Estimate, estimateOf, type PlayedModel } from '../../model/index.ts';
import { resultFile, type SuiteResult } from '../result.ts';
import type { BenchRequest, PreparedSuite, Suite, Unit } from '../suite.ts';
import { choiceOf, chosenUnits } from './choice.ts';
import type { CodeVersion } from './code-version.ts';
import type { Beginning, Opened, RunStore, Start } from './run-store.ts';
/** Shows what happens, for whoever waits. */
export interface Observer {
  began(beginning: Beginning, notices: readonly string[], units: number): void;
  progressed(progress: Progress): void;
  /** It could not be measured; it is tried once more at the end, and again in the next run. */
  unitFailed(key: string, message: string): void;
}

export interface Progress {
  readonly done: number;
  readonly units: number;
  /** Of the work of this run; what was there already is in neither. */
  readonly workDone: number;
  readonly work: number;
}

export interface RunOptions {
  readonly request: BenchRequest;
  readonly store: RunStore;
  readonly version: CodeVersion;
  readonly start: Start;
  readonly signal: AbortSignal;
  readonly observer: Observer;
  /** Milliseconds that never go back. */
  readonly now: () => number;
  /** In the place of the obedient model, and what it will come to: a fault refuses the run before its first unit. */
  readonly played?: {
    readonly model: PlayedModel;
    readonly agrees: (estimate: Estimate) => Fault | null;
  };
}

export interface Ran {
  readonly result: SuiteResult;
  /** Keys of units without a record. */
  readonly missing: readonly string[];
  readonly isInterrupted: boolean;
}

/** For units that were told to stop, and for what they share; after that they are left to end with this process. */
const GRACE_MS = 10_000;

/** Refused if the data are missing or unreadable; then nothing was run. */
export async function runSuite(suite: Suite, options: RunOptions): Promise<Result<Ran, Fault>> {
  const began = options.now();
  const machine = thisMachine();
  const prepared = await unlessStopped(suite.prepare(options.request), options.signal);
  if (prepared === null) return failed(fault('cancelled', 'interrupted before the first unit'));
  if (!prepared.ok) return prepared;
  const { notices = [] } = prepared.value;
  const choice = choiceOf(options.request);
  const data = [...prepared.value.data, ...(options.played?.model.data ?? [])];
  try {
    const chosen = chosenUnits(suite.id, prepared.value.units, choice);
    if (!chosen.ok) return chosen;
    const units = chosen.value;
    const opened = options.store.begin(
      suite.id,
      {
        isQuick: options.request.isQuick,
        ...options.version,
        data,
        ...choice,
        ...(options.played === undefined ? {} : { model: options.played.model.id }),
      },
      options.start,
    );
    const left = units.filter(({ key }) => !opened.records.has(key));
    const refusal = options.played?.agrees(estimateOf(left, opened.records, suite.jobs)) ?? null;
    if (refusal !== null) return failed(refusal);
    options.observer.began(opened.beginning, notices, units.length);
    const work = new Work(suite, options, opened, units.length, left);
    await work.run();
    const known = recordsOf(units, opened.records);
    if (known.size === 0 && options.signal.aborted)
      return failed(fault('cancelled', 'interrupted before anything was measured'));
    const report = prepared.value.report(known);
    const result: SuiteResult = {
      suite: suite.id,
      question: suite.question,
      figures: report.result,
      aims: report.aims,
      sections: report.sections,
      run: {
        isOnOtherData: isOnOtherData(options.request),
        ...(options.request.part === undefined ? {} : { part: options.request.part }),
        ...choice,
        ...(options.played === undefined
          ? {}
          : { model: options.played.model.id, isReplay: options.played.model.isReplay }),
        isSample: options.request.isQuick,
        units: units.length,
        measured: known.size,
        isMixed: opened.isMixed,
        notices,
        cordon: VERSION,
        ...options.version,
        machine,
        data,
        ended: new Date().toISOString(),
        seconds: Math.round((options.now() - began) / 100) / 10,
      },
    };
    options.store.finish(suite.id, resultFile(result));
    const missing = units.flatMap(({ key }) => (known.has(key) ? [] : [key]));
    return ok({ result, missing, isInterrupted: options.signal.aborted });
  } finally {
    await withinGrace(prepared.value.close());
  }
}

function isOnOtherData({ traces, labels, pairs, plans }: BenchRequest): boolean {
  return plans !== undefined || [traces, labels, pairs].some((given) => given !== null);
}

/** Records of units that there are no more are not counted. */
function recordsOf(
  units: readonly Unit[],
  records: ReadonlyMap<string, JsonObject>,
): ReadonlyMap<string, JsonObject> {
  return new Map(
    units.flatMap(({ key }): [string, JsonObject][] => {
      const record = records.get(key);
      return record === undefined ? [] : [[key, record]];
    }),
  );
}

class Work {
  readonly #suite: Suite;
  readonly #options: RunOptions;
  readonly #opened: Opened;
  readonly #units: number;
  readonly #left: readonly Unit[];
  readonly #work: number;
  #workDone = 0;

  constructor(suite: Suite, options: RunOptions, opened: Opened, units: number, left: readonly Unit[]) {
    this.#suite = suite;
    this.#options = options;
    this.#opened = opened;
    this.#units = units;
    this.#left = left;
    this.#work = left.reduce((sum, { weight }) => sum + weight, 0);
  }

  async run(): Promise<void> {
    const failures = await this.#pass(this.#left);
    // What fails once may have met a busy machine.
    if (failures.length > 0) await this.#pass(failures);
  }

  /** Returns the units that could not be measured. */
  async #pass(units: readonly Unit[]): Promise<readonly Unit[]> {
    const failures: Unit[] = [];
    const waiting = [...units];
    const one = async (): Promise<void> => {
      for (let unit = waiting.shift(); unit !== undefined; unit = waiting.shift()) {
        if (this.#options.signal.aborted) return;
        this.#reportProgress();
        if (!(await this.#measured(unit))) failures.push(unit);
      }
    };
    const jobs = Array.from({ length: Math.max(1, this.#suite.jobs) }, one);
    await untilStopped(Promise.all(jobs), this.#options.signal);
    this.#reportProgress();
    return failures;
  }

  /** Whether it has a record now. */
  async #measured(unit: Unit): Promise<boolean> {
    const { signal, store, observer } = this.#options;
    try {
      const record = await this.#recordOf(unit);
      if (signal.aborted) return false;
      store.append(this.#suite.id, unit.key, record);
      this.#opened.records.set(unit.key, record);
      this.#workDone += unit.weight;
      return true;
    } catch (error) {
      if (!signal.aborted)
        observer.unitFailed(unit.key, error instanceof Error ? error.message : String(error));
      return false;
    }
  }

  /** With what the model was asked in it, where one of a provider plays. */
  async #recordOf(unit: Unit): Promise<JsonObject> {
    const { signal, played } = this.#options;
    if (played === undefined) return unit.run(signal);
    const taken = played.model.begin(unit.key);
    const [ran] = await Promise.allSettled([unit.run(signal, taken.model)]);
    const asked = taken.end();
    if (!asked.ok) throw new Error(asked.fault);
    if (ran.status === 'rejected') throw ran.reason;
    return { ...ran.value, [ASKED]: asked.value };
  }

  #reportProgress(): void {
    this.#options.observer.progressed({
      done: Math.min(this.#opened.records.size, this.#units),
      units: this.#units,
      workDone: this.#workDone,
      work: this.#work,
    });
  }
}

/** Null: the signal came first; what comes of the preparation then is ended at once. */
async function unlessStopped(
  preparation: ReturnType<Suite['prepare']>,
  signal: AbortSignal,
): Promise<Result<PreparedSuite, Fault> | null> {
  const first = await Promise.race([preparation, aborted(signal).then(() => null)]);
  if (first === null) preparation.then((late) => (late.ok ? late.value.close() : null)).catch(() => null);
  return first;
}

/** Waits for the work; once the signal has come, for no longer than the grace. */
async function untilStopped(work: Promise<unknown>, signal: AbortSignal): Promise<void> {
  await Promise.race([work, aborted(signal)]);
  if (signal.aborted) await withinGrace(work);
}

async function withinGrace(work: Promise<unknown>): Promise<void> {
  const isOver = new AbortController();
  const grace = pause(GRACE_MS, undefined, { signal: isOver.signal }).catch(() => undefined);
  await Promise.race([work, grace]).finally(() => isOver.abort());
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
