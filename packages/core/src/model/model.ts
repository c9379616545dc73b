/**
 * The port behind which every language model stands: hosted providers, local servers and the obedient model.
 *
 * All implementations are ring 1 and everything they say is hostile by assumption.
 */
import type { JsonObject, JsonSchema } from '../json/json.ts';
import type { Result } from '../values/result.ts';

export type ModelMessage =
  | { readonly role: 'system'; readonly text: string }
  | { readonly role: 'user'; readonly text: string }
  | { readonly role: 'assistant'; readonly text: string; readonly calls: readonly ModelToolCall[] }
  /** The result of the call with this id. */
  | {
      readonly role: 'tool';
      readonly callId: string;
      readonly name: string;
      readonly text: string;
      readonly isError: boolean;
    };

export interface ModelTool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of an object. */
  readonly parameters: JsonSchema;
}

export interface ModelToolCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: JsonObject;
}

export interface ModelRequest {
  /** `provider/model` */
  readonly model: string;
  /** What the request is for; providers ignore it, the obedient model plans only as a planner. */
  readonly role: 'planner' | 'tool-planner' | 'delegation' | 'agent';
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly ModelTool[];
  /** Ask for a JSON object of this schema instead of prose, where the provider can. */
  readonly answerSchema?: JsonSchema;
}

export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

export interface ModelResponse {
  readonly text: string;
  readonly calls: readonly ModelToolCall[];
  readonly finish: 'stop' | 'tool-calls' | 'length' | 'refusal' | 'other';
  readonly usage: Usage;
}

export type ModelFaultKind =
  | 'unauthorised' // 401, 403: the key is missing or wrong
  | 'rate-limited' // 429 after all attempts
  | 'unavailable' // 5xx, connection refused, DNS, after all attempts
  | 'bad-request' // other 4xx: unknown model, context too long
  | 'cut-stream' // the stream ended before the end of the answer, after all attempts
  | 'invalid-response' // not what the provider's protocol says, or tool arguments that are no JSON object
  | 'timeout'
  | 'cancelled'
  | 'unknown-model'; // no provider of that name, or no scenario covers the query

export interface ModelFault {
  readonly kind: ModelFaultKind;
  readonly message: string;
  readonly help?: string;
  /** How often it was tried. */
  readonly attempts: number;
}

export interface ModelCallOptions {
  readonly signal: AbortSignal;
  /** Text as it comes. Only for display: nothing acts on it. */
  readonly onText?: (delta: string) => void;
}

export interface Model {
  complete(request: ModelRequest, options: ModelCallOptions): Promise<Result<ModelResponse, ModelFault>>;
}
