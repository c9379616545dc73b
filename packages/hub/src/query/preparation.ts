/**
 * What a context starts with: its instructions, its own tools, and what the plan lets it use of others. Decides who
 * may see which words: an app's instructions and tool descriptions stand in that app's context and in no other.
 */
import {
  AGENT_TOOLS,
  type AppId,
  canonicalJsonOf,
  type EventId,
  type Fault,
  type Functionality,
  failed,
  type InstalledApp,
  type ModelTool,
  ok,
  type PlanStep,
  type Result,
} from '@cordon/core';
import type { Offer } from '@cordon/protocol';
import type { AppHost } from '../apps/app-host.ts';
import { maySpeculateFor, plainSchema, type Registry, servedBy, usesOf } from '../apps/registry.ts';
import type { RunningApp } from '../context/app-tool.ts';
import type { Context, ContextOptions, OwnTool } from '../context/context.ts';
import { type ContextOwner, ownerOf } from '../context/owner.ts';
import type { Query } from '../context/query.ts';
import type { Offers } from '../exchange/offers.ts';
import type { Route } from '../planning/route.ts';

/** States what the surroundings are; no security rests on a model heeding it. */
const AGENT_PROMPT = `You are an assistant that serves one query with the tools you are given. Use them, then answer the user in plain words.
A call may be refused; do not try to get around that: go on without it, and say so in your answer. If you lack data that a tool needs, ask for it with \`need\` where you have that tool; else ask the user in your answer.`;

const COORDINATOR_PROMPT = `${AGENT_PROMPT}
You coordinate: your tools are served by others who do not know of each other. Call those that the query needs, compare their results, and act on them.`;

/** A context that is ready for its turn. */
export interface Prepared {
  readonly context: Context;
  readonly owner: ContextOwner;
  readonly system: string;
  readonly tools: readonly ModelTool[];
  readonly offers: readonly Offer[];
}

export interface PreparationParts {
  readonly registry: Registry;
  readonly apps: AppHost;
  readonly offers: Offers;
  readonly newContext: (options: ContextOptions, cause?: EventId) => Context;
}

/** By how many exchanges a context was reached, and the event that it is made for. */
interface Reached {
  readonly depth: number;
  readonly cause?: EventId;
}

/** What one app is to offer to a context. */
interface Offering {
  readonly context: Context;
  /** The steps of the plan that count. */
  readonly steps: readonly PlanStep[];
  readonly app: AppId;
  /** Names that the context has already; those that are given are added. */
  readonly taken: Set<string>;
  readonly describe: (functionality: Functionality) => string;
  /** Undefined: it is started where that is needed. */
  readonly running?: Result<RunningApp, Fault> | undefined;
}

export class Preparation {
  readonly #parts: PreparationParts;

  constructor(parts: PreparationParts) {
    this.#parts = parts;
  }

  /** Who serves the query by its plan. A coordinator is not offered the steps that go `ahead` of it. */
  for(query: Query, route: Route, ahead: readonly PlanStep[] = []): Promise<Result<Prepared, Fault>> {
    switch (route.kind) {
      case 'vanilla':
        return Promise.resolve(ok(this.vanilla()));
      case 'app':
        return this.app(query, route.app, route.helpers);
      case 'coordinator':
        return this.#coordinator(query, route.apps, ahead);
      default:
        route satisfies never;
        return Promise.resolve(ok(this.vanilla()));
    }
  }

  /** Nobody's context. `cause`: the query that it was made for before there was a plan. */
  vanilla(cause?: EventId): Prepared {
    const context = this.#parts.newContext({ kind: 'vanilla', app: null }, cause);
    return { context, owner: ownerOf(null), system: AGENT_PROMPT, tools: [], offers: [] };
  }

  /** The app's own context. */
  async app(
    query: Query,
    appId: AppId,
    helpers: readonly AppId[],
    reached: Reached = { depth: 0 },
  ): Promise<Result<Prepared, Fault>> {
    const app = this.#parts.registry.installed(appId);
    if (!app.ok) return app;
    const running = await this.#start(app.value);
    if (!running.ok) return running;
    return this.#withHelpers(query, this.#own(app.value, running.value, reached), helpers);
  }

