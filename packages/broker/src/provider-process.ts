/**
 * The process of one provider, over its lives: the first call starts it, it is ended when it has been idle, and one that died is
 * started anew by the next call, later each time if it dies without an answer.
 *
 * Ring 0.
 */
import { setTimeout as wait } from 'node:timers/promises';
import {
  type Fault,
  failed,
  fault,
  type Json,
  type ModelCallOptions,
  type ModelFault,
  ok,
  type Result,
} from '@cordon/core';
import type { ConfinedProcess, Sandbox, SandboxSpec } from '@cordon/sandbox';
import { CANCELLED, type LinkParts, ProviderLink, unavailable } from './provider-link.ts';
import { relay, type Target } from './relay.ts';

export interface ProviderProcessParts extends LinkParts {
  readonly sandbox: Sandbox;
  readonly spec: () => Result<SandboxSpec, Fault>;
  /** All that the process can reach. */
  readonly target: Target;
  /** A process of 70 MiB that nobody has used for so long is ended. */
  readonly idleMs: number;
  readonly firstWaitMs: number;
}

const LONGEST_WAIT_MS = 10_000;

const NOT_STARTED = failed(fault('sandbox-unavailable', 'no sandbox can be started'));

export class ProviderProcess {
  readonly #parts: ProviderProcessParts;
  readonly #ending = new AbortController();
  #running: Promise<Result<ProviderLink, Fault>> | null = null;
  #process: ConfinedProcess | null = null;
  /** Deaths in a row without an answer in between. */
  #deaths = 0;
  #mayStart: Promise<unknown> = Promise.resolve();
  #idle: NodeJS.Timeout | undefined;

  constructor(parts: ProviderProcessParts) {
    this.#parts = parts;
  }

  async call(input: object, options: ModelCallOptions): Promise<Result<Json, ModelFault>> {
    if (options.signal.aborted) return CANCELLED;
    const link = await this.#link();
    if (options.signal.aborted) return CANCELLED;
    if (!link.ok) return unavailable(link.fault.message, link.fault.help);
    this.#restLater(link.value);
    return link.value.call(input, options);
  }

  /** Ends the process; every call fails from then on. */
  async close(): Promise<void> {
    clearTimeout(this.#idle);
    this.#ending.abort();
    await this.#running;
    await this.#process?.exited;
  }

  #link(): Promise<Result<ProviderLink, Fault>> {
    this.#running ??= this.#start();
    return this.#running;
  }

  async #start(): Promise<Result<ProviderLink, Fault>> {
    await this.#mayStart;
    // A sandbox that throws is one that does not start.
    const started = await this.#spawn().catch(() => NOT_STARTED);
    if (!started.ok) this.#over(false);
    return started;
  }

  async #spawn(): Promise<Result<ProviderLink, Fault>> {
    const { sandbox, spec, target } = this.#parts;
    if (this.#ending.signal.aborted) return failed(fault('cancelled', 'the hub is ending'));
    const wanted = spec();
    if (!wanted.ok) return wanted;
    const spawned = await sandbox.spawn(wanted.value, this.#ending.signal);
    if (!spawned.ok) return spawned;
    const process = spawned.value;
    const { link, listener, exited, kill } = process;
    if (link === null || listener === null) {
      kill();
      return failed(fault('sandbox-unavailable', 'the process has no link'));
    }
    this.#process = process;
    void listener.then((handed) => {
      if (handed !== null) void exited.then(relay(handed, target, kill));
    });
    return ok(new ProviderLink(process, link, this.#parts, (hasAnswered) => this.#over(hasAnswered)));
  }

  #over(hasAnswered: boolean): void {
    this.#running = null;
    this.#deaths = hasAnswered ? 1 : this.#deaths + 1;
    const ms = Math.min(this.#parts.firstWaitMs * 2 ** (this.#deaths - 1), LONGEST_WAIT_MS);
    // Attack: a provider whose every answer ends the process makes the hub start processes without a pause.
    this.#mayStart = wait(ms, undefined, { signal: this.#ending.signal }).catch(() => undefined);
  }

  #restLater(link: ProviderLink): void {
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => {
      if (link.isBusy) this.#restLater(link);
      else link.end('it was idle');
    }, this.#parts.idleMs).unref();
  }
}
