/**
 * `fetch` for the providers' libraries inside a process whose network has one port: each connection to it is one to the provider,
 * and begins with a line that is empty, or says why there is no connection. Certificates are checked here, as everywhere.
 *
 * Ring 1.
 */
import { Agent as HttpAgent, type IncomingMessage, request as requestHttp } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import { connect, type Socket } from 'node:net';
import { type Duplex, Readable } from 'node:stream';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import type { Fetch } from '../transport/transport.ts';

type Opened = (error: Error | null, stream: Duplex) => void;

/** Connections are kept for the next request, as `fetch` of Node does. */
const KEPT = { keepAlive: true, timeout: 600_000 } as const;

export function tunnelFetch(port: number): Fetch {
  const plain = new HttpAgent(KEPT);
  const secure = new HttpsAgent(KEPT);
  plain.createConnection = (_options, opened) => tunnel(port, (socket) => socket, opened);
  secure.createConnection = (options, opened) =>
    tunnel(port, (socket) => connectTls({ ...(options as ConnectionOptions), socket }), opened);
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
      outgoing.on('response', (incoming) => resolve(answerOf(incoming)));
      // The reason is the cause, as with Node's own.
      outgoing.on('error', (cause) => reject(new TypeError('fetch failed', { cause })));
      outgoing.end(body);
    });
}

/** Calls `opened` once the other side has said that the provider is reached. */
function tunnel(port: number, over: (socket: Socket) => Duplex, opened: Opened | undefined): undefined {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  let said = Buffer.alloc(0);
  const settle = (error: Error | null): unknown => {
    socket.off('data', read).off('error', settle).off('close', closed);
    // Its user listens, and reads, from the next tick on.
    socket.on('error', () => undefined);
    if (error === null) {
      opened?.(null, over(socket));
      return setImmediate(() => socket.resume());
    }
    socket.destroy();
    return opened?.(error, socket);
  };
  const closed = () => settle(new Error('the connection was closed before it was open'));
  const read = (chunk: Buffer) => {
    said = Buffer.concat([said, chunk]);
    const end = said.indexOf('\n');
    if (end === -1) return;
    socket.pause();
    if (said.length > end + 1) socket.unshift(said.subarray(end + 1));
    settle(end === 0 ? null : new Error(said.toString('utf8', 0, end)));
  };
  socket.on('data', read).on('error', settle).on('close', closed);
  return undefined;
}

function answerOf(incoming: IncomingMessage): Response {
  const { statusCode = 502, rawHeaders } = incoming;
  const headers = new Headers();
  for (let at = 0; at + 1 < rawHeaders.length; at += 2)
    headers.append(rawHeaders[at] ?? '', rawHeaders[at + 1] ?? '');
  const hasBody = statusCode !== 204 && statusCode !== 304;
  if (!hasBody) incoming.resume();
  return new Response(hasBody ? Readable.toWeb(incoming) : null, { status: statusCode, headers });
}
