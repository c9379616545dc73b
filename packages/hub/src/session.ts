/**
 * One session of the user: its trace, its monitor, its contexts. Puts the hub's parts together, hands each what it
 * needs and nothing else, and takes one query at a time.
 *
 * Ring 0.
 */
import {
  type AppId,
  type Clock,
  type Consent,
  type ContextId,
  type ContextKind,
  canonicalJsonOf,
  type Event,
  type EventId,
  type Fault,
  failed,
  fault,
  HUB_LABEL,
  type InstalledApp,
  id,
  type MemoryLimits,
  type Model,
  type ModelPrices,
  ok,
  type Result,
  type SessionId,
  type TextJudge,
  type TurnLimits,
  type WarmLimits,
} from '@cordon/core';
import { ReferenceMonitor } from '@cordon/monitor';
import type { Policy } from '@cordon/policy';
import type { SessionJournal, Store } from '@cordon/trace';
import type { AppDescription } from './apps/app-description.ts';
import { AppHost } from './apps/app-host.ts';
import { type AppPins, NO_PINS, type Vetting } from './apps/app-pins.ts';
import type { AppLauncher } from './apps/app-process.ts';
import { Registry } from './apps/registry.ts';
import { validatorOnDemand } from './apps/schema-validator.ts';
import { AppChoices } from './consent/app-choice.ts';
import { egressNeed } from './consent/needs.ts';
import { type Grants, Permissions } from './consent/permission.ts';
import { Context, type ContextOptions } from './context/context.ts';
import { UserWords } from './context/heard-texts.ts';
import { Query } from './context/query.ts';
import type { AppNetwork } from './egress/app-network.ts';
import type { EgressGateParts } from './egress/egress-gate.ts';
import type { ReadSecret } from './egress/hub-fetch.ts';
import { connectRemote } from './egress/remote-app.ts';
import { Exchange } from './exchange/exchange.ts';
import { Reader } from './exchange/reader.ts';
import {
  givenAnswer,
  type UnfinishedQuery,
  unfinishedQuery,
  unknownOutcomes,
} from './journal/interruption.ts';
import { Progress } from './journal/progress.ts';
import { Recorder } from './journal/recorder.ts';
import { allowedEffects } from './journal/replay.ts';
import { Gate } from './mediation/gate.ts';
import { type Answering, Inquiries } from './mediation/inquiries.ts';
import { ModelCalls, type Spending } from './mediation/model-calls.ts';
import { type SeenCall, ToolCalls } from './mediation/tool-calls.ts';
import type { Fact } from './memory/facts.ts';
import { type FactsMode, leftToLearn } from './memory/learning.ts';
import type { Memory } from './memory/memory.ts';
import { askedIn, observedIn } from './memory/observed-facts.ts';
import { Summaries, type SummaryMode } from './memory/summaries.ts';
import { type Installables, Installing } from './planning/installing.ts';
import { RunningSubject } from './planning/running-subject.ts';
import { AskedData } from './query/asked-data.ts';
import type { CatalogueEntry } from './query/catalogue.ts';
import { Operator, type Outcome } from './query/operator.ts';
import type { SpokeLauncher } from './spokes/spoke-link.ts';
import { SpokePool } from './spokes/spoke-pool.ts';

