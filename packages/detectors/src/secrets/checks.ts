/** Check digits and other proofs that a text of the right form is a key. */
import { Buffer } from 'node:buffer';
import { crc32 } from 'node:zlib';
import { isBase58Check, isBech32 } from '../text/checksums.ts';

/** `proven`: nobody writes such a text by chance; `refuted`: the issuer never made it; `open`: neither. */
export type Verdict = 'proven' | 'refuted' | 'open';

/** Gets the whole match, not only the secret within it. */
export type SecretCheck = (secret: string) => Verdict;

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

function base62(value: number, length: number): string {
  let digits = '';
  for (let rest = value; rest > 0; rest = Math.floor(rest / 62))
    digits = `${BASE62[rest % 62] ?? ''}${digits}`;
  return digits.padStart(length, '0');
}

/**
 * The last six characters are the CRC32 of those behind the prefix, in base 62, as GitHub (2021) and npm have it. Tokens that
 * are older than the checksum have none, and the seed language asks for none.
 */
export function tokenChecksum(token: string): Verdict {
  const random = token.slice(4);
  return base62(crc32(random.slice(0, -6)), 6) === random.slice(-6) ? 'proven' : 'open';
}

/** `glsa_<32>_<CRC32 of what stands before it, in hexadecimal>`. */
export function grafanaChecksum(token: string): Verdict {
  const at = token.lastIndexOf('_');
  const crc = crc32(token.slice(0, at)).toString(16).padStart(8, '0');
  return crc === token.slice(at + 1).toLowerCase() ? 'proven' : 'open';
}

/** Bech32: the six characters at the end are a checksum over prefix and data. */
export function ageKey(key: string): Verdict {
  return isBech32(key) ? 'proven' : 'open';
}

const EXTENDED_KEY_BYTES = 82;

export function extendedPrivateKey(key: string): Verdict {
  return isBase58Check(key, EXTENDED_KEY_BYTES) ? 'proven' : 'refuted';
}

/** The first part is a JSON object that names an algorithm. */
export function jsonWebToken(token: string): Verdict {
  const header = Buffer.from(token.slice(0, token.indexOf('.')), 'base64url').toString('utf8');
  return /^\{.*"(?:alg|enc)"\s?:/s.test(header) ? 'proven' : 'refuted';
}

/** `user:password` in base 64, as HTTP sends it. */
export function basicCredentials(header: string): Verdict {
  return credentialsIn(header.slice(header.search(/\s/)).trim());
}

/** The same, as a member of a file for registries. */
export function registryCredentials(member: string): Verdict {
  return credentialsIn(member.slice(member.lastIndexOf('"', member.length - 2) + 1, -1));
}

function credentialsIn(encoded: string): Verdict {
  const text = Buffer.from(encoded, 'base64').toString('latin1');
  return /^[\x20-\x7e]{1,200}$/.test(text) && /^[^:]{0,100}:.{3,}/.test(text) ? 'open' : 'refuted';
}
