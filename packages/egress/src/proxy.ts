/**
 * The only way out for one app: an HTTP proxy on a Unix socket that is bound into the app's sandbox, so that who
 * speaks is known from the socket and never from the message. Every request is decided before any byte of it
 * leaves, its name is resolved once, and the address that was checked is the one that is dialled.
 *
 * Ring 0.
 */
import { chmodSync } from 'node:fs';
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { type Duplex, Transform } from 'node:stream';
import { type Fault, failed, fault, ok, type Result } from '@cordon/core';
import { readClientHello } from './client-hello.ts';
import {
  type Destination,
  destination,
  destinationOfAuthority,
  isWithinReach,
  type Reach,
} from './destination.ts';
import { type Lookup, resolvePublic } from './resolver.ts';

/** One request as the monitor sees it. */
export interface EgressRequest extends Destination {
  readonly method: string;
  /** Null inside a TLS tunnel, where it cannot be seen. */
  readonly path: string | null;
}

export interface EgressLimits {
  readonly connections: number;
  /** Bytes of one connection, in each direction. */
  readonly bytesUp: number;
  readonly bytesDown: number;
  readonly idleMs: number;
  readonly headersMs: number;
}

export const DEFAULT_EGRESS_LIMITS: EgressLimits = {
  connections: 32,
  bytesUp: 16 * 1024 * 1024,
  bytesDown: 256 * 1024 * 1024,
  idleMs: 30_000,
  headersMs: 5_000,
};

export interface EgressOptions {
  readonly reach: Reach;
  /** Asked once per request; false, a rejection and no answer within `decideMs` deny. */
  readonly decide: (request: EgressRequest, signal: AbortSignal) => Promise<boolean>;
  /** How long a person may think about it. Milliseconds. */
  readonly decideMs: number;
  readonly lookup: Lookup;
  /** Opens a TCP connection to a checked address. */
  readonly dial: (address: string, port: number) => Socket;
  readonly limits: EgressLimits;
  /** Told of each refusal, for the trace; holds no content of the request. */
  readonly onRefused: (host: string | null, why: string) => void;
}

export interface EgressProxy {
  /** Host path of the Unix socket. */
  readonly socket: string;
  close(): Promise<void>;
}

const LONGEST_HELLO = 16 * 1024;

/** `socket`: a path that does not exist yet, in a folder that only the hub can enter. */
export function openEgressProxy(socket: string, options: EgressOptions): Promise<Result<EgressProxy, Fault>> {
  const { limits } = options;
  const server = createServer({
    headersTimeout: limits.headersMs,
    requestTimeout: 0,
    connectionsCheckingInterval: 1_000, // with the default, headers may dribble in for half a minute
    maxHeaderSize: 16 * 1024,
    keepAliveTimeout: 1_000,
  });
  server.maxConnections = limits.connections;
  server.on('connection', (client: Socket) =>
    client.setTimeout(limits.idleMs + options.decideMs, () => client.destroy()),
  );
  server.on('request', (incoming, response) => void forward(incoming, response, options));
  server.on('connect', (incoming, client, head) => void tunnel(incoming, client, head, options));
  server.on('upgrade', (_incoming, client) => client.destroy());
  server.on('clientError', (_error, client) => client.destroy());
  return listen(server, socket);
}

function listen(server: Server, socket: string): Promise<Result<EgressProxy, Fault>> {
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return new Promise((resolve) => {
    server.once('error', (error) =>
      resolve(failed(fault('sandbox-unavailable', `the egress proxy cannot listen: ${error.message}`))),
    );
    server.listen(socket, () => {
      chmodSync(socket, 0o666); // confined processes may be another user; who gets in is decided by the mount
      resolve(ok({ socket, close }));
    });
  });
}

/** The address to dial, or why not. Order: form, reach, decision, name; nothing unknown is ever looked up. */
async function admit(
  method: string,
  path: string | null,
  wanted: Result<Destination, string>,
  options: EgressOptions,
): Promise<Result<{ readonly to: Destination; readonly address: string }, string>> {
  const admitted = await admission(method, path, wanted, options);
  if (!admitted.ok) options.onRefused(wanted.ok ? wanted.value.host : null, admitted.fault);
  return admitted;
}

async function admission(
  method: string,
  path: string | null,
  wanted: Result<Destination, string>,
  options: EgressOptions,
): Promise<Result<{ readonly to: Destination; readonly address: string }, string>> {
  if (!wanted.ok) return wanted;
  const to = wanted.value;
  if (!isWithinReach(to, options.reach)) return failed('the app may not reach this site and port');
  if (!(await decided({ ...to, method, path }, options))) return failed('the request was denied');
  const address = await resolvePublic(to.host, options.lookup);
  return address.ok ? ok({ to, address: address.value }) : address;
}

async function decided(request: EgressRequest, { decide, decideMs }: EgressOptions): Promise<boolean> {
  const signal = AbortSignal.timeout(decideMs);
  const late = Promise.withResolvers<boolean>();
  signal.addEventListener('abort', () => late.resolve(false), { once: true });
  try {
    return (await Promise.race([decide(request, signal), late.promise])) === true;
  } catch {
    return false;
  }
}

/** Between two hops only (RFC 9110, 7.6.1), and what a proxy is told. */
const HOP_BY_HOP = new Set([
  ...['connection', 'keep-alive', 'proxy-authenticate', 'proxy-authorization', 'proxy-connection', 'te'],
  ...['trailer', 'transfer-encoding', 'upgrade'],
]);

