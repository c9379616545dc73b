/** A broker whose waits are recorded instead of waited for, and requests to try it with. */
import { createServer } from 'node:http';
import type { ModelRequest, ModelTool, ProviderConfig, RetryLimits } from '@cordon/core';
import { type FakeOpenAi, type FakeScript, startFakeOpenAi } from '@cordon/testkit/fake-openai/server.ts';
import { createModelBroker, type ModelBroker, type ModelBrokerOptions } from '../src/index.ts';

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

/** What a server of another wire format was asked. */
export interface Recorded {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, unknown>>;
}

/** A status with a JSON body, or the events of a stream. */
export type WireAnswer = { readonly status: number; readonly body: object } | readonly object[];

/** A real server that gives these answers in order, for the wire formats that have no fake of their own. */
export async function withWire(
  answers: readonly WireAnswer[],
  body: (baseUrl: string, requests: readonly Recorded[]) => Promise<void>,
): Promise<void> {
  const requests: Recorded[] = [];
  const server = createServer(async (incoming, response) => {
    const parts: Buffer[] = [];
    for await (const part of incoming) parts.push(part);
    const headers = Object.entries(incoming.headers).map(([name, value]) => [name, String(value)]);
    requests.push({
      path: incoming.url ?? '',
      headers: Object.fromEntries(headers),
      body: Object.fromEntries(Object.entries(Object(JSON.parse(Buffer.concat(parts).toString())))),
    });
    const answer = answers[requests.length - 1] ?? { status: 500, body: { error: 'the script has ended' } };
    if ('status' in answer) {
      response.writeHead(answer.status, { 'content-type': 'application/json' });
      return void response.end(JSON.stringify(answer.body));
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const event of answer) {
      const type = 'type' in event && typeof event.type === 'string' ? `event: ${event.type}\n` : '';
      response.write(`${type}data: ${JSON.stringify(event)}\n\n`);
    }
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  try {
    await body(`http://127.0.0.1:${port}/v1`, requests);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}
