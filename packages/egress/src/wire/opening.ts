/** Which protocol the first bytes of a connection belong to, as far as it matters to what is decided. */
import { TLS_HANDSHAKE } from './client-hello.ts';

/** `tls` names its server; `http` is decided request by request; of everything else only the connection is decided. */
export type Opening = 'tls' | 'http' | 'other';

const LONGEST_LINE = 8 * 1024;

/** Null: more bytes are needed. Blank lines do not count, since servers skip them before a request. */
export function openingOf(bytes: Buffer): Opening | null {
  if (bytes[0] === TLS_HANDSHAKE) return 'tls';
  const text = bytes.toString('latin1').replace(/^[\r\n]+/, '');
  const [line = '', ...more] = text.split('\n', 2);
  if (isRequestLine(line)) return 'http';
  if (more.length > 0 || !BEGINNING_OF_REQUEST.test(line)) return 'other';
  return bytes.length > LONGEST_LINE ? 'http' : null;
}

/** Of all that came in time. Attack: the beginning of a request, and the rest of it when nobody looks any more. */
export function openingInTime(bytes: Buffer): Opening {
  return bytes.length === 0 ? 'other' : (openingOf(bytes) ?? 'http');
}

/** A method, a target, and a version unless it is HTTP/0.9. */
function isRequestLine(line: string): boolean {
  return /^[!#$%&'*+.^_`|~\w-]+[ \t]+\S.*HTTP\/\d/i.test(line) || /^GET[ \t]+\/\S*\r?$/.test(line);
}

/** The longest registered method has 17 letters. */
const BEGINNING_OF_REQUEST = /^[!#$%&'*+.^_`|~\w-]{0,24}(?:[ \t][^\0]*)?$/;
