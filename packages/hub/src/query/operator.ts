/**
 * The operator: deterministic, and the only code that moves data. It owns the life of a query from the user's words
 * to the answer (docs/architecture.md, "One query"; paper, IV-A4 and IV-B5).
 */
import {
  type Answer,
  type EarlierOutcome,
  type EventId,
  type Fault,
  failed,
  fault,
  ok,
  type PlanStep,
  type ReleasedItem,
  type Result,
  USER_LABEL,
} from '@cordon/core';
import type { Registry } from '../apps/registry.ts';
import type { Context } from '../context/context.ts';
import { appOf, type ContextOwner, ownerOf } from '../context/owner.ts';
import type { Query } from '../context/query.ts';
import { joinedLabel } from '../context/references.ts';
import type { Exchange } from '../exchange/exchange.ts';
import type { Probes } from '../exchange/probes.ts';
import { recordInput } from '../journal/context-input.ts';
import type { Recorder } from '../journal/recorder.ts';
import type { Gate } from '../mediation/gate.ts';
import type { Learning } from '../memory/learning.ts';
import type { StoredMemory } from '../memory/stored-memory.ts';
import type { Summaries } from '../memory/summaries.ts';
import type { Installing } from '../planning/installing.ts';
import type { Subject } from '../planning/planner.ts';
import { MOST_REPLANS, type Planned, type Planning } from '../planning/planning.ts';
import { routeOf } from '../planning/route.ts';
import type { SpokePool } from '../spokes/spoke-pool.ts';
import { answerText } from './answer-stream.ts';
import { type DataRequests, endsWithQuestion } from './data-requests.ts';
import { limitOf, type Outcome, outcomeOf } from './outcome.ts';
import type { Preparation, Prepared } from './preparation.ts';
import { hearQuery, recallEarlierSessions } from './recall.ts';
import type { Releases } from './releases.ts';
import type { Listening, SpeculativeTurn } from './speculative-turn.ts';
import {
  carriedOver,
  runSteps,
  type StepParts,
  type StepResult,
  stepResults,
  stepsAhead,
  WITHOUT_RESULT,
} from './steps.ts';
import type { Turns } from './turns.ts';
import type { Undoing } from './undoing.ts';

export interface OperatorParts {
  readonly isolation: 'spokes' | 'none';
  /** `provider/model` in use. */
  readonly modelId: () => string;
  readonly registry: Registry;
  readonly spokes: Pick<SpokePool, 'warm' | 'fill'>;
  readonly gate: Gate;
  readonly recorder: Recorder;
  readonly memory: StoredMemory;
  readonly planning: Planning;
  readonly installing: Installing;
  readonly preparation: Preparation;
  readonly releases: Releases;
  readonly steps: StepParts;
  readonly turns: Turns;
  readonly undoing: Undoing;
  readonly probes: Probes;
  readonly exchange: Exchange;
  readonly dataRequests: DataRequests;
  /** Begins a context before there is a plan; null: none. */
  readonly speculate: (query: Query, said: EventId) => SpeculativeTurn | null;
  readonly summaries: Summaries;
  readonly learning: Learning;
  /** What the next query may continue. */
  readonly subject: () => Subject | null;
}

export class Operator {
  readonly #parts: OperatorParts;

  constructor(parts: OperatorParts) {
    this.#parts = parts;
  }

  /** Serves one query. Never throws for what models, apps or users do; each way of failing is an outcome. */
  async ask(query: Query): Promise<Outcome> {
    const { recorder, spokes, summaries, modelId } = this.#parts;
    // What is still being summed up of earlier queries, or learnt from them, belongs to what this one may see.
    await this.settled();
    spokes.warm();
    const body = { kind: 'user.message', text: query.text, model: modelId() } as const;
    const marked = {
      ...body,
      ...(query.isPrivate ? { private: true as const } : {}),
      ...(query.undoes === null ? {} : { undoes: query.undoes }),
    };
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
    const { kind, reason } = outcome;
    const end = { kind: 'query.ended', outcome: kind, reason, used, ...limit, ...asks } as const;
    recorder.record(null, end, { causes: [said.id] });
    if (!query.isPrivate) summaries.begin([{ kind: 'system' }, query.heardBy ?? VANILLA]);
    spokes.fill();
    return outcome;
  }

