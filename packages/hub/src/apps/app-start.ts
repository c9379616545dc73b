/**
 * From an installed app to one that is ready for calls: its process or its server elsewhere, MCP's greeting, and the
 * list of its tools.
 */
import { setImmediate } from 'node:timers/promises';
import { type Clock, type Fault, failed, type InstalledApp, ok, type Result } from '@cordon/core';
import type { Challenge } from '@cordon/oauth';
import type { Client, ClientOptions, Transport } from '@modelcontextprotocol/client';
import type { RunningApp } from '../context/app-tool.ts';
import { AppConnection, type AppTold } from './app-connection.ts';
import { describeApp } from './app-description.ts';
import { lateStart, startFault, unstartable, violation } from './app-faults.ts';
import type { AppLauncher, AppProcess, NetworkAccess } from './app-process.ts';
import { PRETENDED_APP, PRETENDED_LAUNCHER, warmUp } from './jit-warmup.ts';
import { StreamTransport } from './mcp-transport.ts';
import type { LoadValidator } from './schema-validator.ts';

export interface AppStartParts {
  readonly launcher: AppLauncher;
  /** The transport of an app that runs elsewhere; with `onChallenge` it is reached without a login. */
  readonly connect: (app: InstalledApp, onChallenge?: OnChallenge) => Promise<Result<Transport, Fault>>;
  /** The way out of an app; null for one that has none. Of one session there is one, however often the app is started. */
  readonly networkOf: (app: InstalledApp) => Promise<NetworkAccess | null>;
  readonly validator: LoadValidator;
  readonly now: Clock;
}

/** Hears what the server of an app asks for where it refuses a request without a login. */
export type OnChallenge = (challenge: Challenge) => void;

interface Began {
  readonly at: number;
  /** Aborts when the time for the start is over. */
  readonly late: AbortSignal;
  /** Aborts then too, and when nobody wants the app any more. */
  readonly signal: AbortSignal;
  readonly onChallenge: OnChallenge | undefined;
}

interface Greeting {
  readonly app: InstalledApp;
  readonly client: Client;
  readonly transport: Transport;
  readonly process: AppProcess | null;
  readonly network: NetworkAccess | null;
  readonly began: Began;
}

export class AppStart {
  readonly #parts: AppStartParts;

  constructor(parts: AppStartParts) {
    this.#parts = parts;
  }

  /** Loads what the first start needs: 70 ms for the client and the validator. */
  async load(options: Pick<ClientOptions, 'versionNegotiation'> = {}): Promise<Client> {
    const [{ Client }] = await Promise.all([import('@modelcontextprotocol/client'), this.#parts.validator()]);
    return new Client(CLIENT_INFO, { jsonSchemaValidator: NO_SCHEMAS, ...options });
  }

  /**
   * @param ending aborts the start, and ends the process if it was there already
   * @param told of what happens to it after it was ready
   * @param onChallenge of an app that runs elsewhere: it is reached without a login
   */
  async open(
    app: InstalledApp,
    ending: AbortSignal,
    told: AppTold,
    onChallenge?: OnChallenge,
  ): Promise<Result<AppConnection, Fault>> {
    const late = new AbortController();
    const deadline = setTimeout(() => late.abort(), app.manifest.limits.startSeconds * 1000);
    const began = {
      late: late.signal,
      signal: AbortSignal.any([late.signal, ending]),
      at: this.#parts.now(),
      onChallenge,
    };
    try {
      return app.source.kind === 'url'
        ? await this.#openRemote(app, began, told)
        : await this.#openProcess(app, began, told);
    } catch (error) {
      // Whatever breaks while an app starts is the end of this app, not of the hub.
      return failed(unstartable(app, error));
    } finally {
      clearTimeout(deadline);
    }
  }

  /** Most servers speak a revision with a handshake; where a server refuses it, the client asks which revision it speaks. */
  async #openRemote(app: InstalledApp, began: Began, told: AppTold): Promise<Result<AppConnection, Fault>> {
    const first = await this.#greetingOf(app, began, {});
    if (!first.ok) return first;
    try {
      return await this.#greeted(first.value, told);
    } catch (error) {
      const refused = await isRefusedHandshake(error);
      await first.value.client.close().catch(() => undefined);
      if (!refused) return this.#ungreeted(first.value, error);
    }
    const second = await this.#greetingOf(app, began, { versionNegotiation: { mode: 'auto' } });
    return second.ok ? this.#greet(second.value, told) : second;
  }

  async #greetingOf(
    app: InstalledApp,
    began: Began,
    options: Pick<ClientOptions, 'versionNegotiation'>,
  ): Promise<Result<Greeting, Fault>> {
    const transport = await this.#parts.connect(app, began.onChallenge);
    if (!transport.ok) return transport;
    const client = await this.load(options);
    return ok({ app, client, transport: transport.value, process: null, network: null, began });
  }

