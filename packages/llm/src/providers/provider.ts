/**
 * The libraries that call providers, each opened for one request with the `fetch` of that attempt. They are loaded on first
 * use: together they take longer than the rest of the program's start.
 */
import type { LanguageModelV4, SharedV4ProviderOptions } from '@ai-sdk/provider';
import type {
  CompatibleProviderConfig,
  HostedKind,
  HostedProviderConfig,
  ProviderConfig,
} from '@cordon/core';
import type { Fetch } from '../transport/transport.ts';
import { addressOf, keyOf } from './access.ts';

export interface Provider {
  readonly open: (modelId: string, fetch: Fetch) => Promise<LanguageModelV4>;
  readonly options: SharedV4ProviderOptions;
  /** Whether what the library attaches to a tool call must come back with it. */
  readonly signsCalls: boolean;
}

export function providerOf(config: ProviderConfig): Provider {
  if (config.kind === 'openai-compatible') return compatible(config);
  const { kind, baseUrl } = config;
  // OpenAI's own library always sends an authorization header, be it an empty one.
  return kind === 'openai' && baseUrl !== undefined && keyOf(config) === undefined
    ? compatible({ kind: 'openai-compatible', baseUrl })
    : hosted(config)[kind];
}

/** Key and address are always given: the libraries would look for them in the environment otherwise. */
function hosted(config: HostedProviderConfig): Readonly<Record<HostedKind, Provider>> {
  const access = (fetch: Fetch) => ({ apiKey: keyOf(config) ?? '', baseURL: addressOf(config), fetch });
  return {
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
    /** Gemini models, by the Generative Language API. */
    google: {
      open: async (modelId, fetch) => {
        const { createGoogle } = await import('@ai-sdk/google');
        return createGoogle(access(fetch)).languageModel(modelId);
      },
      options: {},
      signsCalls: true,
    },
  };
}

/** The library takes options under the provider's name; ours is fixed, so that no user's name collides with one. */
const NAME = 'cordon';

/** Any server that speaks OpenAI's chat completions, by its base URL. */
function compatible(config: CompatibleProviderConfig): Provider {
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
