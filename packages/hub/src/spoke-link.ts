/**
 * The hub's end of one spoke: a process that runs the agent loop, and the state machine of what it may say when.
 * Whatever it sends, the hub stays up: floods, garbage and repeated ids are dropped, counted and in the end fatal.
 *
 * Ring 0.
 */
import type { Duplex } from 'node:stream';
import { type Fault, failed, fault, ok, type Result, type TurnLimits } from '@cordon/core';
import {
  decodeSpokeMessage,
  encode,
  type HubMessage,
  LineDecoder,
  PROTOCOL_VERSION,
  type SpokeMessage,
  type SpokeRequest,
  type TurnContext,
} from '@cordon/protocol';

/** A confined process that runs the agent loop. */
export interface SpokeProcess {
  readonly link: Duplex;
  readonly layers: readonly string[];
  readonly ended: Promise<string>;
  readonly lastWords: () => string;
  readonly kill: () => void;
}

export interface SpokeLauncher {
  launch(signal: AbortSignal): Promise<Result<SpokeProcess, Fault>>;
}

/** What answers a request; a fault ends the turn instead. */
export type Served = Result<Unnumbered<Exclude<HubMessage, { type: 'turn' }>>, Fault>;
type Unnumbered<M> = M extends unknown ? Omit<M, 'id'> : never;

export type Serve = (request: SpokeRequest) => Promise<Served>;
export type OnDropped = (reason: string, bytes: number) => void;

const LINE_BYTES = 4 * 1024 * 1024;
const READY_SECONDS = 10;
/** Requests in work at once: a model asks for a few tools a turn, not for hundreds. */
const MAX_OPEN_REQUESTS = 32;
/** Requests of one turn: many times what an honest loop makes, and an end to one that never stops asking. */
const MAX_REQUESTS = 500;
const UNREAD_BYTES = 64 * 1024 * 1024;

interface RunningTurn {
  readonly id: number;
  readonly serve: Serve;
  readonly finish: (end: Result<string, Fault>) => void;
  readonly open: Set<number>;
  requests: number;
}

export class SpokeLink {
  readonly #process: SpokeProcess;
  readonly #limits: TurnLimits;
  readonly #decoder = new LineDecoder({ lineBytes: LINE_BYTES });
  readonly #ready: Promise<Result<true, Fault>>;
  #settleReady: (ready: Result<true, Fault>) => void = () => undefined;
  #turn: RunningTurn | null = null;
  #turns = 0;
  #isReady = false;
  #dropped = 0;
  #idle: NodeJS.Timeout | undefined;
  #onDropped: OnDropped = () => undefined;
  #ended: Fault | null = null;

