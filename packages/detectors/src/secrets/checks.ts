/** Check digits and other proofs that a text of the right form is a key. Ring 1. */
import { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';

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

/** The last six characters are the CRC32 of those before, in base 62 (GitHub's token format of 2021). */
function endsWithCrc(random: string): boolean {
  return base62(crc32(random.slice(0, -6)), 6) === random.slice(-6);
}

/** Tokens that are older than the checksum have none, and the seed language asks for none. */
export function githubChecksum(token: string): Verdict {
  return endsWithCrc(token.slice(4)) ? 'proven' : 'open';
}

export function npmChecksum(token: string): Verdict {
  return endsWithCrc(token.slice(4)) ? 'proven' : 'open';
}

/** `glsa_<32>_<CRC32 of what stands before it, in hexadecimal>`. */
export function grafanaChecksum(token: string): Verdict {
  const at = token.lastIndexOf('_');
  const crc = crc32(token.slice(0, at)).toString(16).padStart(8, '0');
  return crc === token.slice(at + 1).toLowerCase() ? 'proven' : 'open';
}

const BECH32 = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l';
const GENERATORS = [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3];

/** Bech32 (BIP 173): the six characters at the end are a checksum over prefix and data. */
export function ageKey(key: string): Verdict {
  const lower = key.toLowerCase();
  const at = lower.lastIndexOf('1');
  const prefix = [...lower.slice(0, at)].map((one) => one.charCodeAt(0));
  const data = [...lower.slice(at + 1)].map((one) => BECH32.indexOf(one));
  const values = [...prefix.map((unit) => unit >> 5), 0, ...prefix.map((unit) => unit & 31), ...data];
  return polymod(values) === 1 ? 'proven' : 'open';
}

function polymod(values: readonly number[]): number {
  let check = 1;
  for (const value of values) {
    const top = check >>> 25;
    check = ((check & 0x1ffffff) << 5) ^ value;
    for (const [bit, generator] of GENERATORS.entries()) if (((top >>> bit) & 1) === 1) check ^= generator;
  }
  return check >>> 0;
}

const BASE58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';

/** Base58Check: the last four bytes are the start of a double SHA-256 of the others. */
export function extendedPrivateKey(key: string): Verdict {
  let value = 0n;
  for (const one of key) value = value * 58n + BigInt(BASE58.indexOf(one));
  const bytes = Buffer.from(value.toString(16).padStart(2 * 82, '0'), 'hex');
  const body = bytes.subarray(0, -4);
  const digest = createHash('sha256').update(createHash('sha256').update(body).digest()).digest();
  return digest.subarray(0, 4).equals(bytes.subarray(-4)) ? 'proven' : 'refuted';
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
