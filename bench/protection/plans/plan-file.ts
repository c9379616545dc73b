/**
 * A file of plans, as `cordon bench plans SUITES` prints it and `cordon bench protection --plans FILE` takes it: `plans` → suite → task
 * → tool → argument → its sources; null for a tool of which the plan names none.
 */
import { readFileSync } from 'node:fs';
import {
  type Fault,
  failed,
  fault,
  isJsonObject,
  type Json,
  type JsonObject,
  ok,
  type PlannedSources,
  parseJson,
  plannedSourcesIn,
  type Result,
} from '@cordon/core';
import { textIn } from '../../data.ts';
import { LIMITS } from '../recorded-trace.ts';
import { plansOfSuites, type ScriptedPlan, type ScriptedPlans } from './scripted-plans.ts';

/** The plans as a file holds them. */
export function planFile(plans: ScriptedPlans): JsonObject {
  const suites = [...plans].map(([suite, tasks]) => {
    const all = [...tasks].map(([task, plan]) => [task, Object.fromEntries([...plan].map(stepOf))] as const);
    return [suite, Object.fromEntries(all)] as const;
  });
  return { plans: Object.fromEntries(suites) };
}

function stepOf([tool, sources]: readonly [string, PlannedSources | null]): readonly [string, Json] {
  if (sources === null) return [tool, null];
  const all = Object.entries(sources).map(([argument, named]) => [
    argument,
    named.map((one) => ({ ...one })),
  ]);
  return [tool, Object.fromEntries(all)];
}

/** Refuses what is no such file, with the place. */
export function readPlanFile(file: Json): Result<ScriptedPlans, string> {
  const suites = isJsonObject(file) ? file.plans : undefined;
  if (!isJsonObject(suites)) return failed('it has no `plans`');
  const plans = new Map<string, ReadonlyMap<string, ScriptedPlan>>();
  for (const [suite, tasks] of Object.entries(suites)) {
    if (!isJsonObject(tasks)) return failed(`\`plans.${suite}\` is no object of tasks`);
    const read = new Map<string, ScriptedPlan>();
    for (const [task, tools] of Object.entries(tasks)) {
      const place = `plans.${suite}.${task}`;
      if (!isJsonObject(tools)) return failed(`\`${place}\` is no object of tools`);
      const plan = new Map<string, PlannedSources | null>();
      for (const [tool, named = null] of Object.entries(tools)) {
        const sources = named === null ? null : plannedSourcesIn(named);
        if (named !== null && sources === null)
          return failed(`\`${place}.${tool}\` is no object of lists of sources, and not null`);
        plan.set(tool, sources);
      }
      read.set(task, plan);
    }
    plans.set(suite, read);
  }
  return ok(plans);
}

/** The plans in a file that `cordon bench plans` printed. Refuses one that is missing, or is no such file. */
export function readPlans(path: string): Result<ScriptedPlans, Fault> {
  return readFrom(path, readPlanFile, 'it must be what `cordon bench plans SUITES` prints');
}

/** The plans of the tasks in a file of suites, such as AgentDojo's `suites.json`. Refuses one that is missing, or is no such file. */
export function readScriptedPlans(path: string): Result<ScriptedPlans, Fault> {
  return readFrom(
    path,
    plansOfSuites,
    'it must have `suites` with `user_tasks`, each with a `prompt` and its `calls`',
  );
}

function readFrom(
  path: string,
  read: (file: Json) => Result<ScriptedPlans, string>,
  help: string,
): Result<ScriptedPlans, Fault> {
  const refused = (why: string) => failed(fault('usage', `${path}: ${why}`, help));
  let text: string;
  try {
    text = textIn(path, readFileSync(path));
  } catch (error) {
    return refused(error instanceof Error ? error.message : String(error));
  }
  const parsed = parseJson(text, LIMITS);
  if (!parsed.ok) return refused(parsed.fault);
  const plans = read(parsed.value);
  return plans.ok ? plans : refused(plans.fault);
}
