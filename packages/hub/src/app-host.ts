/**
 * Apps: started when first needed, each in its own sandbox, spoken to by MCP. A call runs only with the monitor's
 * allowance for exactly this call.
 *
 * Ring 0.
 */
import { isAbsolute } from 'node:path';
import {
  type Allowed,
  type AppId,
  type Clock,
  type Fault,
  failed,
  fault,
  type InstalledApp,
  isJsonObject,
  type Json,
  type JsonSchema,
  ok,
  type Result,
  type ToolCall,
  toJson,
} from '@cordon/core';
import type { CallToolResult, Client, ClientOptions, Tool, Transport } from '@modelcontextprotocol/client';
import type { AppNetwork } from './app-network.ts';
import { type AppStreams, StreamTransport } from './mcp-transport.ts';
import { remoteFault } from './remote-app.ts';
import type { LoadValidator, SchemaValidator } from './schema-validator.ts';

/** A tool as its app declares it: every word of it is untrusted. */
export interface AppTool {
  readonly name: string;
  readonly description: string;
  readonly input: JsonSchema;
  readonly output: JsonSchema | null;
  /** Annotations of an untrusted party (MCP, "tool annotations are hints"). */
  readonly readOnlyHint: boolean;
  readonly destructiveHint: boolean;
}

export interface ToolResult {
  readonly text: string;
  readonly structured: Json;
  readonly isError: boolean;
}

/** A confined process that speaks MCP on its standard streams. */
export interface AppProcess extends AppStreams {
  /** Names of the sandbox layers in force. */
  readonly layers: readonly string[];
  /** Resolves with one sentence when the process is gone, however that came about. */
  readonly ended: Promise<string>;
  /** The end of what it wrote to standard error. */
  readonly lastWords: () => string;
  readonly kill: () => void;
}

/** How an app with a command comes to life. `network`: null for an app that has none. Aborting kills it, also later. */
export interface AppLauncher {
  launch(
    app: InstalledApp,
    network: AppNetwork | null,
    signal: AbortSignal,
  ): Promise<Result<AppProcess, Fault>>;
}

/** The way out of an app; null for one that has none. Of one session there is one, however often the app is started. */
export type NetworkOf = (app: InstalledApp) => Promise<AppNetwork | null>;

/** The transport of an app that runs elsewhere. */
export type ConnectRemote = (app: InstalledApp) => Promise<Result<Transport, Fault>>;

export interface RunningApp {
  readonly id: AppId;
  readonly tools: readonly AppTool[];
  /** The app's own words about itself; shown in its own context only. */
  readonly instructions: string;
  readonly layers: readonly string[];
  readonly milliseconds: number;
}

/** Told of what happens to apps, for the trace. */
export interface AppObserver {
  readonly started: (app: RunningApp) => void;
  readonly stopped: (app: AppId, reason: string) => void;
  readonly failed: (app: AppId, fault: Fault) => void;
}

export interface AppHostParts {
  readonly launcher: AppLauncher;
  readonly connect: ConnectRemote;
  readonly networkOf: NetworkOf;
  /** Gives an allowed call back, once. */
  readonly spend: (allowance: Allowed<ToolCall>) => ToolCall;
  readonly validator: LoadValidator;
  readonly now: Clock;
  readonly observer: AppObserver;
}

interface Connection {
  readonly running: RunningApp;
  readonly client: Client;
  readonly transport: Transport;
  readonly process: AppProcess | null;
}

const MAX_TOOLS = 256;
/**
 * What MCP says that names should be. Attack: a name that is a sentence, or so long that the question that shows it
 * never comes to its end, "This cannot be undone".
 */
const TOOL_NAME = /^[A-Za-z0-9_./:-]{1,128}$/;
const INSTRUCTIONS_LENGTH = 20_000;
const OUTPUT_LENGTH = 1024 * 1024;

export class AppHost {
  readonly #launcher: AppLauncher;
  readonly #connectRemote: ConnectRemote;
  readonly #networkOf: NetworkOf;
  readonly #connections = new Map<AppId, Promise<Result<Connection, Fault>>>();
  /** Resolve when a process is gone and its end is recorded; the process may be disconnected long before. */
  readonly #endings = new Set<Promise<void>>();
  readonly #observer: AppObserver;
  #isStopped = false;
  readonly #now: Clock;
  readonly #validator: LoadValidator;
  readonly #spend: AppHostParts['spend'];

