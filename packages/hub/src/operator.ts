/**
 * The operator: deterministic, and the only code that moves data. It owns the life of a query from the user's words
 * to the answer (docs/architecture.md, "One query"; paper, IV-A4 and IV-B5).
 *
 * Ring 0.
 */
import {
  type AppId,
  type ChoicePrompt,
  type Consent,
  type EventId,
  type Fault,
  failed,
  fault,
  id,
  type Label,
  ok,
  type ReleasedItem,
  type Result,
  type SessionId,
  type StepPlan,
  USER_LABEL,
} from '@cordon/core';
import type { ReferenceMonitor } from '@cordon/monitor';
import type { TurnContext } from '@cordon/protocol';
import type { AppHost } from './app-host.ts';
import { CATALOGUE } from './catalogue.ts';
import type { Context } from './context.ts';
import type { Exchange, ServedTask, ServingTask } from './exchange.ts';
import { factsIn } from './facts.ts';
import type { Gate } from './gate.ts';
import type { ContextOwner, KnownFact, Memory, RememberedTurns } from './memory.ts';
import type { ModelCalls } from './model-calls.ts';
import { factsNeed } from './needs.ts';
import type { PermissionNeed } from './permission.ts';
import { fallbackPlan, PLAN_SCHEMA, type Planned, plannerInput, readPlan } from './planner.ts';
import { type ContextOptions, Preparation, type Prepared } from './preparation.ts';
import { PLANNER_PROMPT, servingTask } from './prompts.ts';
import type { Query } from './query.ts';
import type { Recorder } from './recorder.ts';
import type { HeldText } from './references.ts';
import type { Registry } from './registry.ts';
import { USER_CONTEXT } from './replay.ts';
import { routeOf, withCandidate } from './route.ts';
import type { SpokePool } from './spoke-pool.ts';
import type { ToolCalls } from './tool-calls.ts';
import { Turn } from './turn.ts';

export interface OperatorParts {
  readonly session: SessionId;
  readonly isolation: 'spokes' | 'none';
  readonly registry: Registry;
  readonly apps: AppHost;
  readonly spokes: SpokePool;
  readonly gate: Gate;
  readonly monitor: ReferenceMonitor;
  readonly recorder: Recorder;
  readonly models: ModelCalls;
  readonly calls: ToolCalls;
  readonly exchange: Exchange;
  readonly memory: Memory;
  readonly consent: Consent;
  readonly maxSteps: number;
  readonly newContext: (options: ContextOptions) => Context;
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

  constructor(parts: OperatorParts) {
    this.#parts = parts;
    this.#preparation = new Preparation(parts);
  }

