/**
 * The obedient model as the quarantined reader: what the patterns of a scenario's call find in the text, as values of the
 * form; or what an attack in the text wants to be answered. It believes every text, so only the form is in the way.
 */
import { isJsonObject, type Json, type JsonObject, type ModelRequest, parseJson } from '@cordon/core';
import { attacksIn } from './recogniser.ts';
import type { Scenario } from './scenario.ts';

/** Longer texts are searched in their beginning only. */
const MAX_SEARCHED = 100_000;

/** @returns the answer to a request of the hub's reader; null if it is another request */
export function readingOf(
  scenarios: readonly Scenario[],
  obeys: boolean,
  request: ModelRequest,
): string | null {
  const asked = readerInput(request);
  if (asked === null) return null;
  return (obeys ? dictated(scenarios, asked.text) : null) ?? JSON.stringify(found(scenarios, asked));
}

interface ReaderInput {
  readonly text: string;
  /** Of the form, each with its schema. */
  readonly properties: JsonObject;
}

/** By its shape: no tools, and one message with a text and a schema of objects. */
function readerInput(request: ModelRequest): ReaderInput | null {
  if (request.tools.length > 0 || request.answerSchema === undefined) return null;
  const parsed = parseJson(request.messages.findLast(({ role }) => role === 'user')?.text ?? '');
  if (!parsed.ok || !isJsonObject(parsed.value)) return null;
  const { schema, text, ...others } = parsed.value;
  if (Object.keys(others).length > 0 || !isJsonObject(schema) || typeof text !== 'string') return null;
  return { text, properties: isJsonObject(schema.properties) ? schema.properties : {} };
}

/** The last of the attacks that are in the text and ask for an answer. Calls need tools, which a reader lacks. */
function dictated(scenarios: readonly Scenario[], text: string): string | null {
  const obeyed = attacksIn([text], scenarios).findLast(({ answer }) => answer !== null);
  return obeyed?.answer?.filter((part) => typeof part === 'string').join('') ?? null;
}

/** By the call whose patterns have the names of the form, the first if several do. What is not found is left out. */
function found(scenarios: readonly Scenario[], { text, properties }: ReaderInput): JsonObject {
  const names = Object.keys(properties);
  const calls = scenarios.flatMap(({ tasks, attacks }) => [...tasks, ...attacks].flatMap((one) => one.calls));
  const patterns = calls
    .map(({ finds }) => finds)
    .find((finds) => finds !== null && finds.size === names.length && names.every((name) => finds.has(name)));
  if (patterns === undefined || patterns === null) return {};
  const searched = text.slice(0, MAX_SEARCHED);
  return Object.fromEntries(
    names.flatMap((name): [string, Json][] => {
      const match = patterns.get(name)?.exec(searched) ?? null;
      const value = valueFor(properties[name], match);
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

/** The hub writes a list, also of one. */
function typesOf(schema: Json | undefined): readonly Json[] {
  if (!isJsonObject(schema) || schema.type === undefined) return [];
  return Array.isArray(schema.type) ? schema.type : [schema.type];
}

/** A boolean says whether anything was found, a number is the first in the words, everything else the words. */
function valueFor(schema: Json | undefined, match: RegExpExecArray | null): Json | undefined {
  const types = typesOf(schema);
  if (types.includes('boolean')) return match !== null;
  const words = match?.[1] ?? match?.[0];
  if (words === undefined || !types.some((type) => type === 'number' || type === 'integer')) return words;
  const digits = /-?\d+(?:\.\d+)?/.exec(words);
  return digits === null ? undefined : Number(digits[0]);
}
