/**
 * How a query gets its plan: stated by the query itself, made by the planner's model from a shortlist of the installed
 * apps, chosen by the user among several apps, and made anew when the user says no (paper, IV-A2 and IV-A4).
 *
 * The planner's context is new for each question and holds no app's words. The tools of apps that are planned by their tools
 * are named afterwards, in contexts of their own (`tool-planning`).
 *
 * The planner is ring 1, and a plan is a claim however it came about.
 */
import {
  type AppId,
  type EventId,
  type Fault,
  failed,
  fault,
  type InstalledApp,
  isPlannedByTools,
  ok,
  type PlanOrigin,
  type PlanStep,
  primaryApps,
  type Result,
  type StepPlan,
} from '@cordon/core';
import type { AppHost } from '../apps/app-host.ts';
import type { Registry } from '../apps/registry.ts';
import { type AppChoiceRequest, type AppChoices, WHOLE_QUERY } from '../consent/app-choice.ts';
import type { Context, ContextOptions } from '../context/context.ts';
import type { Query } from '../context/query.ts';
import type { Refused } from '../context/query-activity.ts';
import { recordUserInput } from '../journal/context-input.ts';
import type { Recorder } from '../journal/recorder.ts';
import type { ModelCalls } from '../mediation/model-calls.ts';
import type { StoredMemory } from '../memory/stored-memory.ts';
import type { Installing } from './installing.ts';
import type { Guess, Planner, Subject } from './planner.ts';
import { type Declined, type PlanningTask, plannerInput, readPlan, shownCharacters } from './read-plan.ts';
import { withCandidate } from './route.ts';
import type { NamedAhead, ToolPlanning } from './tool-planning.ts';

export interface PlanningParts {
  readonly planner: Planner;
  readonly registry: Registry;
  readonly apps: AppHost;
  readonly models: ModelCalls;
  readonly memory: StoredMemory;
  readonly newContext: (options: ContextOptions) => Context;
  readonly recorder: Recorder;
  readonly choices: Pick<AppChoices, 'choose'>;
  readonly installing: Installing;
  readonly tools: ToolPlanning;
  /** Whether work may begin that the plan may not need. */
  readonly speculates: boolean;
}

/**
 * So many apps are shown to the planner at first, and so many when it says that one which the query needs is not among
 * them: those of before too, because a query may need one of each. What nobody was asked about in the end is left to the
 * hub's own index, which looks at all of them.
 */
const SHORTLISTS = [12, 60, 360];
/** To ask twice costs more than to say a little more: small descriptions are shown as long as they come to less than this. */
const SHORT_CHARACTERS = 3_000;

/** Of the apps that are not installed: they stand there in case that no installed one serves, and are read each time. */
const MOST_INSTALLABLE = 6;

/** How often another plan is made for one query after the user has said no. */
export const MOST_REPLANS = 2;

const NO_APP: Fault = fault('cancelled', 'no app was chosen');

/** A plan, and how it came about. */
export interface Planned {
  readonly plan: StepPlan;
  readonly origin: PlanOrigin;
}

/** The planner's answer, and the context that it came from. */
interface Proposed extends Planned {
  readonly context: Context;
}

export class Planning {
  readonly #parts: PlanningParts;

  constructor(parts: PlanningParts) {
    this.#parts = parts;
  }

  /** The plan that needs nobody to plan; null: somebody has to. */
  explicit(query: Query, subject: Subject | null): Planned | null {
    const { registry, installing, memory, planner } = this.#parts;
    const { apps } = registry;
    if (apps.length === 0)
      return installing.isEmpty ? { plan: planFor([], query.text), origin: 'planner' } : null;
    const knowsFacts = !query.isPrivate && memory.facts(query.past).length > 0;
    const current = query.isPrivate ? null : subject;
    const explicit = planner.explicit(query.text, { apps, subject: current, knowsFacts });
    if (explicit === null || registry.get(explicit.app) === undefined) return null;
    const plan = planFor([explicit.app], query.text.trim().normalize('NFC'), explicit.needs);
    this.#startAhead(plan);
    return { plan, origin: explicit.origin };
  }

