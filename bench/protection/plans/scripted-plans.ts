/**
 * Plans of scripted tasks, as a planner could have made them: which tools a task calls for, and where each of their arguments comes
 * from. They are derived from the calls that solve the task, with what those returned.
 */
import {
  type ArgumentSource,
  failed,
  isJsonObject,
  type Json,
  type JsonObject,
  ok,
  type PlannedSources,
  type Result,
} from '@cordon/core';

/** The tools that a task calls for, each with the sources of its arguments; null: the plan names none for the tool. */
export type ScriptedPlan = ReadonlyMap<string, PlannedSources | null>;

/** By suite, and in it by task. */
export type ScriptedPlans = ReadonlyMap<string, ReadonlyMap<string, ScriptedPlan>>;

/** Of a task as the traces name it; absent: it has none. */
export function planOf(plans: ScriptedPlans, suite: string, task: string): ScriptedPlan | undefined {
  return plans.get(suite)?.get(task);
}

/**
 * The plan of each task of a file of suites: `suites` → name → `user_tasks` and `injection_tasks` → name → `prompt` (or `goal`) and
 * `calls`, each with `function`, `args`, `output`. Refuses a file without suites, and a call that is none.
 */
export function plansOfSuites(file: Json): Result<ScriptedPlans, string> {
  const suites = isJsonObject(file) ? file.suites : undefined;
  if (!isJsonObject(suites)) return failed('it has no `suites`');
  const plans = new Map<string, ReadonlyMap<string, ScriptedPlan>>();
  for (const [suite, { user_tasks: users = {}, injection_tasks: others = {} }] of objectsOf(suites)) {
    const tasks = new Map<string, ScriptedPlan>();
    for (const [task, { prompt, goal, calls: listed }] of [...objectsOf(users), ...objectsOf(others)]) {
      const words = [prompt, goal].find((one) => typeof one === 'string') ?? '';
      const read = (Array.isArray(listed) ? listed : []).map(callOf);
      const calls = read.filter((call) => call !== null);
      if (calls.length < read.length)
        return failed(`a call of \`${task}\` of \`${suite}\` names no function`);
      tasks.set(task, planOfCalls(words, calls));
    }
    plans.set(suite, tasks);
  }
  return ok(plans);
}

function objectsOf(value: Json): readonly (readonly [string, JsonObject])[] {
  if (!isJsonObject(value)) return [];
  return Object.entries(value).filter((entry): entry is [string, JsonObject] => isJsonObject(entry[1]));
}

/** A call that solves a task. */
export interface ScriptedCall {
  readonly tool: string;
  readonly args: JsonObject;
  readonly output: string;
  /** What is the whole of a value in the output, in small letters. */
  readonly fields: ReadonlySet<string>;
}

function callOf(call: Json): ScriptedCall | null {
  if (!isJsonObject(call) || typeof call.function !== 'string') return null;
  const { function: tool, args, output, output_json: json = null } = call;
  return {
    tool,
    args: isJsonObject(args) ? args : {},
    output: typeof output === 'string' ? output : '',
    fields: new Set(leavesOf(json).map((leaf) => leaf.trim().toLowerCase())),
  };
}

/** Where these calls take their arguments from: the words of the task, or what an earlier one returned. */
export function planOfCalls(words: string, calls: readonly ScriptedCall[]): ScriptedPlan {
  const plan = new Map<string, Record<string, readonly ArgumentSource[]>>();
  for (const [index, { tool, args }] of calls.entries()) {
    const sources = plan.get(tool) ?? {};
    for (const [name, value] of Object.entries(args)) {
      const found = leavesOf(value ?? null).flatMap((leaf) => sourcesOf(leaf, words, calls.slice(0, index)));
      sources[name] = distinct([...(sources[name] ?? []), ...found]);
    }
    plan.set(tool, sources);
  }
  return plan;
}

/** Each place in which a value stands as a whole; a value that stands nowhere is asked about. */
function sourcesOf(value: string, words: string, before: readonly ScriptedCall[]): readonly ArgumentSource[] {
  if (stands(value, words)) return [{ kind: 'user' }];
  const given = before.filter(({ output }) => stands(value, output));
  if (given.length === 0) return [{ kind: 'asked' }];
  const isField = ({ fields }: ScriptedCall) => fields.has(value.trim().toLowerCase());
  return given.map((call) => ({
    kind: 'result',
    app: null,
    tool: call.tool,
    within: isField(call) ? 'field' : 'text',
  }));
}

/** As a word or words of its own, whatever its letters' case. */
function stands(value: string, text: string): boolean {
  const [wanted, searched] = [value.trim().toLowerCase(), text.toLowerCase()];
  if (wanted === '') return true;
  for (let at = searched.indexOf(wanted); at !== -1; at = searched.indexOf(wanted, at + 1)) {
    const [before, behind] = [searched[at - 1] ?? ' ', searched[at + wanted.length] ?? ' '];
    if (!/[\p{L}\p{N}]/u.test(before) && !/[\p{L}\p{N}]/u.test(behind)) return true;
  }
  return false;
}

function leavesOf(value: Json): readonly string[] {
  if (Array.isArray(value)) return value.flatMap((item: Json) => leavesOf(item));
  if (isJsonObject(value)) return Object.values(value).flatMap((item) => leavesOf(item ?? null));
  return value === null || typeof value === 'boolean' ? [] : [String(value)];
}

function distinct(sources: readonly ArgumentSource[]): readonly ArgumentSource[] {
  return [...new Map(sources.map((source) => [JSON.stringify(source), source])).values()];
}
