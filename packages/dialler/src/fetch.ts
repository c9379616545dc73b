/**
 * `fetch` over connections that somebody else opens. TLS ends here, and certificates are checked here, as everywhere. A body is
 * text; a redirect is an answer, and is not followed.
 */
import {
  type ClientRequestArgs,
  Agent as HttpAgent,
  type IncomingMessage,
  request as requestHttp,
} from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import type { Socket } from 'node:net';
import { Duplex, Readable } from 'node:stream';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import type { Dial } from './dialler.ts';

type Opened = (error: Error | null, stream: Duplex) => void;

/** Connections are kept for the next request, as `fetch` of Node does. */
const KEPT = { keepAlive: true, timeout: 600_000 } as const;

/** @param silentMs ends a request on whose connection nothing has come or gone for so long; absent: the caller ends it */
export function fetchOver(dial: Dial, silentMs?: number): typeof globalThis.fetch {
  const plain = new HttpAgent(KEPT);
  const secure = new HttpsAgent(KEPT);
  plain.createConnection = (options, opened) => open(dial, options, (socket) => socket, opened);
  secure.createConnection = (options, opened) =>
    open(dial, options, (socket) => connectTls({ ...(options as ConnectionOptions), socket }), opened);
  return (input, init) =>
    new Promise((resolve, reject) => {
      const url = new URL(input instanceof Request ? input.url : input);
      const body = init?.body ?? '';
      if (typeof body !== 'string') return reject(new TypeError('a body is text here'));
      const isSecure = url.protocol === 'https:';
      const outgoing = (isSecure ? requestHttps : requestHttp)(url, {
        agent: isSecure ? secure : plain,
        method: init?.method ?? 'GET',
        headers: { accept: '*/*', ...Object.fromEntries(new Headers(init?.headers)) },
        ...(init?.signal == null ? {} : { signal: init.signal }),
      });
      outgoing.on('response', (incoming) => {
        try {
          resolve(answerOf(incoming));
        } catch (cause) {
          // Attack: a status that no answer can have, for which `Response` throws at whoever passes it on.
          incoming.destroy();
          reject(new TypeError('fetch failed', { cause }));
        }
      });
      // The reason is the cause, as with Node's own.
      outgoing.on('error', (cause) => reject(new TypeError('fetch failed', { cause })));
      outgoing.on('upgrade', (_incoming, socket) => socket.destroy());
      outgoing.on('close', () => reject(new TypeError('fetch failed')));
      if (silentMs !== undefined)
        outgoing.setTimeout(silentMs, () => outgoing.destroy(new Error('nothing came for too long')));
      outgoing.end(body);
    });
}

/** The body of an answer; null: it has more bytes than `most`. Attack: an answer without end. */
export async function bodyWithin(most: number, { body }: Response): Promise<Buffer | null> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += chunk.length;
    if (bytes > most) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Calls `opened` with the connection, or with the reason why there is none. */
function open(
  dial: Dial,
  { host, port }: Pick<ClientRequestArgs, 'host' | 'port'>,
  over: (socket: Socket) => Duplex,
  opened: Opened | undefined,
): undefined {
  void dial(host ?? '', Number(port)).then((dialled) => {
    if (dialled.ok) return opened?.(null, over(dialled.value));
    const { code, message } = dialled.fault;
    // Nobody looks at the stream of a failure.
    return opened?.(Object.assign(new Error(message), { code }), new Duplex());
  });
  return undefined;
}

function answerOf(incoming: IncomingMessage): Response {
  const { statusCode = 502, rawHeaders } = incoming;
  const headers = new Headers();
  for (let at = 0; at + 1 < rawHeaders.length; at += 2)
    headers.append(rawHeaders[at] ?? '', rawHeaders[at + 1] ?? '');
  const hasBody = ![204, 205, 304].includes(statusCode);
  if (!hasBody) incoming.resume();
  return new Response(hasBody ? Readable.toWeb(incoming) : null, { status: statusCode, headers });
}
