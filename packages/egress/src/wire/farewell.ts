/**
 * Why a connection is refused, in the words of the protocol that is usual on its port: a program shows what a server says to it, and
 * of a closed connection only that it was closed.
 */

/** The bytes to send before the connection is closed. `why`: one line of ASCII. */
export function farewell(port: number, why: string): Buffer {
  const text = `cordon: ${why}`;
  switch (port) {
    case 443: // HTTPS
    case 465: // mail in TLS
    case 636: // LDAP in TLS
    case 993:
    case 995:
      return ACCESS_DENIED;
    case 25: // SMTP
    case 587:
      return Buffer.from(`554 ${text}\r\n`);
    case 110: // POP3
    case 6379: // Redis
      return Buffer.from(`-ERR ${text}\r\n`);
    case 143: // IMAP
      return Buffer.from(`* BYE [ALERT] ${text}\r\n`);
    case 80: {
      const fields = `connection: close\r\ncontent-type: text/plain\r\ncontent-length: ${text.length + 1}`;
      return Buffer.from(`HTTP/1.1 403 Forbidden\r\n${fields}\r\n\r\n${text}\n`);
    }
    case 3306:
      return mysqlError(text);
    case 5432:
      return postgresError(text);
    default: // SSH allows lines before its own (RFC 4253, 4.2)
      return Buffer.from(`${text}\r\n`);
  }
}

/** A fatal alert of TLS (RFC 8446, 6.2). */
const ACCESS_DENIED = Buffer.from([21, 3, 1, 0, 2, 2, 49]);

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
