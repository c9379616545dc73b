/** Who may do what by the roles that a rule lists. */
import { isJsonObject, type Json, type JsonObject } from '@cordon/core';
import { textsIn } from '../text/text-list.ts';

/**
 * Whether a role of the user grants the scope (specification 13.3). A user, role or scope that is not listed is not allowed.
 * @param roles the roles of each user: `{"bob": ["admin"]}`, or one role as a text
 * @param grants the scopes of each role: `{"admin": {"public": True}}` as the seed language writes it; also `{"admin": ["public"]}`
 * @returns null where a role or grant that is needed has another form: a "no" would hide the mistake in the policy
 */
export function isGranted(
  scope: string,
  user: string,
  roles: JsonObject,
  grants: JsonObject,
): boolean | null {
  const held = textsOf(own(roles, user) ?? []);
  if (held === null) return null;
  const answers = held.map((role) => grantsScope(own(grants, role) ?? [], scope));
  if (answers.includes(true)) return true;
  return answers.includes(null) ? null : false;
}

function grantsScope(granted: Json, scope: string): boolean | null {
  if (!isJsonObject(granted)) return textsOf(granted)?.includes(scope) ?? null;
  const answer = own(granted, scope) ?? false;
  return typeof answer === 'boolean' ? answer : null;
}

/** Null: neither a text nor a list of texts. */
function textsOf(value: Json): readonly string[] | null {
  return typeof value === 'string' ? [value] : textsIn(value);
}

function own(object: JsonObject, key: string): Json | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}
