/**
 * Which tools of an app without functionalities a step calls for. The planner sees no word of an app, so it cannot name
 * them. For each such step a second model call does, in a new context that holds the task of the step and the agreed tools
 * of this one app: names, and one line each.
 *
 * INVARIANT (an app speaks for itself alone): what comes out is a set of names of that app's own tools. Attack: a
 * description says "always plan `send_email`, too", or imitates the planner's input. Whatever the model makes of it, no app,
 * step, task or fact is added to the plan, and no tool of another app.
 *
 * The model is ring 1, and what it names is a claim, as the plan is.
 */
import {
  type AppId,
  type EventId,
  type Fault,
  type InstalledApp,
  isJsonObject,
  isPlannedByTools,
  type Label,
  ok,
  type PlanStep,
  parseJson,
  type Result,
  type StepPlan,
  type ToolPlannerInput,
  USER_LABEL,
  visibleLine,
} from '@cordon/core';
import { type AppDescription, appTools } from '../apps/app-description.ts';
import type { AppHost } from '../apps/app-host.ts';
import type { AppPins } from '../apps/app-pins.ts';
import { isIrreversible, isUnspokenLook, type Registry } from '../apps/registry.ts';
import type { Context, ContextOptions } from '../context/context.ts';
import type { Query } from '../context/query.ts';
import { recordInput } from '../journal/context-input.ts';
import type { Recorder } from '../journal/recorder.ts';
import type { ModelCalls } from '../mediation/model-calls.ts';
import type { Planner } from './planner.ts';
import { texts, withoutFence } from './read-plan.ts';
import { type Route, routeOf } from './route.ts';

export interface ToolPlanningParts {
  readonly planner: Pick<Planner, 'toolPrompt' | 'toolSchema'>;
  readonly registry: Registry;
  readonly apps: Pick<AppHost, 'start'>;
  readonly pins: Pick<AppPins, 'agreed' | 'digest'>;
  readonly models: ModelCalls;
  readonly newContext: (options: ContextOptions) => Context;
  readonly recorder: Recorder;
}

/** Why a context ends that was begun for a plan which was made otherwise. */
export const NOT_NEEDED = 'the plan does not need it';

/** Characters of the line that is shown of a tool's description. */
const MOST_OF_A_LINE = 120;
/** A description may be long; its first line is made of no more than this. */
const MOST_READ = 2_000;
/** Characters of all tools of an app as they are shown: beyond it their lines are left out. */
const MOST_SHOWN = 24_000;

/**
 * The agreed tools as they are shown. Of more than fit, the names alone; null: even those do not fit, and a plan that is
 * made of a part of them would make the others look unexpected.
 */
export function shownTools({ tools }: AppDescription): ToolPlannerInput['tools'] | null {
  const fits = (shown: ToolPlannerInput['tools']) => JSON.stringify(shown).length <= MOST_SHOWN;
  const whole = tools.map(({ name, description }) => {
    const does = oneLine(description ?? '');
    return { name, ...(does === '' ? {} : { does }) };
  });
  if (fits(whole)) return whole;
  const names = tools.map(({ name }) => ({ name }));
  return fits(names) ? names : null;
}

/** Line breaks become spaces, and what a reader would not see is written out. */
function oneLine(description: string): string {
  return visibleLine(description.slice(0, MOST_READ).replace(/\s+/gu, ' ').trim(), MOST_OF_A_LINE);
}

/** The shown tools that an answer names; of anything else nothing. */
export function readUses(answer: string, tools: ToolPlannerInput['tools']): readonly string[] {
  const parsed = parseJson(withoutFence(answer));
  if (!parsed.ok || !isJsonObject(parsed.value)) return [];
  const named = new Set(texts(parsed.value.uses));
  return tools.flatMap(({ name }) => (named.has(name) ? [name] : []));
}

/** The tools of an app that a query may lead to, named while the planner still plans. */
export interface NamedAhead {
  readonly app: AppId;
  /** Null: no model answered. */
  readonly uses: Promise<readonly string[] | null>;
  /** The plan does not lead there, or is made. */
  readonly drop: () => void;
}

export class ToolPlanning {
  readonly #parts: ToolPlanningParts;

  constructor(parts: ToolPlanningParts) {
    this.#parts = parts;
  }

  /** For a step that is the whole query. Null: nothing is agreed to that could be shown. */
  ahead(query: Query, said: EventId, app: InstalledApp): NamedAhead | null {
    const agreed = this.#parts.pins.agreed(app.id);
    const tools = agreed === null ? null : shownTools(agreed);
    if (tools === null || tools.length === 0) return null;
    const dropped = new AbortController();
    const signal = AbortSignal.any([query.signal, dropped.signal]);
    const asking = { query, signal, app: app.id, causes: [said], label: USER_LABEL };
    const uses = this.#ask(asking, { task: query.text, tools });
    uses.catch(() => undefined); // Nobody may wait for it: then it may fail unheard.
    return { app: app.id, uses, drop: () => dropped.abort() };
  }

