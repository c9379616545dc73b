/**
 * The operator: deterministic, and the only code that moves data. It owns the life of a query from the user's words
 * to the answer (docs/architecture.md, "One query"; paper, IV-A4 and IV-B5).
 *
 * Ring 0.
 */
import {
  type Answer,
  type AppId,
  type DataRelease,
  type EarlierOutcome,
  type Event,
  type EventId,
  type Fault,
  failed,
  fault,
  HUB_LABEL,
  joinLabels,
  type Label,
  ok,
  type PlanStep,
  type QueryLimit,
  type ReleasedItem,
  type Result,
  type SessionId,
  USER_LABEL,
} from '@cordon/core';
import type { TurnContext } from '@cordon/protocol';
import type { AppHost } from '../apps/app-host.ts';
import type { Registry } from '../apps/registry.ts';
import type { AppChoices } from '../consent/app-choice.ts';
import type { ConsentRequirement } from '../consent/consent-requirement.ts';
import { factsRequirement, taskRequirement } from '../consent/requirements.ts';
import { reviseRelease } from '../consent/revision.ts';
import type { Context, ContextOptions } from '../context/context.ts';
import { appOf, type ContextOwner, ownerOf } from '../context/owner.ts';
import type { Query } from '../context/query.ts';
import type { KnownFact, ObservedFact } from '../context/query-facts.ts';
import type { HeldText } from '../context/references.ts';
import type { Exchange, ServedTask, ServingTask } from '../exchange/exchange.ts';
import type { Recorder } from '../journal/recorder.ts';
import type { Gate } from '../mediation/gate.ts';
import type { ModelCalls } from '../mediation/model-calls.ts';
import type { ToolCalls } from '../mediation/tool-calls.ts';
import { type FactsMode, Learning, type LeftToLearn } from '../memory/learning.ts';
import type { Memory, RememberedTurns } from '../memory/memory.ts';
import { observedRequirement } from '../memory/observed-facts.ts';
import type { Summaries } from '../memory/summaries.ts';
import type { Installing } from '../planning/installing.ts';
import { MOST_REPLANS, type Planned, Planning, type Subject } from '../planning/planning.ts';
import { routeOf } from '../planning/route.ts';
import type { SpokePool } from '../spokes/spoke-pool.ts';
import type { CatalogueEntry } from './catalogue.ts';
import { type DataRequests, endsWithQuestion } from './data-requests.ts';
import { Preparation, type Prepared } from './preparation.ts';
import { type Listening, type Opening, type SpeculativeTurn, SpeculativeTurns } from './speculative-turn.ts';
import { carriedOver, type StepResult, Steps, stepResults, stepsAhead, WITHOUT_RESULT } from './steps.ts';
import { Turn } from './turn.ts';

export interface OperatorParts {
  readonly session: SessionId;
  readonly isolation: 'spokes' | 'none';
  readonly registry: Registry;
  readonly apps: AppHost;
  readonly spokes: SpokePool;
  readonly gate: Gate;
  readonly recorder: Recorder;
  readonly models: ModelCalls;
  readonly calls: ToolCalls;
  readonly exchange: Exchange;
  readonly asked: DataRequests;
  readonly memory: Memory;
  readonly summaries: Summaries;
  readonly factsMode: FactsMode;
  /** What a session that goes on has left to be learnt. */
  readonly left: LeftToLearn;
  /** A budget for what the hub itself wants of a model about one message. */
  readonly newErrand: (signal: AbortSignal) => Query;
  readonly choices: AppChoices;
  readonly installing: Installing;
  readonly maxSteps: number;
  readonly functionalities: readonly CatalogueEntry[];
  /** What the next query may continue. */
  readonly subject: () => Subject | null;
  /** Whether the context that will most likely serve a query is begun while it is planned. */
  readonly speculates: boolean;
  readonly newContext: (options: ContextOptions, cause?: EventId) => Context;
}

/** What the user gets. `refused` may carry an answer too: the model's account of what it could not do. */
export interface Outcome {
  readonly kind: 'answered' | 'refused' | 'failed' | 'cancelled';
  readonly answer: string | null;
  readonly reason: string | null;
  readonly help: string | null;
}

