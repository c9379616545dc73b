/** Who may do what by the roles that a rule lists. Ring 1. */
import { isJsonObject, type Json, type JsonObject } from '@cordon/core';

/**
 * Whether a role of the user grants the scope. Whoever and whatever is not listed is not allowed, and what is no text or
 * list of texts grants nothing.
 */
export function isGranted(scope: string, user: string, roles: JsonObject, grants: JsonObject): boolean {
  return listAt(roles, user).some((role) => listAt(grants, role).includes(scope));
}

function listAt(object: Json, key: string): readonly string[] {
  if (!isJsonObject(object) || !Object.hasOwn(object, key)) return [];
  const value = object[key];
  if (typeof value === 'string') return [value];
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
}
