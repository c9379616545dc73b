/**
 * The way out for the processes of one app: an HTTP proxy on a listener of the app's own sandbox, or on a Unix socket
 * that is bound into it, so that who speaks is known from where it comes and never from the message. Every request is decided before any byte of
 * it leaves, its name is resolved once, and the address that was checked is the one that is dialled.
 */
import type { Socket as DatagramSocket } from 'node:dgram';
import { chmodSync } from 'node:fs';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer as createTcpServer, type Server as Listener, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type Fault, failed, fault, ok, type Result } from '@cordon/core';
import type { WayOut } from './admission.ts';
import type { Destination } from './destination.ts';
import {
  connectDirectly,
  refuseAddresses,
  refuseDatagrams,
  refuseUnheard,
  type UnheardPlace,
} from './direct.ts';
import { forward, LONGEST_HEAD } from './forward.ts';
import { answerDatagrams, answerStream, NAME_PORT, nameService } from './name-service.ts';
import { NamesInside } from './names.ts';
import { tunnel } from './tunnel.ts';
import { createServer } from './wire/node-http.ts';

export interface EgressProxy {
  /** Cuts every connection. */
  close(): Promise<void>;
}

/** Of a sandbox whose programs connect by themselves, too. */
export interface DirectListeners {
  /** By port; each at every address of the sandbox. */
  readonly ports: ReadonlyMap<number, Listener>;
  /** Of its name server. */
  readonly names: Listener;
  /** At the same places, for datagrams; port 53 is the name server's. */
  readonly datagrams: ReadonlyMap<number, DatagramSocket>;
  /** Calls `tell` for what finds no listener; null: only loopback addresses lead into the sandbox's listeners. */
  readonly watch: ((tell: (place: UnheardPlace) => void) => void) | null;
}

/**
 * @param at a path that does not exist yet, in a folder that only the hub can enter: a Unix socket is made there; or
 * a listener in the app's sandbox that was handed to the hub
 * @param direct the other listeners of that sandbox; null: there are none
 */
export async function openEgressProxy(
  at: string | Listener,
  way: WayOut,
  direct: DirectListeners | null = null,
): Promise<Result<EgressProxy, Fault>> {
  const tunnels = new WeakMap<Duplex, Destination>();
  const inside = httpServer(way, tunnels);
  const outside = httpServer(way, tunnels);
  // Node looks for heads that dribble in once a server listens, which this one never does.
  inside.emit('listening');
  const plain = (opened: Duplex, to: Destination) => {
    tunnels.set(opened, to);
    inside.emit('connection', opened);
    opened.resume();
  };
  outside.on('connect', (incoming: IncomingMessage, client: Duplex, head: Buffer) => {
    void tunnel(incoming, client, head, way, plain);
  });
  outside.on('close', () => inside.close());
  const entrance = new Entrance(way);
  // All at once: the listeners of a sandbox already take connections, which wait until they are served here.
  const opening = [
    entrance.open(outside, at),
    ...(direct === null ? [] : openDirectly(direct, way, plain, entrance)),
  ];
  const fault = (await Promise.all(opening)).find((opened) => opened !== null) ?? null;
  if (fault === null) return ok({ close: () => entrance.close() });
  await entrance.close();
  return failed(fault);
}

/** Serves the names and ports of a sandbox. */
function openDirectly(
  { ports, names, datagrams, watch }: DirectListeners,
  way: WayOut,
  plain: (client: Duplex, to: Destination) => void,
  entrance: Entrance,
): readonly Promise<Fault | null>[] {
  const inside = new NamesInside(way.reach);
  const answer = nameService(inside, way, () => entrance.flooded());
  const { headersMs } = way.budget.limits;
  const served = createTcpServer({ noDelay: true }, (client) => answerStream(client, answer, headersMs));
  for (const [port, socket] of datagrams) {
    const close = port === NAME_PORT ? answerDatagrams(socket, answer) : refuseDatagrams(socket, port, way);
    entrance.onClose(close);
  }
  if (watch === null) refuseAddresses(way);
  watch?.((place) => entrance.unheard(place, inside));
  const connecting = Array.from(ports, ([port, listener]) => {
    const server = createTcpServer({ allowHalfOpen: true, pauseOnConnect: true, noDelay: true }, (client) => {
      const wanted = inside.destinationAt(client.localAddress ?? '', port);
      void connectDirectly(client, wanted, port, { way, plain });
    });
    return entrance.open(server, listener);
  });
  return [entrance.open(served, names), ...connecting];
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

/** All listeners of one sandbox, and who is connected to them. */
class Entrance {
  readonly #way: WayOut;
  readonly #servers = new Set<Listener>();
  readonly #clients = new Set<Socket>();
  readonly #atClose: (() => void)[] = [];
  #isClosed = false;

  constructor(way: WayOut) {
    this.#way = way;
  }

  /** Null when it listens. */
  open(server: Listener, at: string | Listener): Promise<Fault | null> {
    const { connections, idleMs } = this.#way.budget.limits;
    const most = connections * 2; // those that are kept alive without a request are no contacts
    server.maxConnections = most;
    // Whenever a connection cannot be accepted: then the hub has no descriptor left, and may have one a moment later.
    server.on('error', ({ message }) => this.#refused(`no connection: ${message}`));
    server.on('drop', () => this.#drop());
    server.on('connection', (client: Socket) => {
      // Attack: one listener after the other is filled, until the hub has no descriptor left.
      if (this.#clients.size >= most) {
        client.destroy();
        return this.#drop();
      }
      this.#clients.add(client);
      client.on('close', () => this.#clients.delete(client));
      client.setTimeout(idleMs + this.#way.decideMs, () => client.destroy());
      this.#count();
    });
    this.#servers.add(server);
    return new Promise((resolve) => {
      server.once('error', (error) =>
        resolve(fault('sandbox-unavailable', `the egress proxy cannot listen: ${error.message}`)),
      );
      server.listen(at, () => {
        // Confined processes may be another user; who gets in is decided by the mount.
        if (typeof at === 'string') chmodSync(at, 0o666);
        resolve(null);
      });
    });
  }

  #drop(): void {
    this.#refused('too many connections to the proxy');
    this.#count();
  }

  onClose(act: () => void): void {
    this.#atClose.push(act);
  }

  /** A refusal costs as much as a request, and ends its connection: so connections are what is bounded. */
  #count(): void {
    if (!this.#way.budget.takeConnection()) this.flooded();
  }

  unheard(place: UnheardPlace, names: NamesInside): void {
    if (!this.#isClosed) refuseUnheard(place, names, this.#way);
  }

  flooded(): void {
    if (this.#isClosed) return;
    this.#refused('it floods the proxy, which is closed');
    void this.close();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const act of this.#atClose.splice(0)) act();
    const closing = [...this.#servers].map(
      (server) => new Promise<void>((resolve) => server.close(() => resolve())),
    );
    // Not `closeAllConnections`: it forgets those that have become tunnels.
    for (const client of this.#clients) client.destroy();
    await Promise.all(closing);
  }

  #refused(reason: string): void {
    this.#way.onRefused({ host: null, port: null, reason });
  }
}
