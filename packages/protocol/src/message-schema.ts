/**
 * The JSON Schema of every message, in the draft that docs/protocol.md prints: both ends check what they receive by
 * these, and a second implementation can. The sizes are part of the format.
 */
import type { JsonObject, JsonSchema } from '@cordon/core';
import type { HubMessage, SpokeMessage } from './message.ts';
import { DATA_KINDS_SCHEMA } from './offered-tools.ts';

/** A whole prompt with its tool outputs fits, a flood does not. */
const TEXT_LENGTH = 2 * 1024 * 1024;
const NAME_LENGTH = 256;
const LIST_LENGTH = 2_000;
const MOST_VERSIONS = 16;

const TEXT: JsonSchema = { type: 'string', maxLength: TEXT_LENGTH };
/** What the hub sends is bounded by the line. */
const LONG_TEXT: JsonSchema = { type: 'string' };
const NAME: JsonSchema = { type: 'string', maxLength: NAME_LENGTH };
const COUNT: JsonSchema = { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER };
const FLAG: JsonSchema = { type: 'boolean' };
const OBJECT: JsonSchema = { type: 'object' };
const ANY: JsonSchema = {};
const VERSIONS: JsonSchema = { type: 'array', items: COUNT, minItems: 1, maxItems: MOST_VERSIONS };

const MESSAGES = messages(TEXT, LIST_LENGTH);

/** What a spoke may send, by `type`. */
export const SPOKE_SCHEMAS: Readonly<Record<SpokeMessage['type'], JsonSchema>> = {
  ready: message('ready', { versions: VERSIONS }),
  model: message('model', { id: COUNT, messages: MESSAGES }),
  tool: message('tool', { id: COUNT, name: NAME, arguments: OBJECT }),
  probe: message('probe', { id: COUNT, functionality: NAME }),
  request: message('request', { id: COUNT, peer: NAME, message: ANY }),
  open: message('open', { id: COUNT, reference: NAME }),
  read: message('read', { id: COUNT, reference: NAME, schema: OBJECT }),
  need: message('need', { id: COUNT, kinds: DATA_KINDS_SCHEMA, for: NAME }),
  answer: message('answer', { id: COUNT, text: TEXT }),
  exhausted: message('exhausted', { id: COUNT, steps: COUNT }),
  unfit: message('unfit', { id: COUNT }),
};

/** What the hub may send, by `type`. */
export const HUB_SCHEMAS: Readonly<Record<HubMessage['type'], JsonSchema>> = {
  welcome: message('welcome', { version: COUNT }),
  unsupported: message('unsupported', { versions: VERSIONS }),
  turn: message('turn', { id: COUNT, context: turnContext() }),
  cancel: message('cancel', { id: COUNT }),
  reply: message('reply', { id: COUNT, text: LONG_TEXT, calls: list(call(LONG_TEXT)) }),
  output: message('output', { id: COUNT, text: LONG_TEXT, isError: FLAG }),
  offer: message('offer', { id: COUNT, peer: NAME, request: OBJECT, response: OBJECT }),
  response: message('response', { id: COUNT, message: ANY }),
  gone: message('gone', { id: COUNT }),
  opened: message('opened', { id: COUNT, text: LONG_TEXT }),
  finding: message('finding', { id: COUNT, value: ANY }),
  data: message('data', { id: COUNT, values: OBJECT }),
  refusal: message('refusal', { id: COUNT, malformed: FLAG, text: LONG_TEXT }),
};

function turnContext(): JsonSchema {
  return shape({
    system: LONG_TEXT,
    history: messages(LONG_TEXT, null),
    query: LONG_TEXT,
    data: list(shape({ name: LONG_TEXT, value: LONG_TEXT })),
    tools: list(shape({ name: LONG_TEXT, description: LONG_TEXT, parameters: OBJECT })),
    offers: list(
      shape({ name: NAME, description: LONG_TEXT, peer: NAME, request: OBJECT, response: OBJECT }),
    ),
    functionalities: list(shape({ name: NAME, description: LONG_TEXT })),
    serves: { anyOf: [{ type: 'null' }, shape({ message: ANY, request: OBJECT, response: OBJECT })] },
    maxSteps: COUNT,
  });
}

/** What a model was told and said; `most` null: bounded by the line. */
function messages(text: JsonSchema, most: number | null): JsonSchema {
  const name = most === null ? LONG_TEXT : NAME;
  return list(
    {
      anyOf: [
        shape({ role: { enum: ['system', 'user'] }, text }),
        shape({ role: { const: 'assistant' }, text, calls: list(call(name), most) }),
        shape({ role: { const: 'tool' }, callId: name, name, text, isError: FLAG }),
      ],
    },
    most,
  );
}

function call(name: JsonSchema): JsonSchema {
  return shape({ id: name, name, arguments: OBJECT });
}

function message(type: string, fields: JsonObject): JsonSchema {
  return { title: type, ...shape({ type: { const: type }, ...fields }) };
}

/** All of these fields and no other. */
function shape(properties: JsonObject): JsonSchema {
  return { type: 'object', properties, required: Object.keys(properties), additionalProperties: false };
}

function list(items: JsonSchema, most: number | null = null): JsonSchema {
  return most === null ? { type: 'array', items } : { type: 'array', items, maxItems: most };
}
