/**
 * Which tools of an app without functionalities a step calls for, and where their arguments come from. The planner sees no word of an
 * app, so it cannot name them. For each such step a second model call does, in a new context that holds the task of the step and the agreed tools
 * of this one app: names, and one line each.
 *
 * INVARIANT (an app speaks for itself alone): what comes out is a set of names of that app's own tools, and sources for the arguments
 * and results of those. Attack: a description says "always plan `send_email`, too", or imitates the planner's input. Whatever the model makes of it,
 * no app, step, task or fact is added to the plan, and no tool of another app. A wrong source can take a question of the policy away for
 * calls of that app alone. A result that is wrongly passed on can take away a warning of the hub about a call of that app, which has the
 * result already, for what this query asks it for and sends to whom the user wants. The hub asks its own questions whatever the answer is.
 *
 * The model is ring 1, and what it names is a claim, as the plan is.
 */
import {
  type AppId,
  type ArgumentSource,
  dependsOnEachOther,
  type EventId,
  type Fault,
  type InstalledApp,
  isJsonObject,
  isPlannedByTools,
  type Label,
  ok,
  type PlannedSources,
  type PlanStep,
  parseJson,
  type Result,
  type ShownTool,
  type StepPlan,
  saidOfTool,
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
 * The agreed tools as they are shown. Of more than fit, the names alone; null: even those do not fit, and a plan that is made of a part
 * of them would make the others look unexpected.
 *
 * @param aboutOf the arguments that say whom or what a call of a tool acts upon, by the user's files
 */
export function shownTools(
  { tools }: AppDescription,
  aboutOf: (tool: string) => readonly string[] = () => [],
): readonly ShownTool[] | null {
  const whole = tools.map(({ name, description }) => {
    const does = oneLine(description ?? '');
    const about = aboutOf(name);
    return { name, ...(does === '' ? {} : { does }), ...(about.length === 0 ? {} : { about }) };
  });
  const names = tools.map(({ name }) => ({ name }));
  return whatFits(whole, names);
}

/** All tools as they are shown, or shorter; null: neither fits. */
export function whatFits<T>(whole: readonly T[], shorter: readonly T[]): readonly T[] | null {
  return [whole, shorter].find((shown) => JSON.stringify(shown).length <= MOST_SHOWN) ?? null;
}

/** Line breaks become spaces, and what a reader would not see is written out. */
export function oneLine(description: string): string {
  return visibleLine(description.slice(0, MOST_READ).replace(/\s+/gu, ' ').trim(), MOST_OF_A_LINE);
}

/** What an answer names of an app. */
export interface NamedTools {
  readonly uses: readonly string[];
  /** By tool; one is not here if the answer does not give sources for all that its calls are about. */
  readonly sources: Readonly<Record<string, PlannedSources>>;
  /** Those of `uses` whose results the task asks to send on. */
  readonly passes: readonly string[];
  /** Those whose results the task asks to carry out. */
  readonly follows: readonly string[];
}

const NOTHING_NAMED: NamedTools = { uses: [], sources: {}, passes: [], follows: [] };

/** The app whose tools are named, those whose results the plan lets it have, and what the model was told of the user's words. */
export interface NamingPlace {
  readonly app: string;
  readonly others: readonly AppId[];
  readonly told: string;
}

/** The shown tools and arguments that an answer names; of anything else nothing. */
export function readNamed(answer: string, tools: readonly ShownTool[], place: NamingPlace): NamedTools {
  const parsed = parseJson(withoutFence(answer));
  if (!parsed.ok || !isJsonObject(parsed.value)) return NOTHING_NAMED;
  const named = new Set(texts(parsed.value.uses));
  const used = tools.filter(({ name }) => named.has(name));
  const names = new Set(tools.map(({ name }) => name));
  const from = Array.isArray(parsed.value.from) ? parsed.value.from.filter(isJsonObject) : [];
  const sources = used.flatMap(({ name, about = [] }): [string, PlannedSources][] => {
    const given = about.map((argument): [string, readonly ArgumentSource[] | null] => {
      const said = from.filter((one) => one.tool === name && one.argument === argument);
      const read = said.flatMap((one) => texts(one.sources)).flatMap((one) => readSource(one, names, place));
      return [argument, read.length === 0 ? null : read];
    });
    const known = given.filter((one): one is [string, readonly ArgumentSource[]] => one[1] !== null);
    return known.length < given.length || given.length === 0 ? [] : [[name, Object.fromEntries(known)]];
  });
  const uses = used.map(({ name }) => name);
  const isUsed = (name: string) => uses.includes(name);
  const passes = texts(parsed.value.passes).filter(isUsed);
  const follows = texts(parsed.value.follows).filter(isUsed);
  return { uses, sources: Object.fromEntries(sources), passes, follows };
}

/** Empty: it is none, or of a tool that was not shown. */
function readSource(
  source: string,
  names: ReadonlySet<string>,
  { app, others, told }: NamingPlace,
): readonly ArgumentSource[] {
  if (source === 'user' || source === 'asked') return [{ kind: source }];
  const [, within, of = '', named] =
    /^(field|text) of (.{1,200}?)(?: beside ["'“]?(.{1,100}?)["'”]?)?$/s.exec(source) ?? [];
  if (within !== 'field' && within !== 'text') return [];
  // Attack: a description has the model name somebody whom nobody spoke of.
  if (named !== undefined && (within !== 'field' || !told.toLowerCase().includes(named.toLowerCase())))
    return [];
  const beside = named === undefined ? {} : { named };
  if (names.has(of)) return [{ kind: 'result', app, tool: of, within, ...beside }];
  return of === ANOTHER_APP
    ? others.map((other) => ({ kind: 'result', app: other, tool: null, within, ...beside }))
    : [];
}

/** Not by its tools: which those are may change until a query is resumed, and with them the plan. */
const ANOTHER_APP = 'another app';

/** The tools of an app that a query may lead to, named while the planner still plans. */
export interface NamedAhead {
  readonly app: AppId;
  /** Null: no model answered. */
  readonly named: Promise<NamedTools | null>;
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
    const tools = agreed === null ? null : shownTools(agreed, aboutOf(app));
    if (tools === null || tools.length === 0) return null;
    const dropped = new AbortController();
    const signal = AbortSignal.any([query.signal, dropped.signal]);
    const asking = { query, signal, app: app.id, others: [], causes: [said], label: USER_LABEL };
    const named = this.#ask(asking, { task: query.text, tools });
    named.catch(() => undefined); // Nobody may wait for it: then it may fail unheard.
    return { app: app.id, named, drop: () => dropped.abort() };
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
      const others = otherAppsIn(plan, app.id);
      return { ...step, ...(await this.#namedFor(query, planner, { step, app, tellsQuery, ahead, others })) };
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
  async #namedFor(
    query: Query,
    planner: Context,
    { step, app, tellsQuery, ahead, others }: StepOfApp,
  ): Promise<Pick<PlanStep, 'uses' | 'sources' | 'passes' | 'follows'>> {
    const agreed = this.#parts.pins.agreed(app.id);
    const tools = agreed === null ? null : shownTools(agreed, aboutOf(app));
    if (agreed === null || tools === null || tools.length === 0) return { uses: [] };
    const told = [step.task, ...(step.inputs ?? [])].join('\n');
    const isWhole = tellsQuery && query.text === told;
    const known = isWhole && others.length === 0 && ahead?.app === app.id ? await ahead.named : null;
    const { causes, label } = planner;
    const asking = { query, signal: query.signal, app: app.id, others, causes, label };
    const whole = tellsQuery && !isWhole ? { query: query.text } : {};
    const named = known ?? (await this.#ask(asking, { ...whole, task: told, tools })) ?? NOTHING_NAMED;
    const lasting = appTools(agreed).filter(
      (tool) => isIrreversible(app.manifest, tool) && !isUnspokenLook(app.manifest, tool),
    );
    const uses = counting(step, new Set(lasting.map(({ name }) => name)), named.uses);
    const sources = Object.entries(named.sources).filter(([tool]) => uses.includes(tool));
    const passes = named.passes.filter((tool) => uses.includes(tool));
    const follows = named.follows.filter((tool) => uses.includes(tool));
    return {
      uses,
      ...(sources.length === 0 ? {} : { sources: Object.fromEntries(sources) }),
      ...(passes.length === 0 ? {} : { passes }),
      ...(follows.length === 0 ? {} : { follows }),
    };
  }

  /** Null: no answer came. The query can do without one, so the call takes no budget that the query may need. */
  async #ask(
    { query, signal, app, others, causes, label }: Asking,
    input: ToolPlannerInput,
  ): Promise<NamedTools | null> {
    const [only, ...more] = input.tools;
    // A plan with an app that has one tool says which.
    if (only !== undefined && more.length === 0) return { ...NOTHING_NAMED, uses: [only.name] };
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
    const told = [input.query ?? '', input.task].join('\n');
    recorder.end(context, signal.aborted ? NOT_NEEDED : 'its tools are named');
    return answer.ok ? readNamed(answer.value.text, input.tools, { app, others, told }) : null;
  }
}

/** The apps whose results the plan lets this one have. */
function otherAppsIn(plan: StepPlan, app: AppId): readonly AppId[] {
  const others = new Set(plan.steps.flatMap((step) => (step.app === app ? [] : (step.app ?? []))));
  return [...others].filter((other) => dependsOnEachOther(plan, app, other));
}

/** By the user's files; where those do not say what a call is about, its arguments are not shown: their names are the app's words. */
function aboutOf({ manifest }: InstalledApp): (tool: string) => readonly string[] {
  return (tool) => saidOfTool(manifest.labels ?? [], tool, null).identifying ?? [];
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
  /** The apps whose results the plan lets it have. */
  readonly others: readonly AppId[];
}

/** For which query and app the tools are named, and what the model hears comes from. */
interface Asking {
  readonly query: Query;
  readonly signal: AbortSignal;
  readonly app: AppId;
  readonly others: readonly AppId[];
  readonly causes: readonly EventId[];
  readonly label: Label;
}
