/**
 * One confined process that looks at texts, as the hub asks it: started by the first question, one answer after the other, each
 * within a deadline. One that is late, ends or breaks the protocol is ended; the question that it was at has no answer, and those
 * behind it go to the next process.
 *
 * Ring 0: what the process says is hostile by assumption, because a text may have taken it over.
 */
import type { Duplex } from 'node:stream';
import { serialize } from 'node:v8';
import {
  type Fault,
  failed,
  isJsonObject,
  type Json,
  type JsonLimits,
  ok,
  parseJson,
  type Result,
} from '@cordon/core';
import { type TextWork, WORK_FAULTS, type WorkFault } from '@cordon/policy';
import { LineDecoder } from '@cordon/protocol';
import type { ConfinedProcess } from '@cordon/sandbox';

/** Starts the process; the signal ends it. */
export type Launch = (signal: AbortSignal) => Promise<Result<ConfinedProcess, Fault>>;

/** A text of a megabyte takes a second or two on a slow machine, a hostile one for ever. */
const DEADLINE_MS = 20_000;
/** Questions that wait. Attack: questions without end hold their texts in memory. */
const MOST_WAITING = 4_096;
/** No decision waits longer. Attack: a thousand texts that each end the process would keep the questions of all others waiting. */
const LONGEST_WAIT_MS = 60_000;
/** Bytes that are on their way to the process. A longer question goes alone: to write two of them takes the loop too long. */
const MOST_ON_THE_WAY = 64 * 1024;
const ANSWER_BYTES = 4 * 1024 * 1024;
const ANSWER_LIMITS: JsonLimits = { length: ANSWER_BYTES, depth: 32, elements: 200_000 };
/** Nothing is asked for so long: 60 MiB are not kept. */
const IDLE_MS = 120_000;
/** Before the second start in a row without an answer between; each further one waits twice as long. */
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;

/** Why there is no answer, in words. */
export const FAULTS = {
  ...WORK_FAULTS,
  'not-started': 'no process can be started that looks at texts',
  late: 'it takes too long to look at the text',
  ended: 'the process that looks at texts ended',
  'too-many': 'too many texts wait',
} as const;
export type DetectorFault = keyof typeof FAULTS;

type Answer = Result<Json, DetectorFault>;

interface Job {
  readonly id: number;
  readonly work: TextWork;
  /** Milliseconds, as `performance.now` tells them: from then on nobody waits for the answer. */
  readonly until: number;
  /** Written when it is the next to be sent: to write many at once keeps the loop. */
  frame: readonly [length: Buffer, body: Buffer] | null;
  readonly settle: (answer: Answer) => void;
}

/** One start of the process. */
interface Run {
  readonly ending: AbortController;
  /** Null: it has not started yet. */
  process: (ConfinedProcess & { readonly link: Duplex }) | null;
  readonly decoder: LineDecoder;
}

export class DetectorProcess {
  readonly #launch: Launch;
  readonly #milliseconds: number;
  /** Not sent yet. */
  readonly #waiting: Job[] = [];
  /** In the order in which they are answered. */
  readonly #sent: Job[] = [];
  #onTheWay = 0;
  #run: Run | null = null;
  #deadline: NodeJS.Timeout | undefined;
  #idle: NodeJS.Timeout | undefined;
  #lastId = 0;
  /** Starts since the last answer. */
  #starts = 0;
  #rests = false;
  #isClosed = false;

  constructor(launch: Launch, milliseconds: number = DEADLINE_MS) {
    this.#launch = launch;
    this.#milliseconds = milliseconds;
  }

