/**
 * The journal: the events of each session in the order in which they happened, each bound to all before it by a
 * hash. An event is committed before `append` returns, so that the end of this process takes nothing away; one that is
 * awaited (awaited.ts) is then on the disk, with all before it.
 *
 * The chain is in chain-check.ts; the session keeps the newest hash. Whoever can write the file can also compute a new
 * chain: to catch that, sign it with a key (chain-key.ts), or keep `head` elsewhere.
 */
import {
  type AppId,
  type ContextId,
  canonicalCopyOf,
  canonicalJsonOf,
  type Event,
  type EventBody,
  type EventId,
  HUB_LABEL,
  id,
  isJsonObject,
  joinLabels,
  type Label,
  type SessionId,
} from '@cordon/core';
import type { Database } from '../database/database.ts';
import {
  bytesOf,
  MalformedRow,
  numberOf,
  numberOrNull,
  parseStored,
  quoteText,
  type Row,
  textOf,
  textOrNull,
  unquoteText,
} from '../database/row.ts';
import { placeOf } from '../database/sealed-column.ts';
import { isAwaited } from './awaited.ts';
import {
  type Anchor,
  anchorOf,
  ChainCheck,
  hex,
  type JournalHead,
  linkHash,
  type Signed,
  type Verification,
} from './chain-check.ts';
import { HEAD_CHANGED, type Sessions, type SessionsParts, type StoredHead } from './session.ts';

/** An event before the journal has given it its place and time. */
export interface EventDraft {
  /** From `newId`, for one that others name before it is written; absent: it gets one. */
  readonly id?: EventId;
  readonly context: ContextId | null;
  readonly app: AppId | null;
  readonly causes: readonly EventId[];
  readonly label: Label;
  readonly body: EventBody;
}

/** One session's end of the journal. */
export interface SessionJournal {
  /** All or none, in one transaction; throws as `append` does. */
  readonly append: (drafts: readonly EventDraft[]) => readonly Event[];
  readonly newId: () => EventId;
}

/** Called after the event is committed, in the order of the journal. */
export type EventListener = (event: Event) => void;

/** A session is made a moment before its first event. */
const MOST_TO_FIRST_EVENT_MS = 60_000;

/** An event, and its text as it is hashed and kept. */
interface Written {
  readonly text: string;
  readonly event: Event;
}

interface Inserted {
  readonly events: readonly Event[];
  /** Hash of the newest. */
  readonly head: Uint8Array;
}

export interface JournalParts extends Omit<SessionsParts, 'claims' | 'processId'> {
  readonly sessions: Sessions;
}

export class Journal {
  readonly #database: Database;
  readonly #sessions: Sessions;
  readonly #parts: JournalParts;
  readonly #listeners = new Set<EventListener>();
  readonly #undelivered: Event[] = [];
  #isDelivering = false;

