/**
 * Google's Gemini models, by the Generative Language API.
 *
 * Ring 1.
 */

import type { HostedProviderConfig } from '@cordon/core';
import { addressOf, keyOf } from './access.ts';
import type { Provider } from './provider.ts';
export function google(config: HostedProviderConfig): Provider {
  return {
    open: async (modelId, fetch) => {
      const { createGoogle } = await import('@ai-sdk/google');
      const create = createGoogle({
        apiKey: keyOf(config) ?? '',
        baseURL: addressOf(config),
        fetch,
      });
      return create.languageModel(modelId);
    },
    options: {},
    signsCalls: true,
  };
}
