/** Which texts of a format can say anything. */
import { closedFormats, isJsonObject, type Json } from '@cordon/core';

/** Ways to strings in a schema that are no closed values: what may carry anything. */
export function freeTexts(schema: Json | undefined, way = ''): readonly string[] {
  if (!isJsonObject(schema)) return way === '' ? [] : [way];
  const { type, properties, items } = schema;
  if (isJsonObject(properties))
    return Object.entries(properties).flatMap(([key, inner]) =>
      freeTexts(inner, way === '' ? key : `${way}.${key}`),
    );
  if (items !== undefined) return freeTexts(items, `${way}[]`);
  const isClosed =
    Array.isArray(schema.enum) ||
    schema.const !== undefined ||
    (type !== undefined && CLOSED_TYPES.has(type)) ||
    (type === 'string' && typeof schema.format === 'string' && CLOSED_FORMATS.has(schema.format));
  return isClosed || way === '' ? [] : [way];
}

const CLOSED_TYPES: ReadonlySet<Json> = new Set(['number', 'integer', 'boolean', 'null']);
const CLOSED_FORMATS: ReadonlySet<string> = new Set(closedFormats());
