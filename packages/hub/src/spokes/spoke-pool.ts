/**
 * Keeps a few agent loops warm, so that a query does not wait for a process to start. A loop serves one context and
 * is never handed to another: what it has seen ends with it.
 */
import { type Fault, failed, fault, ok, type Result, type TurnLimits, type WarmLimits } from '@cordon/core';
import { type SpokeLauncher, SpokeLink } from './spoke-link.ts';

/** A start takes a core for 80 ms: what follows an answer comes first. */
const REFILL_DELAY_MS = 100;

interface Spare {
  readonly link: Promise<Result<SpokeLink, Fault>>;
  readonly expiry: NodeJS.Timeout;
}

export class SpokePool {
  readonly #launcher: SpokeLauncher;
  readonly #limits: TurnLimits;
  readonly #warm: WarmLimits;
  readonly #live = new Set<SpokeLink>();
  readonly #ending = new AbortController();
  /** Oldest first. */
  readonly #spares: Spare[] = [];
  #refill: NodeJS.Timeout | undefined;

  constructor(launcher: SpokeLauncher, limits: TurnLimits, warm: WarmLimits) {
    this.#launcher = launcher;
    this.#limits = limits;
    this.#warm = warm;
  }

  /** Starts a loop in the background unless one waits already: a query is coming. */
  warm(): void {
    if (this.#spares.length === 0) this.#add();
  }

  /** Fills the pool a little later, one loop after the other: nobody waits for them yet. */
  fill(): void {
    clearTimeout(this.#refill);
    if (this.#ending.signal.aborted) return;
    this.#refill = setTimeout(() => void this.#fill(), REFILL_DELAY_MS).unref();
  }

  /** A loop that has seen nothing. What ended a spare before anybody used it is no fault of this query. */
  async take(): Promise<Result<SpokeLink, Fault>> {
    for (let spare = this.#spares.shift(); spare !== undefined; spare = this.#spares.shift()) {
      clearTimeout(spare.expiry);
      const link = await spare.link;
      if (!link.ok) continue;
      // Also one that ends before it can take a turn: it was begun for nobody.
      if ((await link.value.ready) && !link.value.isOver) return link;
      this.release(link.value);
    }
    return this.#start();
  }

  release(link: SpokeLink): void {
    this.#live.delete(link);
    link.close();
  }

  close(): void {
    this.#ending.abort();
    clearTimeout(this.#refill);
    for (const { expiry } of this.#spares.splice(0)) clearTimeout(expiry);
    for (const link of this.#live) link.close();
    this.#live.clear();
  }

  async #fill(): Promise<void> {
    while (this.#spares.length < this.#warm.loops) {
      const link = await this.#add()?.link;
      // What cannot be started now is tried again when it is needed.
      if (link?.ok !== true || !(await link.value.ready)) return;
    }
  }

  #add(): Spare | undefined {
    if (this.#ending.signal.aborted) return undefined;
    const expiry = setTimeout(() => void this.#expire(spare), this.#warm.idleSeconds * 1000).unref();
    const spare: Spare = { link: this.#start(), expiry };
    this.#spares.push(spare);
    return spare;
  }

  async #expire(spare: Spare): Promise<void> {
    const at = this.#spares.indexOf(spare);
    if (at < 0) return;
    this.#spares.splice(at, 1);
    const link = await spare.link;
    if (link.ok) this.release(link.value);
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
