/**
 * Which parts of a message may cross between contexts as values. A value of a closed type (number, boolean,
 * enumeration, date, identifier) cannot carry an instruction to a model; free text can (architecture, "Text from
 * elsewhere is data"; paper, IV-C3: "dates, integers, and URLs may be possible to validate without the user").
 *
 * Ring 0.
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
 * The schema without the words of whoever wrote it (`description`, `title`, `examples`, `default`, `$comment`):
 * what remains tells another app's context how to form a message and can tell it nothing else.
 */
export function withoutProse(schema: Json): Json {
  if (isJsonArray(schema)) return schema.map(withoutProse);
  if (!isJsonObject(schema)) return schema;
  const out: Record<string, Json> = {};
  for (const [key, inner] of Object.entries(schema)) {
    if (PROSE_KEYS.has(key)) continue;
    out[key] = key === 'properties' && isJsonObject(inner) ? eachProperty(inner) : withoutProse(inner);
  }
  return out;
}

const PROSE_KEYS: ReadonlySet<string> = new Set([
  'description',
  'title',
  'examples',
  'default',
  '$comment',
  '$id',
  '$schema',
]);

/** Property names are kept even where they are spelt like an annotation (`title` of a document). */
function eachProperty(properties: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(properties).map(([key, inner]) => [key, withoutProse(inner)]));
}

function isJsonArray(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}