  /**
   * An app's context before a plan has named the app: it is not used yet, and nothing is offered to it. Null: it cannot be
   * had so, or nobody wants it any more. Attack: while a query was interrupted the app was given a separate model, or put
   * elsewhere; the journal does not know that.
   */
  async speculative(
    appId: AppId,
    cause: EventId,
    isCertain: boolean,
    dropped: AbortSignal,
  ): Promise<Prepared | null> {
    const { registry, apps } = this.#parts;
    const app = registry.get(appId);
    if (app === undefined || !maySpeculateFor(app)) return null;
    const running =
      app.source.kind === 'instructions' ? await this.#start(app) : ok(await apps.peek(app, isCertain));
    if (!running.ok || running.value === null || dropped.aborted) return null;
    return this.#own(app, running.value, { depth: 0, cause });
  }

  /** The plan needs a speculative context: its app is used from now on. Null: the app differs from what the context was made for. */
  async adopt(query: Query, prepared: Prepared, helpers: readonly AppId[]): Promise<Prepared | null> {
    const { context } = prepared;
    const app = context.app === null ? undefined : this.#parts.registry.get(context.app);
    if (app === undefined) return prepared;
    const running = await this.#start(app);
    if (!running.ok) return null;
    const { system } = describedBy(running.value);
    // The tools as a whole: whether a call can be undone is told by what the model does not see.
    const tools = ownTools(running.value);
    const now = canonicalJsonOf({ system, tools: [...tools.values()] });
    if (now !== canonicalJsonOf({ system: prepared.system, tools: [...context.tools.values()] })) return null;
    const adopted = await this.#withHelpers(query, prepared, helpers);
    return adopted.ok ? adopted.value : null;
  }