  /** Serves one query. Never throws for what models, apps or users do; each way of failing is an outcome. */
  async ask(query: Query): Promise<Outcome> {
    const { recorder, memory, spokes } = this.#parts;
    spokes.warm();
    const said = recorder.record(null, { kind: 'user.message', text: query.text }, { label: USER_LABEL });
    // Rules see the user's words where a context hears them; here they only begin to flow.
    this.#parts.monitor.record(
      { kind: 'carried', context: USER_CONTEXT },
      { event: said.id, app: null, causes: [] },
    );
    const served = await this.#serve(query, said.id);
    const outcome = outcomeOf(query, served);
    const owner = query.heardBy ?? VANILLA;
    const app = owner.kind === 'spoke' ? owner.app : null;
    memory.rememberQuery(query.text, app, outcome.kind);
    for (const fact of factsIn(query.text)) memory.rememberFact({ ...fact, origin: app }, owner, said.id);
    recorder.record(
      null,
      { kind: 'query.ended', outcome: outcome.kind, reason: outcome.reason },
      { causes: [said.id] },
    );
    spokes.fill();
    return outcome;
  }

  async #serve(query: Query, said: EventId): Promise<Result<string, Fault>> {
    const prepared =
      this.#parts.isolation === 'none'
        ? await this.#preparation.shared()
        : await this.#preparePlanned(query, said);
    if (!prepared.ok) return prepared;
    const { context, owner } = prepared.value;
    const data = this.#parts.isolation === 'none' ? [] : await this.#releaseFacts(context, query, owner);
    query.heard(owner);
    const earlier = this.#parts.memory.turns(owner);
    this.#recall(context, earlier);
    this.#hear(context, query.text, said, earlier.sources);
    const answer = await this.#run(query, prepared.value, query.text, data, earlier.messages, null);
    if (!answer.ok) return answer;
    const delivered = await this.#deliver(context, query, answer.value);
    if (delivered === null) return failed(fault('cancelled', 'the answer was refused'));
    const from = { label: context.label, source: context.lastEvent };
    this.#parts.memory.rememberTurn(owner, query.text, answer.value, from);
    return ok(delivered);
  }

  async #preparePlanned(query: Query, said: EventId): Promise<Result<Prepared, Fault>> {
    const planned = await this.#plan(query, said);
    if (!planned.ok) return planned;
    const { plan, origin } = planned.value;
    const { recorder, monitor } = this.#parts;
    const event = recorder.record(null, { kind: 'plan.made', plan, origin }, { causes: [said] });
    query.adopt(plan, origin);
    const prepared = await this.#preparation.for(query, routeOf(plan));
    if (prepared.ok) {
      const { context } = prepared.value;
      monitor.record(
        { kind: 'plan.made', context: context.id, plan, origin },
        { event: event.id, app: context.app, causes: [] },
      );
    }
    return prepared;
  }

  /** Paper, IV-A4 steps 1 and 2. The planner's context is new each time and holds no app's words. */
  async #plan(query: Query, said: EventId): Promise<Result<Planned, Fault>> {
    const { registry, memory, models } = this.#parts;
    const apps = registry.apps;
    if (apps.length === 0) return ok({ plan: fallbackPlan(query.text, apps), origin: 'planner' });
    const context = this.#parts.newContext({ kind: 'planner', app: null });
    this.#hear(context, query.text, said);
    const facts = [...new Set(memory.facts().map(({ name }) => name))];
    const input = plannerInput(query.text, apps, facts, memory.earlier());
    const answer = await models.complete(context, query, {
      role: 'planner',
      messages: [
        { role: 'system', text: PLANNER_PROMPT },
        { role: 'user', text: JSON.stringify(input) },
      ],
      tools: [],
      answerSchema: PLAN_SCHEMA,
    });
    if (!answer.ok) {
      if (answer.fault.kind === 'fault') return failed(answer.fault.fault);
      query.refused(answer.fault.reasons, true);
      return failed(fault('cancelled', 'the policy forbids planning'));
    }
    const plan = readPlan(answer.value.text, apps, facts);
    if (plan === null) return ok({ plan: fallbackPlan(query.text, apps), origin: 'fallback' });
    this.#foresee(plan);
    if (plan.candidates.length < 2) return ok({ plan, origin: 'planner' });
    const chosen = await this.choose(
      context,
      'Several apps can do this. Which one?',
      plan.candidates,
      query.signal,
    );
    if (chosen === null) return failed(fault('cancelled', 'no app was chosen'));
    return ok({ plan: withCandidate(plan, chosen), origin: 'user' });
  }

  /** Apps that the plan names come up while the user chooses, and beside each other. */
  #foresee({ steps, candidates }: StepPlan): void {
    const { registry, apps } = this.#parts;
    const named = [...steps.flatMap(({ app }) => app ?? []), ...candidates];
    apps.foresee([...new Set(named)].flatMap((app) => registry.get(app) ?? []));
  }

  /** Asks the user to pick an app; no answer is no app. */
  async choose(
    context: Context,
    question: string,
    choices: readonly AppId[],
    signal: AbortSignal,
  ): Promise<AppId | null> {
    const { recorder, consent, session } = this.#parts;
    const asked = recorder.record(context, { kind: 'choice.asked', question, choices });
    const prompt: ChoicePrompt = { id: asked.id, session, question, choices };
    const choice = await chosenBy(consent, prompt, signal);
    const valid = choice !== null && choices.includes(choice) ? choice : null;
    recorder.record(context, { kind: 'choice.answered', choice: valid }, { causes: [asked.id] });
    return valid;
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
    const own = items(memory.ownFacts(owner));
    const known = new Set(own.map(({ name }) => name));
    const others = items(memory.facts()).filter(({ name }) => !known.has(name));
    return [
      ...(await this.#release(context, own, null)),
      ...(await this.#release(context, others, factsNeed(context.app, others))),
    ];
  }

  async #release(
    context: Context,
    items: readonly ReleasedItem[],
    need: PermissionNeed | null,
  ): Promise<TurnContext['data']> {
    if (items.length === 0) return [];
    const carried = await this.#parts.gate.carryOut(
      context,
      { effect: 'data-release', context: context.id, to: context.app, items },
      { causes: [], label: USER_LABEL, need },
      (allowance) => ok(this.#parts.gate.spend(allowance).items),
    );
    // Without the data the app asks the user for what it lacks: the query goes on.
    if (carried.kind !== 'done') return [];
    for (const { label, origin } of carried.value) context.sees(label, origin);
    return carried.value.map(({ name, value }) => ({ name, value }));
  }

  /** The earlier turns become visible again, and with them all that flowed into them. */
  #recall(context: Context, { label, sources }: RememberedTurns): void {
    context.recalls(label);
    if (sources.length === 0) return;
    this.#parts.monitor.record(
      { kind: 'carried', context: context.id, label },
      { event: id(`history of ${context.id}`), app: context.app, causes: sources },
    );
  }

  /** The user's words become visible in a context, after what it recalls. */
  #hear(context: Context, text: string, said: EventId, recalled: readonly EventId[] = []): void {
    const heard = this.#recordHeard(context, text, [said, ...recalled], USER_LABEL);
    this.#parts.monitor.record(
      { kind: 'user.message', context: context.id, text },
      { event: heard, app: context.app, causes: [said] },
    );
  }

  /** Another context's request becomes visible; to rules it is that request, and never a message of the user. */
  #hearTask(context: Context, text: string, cause: EventId, label: Label): void {
    context.sees(label, null);
    const heard = this.#recordHeard(context, text, [cause], label);
    this.#parts.monitor.record(
      { kind: 'carried', context: context.id, label },
      { event: heard, app: context.app, causes: [cause] },
    );
  }

  #recordHeard(context: Context, text: string, causes: readonly EventId[], label: Label): EventId {
    const body = { kind: 'query.delivered', text } as const;
    context.lastEvent = this.#parts.recorder.record(context, body, { causes, label }).id;
    return context.lastEvent;
  }

  async #run(
    query: Query,
    prepared: Prepared,
    text: string,
    data: TurnContext['data'],
    history: TurnContext['history'],
    task: ServingTask | null,
  ): Promise<Result<string, Fault>> {
    const { spokes, recorder, models, calls, exchange, maxSteps } = this.#parts;
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
      functionalities: knowsCatalogue ? CATALOGUE : [],
      serves: task === null ? null : { message: task.message, ...formatsOf(task) },
      maxSteps,
    };
    const turn = new Turn(context, query, start, { models, calls, exchange });
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
    return answer;
  }

  /** Serves another context's request by a context of the app: its own model call, its own history, no other data. */
  async serveTask(query: Query, task: ServingTask): Promise<Result<ServedTask, Fault>> {
    const prepared = await this.#preparation.app(query, task.app.id, [], task.depth);
    if (!prepared.ok) return prepared;
    const { context } = prepared.value;
    const { description, response } = task.functionality;
    const text = servingTask(description, JSON.stringify(task.message), JSON.stringify(response));
    for (const origin of task.origins) context.sees(task.label, origin);
    this.#hearTask(context, text, task.cause, task.label);
    const answer = await this.#run(query, prepared.value, text, [], [], task);
    return answer.ok ? ok({ text: answer.value, context }) : answer;
  }

  /** The answer reaches the user, with each reference replaced by its text, framed as somebody else's words. */
  async #deliver(context: Context, query: Query, answer: string): Promise<string | null> {
    const resolved = context.references.resolve(answer, framed);
    const text = typeof resolved === 'string' ? resolved : answer;
    const { causes } = context;
    const carried = await this.#parts.gate.carryOut(
      context,
      { effect: 'answer', context: context.id, text },
      { causes, label: context.label, need: null },
      (allowance) => ok(this.#parts.gate.spend(allowance).text),
    );
    if (carried.kind === 'done') return carried.value;
    if (carried.kind === 'refused') query.refused(carried.reasons, true);
    return null;
  }
}