  constructor(process: SpokeProcess, limits: TurnLimits) {
    this.#process = process;
    this.#limits = limits;
    this.#ready = new Promise((resolve) => {
      this.#settleReady = resolve;
    });
    const deadline = setTimeout(
      () => this.#end(fault('spoke-unavailable', `the agent loop was not ready within ${READY_SECONDS} s`)),
      READY_SECONDS * 1000,
    );
    void this.#ready.then(() => clearTimeout(deadline));
    process.link.on('data', (chunk: Buffer) => this.#receive(chunk));
    process.link.on('error', () => undefined);
    void process.ended.then((reason) =>
      this.#end(fault('spoke-unavailable', `the agent loop ended: ${reason}`)),
    );
  }

  /** Whether the process is gone or given up: no turn can run here any more. */
  get isOver(): boolean {
    return this.#ended !== null;
  }

  /** True once the loop can take a turn, false if it never can. */
  get ready(): Promise<boolean> {
    return this.#ready.then(({ ok }) => ok);
  }

  /** Runs one turn to its answer. Aborting `signal` ends the process: nothing of the turn goes on. */
  async runTurn(
    context: TurnContext,
    serve: Serve,
    onDropped: OnDropped,
    signal: AbortSignal,
  ): Promise<Result<string, Fault>> {
    const ready = await this.#ready;
    if (!ready.ok) return ready;
    if (this.#ended !== null) return failed(this.#ended);
    if (signal.aborted) return failed(CANCELLED);
    const id = ++this.#turns;
    this.#onDropped = onDropped;
    this.#dropped = 0;
    return new Promise((resolve) => {
      const abort = () => this.#end(CANCELLED);
      const finish = (end: Result<string, Fault>) => {
        clearTimeout(this.#idle);
        signal.removeEventListener('abort', abort);
        this.#turn = null;
        resolve(end);
      };
      this.#turn = { id, serve, finish, open: new Set(), requests: 0 };
      signal.addEventListener('abort', abort, { once: true });
      this.#send({ type: 'turn', id, context });
      this.#watchIdle();
    });
  }

  /** A loop that hangs, or was stopped by a signal, keeps nobody waiting for ever. */
  #watchIdle(): void {
    clearTimeout(this.#idle);
    const seconds = this.#limits.idleSeconds;
    this.#idle = setTimeout(
      () => this.#end(fault('spoke-unavailable', `the agent loop said nothing for ${seconds} s`)),
      seconds * 1000,
    );
  }

  close(): void {
    this.#end(fault('spoke-unavailable', 'the spoke was closed'));
  }

  #receive(chunk: Buffer): void {
    if (this.#ended !== null) return;
    const lines = this.#decoder.push(chunk);
    if (!lines.ok)
      return this.#end(fault('spoke-protocol', `the agent loop broke the protocol: ${lines.fault}`));
    for (const line of lines.value) {
      const message = decodeSpokeMessage(line);
      if (message.ok) this.#handle(message.value, line.length);
      else this.#drop(message.fault, line.length);
    }
  }

  #handle(message: SpokeMessage, bytes: number): void {
    if (message.type === 'ready') {
      if (this.#isReady) return this.#drop('it was ready before', bytes);
      if (message.version === PROTOCOL_VERSION) {
        this.#isReady = true;
        return this.#settleReady(ok(true));
      }
      return this.#end(
        fault(
          'spoke-protocol',
          `the agent loop speaks protocol ${message.version}, the hub ${PROTOCOL_VERSION}`,
        ),
      );
    }
    const turn = this.#turn;
    if (turn === null) return this.#drop('a message outside a turn', bytes);
    if (message.type === 'answer' || message.type === 'exhausted') {
      // An answer while requests are open would leave effects behind that nobody waits for.
      if (message.id !== turn.id || turn.open.size > 0) return this.#drop('an answer out of place', bytes);
      if (message.type === 'answer') return turn.finish(ok(message.text));
      return turn.finish(
        failed(fault('budget-exceeded', `the model made ${message.steps} rounds of calls without an answer`)),
      );
    }
    if (turn.open.has(message.id)) return this.#drop('a request id used twice', bytes);
    if (turn.open.size >= MAX_OPEN_REQUESTS) return this.#drop('too many requests at once', bytes);
    if (++turn.requests > MAX_REQUESTS)
      return this.#end(fault('budget-exceeded', `the agent loop made more than ${MAX_REQUESTS} requests`));
    turn.open.add(message.id);
    clearTimeout(this.#idle);
    void this.#answer(turn, message);
  }

  async #answer(turn: RunningTurn, request: SpokeRequest): Promise<void> {
    // A bug in serving must not leave the spoke waiting, nor let it go on: the turn ends.
    const served = await turn
      .serve(request)
      .catch((error: unknown) =>
        failed(fault('spoke-unavailable', `the hub failed to serve a request: ${describe(error)}`)),
      );
    turn.open.delete(request.id);
    if (this.#turn !== turn) return;
    if (!served.ok) return this.#end(served.fault);
    this.#send({ ...served.value, id: request.id } as HubMessage);
    if (turn.open.size === 0) this.#watchIdle();
  }

  #drop(reason: string, bytes: number): void {
    this.#onDropped(reason, bytes);
    if (++this.#dropped > this.#limits.droppedMessages)
      this.#end(
        fault('spoke-protocol', `the agent loop sent too many malformed messages, at last ${reason}`),
      );
  }

  #send(message: HubMessage): void {
    if (this.#process.link.writableLength > UNREAD_BYTES)
      return this.#end(fault('spoke-protocol', 'the agent loop does not read'));
    this.#process.link.write(`${encode(message)}\n`);
  }

  #end(reason: Fault): void {
    if (this.#ended !== null) return;
    this.#ended = reason;
    this.#settleReady(failed(reason));
    this.#turn?.finish(failed(reason));
    this.#process.link.destroy();
    this.#process.kill();
  }
}

const CANCELLED: Fault = fault('cancelled', 'the query was stopped');

function describe(error: unknown): string {
  return error instanceof Error ? error.message : 'unknown fault';
}
