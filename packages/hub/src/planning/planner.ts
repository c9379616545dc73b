/**
 * The planner: from the user's query to a step plan, by a model in a context that has seen nothing but the user's
 * own words and vetted descriptions (paper, IV-A2). Its answer is a claim; it is checked here and trusted nowhere.
 *
 * Ring 1.
 */
import {
  type AppId,
  type InstalledApp,
  isJsonObject,
  type Json,
  type JsonObject,
  type JsonSchema,
  type PlannerInput,
  type PlanStep,
  parseJson,
  type StepPlan,
} from '@cordon/core';
import { entityName } from '../memory/entity-name.ts';
import { isDescribed } from './app-index.ts';
import { contentWords } from './tokenize.ts';

const PLANNER_PROMPT = `You plan how a user's query is served. You get a JSON object: the query, the user's earlier queries, the installed apps with what each can be used for, and the names of facts that the user stated before.
Answer with one JSON object, in one line, and nothing else:
{"steps": [{"app": "<app id or null>", "task": "<what this step does>", "inputs": ["<pieces of the query, word for word, that this step works on>"], "uses": ["<names from the app's uses>"], "needs": ["<fact names that this step cannot do without>"], "after": [<numbers of the steps whose results it needs>]}], "candidates": ["<app ids>"]}
- Leave out what is empty, and "task" where the step is the whole query or the single use that it names.
- A single step stands alone, without the list: {"app": "…", "uses": ["…"]}. No app is needed: {"app": null}.
- Apps that work independently of each other (to compare, to collect): one step each without "after". They work at the same time, and each knows of the query only its own "task" and "inputs": say there all that it has to know.
- One app that needs another's help: its step first, and the helper's step with "after" naming it.
- "uses" lists every use that the query calls for, the last one (booking, sending) too; leave out what it does not call for.
- "needs" lists only facts that the app must have and that the query does not contain.
- Where the query points back at what the user said in an earlier query ("the days I am away"), "task" says what is meant, in the user's own earlier words.
- "candidates" only if several apps could each serve the whole query and the query does not say which: then name them, and plan for the first.
- "unlisted" says how many more apps are installed. Then also answer "more": true if the query needs an app that is not among those that you see, else "more": false.
- "summary" tells what the user asked before the earlier queries. A fact named "<app id>/<name>" is what that app said, not the user.
- "declined" lists what the user said no to just now: plan without it, or answer {"steps": []} if that makes no sense.`;

/** Only where an earlier query ended so. */
const ASKED_PROMPT = `- An earlier query with the outcome "asked for data": its app waits for the user's answer, which this query may be.`;

/** Only where something could be installed. */
const INSTALLABLE_PROMPT = `- "installable" lists apps that are not installed. A step may name one only where no installed app can do what the query needs: the user is then asked whether to install it. Never name one in "candidates".`;

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

/** The instructions of the planner: each rule that says something of this task. */
export function plannerPrompt({ installable = [], earlier }: PlanningTask): string {
  const hasAsked = earlier.some(({ outcome }) => outcome === 'asked for data');
  return [
    PLANNER_PROMPT,
    ...(installable.length > 0 ? [INSTALLABLE_PROMPT] : []),
    ...(hasAsked ? [ASKED_PROMPT] : []),
  ].join('\n');
}