export interface SessionParts {
  readonly id: SessionId;
  /** `none` is the baseline: one shared context, and no questions but a policy's. It exists to compare against. */
  readonly isolation: 'spokes' | 'none';
  readonly apps: readonly InstalledApp[];
  readonly model: Model;
  /** `provider/model` for contexts whose app names none. */
  readonly modelId: string;
  readonly policy: Policy;
  /** What the journal holds of a session that goes on; empty for a new one. */
  readonly past: readonly Event[];
  readonly journal: SessionJournal;
  readonly grants: Grants;
  readonly prompts: Store['prompts'];
  readonly memory: Memory;
  /** How what is too old to be shown again is summed up. */
  readonly summaries: SummaryMode;
  /** Who finds facts in the user's own words. */
  readonly facts: FactsMode;
  readonly memoryLimits: MemoryLimits;
  readonly consent: Consent;
  readonly launcher: AppLauncher;
  readonly spokes: SpokeLauncher;
  /** What was agreed to of each app. The baseline asks nobody. */
  readonly pins: AppPins;
  /** For credentials of manifests; undefined: none is of use. */
  readonly readSecret?: ReadSecret | undefined;
  readonly limits: TurnLimits;
  /** Who answers questions of rules; null: nobody, and rules that ask are undecided. */
  readonly answering: Answering | null;
  /** Looks at texts that are too long for this thread; null: the policy looks at all itself. */
  readonly texts: TextJudge | null;
  /** What models cost; one that is not in it does not run where money is limited. */
  readonly prices: ModelPrices;
  readonly warm: WarmLimits;
  /** Whether the context that will most likely serve a query is begun while it is planned. */
  readonly foresees: boolean;
  /** What the user could install. */
  readonly installables: Installables;
  /** What every spoke is told that others may do for it. */
  readonly functionalities: readonly CatalogueEntry[];
  /** Apps that were used in this session or in earlier ones, the last used first. */
  readonly recentApps: () => readonly AppId[];
  /** Makes waiting for the disk shorter from then on; rejects where that cannot be had. */
  readonly makeRoom: () => Promise<void>;
  readonly clock: Clock;
  /** SHA-256 in hexadecimal. */
  readonly digest: (text: string) => string;
  /** An unguessable short text. */
  readonly random: () => string;
  /** Resolves after so many milliseconds, or when the signal aborts. */
  readonly pause: (milliseconds: number, signal: AbortSignal) => Promise<void>;
  /** Layers of the sandbox that apps go without; questions say so. */
  readonly weaker?: readonly string[];
  /** Lets go of the session without ending it. */
  readonly release: () => void;
}

/** How one query is asked. */
export interface AskOptions {
  /** No history, summary or fact comes in, and nothing is remembered of it. The journal has it like any other query. */
  readonly isPrivate?: boolean;
}

/** A query that can be gone on with, for the user to decide about. */
export interface Unfinished {
  readonly text: string;
  /** When it was asked, in milliseconds since the epoch. */
  readonly time: number;
  /** How it ended; null: it did not, because its hub did. */
  readonly ended: 'failed' | 'cancelled' | null;
  /** Tool calls that were carried out. */
  readonly finished: number;
  readonly inDoubt: Recorder['inDoubt'];
}

/** Network requests of one app in one query; each is several events of the journal. */
const MOST_EGRESS = 500;

/** For one summary: the next query waits for it no longer than this. */
const FOR_SUMMARY = { tokens: 60_000, seconds: 15 };
/** For the facts of one message; a session that ends waits for them too. */
const FOR_FACTS = { tokens: 10_000, seconds: 10 };

const NO_QUERY: Spending = {
  signal: AbortSignal.abort(),
  reserve: () => failed(fault('cancelled', 'no query is running')),
};

export class Session {
  readonly id: SessionId;
  readonly #parts: SessionParts;
  readonly #registry: Registry;
  readonly #recorder: Recorder;
  readonly #monitor: ReferenceMonitor;
  readonly #apps: AppHost;
  readonly #spokes: SpokePool;
  readonly #validator = validatorOnDemand();
  readonly #gate: Gate;
  readonly #choices: AppChoices;
  readonly #installing: Installing;
  readonly #words: UserWords;
  readonly #subject = new RunningSubject();
  readonly #operator: Operator;
  readonly #inquiries: Inquiries | null;
  /** Budgets are of a session: an app that ends and is started anew has used what it used. */
  readonly #networks = new Map<AppId, Promise<AppNetwork>>();
  #contexts = 0;
  #calls = 0;
  #query: Query | null = null;
  /** The events of the newest query, for as long as it can be gone on with. */
  #trail: Event[] = [];

