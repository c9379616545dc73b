/**
 * The thread that looks at long texts for the hub: one job at a time, each with a deadline and a limit of size. A job that
 * takes too long, or that ends the thread, has no answer, which leaves the rule undecided; the next job gets a new thread.
 *
 * Ring 1.
 */
import { Worker } from 'node:worker_threads';
import {
  type AnswerBook,
  failed,
  type Json,
  type Question,
  type Result,
  sizeOfTexts,
  type TextThread,
} from '@cordon/core';

export interface TextThreadOptions {
  /** Where answers are kept, and where the policy looks for them. */
  readonly book: AnswerBook;
  /** The program of the thread. */
  readonly program?: URL;
  readonly milliseconds?: number;
}

/** A job of a megabyte takes a second or two on a slow machine, a hostile one for ever. */
const DEADLINE_MS = 20_000;
/** Of all texts of one job, in UTF-16 units. An output of a tool is a megabyte at most, with as much in its structured content. */
const MOST_TEXT = 16 * 1024 * 1024;
/** Jobs that wait. Attack: questions without end hold their texts in memory. */
const MOST_WAITING = 4_096;
const MEMORY_MIB = 1_024;

const TOO_LARGE = 'the text is too long to look at';
const NOT_STARTED = 'no thread can be started that looks at long texts';
const TOO_SLOW = 'it takes too long to look at the text';
const ENDED = 'the thread that looks at long texts ended';
const TOO_MANY = 'too many long texts wait';

interface Job {
  readonly question: Question;
  readonly done: () => void;
}

export class WorkerTextThread implements TextThread {
  readonly #options: Required<TextThreadOptions>;
  readonly #waiting: Job[] = [];
  #worker: Worker | null = null;
  #current: { readonly job: Job; readonly deadline: NodeJS.Timeout } | null = null;

  constructor({ book, program = PROGRAM, milliseconds = DEADLINE_MS }: TextThreadOptions) {
    this.#options = { book, program, milliseconds };
  }

  answer(question: Question): Promise<void> {
    const { book } = this.#options;
    const refusal =
      sizeOfTexts(question.input, MOST_TEXT, 1) > MOST_TEXT
        ? TOO_LARGE
        : this.#waiting.length >= MOST_WAITING
          ? TOO_MANY
          : null;
    if (refusal !== null) {
      book.keep(question, failed(refusal));
      return Promise.resolve();
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.push({ question, done: resolve });
    this.#begin();
    return promise;
  }

  async close(): Promise<void> {
    const waiting = this.#waiting.splice(0);
    const worker = this.#worker;
    this.#drop(worker, ENDED);
    for (const { question, done } of waiting) {
      this.#options.book.keep(question, failed(ENDED));
      done();
    }
    await worker?.terminate();
  }

  #begin(): void {
    if (this.#current !== null) return;
    const job = this.#waiting.shift();
    if (job === undefined) return;
    const worker = this.#running();
    if (worker === null) {
      this.#options.book.keep(job.question, failed(NOT_STARTED));
      job.done();
      return this.#begin();
    }
    const deadline = setTimeout(() => this.#drop(worker, TOO_SLOW), this.#options.milliseconds);
    deadline.unref();
    this.#current = { job, deadline };
    // Who waits for an answer keeps the process; a thread that has nothing to do does not.
    worker.ref();
    worker.postMessage(job.question.input);
  }

  /** Null: the machine has no room for a thread. Attack: an app that starts processes without end. */
  #running(): Worker | null {
    try {
      this.#worker ??= this.#started();
    } catch {
      return null;
    }
    return this.#worker;
  }

  #started(): Worker {
    // What detectors load is in files; of the environment they need nothing.
    const worker = new Worker(this.#options.program, {
      env: {},
      execArgv: [], // `--input-type` of whoever embeds this would be an error there
      resourceLimits: { maxOldGenerationSizeMb: MEMORY_MIB },
    });
    worker.on('message', (answer: Result<Json, string>) => {
      if (worker === this.#worker) this.#end(answer);
    });
    worker.on('error', () => this.#drop(worker, ENDED));
    worker.on('exit', () => this.#drop(worker, ENDED));
    return worker;
  }

  /** This thread is not used any more; its job has no answer. */
  #drop(worker: Worker | null, reason: string): void {
    if (worker === null || worker !== this.#worker) return;
    this.#worker = null;
    void worker.terminate();
    this.#end(failed(reason));
  }

  #end(answer: Result<Json, string>): void {
    const current = this.#current;
    if (current === null) return;
    this.#current = null;
    clearTimeout(current.deadline);
    this.#worker?.unref();
    this.#options.book.keep(current.job.question, answer);
    current.job.done();
    this.#begin();
  }
}

const PROGRAM = new URL('thread-program.ts', import.meta.url);
