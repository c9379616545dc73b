/**
 * `CONNECT host:port`: bytes in both directions, but only after the first of them have said what it will be. TLS must
 * name that very host; anything else is read as HTTP, each request by itself. Not a byte leaves before that.
 */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { failed, ok, type Result } from '@cordon/core';
import { type Admitted, admit, refused, type WayOut, withinReach } from './admission.ts';
import { type Destination, destinationOfAuthority, isAddress } from './destination.ts';
import { counting, TOO_MUCH_DOWN, TOO_MUCH_UP } from './forward.ts';
import { ownNames, PLAIN_PORT, TLS_PORT } from './reach.ts';
import { readClientHello, TLS_HANDSHAKE } from './wire/client-hello.ts';
import { farewell } from './wire/farewell.ts';
import { heard } from './wire/heard.ts';

const LONGEST_HELLO = 16 * 1024;
const NO_CONNECTION = 'no connection';
const OPENED = 'HTTP/1.1 200 Connection Established\r\n\r\n';

/** `plain`: takes over a tunnel that holds HTTP; the destination is the tunnel's. */
export async function tunnel(
  incoming: IncomingMessage,
  client: Duplex,
  head: Buffer,
  way: WayOut,
  plain: (client: Duplex, to: Destination) => void,
): Promise<void> {
  client.on('error', () => client.destroy());
  const within = withinReach(way, wantedBy(incoming, way));
  if (!within.ok) return answerNo(client, within.fault);
  const to = within.value;
  if (to.port === TLS_PORT) return openTls(client, head, to, way);

  client.write(OPENED);
  const { headersMs } = way.budget.limits;
  const first = await readFirst(client, head, headersMs, (bytes) => (bytes.length > 0 ? ok(bytes) : null));
  if (!first.ok) return drop(client, to, first.fault, way);
  if (to.port === PLAIN_PORT || first.value[0] !== TLS_HANDSHAKE) {
    client.unshift(first.value);
    return plain(client, to);
  }
  const hello = await readHello(client, first.value, to, headersMs);
  if (!hello.ok) return drop(client, to, hello.fault, way);
  const admitted = await admitTunnel(to, way);
  if (admitted.ok) await splice(client, known(hello.value), way, admitted.value);
  else client.destroy();
}

/** Port 443 can be nothing but TLS, so it is decided first, and a no is an answer that the app can show. */
async function openTls(client: Duplex, head: Buffer, to: Destination, way: WayOut): Promise<void> {
  const admitted = await admitTunnel(to, way);
  if (!admitted.ok) return answerNo(client, admitted.fault);
  client.write(OPENED);
  const hello = await readHello(client, head, to, way.budget.limits.headersMs);
  if (hello.ok) return splice(client, known(hello.value), way, admitted.value);
  admitted.value.end(hello.fault);
  client.destroy();
}

export function admitTunnel(to: Destination, way: WayOut): Promise<Result<Admitted, string>> {
  return admit(way, ok(to), { method: 'CONNECT', path: null, bytes: null });
}

function wantedBy(
  { url = '', headersDistinct }: IncomingMessage,
  { reach }: WayOut,
): Result<Destination, string> {
  const wanted = destinationOfAuthority(url, ownNames(reach));
  if (!wanted.ok) return wanted;
  const [host = url, ...more] = headersDistinct.host ?? [];
  const isSame = host.toLowerCase() === url.toLowerCase() || host.toLowerCase() === wanted.value.host;
  if (!isSame || more.length > 0) return failed('`Host` differs from the destination');
  const hasBody = headersDistinct['content-length'] ?? headersDistinct['transfer-encoding'];
  return hasBody === undefined ? wanted : failed('CONNECT has no body');
}

function answerNo(client: Duplex, why: string): void {
  client.end(farewell(PLAIN_PORT, why));
}

/** The first bytes of a tunnel, which were read before it was decided. */
function known(bytes: Buffer): () => Promise<Result<Buffer, string>> {
  return () => Promise.resolve(ok(bytes));
}

/** Of a tunnel that is open: there is no answer that its bytes could not be mistaken for. */
export function drop(client: Duplex, to: Destination, why: string, way: WayOut): void {
  refused(way, to, why);
  client.destroy();
}

/**
 * Passes bytes both ways until one side ends. `first`: called once there is a connection, and gives what the client says first; until
 * then bytes pass from the server alone. Null: something else has taken the client over, and the server gets nothing.
 */
export async function splice(
  client: Duplex,
  first: () => Promise<Result<Buffer, string> | null>,
  way: WayOut,
  { contact, dial, end }: Admitted,
  silentMs = way.budget.limits.idleMs,
): Promise<void> {
  contact.whenCut((why) => {
    end(why);
    client.destroy();
  });
  if (client.destroyed) return end(null);
  const dialled = await dial();
  if (!dialled.ok) {
    end(NO_CONNECTION);
    return void client.destroy();
  }
  const upstream = dialled.value;
  if (client.destroyed) {
    upstream.destroy();
    return end(null);
  }
  let isLeft = false;
  const close = (cut: string | null) => {
    if (isLeft) return;
    end(cut);
    client.destroy();
    upstream.destroy();
  };
  contact.whenCut(close);
  upstream.setTimeout(silentMs, () => close('nothing came for too long'));
  upstream.on('error', () => close(NO_CONNECTION)).on('close', () => close(null));
  client.on('error', () => close(null)).on('close', () => close(null));
  upstream
    .pipe(
      counting(
        (bytes) => contact.takeDown(bytes),
        () => close(TOO_MUCH_DOWN),
      ),
    )
    .pipe(client);
  const hello = await first();
  if (hello === null) {
    isLeft = true;
    end(null);
    upstream.unpipe().destroy();
    return;
  }
  if (!hello.ok || client.destroyed) return close(hello.ok ? null : hello.fault);
  if (!contact.takeUp(hello.value.length)) return close(TOO_MUCH_UP);
  upstream.write(hello.value);
  client
    .pipe(
      counting(
        (bytes) => contact.takeUp(bytes),
        () => close(TOO_MUCH_UP),
      ),
    )
    .pipe(upstream);
  if (client.readableEnded) upstream.end();
}

/**
 * All first bytes of the tunnel, once they are a ClientHello for `to`. An address has no server name (RFC 6066, 3).
 * `needsName`: whether a name must have one.
 */
export function readHello(
  client: Duplex,
  head: Buffer,
  to: Destination,
  deadlineMs: number,
  needsName = true,
): Promise<Result<Buffer, string>> {
  return readFirst(client, head, deadlineMs, (bytes) => {
    const hello = readClientHello(bytes);
    switch (hello.kind) {
      case 'more':
        return bytes.length > LONGEST_HELLO ? failed('the ClientHello is too long') : null;
      case 'name':
        return hello.host.toLowerCase() === to.host
          ? ok(bytes)
          : failed('the server name in TLS differs from the host');
      case 'nameless':
        return isAddress(to.host) || !needsName ? ok(bytes) : failed('the ClientHello names no server');
      case 'refused':
        return failed(hello.why);
    }
  });
}

/** Collects bytes until `look` has an answer about them. */
async function readFirst(
  client: Duplex,
  head: Buffer,
  deadlineMs: number,
  look: (bytes: Buffer) => Result<Buffer, string> | null,
): Promise<Result<Buffer, string>> {
  const answer = look(await heard(client, head, deadlineMs, (bytes) => look(bytes) !== null));
  if (answer !== null) return answer;
  const isGone = client.destroyed || client.readableEnded;
  return failed(isGone ? 'the tunnel was closed before it began' : 'the tunnel stayed silent');
}
