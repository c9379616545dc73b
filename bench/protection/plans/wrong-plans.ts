/**
 * A model whose plans are wrong at a stated rate: tools that the task needs are missing, and a planner's steps name others. The sources of
 * arguments stay as they are. All else it answers as the model does.
 */
import { isJsonObject, type Json, type JsonObject, type Model, ok, parseJson } from '@cordon/core';
import { Dice } from './plan-errors.ts';

export interface PlanErrors {
  /** So many of the named tools are missing, and so many of the steps name one more. */
  readonly percent: number;
  /** What the errors are thrown for: the same has the same errors. */
  readonly key: string;
  /** By app: what a step may name too much. */
  readonly tools: ReadonlyMap<string, readonly string[]>;
}

export function planningWrongly(model: Model, errors: PlanErrors): Model {
  const dice = new Dice(errors.key, errors.percent);
  return {
    complete: async (request, options) => {
      if (request.role !== 'planner' && request.role !== 'tool-planner')
        return model.complete(request, options);
      const answer = await model.complete(request, { signal: options.signal });
      if (!answer.ok) return answer;
      const plan = parseJson(answer.value.text);
      if (!plan.ok || !isJsonObject(plan.value)) return answer;
      return ok({ ...answer.value, text: JSON.stringify(wrong(plan.value, dice, errors.tools)) });
    },
  };
}

/** Of a planner's answer with steps or as one step, or one that names the tools of a step: those have no app. */
function wrong(plan: JsonObject, dice: Dice, tools: PlanErrors['tools']): JsonObject {
  if (!Array.isArray(plan.steps)) return wrongStep(plan, dice, tools);
  return {
    ...plan,
    steps: plan.steps.map((step) => (isJsonObject(step) ? wrongStep(step, dice, tools) : step)),
  };
}

/** A step that names nothing any more stays: the planner knows the app, and forgets what it is for. */
function wrongStep(
  { uses, passes, ...step }: JsonObject,
  dice: Dice,
  tools: PlanErrors['tools'],
): JsonObject {
  const app = typeof step.app === 'string' ? step.app : '';
  const isKept = (tool: Json) => !dice.falls(`missing ${String(tool)}`);
  const extra = dice.falls(`superfluous ${app}`)
    ? dice.oneOf(`superfluous ${app}`, tools.get(app) ?? [])
    : undefined;
  const named = [...listed(uses).filter(isKept), ...(extra === undefined ? [] : [extra])];
  const passed = listed(passes).filter((tool) => named.includes(tool));
  return {
    ...step,
    ...(named.length === 0 ? {} : { uses: [...new Set(named)] }),
    ...(passed.length === 0 ? {} : { passes: passed }),
  };
}

function listed(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}
