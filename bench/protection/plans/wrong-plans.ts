/**
 * A model that names the tools of an app wrongly at a stated rate, as `withErrors` has it: tools that the task needs are missing, one more
 * is named, some have no sources for their arguments, and some sources are texts of another tool. All else it answers as the model does.
 */
import { isJsonObject, type Json, type JsonObject, type Model, ok, parseJson } from '@cordon/core';
import { Dice } from './plan-errors.ts';

export interface PlanErrors {
  /** So many of the named tools are missing, so many have no sources, so many sources are wrong, and so many answers name one more. */
  readonly percent: number;
  /** What the errors are thrown for: the same has the same errors. */
  readonly key: string;
}

export function planningWrongly(model: Model, errors: PlanErrors): Model {
  const dice = new Dice(errors.key, errors.percent);
  return {
    complete: async (request, options) => {
      const answer = await model.complete(request, options);
      if (request.role !== 'tool-planner' || !answer.ok) return answer;
      const [asked, named] = [request.messages.at(-1)?.text ?? '', answer.value.text].map((text) =>
        parseJson(text),
      );
      if (named?.ok !== true || !isJsonObject(named.value)) return answer;
      const tools = asked?.ok === true && isJsonObject(asked.value) ? namesIn(asked.value.tools) : [];
      return ok({ ...answer.value, text: JSON.stringify(wrong(named.value, dice, tools)) });
    },
  };
}

function wrong(named: JsonObject, dice: Dice, tools: readonly string[]): JsonObject {
  const isKept = (tool: Json) => !dice.falls(`missing ${String(tool)}`);
  const more = `superfluous ${tools.join(' ')}`;
  const extra = dice.falls(more) ? dice.oneOf(more, tools) : undefined;
  const uses = [...new Set([...listed(named.uses).filter(isKept), ...(extra === undefined ? [] : [extra])])];
  const isNamed = (tool: Json | undefined) => tool !== undefined && uses.includes(tool);
  const from = listed(named.from)
    .filter(isJsonObject)
    .filter(({ tool }) => isNamed(tool) && !dice.falls(`no sources ${String(tool)}`))
    .map((one) => ({ ...one, sources: wrongSources(one, dice, tools) }));
  const only = (some: Json | undefined) => listed(some).filter(isNamed);
  return { uses, from, passes: only(named.passes), follows: only(named.follows) };
}

function wrongSources({ tool, argument, sources }: JsonObject, dice: Dice, tools: readonly string[]): Json[] {
  return listed(sources).map((source, index) => {
    const what = `${String(tool)} ${String(argument)} ${index}`;
    const other = dice.falls(what) ? dice.oneOf(what, tools) : undefined;
    return other === undefined ? source : `text of ${other}`;
  });
}

function namesIn(tools: Json | undefined): readonly string[] {
  return listed(tools).flatMap((tool) =>
    isJsonObject(tool) && typeof tool.name === 'string' ? [tool.name] : [],
  );
}

function listed(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}
