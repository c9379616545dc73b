/**
 * A scan: inputs are cut into parts, a pool of workers scans them in any order, and what comes of them is delivered in the order
 * of the input, so that the output is the same however many work on it.
 */

import type { Input } from './parts/input.ts';
import { type PartOptions, type PlacedPart, partsOf } from './parts/input-parts.ts';
import { readingFault } from './parts/line-reader.ts';
import { addCounts, type LineRecord, NO_COUNTS, type PartOutcome, type UnitOutcome } from './parts/part.ts';
import type { ProgressBar } from './report/progress-bar.ts';
import { placeOf, type ScanReport, type ScanResult } from './report/report.ts';
import type { ScanOutput } from './report/scan-output.ts';
import type { Progress } from './scan-state.ts';
import type { ScannerPool } from './worker-pool.ts';

/** An input, and how far an earlier scan came. */
export interface StartedInput {
  readonly input: Input;
  readonly progress: Progress;
}

export interface ScanJob {
  readonly inputs: readonly StartedInput[];
  /** Ids, in the order of the policies. */
  readonly rules: readonly string[];
  /** What an earlier scan that did not end had counted. */
  readonly before: {
    readonly rules: Readonly<Record<string, number>>;
    readonly broken: readonly string[];
  };
  readonly pool: ScannerPool;
  readonly parts: PartOptions;
  readonly report: ScanReport;
  readonly output: ScanOutput;
  readonly progress: ProgressBar | null;
  /** Called between deliveries, when everything that was delivered has been written. */
  readonly onDelivered: (soFar: () => ScanSoFar) => void;
  readonly signal: AbortSignal;
  /** Milliseconds, from any beginning. */
  readonly now: () => number;
}

export interface ScanSoFar {
  readonly inputs: readonly StartedInput[];
  readonly rules: Readonly<Record<string, number>>;
  readonly broken: readonly string[];
}

export interface ScanEnd {
  readonly result: ScanResult;
  readonly soFar: ScanSoFar;
  /** Why it did not complete, if it was not interrupted. */
  readonly fault: string | null;
}

/** What is to be delivered, in the order of the input. */
type Item =
  | { readonly kind: 'part'; readonly input: number; readonly placed: PlacedPart }
  | { readonly kind: 'end'; readonly input: number }
  | { readonly kind: 'fault'; readonly input: number; readonly message: string };

type PartItem = Extract<Item, { kind: 'part' }>;

const UNIT_ITEMS = 256;
const MOST_BROKEN = 100;

export async function scan(job: ScanJob): Promise<ScanEnd> {
  return new Scan(job).run();
}

/** One input on its way. */
interface Course {
  readonly input: Input;
  progress: Progress;
  /** Bytes on the disk. */
  taken: number;
  /** Whether reading it failed, and that was reported. */
  isBroken: boolean;
  /** Whether what comes first is the rest of a line that was counted before. */
  startsInLine: boolean;
  /** The last line has no line end: where the next scan continues, whatever ranges come behind the start of the line. */
  rest: { readonly bytes: number; readonly isLineOpen: boolean } | null;
}

function restOf({ part, next }: PlacedPart, { isLineOpen, unfinishedAt }: PartOutcome): Course['rest'] {
  if (unfinishedAt !== null) return { bytes: unfinishedAt, isLineOpen: false };
  return isLineOpen ? { bytes: part.kind === 'range' ? part.size : next, isLineOpen } : null;
}

class Scan {
  readonly #job: ScanJob;
  readonly #courses: readonly Course[];
  readonly #rules: number[];
  readonly #broken: string[];
  readonly #begun: number;
  #unfinished = 0;
  #waiting = 0;
  #makeRoom: () => void = () => undefined;