function endToEnd(message: IncomingMessage): Record<string, string | string[]> {
  const named = String(message.headers.connection ?? '')
    .toLowerCase()
    .split(/\s*,\s*/);
  const kept = Object.entries(message.headers).flatMap(([name, value]) =>
    value === undefined || HOP_BY_HOP.has(name) || named.includes(name) ? [] : [[name, value] as const],
  );
  return Object.fromEntries(kept);
}

/** `GET http://host/path`: the request is built anew, so what was decided is what is sent. */
async function forward(
  incoming: IncomingMessage,
  response: ServerResponse,
  options: EgressOptions,
): Promise<void> {
  const method = incoming.method ?? '';
  const url = URL.parse(incoming.url ?? '');
  const wanted = httpDestination(url, incoming);
  const path = url === null ? null : `${url.pathname}${url.search}`;
  const admitted = await admit(method, path, wanted, options);
  if (!admitted.ok) return refuse(response, admitted.fault);
  const { to, address } = admitted.value;
  const headers = { ...endToEnd(incoming), host: to.port === 80 ? to.host : `${to.host}:${to.port}` };
  const outgoing = request({ method, path, headers, createConnection: () => options.dial(address, to.port) });
  outgoing.setTimeout(options.limits.idleMs, () => outgoing.destroy());
  response.on('close', () => outgoing.destroy());
  outgoing.on('error', () =>
    response.headersSent ? response.destroy() : refuse(response, 'no answer', 502),
  );
  outgoing.on('response', (answer) => {
    response.writeHead(answer.statusCode ?? 502, endToEnd(answer));
    pass(answer, response, options.limits.bytesDown, () => outgoing.destroy());
  });
  pass(incoming, outgoing, options.limits.bytesUp, () => outgoing.destroy());
}

function httpDestination(url: URL | null, incoming: IncomingMessage): Result<Destination, string> {
  if (url?.protocol !== 'http:' || url.username !== '' || url.password !== '')
    return failed('the proxy takes http:// URLs and CONNECT');
  const named = incoming.headersDistinct.host ?? [];
  if (named.length !== 1 || named[0]?.toLowerCase() !== url.host)
    return failed('`Host` differs from the URL');
  return destination(url.hostname, url.port === '' ? 80 : Number(url.port));
}

function refuse(response: ServerResponse, why: string, status = 403): void {
  response.writeHead(status, { 'content-type': 'text/plain', connection: 'close' });
  response.end(`${why}\n`);
}

/** `CONNECT host:port`: the tunnel opens only for TLS to that very name. */
async function tunnel(
  incoming: IncomingMessage,
  client: Duplex,
  head: Buffer,
  options: EgressOptions,
): Promise<void> {
  client.on('error', () => client.destroy());
  const admitted = await admit('CONNECT', null, destinationOfAuthority(incoming.url ?? ''), options);
  if (!admitted.ok) {
    client.end(
      `HTTP/1.1 403 Forbidden\r\nconnection: close\r\ncontent-type: text/plain\r\n\r\n${admitted.fault}\n`,
    );
    return;
  }
  const { to, address } = admitted.value;
  client.write('HTTP/1.1 200 Connection Established\r\n\r\n');
  const hello = await readHello(client, head, to.host, options.limits.headersMs);
  if (!hello.ok) {
    options.onRefused(to.host, hello.fault);
    client.destroy();
    return;
  }
  const upstream = options.dial(address, to.port);
  const end = () => {
    client.destroy();
    upstream.destroy();
  };
  upstream.setTimeout(options.limits.idleMs, end);
  for (const side of [upstream, client]) side.on('error', end).on('close', end);
  upstream.write(hello.value);
  pass(client, upstream, options.limits.bytesUp - hello.value.length, end);
  pass(upstream, client, options.limits.bytesDown, end);
}

/** The first bytes of the tunnel, once they name `host`; not a byte has left by then. */
function readHello(
  client: Duplex,
  head: Buffer,
  host: string,
  deadlineMs: number,
): Promise<Result<Buffer, string>> {
  return new Promise((resolve) => {
    let bytes = head;
    const finish = (result: Result<Buffer, string>) => {
      clearTimeout(timer);
      client.off('data', take).off('close', gone).pause();
      resolve(result);
    };
    const gone = () => finish(failed('the tunnel was closed before it began'));
    const timer = setTimeout(() => finish(failed('the tunnel stayed silent')), deadlineMs);
    const look = () => {
      const hello = readClientHello(bytes);
      if (hello.kind === 'refused') finish(failed(hello.why));
      else if (hello.kind === 'name')
        finish(
          hello.host.toLowerCase() === host
            ? ok(bytes)
            : failed('the server name in TLS differs from the host'),
        );
      else if (bytes.length > LONGEST_HELLO) finish(failed('the ClientHello is too long'));
    };
    const take = (chunk: Buffer) => {
      bytes = Buffer.concat([bytes, chunk]);
      look();
    };
    client.on('data', take).on('close', gone);
    if (head.length > 0) look();
  });
}

/** Copies until `most` bytes have passed; then `excess` ends the connection. */
function pass(
  from: NodeJS.ReadableStream,
  to: NodeJS.WritableStream,
  most: number,
  excess: () => void,
): void {
  let left = most;
  const counter = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      left -= chunk.length;
      if (left >= 0) return done(null, chunk);
      excess();
      done();
    },
  });
  from.pipe(counter).pipe(to);
}