  constructor(parts: SessionParts) {
    this.id = parts.id;
    // What is gone on from is told once; a long journal is not kept in memory besides.
    this.#parts = { ...parts, past: [] };
    this.#registry = new Registry(parts.apps);
    const append: SessionJournal['append'] = (entries) => {
      const events = parts.journal.append(entries);
      for (const event of events) this.#saw(event);
      return events;
    };
    this.#monitor = new ReferenceMonitor({ policy: parts.policy });
    this.#recorder = new Recorder({ ...parts.journal, append }, this.#monitor, parts.past);
    for (const event of parts.past) this.#subject.saw(event);
    this.#trail = [...(unfinishedQuery([...parts.past, ...this.#recordUnknown(parts.past)])?.events ?? [])];
    // Names of contexts and calls are never used twice in a session, and each has at least one event.
    this.#contexts = parts.past.length;
    this.#calls = parts.past.length;
    this.#apps = new AppHost({
      launcher: parts.launcher,
      connect: (app) => this.#connectRemote(app),
      networkOf: (app) => this.#networkOf(app),
      spend: (allowance) => this.#monitor.spend(allowance),
      finished: ({ callId }) => this.#recorder.progress?.output(callId) ?? null,
      validator: this.#validator,
      now: parts.clock,
      warm: parts.warm,
      pins: parts.isolation === 'none' ? NO_PINS : parts.pins,
      observer: {
        started: ({ id: app, milliseconds, layers }) =>
          this.#recordApp(app, { kind: 'app.started', milliseconds, layers }),
        stopped: (app, reason) => this.#recordApp(app, { kind: 'app.stopped', reason }),
        failed: (app, failure) => this.#recordApp(app, { kind: 'app.unavailable', fault: failure }),
        pinned: (app, digest, by) => {
          this.#recordApp(app, { kind: 'app.pinned', digest, by });
          this.#choices.agreedTo(app);
        },
        changed: (app, { pinned, found }) => this.#recordApp(app, { kind: 'app.changed', pinned, found }),
      },
    });
    this.#spokes = new SpokePool(parts.spokes, parts.limits, parts.warm);
    const signal = () => this.#query?.signal ?? AbortSignal.abort();
    const { consent, grants, prompts, digest, pause } = parts;
    const permission = {
      session: parts.id,
      consent,
      grants,
      prompts,
      recorder: this.#recorder,
      digest,
      signal,
      identityOf: (app: AppId) => parts.pins.digest(app),
      weaker: parts.weaker ?? [],
      pause,
    };
    const permissions = new Permissions(permission);
    this.#choices = new AppChoices(permission);
    this.#words = new UserWords(
      parts.past.flatMap((event) =>
        event.kind === 'user.message' && event.private !== true ? [event.text] : [],
      ),
      () => parts.memory.facts().map(({ value }) => value),
    );
    this.#gate = new Gate(this.#monitor, permissions, this.#recorder, parts.clock, () => this.#inquiries);
    this.#installing = new Installing({
      installables: parts.installables,
      registry: this.#registry,
      apps: this.#apps,
      choices: this.#choices,
      gate: this.#gate,
      newErrand: (app) => this.#newErrandOf(app),
      installed: (app) => this.#recordApp(app, { kind: 'app.installed' }),
      unavailable: (app, failure) => this.#recordApp(app, { kind: 'app.unavailable', fault: failure }),
    });
    const models = new ModelCalls({
      model: this.#model(),
      gate: this.#gate,
      recorder: this.#recorder,
      digest,
    });
    this.#inquiries =
      parts.answering === null && parts.texts === null ? null : this.#inquiriesOf(parts, models);
    this.#operator = this.#assemble(signal, models, parts.past);
  }

  /**
   * Prepares in the background what the next queries will need: an agent loop, the apps that were used last, and room in the
   * journal's log.
   */
  warm(): void {
    this.#spokes.warm();
    this.#spokes.fill();
    const apps = this.#parts.recentApps().flatMap((app) => this.#registry.get(app) ?? []);
    void this.#apps.warm(apps);
    // It is of no use to anybody but as preparation.
    void this.#parts.makeRoom().catch(() => undefined);
  }

  /** Starts an app to hear what it says of itself, and ends it. `look` shows it to somebody, and says what became of it. */
  review(
    appId: AppId,
    look: (app: InstalledApp, said: AppDescription) => Promise<Vetting>,
  ): Promise<Result<Vetting, Fault>> {
    const app = this.#registry.get(appId);
    if (app === undefined)
      return Promise.resolve(failed(fault('app-unavailable', `\`${appId}\` is not installed`)));
    return this.#apps.inspect(app, (said) => look(app, said));
  }

  /** The newest query, if it came to no answer: its hub ended, or something failed, or the user stopped it. */
  get unfinished(): Unfinished | null {
    const query = this.#query === null ? unfinishedQuery(this.#trail) : null;
    if (query === null) return null;
    const { said, events, ended } = query;
    const finished = events.filter(({ kind }) => kind === 'tool-call.executed').length;
    return { text: said.text, time: said.time, ended, finished, inDoubt: this.inDoubt };
  }

  /** Calls that cannot be undone, of which nobody knows whether they took effect. */
  get inDoubt(): Recorder['inDoubt'] {
    return this.#recorder.inDoubt;
  }

  /**
   * Serves one query. Throws if another is still running: one writer, one query at a time. An unfinished one is given up:
   * what it has done stays in the journal, and the rest is not done.
   */
  async ask(text: string, signal: AbortSignal, { isPrivate = false }: AskOptions = {}): Promise<Outcome> {
    if (this.#query !== null) throw new Error('a query is running in this session');
    this.#giveUp();
    // What an earlier query asked is over: an answer to it counts for nothing.
    this.#parts.prompts.closeAll(this.id);
    return await this.#served(text, signal, isPrivate);
  }

  /**
   * Goes on with the unfinished query: what the journal has of it is neither decided nor done again, and the rest is as in
   * any query. Throws if there is none.
   */
  async goOn(signal: AbortSignal): Promise<Outcome> {
    if (this.unfinished === null) throw new Error('no interrupted query to resume');
    // What the query left under way in this process is stopped, and ends first: its outcome belongs to what is finished.
    await this.#gate.settled();
    await this.#operator.settled();
    const query = unfinishedQuery(this.#trail);
    if (query === null || this.#query !== null) throw new Error('another query was asked');
    const { said, events } = query;
    const answered = this.#end(query);
    if (answered !== null) {
      this.#operator.learn();
      return answered;
    }
    const finished = events.filter(({ kind }) => kind === 'tool-call.executed').length;
    const body = { kind: 'query.resumed', finished, inDoubt: this.inDoubt.length } as const;
    this.#recorder.record(null, body, { causes: [said.id] });
    this.#monitor.resume(allowedEffects(events));
    this.#installing.goesOn(events);
    this.#operator.goesOn(events);
    this.#recorder.follow(new Progress(events));
    try {
      return await this.#serve(said.text, signal, said.private === true);
    } finally {
      this.#recorder.follow(null);
      this.#installing.queryEnded();
      this.#monitor.resume(new Map());
      this.#operator.learn();
    }
  }

  /** Facts are learnt behind a query, where nothing is gone through again. */
  async #served(text: string, signal: AbortSignal, isPrivate: boolean): Promise<Outcome> {
    const outcome = await this.#serve(text, signal, isPrivate);
    this.#operator.learn();
    return outcome;
  }

  async #serve(text: string, signal: AbortSignal, isPrivate: boolean): Promise<Outcome> {
    const { limits, prices, clock } = this.#parts;
    const query = new Query({ text, signal, limits, prices, now: clock, isPrivate });
    this.#query = query;
    // A query that goes on has done and refused what it did before it was interrupted.
    if (this.#recorder.progress !== null) query.goesOnFrom(this.#trail);
    if (isPrivate) this.#words.hearInPrivate(text);
    else this.#words.hear(text);
    try {
      return await this.#operator.ask(query);
    } finally {
      query.end();
      // A step of a resumed query that is still under way would be recorded, or carried out, a second time.
      if (this.#recorder.progress !== null) await this.#gate.settled();
      this.#words.forget();
      this.#choices.forget();
      this.#query = null;
      if (unfinishedQuery(this.#trail) === null) this.#finish();
    }
  }

  /** Nobody goes on with the query: what it asked before it was interrupted, and not again, is over too. */
  #finish(): void {
    this.#trail = [];
    this.#parts.prompts.closeAll(this.id);
  }

  /** Ends every process of the session. `suspend` leaves it open to be resumed, with its history and grants. */
  async close(how: 'end' | 'suspend'): Promise<void> {
    const { stopped } = this.#operator.stop(how);
    this.#spokes.close();
    this.#parts.texts?.rest();
    await this.#apps.stop();
    for (const network of await Promise.all(this.#networks.values())) await network.end();
    await stopped();
    if (how === 'end') this.#recorder.record(null, { kind: 'session.ended' });
    else this.#parts.release();
  }

  #saw(event: Event): void {
    this.#query?.saw(event);
    this.#subject.saw(event);
    if (event.kind === 'user.message') this.#trail = [];
    this.#trail.push(event);
  }

  /** Effects whose outcome nobody recorded: that is what is known of them, and it is recorded before anything else is done. */
  #recordUnknown(past: readonly Event[]): readonly Event[] {
    return unknownOutcomes(past).flatMap(({ proposed, body }) => {
      const { context, app, id: cause } = proposed;
      const events = this.#parts.journal.append([{ context, app, causes: [cause], label: HUB_LABEL, body }]);
      for (const event of events) this.#recorder.learn(event);
      return events;
    });
  }

  /** A query that was answered, and is remembered as that, lacks nothing but its end. Null: it lacks more. */
  #end({ events, said, ended }: UnfinishedQuery): Outcome | null {
    const answer = ended === null ? givenAnswer(events) : null;
    if (answer === null) return null;
    if (!this.#parts.memory.turns(answer.owner).sources.includes(answer.event)) return null;
    // A rule that came meanwhile decides about the answer too.
    if ((this.#monitor.hindsight(answer.event)?.verdict ?? 'allow') !== 'allow') return null;
    const remembered = this.#parts.memory.outcomeOf(said.id);
    const outcome = remembered === 'refused' ? 'refused' : 'answered';
    const reason = outcome === 'refused' ? 'something of it was refused before it was interrupted' : null;
    const asks = remembered === 'asked for data' ? { asksForData: true as const } : {};
    this.#recorder.record(null, { kind: 'query.ended', outcome, reason, ...asks }, { causes: [said.id] });
    this.#finish();
    return { kind: outcome, answer: answer.text, reason, help: null };
  }

  #giveUp(): void {
    const query = unfinishedQuery(this.#trail);
    if (query === null || query.ended !== null) return;
    const reason = 'it was interrupted, and another query was asked';
    const causes = [query.said.id];
    this.#recorder.record(null, { kind: 'query.ended', outcome: 'cancelled', reason }, { causes });
  }

  /** What the model said before the query was interrupted is not asked for again. */
  #model(): Model {
    const { model, digest } = this.#parts;
    return {
      complete: (request, options) => {
        const { progress } = this.#recorder;
        const answer = progress?.answer(digest(canonicalJsonOf(request))) ?? null;
        return answer === null ? model.complete(request, options) : Promise.resolve(ok(answer));
      },
    };
  }

  /** Questions count for the query that runs; when none does, nobody is asked. */
  #inquiriesOf({ answering, texts }: SessionParts, models: ModelCalls): Inquiries {
    return new Inquiries({
      answering,
      texts,
      gate: this.#gate,
      models,
      recorder: this.#recorder,
      newContext: (model, about) => this.#newContext({ kind: 'inquiry', app: null, model }, about),
      query: () => this.#query ?? NO_QUERY,
      pause: this.#parts.pause,
    });
  }

  #assemble(signal: () => AbortSignal, models: ModelCalls, past: readonly Event[]): Operator {
    const parts = this.#parts;
    const gate = this.#gate;
    const recorder = this.#recorder;
    const registry = this.#registry;
    const apps = this.#apps;
    const validator = this.#validator;
    const newCallId = () => `call-${++this.#calls}`;
    const asksPermission = parts.isolation === 'spokes';
    const calls = new ToolCalls({
      gate,
      recorder,
      apps,
      registry,
      validator,
      newCallId,
      words: this.#words,
      observed: (...observed) => this.#observed(...observed),
      asksPermission,
    });
    const summaries = new Summaries({
      mode: parts.isolation === 'none' ? 'off' : parts.summaries,
      memory: parts.memory,
      models,
      recorder,
      newContext: (options) => this.#newContext(options),
      newErrand: (ending) => this.#newErrandOfHub(ending, FOR_SUMMARY),
      characters: parts.memoryLimits.summaryCharacters,
      digest: parts.digest,
    });
    const reader = new Reader({
      gate,
      recorder,
      models,
      validator,
      newCallId,
      newContext: (origin) => this.#newContext({ kind: 'reader', app: null, modelOf: origin }),
    });
    const exchange = new Exchange({
      gate,
      recorder,
      registry,
      apps,
      calls,
      validator,
      newCallId,
      newPeerId: (...offered) => recorder.progress?.nextPeer(...offered) ?? id(`peer-${parts.random()}`),
      maxDepth: parts.limits.exchangeDepth,
      reader,
      installable: (functionality) => parts.installables.named(functionality),
      past,
      errand: (from, app, request) => this.#errand(from, app, request),
      serve: (query, task) => operator.serveTask(query, task),
      choose: (context, functionality, candidates) =>
        this.#choices.choose(
          context,
          {
            question: `Several apps offer \`${functionality}\`. Which one?`,
            what: functionality,
            choices: candidates,
          },
          signal(),
        ),
    });
    const operator: Operator = new Operator({
      session: parts.id,
      isolation: parts.isolation,
      registry,
      apps,
      spokes: this.#spokes,
      gate,
      recorder,
      models,
      calls,
      exchange,
      asked: new AskedData({ gate, recorder, registry, memory: parts.memory, words: this.#words }),
      memory: parts.memory,
      summaries,
      factsMode: parts.facts,
      left: leftToLearn(past),
      newErrand: (ending) => this.#newErrandOfHub(ending, FOR_FACTS),
      choices: this.#choices,
      installing: this.#installing,
      maxSteps: parts.limits.steps,
      functionalities: parts.functionalities,
      subject: () => this.#subject.current,
      foresees: parts.foresees,
      newContext: (options, cause) => this.#newContext(options, cause),
    });
    return operator;
  }

  /** What the hub itself wants of a model, with a small budget of its own. */
  #newErrandOfHub(signal: AbortSignal, most: Pick<TurnLimits, 'tokens' | 'seconds'>): Query {
    const { limits, prices, clock } = this.#parts;
    return new Query({
      text: '',
      signal,
      limits: { ...limits, ...most },
      prices,
      now: clock,
      isPrivate: true,
    });
  }

  /** A value is remembered, when the query has ended, as the app's word, with the label of its output. */
  #observed(context: Context, query: Query, app: InstalledApp, seen: SeenCall): void {
    const { output, brought, asked, isPlanned } = seen;
    if (output.isError || this.#parts.isolation === 'none') return;
    const { id: origin, manifest } = app;
    // Attack: an app makes its model call what nobody asked for, to plant values. Those that a manifest names are the user's wish.
    if (!isPlanned && manifest.remembers === undefined) return;
    const { tool, structured, label } = output;
    const keep = (facts: readonly Fact[], source: EventId) => {
      for (const { name, value } of facts) {
        query.observes({ fact: { name, value, origin, label }, source });
        this.#recorder.record(context, { kind: 'fact.observed', name }, { causes: [source], label });
      }
    };
    if (asked !== null) keep(askedIn(manifest, tool, asked.arguments, query.text), asked.event);
    // Of a field of both, what came of the call counts.
    keep(observedIn(manifest, tool, structured), brought);
  }

  /** @param cause the event that it is made for; a context of an interrupted query is found again by it */
  #newContext(options: ContextOptions, cause?: EventId): Context {
    const { kind, app } = options;
    const before = this.#recorder.progress?.context(kind, app, cause) ?? null;
    return this.#contextNamed(before ?? this.#nextContext(kind, app), options, cause);
  }

  #nextContext(kind: ContextKind, app: AppId | null): ContextId {
    // No app is called so: a rule can tell a reader by the name of its context.
    const owner = kind === 'reader' ? '~reader' : (app ?? kind);
    return id(`${owner}#${++this.#contexts}`);
  }

  #contextNamed(
    contextId: ContextId,
    { kind, app, modelOf, model: given, depth = 0, tools = new Map(), begins }: ContextOptions,
    cause?: EventId,
  ): Context {
    const whose = modelOf ?? app;
    const own = whose === null ? null : this.#registry.get(whose)?.model;
    const model = given ?? own ?? this.#parts.modelId;
    const context = new Context({ id: contextId, kind, app, model, depth, tools, begins: begins ?? null });
    const apps = app === null ? [...new Set([...tools.values()].map((own) => own.app))] : [app];
    const causes = cause === undefined ? [] : [cause];
    this.#recorder.record(context, { kind: 'context.created', of: kind, apps }, { causes });
    return context;
  }

  /** Carries one tool call that another context asked for: it has seen what that context has, and answers to nobody. */
  #errand(from: Context, app: AppId, request: EventId): Context {
    const options: ContextOptions = { kind: 'errand', app, depth: from.depth + 1, begins: request };
    const context = this.#newContext(options, request);
    context.sees(from.label, null);
    return context;
  }

  /** Loaded for an app that has the network, since Node's HTTP takes 20 ms to load. */
  #networkOf(app: InstalledApp): Promise<AppNetwork | null> {
    if (app.manifest.network.length === 0) return Promise.resolve(null);
    const network =
      this.#networks.get(app.id) ??
      import('./egress/app-network.ts').then(
        ({ AppNetwork, EgressGate }) =>
          new AppNetwork({
            app,
            door: new EgressGate(this.#egressParts(app)),
            readSecret: this.#parts.readSecret,
          }),
      );
    this.#networks.set(app.id, network);
    return network;
  }

  /** Requests of one app's process: the app is their context, whichever query led to them. */
  #egressParts(app: InstalledApp): EgressGateParts {
    const asked = new WeakMap<Query, number>();
    return {
      app: app.id,
      gate: this.#gate,
      recorder: this.#recorder,
      newContext: () => this.#newErrandOf(app.id),
      shutBecause: () => {
        // Nobody wants anything of the app between queries; what it sends then is its own idea, grant or no grant.
        const query = this.#query;
        if (query === null || query.signal.aborted) return 'no query is running';
        // One that was started ahead of its use, while a query of others runs, has nothing to do yet.
        if (!this.#apps.isUsed(app.id)) return 'nobody has asked anything of the app yet';
        const times = (asked.get(query) ?? 0) + 1;
        asked.set(query, times);
        return times > MOST_EGRESS ? `more than ${MOST_EGRESS} requests in one query` : null;
      },
      needOf: (request) => (this.#parts.isolation === 'none' ? null : egressNeed(app.id, request)),
    };
  }

  #connectRemote(app: InstalledApp) {
    return connectRemote(app, this.#gate, this.#newErrandOf(app.id));
  }

  /** For what an app's process does by itself: the process is a new one, also where a query goes on. */
  #newErrandOf(app: AppId): Context {
    return this.#contextNamed(this.#nextContext('errand', app), { kind: 'errand', app });
  }

  #recordApp(app: AppId, body: Parameters<Recorder['record']>[1]): void {
    this.#parts.journal.append([{ context: null, app, causes: [], label: HUB_LABEL, body }]);
  }
}
