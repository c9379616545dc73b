/**
 * Providers with an address of their own. Their libraries are always given key and address: they would look for them in the
 * environment otherwise.
 *
 * Ring 1.
 */
import type { HostedKind, HostedProviderConfig } from '@cordon/core';
import type { Fetch } from '../transport/transport.ts';
import { addressOf, keyOf } from './access.ts';
import type { Provider } from './provider.ts';

export function hosted(config: HostedProviderConfig): Provider {
  const access = (fetch: Fetch) => ({ apiKey: keyOf(config) ?? '', baseURL: addressOf(config), fetch });
  const providers: Readonly<Record<HostedKind, Provider>> = {
    /**
     * By the Responses API: OpenAI's newer models combine tools with reasoning only there. A base URL of the user's own (a
     * proxy, a gateway) gets chat completions, which is what such servers speak.
     */
    openai: {
      open: async (modelId, fetch) => {
        const { createOpenAI } = await import('@ai-sdk/openai');
        const create = createOpenAI(access(fetch));
        return config.baseUrl === undefined ? create.responses(modelId) : create.chat(modelId);
      },
      // The conversation is ours to keep. Strict mode accepts only a dialect of JSON Schema.
      options: { openai: { store: false, strictJsonSchema: false } },
      // The library's item ids mean something only for stored conversations.
      signsCalls: false,
    },
    /** By the Messages API. */
    anthropic: {
      open: async (modelId, fetch) => {
        const { createAnthropic } = await import('@ai-sdk/anthropic');
        return createAnthropic(access(fetch)).languageModel(modelId);
      },
      // Arguments are used when they are complete; streamed early they come unchecked.
      options: { anthropic: { toolStreaming: false } },
      signsCalls: false,
    },
    /** By the Generative Language API. */
    google: {
      open: async (modelId, fetch) => {
        const { createGoogle } = await import('@ai-sdk/google');
        return createGoogle(access(fetch)).languageModel(modelId);
      },
      options: {},
      signsCalls: true,
    },
  };
  return providers[config.kind];
}
