/**
 * Facts that calls and outputs of an app state: values of closed types, found without a model. No free text is among them, so
 * no instruction to a model either. The user's configuration decides which values count: the places that a manifest names
 * (`manifest.remembers`), or, without these, the fields of its functionalities (paper, A-C2: "sharing the dates").
 */
import {
  type AppId,
  type EventId,
  type Functionality,
  type InstalledApp,
  isClosedValue,
  isJsonObject,
  type Json,
  type JsonObject,
  type JsonSchema,
  type Manifest,
  type ReleasedItem,
} from '@cordon/core';
import { misfit } from '@cordon/protocol';
import type { ConsentRequirement } from '../consent/consent-requirement.ts';
import { memoryRequirement } from '../consent/release-requirements.ts';
import type { Context } from '../context/context.ts';
import type { Query } from '../context/query.ts';
import { unquotedText } from '../context/unquoted-text.ts';
import type { Recorder } from '../journal/recorder.ts';
import type { SeenCall } from '../mediation/tool-calls.ts';
import type { Fact } from './facts.ts';

/** A longer value can only be a constant of the configuration. */
const MOST_CHARACTERS = 200;
/** The longest place or name; and the longest query that can state one: a longer query may contain a pasted text. */
const MOST_OWN = 60;
const MOST_STATED = 300;

/** The most fields that are kept of one functionality. */
const MOST_FIELDS = 12;
const MOST_LEVELS = 3;

/** What this output of this tool states; the name is the configuration's own. */
export function observedIn(manifest: Manifest, tool: string, output: Json): readonly Fact[] {
  if (manifest.remembers === undefined) return fieldsOf(manifest, tool, output, ({ response }) => response);
  return manifest.remembers
    .filter((remembered) => remembered.tool === tool)
    .flatMap(({ name, at, schema }) => {
      const value = valueAt(output, at);
      const isPlain = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
      if (!isPlain || misfit(schema, value) !== null || !isClosedValue(schema, value)) return [];
      const text = String(value);
      return text.length > MOST_CHARACTERS ? [] : [{ name, value: text }];
    });
}

/**
 * Facts of the arguments of an executed call, such as the dates of a booked flight: values of closed types as for outputs, and
 * short texts that the user's query contains literally, such as a place or a name. None if the manifest has `remembers`.
 */
export function askedIn(manifest: Manifest, tool: string, args: JsonObject, query: string): readonly Fact[] {
  if (manifest.remembers !== undefined) return [];
  const own = isShortLine(query) ? unquotedText(query) : '';
  return fieldsOf(
    manifest,
    tool,
    args,
    ({ request }) => request,
    (text) => isOwnWord(text, own),
  );
}

/** Attack: the user pastes a mail or quotes it, and an app has a sentence of it kept. */
function isShortLine(query: string): boolean {
  return query.length <= MOST_STATED && !/[\r\n\u2028\u2029]/u.test(query);
}

function isOwnWord(text: string, own: string): boolean {
  const at = text.length > MOST_OWN || text.trim() === '' ? -1 : own.indexOf(text);
  const isEdge = (character: string | undefined) =>
    character === undefined || !/[\p{L}\p{N}]/u.test(character);
  return at !== -1 && isEdge(own[at - 1]) && isEdge(own[at + text.length]);
}

function fieldsOf(
  { functionalities }: Manifest,
  tool: string,
  value: Json,
  schemaOf: (served: Functionality) => JsonSchema,
  isOwn: (text: string) => boolean = () => false,
): readonly Fact[] {
  return functionalities
    .filter((served) => served.tool === tool)
    .flatMap((served) =>
      closedFields(schemaOf(served), value, { name: served.name, levels: MOST_LEVELS, isOwn }).slice(
        0,
        MOST_FIELDS,
      ),
    );
}

interface Field {
  readonly name: string;
  readonly levels: number;
  /** Whether a free text is the user's own. */
  readonly isOwn: (text: string) => boolean;
}

/** `functionality.field`, and `functionality.field.inner`; not lists, because nothing says which of their items counts. */
function closedFields(schema: JsonSchema, value: Json, { name, levels, isOwn }: Field): readonly Fact[] {
  if (typeof value === 'number' || typeof value === 'string') {
    const isPlain =
      typeof value === 'number' ? Number.isFinite(value) : isPlainText(schema, value) || isOwn(value);
    return isPlain && misfit(schema, value) === null ? [{ name, value: String(value) }] : [];
  }
  const { properties } = schema;
  if (levels === 0 || !isJsonObject(value) || !isJsonObject(properties)) return [];
  return Object.entries(properties).flatMap(([key, inner]) =>
    isJsonObject(inner) && Object.hasOwn(value, key)
      ? closedFields(inner, value[key] ?? null, { name: `${name}.${key}`, levels: levels - 1, isOwn })
      : [],
  );
}

const FORMATS: ReadonlySet<Json> = new Set(['date', 'time', 'date-time', 'uuid']);

/**
 * Values of these formats, or words that the configuration lists. Attack: an app spells a sentence with the fields of its answer,
 * one word in each `identifier` (`IGNORE-1`).
 */
function isPlainText(schema: JsonSchema, text: string): boolean {
  const isListed = Array.isArray(schema.enum) || typeof schema.const === 'string';
  const isFormat = schema.format !== undefined && FORMATS.has(schema.format);
  return (isListed || isFormat) && text.length <= MOST_CHARACTERS && isClosedValue(schema, text);
}

function valueAt(output: Json, path: readonly string[]): Json | undefined {
  let value: Json | undefined = output;
  for (const key of path) {
    if (!isJsonObject(value) || !Object.hasOwn(value, key)) return undefined;
    value = value[key];
  }
  return value;
}

/**
 * Keeps what an executed call states, until the query ends: as the app's word, with the label of the output.
 *
 * Attack: an app makes its model call what nobody asked for, to plant values. Of a call beside the plan only those values count
 * that the user's manifest names.
 */
export function recordObserved(
  recorder: Recorder,
  context: Context,
  query: Query,
  app: InstalledApp,
  seen: SeenCall,
): void {
  const { output, brought, asked, isPlanned } = seen;
  const { id: origin, manifest } = app;
  if (output.isError || (!isPlanned && manifest.remembers === undefined)) return;
  const { tool, structured, label } = output;
  const keep = (facts: readonly Fact[], source: EventId) => {
    for (const { name, value } of facts) {
      query.observes({ fact: { name, value, origin, label }, source });
      recorder.record(context, { kind: 'fact.observed', name }, { causes: [source], label });
    }
  };
  if (asked !== null) keep(askedIn(manifest, tool, asked.arguments, query.text), asked.event);
  // Of a field of both, what came of the call counts.
  keep(observedIn(manifest, tool, structured), brought);
}

/** Facts of apps for another app's context; each counts as a statement of the app that it comes from. */
export function observedRequirement(to: AppId | null, items: readonly ReleasedItem[]): ConsentRequirement {
  const sources = [...new Set(items.flatMap(({ origin }) => origin ?? []))];
  return {
    ...memoryRequirement(to, items),
    warnings: sources.map((app) => `\`${app}\` says this, not you`),
  };
}