  constructor(parts: AppHostParts) {
    this.#launcher = parts.launcher;
    this.#connectRemote = parts.connect;
    this.#networkOf = parts.networkOf;
    this.#spend = parts.spend;
    this.#validator = parts.validator;
    this.#now = parts.now;
    this.#observer = parts.observer;
  }

  /** Loads in the background what the first start of an app needs: 70 ms for the client and the validator. */
  warm(): void {
    void this.#client().catch(() => undefined); // Whoever needs it will be told.
  }

  /** Starts the app, or answers the one that runs. A failed start is tried anew by the next query. */
  async start(app: InstalledApp): Promise<Result<RunningApp, Fault>> {
    const connection = await this.#connect(app);
    return connection.ok ? ok(connection.value.running) : connection;
  }

  /** The effect of a tool call: the allowance says which app, which tool and which arguments. */
  async call(
    app: InstalledApp,
    allowance: Allowed<ToolCall>,
    signal: AbortSignal,
  ): Promise<Result<ToolResult, Fault>> {
    const call = this.#spend(allowance);
    if (call.app !== app.id) throw new Error('the call was allowed for another app');
    if (signal.aborted) return failed(fault('cancelled', 'the query was stopped'));
    const opening = this.#connect(app);
    const connection = await opening;
    if (!connection.ok) return connection;
    const { client } = connection.value;
    const timeout = app.manifest.limits.callSeconds * 1000;
    try {
      const request = { name: call.tool, arguments: { ...call.arguments } };
      const result = await client.callTool(request, { timeout, signal, resetTimeoutOnProgress: false });
      return ok(readToolResult(result));
    } catch (error) {
      const { ProtocolError } = await import('@modelcontextprotocol/client');
      if (error instanceof ProtocolError) return failed(errorAnswer(app, call.tool, error));
      // A call that failed in an unclear way ends its app, and not one started since: its state is unknown.
      this.#forget(app.id, opening);
      this.#disconnect(connection.value);
      if (signal.aborted) return failed(fault('cancelled', 'the query was stopped'));
      return failed(await callFault(app, call.tool, error, connection.value));
    }
  }