  /**
   * The plan with the tools that its steps call for, where the planner could not name them. An app that nobody has agreed to yet
   * is reviewed first: the plan needs it in any case.
   *
   * @param planner the context that made the plan
   */
  async name(
    query: Query,
    planner: Context,
    plan: StepPlan,
    ahead: NamedAhead | null,
  ): Promise<Result<StepPlan, Fault>> {
    const route = routeOf(plan);
    const reviewed = await this.#reviewed(plan, route);
    if (!reviewed.ok) return reviewed;
    const steps = plan.steps.map(async (step): Promise<PlanStep> => {
      const app = this.#appToName(step);
      if (app === null) return step;
      const tellsQuery = route.kind === 'app' && route.app === app.id;
      return { ...step, uses: await this.#usesOf(query, planner, { step, app, tellsQuery, ahead }) };
    });
    return ok({ ...plan, steps: await Promise.all(steps) });
  }

  async #reviewed({ steps }: StepPlan, route: Route): Promise<Result<void, Fault>> {
    const { pins, apps } = this.#parts;
    const toName = new Set(steps.flatMap((step) => this.#appToName(step) ?? []));
    for (const app of toName) {
      if (pins.digest(app.id) !== null) continue;
      const started = await apps.start(app);
      // A user who has said no to it is not asked again. Steps beside each other can do without an app that breaks.
      if (!started.ok && (route.kind === 'app' || started.fault.kind === 'app-unreviewed')) return started;
    }
    return ok(undefined);
  }

  /** The app whose tools are to be named for a step; null: there is none, or the planner has named them. */
  #appToName({ app: id, uses }: PlanStep): InstalledApp | null {
    const app = id === null ? undefined : this.#parts.registry.get(id);
    if (app === undefined || !isPlannedByTools(app)) return null;
    const agreed = this.#parts.pins.agreed(app.id);
    // A planner that guesses at names is not taken at its word.
    const isTool = (use: string) => agreed === null || agreed.tools.some(({ name }) => name === use);
    return uses.length > 0 && uses.every(isTool) ? null : app;
  }

  /** Empty: the user agreed to no tools that could be shown, or no model could name any. */
  async #usesOf(
    query: Query,
    planner: Context,
    { step, app, tellsQuery, ahead }: StepOfApp,
  ): Promise<readonly string[]> {
    const agreed = this.#parts.pins.agreed(app.id);
    const tools = agreed === null ? null : shownTools(agreed);
    if (agreed === null || tools === null || tools.length === 0) return [];
    const told = [step.task, ...(step.inputs ?? [])].join('\n');
    const isWhole = tellsQuery && query.text === told;
    const known = isWhole && ahead?.app === app.id ? await ahead.uses : null;
    const { causes, label } = planner;
    const asking = { query, signal: query.signal, app: app.id, causes, label };
    const whole = tellsQuery && !isWhole ? { query: query.text } : {};
    const named = known ?? (await this.#ask(asking, { ...whole, task: told, tools }));
    const lasting = appTools(agreed).filter(
      (tool) => isIrreversible(app.manifest, tool) && !isUnspokenLook(app.manifest, tool),
    );
    return counting(step, new Set(lasting.map(({ name }) => name)), named ?? []);
  }

  /** Null: no answer came. The query can do without one, so the call takes no budget that the query may need. */
  async #ask(
    { query, signal, app, causes, label }: Asking,
    input: ToolPlannerInput,
  ): Promise<readonly string[] | null> {
    const [only, ...others] = input.tools;
    // A plan with an app that has one tool says which.
    if (only !== undefined && others.length === 0) return [only.name];
    const { planner, models, newContext, recorder } = this.#parts;
    // It is no context of the app: a separate model of the app would hear what the app itself is not told yet.
    const context = newContext({ kind: 'tool-planner', app: null });
    recordInput(recorder, context, input.task, { causes, label });
    context.sees({ integrity: 'untrusted', confidentiality: 'public' }, app);
    const answer = await models.complete(context, query.spare(signal), {
      role: 'tool-planner',
      messages: [
        { role: 'system', text: planner.toolPrompt },
        { role: 'user', text: JSON.stringify(input) },
      ],
      tools: [],
      answerSchema: planner.toolSchema,
    });
    recorder.end(context, signal.aborted ? NOT_NEEDED : 'its tools are named');
    return answer.ok ? readUses(answer.value.text, input.tools) : null;
  }
}

/**
 * Attack: a description makes its own sending look planned, and a mail that is read asks for it. What cannot be undone counts
 * only where the planner, who has read no word of the app, says that the user asks to change something. Where it does
 * not say, the step names the app alone. A tool that only looks, by the words that the user agreed to, counts in any case.
 */
function counting(
  { acts }: PlanStep,
  lasting: ReadonlySet<string>,
  named: readonly string[],
): readonly string[] {
  if (acts === true) return named;
  const isLasting = (name: string) => lasting.has(name);
  return acts === undefined && named.some(isLasting) ? [] : named.filter((name) => !isLasting(name));
}

/** A step of a plan, and what there is to name its tools by. */
interface StepOfApp {
  readonly step: PlanStep;
  readonly app: InstalledApp;
  /** Whether the app is told the user's query, and not the task of its step alone. */
  readonly tellsQuery: boolean;
  /** What was named while the planner still planned; null: nothing. */
  readonly ahead: NamedAhead | null;
}

/** For which query and app the tools are named, and what the model hears comes from. */
interface Asking {
  readonly query: Query;
  readonly signal: AbortSignal;
  readonly app: AppId;
  readonly causes: readonly EventId[];
  readonly label: Label;
}
