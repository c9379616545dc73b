/**
 * Sealing: how a text stands in the file of a store that has a key (docs/decisions/0017-encryption-at-rest.md).
 * AES-256-GCM with a fresh nonce for every value; the associated data name the column and the row, and for memory the
 * owner, so that a sealed value opens in its own place and nowhere else. A store without a key keeps texts as they are.
 *
 * Uses `node:crypto`.
 */
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes, scryptSync } from 'node:crypto';

import { failed, ok, type Result } from '@cordon/core';

import { MalformedRow } from './row.ts';

/** Where a value stands: `turns.text`, then what names the row. Another place is another value. */
export type Place = readonly [column: string, ...row: readonly (string | number)[]];

export interface Seal {
  /** With what every sealed text of this key begins; empty: texts stand in the clear. */
  readonly mark: string;
  close(text: string, place: Place): string;
  /**
   * Equal texts in equal places give equal results, for columns that are looked up by their value. Whoever reads the
   * file sees which rows are equal, and no more.
   */
  closeAlike(text: string, place: Place): string;
  /** Throws `MalformedRow` for what was not closed with this key in this place. */
  open(stored: string, place: Place): string;
  closeBytes(bytes: Uint8Array, place: Place): Uint8Array;
  openBytes(stored: Uint8Array, place: Place): Uint8Array;
  /** A keyed digest that nobody makes without the key; null: there is no key. */
  tag(text: string): Uint8Array | null;
}

/** What no JSON text begins with: texts in the clear are JSON. */
const SEALED = '~';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** The seal of a store without a key. */
export const CLEAR: Seal = Object.freeze({
  mark: '',
  close: (text: string) => text,
  closeAlike: (text: string) => text,
  open: (stored: string) => {
    if (stored.startsWith(SEALED)) throw new MalformedRow('a text is sealed and the store has no key');
    return stored;
  },
  closeBytes: (bytes: Uint8Array) => bytes,
  openBytes: (stored: Uint8Array) => stored,
  tag: () => null,
});

/** What the user gave: 32 random bytes, or words from which they are derived slowly. */
export type StoreKey =
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array }
  | { readonly kind: 'passphrase'; readonly text: string };

const KEY_BYTES = 32;
const LEAST_PASSPHRASE = 12;
const MOST_KEY_TEXT = 1024;

/**
 * 64 hexadecimal digits, or 32 bytes in base64 (with `+/` or `-_`), are a key; every other text is a passphrase and has
 * at least twelve characters. A refusal says what is wrong and nothing of the text.
 */
export function parseStoreKey(text: string): Result<StoreKey, string> {
  const plain = text.replace(/\r?\n$/, '');
  if (/^[0-9a-fA-F]{64}$/.test(plain)) return ok({ kind: 'bytes', bytes: Buffer.from(plain, 'hex') });
  if (/^[A-Za-z0-9+/_-]{43}=?$/.test(plain)) {
    const bytes = Buffer.from(plain, 'base64');
    if (bytes.length === KEY_BYTES) return ok({ kind: 'bytes', bytes });
  }
  if (plain.length > MOST_KEY_TEXT) return failed(`the key has more than ${MOST_KEY_TEXT} characters`);
  if (plain.length < LEAST_PASSPHRASE) return failed(`the key has fewer than ${LEAST_PASSPHRASE} characters`);
  return ok({ kind: 'passphrase', text: plain });
}

/** How a key becomes a seal; kept in the file beside what it sealed. */
export interface SealParameters {
  readonly derivation: 'hkdf' | 'scrypt';
  readonly salt: Uint8Array;
  readonly mark: string;
}

/** 70 ms and 32 MiB for each guess of a passphrase. */
const SCRYPT = { N: 2 ** 15, r: 8, p: 1, maxmem: 64 * 1024 * 1024 };

export function newParameters(key: StoreKey): SealParameters {
  return {
    derivation: key.kind === 'bytes' ? 'hkdf' : 'scrypt',
    salt: randomBytes(16),
    mark: `${SEALED}${randomBytes(4).toString('hex')}.`,
  };
}

