/**
 * The tools that a model sees in a spoke's context: derived by the hub from the turn and from what the context has been
 * given, so that a spoke cannot make the hub show a model tools that it was not given.
 */
import {
  AGENT_TOOLS,
  DATA_KINDS,
  isJsonObject,
  type JsonObject,
  type JsonSchema,
  type ModelTool,
} from '@cordon/core';
import type { TurnContext } from './message.ts';

/** What a context has been given in its turn so far. */
export interface Given {
  /** Whether a probe has named somebody to send requests to. */
  readonly hasPeer: boolean;
  /** Whether a text stands behind a reference. */
  readonly hasReference: boolean;
  /** Whether it may ask for data of the user. */
  readonly mayNeed: boolean;
}

/** Of one question. A form that asks for more is a questionnaire. */
const MOST_KINDS = 6;

/** What may be asked for at once. */
export const DATA_KINDS_SCHEMA: JsonSchema = {
  type: 'array',
  items: { enum: DATA_KINDS },
  minItems: 1,
  maxItems: MOST_KINDS,
};

/** What of a turn its model's tools come from. */
type Offering = Pick<TurnContext, 'tools' | 'offers' | 'functionalities'>;

/**
 * In this order: the app's own, those that the plan expects, and those of exchange. A name has one meaning: where the
 * app's own tool is called like one of the exchange, the context does without the latter. Every call of a model reads
 * every tool anew, so what there is nothing to use on yet is not offered.
 */
export function offeredTools(context: Offering, given: Given): readonly ModelTool[] {
  const offered = context.offers.map(({ name, description, request }) => ({
    name,
    description,
    parameters: request,
  }));
  const own = [...context.tools, ...offered];
  const taken = new Set(own.map(({ name }) => name));
  return [...own, ...exchangeTools(context, given).filter(({ name }) => !taken.has(name))];
}

/** What data may be asked for: own tools and offers that take arguments. What takes none lacks nothing. */
export function toolsThatTakeData({ tools, offers }: Offering): readonly string[] {
  const takes = ({ properties }: JsonSchema) =>
    isJsonObject(properties) && Object.keys(properties).length > 0;
  return [
    ...tools.filter(({ parameters }) => takes(parameters)),
    ...offers.filter(({ request }) => takes(request)),
  ].map(({ name }) => name);
}

function exchangeTools(context: Offering, { hasPeer, hasReference, mayNeed }: Given): readonly ModelTool[] {
  return [
    ...(context.functionalities.length === 0 ? [] : [probeTool(context)]),
    ...(hasPeer ? [REQUEST] : []),
    ...(mayNeed ? needTool(context) : []),
    ...(hasReference ? [OPEN, READ] : []),
  ];
}

/** The names say what they are; a list that explains them would be half of a small app's prompt. */
function probeTool({ functionalities }: Offering): ModelTool {
  return {
    name: AGENT_TOOLS.probe,
    description: 'Ask whether something else in the system can do what your own tools cannot.',
    parameters: objectSchema({
      functionality: { type: 'string', enum: functionalities.map(({ name }) => name) },
    }),
  };
}

/** Every model call pays for these words. What a list may hold besides, the loop says to a model that gets it wrong. */
function needTool(context: Offering): readonly ModelTool[] {
  const names = toolsThatTakeData(context);
  if (names.length === 0) return [];
  const kinds = { type: 'array', items: { enum: DATA_KINDS } };
  const properties = { kinds, for: { type: 'string', enum: names } };
  return [
    {
      name: AGENT_TOOLS.need,
      description: 'Ask the user for data that a tool needs. Go on without what is not given.',
      parameters: { type: 'object', properties, required: Object.keys(properties) },
    },
  ];
}

const REQUEST: ModelTool = {
  name: AGENT_TOOLS.request,
  description: 'Send a request in the format that `probe` answered, to the peer that it named.',
  parameters: objectSchema({ peer: { type: 'string' }, message: { type: 'object' } }),
};

const OPEN: ModelTool = {
  name: AGENT_TOOLS.open,
  description:
    'Texts of others appear as references such as {"ref": "$3", "length": 120}. You cannot see them, but you may put "$3" inside any argument or into your answer, and its text is put in its place. If that is not enough, this asks the user to let you read the text behind one.',
  parameters: objectSchema({ ref: { type: 'string' } }),
};

const READ: ModelTool = {
  name: AGENT_TOOLS.read,
  description:
    'Have the text behind a reference such as "$3" read for you, when you must know something of it. `schema` is a JSON Schema of the answer that you want: an object whose properties are numbers, booleans, strings with an `enum`, or strings with one of the formats "date", "time", "date-time", "uuid", "identifier"; lists need `maxItems`. Free text is not answered.',
  parameters: objectSchema({ ref: { type: 'string' }, schema: { type: 'object' } }),
};

function objectSchema(properties: JsonObject): JsonObject {
  return { type: 'object', properties, required: Object.keys(properties), additionalProperties: false };
}
