/**
 * The way out for the processes of one app: an HTTP proxy on a listener of the app's own sandbox, or on a Unix socket
 * that is bound into it, so that who speaks is known from where it comes and never from the message. Every request is decided before any byte of
 * it leaves, its name is resolved once, and the address that was checked is the one that is dialled.
 */
import { chmodSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Server as Listener, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type Fault, failed, fault, ok, type Result } from '@cordon/core';
import type { WayOut } from './admission.ts';
import type { Destination } from './destination.ts';
import { forward, LONGEST_HEAD } from './forward.ts';
import { tunnel } from './tunnel.ts';

export interface EgressProxy {
  /** Cuts every connection. */
  close(): Promise<void>;
}

/**
 * @param at a path that does not exist yet, in a folder that only the hub can enter: a Unix socket is made there; or
 * a listener in the app's sandbox that was handed to the hub
 */
export function openEgressProxy(at: string | Listener, way: WayOut): Promise<Result<EgressProxy, Fault>> {
  const tunnels = new WeakMap<Duplex, Destination>();
  const inside = httpServer(way, tunnels);
  const outside = httpServer(way, tunnels);
  // Node looks for heads that dribble in once a server listens, which this one never does.
  inside.emit('listening');
  outside.on('connect', (incoming: IncomingMessage, client: Duplex, head: Buffer) => {
    void tunnel(incoming, client, head, way, (opened, to) => {
      tunnels.set(opened, to);
      inside.emit('connection', opened);
      opened.resume();
    });
  });
  outside.on('close', () => inside.close());
  return listen(outside, at, way);
}

/** Of a body that waits to be decided. Attack: each byte of it comes as a separate chunk, and becomes an object here. */
const UNREAD_BYTES = 4 * 1024;

/** Takes requests in the clear. A connection that is a tunnel's is pinned to the tunnel's destination. */
function httpServer(way: WayOut, tunnels: WeakMap<Duplex, Destination>): Server {
  const { limits } = way.budget;
  const server = createServer({
    headersTimeout: limits.headersMs,
    requestTimeout: 0, // `bodyMs` bounds the body, from the decision on
    connectionsCheckingInterval: Math.min(1_000, limits.headersMs), // the default lets headers dribble in for half a minute
    maxHeaderSize: LONGEST_HEAD,
    highWaterMark: UNREAD_BYTES,
    keepAliveTimeout: 5_000,
    insecureHTTPParser: false,
    requireHostHeader: false, // refused like every other, and told
  });
  server.maxHeadersCount = 0; // else what is beyond the 2,000th would not be seen
  const answering = new WeakSet<Socket>();
  /** What had been received of a connection when its last answer ended. */
  const receivedBefore = new WeakMap<Socket, number>();
  const take = (incoming: IncomingMessage, response: ServerResponse, onAdmitted?: () => void) => {
    const { socket } = incoming;
    const pinned = tunnels.get(socket) ?? null;
    if (answering.has(socket)) {
      way.onRefused({ ...placeOf(pinned), reason: 'a request before the answer to the one before' });
      return void socket.destroy();
    }
    answering.add(socket);
    let isAdmitted = false;
    response.on('close', () => {
      answering.delete(socket);
      if (!isAdmitted) way.budget.takeInVain(socket.bytesRead - (receivedBefore.get(socket) ?? 0));
      receivedBefore.set(socket, socket.bytesRead);
    });
    void forward(incoming, response, way, pinned, () => {
      isAdmitted = true;
      onAdmitted?.();
    });
  };
  server.on('request', (incoming, response) => take(incoming, response));
  server.on('checkContinue', (incoming, response) =>
    take(incoming, response, () => response.writeContinue()),
  );
  server.on('upgrade', (_incoming: IncomingMessage, client: Duplex) => {
    way.onRefused({
      ...placeOf(tunnels.get(client) ?? null),
      reason: 'HTTP upgrades (WebSockets) are not passed on',
    });
    client.on('error', () => undefined);
    client.end('HTTP/1.1 403 Forbidden\r\nconnection: close\r\ncontent-length: 0\r\n\r\n');
  });
  server.on('clientError', (error: Error & { readonly code?: string }, client) => {
    if (error.code !== 'ECONNRESET') {
      const reason = `the request is malformed or too slow (${error.code ?? 'no code'})`;
      way.onRefused({ ...placeOf(tunnels.get(client) ?? null), reason });
    }
    client.destroy();
  });
  return server;
}

function placeOf(pinned: Destination | null): { readonly host: string | null; readonly port: number | null } {
  return { host: pinned?.host ?? null, port: pinned?.port ?? null };
}

function listen(server: Server, at: string | Listener, way: WayOut): Promise<Result<EgressProxy, Fault>> {
  const { connections, idleMs } = way.budget.limits;
  const clients = new Set<Socket>();
  server.maxConnections = connections * 2; // those that are kept alive without a request are no contacts
  // Whenever a connection cannot be accepted: then the hub has no descriptor left, and may have one a moment later.
  server.on('error', ({ message }) =>
    way.onRefused({ ...placeOf(null), reason: `no connection: ${message}` }),
  );
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      // Not `closeAllConnections`: it forgets those that have become tunnels.
      for (const client of clients) client.destroy();
    });
  // A refusal costs as much as a request, and ends its connection: so connections are what is bounded.
  const counted = () => {
    if (way.budget.takeConnection() || !server.listening) return;
    way.onRefused({ ...placeOf(null), reason: 'it floods the proxy, which is closed' });
    void close();
  };
  server.on('drop', () => {
    way.onRefused({ ...placeOf(null), reason: 'too many connections to the proxy' });
    counted();
  });
  server.on('connection', (client: Socket) => {
    clients.add(client);
    client.on('close', () => clients.delete(client));
    client.setTimeout(idleMs + way.decideMs, () => client.destroy());
    counted();
  });
  return new Promise((resolve) => {
    server.once('error', (error) =>
      resolve(failed(fault('sandbox-unavailable', `the egress proxy cannot listen: ${error.message}`))),
    );
    server.listen(at, () => {
      // Confined processes may be another user; who gets in is decided by the mount.
      if (typeof at === 'string') chmodSync(at, 0o666);
      resolve(ok({ close }));
    });
  });
}
