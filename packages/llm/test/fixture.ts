/** A broker whose waits are recorded instead of waited for, and requests to try it with. */
import './third-party-resolution.ts';
import type { ModelRequest, ModelTool, RetryLimits } from '@cordon/core';
import { type FakeOpenAi, type FakeScript, startFakeOpenAi } from '../../../e2e/fake-openai/server.ts';
import {
  createModelBroker,
  type ModelBroker,
  type ModelBrokerOptions,
  type ProviderConfig,
} from '../src/index.ts';

export const KEY = 'sk-test-0123456789abcdef';
const LIMITS: RetryLimits = { attempts: 3, firstWaitMs: 100, longestWaitMs: 5000, callSeconds: 60 };

export interface Setting {
  readonly broker: ModelBroker;
  /** Milliseconds of each wait before another attempt. */
  readonly waits: number[];
}

export function brokerFor(
  providers: Readonly<Record<string, ProviderConfig>>,
  more: Partial<ModelBrokerOptions> = {},
): Setting {
  const waits: number[] = [];
  const broker = createModelBroker({
    providers: new Map(Object.entries(providers)),
    limits: LIMITS,
    random: () => 1,
    clock: () => 0,
    sleep: async (ms) => {
      waits.push(ms);
    },
    fetch: globalThis.fetch,
    ...more,
  });
  return { broker, waits };
}

export interface FakeSetting extends Setting {
  readonly fake: FakeOpenAi;
}

/** The server is the provider `local`, its model `local/qwen`. */
export async function withFake(
  script: FakeScript,
  body: (setting: FakeSetting) => Promise<void>,
  more: Partial<ModelBrokerOptions> & { readonly config?: object } = {},
): Promise<void> {
  const fake = await startFakeOpenAi({ script });
  const { config, ...options } = more;
  try {
    const local: ProviderConfig = { kind: 'openai-compatible', baseUrl: fake.baseUrl, key: KEY, ...config };
    await body({ fake, ...brokerFor({ local }, options) });
  } finally {
    await fake.close();
  }
}

export const READ_TOOL: ModelTool = {
  name: 'read_file',
  description: 'Reads a file',
  parameters: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
};

export function ask(text: string, more: Partial<ModelRequest> = {}): ModelRequest {
  return {
    model: 'local/qwen',
    role: 'agent',
    messages: [
      { role: 'system', text: 'You are terse.' },
      { role: 'user', text },
    ],
    tools: [],
    ...more,
  };
}

export function never(): AbortSignal {
  return new AbortController().signal;
}

/** A server of event streams for the other wire formats: each answer is a list of `data` lines. */
export interface Recorded {
  readonly url: string;
  readonly headers: Headers;
  readonly body: Record<string, unknown>;
}

export interface StreamFetch {
  readonly fetch: typeof globalThis.fetch;
  readonly requests: Recorded[];
}

export function streamFetch(...answers: readonly (readonly object[])[]): StreamFetch {
  const requests: Recorded[] = [];
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const request = new Request(input, init);
    requests.push({
      url: request.url,
      headers: request.headers,
      body: Object.fromEntries(Object.entries(Object(await request.json()))),
    });
    const events = answers[requests.length - 1] ?? [];
    const lines = events.map((event) => {
      const type = 'type' in event && typeof event.type === 'string' ? `event: ${event.type}\n` : '';
      return `${type}data: ${JSON.stringify(event)}\n\n`;
    });
    return new Response(lines.join(''), { headers: { 'content-type': 'text/event-stream' } });
  };
  return { fetch, requests };
}
