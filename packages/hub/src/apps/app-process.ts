/** What the app host is handed: how an app with a command comes to life, and its way out. */
import type { Server } from 'node:net';
import type { Fault, InstalledApp, Result } from '@cordon/core';
import type { DirectListeners, EgressProxy } from '@cordon/egress';
import type { Client } from '@modelcontextprotocol/client';
import type { Waiting } from './call-clock.ts';
import type { AppStreams } from './mcp-transport.ts';

/** A confined process that speaks MCP on its standard streams. */
export interface AppProcess extends AppStreams {
  /** Names of the sandbox layers in force. */
  readonly layers: readonly string[];
  /** Resolves with one sentence when the process is gone, however that came about. */
  readonly ended: Promise<string>;
  /** The end of what it wrote to standard error. */
  readonly stderrTail: () => string;
  readonly kill: () => void;
}

/** The only way out of an app's processes; `AppNetwork` implements it. Refuses whatever is not decided. */
export interface NetworkAccess extends Waiting {
  /** The ports that the app's sandbox listens on for connections that its programs make themselves. */
  readonly ports: readonly number[];
  /**
   * Serves a proxy on a listener of the app's own sandbox, which was handed over before the app's code ran, and what programs connect
   * to themselves; null: nothing.
   */
  takeOver(listener: Server, direct: DirectListeners | null): Promise<Result<EgressProxy, Fault>>;
  /** Answers the requests that the app sends to the hub over MCP. Called before the client is connected. */
  serve(client: Client): void;
}

/** How an app with a command comes to life. `network`: null for an app that has none. Aborting kills it, also later. */
export interface AppLauncher {
  launch(
    app: InstalledApp,
    network: NetworkAccess | null,
    signal: AbortSignal,
  ): Promise<Result<AppProcess, Fault>>;
}