  constructor(job: ScanJob) {
    this.#job = job;
    this.#courses = job.inputs.map(({ input, progress }) => {
      const taken = progress.isComplete ? input.size : Math.min(input.size, progress.bytes);
      return { input, progress, taken, isBroken: false, startsInLine: progress.isLineOpen, rest: null };
    });
    this.#rules = job.rules.map((rule) => job.before.rules[rule] ?? 0);
    this.#broken = [...job.before.broken];
    this.#begun = job.now();
  }

  async run(): Promise<ScanEnd> {
    const fault = await this.#all();
    const isAllRead = this.#courses.every(({ progress, isBroken }) => progress.isComplete || isBroken);
    const isComplete = fault === null && isAllRead;
    return { result: this.#result(isComplete), soFar: this.#soFar(), fault };
  }

  /** A text is what went wrong with the pool or the output. */
  async #all(): Promise<string | null> {
    const { pool, signal } = this.#job;
    let failure: unknown = null;
    let delivery: Promise<void> = Promise.resolve();
    let id = 0;
    for await (const items of this.#units()) {
      if (signal.aborted || failure !== null) break;
      const parts = items.flatMap((item) => (item.kind === 'part' ? [item.placed.part] : []));
      const unit = { id: id++, parts };
      const scanned = parts.length === 0 ? Promise.resolve({ id: unit.id, parts: [] }) : pool.scan(unit);
      this.#waiting++;
      delivery = Promise.all([scanned, delivery])
        .then(([outcome]) => (failure === null ? this.#deliver(items, outcome) : undefined))
        .catch((error: unknown) => {
          failure ??= error ?? 'unknown';
        })
        .finally(() => {
          this.#waiting--;
          this.#makeRoom();
        });
      await this.#room();
    }
    await delivery;
    return failure === null ? null : failure instanceof Error ? failure.message : 'it failed';
  }

  async #room(): Promise<void> {
    while (this.#waiting >= this.#job.pool.capacity) {
      await new Promise<void>((resolve) => {
        this.#makeRoom = resolve;
      });
    }
  }

  /** Small files share a unit; what comes live is passed on at once. */
  async *#units(): AsyncGenerator<readonly Item[]> {
    let items: Item[] = [];
    let bytes = 0;
    for await (const item of this.#items()) {
      items.push(item);
      if (item.kind === 'part') bytes += lengthOf(item);
      const isLive = this.#courses[item.input]?.input.kind === 'standard-input';
      if (bytes < this.#job.parts.partBytes && items.length < UNIT_ITEMS && !isLive) continue;
      yield items;
      items = [];
      bytes = 0;
    }
    if (items.length > 0) yield items;
  }

  async *#items(): AsyncGenerator<Item> {
    for (const [index, { input, progress }] of this.#courses.entries()) {
      const isDone = progress.isComplete && input.kind !== 'lines' && input.kind !== 'json';
      if (isDone) continue;
      const from = { bytes: progress.bytes, startsLine: progress.isLineOpen };
      try {
        for await (const placed of partsOf(input, from, this.#job.parts)) {
          yield { kind: 'part', input: index, placed };
        }
        yield { kind: 'end', input: index };
      } catch (error) {
        const reason = error instanceof Error ? error.message : 'unknown';
        const message = readingFault(error, () => `it cannot be read or decompressed: ${reason}`);
        yield { kind: 'fault', input: index, message };
      }
    }
  }

  async #deliver(items: readonly Item[], outcome: UnitOutcome): Promise<void> {
    let number = 0;
    let text = '';
    for (const item of items) {
      const course = this.#courses[item.input];
      if (course === undefined) continue;
      if (item.kind === 'part') {
        const part = outcome.parts[number++];
        if (part !== undefined) text += this.#part(course, item, part);
      } else if (item.kind === 'fault') text += this.#fault(course, item.message);
      else if (!course.isBroken) {
        course.progress = { ...course.progress, isComplete: true };
        course.taken = course.input.size;
      }
    }
    await this.#job.output.write(text);
    this.#job.onDelivered(() => this.#soFar());
    this.#job.progress?.update({ ...this.#taken(), ...this.#counts() });
  }

  #part(course: Course, { placed }: PartItem, outcome: PartOutcome): string {
    if (course.isBroken) return '';
    const { progress } = course;
    // The rest of a line that was counted before has the number of that line.
    const base = course.startsInLine ? progress.lines - 1 : progress.lines;
    course.startsInLine = false;
    let text = '';
    for (const record of outcome.records) text += this.#record(course.input, base, record);
    for (const [rule, count] of outcome.rules.entries()) this.#rules[rule] = (this.#rules[rule] ?? 0) + count;
    if (outcome.unfinishedAt !== null) this.#unfinished++;
    if (outcome.fault !== null) text += this.#fault(course, outcome.fault);
    else {
      course.taken = placed.taken;
      course.rest ??= restOf(placed, outcome);
      const bytes = course.rest?.bytes ?? placed.next;
      course.progress = {
        bytes,
        lines: base + outcome.lines,
        isLineOpen: course.rest?.isLineOpen ?? false,
        isComplete: false,
        counts: addCounts(progress.counts, { ...outcome.counts, bytes: bytes - progress.bytes }),
      };
    }
    return text;
  }

  #record(input: Input, base: number, record: LineRecord): string {
    const line = record.line === 0 ? null : base + record.line;
    if (record.kind === 'broken') this.#noteBroken(`${placeOf(input, line)}: ${record.message}`);
    return this.#job.report.record(input, line, record);
  }

  /** Once for an input: nothing behind the fault can be trusted. */
  #fault(course: Course, message: string): string {
    if (course.isBroken) return '';
    course.isBroken = true;
    this.#noteBroken(`${course.input.name}: ${message}`);
    return this.#job.report.record(course.input, null, { kind: 'broken', line: 0, message });
  }

  #noteBroken(text: string): void {
    if (this.#broken.length < MOST_BROKEN) this.#broken.push(text.slice(0, 500));
  }

  #taken(): { readonly taken: number; readonly total: number } {
    let taken = 0;
    let total = 0;
    let isKnown = true;
    for (const course of this.#courses) {
      taken += course.taken;
      total += course.input.size;
      isKnown &&= course.input.kind !== 'standard-input';
    }
    return { taken, total: isKnown ? total : 0 };
  }

  #counts(): ScanResult['counts'] {
    return this.#courses.reduce((sum, { progress }) => addCounts(sum, progress.counts), NO_COUNTS);
  }

  #soFar(): ScanSoFar {
    return {
      inputs: this.#courses.map(({ input, progress }) => ({ input, progress })),
      rules: this.#ruleCounts(),
      broken: this.#broken,
    };
  }

  #ruleCounts(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#job.rules.map((rule, index) => [rule, this.#rules[index] ?? 0]));
  }

  #result(isComplete: boolean): ScanResult {
    return {
      counts: this.#counts(),
      rules: this.#ruleCounts(),
      inputs: this.#courses.map(({ input, progress }) => ({ input, counts: progress.counts })),
      unreadable: this.#courses.filter(({ isBroken }) => isBroken).length,
      unfinished: this.#unfinished,
      isComplete,
      seconds: (this.#job.now() - this.#begun) / 1000,
      broken: this.#broken,
    };
  }
}

function lengthOf({ placed: { part } }: PartItem): number {
  switch (part.kind) {
    case 'range':
      return part.end - part.start;
    case 'whole':
      return part.size;
    case 'lines':
    case 'too-long':
      return part.kind === 'lines' ? part.bytes.length : part.bytes;
  }
}