export class Operator {
  readonly #parts: OperatorParts;
  readonly #preparation: Preparation;
  readonly #planning: Planning;
  readonly #steps: Steps;
  readonly #speculativeTurns: SpeculativeTurns;
  readonly #learning: Learning;

  constructor(parts: OperatorParts) {
    this.#parts = parts;
    this.#preparation = new Preparation(parts);
    const hear = (context: Context, text: string, said: EventId) => this.#hear(context, text, said);
    this.#planning = new Planning({ ...parts, hear });
    this.#steps = new Steps({ ...parts, hear, taskOf: (...told) => this.#stepTask(...told) });
    this.#learning = new Learning({ ...parts, hear });
    const listen = (...heard: Parameters<Operator['listen']>) => this.listen(...heard);
    const likely = (query: Query) => this.#planning.likely(query);
    this.#speculativeTurns = new SpeculativeTurns({
      ...parts,
      preparation: this.#preparation,
      likely,
      listen,
    });
  }

  /** Serves one query. Never throws for what models, apps or users do; each way of failing is an outcome. */
  async ask(query: Query): Promise<Outcome> {
    const { recorder, spokes, summaries } = this.#parts;
    // What is still being summed up of earlier queries, or learnt from them, belongs to what this one may see.
    await this.settled();
    spokes.warm();
    const body = { kind: 'user.message', text: query.text } as const;
    const marked = query.isPrivate ? { ...body, private: true as const } : body;
    const said = recorder.record(null, marked, { label: USER_LABEL });
    const served = await this.#serve(query, said.id);
    const outcome = outcomeOf(query, served);
    const asksForData =
      served.ok && outcome.kind === 'answered' && this.#asksForData(query, served.value.turned);
    const ended = asksForData ? 'asked for data' : outcome.kind;
    if (!query.isPrivate) this.#remember(query, said.id, ended, served.ok ? served.value : null);
    const { used } = query.budget;
    const limit = served.ok || outcome.kind !== 'failed' ? {} : limitOf(query, served.fault);
    const asks = asksForData ? { asksForData } : {};
    recorder.record(
      null,
      { kind: 'query.ended', outcome: outcome.kind, reason: outcome.reason, used, ...limit, ...asks },
      { causes: [said.id] },
    );
    if (!query.isPrivate) summaries.begin([{ kind: 'system' }, query.heardBy ?? VANILLA]);
    spokes.fill();
    return outcome;
  }

  /** A query of which the journal has these events is gone through again. */
  resumeFrom(events: readonly Event[]): void {
    this.#parts.exchange.resumeFrom(events);
  }

  /** Begins to learn, in the background, from the queries that have ended. */
  learn(): void {
    this.#learning.begin();
  }

  /** When the hub does nothing on its own behalf. Throws what failed. */
  async settled(): Promise<void> {
    await Promise.all([this.#parts.summaries.settled(), this.#learning.settled()]);
  }

  /**
   * The session is left. What the hub does on its own behalf between queries is given up, and done when the session goes on; from
   * one that ends, what the user said last is still learnt, because facts outlive it. `stopped` waits for the end of both.
   */
  stop(how: 'end' | 'suspend'): { readonly stopped: () => Promise<void> } {
    this.#parts.summaries.stop();
    if (how === 'suspend') this.#learning.stop();
    else this.#learning.begin();
    return { stopped: () => this.settled() };
  }

  /**
   * The user's words, who heard them, the facts that they state, and the turn. All or nothing: a query is gone through again
   * after its hub was killed as if nothing of it were known, or is over and all of it is.
   */
  #remember(query: Query, said: EventId, ended: EarlierOutcome, delivered: Delivered | null): void {
    const { memory } = this.#parts;
    const owner = query.heardBy ?? VANILLA;
    const app = appOf(owner);
    const { text, past, stated } = query;
    const keepFacts = this.#learning.byPatterns({ text, said, owner, past });
    const keepTyped = this.#learning.byForms(stated, said, past);
    memory.together(() => {
      memory.rememberQuery(query.text, app, ended, said);
      // A query that can be resumed is planned with what it knew then, and keeps what it observed when it is over.
      const isOver = ended !== 'failed' && ended !== 'cancelled';
      for (const observation of isOver ? query.observed : []) memory.observe(observation);
      keepFacts();
      keepTyped();
      if (delivered === null) return;
      const { turned, source } = delivered;
      const { label, knowsOthersValues } = turned.context;
      const from = { label, holdsOthersValues: knowsOthersValues, source, said };
      memory.rememberTurn(turned.owner, query.text, turned.answer, from);
    });
  }

  /**
   * Whether a query that was answered still waits for data of the user: an app asked for some and did not get them all, or did
   * nothing and answers with a question. Of the app's words the planner is told this one bit.
   */
  #asksForData(query: Query, { owner, answer }: Turned): boolean {
    if (this.#parts.asked.isLacking(query)) return true;
    return appOf(owner) !== null && !query.activity.hasActed && endsWithQuestion(answer);
  }

  async #serve(query: Query, said: EventId): Promise<Result<Delivered, Fault>> {
    const turned =
      this.#parts.isolation === 'none'
        ? await this.#serveShared(query, said)
        : await this.#servePlanned(query, said);
    if (!turned.ok) return turned;
    const { context, answer } = turned.value;
    const text = await this.#deliver(context, query, answer);
    if (text === null) return failed(fault('cancelled', 'the answer was refused'));
    return ok({ text, turned: turned.value, source: context.last });
  }

  async #serveShared(query: Query, said: EventId): Promise<Result<Turned, Fault>> {
    const prepared = await this.#preparation.shared();
    return prepared.ok ? this.#turn(query, said, prepared.value, []) : prepared;
  }

  async #servePlanned(query: Query, said: EventId): Promise<Result<Turned, Fault>> {
    const subject = this.#parts.subject();
    const explicit = this.#planning.explicit(query, subject);
    const speculative =
      explicit === null && this.#parts.speculates ? this.#speculativeTurns.begin(query, said) : null;
    try {
      const planned = explicit === null ? await this.#planning.plan(query, said, subject) : ok(explicit);
      return planned.ok ? await this.#servePlan(query, said, planned.value, speculative) : planned;
    } finally {
      speculative?.drop();
    }
  }

  /**
   * By the plan; and while nothing has been done, by another plan if the user says no to what the first one expected
   * (at most `MOST_REPLANS` times). Where there is no other, what the first came to is the end.
   */
  async #servePlan(
    query: Query,
    said: EventId,
    planned: Planned,
    speculative: SpeculativeTurn | null,
  ): Promise<Result<Turned, Fault>> {
    let turned = await this.#serveBy(query, said, planned, speculative);
    for (let times = 0; times < MOST_REPLANS && this.#wantsAnother(query); times++) {
      const { refusal, activity } = query;
      const another = await this.#planning.replan(query, said, activity.refused);
      if (another === null || query.signal.aborted) break;
      query.startsAnew();
      const again = await this.#serveBy(query, said, another, null);
      if (!again.ok && query.refusal === null) {
        query.startsAnew(refusal);
        break;
      }
      turned = again;
    }
    return (await this.#servedByMore(query, said, turned)) ?? turned;
  }

  /**
   * What an app asked for in vain may be installed, when its turn is over; and unless something was done already, the query
   * is planned and served anew with it. Null: what the turn came to is the end.
   */
  async #servedByMore(
    query: Query,
    said: EventId,
    { ok: isServed }: Result<Turned, Fault>,
  ): Promise<Result<Turned, Fault> | null> {
    const { exchange, installing } = this.#parts;
    const functionality = exchange.missing(query);
    const choices = functionality === null ? [] : installing.serving(functionality);
    if (functionality === null || choices.length === 0 || query.signal.aborted) return null;
    const hasActed = this.#hasActed(query);
    const then = hasActed ? 'It then serves your next query.' : 'Cordon then serves your query again.';
    const why = `Another app, not you, asked for \`${functionality}\`, which no installed app does. Install one? ${then}`;
    const installed = await installing.install(null, query, why, choices);
    if (installed === null || hasActed || query.signal.aborted) return null;
    const planned = await this.#planning.plan(query, said, null);
    if (!planned.ok) return isServed ? null : planned;
    query.startsAnew();
    const again = await this.#serveBy(query, said, planned.value, null);
    return again.ok || !isServed ? again : null;
  }

  /** A no of the user's to what was planned leaves room for another plan; the policy's no, or none at all, does not. */
  #wantsAnother(query: Query): boolean {
    const { refusal, activity, signal } = query;
    const isUsers = refusal?.because === 'permission' && activity.refused.length > 0;
    return isUsers && !this.#hasActed(query) && !signal.aborted;
  }

  /** Whether an app has acted; where the query goes on, whether one had when the same was decided before. */
  #hasActed({ activity }: Query): boolean {
    const { cursor } = this.#parts.recorder;
    const before = cursor?.hadActed ?? null;
    return before === null ? activity.hasActed : before || activity.hasActedSinceResume;
  }

  async #serveBy(
    query: Query,
    said: EventId,
    { plan, origin }: Planned,
    speculative: SpeculativeTurn | null,
  ): Promise<Result<Turned, Fault>> {
    const { recorder, registry } = this.#parts;
    query.adopt(plan, origin);
    const route = routeOf(plan);
    // What is released to the context is part of its first prompt: then another one was asked.
    const isTold = route.kind === 'app' && this.#taskFor(route.app, query, said) !== null;
    if (isTold) speculative?.drop();
    const listening = isTold ? null : ((await speculative?.take(query, route)) ?? null);
    const known = listening?.prepared.context ?? null;
    recorder.record(known, { kind: 'plan.made', plan, origin }, { causes: [said] });
    // A guess sends nobody's words to several apps at once.
    const ahead =
      route.kind === 'coordinator' && !query.isGuessed
        ? stepsAhead(plan, ({ app }) => (app === null ? undefined : registry.get(app)))
        : [];
    const prepared =
      listening === null ? await this.#preparation.for(query, route, ahead) : ok(listening.prepared);
    return prepared.ok ? this.#turn(query, said, prepared.value, ahead, listening) : prepared;
  }

  /** One context's turn, from what it recalls to its answer, with the results of the steps that go ahead of it. */
  async #turn(
    query: Query,
    said: EventId,
    prepared: Prepared,
    ahead: readonly PlanStep[],
    listening: Listening | null = null,
  ): Promise<Result<Turned, Fault>> {
    const { context, owner } = prepared;
    const knowsFacts = this.#parts.isolation !== 'none' && !query.isPrivate;
    const facts = knowsFacts ? await this.#releaseFacts(context, query, owner) : [];
    const data = [...facts, ...(await this.#releaseTask(context, query, said))];
    query.heard(owner);
    const before = query.isPrivate ? [] : await this.#recallElsewhere(context, owner, said);
    const earlier = listening?.earlier ?? this.listen(query, said, prepared);
    const results = ahead.length === 0 ? ok(null) : await this.#steps.run(query, said, ahead);
    if (!results.ok) return results;
    const isInVain = results.value?.every(({ answer }) => answer === null) ?? false;
    if (isInVain && prepared.offers.length === 0) return failed(WITHOUT_RESULT);
    const text = results.value === null ? query.text : this.#hearResults(context, query.text, results.value);
    const history = [...before, ...earlier.messages];
    const start = { text, data, history, task: null, opening: listening?.opening ?? null };
    const answer = await this.#run(query, prepared, start);
    return answer.ok ? ok({ context, owner, answer: answer.value }) : answer;
  }

  /** The query becomes visible in a context, after the earlier turns of its owner. */
  listen(query: Query, said: EventId, { context, owner }: Prepared): RememberedTurns {
    const earlier = query.isPrivate ? NOTHING : this.#parts.memory.turns(owner, said);
    context.recalls(earlier.label, earlier.holdsOthersValues);
    this.#hear(context, query.text, said, earlier);
    return earlier;
  }

  /**
   * The app's earlier sessions become visible again. Their events stand in other journals, where no rule of this session
   * sees them: so it is a release, which the policy decides, with the app as the origin and with the label of all of it.
   */
  async #recallElsewhere(
    context: Context,
    owner: ContextOwner,
    said: EventId,
  ): Promise<RememberedTurns['messages']> {
    const carried = this.#parts.memory.carried(owner, said);
    if (carried === null) return [];
    const { messages, label, holdsOthersValues, turns, sessions } = carried;
    // How much it is, and not what: a session that is deleted leaves no copy in the journal of another.
    const value = `${turns} messages of ${sessions} earlier sessions`;
    const item = { name: 'earlier sessions', value, origin: context.app, label };
    const released = await this.#release(context, [item], null);
    if (released.length === 0) return [];
    context.recalls(label, holdsOthersValues);
    return messages;
  }

  /** What the steps came to becomes visible in the coordinator, in the order of the plan: values and references. */
  #hearResults(context: Context, query: string, results: readonly StepResult[]): string {
    const told = results.map(({ step, from, answer }) => {
      // The plan's own words: a spoke is told the name of no app.
      const name = `- step ${step.id} (${step.task})`;
      if (from === null || answer === null) return `${name}: it failed and has no result`;
      const visible = carriedOver(answer, from, context);
      return `${name}: ${visible === null ? 'its result is too large' : JSON.stringify(visible)}`;
    });
    const text = stepResults(query, told);
    const causes = [context, ...results.flatMap(({ from }) => from ?? [])].flatMap((one) => one.causes);
    this.#recordHeard(context, text, causes, context.label);
    return text;
  }

  /**
   * The facts that the plan wants for this app; the planner knew their names only. What the user told this app before
   * it knows already; for what was told elsewhere the user is asked.
   */
  async #releaseFacts(context: Context, query: Query, owner: ContextOwner): Promise<TurnContext['data']> {
    const { memory } = this.#parts;
    const wanted = new Set(
      query.plan.steps
        .filter((step) => step.app !== null && step.app === context.app)
        .flatMap(({ needs }) => needs),
    );
    const items = (facts: readonly KnownFact[]) =>
      facts
        .filter(({ name }) => wanted.has(name))
        .map(({ name, value, origin }): ReleasedItem => ({ name, value, origin, label: USER_LABEL }));
    const own = items(memory.ownFacts(owner, query.past));
    const known = new Set(own.map(({ name }) => name));
    const others = items(memory.facts(query.past)).filter(({ name }) => !known.has(name));
    // What the user stated counts before what an app's output says under the same name.
    const stated = new Set([...own, ...others].map(({ name }) => name));
    const observed = memory
      .observed(query.past)
      .filter(({ key, name }) => wanted.has(key) && !stated.has(name));
    const itsOwn = observed.filter(({ origin }) => origin === context.app).map(observedItem);
    const foreign = observed.filter(({ origin }) => origin !== context.app).map(observedItem);
    const released = [
      ...(await this.#release(context, own, null)),
      ...(await this.#release(context, others, factsRequirement(context.app, others))),
      ...(await this.#release(context, itsOwn, null)),
      ...(await this.#release(context, foreign, observedRequirement(context.app, foreign))),
    ];
    return released;
  }

  /** What the planner wants of an app in these steps where that tells it what the user said to others; null: it does not. */
  #taskFor(appId: AppId | null, query: Query, said: EventId, steps = query.plan.steps): ReleasedItem | null {
    const { registry, isolation } = this.#parts;
    const app = appId === null ? undefined : registry.get(appId);
    if (app === undefined || isolation === 'none') return null;
    return this.#planning.toldElsewhere(query, said, app, steps);
  }

  async #releaseTask(context: Context, query: Query, said: EventId): Promise<TurnContext['data']> {
    const { app } = context;
    const task = this.#taskFor(app, query, said);
    return app === null || task === null ? [] : this.#release(context, [task], taskRequirement(app, task));
  }

  /** As its own task, which the app of a step beside others is told in the place of the query. Null: the user says no. */
  async #stepTask(context: Context, query: Query, said: EventId, step: PlanStep): Promise<string | null> {
    const { app } = step;
    const item = this.#taskFor(app, query, said, [step]);
    if (app === null || item === null) return step.task;
    const [released] = await this.#release(context, [item], taskRequirement(app, item), app);
    return released?.value ?? null;
  }

  async #release(
    context: Context,
    items: readonly ReleasedItem[],
    requirement: ConsentRequirement | null,
    to = context.app,
  ): Promise<TurnContext['data']> {
    if (items.length === 0) return [];
    const proposal: DataRelease = { effect: 'data-release', context: context.id, to, items };
    const carried = await this.#parts.gate.deliver(context, proposal, {
      causes: [],
      label: labelOfItems(items),
      requirement,
      revise: reviseRelease(proposal),
    });
    // Without the data the app asks the user for what it lacks: the query goes on.
    if (carried.kind !== 'done') return [];
    const { items: released } = carried.value;
    for (const { label, origin } of released) context.sees(label, origin);
    return released.map(({ name, value }) => ({ name, value }));
  }

  /** The user's words become visible in a context, after the earlier turns that it recalls and all that flowed into them. */
  #hear(context: Context, text: string, said: EventId, { label, sources } = NOTHING): void {
    this.#recordHeard(context, text, [said, ...sources], joinLabels(USER_LABEL, label));
  }

  /** Another context's request becomes visible; to rules it is that request, and never a message of the user. */
  #hearTask(context: Context, text: string, cause: EventId, label: Label): void {
    context.sees(label, null);
    this.#recordHeard(context, text, [cause], label);
  }

  #recordHeard(context: Context, text: string, causes: readonly EventId[], label: Label): void {
    this.#parts.recorder.record(context, { kind: 'query.delivered', text }, { causes, label });
  }

  async #run(
    query: Query,
    prepared: Prepared,
    { text, data, history, task, opening }: TurnStart,
  ): Promise<Result<string, Fault>> {
    const { spokes, recorder, models, calls, exchange, asked, maxSteps } = this.#parts;
    const { context, system, tools, offers, knowsCatalogue } = prepared;
    const spoke = await spokes.take();
    if (!spoke.ok) return spoke;
    const start: TurnContext = {
      system,
      history,
      query: text,
      data,
      tools,
      offers,
      functionalities: knowsCatalogue ? this.#parts.functionalities : [],
      serves: task === null ? null : { message: task.message, ...formatsOf(task) },
      maxSteps,
    };
    const turn = new Turn(context, query, start, { models, calls, exchange, asked, opening });
    const onDropped = (reason: string, bytes: number) =>
      void recorder.record(context, { kind: 'message.dropped', reason, bytes });
    const answer = await spoke.value.runTurn(
      start,
      (request, over) => turn.serve(request, over),
      onDropped,
      task === null ? query.signal : AbortSignal.any([query.signal, task.signal]),
    );
    spokes.release(spoke.value);
    recorder.record(context, {
      kind: 'context.ended',
      reason: answer.ok ? 'answered' : answer.fault.message,
    });
    if (!answer.ok && answer.fault.kind === 'budget-exceeded')
      return failed(query.budget.exceeded?.fault ?? query.budget.stepsFault(answer.fault));
    return answer;
  }

  /** Serves another context's request by a context of the app: its own model call, its own history, no other data. */
  async serveTask(query: Query, task: ServingTask): Promise<Result<ServedTask, Fault>> {
    const prepared = await this.#preparation.app(query, task.app.id, [], task.depth, task.cause);
    if (!prepared.ok) return prepared;
    const { context } = prepared.value;
    const { description, response } = task.functionality;
    const text = servingTask(description, JSON.stringify(task.message), JSON.stringify(response));
    for (const origin of task.origins) context.sees(task.label, origin);
    if (task.holdsOthersValues) context.learnsOthersValues();
    this.#hearTask(context, text, task.cause, task.label);
    // Facts are for the user's own words: what another app's context asks is not worth them.
    const isUsers = task.label.integrity === 'trusted' && task.origins.length === 0 && !query.isPrivate;
    const data = isUsers ? await this.#releaseFacts(context, query, prepared.value.owner) : [];
    const start = { text, data, history: [], task, opening: null };
    const answer = await this.#run(query, prepared.value, start);
    return answer.ok ? ok({ text: answer.value, context }) : answer;
  }

  /** The answer reaches the user, with each reference replaced by its text, framed as somebody else's words. */
  async #deliver(context: Context, query: Query, answer: string): Promise<string | null> {
    const resolved = context.references.resolve(answer, framed);
    const text = typeof resolved === 'string' ? resolved : answer;
    const { causes } = context;
    const placed = context.references.namedIn(answer);
    const label = placed.reduce((joined, held) => joinLabels(joined, held.label), context.label);
    const proposal: Answer = { effect: 'answer', context: context.id, text };
    const carried = await this.#parts.gate.deliver(context, proposal, { causes, label, requirement: null });
    if (carried.kind === 'done') return carried.value.text;
    if (carried.kind === 'refused') query.refused(carried.reasons, true);
    return null;
  }
}

