/** Who scans units: the program itself, or workers beside it. */
import { Worker } from 'node:worker_threads';
import { PartScanner } from './examine/part-scanner.ts';
import type { ScanTask, Unit, UnitOutcome } from './parts/part.ts';
import type { Answerers } from './policies/answerers.ts';

export interface ScannerPool {
  /** Units that are worth handing over before the first is done. */
  readonly capacity: number;
  /** Rejects if the unit cannot be scanned because a worker ended. */
  scan(unit: Unit): Promise<UnitOutcome>;
  /** Ends at once, whatever is being scanned. */
  close(): Promise<void>;
}

/** No thread at all: starting one costs more than it gains where there is one job. */
export class SoleScanner implements ScannerPool {
  readonly capacity = 1;
  readonly #task: ScanTask;
  #scanner: PartScanner | null = null;

  constructor(task: ScanTask) {
    this.#task = task;
  }

  async scan(unit: Unit): Promise<UnitOutcome> {
    // Signals, timers and messages get their turn between units.
    await new Promise((resolve) => setImmediate(resolve));
    this.#scanner ??= new PartScanner(this.#task);
    return this.#scanner.scan(unit);
  }

  async close(): Promise<void> {
    this.#scanner?.close();
  }
}

/** The same where rules ask: a unit is scanned again until no answer is missing. */
export class AskingScanner implements ScannerPool {
  readonly capacity = 1;
  readonly #asked: Answerers;
  readonly #scanner: PartScanner;

  constructor(task: ScanTask, asked: Answerers) {
    this.#asked = asked;
    this.#scanner = new PartScanner(task, asked.asking);
  }

  scan(unit: Unit): Promise<UnitOutcome> {
    return this.#asked.judged((awaited) => this.#scanner.scan(unit, awaited));
  }

  async close(): Promise<void> {
    this.#scanner.close();
  }
}

/** One unit is scanned and one waits, so that no worker waits for a message. */
const UNITS_A_WORKER = 2;

/** A unit that no worker has taken yet, and who waits for it. */
interface Job extends Waiting {
  readonly unit: Unit;
}

/** Workers, and the program itself beside them: it would only wait, and need not be started. */
export class WorkerPool implements ScannerPool {
  readonly capacity: number;
  readonly #workers: readonly BusyWorker[];
  readonly #own: SoleScanner | null;
  readonly #jobs: Job[] = [];
  #isOwnBusy = false;

  /** `own` scans what no worker has room for; null: the program only gives units out. */
  constructor(workers: number, task: ScanTask, own: SoleScanner | null = null) {
    this.#workers = Array.from({ length: workers }, () => new BusyWorker(task));
    this.#own = own;
    // The others continue while the oldest unit is not done.
    this.capacity = (workers + (own === null ? 0 : 1)) * (UNITS_A_WORKER + 2);
  }

  scan(unit: Unit): Promise<UnitOutcome> {
    const { promise, resolve, reject } = Promise.withResolvers<UnitOutcome>();
    this.#jobs.push({ unit, resolve, reject });
    this.#handOut();
    return promise;
  }

  async close(): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.end()));
    await this.#own?.close();
  }

  #handOut(): void {
    for (let job = this.#jobs[0]; job !== undefined; job = this.#jobs[0]) {
      const scanned = this.#begin(job.unit);
      if (scanned === null) return;
      this.#jobs.shift();
      void scanned.then(job.resolve, job.reject).then(() => this.#handOut());
    }
  }

  /** Null: all have enough to do. */
  #begin(unit: Unit): Promise<UnitOutcome> | null {
    let idlest = this.#workers[0];
    for (const worker of this.#workers) if (worker.load < (idlest?.load ?? 0)) idlest = worker;
    if (idlest !== undefined && idlest.load < UNITS_A_WORKER) return idlest.scan(unit);
    if (this.#own === null || this.#isOwnBusy) return null;
    this.#isOwnBusy = true;
    return this.#own.scan(unit).finally(() => {
      this.#isOwnBusy = false;
    });
  }
}

interface Waiting {
  readonly resolve: (outcome: UnitOutcome) => void;
  readonly reject: (error: Error) => void;
}

class BusyWorker {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, Waiting>();
  #fault: Error | null = null;

  constructor(task: ScanTask) {
    this.#worker = new Worker(new URL('worker.ts', import.meta.url), { workerData: task });
    this.#worker.on('message', (outcome: UnitOutcome) => {
      this.#waiting.get(outcome.id)?.resolve(outcome);
      this.#waiting.delete(outcome.id);
    });
    this.#worker.on('error', (error) => this.#fail(error instanceof Error ? error : new Error('it failed')));
    this.#worker.on('exit', () => this.#fail(new Error('it ended')));
  }

  get load(): number {
    return this.#waiting.size;
  }

  scan(unit: Unit): Promise<UnitOutcome> {
    if (this.#fault !== null) return Promise.reject(this.#fault);
    const { promise, resolve, reject } = Promise.withResolvers<UnitOutcome>();
    this.#waiting.set(unit.id, { resolve, reject });
    const buffers = unit.parts.flatMap((part) => (part.kind === 'lines' ? [part.bytes.buffer] : []));
    this.#worker.postMessage(unit, buffers);
    return promise;
  }

  async end(): Promise<void> {
    await this.#worker.terminate();
  }

  #fail(error: Error): void {
    this.#fault ??= error;
    for (const { reject } of this.#waiting.values()) reject(this.#fault);
    this.#waiting.clear();
  }
}
