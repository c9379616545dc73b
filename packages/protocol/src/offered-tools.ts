/**
 * The tools that a model sees in a spoke's context: derived from the turn by both sides alike, so that a spoke
 * cannot make the hub show a model tools that it was not given.
 *
 * Ring 0.
 */
import { AGENT_TOOLS, type JsonObject, type ModelTool } from '@cordon/core';
import type { TurnContext } from './message.ts';

/**
 * In this order: the app's own, those that the plan expects, and the four of exchange. A name has one meaning: where
 * the app's own tool is called like one of the exchange, the context does without the latter.
 */
export function offeredTools(context: TurnContext): readonly ModelTool[] {
  const offered = context.offers.map(({ name, description, request }) => ({
    name,
    description,
    parameters: request,
  }));
  const own = [...context.tools, ...offered];
  const taken = new Set(own.map(({ name }) => name));
  return [...own, ...exchangeTools(context).filter(({ name }) => !taken.has(name))];
}

function exchangeTools(context: TurnContext): readonly ModelTool[] {
  const open: ModelTool = {
    name: AGENT_TOOLS.open,
    description:
      'Ask the user to let you read the text behind a reference such as "$3". Rarely needed: a reference may stand inside any argument or in your answer, and its text is put in its place.',
    parameters: objectSchema({ ref: { type: 'string' } }),
  };
  const read: ModelTool = {
    name: AGENT_TOOLS.read,
    description:
      'Have the text behind a reference such as "$3" read for you, when you must know something of it. `schema` is a JSON Schema of the answer that you want: an object whose properties are numbers, booleans, strings with an `enum`, or strings with one of the formats "date", "time", "date-time", "uuid", "identifier"; lists need `maxItems`. Free text is not answered.',
    parameters: objectSchema({ ref: { type: 'string' }, schema: { type: 'object' } }),
  };
  if (context.functionalities.length === 0) return context.offers.length === 0 ? [] : [open, read];
  const list = context.functionalities.map(({ name, description }) => `- ${name}: ${description}`).join('\n');
  return [
    {
      name: AGENT_TOOLS.probe,
      description: `Ask whether something else in the system can do what your own tools cannot. Known functionalities:\n${list}`,
      parameters: objectSchema({
        functionality: { type: 'string', enum: context.functionalities.map(({ name }) => name) },
      }),
    },
    {
      name: AGENT_TOOLS.request,
      description: 'Send a request in the format that `probe` answered, to the peer that it named.',
      parameters: objectSchema({ peer: { type: 'string' }, message: { type: 'object' } }),
    },
    open,
    read,
  ];
}

function objectSchema(properties: JsonObject): JsonObject {
  return { type: 'object', properties, required: Object.keys(properties), additionalProperties: false };
}
