/**
 * One app that has been started and greeted: its calls, and the limits on its life. A process that nobody uses, that
 * has lived its time, that floods the hub or gives no sign of life is ended, and the reason is kept for the trace.
 */
import {
  type Fault,
  failed,
  fault,
  type InstalledApp,
  type JsonObject,
  ok,
  type Result,
  type ToolCall,
} from '@cordon/core';
import type { Client, RequestOptions, Transport } from '@modelcontextprotocol/client';
import {
  type AppTool,
  type RunningApp,
  readToolResult,
  settleResult,
  type ToolResult,
} from '../context/app-tool.ts';
import { CALL_RESULT } from '../context/call-result.ts';
import { type AppDescription, appTools, describeApp, toldInstructions } from './app-description.ts';
import {
  brokenCall,
  END_GRACE_MS,
  errorAnswer,
  lateAnswer,
  remoteFault,
  shutOutFault,
  silence,
  unsent,
  violation,
  within,
} from './app-faults.ts';
import type { AppProcess } from './app-process.ts';
import { CallClock, MOST_WAITING_MS, type Waiting } from './call-clock.ts';
import { StreamTransport, UnsentMessage } from './mcp-transport.ts';
import type { SchemaValidator } from './schema-validator.ts';

export interface Opened {
  readonly app: InstalledApp;
  /** What it said of itself. */
  readonly said: AppDescription;
  readonly client: Client;
  readonly transport: Transport;
  readonly validator: SchemaValidator;
  /** Null: the app runs elsewhere. */
  readonly process: AppProcess | null;
  /** What may keep the app waiting while a call is under way; null: nothing. */
  readonly waiting: Waiting | null;
  /** From the need of it until it was ready. */
  readonly milliseconds: number;
}

/** Told of what happens to an app that was ready. */
export interface AppTold {
  /** Once, as soon as no new call may come here. */
  readonly givenUp: () => void;
  /** It listed its tools again. A fault: the connection ends. */
  readonly listedAnew: (said: AppDescription) => Fault | null;
}

/** An app that does little else than announce new tools, and has none, is ended. */
const MOST_LISTINGS = 100;

/** A process that is alive answers within a quarter of the time that it may be silent. */
const PINGS_IN_SILENCE = 4;
/** What takes a millisecond the first time takes half of it by then. */
const REHEARSAL_PINGS = 3;
const REHEARSAL_MS = 1_000;

export class AppConnection {
  readonly #opened: Opened;
  readonly #told: AppTold;
  readonly #life: NodeJS.Timeout | undefined;
  readonly #ended: Promise<string> | null;
  #idle: NodeJS.Timeout | undefined;
  /** Names of the tools that it is at, in the order of their calls. */
  readonly #calls: string[] = [];
  #heartbeat: NodeJS.Timeout | undefined;
  #heard = false;
  #silentBeats = 0;
  #running: RunningApp;
  #said: AppDescription;
  #listings = 0;
  /** Whether the app is being asked for its tools, and whether it announced others meanwhile. */
  #listing: 'no' | 'yes' | 'again' = 'no';
  #isRetired = false;
  #isGivenUp = false;
  #stopped: { readonly reason: string; readonly fault: Fault | null } | null = null;

