/**
 * The journal: the events of each session in the order in which they happened, each bound to all before it by a
 * hash. An event is committed before `append` returns, so that the end of this process takes nothing away; one that is
 * awaited (awaited.ts) is then on the disk, with all before it.
 *
 * The chain: h(n) = SHA-256(h(n-1) || canonical JSON of event n), h(-1) = 32 zero bytes; the session keeps the
 * newest hash. Whoever can write the file can also compute a new chain: to catch that, keep `head` elsewhere.
 *
 * Ring 0.
 */
import { createHash } from 'node:crypto';

import {
  type AppId,
  type ContextId,
  canonicalJson,
  type Event,
  type EventBody,
  type EventId,
  HUB_LABEL,
  id,
  isJsonObject,
  type JsonObject,
  joinLabels,
  type Label,
  type SessionId,
  toJson,
} from '@cordon/core';

import { isAwaited } from './awaited.ts';
import type { Database } from './database.ts';
import { bytesOf, MalformedRow, numberOf, parseStored, quoteText, textOf } from './row.ts';
import type { HeldSession, Sessions } from './session.ts';

/** An event before the journal has given it its id, place and time. */
export interface EventDraft {
  readonly context: ContextId | null;
  readonly app: AppId | null;
  readonly causes: readonly EventId[];
  readonly label: Label;
  readonly body: EventBody;
}

/** Called after the event is committed, in the order of the journal. */
export type EventListener = (event: Event) => void;

export interface JournalHead {
  /** How many events there are. */
  readonly events: number;
  /** Hash of the last one, 64 hexadecimal digits; zeros: there is none. */
  readonly hash: string;
}

export type Verification =
  | { readonly intact: true; readonly head: JournalHead }
  /** `sequence`: the first event that is not what was appended there. */
  | { readonly intact: false; readonly sequence: number; readonly reason: string };

export interface JournalOptions {
  readonly database: Database;
  readonly sessions: Sessions;
  readonly now: () => number;
  readonly randomId: () => string;
}

export class Journal {
  readonly #database: Database;
  readonly #sessions: Sessions;
  readonly #options: JournalOptions;
  readonly #listeners = new Set<EventListener>();
  readonly #undelivered: Event[] = [];
  #isDelivering = false;

  constructor(options: JournalOptions) {
    this.#options = options;
    this.#database = options.database;
    this.#sessions = options.sessions;
  }

  /**
   * Records one event of a session that this process holds. Throws `StoreFailure` if it is not recorded; then
   * whatever it was to precede must not happen. `session.ended` also ends the session and lets go of it.
   */
  append(
    session: SessionId,
    context: ContextId | null,
    app: AppId | null,
    causes: readonly EventId[],
    label: Label,
    body: EventBody,
  ): Event {
    const [event] = this.appendAll(session, [{ context, app, causes, label, body }]);
    if (event === undefined) throw new Error('an appended event is missing');
    return event;
  }

