/**
 * Apps: started when first needed, or shortly before, each in its own sandbox. A call runs only with the monitor's
 * allowance for exactly this call.
 */
import { setImmediate } from 'node:timers/promises';
import {
  type Allowed,
  type AppId,
  type EventBody,
  type Fault,
  failed,
  fault,
  type InstalledApp,
  ok,
  type Result,
  type ToolCall,
  type WarmLimits,
} from '@cordon/core';
import type { RunningApp, ToolResult } from '../context/app-tool.ts';
import type { AppConnection } from './app-connection.ts';
import type { AppDescription } from './app-description.ts';
import type { AppPins, Vetting } from './app-pins.ts';
import { AppStart, type AppStartParts, NOBODY_TOLD, type OnChallenge } from './app-start.ts';

const MIB = 1024 * 1024;

export interface AppHostParts extends AppStartParts {
  /** Gives an allowed call back, once. */
  readonly spend: (allowance: Allowed<ToolCall>) => ToolCall;
  /** What came of a call that was carried out before its query was interrupted; null: it was not; absent: no query resumes. */
  readonly finished?: (call: ToolCall) => Result<ToolResult, Fault> | null;
  /** Takes what happens to apps that are in use. */
  readonly record: (app: AppId, body: EventBody) => void;
  readonly pins: AppPins;
  readonly warm: WarmLimits;
}

/**
 * One start of an app. Warm until it is used: then it has seen nothing of any session but its own files, and its
 * requests to the network are refused. In use it stays with this session until it ends.
 */
interface Started {
  readonly app: InstalledApp;
  readonly opening: Promise<Result<AppConnection, Fault>>;
  /** Its first use: vetted, or refused. Null: nobody has needed it. */
  using: Promise<Result<AppConnection, Fault>> | null;
  /** Vetted and in use. */
  isUsed: boolean;
  /** Started because it was used before, and not because of the query. */
  isGuess: boolean;
}

export class AppHost {
  readonly #parts: AppHostParts;
  readonly #start: AppStart;
  readonly #apps = new Map<AppId, Started>();
  /** Resolve when a process is gone and its end is recorded; the app may be forgotten long before. */
  readonly #endings = new Set<Promise<void>>();
  readonly #ending = new AbortController();
  /** What apps work on. */
  readonly #calls: ToolCall[] = [];
  /** Apps that broke before they were used: they are not tried again until somebody needs them. */
  readonly #broken = new Set<AppId>();

  constructor(parts: AppHostParts) {
    this.#parts = parts;
    this.#start = new AppStart(parts);
  }

  /** The only call that an app works on; null: there is none, or nobody can tell which of several leads to what it does. */
  callOf(app: AppId): ToolCall | null {
    const [call, ...more] = this.#calls.filter((one) => one.app === app);
    return call !== undefined && more.length === 0 ? call : null;
  }

  /** Whether an app has been asked for anything: only then it has a way out. */
  isUsed(app: AppId): boolean {
    return this.#apps.get(app)?.isUsed === true;
  }

