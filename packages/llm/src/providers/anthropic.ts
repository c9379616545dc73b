/**
 * Anthropic, by the Messages API.
 *
 * Ring 1.
 */

import type { HostedProviderConfig } from '@cordon/core';
import { addressOf, keyOf } from './access.ts';
import type { Provider } from './provider.ts';
export function anthropic(config: HostedProviderConfig): Provider {
  return {
    open: async (modelId, fetch) => {
      const { createAnthropic } = await import('@ai-sdk/anthropic');
      const create = createAnthropic({
        apiKey: keyOf(config) ?? '',
        baseURL: addressOf(config),
        fetch,
      });
      return create.languageModel(modelId);
    },
    // Arguments are used when they are complete; streamed early they come unchecked.
    options: { anthropic: { toolStreaming: false } },
    signsCalls: false,
  };
}
