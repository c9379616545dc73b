/**
 * Warms up V8's compiler: the hub starts a pretended app, which answers on streams in memory, and calls it a few times before
 * a query needs an app. The first real call then saves 20 ms. Nothing leaves this process, so there is no effect to decide.
 */
import { PassThrough } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import {
  type InstalledApp,
  id,
  isJsonObject,
  type Json,
  ok,
  parseJson,
  SILENT_MANIFEST,
  type ToolCall,
} from '@cordon/core';
import type { AppConnection } from './app-connection.ts';
import type { AppLauncher } from './app-process.ts';

export const PRETENDED_APP: InstalledApp = {
  id: id('jit-warmup'),
  source: { kind: 'command', command: 'none', args: [], env: {}, cwd: null },
  model: null,
  manifest: SILENT_MANIFEST,
};

const CALLS = 8;
const CALL: ToolCall = {
  effect: 'tool-call',
  context: id('jit-warmup'),
  app: PRETENDED_APP.id,
  tool: 'say',
  arguments: { text: 'hello' },
  callId: 'jit-warmup',
  irreversible: false,
};

/** Calls the pretended app, with pauses for what is more urgent, and ends it. */
export async function warmUp(connection: AppConnection): Promise<void> {
  const { signal } = new AbortController();
  for (let call = 0; call < CALLS; call++) {
    await setImmediate();
    await connection.call(CALL, signal);
  }
  connection.end('the warm-up is over');
}

/** "Starts" the pretended app. */
export const PRETENDED_LAUNCHER: AppLauncher = {
  launch: async () => {
    const stdin = new PassThrough();
    const stdout = new PassThrough();
    const ended = Promise.withResolvers<string>();
    // Each message is written, and so arrives, as one piece.
    stdin.on('data', (line: Buffer) => answer(line.toString('utf8'), stdout));
    const kill = () => {
      stdout.end();
      ended.resolve('the warm-up is over');
    };
    return ok({ stdin, stdout, layers: [], ended: ended.promise, stderrTail: () => '', kill });
  },
};

function answer(line: string, stdout: PassThrough): void {
  const message = parseJson(line);
  if (!message.ok || !isJsonObject(message.value)) return;
  const { id: request, method, params } = message.value;
  if (request === undefined || typeof method !== 'string') return;
  const result = resultOf(method, params ?? null);
  stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id: request, result })}\n`);
}

function resultOf(method: string, params: Json): Json {
  const schema = { type: 'object', properties: { text: { type: 'string' } } };
  switch (method) {
    case 'initialize': {
      const protocolVersion = isJsonObject(params) ? (params.protocolVersion ?? '') : '';
      return { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'none', version: '1' } };
    }
    case 'tools/list':
      return { tools: [{ name: CALL.tool, inputSchema: schema, outputSchema: schema }] };
    case 'tools/call':
      return { content: [{ type: 'text', text: 'hello' }], structuredContent: { text: 'hello' } };
    default:
      return {};
  }
}