  async #openProcess(app: InstalledApp, began: Began, told: AppTold): Promise<Result<AppConnection, Fault>> {
    const network = await this.#parts.networkOf(app);
    // First the process, then the client's code: the one comes up while the other is loaded.
    const launching = this.#parts.launcher.launch(app, network, began.signal);
    const [launched, client] = await Promise.all([launching, this.load()]);
    // The time may be over before there is a process; then nobody has cancelled anything.
    if (!launched.ok && launched.fault.kind === 'cancelled' && began.late.aborted)
      return failed(lateStart(app));
    if (!launched.ok) return launched;
    network?.serve(client);
    const process = launched.value;
    let connection: AppConnection | null = null;
    const transport = new StreamTransport(process, app.manifest.limits, () => connection?.heard());
    const greeted = await this.#greet({ app, client, transport, process, network, began }, told);
    if (greeted.ok) connection = greeted.value;
    return greeted;
  }

  /** Runs the code of an app's start and of some calls once, with a pretended app; see jit-warmup.ts. */
  async warmUp(): Promise<void> {
    const parts = { ...this.#parts, launcher: PRETENDED_LAUNCHER, networkOf: () => Promise.resolve(null) };
    const nobody = new AbortController().signal;
    const opened = await new AppStart(parts).open(PRETENDED_APP, nobody, NOBODY_TOLD);
    if (opened.ok) await warmUp(opened.value);
  }

  /** Compiles what the first calls and their results will be checked against: 1 to 3 ms a schema, with pauses for what is more urgent. */
  async prepare({ tools }: RunningApp): Promise<void> {
    const validator = await this.#parts.validator();
    const began = this.#parts.now();
    for (const schema of tools.slice(0, TOOLS_AHEAD).flatMap(({ input, output }) => [input, output])) {
      await setImmediate();
      if (this.#parts.now() - began > AHEAD_MS) return;
      if (schema !== null) validator.prepare(schema);
    }
  }

  async #greet(greeting: Greeting, told: AppTold): Promise<Result<AppConnection, Fault>> {
    try {
      return await this.#greeted(greeting, told);
    } catch (error) {
      return this.#ungreeted(greeting, error);
    }
  }

  async #ungreeted(greeting: Greeting, error: unknown): Promise<Result<never, Fault>> {
    const reported = await startFault({ ...greeting, error, isLate: greeting.began.late.aborted });
    greeting.process?.kill();
    return failed(reported);
  }

  /** Rejects with whatever the client says of an app that does not answer as it should. */
  async #greeted(
    { app, client, transport, process, network, began }: Greeting,
    told: AppTold,
  ): Promise<Result<AppConnection, Fault>> {
    const options = { signal: began.signal, timeout: app.manifest.limits.startSeconds * 1000 };
    await client.connect(transport, options);
    const { tools } = await client.listTools(undefined, options);
    const validator = await this.#parts.validator();
    const said = describeApp(client.getInstructions(), tools);
    if (!said.ok) {
      process?.kill();
      return failed(violation(app, said.fault));
    }
    const milliseconds = this.#parts.now() - began.at;
    const opened = { app, said: said.value, client, transport, validator, process, milliseconds };
    return ok(new AppConnection({ ...opened, waiting: network }, told));
  }
}

/** Servers that speak only revisions without a handshake answer so (MCP 2026-07-28). */
async function isRefusedHandshake(error: unknown): Promise<boolean> {
  const { SdkHttpError } = await import('@modelcontextprotocol/client');
  return error instanceof SdkHttpError && error.status === 400;
}

/** For an app whose end and news nobody waits for. */
export const NOBODY_TOLD: AppTold = { givenUp: () => undefined, listedAnew: () => null };

const CLIENT_INFO = { name: 'cordon', version: '0.1.0' };

/** How long the hub works ahead for one app. */
const AHEAD_MS = 30;
const TOOLS_AHEAD = 16;

/**
 * The client has no schema to check: the connection holds results against what was agreed to. Attack: the client's own validator
 * would run an app's patterns on V8's backtracking engine.
 */
const NO_SCHEMAS: NonNullable<ClientOptions['jsonSchemaValidator']> = {
  getValidator: () => () => ({ valid: false, data: undefined, errorMessage: 'the client checks no schema' }),
};
