/**
 * A confined process of our own code that answers the hub: a model provider's, a detector's, a module of the user's. The first use
 * starts it. It is ended when it is idle or breaks its protocol, and the next use starts another, after a pause that grows while
 * processes end without an answer.
 *
 * What the process says is hostile by assumption.
 */
import type { Duplex } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { type Fault, failed, fault, ok, type Result } from '@cordon/core';
import { LineDecoder } from '@cordon/protocol';
import type { ConfinedProcess } from '../spec/backend.ts';

/** What the hub asks one process, and waits for. */
export interface HelperPeer {
  /** The process has questions to answer, so it is not idle. */
  isBusy(): boolean;
  /** Takes a line of the process. Returns what breaks the protocol, which ends the process, or null. */
  hear(line: string): string | null;
  /** Called once: the process is over, and nothing more is heard. */
  over(why: string): void;
}

export interface HelperParts<Peer extends HelperPeer> {
  /** Starts a process with a link. The signal ends it. */
  readonly spawn: (signal: AbortSignal) => Promise<Result<ConfinedProcess, Fault>>;
  readonly open: (life: HelperLife) => Peer;
  /** Of one line that the process sends. */
  readonly lineBytes: number;
  readonly idleMs: number;
  /** Before the next start: after the first end, and at most. */
  readonly pauseMs: { readonly first: number; readonly longest: number };
}

/** Between the end of the link and the end of the process. */
const END_MS = 2_000;

/** One process, from its start to its end. */
export class HelperLife {
  readonly #process: ConfinedProcess;
  readonly #link: Duplex;
  readonly #onOver: (why: string) => void;
  #isOver = false;
  /** Set by the peer. */
  hasAnswered = false;

  constructor(process: ConfinedProcess, link: Duplex, onOver: (why: string) => void) {
    this.#process = process;
    this.#link = link;
    this.#onOver = onOver;
    link.on('error', () => undefined);
    // A process that has ended says why a moment later; one that lives without its link is of no use.
    link.on('close', () => setTimeout(() => this.end('it closed its link'), END_MS).unref());
    void process.exited.then(({ message }) => this.end(message));
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Hands each line to `hear`, until the process is over. */
  listen(hear: HelperPeer['hear'], lineBytes: number): void {
    const decoder = new LineDecoder({ lineBytes });
    this.#link.on('data', (chunk: Buffer) => {
      if (this.#isOver) return;
      const lines = decoder.push(chunk);
      if (!lines.ok) return this.end(lines.fault);
      for (const line of lines.value) {
        const problem = hear(line);
        if (problem !== null) this.end(`it broke the protocol: ${problem}`);
        if (this.#isOver) return;
      }
    });
  }

  write(bytes: string | Buffer): void {
    if (!this.#link.destroyed) this.#link.write(bytes);
  }

  /** Kills the process. */
  end(why: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#process.kill();
    this.#onOver(why);
  }

  async ended(): Promise<void> {
    await this.#process.exited;
  }
}

export class HelperProcess<Peer extends HelperPeer> {
  readonly #parts: HelperParts<Peer>;
  readonly #ending = new AbortController();
  #running: Promise<Result<Peer, Fault>> | null = null;
  /** May be over. */
  #newest: { readonly life: HelperLife; readonly peer: Peer } | null = null;
  #isStarting = false;
  /** Ends in a row without an answer between them. */
  #deaths = 0;
  #notBefore = 0;
  #idle: NodeJS.Timeout | undefined;

  constructor(parts: HelperParts<Peer>) {
    this.#parts = parts;
  }

  /** The peer of the running process; starts one if none runs. Never rejects. */
  peer(): Promise<Result<Peer, Fault>> {
    this.#restLater();
    this.#running ??= this.#start();
    return this.#running;
  }

  /** Ends the process if it has nothing to answer. The next use starts another at once. */
  rest(): void {
    if (this.#newest?.peer.isBusy()) return;
    this.#newest?.life.end('it was idle');
    this.#deaths = 0;
    this.#notBefore = 0;
  }

  /** Ends the process; no other is started. */
  async close(): Promise<void> {
    clearTimeout(this.#idle);
    this.#ending.abort();
    await this.#running;
    this.#newest?.life.end('the hub ends it');
    await this.#newest?.life.ended();
  }

  async #start(): Promise<Result<Peer, Fault>> {
    this.#isStarting = true;
    const { signal } = this.#ending;
    const ms = this.#notBefore - performance.now();
    if (ms > 0) await wait(ms, undefined, { signal }).catch(() => undefined);
    const started = signal.aborted
      ? failed(fault('cancelled', 'the hub is ending'))
      : await this.#parts.spawn(signal).catch(THROWN);
    const opened = started.ok ? this.#open(started.value) : started;
    this.#isStarting = false;
    if (!opened.ok) this.#over(false);
    return opened;
  }

  #open(process: ConfinedProcess): Result<Peer, Fault> {
    if (process.link === null) {
      process.kill();
      return failed(fault('sandbox-unavailable', 'the process has no link'));
    }
    const life = new HelperLife(process, process.link, (why) => {
      this.#over(life.hasAnswered);
      peer.over(why);
    });
    const peer = this.#parts.open(life);
    this.#newest = { life, peer };
    life.listen((line) => peer.hear(line), this.#parts.lineBytes);
    return ok(peer);
  }

  #over(hasAnswered: boolean): void {
    const { first, longest } = this.#parts.pauseMs;
    this.#running = null;
    // Attack: a process that ends after each answer makes the hub start processes without a pause.
    this.#deaths = hasAnswered ? 1 : this.#deaths + 1;
    this.#notBefore = performance.now() + Math.min(first * 2 ** (this.#deaths - 1), longest);
  }

  #restLater(): void {
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => {
      if (this.#isStarting || this.#newest?.peer.isBusy()) this.#restLater();
      else this.rest();
    }, this.#parts.idleMs).unref();
  }
}

const THROWN = () => failed(fault('sandbox-unavailable', 'the process could not be started'));