  /** Who will most likely serve the query; null: it cannot be told. `Preparation.speculative` checks the app. */
  likely({ text }: Query): Guess | null {
    const { planner, registry } = this.#parts;
    return planner.likely(text, registry.apps);
  }

  /** The first plan of the planner's, or of the user's choice among what it proposes. */
  async plan(query: Query, said: EventId, subject: Subject | null): Promise<Result<Planned, Fault>> {
    const ahead = this.#parts.speculates ? this.#namedAhead(query, said) : null;
    try {
      const proposed = await this.#propose(query, said, query.isPrivate ? null : subject, []);
      return proposed.ok ? await this.#withTools(query, proposed.value, ahead) : proposed;
    } finally {
      ahead?.drop();
    }
  }

  /** The tools of the app that the query most likely leads to, or of the only one. */
  #namedAhead(query: Query, said: EventId): NamedAhead | null {
    const { registry, tools } = this.#parts;
    const [first, ...others] = registry.apps;
    const likely = this.likely(query)?.app ?? (others.length === 0 ? first?.id : undefined);
    const app = likely === undefined ? undefined : registry.get(likely);
    return app !== undefined && isPlannedByTools(app) ? tools.ahead(query, said, app) : null;
  }

  /** Another plan, without what the user has said no to; null: there is none that makes sense. */
  async replan(query: Query, said: EventId, refused: readonly Refused[]): Promise<Planned | null> {
    const declined = refused.flatMap((one) => declinedUses(one, this.#parts.registry.get(one.app)));
    // With nothing but the apps that were declined there is no other way, and nobody needs to be asked for one.
    const isDeclined = ({ id }: InstalledApp) => declined.some(({ app }) => app === id);
    if (this.#parts.registry.apps.every(isDeclined)) return null;
    const proposed = await this.#ask(query, said, null, declined, []);
    if (!proposed.ok || proposed.value.origin === 'fallback') return null;
    // An answer without any app is none to what the user wanted of one: the no stands.
    if (proposed.value.plan.steps.every(({ app }) => app === null)) return null;
    this.#startAhead(proposed.value.plan);
    const named = await this.#withTools(query, proposed.value, null);
    return named.ok ? named.value : null;
  }

  /**
   * The planner proposes; an app that is not installed, and several that could serve, are the user's choice. Who wants none
   * of several is asked about others; who wants nothing installed gets a plan of what there is.
   */
  async #propose(
    query: Query,
    said: EventId,
    subject: Subject | null,
    before: readonly Declined[],
  ): Promise<Result<Proposed, Fault>> {
    const { installing } = this.#parts;
    let declined = before;
    for (let attempt = 0; attempt <= MOST_REPLANS; ) {
      if (attempt > 0 && this.#without(declined).length === 0) break;
      const offered = attempt === 0 ? this.#fittest(query, installing.offered(query)) : [];
      const proposed = await this.#ask(query, said, subject, declined, offered);
      if (!proposed.ok) return attempt === 0 ? proposed : failed(NO_APP);
      const { plan, origin, context } = proposed.value;
      const missing = this.#missing(plan);
      if (missing !== null && !(await this.#install(context, query, missing))) {
        if (query.signal.aborted) break;
        // Nothing is offered any more, so this is done once.
        continue;
      }
      if (missing !== null && this.#missing(plan) !== null) continue;
      const choices = choicesOf(plan, attempt > 0);
      // After a no, an app that the user was not asked about is not what the user has agreed to.
      if (attempt > 0 && (origin === 'fallback' || choices.length === 0)) break;
      this.#startAhead(plan);
      if (choices.length === 0) return ok({ plan, origin, context });
      const request = this.#choiceRequest(plan, choices);
      const chosen = await this.#parts.choices.choose(context, request, query.signal);
      if (chosen !== null) return ok({ plan: withCandidate(plan, chosen), origin: 'user', context });
      if (query.signal.aborted) break;
      const isWholeApp = true;
      declined = [...declined, ...choices.map((app) => ({ app, what: 'serving the query', isWholeApp }))];
      attempt++;
    }
    return failed(NO_APP);
  }

  /** A guess of the hub's names no use, whatever its apps are. */
  async #withTools(
    query: Query,
    { plan, origin, context }: Proposed,
    ahead: NamedAhead | null,
  ): Promise<Result<Planned, Fault>> {
    if (origin === 'fallback') return ok({ plan, origin });
    const named = await this.#parts.tools.name(query, context, plan, ahead);
    return named.ok ? ok({ plan: named.value, origin }) : named;
  }

  /** The first step's app that is not installed. */
  #missing({ steps }: StepPlan): PlanStep | null {
    return steps.find(({ app }) => app !== null && this.#parts.registry.get(app) === undefined) ?? null;
  }

  async #install(context: Context, query: Query, { app, uses }: PlanStep): Promise<boolean> {
    if (app === null) return false;
    const { installing } = this.#parts;
    // What the user's list says that it does, not what the planner calls it.
    const use = uses.find((name) => installing.serving(name).includes(app));
    const what = use === undefined ? 'this' : `\`${use}\``;
    const why = `The plan for your query needs an app that is not installed, to do ${what}. Install it?`;
    return (await installing.install(context, query, why, [app])) !== null;
  }

  /**
   * The user chooses for the first planned use that all of these apps serve by their manifests (paper, Appendix A-D:
   * for a functionality); where there is none, for queries as a whole.
   */
  #choiceRequest({ steps }: StepPlan, choices: readonly AppId[]): AppChoiceRequest {
    const { registry } = this.#parts;
    const serves = (app: AppId, use: string) =>
      registry.get(app)?.manifest.functionalities.some(({ name }) => name === use) === true;
    const uses = steps.flatMap((step) => (step.app !== null && choices.includes(step.app) ? step.uses : []));
    const use = uses.find((name) => choices.every((app) => serves(app, name)));
    const what = use === undefined ? 'this' : `\`${use}\``;
    const question =
      choices.length > 1 ? `Several apps can do ${what}. Which one?` : `Shall this app do ${what} instead?`;
    return { question, what: use ?? WHOLE_QUERY, choices };
  }

  /** The planner's plan for these apps, asked again with others where it finds none that fits; else the hub's own. */
  async #ask(
    query: Query,
    said: EventId,
    subject: Subject | null,
    declined: readonly Declined[],
    installable: readonly InstalledApp[],
  ): Promise<Result<Proposed, Fault>> {
    const { memory, newContext, planner, recorder } = this.#parts;
    const installed = this.#without(declined);
    const preferred = subject === null ? [] : [subject.app];
    const isShort =
      installed.length <= (SHORTLISTS[0] ?? 0) || shownCharacters(installed) <= SHORT_CHARACTERS;
    const ranked = isShort ? installed : this.#ranked(query, installed, preferred);
    const context = newContext({ kind: 'planner', app: null });
    recordUserInput(recorder, context, query.text, said);
    for (const most of isShort ? [ranked.length] : SHORTLISTS) {
      const shown = ranked.slice(0, most);
      const task: PlanningTask = {
        query: query.text,
        apps: shown,
        unlisted: ranked.length - shown.length,
        installable,
        facts: this.#facts(query),
        earlier: query.isPrivate ? [] : memory.earlier(said),
        ...this.#summary(query, said),
        declined,
      };
      const answer = await this.#complete(context, query, task);
      if (!answer.ok) return answer;
      const read = readPlan(answer.value, task);
      if (read.kind === 'plan') return ok({ plan: read.plan, origin: 'planner', context });
      if (read.kind === 'none') break;
    }
    const known = new Set(installed.map(({ id }) => id));
    const chosen = planner.fallback(query.text, installed).filter((app) => known.has(app));
    return ok({ plan: planFor(chosen, query.text), origin: 'fallback', context });
  }

  async #complete(context: Context, query: Query, task: PlanningTask): Promise<Result<string, Fault>> {
    const { models, planner } = this.#parts;
    const answer = await models.complete(context, query, {
      role: 'planner',
      messages: [
        { role: 'system', text: planner.prompt(task) },
        { role: 'user', text: JSON.stringify(plannerInput(task)) },
      ],
      tools: [],
      answerSchema: planner.schema(task.unlisted > 0),
    });
    if (answer.ok) return ok(answer.value.text);
    if (answer.fault.kind === 'fault') return failed(answer.fault.fault);
    query.refused(answer.fault.reasons, true);
    return failed(fault('cancelled', 'the policy forbids planning'));
  }

  #summary(query: Query, said: EventId): { readonly summary?: string } {
    const summary = query.isPrivate ? null : this.#parts.memory.earlierSummary(said);
    return summary === null ? {} : { summary };
  }

  /** Names of the facts that the user stated, and of what apps said; a private query knows of none. */
  #facts(query: Query): readonly string[] {
    if (query.isPrivate) return [];
    const { memory } = this.#parts;
    const stated = memory.facts(query.past).map(({ name }) => name);
    return [...new Set([...stated, ...memory.observed(query.past).map(({ key }) => key)])];
  }

  #fittest(query: Query, apps: readonly InstalledApp[]): readonly InstalledApp[] {
    if (apps.length <= MOST_INSTALLABLE) return apps;
    return this.#ranked(query, apps, []).slice(0, MOST_INSTALLABLE);
  }

  /** The planner orders these apps, and adds none. */
  #ranked({ text }: Query, apps: readonly InstalledApp[], first: readonly AppId[]): readonly InstalledApp[] {
    const known = new Set(apps);
    return this.#parts.planner.rank(text, apps, first).filter((app) => known.has(app));
  }

  #without(declined: readonly Declined[]): readonly InstalledApp[] {
    const gone = new Set(declined.filter(({ isWholeApp }) => isWholeApp).map(({ app }) => app));
    return this.#parts.registry.apps.filter(({ id }) => !gone.has(id));
  }

  /** Apps that the plan names come up while the user chooses, and beside each other. */
  #startAhead({ steps, candidates }: StepPlan): void {
    const { registry, apps } = this.#parts;
    const named = [...steps.flatMap(({ app }) => app ?? []), ...candidates];
    apps.startAhead([...new Set(named)].flatMap((app) => registry.get(app) ?? []));
  }
}

