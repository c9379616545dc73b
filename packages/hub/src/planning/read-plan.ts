/**
 * What the planner's model sees, and the check of what it answers (paper, IV-A2). Its context holds nothing but the user's
 * own words and vetted descriptions. Its answer is a claim.
 */
import {
  type AppId,
  type InstalledApp,
  isJsonObject,
  type Json,
  type PlannerInput,
  type PlanStep,
  parseJson,
  type StepPlan,
} from '@cordon/core';
import { entityName } from '../memory/entity-name.ts';

const MAX_STEPS = 20;
const MAX_TEXT = 2_000;

/** What the user has said no to in this query. `app` was to do it; `what`: the tool, functionality or other name. */
export interface Declined {
  readonly app: AppId;
  readonly what: string;
  /** The app's own name for it, which the planner is not told; absent: it has no other. */
  readonly tool?: string;
  /** Whether nothing of this app may be planned again; else only this use may not. */
  readonly isWholeApp: boolean;
}

/** What a plan is made of, and held against. */
export interface PlanningTask {
  readonly query: string;
  /** Those that the planner is shown. */
  readonly apps: readonly InstalledApp[];
  /** How many apps are installed that it is not shown. */
  readonly unlisted: number;
  /** Apps that are not installed and may be proposed; absent: none. */
  readonly installable?: readonly InstalledApp[];
  readonly facts: readonly string[];
  readonly earlier: PlannerInput['earlier'];
  /** Of what was asked before those; absent: nothing. */
  readonly summary?: string;
  readonly declined: readonly Declined[];
}

export function plannerInput(task: PlanningTask): PlannerInput {
  const { unlisted, installable = [], summary, declined } = task;
  return {
    query: task.query,
    earlier: task.earlier,
    facts: task.facts,
    apps: task.apps.map(shownApp),
    ...(installable.length === 0 ? {} : { installable: installable.map(shownApp) }),
    ...(summary === undefined ? {} : { summary }),
    ...(unlisted === 0 ? {} : { unlisted }),
    ...(declined.length === 0 ? {} : { declined: declined.map(({ app, what }) => ({ app, what })) }),
  };
}

/** The user's own words about an app, and none of the app's. */
function shownApp({ id, manifest }: InstalledApp): PlannerInput['apps'][number] {
  return {
    id,
    description: manifest.description,
    uses: manifest.functionalities.map(({ name, description }) => ({ name, description })),
  };
}

/** How many characters a list of these apps has as the planner is shown it. */
export function shownCharacters(apps: readonly InstalledApp[]): number {
  return JSON.stringify(apps.map(shownApp)).length;
}

/**
 * What the planner's answer comes to. `none`: it is no plan for these apps. `others`: apps that it was not shown are
 * to be looked at.
 */
export type ReadPlan =
  | { readonly kind: 'plan'; readonly plan: StepPlan }
  | { readonly kind: 'others' }
  | { readonly kind: 'none' };

const NONE: ReadPlan = { kind: 'none' };

/** Reads the planner's answer. A plan that names what there is not, or whose steps wait for each other, is none. */
export function readPlan(text: string, task: PlanningTask): ReadPlan {
  const parsed = parseJson(withoutFence(text));
  if (!parsed.ok || !isJsonObject(parsed.value)) return NONE;
  const { app, more, steps: named } = parsed.value;
  // A plan of one step may be that step.
  const listed = named === undefined && app !== undefined ? [parsed.value] : named;
  if (task.unlisted > 0 && more === true) return { kind: 'others' };
  if (!Array.isArray(listed) || listed.length === 0 || listed.length > MAX_STEPS) return NONE;
  const installed = byId(task.apps);
  const known = new Map([...installed, ...byId(task.installable ?? [])]);
  const steps: PlanStep[] = [];
  for (const [index, entry] of listed.entries()) {
    const step = readStep(entry, index + 1, listed.length, known, task);
    if (step === null) return NONE;
    steps.push(step);
  }
  const ordered = inOrder(steps);
  if (ordered === null || ordered.some((step) => repeats(step, task.declined))) return NONE;
  // A model that knows nothing of `more` and finds no app was shown some of them only.
  const isForNoApp = ordered.every(({ app }) => app === null);
  if (task.unlisted > 0 && isForNoApp && more !== false) return { kind: 'others' };
  const candidates = texts(parsed.value.candidates).flatMap((name) => installed.get(name) ?? []);
  const distinct = [...new Set(candidates)];
  return { kind: 'plan', plan: { steps: ordered, candidates: distinct.length > 1 ? distinct : [] } };
}

