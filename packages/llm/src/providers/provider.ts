/**
 * What the broker needs of a provider: its library, opened for one request with the `fetch` of that attempt.
 *
 * Ring 1. The libraries are loaded on first use: together they take longer than the rest of the program's start.
 */
import type { LanguageModelV4, SharedV4ProviderOptions } from '@ai-sdk/provider';
import type { Fetch } from '../transport/transport.ts';

export interface Provider {
  readonly open: (modelId: string, fetch: Fetch) => Promise<LanguageModelV4>;
  readonly options: SharedV4ProviderOptions;
  /** Whether what the library attaches to a tool call must come back with it. */
  readonly signsCalls: boolean;
}
