/**
 * The way out of an app that has the network: a proxy for each of its processes, on a listener in its sandbox,
 * and one budget for all of them.
 */
import type { Server } from 'node:net';
import { type Fault, failed, fault, type InstalledApp, ok, type ReadSecret, type Result } from '@cordon/core';
import type { Dialler } from '@cordon/dialler';
import {
  Budget,
  DEFAULT_EGRESS_LIMITS,
  type DirectListeners,
  directPorts,
  type EgressLimits,
  type EgressProxy,
  oneAtATime,
  openEgressProxy,
  parseReach,
  type WayOut,
} from '@cordon/egress';
import type { Client } from '@modelcontextprotocol/client';
import type { NetworkAccess } from '../apps/app-process.ts';
import type { DecideEgress, EgressDoor } from './egress-gate.ts';
import { serveFetch } from './hub-fetch.ts';

export { type DecideEgress, type EgressDoor, EgressGate } from './egress-gate.ts';

export interface AppNetworkParts {
  readonly app: InstalledApp;
  readonly door: EgressDoor;
  readonly dialler: Dialler;
  /** Without it no credential is of use. */
  readonly readSecret?: ReadSecret | undefined;
  /** What differs from the usual limits. */
  readonly limits?: Partial<EgressLimits>;
}

const noSecrets: ReadSecret = () => failed(fault('app-unavailable', 'there are no credentials here'));

/** Whoever is asked whether a request may leave may take this long; the clock of the app's call stands still meanwhile. */
const DECIDE_MS = 120_000;

export class AppNetwork implements NetworkAccess {
  readonly #app: InstalledApp;
  readonly #door: EgressDoor;
  readonly #dialler: Dialler;
  readonly #way: Result<WayOut, Fault>;
  readonly #proxies = new Set<EgressProxy>();
  readonly #readSecret: ReadSecret;
  readonly #ending = new AbortController();
  #asking = 0;
  #askingSince = 0;
  #askedMs = 0;

  constructor({ app, door, dialler, readSecret = noSecrets, limits = {} }: AppNetworkParts) {
    this.#app = app;
    this.#readSecret = readSecret;
    this.#door = door;
    this.#dialler = dialler;
    this.#way = this.#wayOut({ ...DEFAULT_EGRESS_LIMITS, ...limits });
  }

  /** Whether a request of the app waits to be decided: then the app waits for a person, and nobody for the app. */
  get isAsking(): boolean {
    return this.#asking > 0;
  }

  /** How long one request or more of the app waited, all in all. */
  get askingMs(): number {
    return this.#askedMs + (this.isAsking ? performance.now() - this.#askingSince : 0);
  }

  readonly decide: DecideEgress = async (request, signal) => {
    const answered = this.#ask();
    // What is not decided in time is refused: the app continues, although the question still stands.
    signal.addEventListener('abort', answered, { once: true });
    try {
      return await this.#door.decide(request, signal);
    } finally {
      signal.removeEventListener('abort', answered);
      answered();
    }
  };

  /** The app waits from now until what this returns is called. */
  #ask(): () => void {
    if (this.#asking++ === 0) this.#askingSince = performance.now();
    let isOpen = true;
    return () => {
      if (!isOpen) return;
      isOpen = false;
      if (--this.#asking === 0) this.#askedMs += performance.now() - this.#askingSince;
    };
  }

  get ports(): readonly number[] {
    return this.#way.ok ? directPorts(this.#way.value.reach) : [];
  }

  async takeOver(listener: Server, direct: DirectListeners | null): Promise<Result<EgressProxy, Fault>> {
    if (!this.#way.ok) return this.#way;
    const proxy = await openEgressProxy(listener, this.#way.value, direct);
    if (!proxy.ok) return proxy;
    this.#proxies.add(proxy.value);
    return ok({ close: () => this.#close(proxy.value) });
  }

  /** Cuts the connections that are open; the app may make others. */
  cutAll(why: string): void {
    if (this.#way.ok) this.#way.value.budget.cutAll(why);
  }

  /** Cuts every connection, and waits until the outcome of each is reported. */
  async end(): Promise<void> {
    this.#ending.abort();
    await Promise.all([...this.#proxies].map((proxy) => this.#close(proxy)));
  }

  serve(client: Client): void {
    const way = this.#way;
    if (!way.ok) return;
    const { credentials, limits } = this.#app.manifest;
    serveFetch(client, {
      way: way.value,
      credentials,
      readSecret: this.#readSecret,
      messageBytes: limits.lineBytes,
      ending: this.#ending.signal,
    });
  }

  async #close(proxy: EgressProxy): Promise<void> {
    if (!this.#proxies.delete(proxy)) return;
    await proxy.close();
    if (this.#proxies.size === 0) this.#door.onQuiet();
  }

  /** A manifest that cannot be read in full grants nothing. */
  #wayOut(egressLimits: EgressLimits): Result<WayOut, Fault> {
    const { network } = this.#app.manifest;
    const reach = parseReach(network);
    if (!reach.ok) {
      const message = `\`network\` of \`${this.#app.id}\` cannot be enforced: ${reach.fault.message}`;
      return failed(fault('app-unavailable', message, reach.fault.help));
    }
    return ok({
      reach: reach.value,
      decide: this.decide,
      decideMs: DECIDE_MS,
      lookup: oneAtATime(this.#dialler.lookup),
      dial: this.#dialler.dial,
      budget: new Budget(egressLimits, () => performance.now()),
      onRefused: this.#door.onRefused,
      onClosed: this.#door.onClosed,
    });
  }
}
