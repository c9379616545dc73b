/**
 * The arguments of a call or a message, each by itself: what is shown of them, and what a yes to them is a yes to.
 */
import { isJsonObject, type Json } from './json.ts';

/** One value that holds no others by name. */
export interface NamedArgument {
  /** `to`, or `event.attendees[0].email` for one that lies deeper. */
  readonly path: string;
  readonly value: Json;
  /** A text as it is; anything else as JSON. */
  readonly text: string;
}

/** All arguments of an object; none of any other value. */
export function namedArguments(value: Json): readonly NamedArgument[] {
  return isJsonObject(value) ? leaves(value, '') : [];
}

function leaves(value: Json, path: string): NamedArgument[] {
  if (isJsonObject(value) && (path === '' || Object.keys(value).length > 0))
    return Object.entries(value).flatMap(([key, inner]) =>
      leaves(inner, path === '' ? key : `${path}.${key}`),
    );
  // A list of plain values is one value: its members have no names.
  if (Array.isArray(value) && value.some((item) => typeof item === 'object' && item !== null))
    return value.flatMap((item: Json, index) => leaves(item, `${path}[${index}]`));
  return [{ path, value, text: typeof value === 'string' ? value : JSON.stringify(value) }];
}

/** The names of all members of a value, at any depth: a text can stand there as well as in a value. */
export function memberNames(value: Json): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(memberNames);
  return isJsonObject(value)
    ? Object.entries(value).flatMap(([name, inner]) => [name, ...memberNames(inner)])
    : [];
}
