/**
 * What the newest words of the user, or of anyone who asks in the user's place, are about: a task of a scenario, some
 * steps of one, a request in another's format, or nothing that a scenario covers.
 */
import {
  AGENT_TOOLS,
  isJsonObject,
  type Json,
  type JsonObject,
  type ModelTool,
  parseJson,
} from '@cordon/core';
import { canonicalText } from './recogniser.ts';
import type { Scenario, ScenarioCall, Task } from './scenario.ts';

export type Turn =
  | { readonly kind: 'task'; readonly scenario: Scenario; readonly task: Task }
  | { readonly kind: 'steps'; readonly steps: readonly ScenarioStep[] }
  /** Another context's request: the fields of its message are the arguments of the own tool that takes them. */
  | { readonly kind: 'request'; readonly tool: ModelTool; readonly message: JsonObject }
  | { readonly kind: 'unknown' };

export interface ScenarioStep {
  readonly scenario: Scenario;
  /** Null: the call is an attack's. */
  readonly task: Task | null;
  readonly call: ScenarioCall;
}

export function turnOf(text: string, scenarios: readonly Scenario[], tools: readonly ModelTool[]): Turn {
  const covered = taskIn(text, scenarios);
  if (covered !== null) return { kind: 'task', ...covered };
  const shown = canonicalText(text);
  const steps = scenarios.flatMap(stepsOf).filter(({ call }) => shown.includes(canonicalText(call.purpose)));
  if (steps.length > 0) return { kind: 'steps', steps };
  return requestIn(text, scenarios, tools) ?? { kind: 'unknown' };
}

/**
 * The task whose query begins the text: released data and the hub's words come after it. Else the one whose query
 * stands last; of two that end there, the longer.
 */
export function taskIn(
  text: string,
  scenarios: readonly Scenario[],
): { readonly scenario: Scenario; readonly task: Task } | null {
  const shown = canonicalText(text);
  const found = scenarios.flatMap((scenario) =>
    scenario.tasks.flatMap((task) => {
      const query = canonicalText(task.query);
      const at = query === '' ? -1 : shown.lastIndexOf(query);
      if (at < 0) return [];
      const begins = shown.startsWith(query) ? 1 : 0;
      return [{ scenario, task, begins, end: at + query.length, length: query.length }];
    }),
  );
  const [best] = found.toSorted(
    (a, b) => b.begins - a.begins || (a.begins === 1 ? 0 : b.end - a.end) || b.length - a.length,
  );
  return best === undefined ? null : { scenario: best.scenario, task: best.task };
}

/** All steps of a scenario: those of its tasks, then those of its attacks. */
export function stepsOf(scenario: Scenario): readonly ScenarioStep[] {
  const own = scenario.tasks.flatMap((task) => task.calls.map((call) => ({ scenario, task, call })));
  const attackers = scenario.attacks.flatMap(({ calls }) => calls);
  return [...own, ...attackers.map((call) => ({ scenario, task: null, call }))];
}

function requestIn(text: string, scenarios: readonly Scenario[], tools: readonly ModelTool[]): Turn | null {
  const message = firstObject(text);
  if (message === null) return null;
  const keys = Object.keys(message);
  const agentTools: readonly string[] = Object.values(AGENT_TOOLS);
  const played = new Set(scenarios.flatMap(stepsOf).map(({ call }) => call.tool));
  const tool = tools.find(({ name, parameters }) => {
    if (agentTools.includes(name) || !played.has(name)) return false;
    const { properties } = parameters;
    return isJsonObject(properties) && keys.every((key) => Object.hasOwn(properties, key));
  });
  return tool === undefined ? null : { kind: 'request', tool, message };
}

/** A request may be in a sentence of the hub's. */
function firstObject(text: string): JsonObject | null {
  for (
    let from = text.indexOf('{'), tries = 0;
    from >= 0 && tries < 8;
    from = text.indexOf('{', from + 1), tries++
  ) {
    const parsed = objectAt(text, from);
    if (isJsonObject(parsed)) return parsed;
  }
  return null;
}

function objectAt(text: string, from: number): Json | undefined {
  let depth = 0;
  let inString = false;
  for (let at = from; at < text.length; at++) {
    const character = text[at];
    if (inString) {
      if (character === '\\') at++;
      else if (character === '"') inString = false;
    } else if (character === '"') inString = true;
    else if (character === '{') depth++;
    else if (character === '}' && --depth === 0) {
      const parsed = parseJson(text.slice(from, at + 1));
      return parsed.ok ? parsed.value : undefined;
    }
  }
  return undefined;
}
