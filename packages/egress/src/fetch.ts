/**
 * A request that the hub makes itself for an app: decided with its method, its whole path and its length, and with a
 * credential that the app never sees. The same rules as for the proxy; redirects are answers and not followed.
 */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { bareAddress, failed, ok, type Result } from '@cordon/core';
import { type Admitted, admit, refused, type WayOut } from './admission.ts';
import type { Contact } from './budget.ts';
import { masked, type ReadyCredential } from './credential.ts';
import { type Destination, destination, isAddress } from './destination.ts';
import {
  cutInterim,
  finalStatus,
  headBytes,
  LONGEST_HEAD,
  PAUSE_MS,
  TOO_MUCH_DOWN,
  TOO_MUCH_UP,
} from './forward.ts';
import { isWithinReach, ownNames, PLAIN_PORT, type Reach, TLS_PORT } from './reach.ts';
import { request } from './wire/node-http.ts';

export interface FetchRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

export interface FetchAnswer {
  readonly status: number;
  /** Lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

export interface FetchCredential {
  readonly hosts: Reach;
  /** Reads the secret, once the request was decided. */
  readonly ready: () => Result<ReadyCredential, string>;
  readonly header: string;
}

export interface FetchOptions {
  readonly way: WayOut;
  readonly credential: FetchCredential | null;
  /** Bytes of the answer's body. */
  readonly answerBytes: number;
  /** From the decision to the end of the answer. */
  readonly answerMs: number;
  readonly signal: AbortSignal;
  /** Puts TLS on a connection, for exactly this host; rejects if the other side is another. */
  readonly secure: (socket: Duplex, host: string) => Promise<Duplex>;
}

/** The certificate must be for the host, by the authorities that Node knows. */
export function secureByAuthorities(socket: Duplex, host: string): Promise<Duplex> {
  const name = isAddress(host) ? { host: bareAddress(host) } : { host, servername: host };
  // Not left to NODE_TLS_REJECT_UNAUTHORIZED, which some set for a server of their own: a secret may follow.
  // Few apps have a credential, and to load TLS takes 17 ms.
  const secured = process
    .getBuiltinModule('node:tls')
    .connect({ socket, ...name, ALPNProtocols: ['http/1.1'], rejectUnauthorized: true });
  return new Promise((resolve, reject) => {
    secured.once('error', reject).once('close', () => reject(new Error('closed')));
    // Not a byte before: it would be for whoever answered.
    secured.once('secureConnect', () => resolve(secured));
  });
}

/** Refusals are sentences for the app, and hold nothing that came from outside. */
export async function fetchFor(
  asked: FetchRequest,
  options: FetchOptions,
): Promise<Result<FetchAnswer, string>> {
  const { way, credential, signal } = options;
  const target = targetOf(asked.url, way);
  if (!target.ok) return noPlace(way, target.fault);
  const { to, path, isTls } = target.value;
  const wrong = wrongIn(asked) ?? misuseOf(credential, asked, target.value);
  if (wrong !== null) return refused(way, to, wrong);
  const admitted = await admit(way, ok(to), { method: asked.method, path, bytes: asked.body.length });
  if (!admitted.ok) return admitted;
  const done = await exchange(asked, { path, isTls }, admitted.value, options);
  admitted.value.end(done.ok ? null : signal.aborted ? 'the app or its query ended' : done.fault);
  return done;
}

function noPlace(way: WayOut, reason: string): Result<never, string> {
  way.onRefused({ host: null, port: null, reason });
  return failed(reason);
}

interface Target {
  readonly to: Destination;
  readonly path: string;
  readonly isTls: boolean;
}

const LONGEST_URL = 8 * 1024;

function targetOf(text: string, { reach }: WayOut): Result<Target, string> {
  const url = text.length <= LONGEST_URL && /^[\x21-\x7e]+$/.test(text) ? URL.parse(text) : null;
  if (
    url === null ||
    !['http:', 'https:'].includes(url.protocol) ||
    url.username !== '' ||
    url.password !== ''
  )
    return failed('the request names no http or https address');
  const isTls = url.protocol === 'https:';
  const port = url.port === '' ? (isTls ? TLS_PORT : PLAIN_PORT) : Number(url.port);
  if ((isTls && port === PLAIN_PORT) || (!isTls && port === TLS_PORT))
    return failed(`port ${TLS_PORT} takes https only, and port ${PLAIN_PORT} http only`);
  const to = destination(url.hostname, port, ownNames(reach));
  return to.ok ? ok({ to: to.value, path: `${url.pathname}${url.search}`, isTls }) : to;
}

const MOST_HEADERS = 64;

/** Headers that frame the request, name another host, or make the answer unreadable here. */
const NOT_THE_APPS =
  /^(host|connection|keep-alive|content-length|transfer-encoding|te|trailer|upgrade|expect|accept-encoding|proxy-.*)$/i;

function wrongIn({ method, headers }: FetchRequest): string | null {
  if (!/^[A-Z]{1,16}$/.test(method) || ['CONNECT', 'TRACE'].includes(method))
    return 'the method is not allowed';
  const fields = Object.entries(headers);
  const size = fields.reduce((sum, [name, value]) => sum + name.length + value.length + 4, 0);
  if (fields.length > MOST_HEADERS || size > LONGEST_HEAD) return 'the request has too many headers';
  for (const [name, value] of fields) {
    if (!/^[A-Za-z0-9-]{1,64}$/.test(name) || NOT_THE_APPS.test(name))
      return 'one of the headers is not the app’s';
    // Attack: a line break in a value begins another header, or another request.
    if (!/^[\x20-\x7e\t]*$/.test(value)) return 'a header holds a character that no header can';
  }
  const names = fields.map(([name]) => name.toLowerCase());
  return new Set(names).size === names.length ? null : 'a header stands there twice';
}

