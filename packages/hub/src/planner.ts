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
  type PlanOrigin,
  type PlanStep,
  parseJson,
  type StepPlan,
} from '@cordon/core';

const MAX_STEPS = 20;
const MAX_TEXT = 2_000;

export interface Planned {
  readonly plan: StepPlan;
  readonly origin: PlanOrigin;
}

export function plannerInput(
  query: string,
  apps: readonly InstalledApp[],
  facts: readonly string[],
  earlier: PlannerInput['earlier'],
): PlannerInput {
  return {
    query,
    earlier,
    facts,
    apps: apps.map(({ id, manifest }) => ({
      id,
      description: manifest.description,
      uses: manifest.functionalities.map(({ name, description }) => ({ name, description })),
    })),
  };
}

/** Reads the planner's answer; `null` where it is no plan for these apps. */
export function readPlan(
  text: string,
  apps: readonly InstalledApp[],
  facts: readonly string[],
): StepPlan | null {
  const parsed = parseJson(withoutFence(text));
  if (!parsed.ok || !isJsonObject(parsed.value)) return null;
  const listed = parsed.value.steps;
  if (!Array.isArray(listed) || listed.length === 0 || listed.length > MAX_STEPS) return null;
  const known = new Map<string, AppId>(apps.map((app) => [app.id, app.id]));
  const steps: PlanStep[] = [];
  for (const [index, entry] of listed.entries()) {
    const step = readStep(entry, index + 1, known, facts);
    if (step === null) return null;
    steps.push(step);
  }
  const candidates = texts(parsed.value.candidates).flatMap((name) => known.get(name) ?? []);
  return { steps, candidates: candidates.length > 1 ? [...new Set(candidates)] : [] };
}

function readStep(
  entry: Json,
  number: number,
  known: ReadonlyMap<string, AppId>,
  facts: readonly string[],
): PlanStep | null {
  if (!isJsonObject(entry)) return null;
  const named = entry.app;
  const app = typeof named === 'string' ? known.get(named) : null;
  // A plan with an app that is not installed is no plan: guessing another would be worse.
  if (app === undefined || (named !== null && typeof named !== 'string' && named !== undefined)) return null;
  const task = entry.task;
  const after = Array.isArray(entry.after) ? entry.after : [];
  return {
    id: String(number),
    app,
    task: typeof task === 'string' ? task.slice(0, MAX_TEXT) : '',
    uses: texts(entry.uses),
    needs: texts(entry.needs).filter((name) => facts.includes(name)),
    after: after
      .filter((value: Json) => Number.isInteger(value) && Number(value) >= 1 && Number(value) < number)
      .map(String),
  };
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
  const asked = new Set(words(query));
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

function isDescribed({ manifest }: InstalledApp): boolean {
  return manifest.description !== null || manifest.functionalities.length > 0;
}

function step(id: string, app: AppId | null, task: string): PlanStep {
  return { id, app, task, uses: [], needs: [], after: [] };
}

function score({ id, manifest }: InstalledApp, asked: ReadonlySet<string>): number {
  const hits = (text: string) => new Set(words(text).filter((word) => asked.has(word))).size;
  const served = manifest.functionalities.map(({ name, description }) => `${name} ${description}`).join(' ');
  return 3 * hits(id) + hits(`${manifest.description ?? ''} ${served}`);
}

/** Words of at least three letters without their commonest endings, so that `files` finds `filesystem` no more than it should. */
function words(text: string): readonly string[] {
  return (text.toLowerCase().match(/[\p{L}\p{N}]{3,}/gu) ?? [])
    .map((word) => word.replace(/(ing|es|s)$/, ''))
    .filter((word) => !STOP_WORDS.has(word));
}

const STOP_WORDS: ReadonlySet<string> = new Set([
  'the',
  'and',
  'for',
  'with',
  'that',
  'this',
  'from',
  'use',
  'user',
  'you',
  'your',
  'what',
  'are',
  'can',
  'app',
  'pleas',
  'all',
]);

/** For providers that can be held to a schema. */
export const PLAN_SCHEMA: JsonSchema = planSchema();

function planSchema(): JsonSchema {
  const list = (items: JsonObject): JsonObject => ({ type: 'array', items });
  const properties: JsonObject = {
    app: { type: ['string', 'null'] },
    task: { type: 'string' },
    uses: list({ type: 'string' }),
    needs: list({ type: 'string' }),
    after: list({ type: 'integer' }),
  };
  const closed = (inner: JsonObject): JsonObject => ({
    type: 'object',
    properties: inner,
    required: Object.keys(inner),
    additionalProperties: false,
  });
  return closed({ steps: list(closed(properties)), candidates: list({ type: 'string' }) });
}
