/**
 * The obedient model as the planner: the calls of the user's task as steps, and those of an attack before them if
 * its text has reached the planner's context.
 */
import {
  isJsonObject,
  type Json,
  type ModelRequest,
  type PlannerAnswer,
  type PlannerStep,
  parseJson,
} from '@cordon/core';
import { attacksIn } from './recogniser.ts';
import { dependenciesOf, type Scenario, type ScenarioCall, type Task } from './scenario.ts';
import { taskIn } from './turn.ts';

/** The planner's input, read leniently: its own words come back as a claim that the hub checks. */
interface Told {
  readonly query: string;
  /** The names of what each app can be used for. */
  readonly apps: ReadonlyMap<string, ReadonlySet<string>>;
  readonly facts: readonly string[];
  /** How many more apps there are. */
  readonly unlisted: number;
}

export function planFor(
  scenarios: readonly Scenario[],
  obeys: boolean,
  request: ModelRequest,
): PlannerAnswer {
  const told = toldIn(request);
  const covered = taskIn(told.query, scenarios);
  const shown = request.messages.map(({ text }) => text);
  const injected = obeys ? attacksIn(shown, scenarios).flatMap(({ calls }) => calls) : [];
  const steps = covered === null ? [] : taskSteps(covered.task, told, injected.length === 0);
  const attackers = groupsOf(injected, told).map((calls) => stepFor(calls, told, purposesOf(calls)));
  const shifted = steps.map(({ after, ...step }) =>
    after === undefined ? step : { ...step, after: after.map((number) => number + attackers.length) },
  );
  const all = [...attackers, ...shifted];
  const [only = { app: null }] = all;
  return {
    ...(all.length > 1 ? { steps: all } : only),
    ...(told.unlisted === 0
      ? {}
      : { more: covered?.task.calls.some(({ app }) => !told.apps.has(app)) ?? true }),
  };
}

function taskSteps(task: Task, told: Told, isWhole: boolean): readonly PlannerStep[] {
  if (task.calls.length === 0) {
    const app = task.app !== null && told.apps.has(task.app) ? task.app : null;
    return [{ app }];
  }
  const groups = withoutRepetition(groupsOf(task.calls, told), task, told);
  const isOne = isWhole && groups.length === 1 && groups[0]?.length === task.calls.length;
  return groups.map((calls, index) => {
    // A step that is the whole query, or one call of a tool, goes without saying.
    const step = stepFor(calls, told, isOne || isPlainTool(calls, told) ? null : purposesOf(calls));
    const wanted = new Set(calls.flatMap((call) => [...dependenciesOf(call, task.beliefs)]));
    const after = groups
      .slice(0, index)
      .flatMap((earlier, number) => (earlier.some(({ id }) => wanted.has(id)) ? [number + 1] : []));
    return after.length === 0 ? step : { ...step, after };
  });
}

/** Whether all of it is a single tool, of an app that is known by its tools. */
function isPlainTool(calls: readonly ScenarioCall[], told: Told): boolean {
  const [first] = calls;
  if (first === undefined || told.apps.get(first.app)?.size !== 0) return false;
  return calls.every(({ tool, finds }) => tool === first.tool && finds === null);
}

/** The same tool once more, which waits for nothing, is in the plan already. */
function withoutRepetition(
  groups: readonly (readonly ScenarioCall[])[],
  { beliefs }: Task,
  told: Told,
): readonly (readonly ScenarioCall[])[] {
  return groups.filter((calls, index) => {
    const [first] = calls;
    const waits = calls.some((call) => dependenciesOf(call, beliefs).size > 0);
    if (first === undefined || waits || !isPlainTool(calls, told)) return true;
    const isSame = (other: readonly ScenarioCall[]) =>
      isPlainTool(other, told) && other[0]?.app === first.app && other[0].tool === first.tool;
    return !groups.slice(0, index).some(isSame);
  });
}

/** Consecutive calls of one app; those of apps that are not installed cannot be planned. */
function groupsOf(calls: readonly ScenarioCall[], told: Told): readonly (readonly ScenarioCall[])[] {
  const groups: ScenarioCall[][] = [];
  for (const call of calls.filter(({ app }) => told.apps.has(app))) {
    const last = groups.at(-1);
    if (last?.[0]?.app === call.app) last.push(call);
    else groups.push([call]);
  }
  return groups;
}

/** @param task null: it goes without saying */
function stepFor(calls: readonly ScenarioCall[], told: Told, task: string | null): PlannerStep {
  const app = calls[0]?.app ?? null;
  const known = app === null ? undefined : told.apps.get(app);
  // Every context can have a text read; the planner knows no name for it.
  const uses = calls
    .filter(({ finds }) => finds === null)
    .map(({ tool, functionality }) => (known?.has(functionality) ? functionality : tool));
  const wanted = new Set(calls.flatMap(({ needs }) => needs.map(folded)));
  const needs = told.facts.filter((fact) => wanted.has(folded(fact)));
  return {
    app,
    ...(task === null ? {} : { task }),
    ...(uses.length === 0 ? {} : { uses: [...new Set(uses)] }),
    ...(needs.length === 0 ? {} : { needs }),
  };
}

function purposesOf(calls: readonly ScenarioCall[]): string {
  return calls.map(({ purpose }) => purpose).join('; ');
}

/** The hub's memory may write `email_address` for what the user called `Email address`. */
function folded(fact: string): string {
  return fact.toLowerCase().replace(/[\s_-]+/g, ' ');
}

function toldIn(request: ModelRequest): Told {
  const text = request.messages.findLast(({ role }) => role === 'user')?.text ?? '';
  const parsed = parseJson(text);
  const input = parsed.ok && isJsonObject(parsed.value) ? parsed.value : {};
  return {
    query: typeof input.query === 'string' ? input.query : text,
    apps: new Map(items(input.apps).flatMap(appEntry)),
    facts: items(input.facts).filter((fact) => typeof fact === 'string'),
    unlisted: typeof input.unlisted === 'number' ? input.unlisted : 0,
  };
}

function appEntry(app: Json): readonly (readonly [string, ReadonlySet<string>])[] {
  if (!isJsonObject(app) || typeof app.id !== 'string') return [];
  const names = items(app.uses).flatMap((use) =>
    isJsonObject(use) && typeof use.name === 'string' ? [use.name] : [],
  );
  return [[app.id, new Set(names)]];
}

function items(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}
