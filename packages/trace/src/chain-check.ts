/**
 * The hash chain of a session's journal, and what can be wrong with it. Pure: rows and heads come from the journal.
 *
 * The chain: h(n) = SHA-256(h(n-1) || canonical JSON of event n), h(-1) = 32 zero bytes.
 *
 * Ring 0.
 */
import { createHash } from 'node:crypto';

import { isJsonObject, type JsonObject, type SessionId } from '@cordon/core';

export interface JournalHead {
  /** How many events there are. */
  readonly events: number;
  /** Hash of the last one, 64 hexadecimal digits; zeros: there is none. */
  readonly hash: string;
}

/** What is wrong at the first place that is. */
export type BreachKind =
  | 'unknown' // there is no such session
  | 'changed' // an event, its place or its hash is not what was appended
  | 'misplaced' // the row says that it is another event, or of another session
  | 'missing' // an event in the middle
  | 'truncated' // the end
  | 'surplus' // more events than were appended
  | 'head' // the newest hash, or how many events there are, was changed
  | 'unsigned' // no signature, though there is a key
  | 'signature' // not made with this key for this journal
  | 'anchor'; // not what it was when the given head was taken

export interface Breach {
  readonly intact: false;
  readonly kind: BreachKind;
  /** The first event that is not what was appended there. */
  readonly sequence: number;
  /** One sentence, lower-case start, no full stop. */
  readonly reason: string;
}

/** `unchecked`: there is a signature and no key here. `none`: neither. */
export type Signed = 'checked' | 'unchecked' | 'none';

export type Verification =
  | { readonly intact: true; readonly head: JournalHead; readonly signed: Signed }
  | Breach;

export function linkHash(previous: Uint8Array, event: string): Uint8Array {
  return createHash('sha256').update(previous).update(event).digest();
}

export function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}

/** The chain of one session as far as it has been recomputed. The first breach counts. */
export class ChainCheck {
  readonly #session: SessionId;
  readonly #anchor: JournalHead | null;
  #hash: Uint8Array = new Uint8Array(32);
  #events = 0;
  #breach: Breach | null = null;

  /** @param anchor a head that was taken earlier: the journal must begin with what it had then */
  constructor(session: SessionId, anchor: JournalHead | null) {
    this.#session = session;
    this.#anchor = anchor;
    this.#compareAnchor();
  }

  get events(): number {
    return this.#events;
  }

  get hash(): Uint8Array {
    return this.#hash;
  }

  get breach(): Breach | null {
    return this.#breach;
  }

  add(sequence: number, eventId: string, text: string, hash: Uint8Array): void {
    if (this.#breach !== null) return;
    this.#hash = linkHash(this.#hash, text);
    if (sequence !== this.#events) return this.fail('missing', 'an event is missing');
    if (hex(hash) !== hex(this.#hash)) return this.fail('changed', 'the event or its hash was changed');
    const event = frameOf(text);
    if (event?.session !== this.#session || event.sequence !== sequence || event.id !== eventId)
      return this.fail('misplaced', 'the event belongs elsewhere');
    this.#events++;
    this.#compareAnchor();
  }

  fail(kind: BreachKind, reason: string, sequence = this.#events): void {
    this.#breach ??= { intact: false, kind, sequence, reason };
  }

  /** At the end of the journal. */
  finish(): void {
    const { events = 0 } = this.#anchor ?? {};
    if (events > this.#events)
      this.fail('truncated', `it had ${events} events when the given head was taken, and has fewer`);
  }

  #compareAnchor(): void {
    if (this.#anchor === null || this.#anchor.events !== this.#events) return;
    if (this.#anchor.hash === hex(this.#hash)) return;
    const reason = `its first ${this.#events} events are not those of the given head`;
    this.fail('anchor', reason, Math.max(0, this.#events - 1));
  }
}

function frameOf(text: string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : null;
  } catch {
    return null;
  }
}