const VANILLA: ContextOwner = { kind: 'vanilla' };

function formatsOf({ functionality: { request, response } }: ServingTask) {
  return { request, response };
}

function framed(held: HeldText): string {
  return `«${held.text.replaceAll('«', '‹').replaceAll('»', '›')}» (from ${held.functionality})`;
}

/** A surface that breaks has not chosen. */
async function chosenBy(consent: Consent, prompt: ChoicePrompt, signal: AbortSignal): Promise<AppId | null> {
  try {
    return await consent.choose(prompt, signal);
  } catch {
    return null;
  }
}

function outcomeOf(query: Query, served: Result<string, Fault>): Outcome {
  const refusal = query.refusal;
  if (served.ok) {
    const text = served.value;
    if (refusal === null) return { kind: 'answered', answer: text, reason: null, help: null };
    return { kind: 'refused', answer: text, reason: refusal.message, help: null };
  }
  const { kind, message, help = null } = served.fault;
  if (refusal !== null) return { kind: 'refused', answer: null, reason: refusal.message, help: null };
  if (kind === 'cancelled' && query.signal.aborted)
    return { kind: 'cancelled', answer: null, reason: message, help };
  return { kind: kind === 'cancelled' ? 'refused' : 'failed', answer: null, reason: message, help };
}
