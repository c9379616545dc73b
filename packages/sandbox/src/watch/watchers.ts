/**
 * Watches sandboxes from a thread that shares no event loop with anybody. Attack: an app sends a text over which the
 * event loop of the hub is busy for seconds, and fills memory and disk meanwhile. The thread ends a sandbox by itself and
 * tells the hub why.
 */

import { extname } from 'node:path';
import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads';
import type { Excess } from '../spec/backend.ts';
import type { KnownProcess } from './known-process.ts';
import type { FolderLimits } from './own-folder.ts';
import type { SeenSandbox, TreeLimits, Units } from './watchdog.ts';

/** What the thread knows about one sandbox. */
export interface WatchedSandbox extends SeenSandbox {
  /** Host pid of the process whose end is the end of all. */
  readonly outer: KnownProcess;
  /** The sandbox's first process. */
  readonly root: KnownProcess;
  readonly limits: TreeLimits & FolderLimits;
  /** The folder of its control group; null: it has none. */
  readonly group: string | null;
  /** Host paths of its own folders. */
  readonly ownFolders: readonly string[];
}

export type WatchOrder =
  | { readonly kind: 'begin'; readonly id: number; readonly sandbox: WatchedSandbox }
  | { readonly kind: 'end'; readonly id: number };

/** Sent before the sandbox is ended. */
export interface WatchReport extends Excess {
  readonly id: number;
}

export interface WatchThreadData {
  readonly port: MessagePort;
  readonly units: Units;
}

/** The thread is started with the first sandbox. Keeps no process alive. */
export class Watchers {
  readonly #units: Units;
  readonly #watched = new Map<number, (excess: Excess) => void>();
  #port: MessagePort | null = null;
  #lastId = 0;

  constructor(units: Units) {
    this.#units = units;
  }

  /** Starts the thread, if it does not run: it needs some milliseconds, in which others may go on. */
  prepare(): void {
    this.#started();
  }

  /**
   * Watches until the returned function is called. `onExcess` is called at most once, with the limit; the sandbox
   * has been ended by then, unless it is the thread that has failed.
   */
  watch(sandbox: WatchedSandbox, onExcess: (excess: Excess) => void): () => void {
    const port = this.#started();
    const id = ++this.#lastId;
    this.#watched.set(id, onExcess);
    port.postMessage({ kind: 'begin', id, sandbox } satisfies WatchOrder);
    return () => {
      if (this.#watched.delete(id)) port.postMessage({ kind: 'end', id } satisfies WatchOrder);
    };
  }

  /** Takes what the thread has said so far: whoever learns of the end of a process first can then say why it ended. */
  hear(): void {
    if (this.#port === null) return;
    for (;;) {
      const received: { readonly message: WatchReport } | undefined = receiveMessageOnPort(this.#port);
      if (received === undefined) return;
      this.#report(received.message);
    }
  }

  #started(): MessagePort {
    if (this.#port !== null) return this.#port;
    const { port1: port, port2: far } = new MessageChannel();
    const data: WatchThreadData = { port: far, units: this.#units };
    const program = new URL(`./watch-thread${extname(import.meta.url)}`, import.meta.url);
    const thread = new Worker(program, { workerData: data, transferList: [far], execArgv: [] });
    // Nothing runs unwatched: if the thread ends, so do all sandboxes.
    thread.once('error', () => this.#lost(port));
    thread.once('exit', () => this.#lost(port));
    port.on('message', (report: WatchReport) => this.#report(report));
    port.unref();
    thread.unref();
    this.#port = port;
    return port;
  }

  #report({ id, limit, message }: WatchReport): void {
    const onExcess = this.#watched.get(id);
    this.#watched.delete(id);
    onExcess?.({ limit, message });
  }

  #lost(port: MessagePort): void {
    if (this.#port !== port) return;
    this.#port = null;
    const message = 'its use of memory, time and disk could not be watched any more';
    for (const id of [...this.#watched.keys()]) this.#report({ id, limit: 'unwatched', message });
  }
}
