/**
 * A small OpenAI-compatible server for tests: real HTTP on 127.0.0.1, answers by a script, and all the ways in which
 * a provider fails. It records what it was asked. Test code.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import type { FakeAnswer, FakeCompletion } from './answer.ts';
import { toBody, toChunks } from './chunks.ts';

export * from './answer.ts';

/** `number` counts the chat requests from 1. */
export type FakeScript = (request: FakeChatRequest, number: number) => FakeAnswer | Promise<FakeAnswer>;

export interface FakeChatRequest {
  readonly model: string;
  readonly messages: readonly FakeMessage[];
  /** Names of the tools that were offered. */
  readonly tools: readonly string[];
  readonly stream: boolean;
  /** `response_format` as it came. */
  readonly responseFormat: unknown;
  /** Header names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** The whole body, for what the fields above leave out. */
  readonly body: Readonly<Record<string, unknown>>;
}

export interface FakeMessage {
  readonly role: string;
  readonly content: string;
  readonly calls: readonly { readonly id: string; readonly name: string; readonly arguments: string }[];
  /** Of a tool's result. */
  readonly callId: string | null;
}

export interface FakeOpenAiOptions {
  readonly script: FakeScript;
  /** Requests without `Authorization: Bearer <key>` get 401. Default: any or no key will do. */
  readonly key?: string;
  /** Default: a free port. */
  readonly port?: number;
}

export interface FakeOpenAi {
  /** Ends in `/v1`. */
  readonly baseUrl: string;
  /** All chat requests so far, also those that failed. */
  readonly requests: readonly FakeChatRequest[];
  /** How many connections are open on which an answer has not ended. */
  readonly pending: () => number;
  readonly close: () => Promise<void>;
}

/** Starts the server; `close` ends hanging answers too. */
export async function startFakeOpenAi(options: FakeOpenAiOptions): Promise<FakeOpenAi> {
  const requests: FakeChatRequest[] = [];
  const open = new Set<ServerResponse>();
  const server = createServer((incoming, response) => {
    open.add(response);
    response.on('close', () => open.delete(response));
    // A client that leaves in the middle of an answer is part of what is tested.
    response.on('error', () => undefined);
    serve(incoming, response, options, requests).catch((error: unknown) => {
      // A script that throws is a bug of the test; the client must not wait for it.
      if (!response.headersSent) response.writeHead(500, { 'content-type': 'text/plain' });
      response.end(error instanceof Error ? error.message : 'the script failed');
    });
  });
  await new Promise<void>((resolve) => server.listen(options.port ?? 0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    requests,
    pending: () => open.size,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** A script that gives these answers in order and fails loudly when there are no more. */
export function inOrder(...answers: readonly FakeAnswer[]): FakeScript {
  return (_request, number) => {
    const answer = answers[number - 1];
    if (answer === undefined)
      throw new Error(`the script has ${answers.length} answers; this is request ${number}`);
    return answer;
  };
}

async function serve(
  incoming: IncomingMessage,
  response: ServerResponse,
  options: FakeOpenAiOptions,
  requests: FakeChatRequest[],
): Promise<void> {
  const path = (incoming.url ?? '').split('?')[0];
  if (incoming.method === 'GET' && path === '/v1/models') {
    return sendJson(response, 200, { object: 'list', data: [{ id: 'fake', object: 'model' }] });
  }
  if (incoming.method !== 'POST' || path !== '/v1/chat/completions') {
    return sendJson(response, 404, { error: { message: `no such path: ${path}` } });
  }
  const request = parseRequest(await readBody(incoming), incoming);
  requests.push(request);
  if (options.key !== undefined && request.headers.authorization !== `Bearer ${options.key}`) {
    return sendJson(response, 401, { error: { message: 'Incorrect API key provided' } });
  }
  await play(await options.script(request, requests.length), request, response);
}

async function play(answer: FakeAnswer, request: FakeChatRequest, response: ServerResponse): Promise<void> {
  switch (answer.kind) {
    case 'completion':
      return complete(answer, request, response);
    case 'cut': {
      const chunks = toChunks(answer.completion, request.model).slice(0, answer.afterChunks);
      await sendEvents(response, chunks, answer.completion);
      return answer.how === 'closed' ? void response.end() : void response.destroy();
    }
    case 'failure':
      response.writeHead(answer.status, { 'content-type': 'application/json', ...answer.headers });
      return void response.end(answer.body);
    case 'garbage':
      response.writeHead(200, { 'content-type': answer.contentType });
      return void response.end(answer.body);
    case 'hang':
      if (answer.after === 'headers') openEvents(response);
      if (answer.after === 'first-chunk')
        await sendEvents(response, [toChunks({ kind: 'completion' }, 'fake')[0]]);
      return;
    default:
      return answer satisfies never;
  }
}

async function complete(
  answer: FakeCompletion,
  request: FakeChatRequest,
  response: ServerResponse,
): Promise<void> {
  if (!request.stream || answer.plain !== undefined) {
    response.writeHead(200, { 'content-type': answer.plain ?? 'application/json' });
    return void response.end(JSON.stringify(toBody(answer, request.model)));
  }
  await sendEvents(response, toChunks(answer, request.model), answer);
  response.end('data: [DONE]\n\n');
}

function openEvents(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
  response.flushHeaders();
}

async function sendEvents(
  response: ServerResponse,
  chunks: readonly unknown[],
  { chunkDelayMs = 0, beforeChunk }: Pick<FakeCompletion, 'chunkDelayMs' | 'beforeChunk'> = {},
): Promise<void> {
  openEvents(response);
  for (const chunk of chunks) {
    if (chunkDelayMs > 0) await wait(chunkDelayMs);
    const text = JSON.stringify(chunk);
    await beforeChunk?.(text);
    await flushed(response, `data: ${text}\n\n`);
  }
}

/** Until the bytes are with the system: a connection that is destroyed takes along what is still here. */
function flushed(response: ServerResponse, text: string): Promise<void> {
  return new Promise((resolve) => response.write(text, () => resolve()));
}

function sendJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}

async function readBody(incoming: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of incoming) parts.push(part);
  return Buffer.concat(parts).toString('utf8');
}

function parseRequest(text: string, incoming: IncomingMessage): FakeChatRequest {
  const body = asRecord(JSON.parse(text));
  const headers = Object.entries(incoming.headers).map(([name, value]) => [name, String(value)]);
  return {
    model: asText(body.model),
    messages: asList(body.messages).map(parseMessage),
    tools: asList(body.tools).map((tool) => asText(asRecord(asRecord(tool).function).name)),
    stream: body.stream === true,
    responseFormat: body.response_format,
    headers: Object.fromEntries(headers),
    body,
  };
}

function parseMessage(value: unknown): FakeMessage {
  const message = asRecord(value);
  return {
    role: asText(message.role),
    content: contentText(message.content),
    calls: asList(message.tool_calls).map((call) => {
      const made = asRecord(asRecord(call).function);
      return { id: asText(asRecord(call).id), name: asText(made.name), arguments: asText(made.arguments) };
    }),
    callId: typeof message.tool_call_id === 'string' ? message.tool_call_id : null,
  };
}

function contentText(content: unknown): string {
  if (!Array.isArray(content)) return asText(content);
  return content.map((part) => asText(asRecord(part).text)).join('');
}

function asRecord(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? Object.fromEntries(Object.entries(value)) : {};
}

function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