function byId(apps: readonly InstalledApp[]): ReadonlyMap<string, AppId> {
  return new Map(apps.map(({ id }) => [id, id]));
}

function readStep(
  entry: Json,
  number: number,
  steps: number,
  known: ReadonlyMap<string, AppId>,
  { query, facts }: PlanningTask,
): PlanStep | null {
  if (!isJsonObject(entry)) return null;
  const named = entry.app;
  const app = typeof named === 'string' ? known.get(named) : null;
  // A plan with an app that is not installed is no plan: guessing another would be worse.
  if (app === undefined || (named !== null && typeof named !== 'string' && named !== undefined)) return null;
  const after = readAfter(entry.after, steps);
  if (after === null) return null;
  const uses = texts(entry.uses);
  const isUsed = (use: string) => uses.includes(use);
  const passes = texts(entry.passes).filter(isUsed);
  const follows = texts(entry.follows).filter(isUsed);
  // What is not the user's own word is no input: the planner adds nothing under the user's name.
  const inputs = texts(entry.inputs).filter((input) => input !== '' && query.includes(input));
  return {
    id: String(number),
    app,
    task: taskOf(entry.task, uses, steps === 1 ? query : ''),
    uses,
    ...(passes.length === 0 ? {} : { passes }),
    ...(follows.length === 0 ? {} : { follows }),
    ...(typeof entry.acts === 'boolean' ? { acts: entry.acts } : {}),
    needs: needsOf(texts(entry.needs), facts),
    ...(inputs.length === 0 ? {} : { inputs }),
    after,
  };
}

/** The facts that are meant, each by its name, its kind or another word for it; of one that nobody knows nothing is wanted. */
function needsOf(needs: readonly string[], facts: readonly string[]): readonly string[] {
  const meant = needs.flatMap((need) => {
    if (facts.includes(need)) return [need];
    const name = entityName(need);
    return facts.find((fact) => entityName(fact) === name) ?? [];
  });
  return [...new Set(meant)];
}

/** What is not said of a step goes without saying: it is the whole query, or its one use. */
function taskOf(told: Json | undefined, [use = '', ...others]: readonly string[], whole: string): string {
  if (typeof told === 'string' && told !== '') return told.slice(0, MAX_TEXT);
  return whole !== '' || others.length > 0 ? whole : use;
}

/** Null: it names a step that there is not. */
function readAfter(value: Json | undefined, steps: number): readonly string[] | null {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) return null;
  const isStep = (number: Json) => Number.isInteger(number) && Number(number) >= 1 && Number(number) <= steps;
  return value.every(isStep) ? [...new Set(value.map(String))] : null;
}

/** Each step behind those that it waits for, else as they came; null: some wait for each other. */
function inOrder(steps: readonly PlanStep[]): readonly PlanStep[] | null {
  const ordered: PlanStep[] = [];
  const done = new Set<string>();
  while (ordered.length < steps.length) {
    const next = steps.find(({ id, after }) => !done.has(id) && after.every((earlier) => done.has(earlier)));
    if (next === undefined) return null;
    done.add(next.id);
    ordered.push(next);
  }
  return ordered;
}

/** Whether a step wants again what the user has said no to, or leaves open whether it does. */
function repeats({ app, uses }: PlanStep, declined: readonly Declined[]): boolean {
  return declined.some(({ app: refused, what, tool, isWholeApp }) => {
    const isNamed = uses.some((use) => use === what || use === tool);
    return refused === app && (isWholeApp || uses.length === 0 || isNamed);
  });
}

/** The first texts of a list; of anything else none. */
export function texts(value: Json | undefined): readonly string[] {
  if (!Array.isArray(value)) return [];
  return value.filter((item: Json): item is string => typeof item === 'string').slice(0, 50);
}

const FENCE = '```';

/** Models like to put JSON into a Markdown fence. No pattern: one would take for ever on a page of empty lines. */
export function withoutFence(text: string): string {
  const opening = text.indexOf(FENCE);
  const start = text.indexOf('\n', opening);
  const end = text.indexOf(FENCE, start);
  return (opening === -1 || start === -1 || end === -1 ? text : text.slice(start, end)).trim();
}
