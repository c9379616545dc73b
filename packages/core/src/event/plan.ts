/**
 * The planner's step plan: a claim about what the user expects, never an authority. Later requests are compared
 * with it to say "expected" or "not part of the plan" (paper, IV-A2).
 *
 * The planner that fills it is ring 1.
 */
import { isJsonObject, type Json } from '../json/json.ts';
import type { AppId, FunctionalityName } from '../values/id.ts';

export interface StepPlan {
  readonly steps: readonly PlanStep[];
  /** Apps that could each serve the whole query; the user chooses when there is more than one. */
  readonly candidates: readonly AppId[];
}

export interface PlanStep {
  /** Unique in the plan: `1`, `2`, … */
  readonly id: string;
  /** Null: the model alone, no app. */
  readonly app: AppId | null;
  /** What the step is to do, in the planner's words. */
  readonly task: string;
  /** Functionalities and tools of the app that the step is expected to use; empty: the plan names none. */
  readonly uses: readonly string[];
  /** Of each tool that the step uses: where its arguments come from. Absent, or of a tool that is not here: the plan does not say. */
  readonly sources?: Readonly<Record<string, PlannedSources>>;
  /** Those of `uses` whose results the user asks to send on in this step: "list my keys and send them to Ada". Absent: of none. */
  readonly passes?: readonly string[];
  /** Those of `uses` whose results the user asks to carry out: "do what that page says". Absent: of none. */
  readonly follows?: readonly string[];
  /**
   * Whether the user's words ask to change something in this step: to send, save, pay, delete. The planner says so of apps whose
   * uses it is not shown; absent: it did not.
   */
  readonly acts?: boolean;
  /** Names of facts in the hub's memory that the step wants. */
  readonly needs: readonly string[];
  /** Pieces of the query that the step works on, word for word; absent: the task says it all. */
  readonly inputs?: readonly string[];
  /** Steps whose results this one needs. */
  readonly after: readonly string[];
}

/** Where a plan says that an argument's value comes from, besides the user's own words, which may give any of them. */
export type ArgumentSource =
  | { readonly kind: 'user' }
  /**
   * A call returned it: as the whole of a field of a record, or anywhere in a text. Null: any app, any tool of the app. `named`: another
   * field of the same object has this name, as the user said it; absent: whatever stands there.
   */
  | {
      readonly kind: 'result';
      readonly app: string | null;
      readonly tool: string | null;
      readonly within: 'field' | 'text';
      readonly named?: string;
    }
  /** Nobody knows before the call: the user is asked. */
  | { readonly kind: 'asked' };

/** The sources of a call's arguments, by name. An argument without any comes from the user's words. After CaMeL (arXiv 2503.18813). */
export type PlannedSources = Readonly<Record<string, readonly ArgumentSource[]>>;

/** Sources as JSON has them, in which what is null may be absent; null: these are none. */
export function plannedSourcesIn(value: Json): PlannedSources | null {
  if (!isJsonObject(value)) return null;
  const read = Object.entries(value).map(([argument, named]) => {
    const all = Array.isArray(named) ? named.map(argumentSourceIn) : [null];
    return [argument, all.filter((source) => source !== null), all.length] as const;
  });
  if (read.some(([, known, given]) => known.length < given)) return null;
  return Object.fromEntries(read.map(([argument, known]) => [argument, known]));
}

function argumentSourceIn(value: Json): ArgumentSource | null {
  if (!isJsonObject(value)) return null;
  const { kind, app = null, tool = null, within, named } = value;
  if (kind === 'user' || kind === 'asked') return { kind };
  if (kind !== 'result' || (within !== 'field' && within !== 'text')) return null;
  const isName = (name: Json): name is string | null => name === null || typeof name === 'string';
  // Everything that anything returned is no place.
  if (!isName(app) || !isName(tool) || (app === null && tool === null)) return null;
  if (named === undefined) return { kind, app, tool, within };
  return typeof named === 'string' && within === 'field' ? { kind, app, tool, within, named } : null;
}

/**
 * How the plan came about. `named-app`, `follow-up`: the query says which app it is for, or continues what that app
 * was asked before, so nobody was asked to plan; such a plan names no uses. `fallback`: the planner's answer could
 * not be read, so the hub's own index chose.
 */
export type PlanOrigin = 'planner' | 'named-app' | 'follow-up' | 'single-app' | 'user' | 'fallback';

/** The apps of the steps that wait for nothing: one of them, or a coordinator of several, serves the query. */
export function primaryApps({ steps }: StepPlan): readonly AppId[] {
  return [...new Set(steps.filter(({ after }) => after.length === 0).flatMap(({ app }) => app ?? []))];
}

/**
 * Whether the work of one of these apps depends on that of the other, directly or through other steps: then the plan lets
 * them exchange messages (paper, IV-A2: there is no interaction without a dependency).
 */
export function dependsOnEachOther({ steps }: StepPlan, one: AppId, other: AppId): boolean {
  const reaches = (from: AppId, to: AppId): boolean => {
    const reached = new Set<string>(steps.flatMap(({ id, app }) => (app === from ? [id] : [])));
    // A step stands behind those that it waits for.
    for (const { id, after } of steps) if (after.some((before) => reached.has(before))) reached.add(id);
    return steps.some(({ id, app }) => app === to && reached.has(id));
  };
  return one === other || reaches(one, other) || reaches(other, one);
}

/** Whether the plan names this app, and, where it names what the app is used for, also this use. */
export function expects(plan: StepPlan, app: AppId, use: FunctionalityName | string): Expectation {
  const steps = plan.steps.filter((step) => step.app === app);
  if (steps.length === 0) return 'unexpected';
  if (steps.every((step) => step.uses.length === 0)) return 'app-only';
  return steps.some((step) => step.uses.includes(use)) ? 'expected' : 'unexpected';
}

/** `app-only`: the plan names the app and says nothing of what it is used for. */
export type Expectation = 'expected' | 'app-only' | 'unexpected';
