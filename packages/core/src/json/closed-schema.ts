/**
 * Schemas whose values cannot carry an instruction, however they were chosen: what a quarantined reader may answer
 * with (architecture, "Text from elsewhere is data"). Whoever wrote the text may decide which of the values comes
 * back, and nothing else.
 */

import { failed, ok, type Result } from '../values/result.ts';
import { isJsonObject, type Json, type JsonObject, type JsonSchema } from './json.ts';
import { closedFormats, TYPE_NAMES } from './schema.ts';

/** The whole schema as JSON. */
const SCHEMA_LENGTH = 8 * 1024;
const DEPTH = 4;
/** Values of one answer, lists at their longest: what a text may spell with them is short. */
const MOST_VALUES = 64;
const MOST_CHOICES = 64;
const CHOICE_LENGTH = 64;
const NAME_LENGTH = 64;

/**
 * The schema in the form in which it is used: only what is understood here, every object without further fields.
 * Refused, with what is wrong in words for a model: free text anywhere, unknown forms, and more than a short answer.
 */
export function closedSchema(schema: Json): Result<JsonSchema, string> {
  if (JSON.stringify(schema).length > SCHEMA_LENGTH) return failed('the schema is too large');
  try {
    const { form, values } = closed(schema, 0);
    return values > MOST_VALUES
      ? failed(`the schema allows more than ${MOST_VALUES} values in one answer`)
      : ok(form);
  } catch (error) {
    if (error instanceof Open) return failed(error.message);
    throw error;
  }
}

/** Thrown and caught inside this file only. */
class Open extends Error {}

interface Closed {
  readonly form: JsonSchema;
  /** The most values that an answer can hold. */
  readonly values: number;
}

function closed(schema: Json | undefined, depth: number): Closed {
  if (!isJsonObject(schema)) throw new Open('a schema is no object');
  if (depth > DEPTH) throw new Open(`the schema is nested more than ${DEPTH} deep`);
  const types = typesOf(schema);
  if (types.includes('object')) return closedObject(schema, types, depth);
  if (types.includes('array')) return closedList(schema, types, depth);
  if (schema.enum !== undefined) return { form: choice(schema, schema.enum), values: 1 };
  if (schema.const !== undefined) return { form: choice(schema, [schema.const]), values: 1 };
  if (types.length === 0) throw new Open('a type is missing');
  const format = types.includes('string') ? { format: closedFormat(schema) } : {};
  return { form: { type: types, ...format, ...bounds(schema), ...purpose(schema) }, values: 1 };
}

function typesOf({ type }: JsonObject): readonly Json[] {
  const types = type === undefined ? [] : Array.isArray(type) ? type : [type];
  if (!types.every((one) => TYPE_NAMES.has(one))) throw new Open('a type is unknown');
  return types;
}

function closedObject(schema: JsonObject, types: readonly Json[], depth: number): Closed {
  if (types.length > 1) throw new Open('an object has another type besides');
  const { properties, required } = schema;
  if (!isJsonObject(properties)) throw new Open('an object has no `properties`');
  const inner = Object.entries(properties).map(([name, property]) => {
    if (name.length > NAME_LENGTH || name === '__proto__')
      throw new Open('the name of a property is too long');
    return [name, closed(property, depth + 1)] as const;
  });
  const wanted = Array.isArray(required)
    ? required.filter((name) => Object.hasOwn(properties, String(name)))
    : [];
  return {
    form: {
      type: 'object',
      properties: Object.fromEntries(inner.map(([name, { form }]) => [name, form])),
      required: wanted,
      additionalProperties: false,
      ...purpose(schema),
    },
    values: inner.reduce((sum, [, { values }]) => sum + values, 0),
  };
}

function closedList(schema: JsonObject, types: readonly Json[], depth: number): Closed {
  if (types.length > 1) throw new Open('a list has another type besides');
  const { items, maxItems, minItems } = schema;
  if (typeof maxItems !== 'number' || !Number.isInteger(maxItems) || maxItems < 0)
    throw new Open('a list has no `maxItems`');
  const { form, values } = closed(items, depth + 1);
  const least = typeof minItems === 'number' ? { minItems } : {};
  return {
    form: { type: 'array', items: form, maxItems, ...least, ...purpose(schema) },
    values: values * maxItems,
  };
}

/** The asking model chose these words itself: they tell it nothing that it did not write. */
function choice(schema: JsonObject, values: Json): JsonSchema {
  if (!Array.isArray(values) || values.length === 0 || values.length > MOST_CHOICES)
    throw new Open(`an \`enum\` has none or more than ${MOST_CHOICES} values`);
  if (!values.every(isChoice)) throw new Open('a value of an `enum` is no plain value, or too long');
  return { enum: values, ...purpose(schema) };
}

function isChoice(value: Json): boolean {
  return typeof value === 'string'
    ? value.length <= CHOICE_LENGTH
    : value === null || typeof value !== 'object';
}

function closedFormat({ format }: JsonObject): Json {
  if (typeof format === 'string' && closedFormats().includes(format)) return format;
  throw new Open(`a string has neither an \`enum\` nor one of the formats ${closedFormats().join(', ')}`);
}

function bounds(schema: JsonObject): JsonObject {
  const { minimum, maximum } = schema;
  return {
    ...(typeof minimum === 'number' ? { minimum } : {}),
    ...(typeof maximum === 'number' ? { maximum } : {}),
  };
}

/** What the asking model says of a value, for the reader alone. */
function purpose({ description }: JsonObject): JsonObject {
  return typeof description === 'string' ? { description } : {};
}

/** As many as a number, a format and the choice among a few types can tell; measured generously. */
const BITS_OF_FORMATS: ReadonlyMap<unknown, number> = new Map(
  Object.entries({ date: 27, time: 52, 'date-time': 80, uuid: 128, identifier: 110 }),
);
const BITS_OF_NUMBER = 64;
const UNKNOWN_BITS = 1024;

/**
 * At most so many bits of a text can be told by one value of a closed schema (the form that `closedSchema` gives).
 * Attack: whoever asks has the text spelt out, letter by letter, in numbers.
 */
export function mostBits(form: Json): number {
  if (!isJsonObject(form)) return UNKNOWN_BITS;
  if (Array.isArray(form.enum)) return Math.log2(form.enum.length);
  const types = typesOf(form);
  const among = Math.log2(Math.max(1, types.length));
  return types.reduce<number>((most, type) => Math.max(most, bitsOfType(form, type)), 0) + among;
}

function bitsOfType(form: JsonObject, type: Json): number {
  const { properties, required, items, maxItems, format } = form;
  switch (type) {
    case 'null':
      return 0;
    case 'boolean':
      return 1;
    case 'number':
    case 'integer':
      return BITS_OF_NUMBER;
    case 'string':
      return BITS_OF_FORMATS.get(format) ?? UNKNOWN_BITS;
    case 'array':
      return typeof maxItems === 'number' && items !== undefined
        ? maxItems * mostBits(items) + Math.log2(maxItems + 1)
        : UNKNOWN_BITS;
    case 'object':
      return isJsonObject(properties)
        ? Object.entries(properties).reduce((sum, [name, inner]) => {
            const mayLack = !(Array.isArray(required) && required.includes(name));
            return sum + mostBits(inner) + (mayLack ? 1 : 0);
          }, 0)
        : UNKNOWN_BITS;
    default:
      return UNKNOWN_BITS;
  }
}
