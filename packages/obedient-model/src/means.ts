/** By which tool of its context the model makes a call, and how it fills and refills the arguments. */
import { closedFormats, isJsonObject, type Json, type JsonObject, type ModelTool } from '@cordon/core';
import type { ScenarioCall } from './scenario.ts';

/** What takes the arguments: an own tool, or (`isForeign`) the format of another's functionality. */
export interface Means {
  readonly tool: ModelTool;
  readonly isForeign: boolean;
}

/** The tool itself, under its plain name or with its app before it; else a functionality that covers it. */
export function meansFor(
  call: ScenarioCall,
  argumentNames: readonly string[],
  tools: readonly ModelTool[],
): Means | null {
  const fitting = tools.filter(({ parameters }) => takesSome(parameters, argumentNames));
  const own =
    fitting.find(({ name }) => name === `${call.app}__${call.tool}`) ??
    fitting.find(({ name }) => name === call.tool);
  if (own !== undefined) return { tool: own, isForeign: false };
  const serving = fitting.filter(({ name }) => withoutNumber(name, call.functionality));
  const best = serving.toSorted(
    (a, b) => likeness(b, call, argumentNames) - likeness(a, call, argumentNames),
  );
  return best[0] === undefined ? null : { tool: best[0], isForeign: true };
}

/** Whether a tool could be the means for this call, whatever its schema: to find out what a past call was for. */
export function isNamedFor(call: ScenarioCall, toolName: string): boolean {
  return (
    toolName === call.tool ||
    toolName === `${call.app}__${call.tool}` ||
    withoutNumber(toolName, call.functionality)
  );
}

/** Two apps may serve one functionality: the second is offered as `ride-fare-2`. */
function withoutNumber(toolName: string, functionality: string): boolean {
  if (toolName === functionality) return true;
  return toolName.startsWith(`${functionality}-`) && /^\d+$/.test(toolName.slice(functionality.length + 1));
}

/** The request formats of two apps tell them apart better than words do; then the plan's words in the description. */
function likeness(tool: ModelTool, call: ScenarioCall, argumentNames: readonly string[]): number {
  const known = propertiesOf(tool.parameters);
  const fits = known !== null && argumentNames.every((name) => Object.hasOwn(known, name));
  const described = wordsOf(tool.description);
  const shared = [...wordsOf(`${call.app} ${call.purpose}`)].filter((word) => described.has(word)).length;
  return (fits ? 1_000 : 0) + shared;
}

function wordsOf(text: string): ReadonlySet<string> {
  return new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []);
}

function takesSome(parameters: JsonObject, argumentNames: readonly string[]): boolean {
  const known = propertiesOf(parameters);
  if (known === null || argumentNames.length === 0) return true;
  return argumentNames.some((name) => Object.hasOwn(known, name));
}

/** Null: the schema lists none. */
function propertiesOf(schema: Json | undefined): JsonObject | null {
  if (!isJsonObject(schema) || !isJsonObject(schema.properties)) return null;
  return Object.keys(schema.properties).length === 0 ? null : schema.properties;
}

/** A message in another's format must hold nothing else, or it is dropped as malformed. */
export function fittedTo(schema: Json | undefined, args: JsonObject): JsonObject {
  const known = propertiesOf(schema);
  if (known === null) return args;
  return Object.fromEntries(Object.entries(args).filter(([key]) => Object.hasOwn(known, key)));
}

/** The arguments with `load` behind each free text, as far as the schema allows its length. */
export function loaded(schema: Json | undefined, args: JsonObject, load: string): JsonObject {
  if (load === '') return args;
  return Object.fromEntries(
    Object.entries(args).map(([key, value]) => {
      const inside = propertiesOf(schema)?.[key];
      if (typeof value !== 'string' || !isFreeText(inside)) return [key, value];
      return [key, `${value}\n${load}`.slice(0, maxLength(inside))];
    }),
  );
}

function maxLength(schema: Json | undefined): number {
  return isJsonObject(schema) && typeof schema.maxLength === 'number' ? schema.maxLength : MAX_LOAD;
}

/** Without a bound, an app that answers with what it was told would double it with every call. */
const MAX_LOAD = 16_384;

/**
 * The same data by another way: the longest free text moves into another free-text argument. Null where the tool
 * has no second one.
 */
export function rearranged(schema: Json | undefined, args: JsonObject): JsonObject | null {
  const known = propertiesOf(schema) ?? {};
  const texts = Object.entries(args).flatMap(([key, value]): [string, string][] =>
    typeof value === 'string' && isFreeText(known[key]) ? [[key, value]] : [],
  );
  const [from, data] = texts.toSorted(([, a], [, b]) => b.length - a.length)[0] ?? [];
  if (from === undefined || data === undefined) return null;
  const to = Object.keys(known).find(
    (key) => key !== from && isFreeText(known[key]) && !isTakenByOther(args[key]),
  );
  if (to === undefined) return null;
  const before = args[to];
  const { [from]: _moved, ...others } = args;
  const required = isJsonObject(schema) && Array.isArray(schema.required) ? schema.required : [];
  const placeholder = required.includes(from) ? { [from]: '-' } : {};
  return {
    ...others,
    ...placeholder,
    [to]: typeof before === 'string' && before !== '' ? `${before} ${data}` : data,
  };
}

function isTakenByOther(value: Json | undefined): boolean {
  return value !== undefined && typeof value !== 'string';
}

/** Text that may hold anything. What the schema does not describe is. */
function isFreeText(schema: Json | undefined): boolean {
  if (!isJsonObject(schema)) return true;
  if (schema.enum !== undefined || schema.const !== undefined) return false;
  const { format, type } = schema;
  if (typeof format === 'string' && (closedFormats().includes(format) || CHECKED_FORMATS.has(format)))
    return false;
  return type === undefined || type === 'string' || (Array.isArray(type) && type.includes('string'));
}

/** Formats that validators check: a sentence in such an argument is refused before anybody reads it. */
const CHECKED_FORMATS: ReadonlySet<string> = new Set([
  'email',
  'uri',
  'url',
  'hostname',
  'ipv4',
  'ipv6',
  'uuid',
]);
