/**
 * Facts that an app's output states: values of closed types at places that the user's configuration names
 * (`manifest.remembers`). Read without a model. A text cannot be one, and so no instruction to a model either.
 *
 * Ring 0.
 */
import {
  type AppId,
  isClosedValue,
  isJsonObject,
  type Json,
  type Manifest,
  type ReleasedItem,
} from '@cordon/core';
import { misfit } from '@cordon/protocol';
import type { Fact } from './facts.ts';
import { memoryNeed } from './needs.ts';
import type { PermissionNeed } from './permission.ts';

/** Longer ones are none of the closed types but a constant of the configuration. */
const MOST_CHARACTERS = 200;

/** What this output of this tool states; the name is the configuration's own. */
export function observedIn(manifest: Manifest, tool: string, output: Json): readonly Fact[] {
  return (manifest.remembers ?? [])
    .filter((remembered) => remembered.tool === tool)
    .flatMap(({ name, at, schema }) => {
      const value = valueAt(output, at);
      const isPlain = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
      if (!isPlain || misfit(schema, value) !== null || !isClosedValue(schema, value)) return [];
      const text = String(value);
      return text.length > MOST_CHARACTERS ? [] : [{ name, value: text }];
    });
}

function valueAt(output: Json, path: readonly string[]): Json | undefined {
  let value: Json | undefined = output;
  for (const key of path) {
    if (!isJsonObject(value) || !Object.hasOwn(value, key)) return undefined;
    value = value[key];
  }
  return value;
}

/** Facts of apps for another app's context: each is the word of the app that it comes from. */
export function observedNeed(to: AppId | null, items: readonly ReleasedItem[]): PermissionNeed {
  const sources = [...new Set(items.flatMap(({ origin }) => origin ?? []))];
  return {
    ...memoryNeed(to, items),
    warnings: sources.map((app) => `\`${app}\` says this, not you`),
  };
}