  #own(app: InstalledApp, running: RunningApp, { depth, cause }: Reached): Prepared {
    const options = { kind: 'standard', app: app.id, depth, tools: ownTools(running) } as const;
    const context = this.#parts.newContext(options, cause);
    return { context, owner: ownerOf(app.id), ...describedBy(running), offers: [] };
  }

  async #withHelpers(
    query: Query,
    prepared: Prepared,
    helpers: readonly AppId[],
  ): Promise<Result<Prepared, Fault>> {
    const { context } = prepared;
    const taken = new Set([...context.tools.keys(), ...Object.values(AGENT_TOOLS)]);
    const offers: Offer[] = [];
    const describe = ({ description }: Functionality) => description;
    for (const helper of helpers) {
      const { steps } = query.plan;
      const offered = await this.#offersOf({ context, steps, app: helper, taken, describe });
      if (!offered.ok) return offered;
      offers.push(...offered.value);
    }
    return ok({ ...prepared, offers });
  }

  async #coordinator(
    query: Query,
    planned: readonly AppId[],
    ahead: readonly PlanStep[],
  ): Promise<Result<Prepared, Fault>> {
    const left = query.plan.steps.filter((step) => !ahead.includes(step));
    const apps = planned.filter((app) => left.some((step) => step.app === app));
    const context = this.#parts.newContext({ kind: 'coordinator', app: null });
    const taken = new Set<string>(Object.values(AGENT_TOOLS));
    // All at once: none waits for another's process.
    const started = new Map(
      await Promise.all(
        apps.map(async (id) => {
          const app = this.#parts.registry.installed(id);
          return [id, app.ok ? await this.#start(app.value) : app] as const;
        }),
      ),
    );
    const offers: Offer[] = [];
    let failure: Fault | null = null;
    for (const app of apps) {
      // The plan's own words: the coordinator must tell the peers apart, and the planner has read no app's text.
      const tasks = left.filter((step) => step.app === app).map(({ id, task }) => `step ${id}: ${task}`);
      const describe = ({ description }: Functionality) => `${description} (${tasks.join('; ')})`;
      const running = started.get(app);
      const offered = await this.#offersOf({ context, steps: left, app, taken, describe, running });
      if (offered.ok) offers.push(...offered.value);
      // An app that only the hub's guess brought in may be missing; one that was planned may not.
      else if (query.isGuessed) failure ??= offered.fault;
      else return offered;
    }
    if (failure !== null && offers.length === 0) return failed(failure);
    return ok({ context, owner: ownerOf(null), system: COORDINATOR_PROMPT, tools: [], offers });
  }

  /** Today's assistants: one context, all instructions, all tools (VanillaGPT in the paper). */
  async shared(): Promise<Result<Prepared, Fault>> {
    const started = await Promise.all(
      this.#parts.registry.apps.map(async (app) => ({ app, running: await this.#start(app) })),
    );
    const own = new Map<string, OwnTool>();
    const instructions: string[] = [];
    for (const { app, running } of started) {
      if (!running.ok) return running;
      for (const tool of running.value.tools) {
        own.set(own.has(tool.name) ? `${app.id}__${tool.name}` : tool.name, { app: app.id, tool });
      }
      instructions.push(running.value.instructions);
    }
    const context = this.#parts.newContext({ kind: 'shared', app: null, tools: own });
    const system = withInstructions(AGENT_PROMPT, instructions.filter((text) => text !== '').join('\n\n'));
    return ok({ context, owner: { kind: 'shared' }, system, tools: modelTools(own), offers: [] });
  }

  /** What the plan lets a context use of another app, under names that nothing else has there. */
  async #offersOf(offering: Offering): Promise<Result<readonly Offer[], Fault>> {
    const { context, steps, app: appId, taken, describe } = offering;
    const installed = this.#parts.registry.installed(appId);
    if (!installed.ok) return installed;
    const app = installed.value;
    const running =
      app.manifest.functionalities.length > 0 ? null : (offering.running ?? (await this.#start(app)));
    if (running !== null && !running.ok) return running;
    const served = servedBy(app, running?.value.tools ?? []);
    const named = new Set(steps.filter((step) => step.app === appId).flatMap(({ uses }) => uses));
    const isPlanned = ({ name, tool }: Functionality) =>
      named.size === 0 ||
      named.has(name) ||
      (tool !== null && usesOf(app.manifest, tool).some((use) => named.has(use)));
    const offers = served.filter(isPlanned).map((functionality): Offer => {
      const name = freeName(functionality.name, taken);
      const peer = this.#parts.offers.offer(context, appId, functionality);
      return {
        name,
        description: describe(functionality),
        peer,
        request: plainSchema(functionality.request),
        response: plainSchema(functionality.response),
      };
    });
    return ok(offers);
  }

  #start(app: InstalledApp): Promise<Result<RunningApp, Fault>> {
    if (app.source.kind !== 'instructions') return this.#parts.apps.start(app);
    const { instructions } = app.source;
    return Promise.resolve(ok({ id: app.id, tools: [], instructions, layers: [], milliseconds: 0 }));
  }
}

/** Of several with one name the last. */
function ownTools({ id: app, tools }: RunningApp): ReadonlyMap<string, OwnTool> {
  return new Map(tools.map((tool) => [tool.name, { app, tool }]));
}

/** The prompt and tools of an app's own context: the app's own words, which reach no other. */
function describedBy(running: RunningApp): Pick<Prepared, 'system' | 'tools'> {
  const system = withInstructions(AGENT_PROMPT, running.instructions);
  return { system, tools: modelTools(ownTools(running)) };
}

function modelTools(own: ReadonlyMap<string, OwnTool>): readonly ModelTool[] {
  return [...own].map(([name, { tool }]) => ({
    name,
    description: tool.description,
    parameters: tool.input,
  }));
}

function freeName(wanted: string, taken: Set<string>): string {
  let name = wanted;
  for (let number = 2; taken.has(name); number++) name = `${wanted}-${number}`;
  taken.add(name);
  return name;
}

/** The app's own words, apart from the hub's; they can steer this context and no other. */
function withInstructions(prompt: string, instructions: string): string {
  return instructions === ''
    ? prompt
    : `${prompt}\n\nInstructions of the app that you work for:\n${instructions}`;
}
