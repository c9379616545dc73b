/**
 * OpenAI itself, by the Responses API: its newer models combine tools with reasoning only there. A base URL of the
 * user's own (a proxy, a gateway) gets chat completions, which is what such servers speak.
 *
 * Ring 1.
 */

import type { HostedProviderConfig } from '@cordon/core';
import { addressOf, keyOf } from './access.ts';
import type { Provider } from './provider.ts';
export function openai(config: HostedProviderConfig): Provider {
  const { baseUrl } = config;
  return {
    open: async (modelId, fetch) => {
      const { createOpenAI } = await import('@ai-sdk/openai');
      // Key and address are always given: the library would look for them in the environment otherwise.
      const create = createOpenAI({
        apiKey: keyOf(config) ?? '',
        baseURL: addressOf(config),
        fetch,
      });
      return baseUrl === undefined ? create.responses(modelId) : create.chat(modelId);
    },
    // The conversation is ours to keep. Strict mode accepts only a dialect of JSON Schema.
    options: { openai: { store: false, strictJsonSchema: false } },
    // The library's item ids mean something only for stored conversations.
    signsCalls: false,
  };
}