  /** Begins to learn, in the background, from the queries that have ended. */
  learn(): void {
    this.#parts.learning.begin();
  }

  /** When the hub does nothing on its own behalf. Throws what failed. */
  async settled(): Promise<void> {
    const { summaries, learning } = this.#parts;
    await Promise.all([summaries.background.settled(), learning.background.settled()]);
  }

  /**
   * The session is left. What the hub does on its own behalf between queries is given up, and done when the session resumes; from
   * one that ends, what the user said last is still learnt, because facts outlive it. `settled` waits for the end of both.
   */
  stop(how: 'end' | 'suspend'): void {
    const { summaries, learning } = this.#parts;
    summaries.background.stop();
    if (how === 'suspend') learning.background.stop();
    else learning.begin();
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
    const { learning } = this.#parts;
    const keepFacts = query.undoes === null ? learning.byPatterns({ text, said, owner, past }) : null;
    const keepTyped = learning.byForms(stated, said, past);
    memory.together(() => {
      memory.rememberQuery(query.text, app, ended, said);
      // A query that can be resumed is planned with what it knew then, and keeps what it observed when it is over.
      const isOver = ended !== 'failed' && ended !== 'cancelled';
      for (const observation of isOver ? query.observed : []) memory.observe(observation);
      keepFacts?.();
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
   * nothing and answers with a question. The planner learns this one bit, and none of the app's words.
   */
  #asksForData(query: Query, { owner, answer }: Turned): boolean {
    if (this.#parts.dataRequests.isLacking(query)) return true;
    return appOf(owner) !== null && !query.activity.hasActed && endsWithQuestion(answer);
  }

  async #serve(query: Query, said: EventId): Promise<Result<Delivered, Fault>> {
    const turned = await this.#turned(query, said);
    if (!turned.ok) return turned;
    const { context, answer } = turned.value;
    const text = await this.#deliver(context, query, answer);
    if (text === null) return failed(fault('cancelled', 'the answer was refused'));
    return ok({ text, turned: turned.value, source: context.last });
  }

  #turned(query: Query, said: EventId): Promise<Result<Turned, Fault>> {
    if (query.undoes !== null) return this.#parts.undoing.run(query, said, query.undoes);
    return this.#parts.isolation === 'none'
      ? this.#serveShared(query, said)
      : this.#servePlanned(query, said);
  }

  async #serveShared(query: Query, said: EventId): Promise<Result<Turned, Fault>> {
    const prepared = await this.#parts.preparation.shared();
    return prepared.ok ? this.#turn(query, said, { ...BEGINNING, prepared: prepared.value }) : prepared;
  }

  async #servePlanned(query: Query, said: EventId): Promise<Result<Turned, Fault>> {
    const subject = this.#parts.subject();
    const explicit = this.#parts.planning.explicit(query, subject);
    const speculative = explicit === null ? this.#parts.speculate(query, said) : null;
    try {
      const planned =
        explicit === null ? await this.#parts.planning.plan(query, said, subject) : ok(explicit);
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
      const another = await this.#parts.planning.replan(query, said, activity.refused);
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
    const { probes, installing } = this.#parts;
    const functionality = probes.missing(query);
    const choices = functionality === null ? [] : installing.serving(functionality);
    if (functionality === null || choices.length === 0 || query.signal.aborted) return null;
    const hasActed = this.#hasActed(query);
    const then = hasActed ? 'It then serves your next query.' : 'Cordon then serves your query again.';
    const why = `Another app, not you, asked for \`${functionality}\`, which no installed app does. Install one? ${then}`;
    const installed = await installing.install(null, query, why, choices);
    if (installed === null || hasActed || query.signal.aborted) return null;
    const planned = await this.#parts.planning.plan(query, said, null);
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

  /** Whether an app has acted; where the query resumes, whether one had when the same was decided before. */
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
    const task = route.kind === 'app' ? this.#parts.releases.taskFor(route.app, query, said) : null;
    // What is released to the context is part of its first prompt: then another one was asked.
    if (task !== null) speculative?.drop();
    const listening = task === null ? ((await speculative?.take(query, route)) ?? null) : null;
    const known = listening?.prepared.context ?? null;
    recorder.record(known, { kind: 'plan.made', plan, origin }, { causes: [said] });
    // A guess does not send the user's words to several apps at once.
    const ahead =
      route.kind === 'coordinator' && !query.isGuessed
        ? stepsAhead(plan, ({ app }) => (app === null ? undefined : registry.get(app)))
        : [];
    const prepared =
      listening === null ? await this.#parts.preparation.for(query, route, ahead) : ok(listening.prepared);
    return prepared.ok
      ? this.#turn(query, said, { prepared: prepared.value, task, ahead, listening })
      : prepared;
  }