  constructor(parts: JournalParts) {
    this.#parts = parts;
    this.#database = parts.database;
    this.#sessions = parts.sessions;
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
    const { events, head } = this.#database.write(() => {
      const held = this.#sessions.require(session);
      const time = this.#parts.now();
      return this.#insert(
        session,
        held,
        drafts.map((draft, index) => this.#complete(session, held.events + index, time, draft)),
      );
    }, durability);
    this.#acknowledge(session, events, head, durability === 'synced');
    this.#deliver(events);
    return events;
  }

  /** Behind the commit: what is inside another transaction is acknowledged with a later event. */
  #acknowledge(session: SessionId, events: readonly Event[], head: Uint8Array, isSynced: boolean): void {
    const last = events.at(-1);
    if (last === undefined || this.#database.isWriting) return;
    const { acknowledgements } = this.#parts;
    if (last.kind === 'session.ended') acknowledgements.remove(session);
    else acknowledgements.note(session, last.sequence + 1, head, isSynced);
  }

  of(session: SessionId): SessionJournal {
    return {
      append: (drafts) => this.appendAll(session, drafts),
      newId: () => id(this.#parts.randomId()),
    };
  }

  /** Ends a session: records `session.ended`, after which nothing can be appended and its grants are dead. */
  end(session: SessionId): Event {
    return this.append(session, null, null, [], HUB_LABEL, { kind: 'session.ended' });
  }

  /** The events of a session from position `from`, in order; at most `limit`. Empty: unknown session, or no more. */
  events(session: SessionId, from = 0, limit = Number.MAX_SAFE_INTEGER): readonly Event[] {
    return this.#database.all(
      `SELECT sequence, event FROM events WHERE session = (SELECT key FROM sessions WHERE id = ?) AND sequence >= ?
       ORDER BY sequence LIMIT ?`,
      [session, from, limit],
      (row) => decodeEvent(this.#eventText(session, row)),
    );
  }

  /** Null: no session has such an event. */
  find(event: EventId): Event | null {
    const sql =
      'SELECT s.id AS session, e.sequence, e.event FROM events e JOIN sessions s ON s.key = e.session WHERE e.id = ?';
    return this.#database.first(sql, [event], (row) =>
      decodeEvent(this.#eventText(id(textOf(row, 'session')), row)),
    );
  }

  /** The events of a session from this one on; empty: the session has no such event. */
  eventsFrom(session: SessionId, event: EventId): readonly Event[] {
    const sql =
      'SELECT e.sequence FROM events e JOIN sessions s ON s.key = e.session WHERE e.id = ? AND s.id = ?';
    const from = this.#database.first(sql, [event, session], (row) => numberOf(row, 'sequence'));
    return from === null ? [] : this.events(session, from);
  }

  /** Null: unknown session. */
  head(session: SessionId): JournalHead | null {
    const stored = this.#sessions.head(session);
    return stored === null ? null : journalHeadOf(stored);
  }

  /**
   * Recomputes the whole chain of a session and finds the first breach. With a key its signature is checked too. `anchor` is
   * a head that was kept elsewhere: the journal must still begin with all that it had then. An unknown session is not intact.
   */
  verify(session: SessionId, anchor: JournalHead | null = null): Verification {
    // First what was acknowledged: the journal may grow meanwhile, and not the other way round.
    const loss = this.#sessions.loss(session);
    const acknowledged = this.#sessions.acknowledged(session);
    const anchors: readonly Anchor[] = [
      ...(anchor === null ? [] : [anchorOf(anchor)]),
      ...(acknowledged === null ? [] : [{ kind: 'acknowledged', ...acknowledged } as const]),
    ];
    const chain = new ChainCheck(session, anchors);
    const stored = this.#database.unlessMalformed(
      () => this.#sessions.head(session),
      () => chain.fail('head', HEAD_CHANGED, 0),
    );
    if (chain.breach !== null) return chain.breach;
    if (stored === null)
      return { intact: false, kind: 'unknown', sequence: 0, reason: 'there is no such session' };
    const head = journalHeadOf(stored);
    // In pieces: a long journal need not fit into memory. Events are never changed, so the pieces belong together.
    const pieceSize = 1000;
    for (let from = 0; from < head.events && chain.breach === null; from += pieceSize) {
      this.#database.unlessMalformed(
        () => this.#addPiece(chain, session, from, Math.min(pieceSize, head.events - from)),
        () => chain.fail('changed', 'the event or its hash is not what was sealed'),
      );
      if (chain.events < Math.min(from + pieceSize, head.events))
        chain.fail('truncated', 'events are missing at the end');
    }
    // Others may append meanwhile; what the head counted is what is looked at, and more than the next head counts is not.
    if (this.#countedBeyond(session) > 0) chain.fail('surplus', 'there are more events than were appended');
    if (hex(chain.hash) !== head.hash) chain.fail('head', 'the newest hash is another');
    chain.finish();
    if (chain.breach === null) this.#compareListing(session, head.events, chain);
    const signed = this.#checkSignature(stored, chain);
    chain.compareAcknowledged(loss?.acknowledged !== null);
    return chain.breach ?? { intact: true, head, signed };
  }

  /** What is listed of a session is derived from its events; somebody may have changed the one without the other. */
  #compareListing(session: SessionId, events: number, chain: ChainCheck): void {
    const { firstQuery, firstAt, lastAt, endedAt } = chain.listing;
    const sql = 'SELECT events, started_at, last_at, ended_at, first_query FROM sessions WHERE id = ?';
    const wrong = this.#database.unlessMalformed(
      () =>
        this.#database.first(sql, [session], (row) => {
          // Somebody has appended meanwhile: the list is of another moment.
          if (numberOf(row, 'events') !== events || firstAt === null) return null;
          const listed = textOrNull(row, 'first_query');
          const place = placeOf('sessions.first_query', { id: session });
          const query = listed === null ? null : unquoteText(this.#database.seal.open(listed, place));
          if (query !== firstQuery) return 'its first query is listed as another';
          if (numberOrNull(row, 'ended_at') !== endedAt)
            return 'it is listed as ended when it was not, or the other way round';
          const isNear = Math.abs(numberOf(row, 'started_at') - firstAt) <= MOST_TO_FIRST_EVENT_MS;
          return isNear && numberOf(row, 'last_at') === lastAt ? null : 'it is listed with another time';
        }),
      () => chain.fail('listing', 'its first query is not what was sealed'),
    );
    if (wrong !== null) chain.fail('listing', wrong);
  }

  #addPiece(chain: ChainCheck, session: SessionId, from: number, count: number): void {
    this.#database.all(
      `SELECT sequence, id, event, hash FROM events
       WHERE session = (SELECT key FROM sessions WHERE id = ?) AND sequence >= ? ORDER BY sequence LIMIT ?`,
      [session, from, count],
      (row) => {
        const sequence = numberOf(row, 'sequence');
        const place = placeOf('events.hash', { session, sequence });
        const hash = this.#database.seal.openBytes(bytesOf(row, 'hash'), place);
        chain.add(sequence, textOf(row, 'id'), this.#eventText(session, row), hash);
      },
    );
  }

  /**
   * Signs the head of a session that nobody holds as it is: the user vouches for what was written without the key. False:
   * there is no key, no such session, or a process holds it.
   */
  sign(session: SessionId): boolean {
    const { chainKey, acknowledgements } = this.#parts;
    if (chainKey === null) return false;
    return this.#database.write(() => {
      const stored = this.#sessions.head(session);
      const status = this.#sessions.find(session)?.status;
      if (stored === null || status === 'running') return false;
      const sql = 'UPDATE sessions SET signature = ? WHERE key = ?';
      const isSigned = this.#database.run(sql, chainKey.sign(stored), stored.key) === 1;
      // With the key from now on. Before the commit, so that there is no signed session with a file that anybody could write.
      if (isSigned && stored.isAcknowledged && status !== 'ended')
        acknowledgements.create(session, stored.events, stored.head);
      return isSigned;
    });
  }

  #checkSignature(stored: StoredHead, chain: ChainCheck): Signed {
    const { chainKey } = this.#parts;
    const { signature } = stored;
    if (chainKey === null) return signature === null ? 'none' : 'unchecked';
    if (signature === null)
      chain.fail('unsigned', 'it was written without the key, or its signature was taken away');
    else if (!chainKey.isSignature(signature, stored))
      chain.fail('signature', 'it is not signed with this key as it stands');
    return 'checked';
  }

  #countedBeyond(session: SessionId): number {
    const sql = `SELECT count(*) AS n FROM events e JOIN sessions s ON s.key = e.session
      WHERE s.id = ? AND (e.sequence >= s.events OR e.sequence < 0)`;
    return this.#database.first(sql, [session], (row) => numberOf(row, 'n')) ?? 0;
  }

  /** Returns the function that ends the subscription. */
  subscribe(listener: EventListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #complete(session: SessionId, sequence: number, time: number, draft: EventDraft): Written {
    const { context, causes, body } = draft;
    // Some bodies have an app and a label of their own: the tool's app, the output's label. Their app stands, and
    // of the labels the join, so that neither side can lower what the other says.
    const app = 'app' in body ? body.app : draft.app;
    const label = 'label' in body ? joinLabels(draft.label, body.label) : draft.label;
    const name = draft.id ?? this.#parts.randomId();
    const frame = { id: name, session, sequence, time, context, app, causes, label };
    const whole = { ...body, ...frame };
    return { text: canonicalJsonOf(whole), event: eventOf(canonicalCopyOf(whole)) };
  }

  #insert(session: SessionId, held: StoredHead, written: readonly Written[]): Inserted {
    const { seal } = this.#database;
    let { head } = held;
    const inserted: Event[] = [];
    for (const [index, { text, event }] of written.entries()) {
      head = linkHash(head, text);
      const place = { session, sequence: held.events + index };
      this.#database.run(
        'INSERT INTO events (session, sequence, id, event, hash) VALUES (?, ?, ?, ?, ?)',
        ...[held.key, place.sequence, event.id],
        seal.close(text, placeOf('events.event', place)),
        seal.closeBytes(head, placeOf('events.hash', place)),
      );
      this.#noteInSession(held.key, event);
      inserted.push(event);
    }
    const time = inserted.at(-1)?.time;
    if (time !== undefined) {
      const events = held.events + written.length;
      const closed = this.#sessions.closedHead({ ...held, events, head });
      const sql = 'UPDATE sessions SET events = ?, head = ?, signature = ?, last_at = ? WHERE key = ?';
      this.#database.run(sql, events, closed.head, closed.signature, time, held.key);
    }
    return { events: inserted, head };
  }

  #eventText(session: SessionId, row: Row): string {
    const place = placeOf('events.event', { session, sequence: numberOf(row, 'sequence') });
    return this.#database.seal.open(textOf(row, 'event'), place);
  }

  /** What the list of sessions shows is derived from the events, in the same transaction. */
  #noteInSession(key: number, event: Event): void {
    // A private query stands in the journal, and nowhere else.
    if (event.kind === 'user.message' && event.private !== true) {
      const sql = 'UPDATE sessions SET first_query = ? WHERE key = ? AND first_query IS NULL';
      const text = this.#database.seal.close(
        quoteText(event.text),
        placeOf('sessions.first_query', { id: event.session }),
      );
      this.#database.run(sql, text, key);
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

function journalHeadOf({ events, head }: StoredHead): JournalHead {
  return { events, hash: hex(head) };
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

/** The journal's own canonical JSON; the hash chain, not this, tells whether it is what was written. */
function decodeEvent(text: string): Event {
  return eventOf(parseStored(text));
}

function eventOf(value: unknown): Event {
  if (!isJsonObject(value) || typeof value.kind !== 'string' || typeof value.id !== 'string') {
    throw new MalformedRow('a stored event is not an event');
  }
  return { ...value, id: id(value.id) } as unknown as Event;
}
