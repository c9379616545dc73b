/**
 * Which parts of a message may cross between contexts as values. A value of a closed type (number, boolean,
 * enumeration, date, identifier) cannot carry an instruction to a model; free text can (architecture, "Text from
 * elsewhere is data"; paper, IV-C3: "dates, integers, and URLs may be possible to validate without the user").
 */
import { isJsonObject, type Json, type JsonObject, type JsonSchema } from './json.ts';

/**
 * String formats whose values are checked by these patterns, whatever a validator makes of the format's name.
 * `identifier` is a prefix of at most eight letters and then digits: sixty letters would be a sentence.
 */
const CLOSED_FORMATS: Readonly<Record<string, RegExp>> = {
  date: /^\d{4}-\d{2}-\d{2}$/,
  time: /^\d{2}:\d{2}(:\d{2})?(\.\d{1,9})?(Z|[+-]\d{2}:\d{2})?$/,
  'date-time': /^\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}(:\d{2})?(\.\d{1,9})?([Zz]|[+-]\d{2}:\d{2})?$/,
  uuid: /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i,
  identifier: /^[A-Za-z]{0,8}[-_]?\d{1,18}$/,
};

export function closedFormats(): readonly string[] {
  return Object.keys(CLOSED_FORMATS);
}

/** Whether this very value is of a closed type under this schema. Unknown schema forms are free text. */
export function isClosedValue(schema: Json | undefined, value: Json): boolean {
  if (!isJsonObject(schema)) return false;
  if (value === null || typeof value === 'boolean') return true;
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value === 'string') return isClosedString(schema, value);
  if (isJsonArray(value)) return value.every((item) => isClosedValue(schema.items, item));
  return Object.entries(value).every(([key, inner]) => isClosedValue(propertySchema(schema, key), inner));
}

function isClosedString(schema: JsonSchema, value: string): boolean {
  const allowed = schema.enum;
  if (isJsonArray(allowed)) return allowed.includes(value);
  if (typeof schema.const === 'string') return schema.const === value;
  const format = schema.format;
  if (typeof format !== 'string' || !Object.hasOwn(CLOSED_FORMATS, format)) return false;
  return CLOSED_FORMATS[format]?.test(value) ?? false;
}

/** The schema of a named property; a key that the schema does not list has none, and is free text itself. */
function propertySchema(schema: JsonSchema, key: string): Json | undefined {
  const properties = schema.properties;
  return isJsonObject(properties) && Object.hasOwn(properties, key) ? properties[key] : undefined;
}

/**
 * Rebuilds `value` with every free text handed to `replace`, which answers what stands in its place. `path` is
 * JSON-pointer-like (`items.0.subject`). Keys that the schema does not list are dropped: a key is text too.
 */
export function replaceFreeText(
  schema: Json | undefined,
  value: Json,
  replace: (text: string, path: string) => Json,
  path = '',
): Json {
  if (typeof value === 'string') return isClosedValue(schema, value) ? value : replace(value, path);
  if (typeof value !== 'object' || value === null) return value;
  const under = (key: string | number) => (path === '' ? String(key) : `${path}.${key}`);
  if (isJsonArray(value)) {
    const items = isJsonObject(schema) ? schema.items : undefined;
    return value.map((item, index) => replaceFreeText(items, item, replace, under(index)));
  }
  const out: Record<string, Json> = {};
  for (const [key, inner] of Object.entries(value)) {
    const inside = isJsonObject(schema) ? propertySchema(schema, key) : undefined;
    if (inside !== undefined) out[key] = replaceFreeText(inside, inner, replace, under(key));
  }
  return out;
}

/**
 * A vetted schema as another app's context may see it: what tells how to form a message, and nothing else. What is
 * not known to be structure is dropped: a list of what may not pass (`description`, `title`) would let every
 * keyword pass that nobody thought of.
 */
