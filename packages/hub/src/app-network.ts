/**
 * The way out of an app that has the network: a proxy of its own, reached by a socket in its sandbox.
 *
 * Ring 0.
 */
import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { connect as dial } from 'node:net';
import type { Fault, InstalledApp, Result } from '@cordon/core';
import {
  DEFAULT_EGRESS_LIMITS,
  DEFAULT_PORTS,
  type EgressProxy,
  type EgressRequest,
  openEgressProxy,
  systemLookup,
} from '@cordon/egress';
import type { Client } from '@modelcontextprotocol/client';

/** Whether a network request of an app may leave; what is not allowed in time is refused. */
export type DecideEgress = (request: EgressRequest, signal: AbortSignal) => Promise<boolean>;

export interface AppNetworkParts {
  readonly app: InstalledApp;
  readonly decide: DecideEgress;
}

/** Whoever is asked whether a request may leave may take this long. */
const DECIDE_MS = 120_000;

export class AppNetwork {
  readonly decide: DecideEgress;
  readonly #app: InstalledApp;

  constructor({ app, decide }: AppNetworkParts) {
    this.#app = app;
    this.decide = decide;
  }

  /** @param socketFolder a folder of the hub alone; made if it is missing */
  openProxy(socketFolder: string): Promise<Result<EgressProxy, Fault>> {
    mkdirSync(socketFolder, { recursive: true, mode: 0o700 });
    // Short and unguessable: a socket's path has a limit of about a hundred characters, and one app has one socket.
    const socket = `${socketFolder}/${randomBytes(6).toString('hex')}`;
    return openEgressProxy(socket, {
      reach: { sites: this.#app.manifest.network, ports: DEFAULT_PORTS },
      decide: this.decide,
      decideMs: DECIDE_MS,
      lookup: systemLookup,
      dial: (address, port) => dial(port, address),
      limits: DEFAULT_EGRESS_LIMITS,
      onRefused: () => undefined,
    });
  }

  /** Answers the requests that an app sends to the hub over MCP. Called before the client is connected. */
  serve(_client: Client): void {}
}