const VANILLA: ContextOwner = ownerOf(null);

function observedItem({ name, value, origin, label }: ObservedFact): ReleasedItem {
  return { name, value, origin, label };
}

function labelOfItems(items: readonly ReleasedItem[]): Label {
  return items.reduce((joined: Label, { label }) => joinLabels(joined, label), USER_LABEL);
}

/** What a private query recalls. */
const NOTHING: RememberedTurns = { messages: [], label: HUB_LABEL, sources: [], holdsOthersValues: false };

/** What a turn begins with, besides what its context is made of. */
interface TurnStart {
  /** The query, or the request that is served. */
  readonly text: string;
  readonly data: TurnContext['data'];
  readonly history: TurnContext['history'];
  /** Null: the turn answers the user. */
  readonly task: ServingTask | null;
  /** Null: its model was not asked before. */
  readonly opening: Opening | null;
}

/** A turn that came to its answer, which the user does not have yet. */
interface Turned {
  readonly context: Context;
  readonly owner: ContextOwner;
  readonly answer: string;
}

/** An answer that the user has. */
interface Delivered {
  readonly text: string;
  readonly turned: Turned;
  /** The last event of the context that gave it. */
  readonly source: EventId | null;
}

function formatsOf({ functionality: { request, response } }: ServingTask) {
  return { request, response };
}

