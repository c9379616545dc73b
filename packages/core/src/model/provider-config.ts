/** Where models and services are reached, as the configuration says it. */
import type { ServiceName } from './question.ts';

/** Providers with an address and a key variable of their own. */
export type HostedKind = 'openai' | 'anthropic' | 'google';

export type ProviderConfig = HostedProviderConfig | CompatibleProviderConfig;

export interface HostedProviderConfig {
  readonly kind: HostedKind;
  /** Absent or empty: the fault names `keyVariable` as the remedy. OpenAI's with a `baseUrl` may be absent. */
  readonly key?: string | undefined;
  /** Default: the provider's public address. */
  readonly baseUrl?: string | undefined;
  /** Where the user sets the key; only for messages. */
  readonly keyVariable?: string | undefined;
}

/** Any server that speaks OpenAI's chat completions: Ollama, vLLM, llama.cpp, LM Studio, gateways. */
export interface CompatibleProviderConfig {
  readonly kind: 'openai-compatible';
  /** With the version: `http://127.0.0.1:11434/v1`. */
  readonly baseUrl: string;
  readonly key?: string | undefined;
  readonly keyVariable?: string | undefined;
  /** More headers; their values count as secrets. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** `false` for servers that refuse `stream`. One that ignores it is noticed without this. */
  readonly stream?: boolean | undefined;
}

/** Where a service answers, as the configuration says it. */
export interface Endpoint {
  readonly url: string;
  /** As the server knows it; null: it has one. */
  readonly model: string | null;
  /** Sent as a bearer token; null: none. */
  readonly key: string | null;
}

/** Services behind an address. */
export type EndpointKind = Exclude<ServiceName, 'llm' | 'predicate'>;
