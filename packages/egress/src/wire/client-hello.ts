/**
 * The server name in the first bytes of a TLS connection (RFC 8446, 4.1.2; RFC 6066, 3), so that a tunnel that
 * was allowed for one host cannot be used for another on the same address. The bytes are the app's: every length
 * in them is checked.
 */

export type HelloResult =
  | { readonly kind: 'name'; readonly host: string }
  | { readonly kind: 'nameless' }
  | { readonly kind: 'more' } // not complete yet
  | { readonly kind: 'refused'; readonly why: string };

/** The first byte of a record that holds one. */
export const TLS_HANDSHAKE = 22;
const CLIENT_HELLO = 1;
const SERVER_NAME = 0;
const HOST_NAME = 0;

/** `bytes`: all that was received so far; the caller bounds them. */
export function readClientHello(bytes: Buffer): HelloResult {
  const handshake = handshakeOf(bytes);
  if (handshake === null) return { kind: 'refused', why: 'the tunnel does not begin with TLS' };
  if (handshake.length < 4) return { kind: 'more' };
  if (handshake[0] !== CLIENT_HELLO)
    return { kind: 'refused', why: 'the tunnel does not begin with a ClientHello' };
  const length = handshake.readUIntBE(1, 3);
  if (handshake.length < 4 + length) return { kind: 'more' };
  try {
    const host = serverName(handshake.subarray(4, 4 + length));
    return host === null ? { kind: 'nameless' } : { kind: 'name', host };
  } catch (error) {
    if (error instanceof RangeError) return { kind: 'refused', why: 'the ClientHello is malformed' };
    throw error;
  }
}

/** The handshake bytes of the leading records, which may be split anywhere; null when it is not TLS. */
function handshakeOf(bytes: Buffer): Buffer | null {
  const parts: Buffer[] = [];
  for (let at = 0; at < bytes.length; ) {
    if (bytes[at] !== TLS_HANDSHAKE) return parts.length > 0 ? Buffer.concat(parts) : null;
    if (at + 5 > bytes.length) break;
    if (bytes[at + 1] !== 3) return null;
    const length = bytes.readUInt16BE(at + 3);
    if (length === 0) return null;
    parts.push(bytes.subarray(at + 5, at + 5 + length));
    at += 5 + length;
  }
  return Buffer.concat(parts);
}

/** Throws a RangeError when a length leads outside the message. */
function serverName(hello: Buffer): string | null {
  let at = 2 + 32; // version, random
  at += 1 + hello.readUInt8(at); // session id
  at += 2 + hello.readUInt16BE(at); // cipher suites
  at += 1 + hello.readUInt8(at); // compression methods
  const end = at + 2 + hello.readUInt16BE(at);
  if (end !== hello.length) throw new RangeError('the extensions do not fill the message');
  let name: string | null = null;
  for (at += 2; at < end; ) {
    const length = hello.readUInt16BE(at + 2);
    if (hello.readUInt16BE(at) === SERVER_NAME) {
      // Attack: of two names server and proxy might each believe another.
      if (name !== null) throw new RangeError('two server names');
      name = onlyHostName(within(hello, at + 4, length));
    }
    at += 4 + length;
  }
  return name;
}

function within(bytes: Buffer, at: number, length: number): Buffer {
  if (at + length > bytes.length) throw new RangeError('a length leads outside');
  return bytes.subarray(at, at + length);
}

/** Exactly one entry, for the same reason. */
function onlyHostName(list: Buffer): string {
  const length = list.readUInt16BE(3);
  const isWhole = list.readUInt16BE(0) === list.length - 2 && length === list.length - 5;
  if (!isWhole || list.readUInt8(2) !== HOST_NAME) throw new RangeError('not exactly one host name');
  return within(list, 5, length).toString('latin1');
}
