/**
 * The networks of a session's apps, one for each app that has a network. Budgets are of a session: an app that ends and is started
 * again has used what it used.
 */
import type { AppId, InstalledApp, ReadSecret, ToolCall } from '@cordon/core';
import type { Dialler } from '@cordon/dialler';
import { egressRequirement } from '../consent/requirements.ts';
import type { Context } from '../context/context.ts';
import type { Query } from '../context/query.ts';
import type { Recorder } from '../journal/recorder.ts';
import type { Gate } from '../mediation/gate.ts';
import type { AppNetwork } from './app-network.ts';
import type { EgressGateParts } from './egress-gate.ts';

export interface AppNetworksParts {
  readonly gate: Gate;
  readonly recorder: Recorder;
  readonly dialler: Dialler;
  /** For credentials of manifests; undefined: none is of use. */
  readonly readSecret: ReadSecret | undefined;
  /** A context for what an app's process does by itself. */
  readonly newContext: (app: AppId) => Context;
  /** The query that runs; null: none does. */
  readonly query: () => Query | null;
  readonly isUsed: (app: AppId) => boolean;
  /** The only call that the app works on; null: there is none, or several. */
  readonly callOf: (app: AppId) => ToolCall | null;
  /** Whether the app was given nothing private of other apps. */
  readonly holdsOwnOnly: (app: AppId) => boolean;
  /** False in the baseline only: there nobody is asked anything. */
  readonly asksPermission: boolean;
}

/** Network requests of one app in one query; each is several events of the journal. */
const MOST_REQUESTS = 500;
/** Connections of one call that answers for once cover, of all hosts together. */
const MOST_OF_CALL = 10;

export class AppNetworks {
  readonly #parts: AppNetworksParts;
  /** Requests that were asked about during a call. */
  readonly #ofCall = new WeakMap<ToolCall, number>();
  readonly #networks = new Map<AppId, Promise<AppNetwork>>();

  constructor(parts: AppNetworksParts) {
    this.#parts = parts;
  }

  /** Null: the app has no network. Loaded with the first that has one, since Node's HTTP takes 20 ms to load. */
  of(app: InstalledApp): Promise<AppNetwork | null> {
    if (app.manifest.network.length === 0) return Promise.resolve(null);
    const network =
      this.#networks.get(app.id) ??
      import('./app-network.ts').then(
        ({ AppNetwork, EgressGate }) =>
          new AppNetwork({
            app,
            door: new EgressGate(this.#gateParts(app.id)),
            dialler: this.#parts.dialler,
            readSecret: this.#parts.readSecret,
          }),
      );
    this.#networks.set(app.id, network);
    return network;
  }

  /** A connection that one query has opened carries nothing for the next, nor between them. */
  async endOfQuery(): Promise<void> {
    for (const network of await Promise.all(this.#networks.values())) network.cutAll('the query is over');
  }

  /** Ends every connection. */
  async end(): Promise<void> {
    for (const network of await Promise.all(this.#networks.values())) await network.end();
  }

  /** Requests of one app's process: the app is their context, whichever query led to them. */
  #gateParts(app: AppId): EgressGateParts {
    const { gate, recorder, newContext, asksPermission } = this.#parts;
    const made = new WeakMap<Query, number>();
    return {
      app,
      gate,
      recorder,
      newContext: () => newContext(app),
      holdsOwnOnly: () => this.#parts.holdsOwnOnly(app),
      shutBecause: () => this.#shutBecause(app, made),
      requirementOf: (request) =>
        asksPermission ? egressRequirement(app, request, this.#countedCall(app)) : null,
    };
  }

  /** The call that the app works on, for as many of its requests as one answer may cover. */
  #countedCall(app: AppId): string | null {
    const call = this.#parts.callOf(app);
    if (call === null) return null;
    const times = (this.#ofCall.get(call) ?? 0) + 1;
    this.#ofCall.set(call, times);
    return times > MOST_OF_CALL ? null : call.callId;
  }

  #shutBecause(app: AppId, made: WeakMap<Query, number>): string | null {
    // Nobody wants anything of the app between queries; what it sends then is its own idea, grant or no grant.
    const query = this.#parts.query();
    if (query === null || query.signal.aborted) return 'no query is running';
    // An app that was started ahead of its use, while a query of others runs, has nothing to do yet.
    if (!this.#parts.isUsed(app)) return 'nobody has asked anything of the app yet';
    const times = (made.get(query) ?? 0) + 1;
    made.set(query, times);
    return times > MOST_REQUESTS ? `more than ${MOST_REQUESTS} requests in one query` : null;
  }
}