  /** Ends every app, and waits until each is gone. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    const connections = await Promise.all(this.#connections.values());
    this.#connections.clear();
    for (const connection of connections) if (connection.ok) this.#disconnect(connection.value);
    await Promise.all(this.#endings);
  }

  #connect(app: InstalledApp): Promise<Result<Connection, Fault>> {
    // What a query left under way may come here after the end: nobody would stop what it starts.
    if (this.#isStopped) return Promise.resolve(failed(fault('app-unavailable', 'the session is closed')));
    const existing = this.#connections.get(app.id);
    if (existing !== undefined) return existing;
    // Whatever breaks while an app starts is the end of this app, not of the hub.
    const opening = this.#open(app).catch((error: unknown) =>
      failed(fault('app-unavailable', `\`${app.id}\` could not be started: ${reasonOf(error)}`)),
    );
    this.#connections.set(app.id, opening);
    void opening.then((connection) => {
      if (connection.ok) return this.#watch(app.id, opening, connection.value);
      this.#forget(app.id, opening);
      if (!this.#isStopped) this.#observer.failed(app.id, connection.fault);
    });
    return opening;
  }

  async #open(app: InstalledApp): Promise<Result<Connection, Fault>> {
    const began = this.#now();
    const starting = new AbortController();
    const deadline = setTimeout(() => starting.abort(), app.manifest.limits.startSeconds * 1000);
    try {
      if (app.source.kind === 'url') {
        const transport = await this.#connectRemote(app);
        if (!transport.ok) return transport;
        return await this.#handshake(
          app,
          await this.#client(),
          transport.value,
          null,
          began,
          starting.signal,
        );
      }
      // First the process, then the client's code: the one comes up while the other is loaded.
      const network = await this.#networkOf(app);
      const launching = this.#launcher.launch(app, network, starting.signal);
      const [launched, client] = await Promise.all([launching, this.#client()]);
      if (!launched.ok) return launched;
      network?.serve(client);
      const transport = new StreamTransport(launched.value, app.manifest.limits.lineBytes);
      return await this.#handshake(app, client, transport, launched.value, began, starting.signal);
    } finally {
      clearTimeout(deadline);
    }
  }

  async #client(): Promise<Client> {
    const [{ Client }, validator] = await Promise.all([
      import('@modelcontextprotocol/client'),
      this.#validator(),
    ]);
    return new Client(CLIENT_INFO, { jsonSchemaValidator: linearValidator(validator) });
  }

  async #handshake(
    app: InstalledApp,
    client: Client,
    transport: Transport,
    process: AppProcess | null,
    began: number,
    signal: AbortSignal,
  ): Promise<Result<Connection, Fault>> {
    const options = { signal, timeout: app.manifest.limits.startSeconds * 1000 };
    try {
      await client.connect(transport, options);
      const { tools } = await client.listTools(undefined, options);
      const running: RunningApp = {
        id: app.id,
        tools: tools
          .filter(({ name }) => TOOL_NAME.test(name))
          .slice(0, MAX_TOOLS)
          .map(readTool),
        instructions: (client.getInstructions() ?? '').slice(0, INSTRUCTIONS_LENGTH),
        layers: process?.layers ?? [],
        milliseconds: this.#now() - began,
      };
      return ok({ running, client, transport, process });
    } catch (error) {
      const ended = process === null ? null : await within(END_GRACE_MS, process.ended);
      process?.kill();
      return failed(startFault(app, error, signal.aborted, ended, transport, process?.lastWords() ?? ''));
    }
  }

  #watch(app: AppId, opening: Promise<Result<Connection, Fault>>, connection: Connection): void {
    this.#observer.started(connection.running);
    if (connection.process === null) return;
    const ending = connection.process.ended.then((reason) => {
      this.#endings.delete(ending);
      this.#forget(app, opening);
      this.#observer.stopped(app, reason);
    });
    this.#endings.add(ending);
  }

  #forget(app: AppId, opening: Promise<Result<Connection, Fault>>): void {
    if (this.#connections.get(app) === opening) this.#connections.delete(app);
  }

  #disconnect(connection: Connection): void {
    void connection.client.close().catch(() => undefined);
    connection.process?.kill();
  }
}

function errorAnswer({ id }: InstalledApp, tool: string, error: Error): Fault {
  return fault('app-error', `\`${id}\` answered \`${tool}\` with an error: ${shorten(error.message)}`);
}

async function callFault(
  app: InstalledApp,
  tool: string,
  error: unknown,
  { process, transport }: Connection,
): Promise<Fault> {
  const remote = remoteFault(error);
  if (remote !== null) return remote;
  const { SdkError, SdkErrorCode } = await import('@modelcontextprotocol/client');
  if (error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout) {
    const seconds = app.manifest.limits.callSeconds;
    const help = `raise \`manifest.limits.callSeconds\` of \`${app.id}\` if the tool is slow`;
    return fault(
      'app-timeout',
      `\`${app.id}\` did not answer \`${tool}\` within ${seconds} s and was stopped`,
      help,
    );
  }
  const violation = transport instanceof StreamTransport ? transport.violation : null;
  if (violation !== null) return fault('app-protocol', `\`${app.id}\` was stopped: ${violation}`);
  if (process !== null) await within(END_GRACE_MS, process.ended);
  const lastWords = quoteLastWords(process?.lastWords() ?? '');
  return fault('app-unavailable', `\`${app.id}\` ended during \`${tool}\`${lastWords}`);
}

/** The stream of a process that crashed ends a moment before the process does. */
const END_GRACE_MS = 300;

function within<T>(milliseconds: number, value: Promise<T>): Promise<T | null> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(null), milliseconds);
    void value.then((result) => {
      clearTimeout(timer);
      resolve(result);
    });
  });
}

