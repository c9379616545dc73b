/**
 * The parameters of a tool as rules see them, read from its schema (specification 4.3).
 *
 * Recordings are read with it; the hub does not use it.
 */
import { isJsonObject, type Json } from '@cordon/core';
import type { ToolParameter } from '@cordon/policy';
import { isList } from './json.ts';

const TYPE_ALIASES: ReadonlyMap<string, string> = new Map([
  ['int', 'integer'],
  ['long', 'integer'],
  ['float', 'number'],
  ['bool', 'boolean'],
  ['str', 'string'],
  ['dict', 'object'],
  ['list', 'array'],
]);

/** Only those of the first level. `spelled`: how the format's names of types are written in rules. */
export function toolParameters(
  schema: Json | undefined,
  spelled: (written: string) => string = (written) => written,
): readonly ToolParameter[] {
  const { properties, required } = isJsonObject(schema) ? schema : {};
  if (!isJsonObject(properties)) return [];
  const names = new Set(isList(required) ? required : []);
  return Object.entries(properties).map(([name, property]) => {
    const inner = isJsonObject(property) ? property : {};
    const types = (isList(inner.type) ? inner.type : [inner.type])
      .filter((type) => typeof type === 'string')
      .map(spelled);
    const named = types.find((type) => type !== 'null') ?? 'string';
    return {
      name,
      type: TYPE_ALIASES.get(named) ?? named,
      description: typeof inner.description === 'string' ? inner.description : NO_DESCRIPTION,
      required: names.has(name) && !types.includes('null'),
      schema: inner,
    };
  });
}

export const NO_DESCRIPTION = 'no description available';