  /** Loads in the background what the first start of an app needs, then starts apps, one after the other. */
  async warm(apps: readonly InstalledApp[]): Promise<void> {
    try {
      await this.#start.load();
    } catch {
      return; // Whoever needs it will be told.
    }
    const warmedUp = setImmediate().then(() => this.#start.warmUp());
    for (const app of apps.slice(0, this.#parts.warm.apps)) {
      const started = this.#warmUp(app);
      if (started !== undefined) started.isGuess = true;
      await started?.opening;
    }
    await warmedUp.catch(() => undefined); // It is of no use to anybody but as preparation.
  }

  /** Starts apps of which it is known that they will be needed soon, all at once. The most wanted come first. */
  startAhead(apps: readonly InstalledApp[]): void {
    for (const app of apps.slice(0, this.#parts.warm.apps)) this.#warmUp(app);
  }

  /** Starts the app, or answers the one that runs. A failed start is tried anew by the next query. */
  async start(app: InstalledApp): Promise<Result<RunningApp, Fault>> {
    const connection = await this.#use(app);
    return connection.ok ? ok(connection.value.running) : connection;
  }

  /**
   * What an app that may be needed says of itself, as it was agreed to. The hub starts it but does not use it, so it has
   * no way out, and the user gets no question about it. Null: it is not there, or not as agreed to.
   *
   * @param isCertain whether it is worth the memory, however little there is
   */
  async peek(app: InstalledApp, isCertain: boolean): Promise<RunningApp | null> {
    if (this.#parts.pins.digest(app.id) === null) return null;
    if (isCertain && !this.#apps.has(app.id) && !this.#ending.signal.aborted) this.#open(app);
    else this.#warmUp(app);
    const started = this.#apps.get(app.id);
    const connection = await started?.opening;
    if (started === undefined || connection === undefined || !connection.ok) return null;
    // It may be looked at by somebody at this moment: then its words count when they are agreed to.
    if (started.using !== null) {
      const used = await started.using;
      return used.ok ? used.value.running : null;
    }
    const vetting = this.#parts.pins.recheck(app, connection.value.said);
    if (vetting.kind !== 'pinned') return null;
    connection.value.adopt(vetting.description);
    return connection.value.running;
  }

  /**
   * Starts an app anew to hear what it says of itself, as it would be started for use, and ends it. While `look` looks
   * at it nothing is asked of it, and it has no way out.
   */
  async inspect(
    app: InstalledApp,
    look: (said: AppDescription) => Promise<Vetting>,
    stopping: AbortSignal = this.#ending.signal,
  ): Promise<Result<Vetting, Fault>> {
    if (this.#ending.signal.aborted) return failed(fault('app-unavailable', 'the session is closed'));
    const ending = AbortSignal.any([this.#ending.signal, stopping]);
    const connection = await this.#start.open(app, ending, NOBODY_TOLD);
    if (!connection.ok) return connection;
    this.#whenEnded(connection.value, () => undefined);
    try {
      const vetting = await look(connection.value.said);
      this.#tell(app.id, vetting);
      return ok(vetting);
    } finally {
      connection.value.end('it was looked at');
    }
  }

  /** Greets an app anew and has it list its tools, whatever it says, and ends it: whether its server lets the user in. */
  async reach(app: InstalledApp, onChallenge: OnChallenge): Promise<Result<void, Fault>> {
    if (this.#ending.signal.aborted) return failed(fault('app-unavailable', 'the session is closed'));
    const connection = await this.#start.open(app, this.#ending.signal, NOBODY_TOLD, onChallenge);
    if (!connection.ok) return connection;
    connection.value.end('it was only greeted');
    return ok(undefined);
  }

  /** The effect of a tool call: the allowance says which app, which tool and which arguments. */
  async call(
    app: InstalledApp,
    allowance: Allowed<ToolCall>,
    signal: AbortSignal,
  ): Promise<Result<ToolResult, Fault>> {
    const call = this.#parts.spend(allowance);
    if (call.app !== app.id) throw new Error('the call was allowed for another app');
    const finished = this.#parts.finished?.(call) ?? null;
    if (finished !== null) return finished;
    if (signal.aborted) return failed(fault('cancelled', 'the query was stopped'));
    const connection = await this.#use(app);
    if (!connection.ok) return connection;
    this.#calls.push(call);
    try {
      return await connection.value.call(call, signal);
    } finally {
      this.#calls.splice(this.#calls.indexOf(call), 1);
    }
  }

  /** Ends every app, and waits until each is gone. */
  async stop(): Promise<void> {
    this.#ending.abort();
    const openings = [...this.#apps.values()].map(({ opening }) => opening);
    for (const connection of await Promise.all(openings))
      if (connection.ok) connection.value.end('the session was closed');
    this.#apps.clear();
    await Promise.all(this.#endings);
  }

  async #use(app: InstalledApp): Promise<Result<AppConnection, Fault>> {
    // What a query left under way may come here after the end: nobody would stop what it starts.
    if (this.#ending.signal.aborted) return failed(fault('app-unavailable', 'the session is closed'));
    const existing = this.#apps.get(app.id);
    if (existing !== undefined && existing.using !== null) {
      const connection = await existing.using;
      if (connection.ok) connection.value.use();
      return connection;
    }
    const began = this.#parts.now();
    const started = existing ?? this.#open(app);
    this.#broken.delete(app.id);
    started.using = this.#firstUse(started, began);
    return started.using;
  }

  /** What it says of itself is held against what was agreed to before anybody reads a word of it. */
  async #firstUse(started: Started, began: number): Promise<Result<AppConnection, Fault>> {
    const { app } = started;
    const connection = await started.opening;
    if (!connection.ok) {
      // Whatever became of a process that nobody had asked for, the one that is needed has its own start.
      if (started.isGuess && connection.fault.kind === 'app-unavailable') return this.#use(app);
      if (!this.#ending.signal.aborted) this.#recordFailure(app.id, connection.fault);
      return connection;
    }
    const readyAfter = this.#parts.now() - began;
    const refusal = await this.#refusalOf(started, connection.value);
    if (refusal !== null) {
      connection.value.end(refusal.message, refusal);
      this.#forget(started);
      this.#recordFailure(app.id, refusal);
      return failed(refusal);
    }
    // It may have ended while somebody read about it.
    if (!connection.value.isOpen && !this.#ending.signal.aborted) return this.#use(app);
    started.isUsed = true;
    connection.value.use();
    const { record } = this.#parts;
    const { id, layers } = connection.value.running;
    record(id, { kind: 'app.started', milliseconds: readyAfter, layers });
    this.#whenEnded(connection.value, (reason) => record(id, { kind: 'app.stopped', reason }));
    return connection;
  }

  async #refusalOf({ app }: Started, connection: AppConnection): Promise<Fault | null> {
    for (;;) {
      const { said } = connection;
      const vetting = await this.#parts.pins.vet(app, said, this.#ending.signal);
      // Attack: other tools, announced while the user reads about these.
      if (connection.said !== said) continue;
      this.#tell(app.id, vetting);
      if (vetting.kind !== 'pinned') return vetting.fault;
      connection.adopt(vetting.description);
      return null;
    }
  }

  /** Before its first use it is looked at as a whole. */
  #listedAnew(started: Started, said: AppDescription): Fault | null {
    if (!started.isUsed) return null;
    const vetting = this.#parts.pins.recheck(started.app, said);
    this.#tell(started.app.id, vetting);
    return vetting.kind === 'pinned' ? null : vetting.fault;
  }

  #tell(app: AppId, vetting: Vetting): void {
    const { record } = this.#parts;
    if (vetting.kind === 'changed')
      record(app, { kind: 'app.changed', pinned: vetting.pinned, found: vetting.found });
    // Agreed to just now.
    if (vetting.kind === 'pinned' && vetting.by !== null)
      record(app, { kind: 'app.pinned', digest: vetting.digest, by: vetting.by });
  }

  #recordFailure(app: AppId, why: Fault): void {
    this.#parts.record(app, { kind: 'app.unavailable', fault: why });
  }

  #whenEnded({ ended }: AppConnection, tell: (reason: string) => void): void {
    if (ended === null) return;
    const ending = ended.then((reason) => {
      this.#endings.delete(ending);
      tell(reason);
    });
    this.#endings.add(ending);
  }

  /** Undefined: it is started already, or will not be before it is needed. */
  #warmUp(app: InstalledApp): Started | undefined {
    const existing = this.#apps.get(app.id);
    if (existing !== undefined) {
      // The newest in the order of the map.
      this.#apps.delete(app.id);
      this.#apps.set(app.id, existing);
      return undefined;
    }
    // A server elsewhere is reached by a request, which is an effect.
    if (app.source.kind !== 'command' || this.#broken.has(app.id)) return undefined;
    if (this.#ending.signal.aborted || !this.#hasFreeMemory()) return undefined;
    this.#makeRoom();
    const started = this.#open(app);
    void started.opening.then((connection) => {
      if (!connection.ok) return void this.#broken.add(app.id);
      void this.#start.prepare(connection.value.running).catch(() => undefined);
      void connection.value.warmUp().catch(() => undefined); // It is of no use to anybody but as preparation.
    });
    return started;
  }

  /** Whether the machine has memory to spare for a process that nobody needs yet, within the limits of its control group. */
  #hasFreeMemory(): boolean {
    return process.availableMemory() >= this.#parts.warm.freeMiB * MIB;
  }

  /** Of the warm apps that nobody has needed, the one that has waited longest makes way for another. */
  #makeRoom(): void {
    const warm = [...this.#apps.values()].filter(({ using }) => using === null);
    const oldest = warm[0];
    if (oldest === undefined || warm.length < this.#parts.warm.apps) return;
    this.#apps.delete(oldest.app.id);
    void oldest.opening.then((connection) => {
      if (connection.ok) connection.value.end('another app was more likely to be needed');
    });
  }

  #open(app: InstalledApp): Started {
    const told = {
      givenUp: () => this.#forget(started),
      listedAnew: (said: AppDescription) => this.#listedAnew(started, said),
    };
    const opening = this.#start.open(app, this.#ending.signal, told);
    const started: Started = { app, opening, using: null, isUsed: false, isGuess: false };
    this.#apps.set(app.id, started);
    void opening.then((connection) => {
      if (!connection.ok) return this.#forget(started);
      this.#whenEnded(connection.value, () => {
        if (started.using === null && connection.value.isBroken) this.#broken.add(app.id);
      });
    });
    return started;
  }

  #forget(started: Started): void {
    if (this.#apps.get(started.app.id) === started) this.#apps.delete(started.app.id);
  }
}