  /** One context's turn, from what it recalls to its answer, with the results of the steps that go ahead of it. */
  async #turn(
    query: Query,
    said: EventId,
    { prepared, task, ahead, listening }: Beginning,
  ): Promise<Result<Turned, Fault>> {
    const { isolation, releases, steps, turns, exchange } = this.#parts;
    const { context, owner } = prepared;
    const knowsFacts = isolation !== 'none' && !query.isPrivate;
    const facts = knowsFacts ? await releases.facts(context, query, owner) : [];
    const data = [...facts, ...(await releases.task(context, task))];
    query.heard(owner);
    const before = await recallEarlierSessions(this.#parts, query, said, prepared);
    const earlier = listening?.earlier ?? hearQuery(this.#parts, query, said, prepared);
    const results = ahead.length === 0 ? ok(null) : await runSteps(steps, query, said, ahead);
    if (!results.ok) return results;
    const isInVain = results.value?.every(({ answer }) => answer === null) ?? false;
    if (isInVain && prepared.offers.length === 0) return failed(WITHOUT_RESULT);
    const text = results.value === null ? query.text : this.#hearResults(context, query.text, results.value);
    const history = [...before, ...earlier.messages];
    const start = { text, data, history, task: null, opening: listening?.opening ?? null };
    const answer = await turns.run(query, prepared, start, exchange);
    return answer.ok ? ok({ context, owner, answer: answer.value }) : answer;
  }

  /** What the steps came to becomes visible in the coordinator, in the order of the plan: values and references. */
  #hearResults(context: Context, query: string, results: readonly StepResult[]): string {
    const told = results.map(({ step, from, answer }) => {
      // The plan's own words: a spoke learns the name of no app.
      const name = `- step ${step.id} (${step.task})`;
      if (from === null || answer === null) return `${name}: it failed and has no result`;
      const visible = carriedOver(answer, from, context);
      return `${name}: ${visible === null ? 'its result is too large' : JSON.stringify(visible)}`;
    });
    const text = stepResults(query, told);
    const causes = [context, ...results.flatMap(({ from }) => from ?? [])].flatMap((one) => one.causes);
    recordInput(this.#parts.recorder, context, text, { causes, label: context.label });
    return text;
  }

  /** The answer reaches the user, with each reference replaced by its text, framed as somebody else's words. */
  async #deliver(context: Context, query: Query, answer: string): Promise<string | null> {
    const text = answerText(context, answer);
    const { causes } = context;
    const label = joinedLabel(context.label, context.references.namedIn(answer));
    const proposal: Answer = { effect: 'answer', context: context.id, text };
    const carried = await this.#parts.gate.deliver(context, proposal, { causes, label, requirement: null });
    if (carried.kind === 'done') return carried.value.text;
    if (carried.kind === 'refused') query.refused(carried.reasons, true);
    return null;
  }
}

const VANILLA: ContextOwner = ownerOf(null);

/** What a context's turn begins with. */
interface Beginning {
  readonly prepared: Prepared;
  /** What its app is told by the planner's task; null: nothing. */
  readonly task: ReleasedItem | null;
  /** The steps that go ahead of it. */
  readonly ahead: readonly PlanStep[];
  /** What was begun before the plan; null: nothing. */
  readonly listening: Listening | null;
}

const BEGINNING = { task: null, ahead: [], listening: null } as const;

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
