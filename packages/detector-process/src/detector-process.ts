/**
 * One confined process that looks at texts, as the hub asks it: started by the first question, one answer after the other, each
 * within a deadline. One that is late, ends or breaks the protocol is ended; the question that it was at has no answer, and those
 * behind it go to the next process.
 *
 * What the process says is hostile by assumption, because a text may have taken it over.
 */
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
import type { ConfinedProcess } from '@cordon/sandbox';
import { type HelperLife, type HelperPeer, HelperProcess } from '@cordon/sandbox/helper';

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
const PAUSE_MS = { first: 100, longest: 5_000 };

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

interface Peer extends HelperPeer {
  readonly life: HelperLife;
}

export class DetectorProcess {
  readonly #helper: HelperProcess<Peer>;
  readonly #milliseconds: number;
  /** Not sent yet. */
  readonly #waiting: Job[] = [];
  /** In the order in which they are answered. */
  readonly #sent: Job[] = [];
  #onTheWay = 0;
  #deadline: NodeJS.Timeout | undefined;
  #lastId = 0;
  #rests = false;
  #isClosed = false;

  constructor(launch: Launch, milliseconds: number = DEADLINE_MS) {
    this.#milliseconds = milliseconds;
    this.#helper = new HelperProcess({
      spawn: launch,
      open: (life) => this.#open(life),
      lineBytes: ANSWER_BYTES,
      idleMs: IDLE_MS,
      pauseMs: PAUSE_MS,
    });
  }

  /** Never rejects. */
  ask(work: TextWork): Promise<Answer> {
    if (this.#isClosed) return Promise.resolve(failed('ended'));
    if (this.#waiting.length >= MOST_WAITING) return Promise.resolve(failed('too-many'));
    this.#rests = false;
    const { promise, resolve } = Promise.withResolvers<Answer>();
    const until = performance.now() + LONGEST_WAIT_MS;
    this.#waiting.push({ id: ++this.#lastId, work, until, frame: null, settle: resolve });
    void this.#run();
    return promise;
  }

  /** Ends the process when it has answered what it was asked. The next question starts it again. */
  rest(): void {
    this.#rests = true;
    if (this.#waiting.length + this.#sent.length === 0) this.#helper.rest();
  }

  /** Ends the process at once; from then on nothing is answered. */
  close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#deadline);
    for (const { settle } of [...this.#sent.splice(0), ...this.#waiting.splice(0)]) settle(failed('ended'));
    return this.#helper.close();
  }

  async #run(): Promise<void> {
    const peer = await this.#helper.peer();
    if (peer.ok) return this.#advance(peer.value.life);
    for (const { settle } of this.#waiting.splice(0)) settle(failed('not-started'));
  }

  #open(life: HelperLife): Peer {
    this.#advance(life);
    return {
      life,
      isBusy: () => this.#waiting.length + this.#sent.length > 0,
      hear: (line) => this.#hear(life, line),
      over: (why) => this.#over(why === FAULTS.late ? 'late' : 'ended'),
    };
  }

  #advance(life: HelperLife): void {
    const [next] = this.#waiting;
    if (next === undefined || life.isOver) return;
    if (next.until < performance.now()) {
      this.#waiting.shift()?.settle(failed('late'));
      return this.#advance(life);
    }
    next.frame ??= frameOf(next.id, next.work);
    const [length, body] = next.frame;
    if (this.#sent.length > 0 && this.#onTheWay + body.length > MOST_ON_THE_WAY) return;
    this.#waiting.shift();
    this.#sent.push(next);
    this.#onTheWay += body.length;
    if (this.#sent.length === 1) this.#await(life);
    life.write(length);
    life.write(body);
    this.#advance(life);
  }

  /** The first of those that were sent has its time from now on. */
  #await(life: HelperLife): void {
    clearTimeout(this.#deadline);
    this.#deadline = setTimeout(() => life.end(FAULTS.late), this.#milliseconds);
  }

  #hear(life: HelperLife, line: string): string | null {
    const answer = readAnswer(line, this.#sent[0]?.id ?? null);
    // Attack: answers without end, or to questions that are still to come. What follows is not read either.
    if (answer === null) return 'it is not the answer to the next question';
    life.hasAnswered = true;
    this.#settle(life, answer);
    return null;
  }

  #settle(life: HelperLife, answer: Answer): void {
    const job = this.#sent.shift();
    if (job === undefined) return;
    this.#onTheWay -= job.frame?.[1].length ?? 0;
    clearTimeout(this.#deadline);
    if (this.#sent.length > 0) this.#await(life);
    job.settle(answer);
    this.#advance(life);
    if (this.#rests) this.rest();
  }

  /** The question that the process was at has no answer: another process would fare no better. */
  #over(reason: DetectorFault): void {
    clearTimeout(this.#deadline);
    const [culprit, ...others] = this.#sent.splice(0);
    this.#waiting.unshift(...others);
    this.#onTheWay = 0;
    culprit?.settle(failed(reason));
    if (this.#waiting.length > 0) void this.#run();
  }
}

/** As V8 writes it: a text is copied and not escaped. Our program trusts the hub; what comes back is JSON. */
function frameOf(id: number, work: TextWork): readonly [Buffer, Buffer] {
  const body = serialize({ id, work });
  const length = Buffer.alloc(4);
  length.writeUInt32LE(body.length);
  return [length, body];
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
