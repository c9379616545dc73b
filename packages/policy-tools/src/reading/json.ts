/**
 * Looking into JSON that others wrote.
 *
 * Recordings are read with it; the hub does not use it.
 */
import type { Json, JsonObject } from '@cordon/core';

export function own(object: JsonObject, key: string): Json | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

export function isList(value: unknown): value is readonly Json[] {
  return Array.isArray(value);
}

export function isContainer(value: unknown): value is JsonObject | readonly Json[] {
  return typeof value === 'object' && value !== null;
}