/** A credential goes to its own hosts and over TLS; in its header stands nothing of the app's. */
function misuseOf(
  credential: FetchCredential | null,
  { headers }: FetchRequest,
  { to, isTls }: Target,
): string | null {
  if (credential === null) return null;
  if (!isWithinReach(to, credential.hosts)) return 'the credential is not for this host';
  if (!isTls) return 'the credential goes over https only';
  const isTaken = Object.keys(headers).some((name) => name.toLowerCase() === credential.header);
  return isTaken ? 'the header of the credential is set by the app' : null;
}

const STOPPED = 'the request was stopped';
const NO_ANSWER = 'there was no answer';

async function exchange(
  asked: FetchRequest,
  { path, isTls }: Pick<Target, 'path' | 'isTls'>,
  admitted: Admitted,
  { credential, answerBytes, answerMs, signal, secure }: FetchOptions,
): Promise<Result<FetchAnswer, string>> {
  const { contact, dial, end, request: decided } = admitted;
  // It may have been stopped while somebody thought about it: then `abort` has passed, and the listener below never hears of it.
  if (signal.aborted) return failed(STOPPED);
  const secret = credential?.ready() ?? null;
  if (secret?.ok === false) return secret;
  const ready = secret?.value ?? null;
  const dialled = await dial(signal);
  if (!dialled.ok) return failed(signal.aborted ? STOPPED : NO_ANSWER);
  const socket = dialled.value;
  const timer = setTimeout(() => socket.destroy(), answerMs);
  const stop = () => void socket.destroy();
  signal.addEventListener('abort', stop);
  contact.whenCut((why) => {
    end(why);
    stop();
  });
  try {
    if (socket.destroyed) return failed(STOPPED);
    const connection = isTls ? await secure(socket, decided.host) : socket;
    const headers = { ...asked.headers, ...(ready === null ? {} : { [ready.header]: ready.value }) };
    const size = Object.entries(headers).reduce(
      (sum, [name, value]) => sum + name.length + value.length + 4,
      path.length,
    );
    if (!contact.takeUp(size + asked.body.length)) return failed(TOO_MUCH_UP);
    const answer = await answerTo(asked, path, decided, headers, connection);
    if (!contact.takeDown(headBytes(answer))) return failed(TOO_MUCH_DOWN);
    const status = finalStatus(answer);
    if (status === null) return failed('the answer has no status');
    const body = await bodyOf(answer, answerBytes, contact);
    return body.ok ? readAnswer(status, answer, body.value, ready) : body;
  } catch {
    return failed(signal.aborted ? STOPPED : NO_ANSWER);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
    socket.on('error', () => undefined).destroy();
  }
}

function answerTo(
  { method, body }: FetchRequest,
  path: string,
  { host, port }: Destination,
  headers: Readonly<Record<string, string>>,
  connection: Duplex,
): Promise<IncomingMessage> {
  const framed =
    body.length > 0 || ['POST', 'PUT', 'PATCH'].includes(method) ? { 'content-length': body.length } : {};
  return new Promise((resolve, reject) => {
    const outgoing = request({
      method,
      path,
      headers: {
        ...headers,
        ...framed,
        host: [TLS_PORT, PLAIN_PORT].includes(port) ? host : `${host}:${port}`,
        'accept-encoding': 'identity',
      },
      setHost: false,
      maxHeaderSize: LONGEST_HEAD,
      createConnection: () => connection,
    });
    outgoing
      .on('response', resolve)
      .on('error', reject)
      .on('upgrade', () => reject(new Error('upgrade')));
    outgoing.on('close', () => reject(new Error('closed')));
    cutInterim(outgoing, (why) => outgoing.destroy(new Error(why)));
    outgoing.end(body);
  });
}

async function bodyOf(
  answer: IncomingMessage,
  most: number,
  contact: Contact,
): Promise<Result<Buffer, string>> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of answer) {
    const bytes: Buffer = chunk;
    size += bytes.length;
    if (size > most) return failed(`the answer has more than ${most} bytes`);
    if (!contact.takeDown(bytes.length)) return failed(TOO_MUCH_DOWN);
    if (!contact.takePiece(bytes.length)) await wait(PAUSE_MS);
    chunks.push(bytes);
  }
  return answer.complete ? ok(Buffer.concat(chunks)) : failed('the answer was cut short');
}

/** Of this connection, or of no use without it. */
const DROPPED = new Set([
  ...['connection', 'keep-alive', 'content-length', 'transfer-encoding', 'trailer', 'upgrade'],
  ...['proxy-authenticate', 'alt-svc'],
]);
/** With a credential the server may answer with another one in their place. */
const SECRETS_OF_SERVERS = new Set(['set-cookie', 'www-authenticate', 'authentication-info']);

function readAnswer(
  status: number,
  { headers }: IncomingMessage,
  body: Buffer,
  ready: ReadyCredential | null,
): Result<FetchAnswer, string> {
  const coding = headers['content-encoding'] ?? 'identity';
  // Attack: what is compressed cannot be searched for the secret.
  if (ready !== null && coding !== 'identity' && body.length > 0)
    return failed('the answer is compressed, and the secret could be in it');
  const mask = (bytes: Buffer) => (ready === null ? bytes : masked(bytes, ready));
  const kept = Object.entries(headers).flatMap(([name, value]) => {
    if (value === undefined || DROPPED.has(name) || (ready !== null && SECRETS_OF_SERVERS.has(name)))
      return [];
    return [[name, mask(Buffer.from([value].flat().join(', '), 'latin1')).toString('latin1')] as const];
  });
  return ok({ status, headers: Object.fromEntries(kept), body: mask(body) });
}
