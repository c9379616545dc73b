/**
 * The hub's end of one spoke: a process that runs the agent loop, and the state machine of what it may say when.
 * Whatever it sends, the hub stays up: floods, garbage and repeated ids are dropped, counted and in the end fatal.
 * A turn that is not wanted any more is cancelled: the spoke gets a message, and what is under way for it ends.
 */
import type { Duplex } from 'node:stream';
import {
  type Fault,
  failed,
  fault,
  MOST_CALLS_AT_ONCE,
  ok,
  type Result,
  type TurnLimits,
} from '@cordon/core';
import {
  decodeSpokeMessage,
  encode,
  type HubAnswer,
  type HubMessage,
  LineDecoder,
  PROTOCOL_VERSIONS,
  SPOKE_LINE_BYTES,
  type SpokeMessage,
  type SpokeRequest,
  type TurnContext,
} from '@cordon/protocol';

/** A confined process that runs the agent loop. */
export interface SpokeProcess {
  readonly link: Duplex;
  readonly layers: readonly string[];
  readonly ended: Promise<string>;
  readonly stderrTail: () => string;
  readonly kill: () => void;
}

export interface SpokeLauncher {
  launch(signal: AbortSignal): Promise<Result<SpokeProcess, Fault>>;
}

/** What answers a request; a fault ends the turn instead. */
export type Served = Result<Unnumbered<HubAnswer>, Fault>;
type Unnumbered<M> = M extends unknown ? Omit<M, 'id'> : never;

/** `signal` aborts when the turn is over, however it ended: nobody waits for the answer any more. */
export type Serve = (request: SpokeRequest, signal: AbortSignal) => Promise<Served>;
export type OnDropped = (reason: string, bytes: number) => void;

const READY_SECONDS = 30;
/** A spoke that was told that its turn is cancelled ends by itself, or is ended after this. */
const GRACE_MS = 250;
/** Requests of one turn: many times what an honest loop makes, and an end to one that never stops asking. */
const MAX_REQUESTS = 500;
const TOO_MANY_AT_ONCE = `There are more than ${MOST_CALLS_AT_ONCE} calls at once. Make this one when others have their results.`;
const UNREAD_BYTES = 64 * 1024 * 1024;

interface RunningTurn {
  readonly id: number;
  readonly serve: Serve;
  readonly finish: (end: Result<string, Fault>) => void;
  readonly over: AbortSignal;
  readonly open: Set<number>;
  requests: number;
}

export class SpokeLink {
  readonly #process: SpokeProcess;
  readonly #limits: TurnLimits;
  readonly #decoder = new LineDecoder({ lineBytes: SPOKE_LINE_BYTES });
  readonly #ready: Promise<Result<true, Fault>>;
  #settleReady: (ready: Result<true, Fault>) => void = () => undefined;
  #turn: RunningTurn | null = null;
  #turns = 0;
  #isReady = false;
  #dropped = 0;
  #idle: NodeJS.Timeout | undefined;
  #onDropped: OnDropped = () => undefined;
  #ended: Fault | null = null;
  #grace: NodeJS.Timeout | undefined;

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
    void process.ended.then((reason) => {
      clearTimeout(this.#grace);
      this.#end(fault('spoke-unavailable', `the agent loop ended: ${reason}`));
    });
  }

  /** Whether the process is gone or given up: no turn can run here any more. */
  get isOver(): boolean {
    return this.#ended !== null;
  }

  /** True once the loop can take a turn, false if it never can. */
  get ready(): Promise<boolean> {
    return this.#ready.then(({ ok }) => ok);
  }

