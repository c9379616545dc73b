/**
 * What a context gets besides the query: facts that the user stated or apps observed, and the planner's task where it repeats
 * what the user told other apps. Each is a release, which the policy decides and the user is asked about where it is due.
 */
import {
  type AppId,
  type DataRelease,
  type EventId,
  type PlanStep,
  type ReleasedItem,
  USER_LABEL,
} from '@cordon/core';
import type { TurnContext } from '@cordon/protocol';
import type { Registry } from '../apps/registry.ts';
import type { ConsentRequirement } from '../consent/consent-requirement.ts';
import { factsRequirement, taskRequirement } from '../consent/release-requirements.ts';
import { reviseRelease } from '../consent/revision.ts';
import type { Context } from '../context/context.ts';
import type { ContextOwner } from '../context/owner.ts';
import type { Query } from '../context/query.ts';
import type { KnownFact, ObservedFact } from '../context/query-facts.ts';
import { joinedLabel } from '../context/references.ts';
import type { Gate } from '../mediation/gate.ts';
import { observedRequirement } from '../memory/observed-facts.ts';
import type { StoredMemory } from '../memory/stored-memory.ts';
import { toldElsewhere } from '../planning/planned-task.ts';

export interface ReleasesParts {
  readonly gate: Gate;
  readonly registry: Registry;
  readonly memory: StoredMemory;
  readonly isolation: 'spokes' | 'none';
}

export class Releases {
  readonly #parts: ReleasesParts;

  constructor(parts: ReleasesParts) {
    this.#parts = parts;
  }

  /**
   * The facts that the plan wants for this app; the planner knew their names only. What the user told this app before
   * it knows already; for what was told elsewhere the user is asked.
   */
  async facts(context: Context, query: Query, owner: ContextOwner): Promise<TurnContext['data']> {
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
    const own = items(memory.facts(query.past, owner));
    const known = new Set(own.map(({ name }) => name));
    const others = items(memory.facts(query.past)).filter(({ name }) => !known.has(name));
    // What the user stated counts before what an app's output says under the same name.
    const stated = new Set([...own, ...others].map(({ name }) => name));
    const observed = memory
      .observed(query.past)
      .filter(({ key, name }) => wanted.has(key) && !stated.has(name));
    const itsOwn = observed.filter(({ origin }) => origin === context.app).map(observedItem);
    const foreign = observed.filter(({ origin }) => origin !== context.app).map(observedItem);
    return [
      ...(await this.release(context, own, null)),
      ...(await this.release(context, others, factsRequirement(context.app, others))),
      ...(await this.release(context, itsOwn, null)),
      ...(await this.release(context, foreign, observedRequirement(context.app, foreign))),
    ];
  }

  /** What the planner wants of an app in these steps, where that tells the app what the user said to others; null: it does not. */
  taskFor(
    appId: AppId | null,
    query: Query,
    said: EventId,
    steps: readonly PlanStep[] = query.plan.steps,
  ): ReleasedItem | null {
    const { registry, isolation, memory } = this.#parts;
    const app = appId === null ? undefined : registry.get(appId);
    if (app === undefined || isolation === 'none' || query.isPrivate) return null;
    const heard = { query: query.text, earlier: memory.earlier(said), summary: memory.earlierSummary(said) };
    return toldElsewhere(steps, app, heard);
  }

  /** `task`: what `taskFor` gave for the app of this context. */
  async task(context: Context, task: ReleasedItem | null): Promise<TurnContext['data']> {
    const { app } = context;
    return app === null || task === null ? [] : this.release(context, [task], taskRequirement(app, task));
  }

  /** The task of a step, which its app gets instead of the query. Null: the user says no. */
  async stepTask(context: Context, query: Query, said: EventId, step: PlanStep): Promise<string | null> {
    const { app } = step;
    const item = this.taskFor(app, query, said, [step]);
    if (app === null || item === null) return step.task;
    const [released] = await this.release(context, [item], taskRequirement(app, item), app);
    return released?.value ?? null;
  }

  /** What of the items was released. Without the others the app asks the user for what it lacks: the query continues. */
  async release(
    context: Context,
    items: readonly ReleasedItem[],
    requirement: ConsentRequirement | null,
    to = context.app,
  ): Promise<TurnContext['data']> {
    if (items.length === 0) return [];
    const proposal: DataRelease = { effect: 'data-release', context: context.id, to, items };
    const carried = await this.#parts.gate.deliver(context, proposal, {
      causes: [],
      label: joinedLabel(USER_LABEL, items),
      requirement,
      revise: reviseRelease(proposal),
    });
    if (carried.kind !== 'done') return [];
    const { items: released } = carried.value;
    for (const { label, origin } of released) context.sees(label, origin);
    return released.map(({ name, value }) => ({ name, value }));
  }
}

function observedItem({ name, value, origin, label }: ObservedFact): ReleasedItem {
  return { name, value, origin, label };
}
