/**
 * One HTTP request in the clear: read strictly, decided with its method, path and length, and built anew, so that
 * what was decided is what is sent and nothing can hide behind it.
 */
import type { ClientRequest, IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { pipeline, Transform, type TransformOptions } from 'node:stream';
import { failed, ok, type Result } from '@cordon/core';
import { type Admitted, admit, type WayOut, type Wish } from './admission.ts';
import type { Contact } from './budget.ts';
import { type Destination, destinationOfAuthority } from './destination.ts';
import { ownNames, PLAIN_PORT, TLS_PORT } from './reach.ts';
import { request } from './wire/node-http.ts';

export const LONGEST_HEAD = 16 * 1024;

/**
 * `pinned`: the destination of the tunnel in which the request stands; null: the request names its own.
 * `onAdmitted` is called before the body is read.
 */
export async function forward(
  incoming: IncomingMessage,
  response: ServerResponse,
  way: WayOut,
  pinned: Destination | null,
  onAdmitted: () => void = () => undefined,
): Promise<void> {
  incoming.on('error', () => undefined); // The client is gone; `close` of the response says so, too.
  const asked = readRequest(incoming, pinned, way);
  if (!asked.ok) {
    way.onRefused({ host: pinned?.host ?? null, port: pinned?.port ?? null, reason: asked.fault });
    return refuse(response, asked.fault, 400);
  }
  const admitted = await admit(way, asked.value.to, asked.value.wish);
  if (!admitted.ok) return refuse(response, admitted.fault);
  const { dial, end } = admitted.value;
  if (response.destroyed) return end(null);
  onAdmitted();
  const dialled = await dial();
  if (!dialled.ok) {
    end(NO_ANSWER);
    return refuse(response, NO_ANSWER, 502);
  }
  if (response.destroyed) {
    dialled.value.destroy();
    return end(null);
  }
  send(incoming, response, way, admitted.value, dialled.value);
}

const NO_ANSWER = 'no answer';

interface Asked {
  readonly to: Result<Destination, string>;
  readonly wish: Wish;
}

function readRequest(
  incoming: IncomingMessage,
  pinned: Destination | null,
  { reach }: WayOut,
): Result<Asked, string> {
  const target = splitTarget(incoming.url ?? '', pinned);
  const url = target === null ? null : URL.parse(`http://host${target.path}`);
  if (target === null || url === null) return failed('the request is neither `http://…` nor CONNECT');
  if (!['1.0', '1.1'].includes(incoming.httpVersion)) return failed('the request is not HTTP/1');
  const [host, ...moreHosts] = incoming.headersDistinct.host ?? [];
  if (host === undefined || moreHosts.length > 0 || withPort(host) !== target.authority)
    return failed('`Host` differs from the destination');
  const bytes = bodyLength(incoming);
  if (!bytes.ok) return bytes;
  const to = destinationOfAuthority(target.authority, ownNames(reach));
  const isForTls = to.ok && to.value.port === TLS_PORT;
  return ok({
    to: isForTls ? failed(`port ${TLS_PORT} takes TLS only`) : to,
    wish: { method: incoming.method ?? '', path: `${url.pathname}${url.search}`, bytes: bytes.value },
  });
}

/** `authority` with its port, as it is spelled. In a tunnel a request names its path only. */
function splitTarget(target: string, pinned: Destination | null) {
  if (pinned !== null)
    return target.startsWith('/') ? { authority: `${pinned.host}:${pinned.port}`, path: target } : null;
  const [, authority, path = ''] = /^http:\/\/([^/?#]+)([/?].*)?$/i.exec(target) ?? [];
  if (authority === undefined) return null;
  return { authority: withPort(authority), path: path.startsWith('?') ? `/${path}` : path };
}

function withPort(authority: string): string {
  return `${authority.toLowerCase()}${/:\d*$/.test(authority) ? '' : `:${PLAIN_PORT}`}`;
}

/**
 * Zero without a body, null for one in chunks. Attack: a length that two readers understand differently hides a second
 * request in the body of the first; Node's parser refuses most of these, and this does not depend on it.
 */
function bodyLength({ headersDistinct, httpVersion }: IncomingMessage): Result<number | null, string> {
  const lengths = headersDistinct['content-length'] ?? [];
  const codings = headersDistinct['transfer-encoding'] ?? [];
  if (lengths.length + codings.length > 1) return failed('the length of the body is said more than once');
  const [length] = lengths;
  const [coding] = codings;
  if (coding !== undefined)
    return coding === 'chunked' && httpVersion === '1.1'
      ? ok(null)
      : failed('the only transfer coding is `chunked`');
  if (length === undefined) return ok(0);
  return /^\d{1,15}$/.test(length) ? ok(Number(length)) : failed('the length of the body is no number');
}

function send(
  incoming: IncomingMessage,
  response: ServerResponse,
  way: WayOut,
  { contact, request: asked, end }: Admitted,
  connection: Socket,
): void {
  const { limits } = way.budget;
  const cut = (why: string) => {
    end(why);
    incoming.unpipe().pause(); // else what is left of the body is still passed on, piece by piece, to nobody
    outgoing.destroy();
    if (response.headersSent) response.destroy();
    else refuse(response, why, 502);
  };
  const headers: OutgoingHttpHeaders = {
    ...endToEnd(incoming),
    host: asked.port === PLAIN_PORT ? asked.host : `${asked.host}:${asked.port}`,
    ...framing(asked),
  };
  const outgoing = request({
    method: asked.method,
    path: asked.path,
    headers,
    setHost: false,
    maxHeaderSize: LONGEST_HEAD,
    createConnection: () => connection,
  });
  const lateBody = setTimeout(() => cut('the body of the request came too slowly'), limits.bodyMs);
  outgoing.setTimeout(limits.idleMs, () => cut('nothing came for too long'));
  outgoing.on('finish', () => clearTimeout(lateBody));
  outgoing.on('error', () => cut(NO_ANSWER));
  outgoing.on('upgrade', () => cut('the server switched protocols'));
  cutInterim(outgoing, cut);
  response.on('close', () => {
    clearTimeout(lateBody);
    end(null);
    outgoing.destroy();
  });
  outgoing.on('response', (answer) => {
    // What came in the same piece as the reason to cut is still read.
    if (response.headersSent || response.destroyed) return void answer.destroy();
    if (!contact.takeDown(headBytes(answer))) return cut(TOO_MUCH_DOWN);
    const status = finalStatus(answer);
    if (status === null) return cut('the answer has no status');
    response.writeHead(status, endToEnd(answer));
    const counter = pieceByPiece(
      contact,
      (bytes) => contact.takeDown(bytes),
      () => cut(TOO_MUCH_DOWN),
    );
    pipeline(answer, counter, response, () => undefined);
  });
  contact.whenCut(cut);
  if (outgoing.destroyed) return;
  if (!contact.takeUp(headBytes(incoming))) return cut(TOO_MUCH_UP);
  const counter = pieceByPiece(
    contact,
    (bytes) => contact.takeUp(bytes),
    () => cut(TOO_MUCH_UP),
  );
  incoming.pipe(counter).pipe(outgoing);
}

/**
 * Answers before the answer (RFC 9110, 15.2), which nobody waits for. Attack: a server that sends nothing else, for ever,
 * and counts as silent.
 */
export function cutInterim(outgoing: ClientRequest, cut: (why: string) => void): void {
  let interim = 0;
  outgoing.on('information', () => {
    if (++interim === MOST_INTERIM) cut('the server only announces an answer');
  });
}

const MOST_INTERIM = 16;

export const TOO_MUCH_UP = 'more bytes were sent than the app may send';
export const TOO_MUCH_DOWN = 'more bytes came back than the app may receive';

/** Passes chunks on while `take` counts them as allowed; then `excess` ends the connection. */
export function counting(take: (bytes: number) => boolean, excess: () => void): Transform {
  return new Transform(passing(take, excess, () => true));
}

/** Of a body whose chunks the other side makes: with too many small ones it has to wait. */
function pieceByPiece(contact: Contact, take: (bytes: number) => boolean, excess: () => void): Transform {
  const options = passing(take, excess, (bytes) => contact.takePiece(bytes));
  // No more than one waits here: the rest waits where it comes from.
  return new Transform({ ...options, highWaterMark: 1 });
}

/** Of one body, while all together have too many small pieces. */
export const PAUSE_MS = 20;

function passing(
  take: (bytes: number) => boolean,
  excess: () => void,
  isInTime: (bytes: number) => boolean,
): TransformOptions {
  let isOver = false;
  return {
    transform(chunk: Buffer, _encoding, done) {
      if (isOver) return done();
      if (!take(chunk.length)) {
        isOver = true;
        excess();
        return done();
      }
      if (isInTime(chunk.length)) return done(null, chunk);
      setTimeout(done, PAUSE_MS, null, chunk);
    },
  };
}

/**
 * The body's frame is ours. Attack: `Connection: content-length`, or a chunked GET: without our own frame what
 * follows the head would be a request that nobody decided.
 */
function framing({ method, bytes }: Wish): OutgoingHttpHeaders {
  if (bytes === null) return { 'transfer-encoding': 'chunked' };
  return bytes > 0 || !['GET', 'HEAD', 'OPTIONS', 'DELETE'].includes(method)
    ? { 'content-length': bytes }
    : {};
}

/** Between two hops only (RFC 9110, 7.6.1), what is meant for the proxy, and what frames the body. */
const HOP_BY_HOP = new Set([
  ...['connection', 'keep-alive', 'proxy-authenticate', 'proxy-authorization', 'proxy-connection', 'te'],
  ...['trailer', 'transfer-encoding', 'upgrade', 'expect'],
]);

/** Of a request the frame is replaced; of an answer its length is kept. */
function endToEnd(message: IncomingMessage): Record<string, string | string[]> {
  const named = String(message.headers.connection ?? '')
    .toLowerCase()
    .split(/\s*,\s*/);
  const kept = Object.entries(message.headers).flatMap(([name, value]) =>
    value === undefined || HOP_BY_HOP.has(name) || named.includes(name) ? [] : [[name, value] as const],
  );
  return Object.fromEntries(kept);
}

/**
 * Null below 200: nothing follows such an answer. Attack: `HTTP/1.1 000`, which Node's parser takes, and for which Node
 * throws at whoever passes it on.
 */
export function finalStatus({ statusCode = 0 }: IncomingMessage): number | null {
  return statusCode >= 200 ? statusCode : null;
}

export function headBytes({ rawHeaders, url = '' }: IncomingMessage): number {
  return rawHeaders.reduce((sum, text) => sum + text.length + 2, url.length);
}

export function refuse(response: ServerResponse, why: string, status = 403): void {
  if (response.destroyed || response.headersSent) return;
  response.writeHead(status, { 'content-type': 'text/plain', connection: 'close' });
  response.end(`cordon: ${why}\n`);
}