export function withoutProse(schema: Json): Json {
  if (isJsonArray(schema)) return schema.map(withoutProse);
  if (!isJsonObject(schema)) return schema;
  const out: Record<string, Json> = {};
  for (const [key, inner] of Object.entries(schema)) {
    if (VALUE_KEYWORDS.has(key)) out[key] = inner;
    else if (SCHEMA_KEYWORDS.has(key)) out[key] = withoutProse(inner);
    else if (MAP_KEYWORDS.has(key) && isJsonObject(inner)) out[key] = eachSchema(inner);
  }
  return out;
}

/** Property names are kept even where they are spelt like an annotation (`title` of a document). */
function eachSchema(schemas: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(schemas).map(([key, inner]) => [key, withoutProse(inner)]));
}

const SIZE_KEYWORDS = [
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf', 'minLength', 'maxLength'],
  ...['minItems', 'maxItems', 'minProperties', 'maxProperties', 'minContains', 'maxContains'],
];
const VALUE_KEYWORDS: ReadonlySet<string> = new Set([
  ...SIZE_KEYWORDS,
  ...['type', 'enum', 'const', 'required', 'format', 'pattern', 'uniqueItems', 'dependentRequired', '$ref'],
]);
const SCHEMA_KEYWORDS: ReadonlySet<string> = new Set([
  ...['items', 'prefixItems', 'contains', 'additionalProperties', 'unevaluatedProperties', 'propertyNames'],
  ...['allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else'],
]);
const MAP_KEYWORDS: ReadonlySet<string> = new Set([
  ...['properties', 'patternProperties', 'dependentSchemas', '$defs', 'definitions'],
]);

/** A name, not a sentence; what a tool of a real server calls its parameters fits. */
const PLAIN_NAME = /^[A-Za-z_][A-Za-z0-9_.-]{0,39}$/;
export const TYPE_NAMES: ReadonlySet<Json> = new Set([
  ...['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'],
]);
/** Not `identifier`: a list of them (`IGNORE-1`, `ALL-2`, …) is a sentence. */
const STRANGERS_FORMATS: ReadonlySet<Json> = new Set(['date', 'time', 'date-time', 'uuid']);

/**
 * A schema that nobody vetted, as another app's context may see it, and by which values may cross to one: types,
 * sizes and the names of properties, in alphabetical order so that they make no sentence.
 *
 * Attack: an output schema that lists a sentence under `enum` or `const` makes it a closed value, which would cross
 * without being looked at; `pattern`, `$ref` and `required` carry a sentence to whoever reads the schema.
 */
export function strangersSchema(schema: Json | undefined): JsonSchema {
  if (!isJsonObject(schema)) return {};
  const out: Record<string, Json> = {};
  const { type, format, properties, required, items } = schema;
  const types = isJsonArray(type) ? type.filter((name) => TYPE_NAMES.has(name)) : type;
  if (types !== undefined && (isJsonArray(types) ? types.length > 0 : TYPE_NAMES.has(types)))
    out.type = types;
  if (format !== undefined && STRANGERS_FORMATS.has(format)) out.format = format;
  for (const key of SIZE_KEYWORDS) {
    const size = Object.hasOwn(schema, key) ? schema[key] : undefined;
    if (typeof size === 'number' && Number.isFinite(size)) out[key] = size;
  }
  if (isJsonObject(properties)) {
    const named = Object.entries(properties).filter(([name]) => PLAIN_NAME.test(name));
    const sorted = named.sort(([a], [b]) => (a < b ? -1 : 1));
    out.properties = Object.fromEntries(sorted.map(([name, inner]) => [name, strangersSchema(inner)]));
    const known = new Set<Json>(named.map(([name]) => name));
    if (isJsonArray(required)) out.required = required.filter((name) => known.has(name)).toSorted();
  }
  if (isJsonObject(items)) out.items = strangersSchema(items);
  return out;
}

function isJsonArray(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}