/**
 * The plan that no model made: one step for each app, or for none. It names no use, so that whatever is irreversible after
 * untrusted text is warned about.
 */
function planFor(apps: readonly AppId[], task: string, needs: readonly string[] = []): StepPlan {
  const named = apps.length === 0 ? [null] : apps;
  const steps = named.map((app, index) => ({ id: `${index + 1}`, app, task, uses: [], needs, after: [] }));
  return { steps, candidates: [] };
}

/** Which apps the user chooses among; after a no, also a single one. */
function choicesOf(plan: StepPlan, isSecond: boolean): readonly AppId[] {
  if (plan.candidates.length > 1) return plan.candidates;
  const primary = primaryApps(plan);
  return isSecond && primary.length === 1 ? primary : [];
}

/**
 * What the user said no to, as the planner may know it: by the names of the manifest. What an app calls its tools, and
 * what a question was about, may be the app's words.
 */
function declinedUses(
  { app, what: tool, isWholeApp }: Refused,
  installed: InstalledApp | undefined,
): readonly Declined[] {
  const served = installed?.manifest.functionalities ?? [];
  const names = served.flatMap((one) => (one.name === tool || one.tool === tool ? [one.name] : []));
  const told = names.length === 0 ? ['what it wanted to do'] : names;
  return told.map((what) => ({ app, what, tool, isWholeApp }));
}