function framed(held: HeldText): string {
  return `«${held.text.replaceAll('«', '‹').replaceAll('»', '›')}» (from ${held.functionality})`;
}

/** Of the query, or of the turn that it ended with. */
function limitOf({ budget }: Query, { kind }: Fault): { readonly limit?: QueryLimit } {
  if (budget.exceeded !== null) return { limit: budget.exceeded.limit };
  return kind === 'budget-exceeded' ? { limit: 'steps' } : {};
}

function outcomeOf(query: Query, served: Result<Delivered, Fault>): Outcome {
  const { refusal } = query;
  const over = query.budget.exceeded;
  if (!served.ok && over !== null) {
    const { message, help = null } = over.fault;
    return { kind: 'failed', answer: null, reason: message, help };
  }
  if (served.ok) {
    const { text } = served.value;
    if (refusal === null) return { kind: 'answered', answer: text, reason: null, help: null };
    return { kind: 'refused', answer: text, reason: refusal.message, help: null };
  }
  const { kind, message, help = null } = served.fault;
  if (refusal !== null) return { kind: 'refused', answer: null, reason: refusal.message, help: null };
  if (kind === 'cancelled' && query.signal.aborted)
    return { kind: 'cancelled', answer: null, reason: message, help };
  return { kind: kind === 'cancelled' ? 'refused' : 'failed', answer: null, reason: message, help };
}

/** What a context is told that serves another's request. */
function servingTask(description: string, message: string, response: string): string {
  return `Serve this request: ${description}\nThe request: ${message}\nAnswer with one JSON value of this schema and nothing else: ${response}`;
}