/** The client's own validator would run an app's patterns on V8's backtracking engine. */
function linearValidator(validator: SchemaValidator): NonNullable<ClientOptions['jsonSchemaValidator']> {
  return {
    getValidator: <T>(schema: unknown) => {
      const plain = toJson(schema);
      return (input: unknown) => {
        const checked = validator.check(isJsonObject(plain) ? plain : {}, toJson(input));
        return checked.ok
          ? { valid: true, data: input as T, errorMessage: undefined }
          : { valid: false, data: undefined, errorMessage: checked.fault };
      };
    },
  };
}

const CLIENT_INFO = { name: 'cordon', version: '0.1.0' };

function startFault(
  app: InstalledApp,
  error: unknown,
  late: boolean,
  ended: string | null,
  transport: Transport,
  lastWords: string,
): Fault {
  const remote = remoteFault(error);
  if (remote !== null && !late) return remote;
  const garbage = transport instanceof StreamTransport ? (transport.violation ?? transport.garbage) : null;
  if (garbage !== null) {
    const shown = shorten(garbage);
    return fault(
      'app-protocol',
      `\`${app.id}\` does not speak MCP on its standard output: \`${shown}\``,
      'logs belong on standard error',
    );
  }
  if (late) {
    const seconds = app.manifest.limits.startSeconds;
    const tried = app.source.kind === 'url' ? 'check that its server is up' : 'try its command by hand';
    const help = `${tried}, or raise \`manifest.limits.startSeconds\``;
    return fault('app-timeout', `\`${app.id}\` did not answer within ${seconds} s of its start`, help);
  }
  const how = ended ?? reasonOf(error);
  const message = `\`${app.id}\` could not be started: ${how}${quoteLastWords(lastWords)}`;
  return fault('app-unavailable', message, unseenPathHelp(app));
}

/** The commonest slip with the files of other clients: a folder among the arguments, and no right to see it. */
function unseenPathHelp({ source, manifest }: InstalledApp): string | undefined {
  if (source.kind !== 'command') return undefined;
  const visible = [...manifest.files.read, ...manifest.files.write];
  // What comes first is the program's own script, which it sees.
  const unseen = source.args
    .slice(1)
    .find((arg) => isAbsolute(arg) && !visible.some((path) => arg === path || arg.startsWith(`${path}/`)));
  if (unseen === undefined) return undefined;
  return `its arguments name \`${shorten(unseen)}\`, which it cannot see: list it in \`manifest.files.read\` or \`manifest.files.write\``;
}

/** Of what an app wrote before it ended, the line that says most: the last that speaks of an error, else the last. */
function quoteLastWords(lastWords: string): string {
  const lines = lastWords.split('\n').filter((line) => line.trim() !== '');
  const line = lines.findLast((candidate) => /error/i.test(candidate)) ?? lines.at(-1) ?? '';
  return line === '' ? '' : `; its last words: \`${shorten(line)}\``;
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? shorten(error.message) : 'no reason given';
}

/** Text of an app inside a message: one line, short, without control characters. */
function shorten(text: string): string {
  const plain = text.replace(/[\p{Cc}\p{Cf}`]+/gu, ' ').trim();
  return plain.length > 160 ? `${plain.slice(0, 160)}…` : plain;
}

function readTool(tool: Tool): AppTool {
  const input = toJson(tool.inputSchema);
  const output = toJson(tool.outputSchema);
  return {
    name: tool.name,
    description: tool.description ?? '',
    input: isJsonObject(input) ? input : { type: 'object' },
    output: isJsonObject(output) ? output : null,
    readOnlyHint: tool.annotations?.readOnlyHint === true,
    destructiveHint: tool.annotations?.destructiveHint === true,
  };
}

/** Everything but text becomes a note: images and links of an app are not loaded for it. */
function readToolResult(result: CallToolResult): ToolResult {
  const parts = (result.content ?? []).map((block) =>
    block.type === 'text' ? block.text : `[${block.type} not shown]`,
  );
  const text = parts.join('\n');
  const cut =
    text.length > OUTPUT_LENGTH
      ? `${text.slice(0, OUTPUT_LENGTH)}\n[cut after ${OUTPUT_LENGTH} characters]`
      : text;
  return { text: cut, structured: toJson(result.structuredContent), isError: result.isError === true };
}