/** Whether this key is the right one shows when something is opened. */
export function sealOf(key: StoreKey, { derivation, salt, mark }: SealParameters): Seal {
  const given = key.kind === 'bytes' ? Buffer.from(key.bytes) : Buffer.from(key.text.normalize('NFC'));
  const master = derivation === 'scrypt' ? scryptSync(given, salt, KEY_BYTES, SCRYPT) : given;
  const derived = (purpose: string) => Buffer.from(hkdfSync('sha256', master, salt, purpose, KEY_BYTES));
  return new KeyedSeal(mark, {
    fresh: derived('cordon values'),
    alike: derived('cordon equal values'),
    nonces: derived('cordon nonces of equal values'),
    tags: derived('cordon tags of rows'),
  });
}

interface SealKeys {
  readonly fresh: Buffer;
  readonly alike: Buffer;
  readonly nonces: Buffer;
  readonly tags: Buffer;
}

class KeyedSeal implements Seal {
  readonly mark: string;
  readonly #keys: SealKeys;

  constructor(mark: string, keys: SealKeys) {
    this.mark = mark;
    this.#keys = keys;
  }

  close(text: string, place: Place): string {
    const sealed = encrypt(this.#keys.fresh, randomBytes(NONCE_BYTES), Buffer.from(text), this.#bound(place));
    return this.mark + sealed.toString('base64url');
  }

  /** The nonce is a keyed digest of place and text: it comes again only with both of them. */
  closeAlike(text: string, place: Place): string {
    const bound = this.#bound(place);
    const digest = createHmac('sha256', this.#keys.nonces).update(`${bound.length} `).update(bound);
    const nonce = digest.update(text).digest().subarray(0, NONCE_BYTES);
    const sealed = encrypt(this.#keys.alike, nonce, Buffer.from(text), bound);
    return `${this.mark}=${sealed.toString('base64url')}`;
  }

  open(stored: string, place: Place): string {
    if (!stored.startsWith(this.mark))
      throw new MalformedRow('a text is not sealed with the key of the store');
    const rest = stored.slice(this.mark.length);
    const isAlike = rest.startsWith('=');
    const key = isAlike ? this.#keys.alike : this.#keys.fresh;
    return decrypt(
      key,
      Buffer.from(isAlike ? rest.slice(1) : rest, 'base64url'),
      this.#bound(place),
    ).toString();
  }

  closeBytes(bytes: Uint8Array, place: Place): Uint8Array {
    return encrypt(this.#keys.fresh, randomBytes(NONCE_BYTES), bytes, this.#bound(place));
  }

  openBytes(stored: Uint8Array, place: Place): Uint8Array {
    return decrypt(this.#keys.fresh, stored, this.#bound(place));
  }

  tag(text: string): Uint8Array {
    return createHmac('sha256', this.#keys.tags).update(text).digest();
  }

  #bound(place: Place): Buffer {
    return Buffer.from(JSON.stringify([this.mark, ...place]));
  }
}

function encrypt(key: Buffer, nonce: Uint8Array, plain: Uint8Array, bound: Uint8Array): Buffer {
  const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(bound);
  return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
}

function decrypt(key: Buffer, sealed: Uint8Array, bound: Uint8Array): Buffer {
  if (sealed.length < NONCE_BYTES + TAG_BYTES) throw new MalformedRow('a sealed value is cut off');
  const end = sealed.length - TAG_BYTES;
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, NONCE_BYTES), {
    authTagLength: TAG_BYTES,
  });
  decipher.setAAD(bound);
  decipher.setAuthTag(sealed.subarray(end));
  const plain = decipher.update(sealed.subarray(NONCE_BYTES, end));
  try {
    return Buffer.concat([plain, decipher.final()]);
  } catch {
    throw new MalformedRow('a sealed value was changed, moved, or sealed with another key');
  }
}