  constructor(opened: Opened, told: AppTold) {
    this.#opened = opened;
    this.#told = told;
    this.#running = this.#asDescribed(opened.said);
    this.#said = opened.said;
    opened.client.setNotificationHandler('notifications/tools/list_changed', () => this.#announced());
    this.#ended = opened.process?.ended.then((reason) => this.#stopped?.reason ?? reason) ?? null;
    const { process, app, client } = opened;
    if (process === null) return;
    client.onclose = () => void this.#closed(process);
    void process.ended.then(() => this.#giveUp());
    this.#life = setTimeout(() => this.#retire(), app.manifest.limits.totalSeconds * 1000).unref();
    this.#rest();
  }

  get running(): RunningApp {
    return this.#running;
  }

  /** What it said of itself, in its greeting or since. */
  get said(): AppDescription {
    return this.#said;
  }

  /** From now on this is what it said, for everybody. */
  adopt(description: AppDescription): void {
    this.#running = this.#asDescribed(description);
  }

  #asDescribed(description: AppDescription): RunningApp {
    const { app, process, milliseconds } = this.#opened;
    return {
      id: app.id,
      tools: appTools(description),
      instructions: toldInstructions(description),
      layers: process?.layers ?? [],
      milliseconds,
    };
  }

  /** Whether new calls may come here. */
  get isOpen(): boolean {
    return !this.#isGivenUp;
  }

  /** Resolves with why it ended once the process is gone; null for an app that runs elsewhere. */
  get ended(): Promise<string> | null {
    return this.#ended;
  }

  /** Whether it ended by itself, and not because the hub had no more use for it. */
  get isBroken(): boolean {
    return this.#isGivenUp && (this.#stopped === null || this.#stopped.fault !== null);
  }

  /** Told by the transport whenever the app says something. */
  heard(): void {
    this.#heard = true;
  }

  /**
   * Asks for a few signs of life before anybody needs it: so the app has compiled what every request runs through by the time of
   * its first call. Says nothing of the app. Rejects when one is not answered.
   */
  async warmUp(): Promise<void> {
    for (let ping = 0; ping < REHEARSAL_PINGS; ping++) {
      if (this.#calls.length > 0 || this.#isGivenUp) return;
      await this.#opened.client.ping({ timeout: REHEARSAL_MS });
    }
  }

  /** It is in use now, and not idle. */
  use(): void {
    if (this.#calls.length === 0 && this.#stopped === null) this.#rest();
  }

  async call({ tool, arguments: args }: ToolCall, signal: AbortSignal): Promise<Result<ToolResult, Fault>> {
    const { app, waiting } = this.#opened;
    const limitMs = app.manifest.limits.callSeconds * 1000;
    const clock = new CallClock({ limitMs, waiting });
    this.#begin(tool);
    try {
      // The client's own limit is beyond what the clock allows: it cannot stand still.
      const timeout = limitMs + 2 * MOST_WAITING_MS;
      const stop = AbortSignal.any([signal, clock.over]);
      const result = await this.#request(tool, args, { timeout, signal: stop });
      await settleResult(result);
      const misfit = this.#misfit(tool, result);
      return misfit === null ? ok(result) : failed(errorAnswer(app, tool, new Error(misfit)));
    } catch (error) {
      return failed(await this.#faultOf(tool, error, signal, clock.over.aborted));
    } finally {
      clock.stop();
      this.#finish(tool);
    }
  }

  async #request(tool: string, args: JsonObject, options: RequestOptions): Promise<ToolResult> {
    const { client } = this.#opened;
    const params = { name: tool, arguments: { ...args } };
    if (client.getProtocolEra() !== 'modern')
      return readToolResult(await client.request({ method: 'tools/call', params }, CALL_RESULT, options));
    // The newest revision has headers for arguments and results of several legs, which are the client's business.
    const inputSchema = { ...this.#toolNamed(tool)?.input, type: 'object' as const };
    const toolDefinition = { name: tool, inputSchema };
    const result = await client.callTool(params, { ...options, toolDefinition });
    const { content, structuredContent, isError = false } = result;
    const blocks = content.map((block) => ({
      type: block.type,
      text: block.type === 'text' ? block.text : '',
    }));
    return readToolResult({ content: blocks, structuredContent, isError });
  }

  #toolNamed(name: string): AppTool | undefined {
    return this.#running.tools.find((tool) => tool.name === name);
  }

  /** Results are held against what was agreed to, whatever the app has announced since. */
  #misfit(name: string, { structured, isError }: ToolResult): string | null {
    const output = this.#toolNamed(name)?.output ?? null;
    if (output === null || isError) return null;
    if (structured === null)
      return `\`${name}\` has an output schema and answered without structured content`;
    const checked = this.#opened.validator.check(output, structured);
    return checked.ok ? null : `structured content does not fit the tool's output schema: ${checked.fault}`;
  }

  /** Ends the process and all that is under way in it. The first reason counts. */
  end(reason: string, why: Fault | null = null): void {
    if (this.#stopped !== null) return;
    this.#stopped = { reason, fault: why };
    this.#giveUp();
    clearTimeout(this.#life);
    clearTimeout(this.#idle);
    clearInterval(this.#heartbeat);
    void this.#opened.client.close().catch(() => undefined);
    this.#opened.process?.kill();
  }

  /** MCP, "List Changed Notification". One request at a time, however often it is announced. */
  #announced(): void {
    if (this.#listing !== 'no') this.#listing = 'again';
    else void this.#listAnew().catch(() => this.#endUnlisted());
  }

  async #listAnew(): Promise<void> {
    const { client, app } = this.#opened;
    const timeout = app.manifest.limits.startSeconds * 1000;
    do {
      this.#listing = 'yes';
      if (this.#isGivenUp) return;
      if (++this.#listings > MOST_LISTINGS) return this.#endUnlisted();
      const { tools } = await client.listTools(undefined, { timeout, cacheMode: 'bypass' });
      const said = describeApp(client.getInstructions(), tools);
      const refusal = said.ok ? this.#told.listedAnew(said.value) : violation(app, said.fault);
      if (refusal !== null) return this.end(refusal.message, refusal);
      if (said.ok) this.#said = said.value;
      // Set by another announcement while this one was looked into.
    } while (this.#wasAnnouncedAgain());
    this.#listing = 'no';
  }

  #wasAnnouncedAgain(): boolean {
    return this.#listing === 'again';
  }

  /** What its tools are now is not known. */
  #endUnlisted(): void {
    const refusal = violation(this.#opened.app, 'it announced changed tools but did not list them');
    this.end(refusal.message, refusal);
  }

  /** A call that failed in an unclear way ends its app, and not one started since: its state is unknown. */
  async #faultOf(tool: string, error: unknown, signal: AbortSignal, isLate: boolean): Promise<Fault> {
    const { app, process } = this.#opened;
    const { ProtocolError } = await import('@modelcontextprotocol/client');
    if (error instanceof ProtocolError) return errorAnswer(app, tool, error);
    if (error instanceof UnsentMessage) return unsent(app, tool, error);
    const shutOut = shutOutFault(error);
    if (shutOut !== null) return shutOut;
    this.#giveUp();
    if (signal.aborted) {
      this.end(`the query was stopped during \`${tool}\``);
      return { ...fault('cancelled', 'the query was stopped'), outcome: 'unknown' };
    }
    const known = this.#stopped?.fault ?? remoteFault(error) ?? this.#violation();
    const reported = known ?? (isLate ? lateAnswer(app, tool) : await brokenCall(app, tool, process));
    this.end(reported.message, reported);
    // It had the call, and may have carried it out.
    return { ...reported, outcome: 'unknown' };
  }

  /** An app that broke the rules, or closed its streams, is of no more use, also when nobody waits for it. */
  async #closed(process: AppProcess): Promise<void> {
    this.#giveUp();
    const broken = this.#violation();
    if (broken !== null) return this.end(broken.message, broken);
    if (this.#calls.length > 0) return; // They fail now, and say more.
    await within(END_GRACE_MS, process.ended);
    const reason = 'it closed its standard output';
    this.end(reason, fault('app-unavailable', reason));
  }

  #violation(): Fault | null {
    const { app, transport } = this.#opened;
    const broken = transport instanceof StreamTransport ? transport.violation : null;
    return broken === null ? null : violation(app, broken);
  }

  #begin(tool: string): void {
    clearTimeout(this.#idle);
    this.#calls.push(tool);
    if (this.#calls.length > 1 || this.#opened.process === null) return;
    this.#silentBeats = 0;
    this.#heard = true;
    const { silentSeconds } = this.#opened.app.manifest.limits;
    this.#heartbeat = setInterval(() => this.#beat(), (silentSeconds * 1000) / PINGS_IN_SILENCE);
  }

  #finish(tool: string): void {
    this.#calls.splice(this.#calls.indexOf(tool), 1);
    if (this.#calls.length > 0 || this.#stopped !== null) return;
    clearInterval(this.#heartbeat);
    const { process } = this.#opened;
    // It closed its streams behind its last answer.
    if (this.#isGivenUp && process !== null) void this.#closed(process);
    else if (this.#isRetired) this.#endOfLife();
    else this.#rest();
  }

  /** MCP, "Ping": a receiver must answer promptly. What is stopped by a signal, or hangs, does not. */
  #beat(): void {
    // An app with one thread may be unable to say anything while its request waits for a person.
    const mayBeSilent = this.#heard || this.#opened.waiting?.isAsking === true;
    this.#silentBeats = mayBeSilent ? 0 : this.#silentBeats + 1;
    this.#heard = false;
    const [tool = ''] = this.#calls;
    if (this.#silentBeats >= PINGS_IN_SILENCE) {
      const why = silence(this.#opened.app, tool);
      return this.end(why.message, why);
    }
    void this.#opened.client.ping().catch(() => undefined); // The call under way will tell what is wrong.
  }

  #rest(): void {
    if (this.#opened.process === null) return;
    const { idleSeconds } = this.#opened.app.manifest.limits;
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => this.end(`nobody used it for ${idleSeconds} s`), idleSeconds * 1000);
    this.#idle.unref();
  }

  /** Waits for the calls under way; each has a time limit. */
  #retire(): void {
    this.#isRetired = true;
    if (this.#calls.length === 0) this.#endOfLife();
  }

  #endOfLife(): void {
    this.end(`it reached its limit of ${this.#opened.app.manifest.limits.totalSeconds} s`);
  }

  #giveUp(): void {
    if (this.#isGivenUp) return;
    this.#isGivenUp = true;
    this.#told.givenUp();
  }
}
