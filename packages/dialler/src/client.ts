/**
 * The hub's end of the dialling process. The process starts with the first question. One that has died, hangs or says what it
 * should not is replaced by another at the next question; its connections end with it.
 */
import { randomBytes } from 'node:crypto';
import { writeSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { failed, ok, type Result } from '@cordon/core';
import { faultOf } from './connect.ts';
import type { Bait, DialFault, Dialler } from './dialler.ts';
import {
  ANSWER_BYTES,
  type Answer,
  firstLine,
  GREETING,
  QUESTION_BYTES,
  type Question,
  readAnswer,
  readQuestion,
} from './wire.ts';

export interface ProcessPlace {
  /** The folder of its sockets. */
  readonly folder: string;
  /** A pipe to the shell that starts the process: each line is the name of a new socket in the folder. */
  readonly pipe: number;
  readonly times?: Partial<Times>;
}

interface Times {
  /** From the line in the pipe to the first greeting. */
  readonly startSeconds: number;
  readonly greetingSeconds: number;
  /** More than the process itself takes before it gives up. */
  readonly answerSeconds: number;
}

const TIMES: Times = { startSeconds: 15, greetingSeconds: 5, answerSeconds: 15 };
const LOOK_MS = 10;

/** A connection to the process, and its answer to the question that was asked on it. */
interface Answered {
  readonly socket: Socket;
  readonly answer: Answer;
}

export class DiallingProcess implements Dialler {
  readonly #place: ProcessPlace;
  readonly #times: Times;
  /** Where the process is reached; null: none was started, or it is of no use any more. */
  #path: string | null = null;
  #starting: Promise<string> | null = null;

  constructor(place: ProcessPlace) {
    this.#place = place;
    this.#times = { ...TIMES, ...place.times };
  }

  readonly lookup: Dialler['lookup'] = async (host) => {
    const { socket, answer } = await this.#ask({ ask: 'lookup', host });
    socket.destroy();
    if (answer.answer !== 'addresses') throw new Error('the name cannot be resolved');
    return answer.addresses;
  };

  readonly dial: Dialler['dial'] = async (host, port, signal) => {
    const asked = await this.#asked({ ask: 'connect', host, port }, signal);
    return asked.ok && asked.value.answer.answer === 'connected' ? ok(asked.value.socket) : refused(asked);
  };

  readonly bait: Dialler['bait'] = async () => {
    const asked = await this.#asked({ ask: 'bait' });
    if (!asked.ok || asked.value.answer.answer !== 'bait') return refused(asked);
    const { socket, answer } = asked.value;
    return ok<Bait>({ port: answer.port, close: () => void socket.destroy() });
  };

  async #asked(question: Question, signal?: AbortSignal): Promise<Result<Answered, DialFault>> {
    try {
      return ok(await this.#ask(question, signal));
    } catch (error) {
      return failed(faultOf(error));
    }
  }

  async #ask(question: Question, signal?: AbortSignal): Promise<Answered> {
    const asked = JSON.stringify(question);
    // Attack: what the process would not read costs a process, and with it every connection.
    if (Buffer.byteLength(asked) > QUESTION_BYTES || readQuestion(asked) === null)
      throw new Error('this is no host and port');
    const { path, socket } = await this.#reached();
    const stop = () => void socket.destroy();
    signal?.addEventListener('abort', stop, { once: true });
    if (signal?.aborted === true) stop();
    try {
      socket.write(`${asked}\n`);
      const line = await inTime(firstLine(socket, ANSWER_BYTES), this.#times.answerSeconds);
      const answer = readAnswer(line);
      if (answer === null) throw new Error('its answer cannot be read');
      return { socket, answer };
    } catch (error) {
      socket.destroy();
      if (signal?.aborted === true) throw new Error('the connection was given up');
      // Whatever is wrong with that process, the next dial gets another.
      this.#forget(path);
      throw new Error(`the dialling process gave no answer: ${faultOf(error).message}`);
    } finally {
      signal?.removeEventListener('abort', stop);
    }
  }

  /** A connection to a process that lives. */
  async #reached(): Promise<{ readonly path: string; readonly socket: Socket }> {
    const known = this.#path;
    if (known !== null) {
      const socket = await this.#greeted(known).catch(() => null);
      if (socket !== null) return { path: known, socket };
      this.#forget(known);
    }
    const path = await this.#started();
    return { path, socket: await this.#greeted(path) };
  }

  #forget(path: string): void {
    if (this.#path === path) this.#path = null;
  }

  /** One start for all who wait for one. */
  #started(): Promise<string> {
    if (this.#path !== null) return Promise.resolve(this.#path);
    this.#starting ??= this.#start().finally(() => {
      this.#starting = null;
    });
    return this.#starting;
  }

  async #start(): Promise<string> {
    const { folder, pipe } = this.#place;
    // Nobody can guess it, and the folder cannot be listed.
    const name = randomBytes(16).toString('hex');
    const path = join(folder, name);
    writeSync(pipe, `${name}\n`);
    const over = new AbortController();
    try {
      await inTime(this.#up(path, over.signal), this.#times.startSeconds);
    } catch {
      throw new Error('the dialling process did not start in time');
    } finally {
      over.abort();
    }
    this.#path = path;
    return path;
  }

  async #up(path: string, over: AbortSignal): Promise<void> {
    while (!over.aborted) {
      const socket = await this.#greeted(path).catch(() => null);
      if (socket !== null) return void socket.destroy();
      await wait(LOOK_MS);
    }
  }

  async #greeted(path: string): Promise<Socket> {
    const socket = connect({ path });
    // Stays: whoever gets the connection listens a moment later.
    socket.on('error', () => undefined);
    try {
      const line = await inTime(firstLine(socket, GREETING.length), this.#times.greetingSeconds);
      if (line !== GREETING) throw new Error('its greeting is wrong');
      return socket;
    } catch (error) {
      socket.destroy();
      throw error;
    }
  }
}

function refused(asked: Result<Answered, DialFault>): Result<never, DialFault> {
  if (!asked.ok) return asked;
  const { socket, answer } = asked.value;
  socket.destroy();
  return answer.answer === 'failed'
    ? failed({ code: answer.code, message: answer.message })
    : failed({ code: null, message: 'the dialling process answers another question' });
}

/** Rejects when seconds have passed in which this process ran: one that was stopped meanwhile does not blame the other. */
function inTime<T>(wanted: Promise<T>, seconds: number): Promise<T> {
  const late = Promise.withResolvers<never>();
  let passed = 0;
  const count = setInterval(() => {
    passed++;
    if (passed >= seconds) late.reject(new Error('it is silent'));
  }, 1_000);
  return Promise.race([wanted, late.promise]).finally(() => clearInterval(count));
}
