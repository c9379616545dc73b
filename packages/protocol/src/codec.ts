/**
 * Bytes to messages and back, each checked by its schema. A spoke's LLM may have been taken over by what it read, and
 * its loop by a fault in our code: everything that it sends is checked, and unknown fields are refused. The spoke
 * checks what the hub sends by the same means.
 */
import {
  DEFAULT_JSON_LIMITS,
  failed,
  isJsonObject,
  type JsonLimits,
  type JsonSchema,
  ok,
  parseJson,
  type Result,
} from '@cordon/core';
import type { HubMessage, SpokeMessage } from './message.ts';
import { HUB_SCHEMAS, SPOKE_SCHEMAS } from './message-schema.ts';
import { misfit } from './schema-check.ts';

/** A line of a spoke, in bytes and in JSON. */
export const SPOKE_LINE_BYTES = 4 * 1024 * 1024;
/** A line of the hub: whole outputs of tools, and around them what they are part of. */
export const HUB_LINE_BYTES = 32 * 1024 * 1024;
const HUB_JSON_LIMITS: JsonLimits = { length: HUB_LINE_BYTES, depth: 128, elements: 2_000_000 };

/** One line of JSON without its line end. */
export function encode(message: HubMessage | SpokeMessage): string {
  return JSON.stringify(message);
}

/** Reads what a spoke sent. The fault is one sentence for the journal; it is never shown to a user as a prompt. */
export function decodeSpokeMessage(line: string): Result<SpokeMessage, string> {
  return decode<SpokeMessage>(line, DEFAULT_JSON_LIMITS, SPOKE_SCHEMAS);
}

/** Reads what the hub sent. */
export function decodeHubMessage(line: string): Result<HubMessage, string> {
  return decode<HubMessage>(line, HUB_JSON_LIMITS, HUB_SCHEMAS);
}

/** INVARIANT: `schemas` describe the members of `M`, one for each `type`. */
function decode<M>(
  line: string,
  limits: JsonLimits,
  schemas: Readonly<Record<string, JsonSchema>>,
): Result<M, string> {
  const parsed = parseJson(line, limits);
  if (!parsed.ok) return parsed;
  const message = parsed.value;
  if (!isJsonObject(message)) return failed('a message is no object');
  const { type } = message;
  const schema = typeof type === 'string' && Object.hasOwn(schemas, type) ? schemas[type] : undefined;
  if (schema === undefined) return failed('the type is unknown');
  const problem = misfit(schema, message);
  return problem === null ? ok(message as M) : failed(problem);
}
