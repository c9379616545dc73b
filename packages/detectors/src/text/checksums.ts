/** The checksums by which wallets and some keys prove that they are no random text. */
import { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';

const BECH32 = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l';
const GENERATORS = [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3];
/** What the checksum comes to: Bech32 (BIP 173), and Bech32m (BIP 350). */
const BECH32_RESULTS: readonly number[] = [1, 0x2bc830a3];

/** Whether the last six characters are the checksum over the prefix, up to the last `1`, and the data. */
export function isBech32(text: string): boolean {
  const lower = text.toLowerCase();
  const at = lower.lastIndexOf('1');
  const prefix = [...lower.slice(0, at)].map((one) => one.charCodeAt(0));
  const data = [...lower.slice(at + 1)].map((one) => BECH32.indexOf(one));
  const values = [...prefix.map((unit) => unit >> 5), 0, ...prefix.map((unit) => unit & 31), ...data];
  return BECH32_RESULTS.includes(polymod(values));
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

/**
 * Base58Check: whether the last four bytes are the start of a double SHA-256 of those before.
 * @param length of the decoded data in bytes, the checksum included
 */
export function isBase58Check(text: string, length: number): boolean {
  let value = 0n;
  for (const one of text) value = value * 58n + BigInt(BASE58.indexOf(one));
  const bytes = Buffer.from(value.toString(16).padStart(2 * length, '0'), 'hex');
  if (bytes.length !== length) return false;
  const digest = sha256(sha256(bytes.subarray(0, -4)));
  return digest.subarray(0, 4).equals(bytes.subarray(-4));
}

function sha256(bytes: Buffer): Buffer {
  return createHash('sha256').update(bytes).digest();
}
