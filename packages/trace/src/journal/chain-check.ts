/**
 * The hash chain of a session's journal, and what can be wrong with it. Pure: rows and heads come from the journal.
 *
 * The chain: h(n) = SHA-256(h(n-1) || canonical JSON of event n), h(-1) = 32 zero bytes.
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
  | 'listing' // what the list of sessions says of it is not what it says itself
  | 'anchor' // not what it was when the given head was taken
  | 'shortened' // it has fewer events than were acknowledged
  | 'replaced' // it does not begin with the events that were acknowledged
  | 'uncounted'; // how many were acknowledged cannot be told: the file is missing or was changed

export interface Breach {
  readonly intact: false;
  readonly kind: BreachKind;
  /** The first event that is not what was appended there. */
  readonly sequence: number;
  /** One sentence, lower-case start, no full stop. */
  readonly reason: string;
}

/** What the journal must begin with. */
export interface Anchor {
  readonly kind: 'given' | 'acknowledged';
  readonly events: number;
  readonly is: (hash: Uint8Array) => boolean;
}

export function anchorOf({ events, hash }: JournalHead): Anchor {
  return { kind: 'given', events, is: (found) => hex(found) === hash };
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
  readonly #anchors: readonly Anchor[];
  #listing: Listing = { firstQuery: null, firstAt: null, lastAt: null, endedAt: null };
  #hash: Uint8Array = new Uint8Array(32);
  #events = 0;
  #breach: Breach | null = null;
  /** Against what was acknowledged: told where nothing else is wrong. */
  #unlikeAcknowledged: Breach | null = null;

  /** @param anchors heads that were taken earlier: the journal must begin with what it had then */
  constructor(session: SessionId, anchors: readonly Anchor[]) {
    this.#session = session;
    this.#anchors = anchors;
    this.#compareAnchors();
  }

  get events(): number {
    return this.#events;
  }

  get hash(): Uint8Array {
    return this.#hash;
  }

  /** What the events so far say of the session. */
  get listing(): Listing {
    return this.#listing;
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
    this.#listing = listingWith(this.#listing, event);
    this.#compareAnchors();
  }

  fail(kind: BreachKind, reason: string, sequence = this.#events): void {
    this.#breach ??= { intact: false, kind, sequence, reason };
  }

  #unlike(kind: BreachKind, reason: string, sequence = this.#events): void {
    this.#unlikeAcknowledged ??= { intact: false, kind, sequence, reason };
  }

  /** When everything else was looked at. `isCounted`: what was acknowledged could be read, or there is nothing to read. */
  compareAcknowledged(isCounted: boolean): void {
    if (!isCounted)
      this.#unlike('uncounted', 'the file that says how many events it must have is missing or was changed');
    this.#breach ??= this.#unlikeAcknowledged;
  }

  /** At the end of the journal. */
  finish(): void {
    for (const { kind, events } of this.#anchors) {
      if (events <= this.#events) continue;
      if (kind === 'given')
        this.fail('truncated', `it had ${events} events when the given head was taken, and has fewer`);
      else this.#unlike('shortened', `${events} events were acknowledged, and it has ${this.#events}`);
    }
  }

  #compareAnchors(): void {
    for (const { kind, events, is } of this.#anchors) {
      if (events !== this.#events || is(this.#hash)) continue;
      const at = Math.max(0, events - 1);
      if (kind === 'given')
        this.fail('anchor', `its first ${events} events are not those of the given head`, at);
      else this.#unlike('replaced', `its first ${events} events are not those that were acknowledged`, at);
    }
  }
}

/** What the list of sessions shows, as the events say it. */
export interface Listing {
  /** Of what is not private. */
  readonly firstQuery: string | null;
  readonly firstAt: number | null;
  readonly lastAt: number | null;
  readonly endedAt: number | null;
}

function listingWith({ firstQuery, firstAt, endedAt }: Listing, event: JsonObject): Listing {
  const time = typeof event.time === 'number' ? event.time : null;
  const isQuery = event.kind === 'user.message' && event.private !== true && typeof event.text === 'string';
  return {
    firstQuery: firstQuery ?? (isQuery ? String(event.text) : null),
    firstAt: firstAt ?? time,
    lastAt: time,
    endedAt: event.kind === 'session.ended' ? time : endedAt,
  };
}

function frameOf(text: string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : null;
  } catch {
    return null;
  }
}
