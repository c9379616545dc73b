/** Which protocol the first bytes of a connection belong to, as far as it matters to what is decided. */

/** `tls` names its server; `http` is decided request by request; of everything else only the connection is decided. */
export type Opening = 'tls' | 'http' | 'other';

const TLS_HANDSHAKE = 22;
const LONGEST_LINE = 8 * 1024;

/** Null: more bytes are needed. Blank lines before a request count, since servers skip them. */
export function openingOf(bytes: Buffer): Opening | null {
  if (bytes[0] === TLS_HANDSHAKE) return 'tls';
  const text = bytes.toString('latin1').replace(/^[\r\n]+/, '');
  const [line = '', ...more] = text.split('\n', 2);
  if (isRequestLine(line)) return 'http';
  const isWhole = more.length > 0 || text.length > LONGEST_LINE;
  return !isWhole && BEGINNING_OF_REQUEST.test(line) ? null : 'other';
}

/** A method, a target, and a version unless it is HTTP/0.9. */
function isRequestLine(line: string): boolean {
  return /^[!#$%&'*+.^_`|~\w-]+[ \t]+\S.*HTTP\/\d/i.test(line) || /^GET[ \t]+\/\S*\r?$/.test(line);
}

/** The longest registered method has 17 letters. */
const BEGINNING_OF_REQUEST = /^[!#$%&'*+.^_`|~\w-]{0,24}(?:[ \t][^\0]*)?$/;
