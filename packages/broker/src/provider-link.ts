/**
 * The hub's end of the link to one provider process: calls go out, answers come back, and a process that breaks the protocol,
 * stays silent or does not end a call in time is killed. Its open calls then fail; none is made again.
 *
 * What the process says is hostile by assumption.
 */

import {
  failed,
  type Json,
  type JsonObject,
  type ModelCallOptions,
  type ModelFault,
  ok,
  type Result,
} from '@cordon/core';
import type { HelperLife, HelperPeer } from '@cordon/sandbox/helper';
import { CALL_LINE_BYTES, callLine, type HubCallMessage, readProviderMessage } from './wire.ts';
export interface LinkParts {
  /** Sent first. */
  readonly settings: JsonObject;
  /** The process ends a call within this time by itself. */
  readonly callMs: number;
  /** Between two looks at the process, while it has calls. */
  readonly tickMs: number;
}

/**
 * In looks, not in time: a hub that was stopped itself finds that one look has passed. A process that starts on a busy machine
 * is given more of them.
 */
const SILENT_TICKS = 4;
const STARTING_TICKS = 12;
/** So long a call may go on after its limit, or after nobody wants it any more. */
const LATE_TICKS = 2;

/**
 * Of all text that a call streams, each piece counted with its frame. Attack: lines of white space around an empty text keep the
 * hub busy with reading them.
 */
const MOST_STREAMED = 64 * 1024 * 1024;
const FRAME = 64;
const MOST_OPEN = 1_000;
const MOST_MESSAGE = 1_000;

interface OpenCall {
  readonly settle: (result: Result<Json, ModelFault>) => void;
  readonly onText: (text: string) => void;
  ticksLeft: number;
  streamLeft: number;
}

export class ProviderLink implements HelperPeer {
  readonly #life: HelperLife;
  readonly #parts: LinkParts;
  readonly #open = new Map<number, OpenCall>();
  #lastId = 0;
  #clock: NodeJS.Timeout | null = null;
  #silentTicks = 0;
  #awaitsPong = false;
  #hasSpoken = false;

  constructor(life: HelperLife, parts: LinkParts) {
    this.#life = life;
    this.#parts = parts;
    this.#send({ type: 'open', settings: parts.settings });
  }

  isBusy(): boolean {
    return this.#open.size > 0;
  }

  call(input: object, { signal, onText }: ModelCallOptions): Promise<Result<Json, ModelFault>> {
    if (this.#life.isOver || this.#open.size >= MOST_OPEN)
      return Promise.resolve(unavailable('it has ended'));
    const id = ++this.#lastId;
    if (!this.#send({ type: 'call', id, input, streams: onText !== undefined }))
      return Promise.resolve(TOO_LONG);
    return new Promise((resolve) => {
      const settle = (result: Result<Json, ModelFault>) => {
        signal.removeEventListener('abort', cancel);
        resolve(result);
      };
      const call: OpenCall = {
        settle,
        onText: (text) => signal.aborted || onText?.(text),
        ticksLeft: Math.ceil(this.#parts.callMs / this.#parts.tickMs) + LATE_TICKS,
        streamLeft: MOST_STREAMED,
      };
      const cancel = () => {
        this.#send({ type: 'cancel', id });
        call.ticksLeft = LATE_TICKS;
        settle(CANCELLED);
      };
      this.#open.set(id, call);
      this.#clock ??= setInterval(() => this.#tick(), this.#parts.tickMs);
      signal.addEventListener('abort', cancel, { once: true });
      if (signal.aborted) cancel();
    });
  }

  over(why: string): void {
    if (this.#clock !== null) clearInterval(this.#clock);
    for (const { settle } of this.#open.values()) settle(unavailable(why));
    this.#open.clear();
  }

  /** False: it is longer than a line may be. */
  #send(said: HubCallMessage): boolean {
    const line = callLine(said);
    if (line !== null) this.#life.write(line);
    return line !== null;
  }

  #tick(): void {
    for (const call of this.#open.values())
      if (--call.ticksLeft < 0) return this.#life.end('it did not end a call in time');
    if (++this.#silentTicks > (this.#hasSpoken ? SILENT_TICKS : STARTING_TICKS))
      return this.#life.end('it does not respond');
    if (!this.#awaitsPong) this.#send({ type: 'ping' });
    this.#awaitsPong = true;
  }

  hear(line: string): string | null {
    const read = readProviderMessage(line);
    if (!read.ok) return read.fault;
    const said = read.value;
    this.#hasSpoken = true;
    this.#silentTicks = 0;
    if (said.type === 'pong') {
      if (!this.#awaitsPong) return 'nobody asked whether it is there';
      this.#awaitsPong = false;
      return null;
    }
    const call = this.#open.get(said.id);
    if (call === undefined) return 'there is no such call';
    switch (said.type) {
      case 'text':
        call.streamLeft -= Math.max(line.length, said.text.length + FRAME);
        if (call.streamLeft < 0) return 'it streams too much';
        call.onText(said.text);
        return null;
      case 'answer':
        this.#life.hasAnswered = true;
        this.#close(said.id, call, ok(said.value));
        return null;
      case 'fault':
        this.#life.hasAnswered = true;
        this.#close(said.id, call, failed(shown(said.fault)));
        return null;
    }
  }

  #close(id: number, call: OpenCall, result: Result<Json, ModelFault>): void {
    this.#open.delete(id);
    call.settle(result);
    if (this.#open.size > 0 || this.#clock === null) return;
    clearInterval(this.#clock);
    this.#clock = null;
    this.#silentTicks = 0;
  }
}

/** Attack: a fault whose message holds what a terminal obeys. */
function shown({ kind, message, help, attempts }: ModelFault): ModelFault {
  const plain = (text: string) => text.slice(0, MOST_MESSAGE).replace(/[\p{C}\p{Z}]+/gu, ' ');
  return {
    kind,
    message: plain(message),
    attempts,
    ...(help === undefined ? {} : { help: plain(help) }),
  };
}

const ASK_AGAIN =
  'ask again: the process is started anew; the call was not repeated, since the provider may have counted it';

export function unavailable(why: string, help = ASK_AGAIN): Result<never, ModelFault> {
  const message = `the process that calls the provider failed: ${why}`;
  return failed({ kind: 'unavailable', message, help, attempts: 1 });
}

export const CANCELLED: Result<never, ModelFault> = failed({
  kind: 'cancelled',
  message: 'the model call was cancelled',
  attempts: 0,
});

const TOO_LONG: Result<never, ModelFault> = failed({
  kind: 'bad-request',
  message: `the conversation is longer than ${CALL_LINE_BYTES} bytes`,
  help: 'start a new conversation',
  attempts: 0,
});
