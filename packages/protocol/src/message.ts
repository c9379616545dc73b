/**
 * The messages between hub and spoke (docs/protocol.md). The spoke asks, the hub answers: each request carries an
 * id that its answer repeats. Nothing here names an app; peers are known by ephemeral ids only. What each message may
 * hold is said a second time, for both ends to check it by, in `message-schema`.
 */
import type {
  DataKind,
  EphemeralId,
  Json,
  JsonObject,
  JsonSchema,
  ModelMessage,
  ModelTool,
  ModelToolCall,
} from '@cordon/core';

/** Raised when a message changes its meaning. */
export const PROTOCOL_VERSION = 2;

/** What this end speaks, newest first. The hub takes the newest that both speak, or refuses. */
export const PROTOCOL_VERSIONS: readonly number[] = [PROTOCOL_VERSION];

/** What a spoke may use of another app without probing: the plan expects it. */
export interface Offer {
  /** The tool name under which the model sees it: the functionality's name, numbered when two peers serve it. */
  readonly name: string;
  readonly description: string;
  readonly peer: EphemeralId;
  readonly request: JsonSchema;
  readonly response: JsonSchema;
}

/** The request of another context that a turn answers, and the formats of both. */
export interface ServedRequest {
  readonly message: Json;
  readonly request: JsonSchema;
  readonly response: JsonSchema;
}

/** Everything that one LLM context starts a turn with. */
export interface TurnContext {
  /** The hub's words and, apart from them, the app's own instructions. */
  readonly system: string;
  /** Earlier turns of this very context. */
  readonly history: readonly ModelMessage[];
  /** The user's query, or the task or request that this context serves. */
  readonly query: string;
  /** Facts that were released to this context. */
  readonly data: readonly { readonly name: string; readonly value: string }[];
  /** The app's own tools. */
  readonly tools: readonly ModelTool[];
  readonly offers: readonly Offer[];
  /** Every functionality that the system knows, the same list for every spoke, whatever is installed. */
  readonly functionalities: readonly { readonly name: string; readonly description: string }[];
  /** Null: the turn answers the user. */
  readonly serves: ServedRequest | null;
  readonly maxSteps: number;
}

export type HubMessage =
  /** The version that is spoken from now on. */
  | { readonly type: 'welcome'; readonly version: number }
  /** No common version: the link ends. */
  | { readonly type: 'unsupported'; readonly versions: readonly number[] }
  | { readonly type: 'turn'; readonly id: number; readonly context: TurnContext }
  /** The user stopped the query, or whoever asked is gone: nothing of the turn is wanted any more. `id` is the turn's. */
  | { readonly type: 'cancel'; readonly id: number }
  | {
      readonly type: 'reply';
      readonly id: number;
      readonly text: string;
      readonly calls: readonly ModelToolCall[];
    }
  /** The result of a tool call. */
  | { readonly type: 'output'; readonly id: number; readonly text: string; readonly isError: boolean }
  | {
      readonly type: 'offer';
      readonly id: number;
      readonly peer: EphemeralId;
      readonly request: JsonSchema;
      readonly response: JsonSchema;
    }
  | { readonly type: 'response'; readonly id: number; readonly message: Json }
  /** The peer ended before it answered; what it did until then is not known. */
  | { readonly type: 'gone'; readonly id: number }
  /** The text behind a reference. */
  | { readonly type: 'opened'; readonly id: number; readonly text: string }
  /** What a reader found in the text behind a reference. */
  | { readonly type: 'finding'; readonly id: number; readonly value: Json }
  /** What the user released of what was asked for: the same for what nobody knows and for what the user keeps. */
  | {
      readonly type: 'data';
      readonly id: number;
      readonly values: Readonly<Partial<Record<DataKind, string>>>;
    }
  /** Says that it was refused and nothing of why. */
  | { readonly type: 'refusal'; readonly id: number; readonly malformed: boolean; readonly text: string };

export type SpokeMessage =
  | { readonly type: 'ready'; readonly versions: readonly number[] }
  | { readonly type: 'model'; readonly id: number; readonly messages: readonly ModelMessage[] }
  | { readonly type: 'tool'; readonly id: number; readonly name: string; readonly arguments: JsonObject }
  | { readonly type: 'probe'; readonly id: number; readonly functionality: string }
  | { readonly type: 'request'; readonly id: number; readonly peer: string; readonly message: Json }
  | { readonly type: 'open'; readonly id: number; readonly reference: string }
  | { readonly type: 'read'; readonly id: number; readonly reference: string; readonly schema: JsonSchema }
  | { readonly type: 'need'; readonly id: number; readonly kinds: readonly DataKind[]; readonly for: string }
  /** The end of a turn; `id` is the turn's. */
  | { readonly type: 'answer'; readonly id: number; readonly text: string }
  | { readonly type: 'exhausted'; readonly id: number; readonly steps: number }
  /** The turn serves a request, and nothing that the model said fits the format of its response. */
  | { readonly type: 'unfit'; readonly id: number };

/** What gets an answer with its id. */
export type SpokeRequest = Exclude<SpokeMessage, { type: 'ready' | 'answer' | 'exhausted' | 'unfit' }>;
/** What answers one. */
export type HubAnswer = Exclude<HubMessage, { type: 'welcome' | 'unsupported' | 'turn' | 'cancel' }>;
