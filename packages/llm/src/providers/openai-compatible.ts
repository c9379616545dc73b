/**
 * Any server that speaks OpenAI's chat completions, by its base URL.
 *
 * Ring 1.
 */

import type { CompatibleProviderConfig } from '@cordon/core';
import { keyOf } from './access.ts';
import type { Provider } from './provider.ts';

/** The library takes options under the provider's name; ours is fixed, so that no user's name collides with one. */
const NAME = 'cordon';

export function openaiCompatible(config: CompatibleProviderConfig): Provider {
  const key = keyOf(config);
  return {
    open: async (modelId, fetch) => {
      const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
      const create = createOpenAICompatible({
        name: NAME,
        baseURL: config.baseUrl,
        ...(key !== undefined && { apiKey: key }),
        headers: { ...config.headers },
        fetch,
        includeUsage: true,
        supportsStructuredOutputs: true,
        ...(config.stream === false && { transformRequestBody: withoutStream }),
      });
      return create.chatModel(modelId);
    },
    options: { openaiCompatible: { strictJsonSchema: false } },
    signsCalls: true,
  };
}

function withoutStream(body: Record<string, unknown>): Record<string, unknown> {
  const { stream: _stream, stream_options: _options, ...rest } = body;
  return rest;
}
