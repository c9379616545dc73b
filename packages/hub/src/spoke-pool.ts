/**
 * Keeps one agent loop warm, so that a query does not wait for a process to start. A loop serves one context and
 * is never handed to another: what it has seen ends with it.
 *
 * Ring 0.
 */
import { type Fault, failed, fault, ok, type Result, type TurnLimits } from '@cordon/core';
import { type SpokeLauncher, SpokeLink } from './spoke-link.ts';

export class SpokePool {
  readonly #launcher: SpokeLauncher;
  readonly #limits: TurnLimits;
  readonly #live = new Set<SpokeLink>();
  readonly #ending = new AbortController();
  #spare: Promise<Result<SpokeLink, Fault>> | null = null;

  constructor(launcher: SpokeLauncher, limits: TurnLimits) {
    this.#launcher = launcher;
    this.#limits = limits;
  }

  /** Starts the spare in the background. */
  warm(): void {
    if (!this.#ending.signal.aborted) this.#spare ??= this.#start();
  }

  /** A loop that has seen nothing. What ended the spare before anybody used it is no fault of this query. */
  async take(): Promise<Result<SpokeLink, Fault>> {
    const warming = this.#spare;
    this.#spare = null;
    const spare = await warming;
    if (spare?.ok !== true) return this.#start();
    if (!spare.value.isOver) return spare;
    this.release(spare.value);
    return this.#start();
  }

  release(link: SpokeLink): void {
    this.#live.delete(link);
    link.close();
  }

  close(): void {
    this.#ending.abort();
    for (const link of this.#live) link.close();
    this.#live.clear();
  }

  /** Nobody may be waiting for the spare yet: what breaks here must not end the hub. */
  async #launch(): ReturnType<SpokeLauncher['launch']> {
    try {
      return await this.#launcher.launch(this.#ending.signal);
    } catch {
      return failed(fault('spoke-unavailable', 'the agent loop could not be started'));
    }
  }

  async #start(): Promise<Result<SpokeLink, Fault>> {
    const process = await this.#launch();
    if (!process.ok) return process;
    const link = new SpokeLink(process.value, this.#limits);
    this.#live.add(link);
    if (this.#ending.signal.aborted) this.release(link);
    return ok(link);
  }
}
