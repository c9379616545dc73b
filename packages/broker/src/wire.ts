/**
 * The messages between the hub and a provider process: one JSON object a line. The hub checks each by its schema, because a
 * provider's answer may have taken over the process that sends it. `@cordon/llm` speaks the other end.
 */
import {
  failed,
  isJsonObject,
  type Json,
  type JsonLimits,
  type JsonObject,
  type JsonSchema,
  type ModelFault,
  type ModelFaultKind,
  ok,
  parseJson,
  type Result,
} from '@cordon/core';
import { misfit } from '@cordon/protocol';

export type HubCallMessage =
  /** First, and once: the provider, its key and the limits of a call. */
  | { readonly type: 'open'; readonly settings: JsonObject }
  /** `streams`: the caller shows text as it comes. */
  | { readonly type: 'call'; readonly id: number; readonly input: object; readonly streams: boolean }
  /** Nobody waits for the call any more. It still ends with a `fault`. */
  | { readonly type: 'cancel'; readonly id: number }
  | { readonly type: 'ping' };

export type ProviderMessage =
  | { readonly type: 'pong' }
  | { readonly type: 'text'; readonly id: number; readonly text: string }
  /** The end of a call; `answer` or `fault`, once. */
  | { readonly type: 'answer'; readonly id: number; readonly value: Json }
  | { readonly type: 'fault'; readonly id: number; readonly fault: ModelFault };

/** An answer of 16 MiB, which is the most that a provider may give, with its escapes. */
export const CALL_LINE_BYTES = 32 * 1024 * 1024;

const LINE_LIMITS: JsonLimits = { length: CALL_LINE_BYTES, depth: 128, elements: 2_000_000 };

export const COUNT: JsonSchema = { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER };
export const TEXT: JsonSchema = { type: 'string' };

const FAULT_KINDS: Readonly<Record<ModelFaultKind, true>> = {
  unauthorised: true,
  'rate-limited': true,
  unavailable: true,
  'bad-request': true,
  'cut-stream': true,
  'invalid-response': true,
  timeout: true,
  cancelled: true,
  'unknown-model': true,
};

const FAULT = exactly(
  { kind: { enum: Object.keys(FAULT_KINDS) }, message: TEXT, attempts: COUNT },
  { help: TEXT },
);

const PROVIDER_SCHEMAS: Readonly<Record<ProviderMessage['type'], JsonSchema>> = {
  pong: message('pong', {}),
  text: message('text', { id: COUNT, text: TEXT }),
  answer: message('answer', { id: COUNT, value: {} }),
  fault: message('fault', { id: COUNT, fault: FAULT }),
};

/** The schema of an object with these members and no others. */
export function exactly(
  required: Readonly<Record<string, JsonSchema>>,
  optional: Readonly<Record<string, JsonSchema>> = {},
): JsonSchema {
  return {
    type: 'object',
    properties: { ...required, ...optional },
    required: Object.keys(required),
    additionalProperties: false,
  };
}

function message(type: ProviderMessage['type'], members: Readonly<Record<string, JsonSchema>>): JsonSchema {
  return exactly({ type: { const: type }, ...members });
}

/** One line with its end; `null` if it is longer than the other end reads. */
export function callLine(said: HubCallMessage | ProviderMessage): string | null {
  const line = JSON.stringify(said);
  // A UTF-16 unit has at most three bytes, so most lines need not be counted.
  const fits = line.length * 3 <= CALL_LINE_BYTES || Buffer.byteLength(line) <= CALL_LINE_BYTES;
  return fits ? `${line}\n` : null;
}

/** Reads what a provider process sent. */
export function readProviderMessage(line: string): Result<ProviderMessage, string> {
  const parsed = parseJson(line, LINE_LIMITS);
  if (!parsed.ok) return parsed;
  const said = parsed.value;
  if (!isJsonObject(said)) return failed('a message is no object');
  const { type } = said;
  if (typeof type !== 'string' || !isProviderType(type)) return failed('the type is unknown');
  const problem = misfit(PROVIDER_SCHEMAS[type], said);
  // INVARIANT: the schemas describe the members of `ProviderMessage`, one for each `type`.
  return problem === null ? ok(said as unknown as ProviderMessage) : failed(problem);
}

function isProviderType(type: string): type is ProviderMessage['type'] {
  return Object.hasOwn(PROVIDER_SCHEMAS, type);
}

/** Reads what the hub sent; `null` if it is no message. The hub is trusted, so only the line is looked at. */
export function readHubCallMessage(line: string): HubCallMessage | null {
  const parsed = parseJson(line, LINE_LIMITS);
  return parsed.ok && isJsonObject(parsed.value) ? (parsed.value as unknown as HubCallMessage) : null;
}