  /** Runs one turn to its answer. Aborting `signal` cancels it and ends the process: nothing of the turn continues. */
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
      const over = new AbortController();
      const abort = () => this.#cancel(id);
      const finish = (end: Result<string, Fault>) => {
        clearTimeout(this.#idle);
        signal.removeEventListener('abort', abort);
        this.#turn = null;
        over.abort();
        resolve(end);
      };
      this.#turn = { id, serve, finish, over: over.signal, open: new Set(), requests: 0 };
      signal.addEventListener('abort', abort, { once: true });
      this.#send({ type: 'turn', id, context });
      this.#watchIdle();
    });
  }

  /** A loop that hangs, or was stopped by a signal, keeps nobody waiting for ever. */
  #watchIdle(): void {
    clearTimeout(this.#idle);
    if (this.#turn === null) return;
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
      return this.#isReady ? this.#drop('it was ready before', bytes) : this.#greet(message.versions);
    }
    const turn = this.#turn;
    if (turn === null) return this.#drop('a message outside a turn', bytes);
    if (message.type === 'answer' || message.type === 'exhausted' || message.type === 'unfit') {
      // An answer while requests are open would leave effects behind that nobody waits for.
      if (message.id !== turn.id || turn.open.size > 0) return this.#drop('an answer out of place', bytes);
      return turn.finish(endOf(message));
    }
    if (turn.open.has(message.id)) return this.#drop('a request id used twice', bytes);
    if (turn.open.size >= MOST_CALLS_AT_ONCE) {
      // Who is not answered waits, until the turn ends for its silence.
      this.#send({ type: 'refusal', id: message.id, malformed: false, text: TOO_MANY_AT_ONCE });
      return this.#drop('too many requests at once', bytes);
    }
    if (++turn.requests > MAX_REQUESTS)
      return this.#end(fault('budget-exceeded', `the agent loop made more than ${MAX_REQUESTS} requests`));
    turn.open.add(message.id);
    clearTimeout(this.#idle);
    void this.#answer(turn, message);
  }

  async #answer(turn: RunningTurn, request: SpokeRequest): Promise<void> {
    // A bug in serving must not leave the spoke waiting, nor let it continue: the turn ends.
    const served = await turn
      .serve(request, turn.over)
      .catch((error: unknown) =>
        failed(fault('spoke-unavailable', `the hub failed to serve a request: ${describe(error)}`)),
      );
    turn.open.delete(request.id);
    if (this.#turn !== turn) return;
    if (!served.ok) return this.#end(served.fault);
    this.#send({ ...served.value, id: request.id } as HubMessage);
    if (turn.open.size === 0) this.#watchIdle();
  }

  /** The newest version that both speak, or none and the end. */
  #greet(versions: readonly number[]): void {
    const version = PROTOCOL_VERSIONS.find((known) => versions.includes(known));
    if (version !== undefined) {
      this.#isReady = true;
      this.#send({ type: 'welcome', version });
      return this.#settleReady(ok(true));
    }
    this.#send({ type: 'unsupported', versions: PROTOCOL_VERSIONS });
    const theirs = versions.join(', ');
    const message = `the agent loop speaks protocol ${theirs}, the hub ${PROTOCOL_VERSIONS.join(', ')}`;
    this.#endSoon(fault('spoke-protocol', message));
  }

  #cancel(turn: number): void {
    if (this.#ended !== null) return;
    this.#send({ type: 'cancel', id: turn });
    this.#endSoon(CANCELLED);
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
    this.#give(reason);
    this.#kill();
  }

  /** As `#end`, after the spoke was told: it may read what was sent, and is heard no more. */
  #endSoon(reason: Fault): void {
    if (this.#ended !== null) return;
    this.#give(reason);
    this.#process.link.end();
    this.#grace = setTimeout(() => this.#kill(), GRACE_MS);
  }

  #give(reason: Fault): void {
    this.#ended = reason;
    this.#settleReady(failed(reason));
    this.#turn?.finish(failed(reason));
  }

  #kill(): void {
    clearTimeout(this.#grace);
    this.#process.link.destroy();
    this.#process.kill();
  }
}

function endOf(
  message: Extract<SpokeMessage, { type: 'answer' | 'exhausted' | 'unfit' }>,
): Result<string, Fault> {
  switch (message.type) {
    case 'answer':
      return ok(message.text);
    case 'exhausted': {
      const rounds = `the model made ${message.steps} rounds of calls without an answer`;
      return failed(fault('budget-exceeded', rounds));
    }
    case 'unfit':
      return failed(fault('answer-unfit', 'the model gave no answer of the format that was asked for'));
    default:
      message satisfies never;
      return failed(CANCELLED);
  }
}

const CANCELLED: Fault = fault('cancelled', 'the query was stopped');

function describe(error: unknown): string {
  return error instanceof Error ? error.message : 'unknown fault';
}