  /** Records several events in one transaction, all or none, for the price of one. */
  appendAll(session: SessionId, drafts: readonly EventDraft[]): readonly Event[] {
    const durability = drafts.some(({ body }) => isAwaited(body)) ? 'synced' : 'ordered';
    const events = this.#database.write(() => {
      const held = this.#sessions.require(session);
      const time = this.#options.now();
      return this.#insert(
        held,
        drafts.map((draft, index) => this.#complete(session, held.events + index, time, draft)),
      );
    }, durability);
    this.#deliver(events);
    return events;
  }

  /** Ends a session: records `session.ended`, after which nothing can be appended and its grants are dead. */
  end(session: SessionId): Event {
    return this.append(session, null, null, [], HUB_LABEL, { kind: 'session.ended' });
  }

  /** The events of a session from position `from`, in order; at most `limit`. Empty: unknown session, or no more. */
  events(session: SessionId, from = 0, limit = Number.MAX_SAFE_INTEGER): readonly Event[] {
    return this.#database.all(
      `SELECT event FROM events WHERE session = (SELECT key FROM sessions WHERE id = ?) AND sequence >= ?
       ORDER BY sequence LIMIT ?`,
      [session, from, limit],
      (row) => decodeEvent(textOf(row, 'event')),
    );
  }

  /** Null: unknown session. */
  head(session: SessionId): JournalHead | null {
    const sql = 'SELECT events, head FROM sessions WHERE id = ?';
    return this.#database.first(sql, [session], (row) => ({
      events: numberOf(row, 'events'),
      hash: hex(bytesOf(row, 'head')),
    }));
  }

  /** Recomputes the whole chain of a session. An unknown session is not intact. */
  verify(session: SessionId): Verification {
    const head = this.head(session);
    if (head === null) return { intact: false, sequence: 0, reason: 'there is no such session' };
    const chain = new ChainCheck(session);
    // In pieces: a long journal need not fit into memory. Events are never changed, so the pieces belong together.
    const pieceSize = 1000;
    for (let from = 0; from < head.events && chain.breach === null; from += pieceSize) {
      this.#database.all(
        `SELECT sequence, id, event, hash FROM events
         WHERE session = (SELECT key FROM sessions WHERE id = ?) AND sequence >= ? ORDER BY sequence LIMIT ?`,
        [session, from, Math.min(pieceSize, head.events - from)],
        (row) =>
          chain.add(numberOf(row, 'sequence'), textOf(row, 'id'), textOf(row, 'event'), bytesOf(row, 'hash')),
      );
      if (chain.events < Math.min(from + pieceSize, head.events)) chain.fail('events are missing');
    }
    if (chain.breach === null && hex(chain.hash) !== head.hash) chain.fail('the newest hash is another');
    return chain.breach ?? { intact: true, head };
  }

  /** Returns the function that ends the subscription. */
  subscribe(listener: EventListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #complete(session: SessionId, sequence: number, time: number, draft: EventDraft): JsonObject {
    const { context, causes, body } = draft;
    // Some bodies have an app and a label of their own: the tool's app, the output's label. Their app stands, and
    // of the labels the join, so that neither side can lower what the other says.
    const app = 'app' in body ? body.app : draft.app;
    const label = 'label' in body ? joinLabels(draft.label, body.label) : draft.label;
    const frame = { id: this.#options.randomId(), session, sequence, time, context, app, causes, label };
    const event = toJson({ ...body, ...frame });
    if (!isJsonObject(event)) throw new Error('an event must be a JSON object');
    return event;
  }

  #insert(held: HeldSession, events: readonly JsonObject[]): readonly Event[] {
    let { head } = held;
    const inserted: Event[] = [];
    for (const [index, value] of events.entries()) {
      const text = canonicalJson(value);
      const event = decodeEvent(text);
      head = linkHash(head, text);
      this.#database.run(
        'INSERT INTO events (session, sequence, id, event, hash) VALUES (?, ?, ?, ?, ?)',
        held.key,
        held.events + index,
        event.id,
        text,
        head,
      );
      this.#noteInSession(held.key, event);
      inserted.push(event);
    }
    const time = inserted.at(-1)?.time;
    if (time !== undefined) {
      const sql = 'UPDATE sessions SET events = ?, head = ?, last_at = ? WHERE key = ?';
      this.#database.run(sql, held.events + events.length, head, time, held.key);
    }
    return inserted;
  }

  /** What the list of sessions shows is derived from the events, in the same transaction. */
  #noteInSession(key: number, event: Event): void {
    if (event.kind === 'user.message') {
      const sql = 'UPDATE sessions SET first_query = ? WHERE key = ? AND first_query IS NULL';
      this.#database.run(sql, quoteText(event.text), key);
    }
    if (event.kind === 'session.ended') {
      const sql = 'UPDATE sessions SET ended_at = ?, claim = NULL, claim_pid = NULL WHERE key = ?';
      this.#database.run(sql, event.time, key);
    }
  }

  /** A listener may append in its turn: all listeners still see the events in the order of the journal. */
  #deliver(events: readonly Event[]): void {
    this.#undelivered.push(...events);
    if (this.#isDelivering) return;
    this.#isDelivering = true;
    for (let event = this.#undelivered.shift(); event !== undefined; event = this.#undelivered.shift()) {
      for (const listener of this.#listeners) notify(listener, event);
    }
    this.#isDelivering = false;
  }
}

/** The event is recorded whatever a listener does, so its error is not the caller's: it ends the process instead. */
function notify(listener: EventListener, event: Event): void {
  try {
    listener(event);
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}

function linkHash(previous: Uint8Array, event: string): Uint8Array {
  return createHash('sha256').update(previous).update(event).digest();
}

/** The chain of one session as far as it has been recomputed. */
class ChainCheck {
  readonly #session: SessionId;
  hash: Uint8Array = new Uint8Array(32);
  events = 0;
  breach: Extract<Verification, { intact: false }> | null = null;

  constructor(session: SessionId) {
    this.#session = session;
  }

  add(sequence: number, eventId: string, text: string, hash: Uint8Array): void {
    if (this.breach !== null) return;
    this.hash = linkHash(this.hash, text);
    const event = frameOf(text);
    if (sequence !== this.events) this.fail('an event is missing');
    else if (hex(hash) !== hex(this.hash)) this.fail('the event or its hash was changed');
    else if (event?.session !== this.#session || event.sequence !== sequence || event.id !== eventId) {
      this.fail('the event belongs elsewhere');
    }
    this.events++;
  }

  fail(reason: string): void {
    this.breach ??= { intact: false, sequence: this.events, reason };
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

/** The journal's own canonical JSON; the hash chain, not this, tells whether it is what was written. */
function decodeEvent(text: string): Event {
  const value = parseStored(text);
  if (!isJsonObject(value) || typeof value.kind !== 'string' || typeof value.id !== 'string') {
    throw new MalformedRow('a stored event is not an event');
  }
  return { ...value, id: id(value.id) } as unknown as Event;
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}
