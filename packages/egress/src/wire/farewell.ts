/**
 * Why a connection is refused, in the words of the protocol that is usual on its port: a program shows what a server says to it, and
 * of a closed connection only that it was closed.
 */
import { TLS_HANDSHAKE } from './client-hello.ts';

/**
 * The bytes to send before the connection is closed.
 *
 * @param why one line of ASCII
 * @param said what the client has said so far: whoever begins TLS reads nothing else
 */
export function farewell(port: number, why: string, said: Buffer = NOTHING): Buffer {
  if (said[0] === TLS_HANDSHAKE) return ACCESS_DENIED;
  return (USUAL[port] ?? line)(`cordon: ${why}`);
}

const NOTHING = Buffer.alloc(0);

/** SSH, too, allows lines before its own (RFC 4253, 4.2). */
const line = (text: string) => Buffer.from(`${text}\r\n`);
const smtp = (text: string) => line(`554 ${text}`);
const error = (text: string) => line(`-ERR ${text}`);
const alert = () => ACCESS_DENIED;

const USUAL: Readonly<Record<number, (text: string) => Buffer>> = {
  22: line,
  25: smtp,
  80: http,
  110: error, // POP3
  143: (text) => line(`* BYE [ALERT] ${text}`), // IMAP
  443: alert, // HTTPS
  465: alert, // mail in TLS
  587: smtp,
  636: alert, // LDAP in TLS
  993: alert,
  995: alert,
  3306: mysqlError,
  5432: postgresError,
  6379: error, // Redis
};

/** A fatal alert of TLS (RFC 8446, 6.2). */
const ACCESS_DENIED = Buffer.from([21, 3, 1, 0, 2, 2, 49]);

function http(text: string): Buffer {
  const fields = `connection: close\r\ncontent-type: text/plain\r\ncontent-length: ${text.length + 1}`;
  return Buffer.from(`HTTP/1.1 403 Forbidden\r\n${fields}\r\n\r\n${text}\n`);
}

/** `ErrorResponse` of PostgreSQL's protocol, version 3. */
function postgresError(text: string): Buffer {
  const fields = Buffer.from(`SFATAL\0VFATAL\0C28000\0M${text}\0\0`);
  const head = Buffer.from('E\0\0\0\0');
  head.writeUInt32BE(fields.length + 4, 1);
  return Buffer.concat([head, fields]);
}

/** `ERR_Packet`, which MySQL sends instead of its greeting: "Host is not allowed to connect". */
function mysqlError(text: string): Buffer {
  const payload = Buffer.concat([Buffer.from([0xff, 0x6a, 0x04]), Buffer.from(text)]);
  const head = Buffer.alloc(4);
  head.writeUIntLE(payload.length, 0, 3);
  return Buffer.concat([head, payload]);
}