export function plannerInput({
  query,
  apps,
  unlisted,
  installable = [],
  facts,
  earlier,
  summary,
  declined,
}: PlanningTask): PlannerInput {
  return {
    query,
    earlier,
    facts,
    apps: apps.map(shownApp),
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
  const installed = new Map<string, AppId>(task.apps.map(({ id }) => [id, id]));
  const known = new Map([
    ...installed,
    ...(task.installable ?? []).map(({ id }): [string, AppId] => [id, id]),
  ]);
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
  // What is not the user's own word is no input: the planner adds nothing under the user's name.
  const inputs = texts(entry.inputs).filter((input) => input !== '' && query.includes(input));
  return {
    id: String(number),
    app,
    task: taskOf(entry.task, uses, steps === 1 ? query : ''),
    uses,
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

function texts(value: Json | undefined): readonly string[] {
  if (!Array.isArray(value)) return [];
  return value.filter((item: Json): item is string => typeof item === 'string').slice(0, 50);
}

const FENCE = '```';

/** Models like to put JSON into a Markdown fence. No pattern: one would take for ever on a page of empty lines. */
function withoutFence(text: string): string {
  const opening = text.indexOf(FENCE);
  const start = text.indexOf('\n', opening);
  const end = text.indexOf(FENCE, start);
  return (opening === -1 || start === -1 || end === -1 ? text : text.slice(start, end)).trim();
}

/**
 * The plan when the planner's answer cannot be read: the apps whose id or vetted words occur in the query. An app of
 * which the user's configuration says nothing cannot be ruled out by words, so all such apps are in, unless one that
 * is described fits. It names no use, so that whatever is irreversible after untrusted text is warned about.
 */
export function fallbackPlan(query: string, apps: readonly InstalledApp[]): StepPlan {
  const asked = new Set(contentWords(query));
  const scored = apps
    .map((app) => ({ app, score: score(app, asked) }))
    .filter(({ score: points }) => points > 0)
    .sort((a, b) => b.score - a.score);
  const best = scored[0]?.score ?? 0;
  const chosen = scored.filter(({ score: points }) => points * 2 >= best).map(({ app }) => app);
  const picked = chosen.some(isDescribed) ? chosen : withUndescribed(chosen, apps);
  const steps = picked.map((app, index) => step(String(index + 1), app.id, query));
  return { steps: steps.length === 0 ? [step('1', null, query)] : steps, candidates: [] };
}

/** More than these would fill a context with tools and start programs that the query does not need. */
const MOST_UNDESCRIBED = 6;

function withUndescribed(
  chosen: readonly InstalledApp[],
  apps: readonly InstalledApp[],
): readonly InstalledApp[] {
  // With nothing to go by, a single app is what the user configured Cordon for.
  if (chosen.length === 0 && apps.length === 1) return apps;
  const others = apps.filter((app) => !isDescribed(app) && !chosen.includes(app));
  return chosen.length + others.length > MOST_UNDESCRIBED ? chosen : [...chosen, ...others];
}

function step(id: string, app: AppId | null, task: string): PlanStep {
  return { id, app, task, uses: [], needs: [], after: [] };
}

function score({ id, manifest }: InstalledApp, asked: ReadonlySet<string>): number {
  const hits = (text: string) => new Set(contentWords(text).filter((word) => asked.has(word))).size;
  const served = manifest.functionalities.map(({ name, description }) => `${name} ${description}`).join(' ');
  return 3 * hits(id) + hits(`${manifest.description ?? ''} ${served}`);
}

/** For providers that can be held to a schema. With `more` where apps are unlisted. */
export function planSchema(hasUnlisted: boolean): JsonSchema {
  return hasUnlisted ? SCHEMA_WITH_MORE : SCHEMA;
}

const SCHEMA = schemaOf({});
const SCHEMA_WITH_MORE = schemaOf({ more: { type: 'boolean' } });

function schemaOf(rest: JsonObject): JsonSchema {
  const list = (items: JsonObject): JsonObject => ({ type: 'array', items });
  const closed = (properties: JsonObject, required: readonly string[]): JsonObject => ({
    type: 'object',
    properties,
    required: [...required],
    additionalProperties: false,
  });
  const step = closed(
    {
      app: { type: ['string', 'null'] },
      task: { type: 'string' },
      inputs: list({ type: 'string' }),
      uses: list({ type: 'string' }),
      needs: list({ type: 'string' }),
      after: list({ type: 'integer' }),
    },
    ['app'],
  );
  const properties = { steps: list(step), candidates: list({ type: 'string' }), ...rest };
  return closed(properties, ['steps', ...Object.keys(rest)]);
}
