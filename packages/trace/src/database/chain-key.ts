/**
 * The key of the journal. A hash chain can be computed anew by whoever can write the file; with a key that is kept
 * elsewhere, the newest hash of each session carries a signature that they cannot make.
 *
 * The signature is HMAC-SHA256 over the session's id, how many events it has, and the newest hash, so that neither a
 * changed event nor a shorter journal has one. What it does not show: that a file as a whole is an older copy, or that a
 * session was deleted with all that is of it. For that, keep the heads elsewhere (`cordon audit heads`).
 */
import { createHmac, timingSafeEqual } from 'node:crypto';

import { canonicalJson, type SessionId } from '@cordon/core';

export interface SignedHead {
  readonly session: SessionId;
  readonly events: number;
  readonly head: Uint8Array;
  /** A file says how many of its events were acknowledged: nobody takes it away and says that there was none. */
  readonly isAcknowledged: boolean;
}

/** Shorter ones could be found by trying. */
export const LEAST_KEY_BYTES = 32;

export class ChainKey {
  readonly #key: Uint8Array;

  /** Throws for a key that is too short: whoever reads one checks its length first. */
  constructor(key: Uint8Array) {
    if (key.length < LEAST_KEY_BYTES) throw new Error('the key of the journal is too short');
    this.#key = key;
  }

  sign({ session, events, head, isAcknowledged }: SignedHead): Uint8Array {
    const version = isAcknowledged ? 'cordon-journal-2' : 'cordon-journal-1';
    const signed = canonicalJson([version, session, events, Buffer.from(head).toString('hex')]);
    return createHmac('sha256', this.#key).update(signed).digest();
  }

  /** Of the text of something else than a head: it begins with its own word for what it is. */
  tag(text: string): Uint8Array {
    return createHmac('sha256', this.#key).update(text).digest();
  }

  isSignature(signature: Uint8Array, head: SignedHead): boolean {
    return isSameDigest(signature, this.sign(head));
  }
}

/** Takes as long whatever they have in common. */
export function isSameDigest(left: Uint8Array, right: Uint8Array): boolean {
  return left.length === right.length && timingSafeEqual(left, right);
}
