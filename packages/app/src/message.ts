/** JSON-RPC 2.0 as MCP uses it: what a line from the host can be, and what goes back. */
import { isJsonObject, type Json, type JsonObject } from './json.ts';

export type RequestId = string | number;

export type Message =
  | { readonly kind: 'request'; readonly id: RequestId; readonly method: string; readonly params: JsonObject }
  /** To a request of this app. */
  | { readonly kind: 'answer'; readonly id: RequestId; readonly answer: HostAnswer }
  /** Notifications. */
  | { readonly kind: 'ignored' }
  | { readonly kind: 'invalid'; readonly id: RequestId | null; readonly problem: string };

export type HostAnswer =
  | { readonly kind: 'result'; readonly result: JsonObject }
  | { readonly kind: 'error'; readonly message: string };

export const ERROR_CODES = {
  parse: -32700,
  invalidRequest: -32600,
  unknownMethod: -32601,
  invalidParams: -32602,
  internal: -32603,
  /** MCP 2026-07-28. */
  unsupportedVersion: -32022,
} as const;

/** One message of a line or of a batch. Never throws. */
export function decodeMessage(value: unknown): Message {
  if (!isJsonObject(value)) return { kind: 'invalid', id: null, problem: 'a message must be an object' };
  const { id, method, params = {} } = value;
  const known = isRequestId(id) ? id : null;
  if (value.jsonrpc !== '2.0') return { kind: 'invalid', id: known, problem: '`jsonrpc` must be "2.0"' };
  if (method === undefined && (Object.hasOwn(value, 'result') || Object.hasOwn(value, 'error')))
    return known === null ? { kind: 'ignored' } : { kind: 'answer', id: known, answer: hostAnswer(value) };
  if (typeof method !== 'string') return { kind: 'invalid', id: known, problem: '`method` must be a string' };
  if (id === undefined) return { kind: 'ignored' };
  if (known === null) return { kind: 'invalid', id: null, problem: '`id` must be a string or a number' };
  if (!isJsonObject(params)) return { kind: 'invalid', id: known, problem: '`params` must be an object' };
  return { kind: 'request', id: known, method, params };
}

function hostAnswer({ result, error }: JsonObject): HostAnswer {
  if (isJsonObject(result)) return { kind: 'result', result };
  const message =
    isJsonObject(error) && typeof error.message === 'string' ? error.message : 'no reason given';
  return { kind: 'error', message };
}

/** An id is echoed: a long one would be an answer as long as the peer likes, and `1e999` would come back as null. */
function isRequestId(id: Json | undefined): id is RequestId {
  return Number.isFinite(id) || (typeof id === 'string' && id.length <= 256);
}

export interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data?: Json;
}

export function resultReply(id: RequestId, result: JsonObject): JsonObject {
  return { jsonrpc: '2.0', id, result };
}

export function errorReply(id: RequestId | null, error: RpcError): JsonObject {
  return { jsonrpc: '2.0', id, error: { ...error } };
}
