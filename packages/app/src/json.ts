/**
 * JSON values and the outcome of reading something that may be wrong. This package stands alone (it is what an app
 * loads at start), so it has its own few words for them.
 */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json;
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
