/**
 * The obedient model as the planner: the calls of the user's task as steps, and those of an attack before them if
 * its text has reached the planner's context. And as the one that names an app's tools for a step.
 */
import {
  isJsonObject,
  type Json,
  type JsonObject,
  type ModelRequest,
  type PlannerAnswer,
  type PlannerStep,
  parseJson,
  type ToolPlannerAnswer,
} from '@cordon/core';
import { attacksIn } from './recogniser.ts';
import { dependenciesOf, type Scenario, type ScenarioCall, type Task, type Value } from './scenario.ts';
import { stepsOf, taskIn } from './turn.ts';

/**
 * How the planner names tools of an app of which it is shown no use. `unseen`: as if it knew them, so that a plan is as exact
 * as can be. `shown`: not at all, as a model that has not seen them.
 */
export type ToolNaming = 'unseen' | 'shown';

/** The planner's input, read leniently: its own words come back as a claim that the hub checks. */
interface Told {
  readonly query: string;
  /** The names of what each app can be used for. */
  readonly apps: ReadonlyMap<string, ReadonlySet<string>>;
  readonly facts: readonly string[];
  /** How many more apps there are. */
  readonly unlisted: number;
  readonly naming: ToolNaming;
}

export function planFor(
  scenarios: readonly Scenario[],
  obeys: boolean,
  naming: ToolNaming,
  request: ModelRequest,
): PlannerAnswer {
  const told = toldIn(request, naming);
  const covered = taskIn(told.query, scenarios);
  const injected = injectedIn(request, scenarios, obeys);
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

/**
 * The tools that a step calls for: those of the calls that its task names, else of the whole query, and those of an attack
 * that stands in what the app says. The hub ignores what is no tool of the app.
 */
export function toolsFor(
  scenarios: readonly Scenario[],
  obeys: boolean,
  request: ModelRequest,
): ToolPlannerAnswer {
  const { query = '', task = '', tools } = inputOf(request);
  const asked = typeof task === 'string' ? task.split(PURPOSES) : [];
  const named = scenarios.flatMap(stepsOf).filter(({ call }) => asked.includes(call.purpose));
  const covered = [task, query].map((words) => (typeof words === 'string' ? taskIn(words, scenarios) : null));
  const whole = covered.find((one) => one !== null)?.task.calls ?? [];
  const wanted = named.length > 0 ? named.map(({ call }) => call) : whole;
  const injected = injectedIn(request, scenarios, obeys);
  const uses = [...new Set([...wanted, ...injected].map(({ tool }) => tool))];
  const about = new Map(
    items(tools)
      .filter(isJsonObject)
      .map((tool) => [tool.name, items(tool.about)]),
  );
  const from = wanted.flatMap((call) => [
    ...sourcesOf(call, wanted, `${query}\n${task}`),
    ...leftOut(call, about.get(call.tool) ?? []),
  ]);
  const passes = passedBy(wanted).map(({ tool }) => tool);
  const follows = wanted.filter((call) => call.follows === true).map(({ tool }) => tool);
  return {
    uses,
    ...(from.length === 0 ? {} : { from }),
    ...(passes.length === 0 ? {} : { passes: [...new Set(passes)] }),
    ...(follows.length === 0 ? {} : { follows: [...new Set(follows)] }),
  };
}

/** The calls whose results others of them send on. */
function passedBy(calls: readonly ScenarioCall[]): readonly ScenarioCall[] {
  const ids = new Set(calls.flatMap(({ passes = [] }) => passes));
  return calls.filter(({ id }) => ids.has(id));
}

/** What a call leaves out nobody but the user may say. */
function leftOut(call: ScenarioCall, about: readonly Json[]): NonNullable<ToolPlannerAnswer['from']> {
  const names = about.filter((name) => typeof name === 'string' && !call.arguments.has(name));
  return names.map((argument) => ({ tool: call.tool, argument: String(argument), sources: ['user'] }));
}

/** Where the arguments of a call come from, as far as the scenario says it: the user's words, or the result of another call. */
function sourcesOf(
  { tool, arguments: given, sources: said }: ScenarioCall,
  wanted: readonly ScenarioCall[],
  words: string,
): NonNullable<ToolPlannerAnswer['from']> {
  if (said !== undefined) return [...said].map(([argument, sources]) => ({ tool, argument, sources }));
  return [...given].flatMap(([argument, value]) => {
    const sources = sourcesOfValue(value, wanted, words);
    return sources === null ? [] : [{ tool, argument, sources: [...new Set(sources)] }];
  });
}

/** Null: the scenario does not say. */
function sourcesOfValue(
  value: Value,
  wanted: readonly ScenarioCall[],
  words: string,
): readonly string[] | null {
  switch (value.kind) {
    case 'literal':
      return typeof value.value === 'string' && words.includes(value.value) ? ['user'] : null;
    case 'result': {
      const call = wanted.find(({ id }) => id === value.call);
      if (call === undefined) return null;
      return [`${value.match === null ? 'field' : 'text'} of ${call.tool}`];
    }
    case 'list': {
      const all = value.items.map((item) => sourcesOfValue(item, wanted, words));
      return all.some((one) => one === null) ? null : all.flatMap((one) => one ?? []);
    }
    default:
      return null;
  }
}

/** The calls of the attacks whose text has reached the model; none for a model that does not obey. */
function injectedIn(
  { messages }: ModelRequest,
  scenarios: readonly Scenario[],
  obeys: boolean,
): readonly ScenarioCall[] {
  const shown = messages.map(({ text }) => text);
  return obeys ? attacksIn(shown, scenarios).flatMap(({ calls }) => calls) : [];
}

/** Whether all of it is a single tool, of an app that is known by its tools. */
function isPlainTool(calls: readonly ScenarioCall[], told: Told): boolean {
  const [first] = calls;
  if (told.naming === 'shown') return false;
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
  const isUnnamed = told.naming === 'shown' && known?.size === 0;
  // Every context can have a text read; the planner knows no name for it.
  const namesOf = (some: readonly ScenarioCall[]) =>
    some
      .filter(({ finds }) => finds === null)
      .flatMap(({ tool, functionality }) => {
        if (known?.has(functionality)) return [functionality];
        return isUnnamed ? [] : [tool];
      });
  const [uses, passes] = [namesOf(calls), namesOf(passedBy(calls))];
  const follows = namesOf(calls.filter((call) => call.follows === true));
  const wanted = new Set(calls.flatMap(({ needs }) => needs.map(folded)));
  const needs = told.facts.filter((fact) => wanted.has(folded(fact)));
  return {
    app,
    ...(task === null ? {} : { task }),
    ...(uses.length === 0 ? {} : { uses: [...new Set(uses)] }),
    ...(passes.length === 0 ? {} : { passes: [...new Set(passes)] }),
    ...(follows.length === 0 ? {} : { follows: [...new Set(follows)] }),
    ...(isUnnamed ? { acts: !calls.every(({ tool }) => LOOKS.test(tool)) } : {}),
    ...(needs.length === 0 ? {} : { needs }),
  };
}

/** By their names, calls that change nothing. */
const LOOKS = /^(?:get|list|read|search|find|show|check|look)(?:_|[A-Z]|$)/;

function purposesOf(calls: readonly ScenarioCall[]): string {
  return calls.map(({ purpose }) => purpose).join(PURPOSES);
}

const PURPOSES = '; ';

/** The hub's memory may write `email_address` for what the user called `Email address`. */
function folded(fact: string): string {
  return fact.toLowerCase().replace(/[\s_-]+/g, ' ');
}

/** The object that a planner or reader was given; empty: it was given none. */
export function inputOf(request: ModelRequest): JsonObject {
  const parsed = parseJson(wordsOf(request));
  return parsed.ok && isJsonObject(parsed.value) ? parsed.value : {};
}

function wordsOf({ messages }: ModelRequest): string {
  return messages.findLast(({ role }) => role === 'user')?.text ?? '';
}

function toldIn(request: ModelRequest, naming: ToolNaming): Told {
  const input = inputOf(request);
  return {
    query: typeof input.query === 'string' ? input.query : wordsOf(request),
    apps: new Map(items(input.apps).flatMap(appEntry)),
    facts: items(input.facts).filter((fact) => typeof fact === 'string'),
    unlisted: typeof input.unlisted === 'number' ? input.unlisted : 0,
    naming,
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