  /** Never rejects. */
  ask(work: TextWork): Promise<Answer> {
    if (this.#isClosed) return Promise.resolve(failed('ended'));
    if (this.#waiting.length >= MOST_WAITING) return Promise.resolve(failed('too-many'));
    clearTimeout(this.#idle);
    this.#rests = false;
    const { promise, resolve } = Promise.withResolvers<Answer>();
    const until = performance.now() + LONGEST_WAIT_MS;
    this.#waiting.push({ id: ++this.#lastId, work, until, frame: null, settle: resolve });
    this.#advance();
    return promise;
  }

  /** Ends the process when it has answered what it was asked. The next question starts it again. */
  rest(): void {
    this.#rests = true;
    if (this.#waiting.length + this.#sent.length === 0) this.#end();
  }

  /** Ends the process at once; from then on nothing is answered. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const exited = this.#run?.process?.exited;
    this.#end();
    for (const { settle } of [...this.#sent.splice(0), ...this.#waiting.splice(0)]) settle(failed('ended'));
    await exited;
  }

  #advance(): void {
    const [next] = this.#waiting;
    if (next === undefined) return;
    if (next.until < performance.now()) {
      this.#waiting.shift()?.settle(failed('late'));
      return this.#advance();
    }
    if (this.#run === null) return void this.#start();
    const link = this.#run.process?.link ?? null;
    if (link === null) return;
    next.frame ??= frameOf(next.id, next.work);
    const [length, body] = next.frame;
    if (this.#sent.length > 0 && this.#onTheWay + body.length > MOST_ON_THE_WAY) return;
    this.#waiting.shift();
    this.#sent.push(next);
    this.#onTheWay += body.length;
    if (this.#sent.length === 1) this.#await();
    link.write(length);
    link.write(body);
    this.#advance();
  }

  /** The first of those that were sent has its time from now on. */
  #await(): void {
    clearTimeout(this.#deadline);
    this.#deadline = setTimeout(() => this.#fail('late'), this.#milliseconds);
  }

  async #start(): Promise<void> {
    const run: Run = {
      ending: new AbortController(),
      process: null,
      decoder: new LineDecoder({ lineBytes: ANSWER_BYTES }),
    };
    this.#run = run;
    await pauseBefore(this.#starts++);
    const started = this.#run === run ? await this.#launched(run) : null;
    if (this.#run !== run) return started?.kill();
    const link = started?.link ?? null;
    if (started === null || link === null) {
      started?.kill();
      this.#run = null;
      for (const { settle } of this.#waiting.splice(0)) settle(failed('not-started'));
      return;
    }
    run.process = { ...started, link };
    const over = () => this.#over(run);
    link.on('data', (chunk: Buffer) => this.#take(run, chunk));
    link.on('error', over);
    link.on('close', over);
    void started.exited.then(over);
    this.#advance();
    this.#keepOrEnd();
  }

  /** A sandbox that throws is one that does not start. */
  async #launched(run: Run): Promise<ConfinedProcess | null> {
    try {
      const started = await this.#launch(run.ending.signal);
      return started.ok ? started.value : null;
    } catch {
      return null;
    }
  }

  #take(run: Run, chunk: Buffer): void {
    if (run !== this.#run) return;
    const lines = run.decoder.push(chunk);
    if (!lines.ok) return this.#fail('ended');
    for (const line of lines.value) {
      if (run !== this.#run) return;
      const answer = readAnswer(line, this.#sent[0]?.id ?? null);
      // Attack: answers without end, or to questions that are still to come. What follows is not read either.
      if (answer === null) return this.#fail('ended');
      this.#settle(answer);
    }
  }

  #settle(answer: Answer): void {
    const job = this.#sent.shift();
    if (job === undefined) return;
    this.#onTheWay -= job.frame?.[1].length ?? 0;
    this.#starts = 0;
    clearTimeout(this.#deadline);
    if (this.#sent.length > 0) this.#await();
    job.settle(answer);
    this.#advance();
    this.#keepOrEnd();
  }

  #keepOrEnd(): void {
    if (this.#waiting.length + this.#sent.length > 0) return;
    clearTimeout(this.#idle);
    if (this.#rests) this.#end();
    else this.#idle = setTimeout(() => this.#end(), IDLE_MS).unref();
  }

  #over(run: Run): void {
    if (run === this.#run) this.#fail('ended');
  }

  /** Ends the process. The question that it was at has no answer: another process would fare no better. */
  #fail(reason: DetectorFault): void {
    this.#end();
    const [culprit, ...others] = this.#sent.splice(0);
    this.#waiting.unshift(...others);
    this.#onTheWay = 0;
    culprit?.settle(failed(reason));
    this.#advance();
  }

  #end(): void {
    clearTimeout(this.#deadline);
    clearTimeout(this.#idle);
    const run = this.#run;
    this.#run = null;
    run?.ending.abort();
    run?.process?.kill();
  }
}

/** As V8 writes it: a text is copied and not escaped. Our program trusts the hub; what comes back is JSON. */
function frameOf(id: number, work: TextWork): readonly [Buffer, Buffer] {
  const body = serialize({ id, work });
  const length = Buffer.alloc(4);
  length.writeUInt32LE(body.length);
  return [length, body];
}

function pauseBefore(start: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  if (start === 0) resolve();
  else setTimeout(resolve, Math.min(FIRST_PAUSE_MS * 2 ** (start - 1), LONGEST_PAUSE_MS));
  return promise;
}

/** Null: it is no answer to the question that comes next. */
function readAnswer(line: string, id: number | null): Answer | null {
  const said = parseJson(line, ANSWER_LIMITS);
  if (!said.ok || !isJsonObject(said.value) || id === null || said.value.id !== id) return null;
  const { answer, fault } = said.value;
  if (answer !== undefined) return ok(answer);
  return isFault(fault) ? failed(fault) : null;
}

function isFault(fault: Json | undefined): fault is WorkFault {
  return typeof fault === 'string' && Object.hasOwn(WORK_FAULTS, fault);
}
