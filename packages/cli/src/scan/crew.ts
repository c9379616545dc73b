/**
 * Who scans units: the program itself, or workers beside it.
 *
 * Ring 1.
 */
import { Worker } from 'node:worker_threads';
import type { ScanTask, Unit, UnitOutcome } from './part.ts';
import { PartScanner } from './part-scanner.ts';

export interface Crew {
  /** Units that are worth handing over before the first is done. */
  readonly capacity: number;
  /** Rejects if the unit cannot be scanned because a worker ended. */
  scan(unit: Unit): Promise<UnitOutcome>;
  /** Ends at once, whatever is being scanned. */
  close(): Promise<void>;
}

/** No thread at all: starting one costs more than it gains where there is one job. */
export class SoleScanner implements Crew {
  readonly capacity = 1;
  readonly #scanner: PartScanner;

  constructor(task: ScanTask) {
    this.#scanner = new PartScanner(task);
  }

  async scan(unit: Unit): Promise<UnitOutcome> {
    // Signals and timers get their turn between units.
    await new Promise((resolve) => setImmediate(resolve));
    return this.#scanner.scan(unit);
  }

  async close(): Promise<void> {
    this.#scanner.close();
  }
}

/** One unit is scanned and one waits, so that no worker waits for a message. */
const UNITS_A_WORKER = 2;

export class WorkerCrew implements Crew {
  readonly capacity: number;
  readonly #workers: readonly BusyWorker[];

  constructor(jobs: number, task: ScanTask) {
    this.#workers = Array.from({ length: jobs }, () => new BusyWorker(task));
    // Workers go on while the oldest unit is not done.
    this.capacity = jobs * (UNITS_A_WORKER + 2);
  }

  scan(unit: Unit): Promise<UnitOutcome> {
    const [first, ...others] = this.#workers;
    if (first === undefined) return Promise.reject(new Error('there is no worker'));
    const idlest = others.reduce((least, worker) => (worker.load < least.load ? worker : least), first);
    return idlest.scan(unit);
  }

  async close(): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.end()));
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
