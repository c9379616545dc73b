/**
 * Sessions: which exist, how they stand, and which process may write to them. One process at a time holds a
 * session; everything that is written for a session checks the claim in the same transaction, so that a process
 * whose claim was taken over (it was suspended, its lock file was deleted) cannot write a second history.
 */
import { failed, id, ok, type Result, type SessionId } from '@cordon/core';
import type { ChainKey, SignedHead } from '../database/chain-key.ts';
import type { Database, TellBroken } from '../database/database.ts';
import { type Refusal, StoreFailure, storeFault } from '../database/fault.ts';
import type { StoreParts } from '../database/parts.ts';
import {
  bytesOf,
  MalformedRow,
  numberOf,
  numberOrNull,
  type Row,
  textOf,
  textOrNull,
  unquoteText,
} from '../database/row.ts';
import { isSet, placeOf } from '../database/sealed-column.ts';
import type { Acknowledged, AcknowledgedHead, Acknowledgements } from './acknowledged.ts';
import { isHeld, ProcessLock, sweepClaims } from './claim.ts';

/** `running`: a living process holds it. `interrupted`: it has no end and nobody holds it; it can be resumed. */
export type SessionStatus = 'running' | 'interrupted' | 'ended';

export interface SessionRecord {
  readonly id: SessionId;
  readonly status: SessionStatus;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  /** When the last event was appended. */
  readonly lastAt: number;
  /** The first message of the user; null: none yet. */
  readonly firstQuery: string | null;
  /** How many events its journal has. */
  readonly events: number;
  /** Process id of the holder, for people to read; null: nobody holds it. */
  readonly holder: number | null;
}

export type SessionFault = Refusal<
  | 'session-unknown'
  | 'session-held'
  | 'session-ended'
  | 'session-unsigned'
  | 'session-shortened'
  | 'session-damaged'
>;

export interface ResumeOptions {
  /** The user knows that events are missing, and wants to go on. */
  readonly acceptsLoss?: boolean;
}

/** Events that were acknowledged are missing. */
export interface Loss {
  /** That the journal has. */
  readonly events: number;
  /** Null: not known, the file is missing or was changed. */
  readonly acknowledged: number | null;
}

/** The head of a session as it is kept, with the number of the row. */
export interface StoredHead extends SignedHead {
  readonly key: number;
  /** Null: it was written without the key. */
  readonly signature: Uint8Array | null;
}

export interface SessionsParts extends StoreParts {
  /** Folder of the lock files. */
  readonly claims: string;
  readonly processId: number;
  readonly acknowledgements: Acknowledgements;
  /** Null: what is written is not signed. */
  readonly chainKey: ChainKey | null;
}

export class Sessions {
  readonly #parts: SessionsParts;
  readonly #database: Database;
  #lock: ProcessLock | null = null;

  constructor(parts: SessionsParts) {
    this.#parts = parts;
    this.#database = parts.database;
  }

  /** A new session, held by this process. */
  create(): SessionId {
    const { randomId, now, processId, acknowledgements } = this.#parts;
    const session: SessionId = id(randomId());
    const head = new Uint8Array(32);
    this.#database.write(() => {
      const time = now();
      this.#database.insert('sessions', {
        ...{ id: session, started_at: time, last_at: time },
        ...this.closedHead({ session, events: 0, head, isAcknowledged: true }),
        ...{ claim: this.#token(), claim_pid: processId, acknowledged: 1 },
      });
      acknowledgements.create(session, 0, head);
    });
    return session;
  }

  /**
   * Takes an interrupted session over (or returns the one that this process holds already). Refused when it does
   * not exist, has ended, is held by a living process, or is not signed as this process signs: to append to it would put
   * this process's signature, or none, below what somebody else wrote. Refused as well when events that were acknowledged are
   * missing, unless the user has been told and `acceptsLoss`.
   */
  resume(
    session: SessionId,
    { acceptsLoss = false }: ResumeOptions = {},
  ): Result<SessionRecord, SessionFault> {
    return this.#database.write(() => {
      const record = this.find(session);
      if (record === null) return failed(unknown(session));
      if (record.status === 'ended') return failed(ended(session));
      const mine = this.#token();
      const claim = this.#claimOf(session);
      if (record.status === 'running' && claim !== mine) return failed(held(session, record.holder));
      const stored = this.#database.unlessMalformed(
        () => this.head(session),
        () => undefined,
      );
      if (stored === null) return failed(damagedSession(session, HEAD_CHANGED));
      const unsigned = this.#signatureFault(stored);
      if (unsigned !== null) return failed(unsigned);
      const loss = acceptsLoss ? null : this.loss(record.id);
      if (loss !== null) return failed(shortened(session, loss));
      this.#acknowledgeFromNowOn(stored);
      const sql = 'UPDATE sessions SET claim = ?, claim_pid = ? WHERE id = ?';
      this.#database.run(sql, mine, this.#parts.processId, session);
      return ok({ ...record, status: 'running', holder: this.#parts.processId });
    });
  }

  /**
   * Whether events that were acknowledged are missing; null: none are, as far as their number tells. What the events say is
   * for `Journal.verify`. An ended session has said all that it had to.
   */
  loss(session: SessionId): Loss | null {
    const known = this.#acknowledged(session);
    return known === null ? null : lossOf(known);
  }

  /** What the journal must begin with; null: nothing says. */
  acknowledged(session: SessionId): AcknowledgedHead | null {
    const { acknowledged = 'none' } = this.#acknowledged(session) ?? {};
    return acknowledged === 'none' || acknowledged === 'unreadable' ? null : acknowledged;
  }

  #acknowledged(session: SessionId): Counted | null {
    // First what was acknowledged: whoever appends meanwhile makes the journal longer, and not the other way round.
    const { acknowledgements } = this.#parts;
    const read = {
      plain: acknowledgements.read(session, true),
      keyed: acknowledgements.read(session, false),
    };
    const sql = 'SELECT events, acknowledged, ended_at, signature FROM sessions WHERE id = ?';
    return this.#database.first(sql, [session], (row) => ({
      events: numberOf(row, 'events'),
      // A session that was written without the key may have a file that was.
      acknowledged: row.signature === null && this.#database.seal.mark === '' ? read.plain : read.keyed,
      isCounted: isSet(row, 'acknowledged'),
      hasEnded: row.ended_at !== null,
    }));
  }

  /** Sessions of which events were acknowledged, and that the store does not have at all; null: how many is not known. */
  lost(): readonly { readonly session: SessionId; readonly events: number | null }[] {
    return this.#parts.acknowledgements
      .all(true)
      .filter(({ session, events }) => events !== 0 && this.find(session) === null);
  }

  /** Inside a transaction: a session of an earlier version gets its file. */
  #acknowledgeFromNowOn(stored: StoredHead): void {
    if (stored.isAcknowledged) return;
    this.#parts.acknowledgements.create(stored.session, stored.events, stored.head);
    const { head, signature } = this.closedHead({ ...stored, isAcknowledged: true });
    const sql = 'UPDATE sessions SET acknowledged = 1, head = ?, signature = ? WHERE key = ?';
    this.#database.run(sql, head, signature, stored.key);
  }

  /** Lets go of a session without ending it: it is then interrupted, and any process may resume it. */
  release(session: SessionId): void {
    if (this.#lock === null) return;
    const { token } = this.#lock;
    this.#database.write(() => {
      const sql = 'UPDATE sessions SET claim = NULL, claim_pid = NULL WHERE id = ? AND claim = ?';
      this.#database.run(sql, session, token);
    });
    this.#parts.acknowledgements.release(session);
  }

  /** Newest first. `tell` takes those that cannot be read; null: they throw. */
  list(limit = 1000, tell: TellBroken | null = null): readonly SessionRecord[] {
    const sql = `SELECT ${COLUMNS} FROM sessions ORDER BY started_at DESC, key DESC LIMIT ?`;
    return this.#database.listed(sql, [limit], (row) => this.#record(row, tell), tell);
  }

  find(session: SessionId): SessionRecord | null {
    const sql = `SELECT ${COLUMNS} FROM sessions WHERE id = ?`;
    return this.#database.first(sql, [session], (row) => this.#record(row));
  }

  /** Inside a write transaction: throws `claim-lost` unless this process holds the session and it has not ended. */
  require(session: SessionId): StoredHead {
    const token = this.#lock?.token ?? null;
    const held = this.#head(session, 'AND claim = ? AND ended_at IS NULL', [token]);
    if (held === null) throw new StoreFailure(storeFault('claim-lost', this.#database.file));
    return held;
  }

  /** Null: unknown session. */
  head(session: SessionId): StoredHead | null {
    return this.#head(session, '', []);
  }

  #head(session: SessionId, where: string, values: readonly (string | null)[]): StoredHead | null {
    const sql = `SELECT key, id, events, head, signature, acknowledged FROM sessions WHERE id = ? ${where}`;
    return this.#database.first(sql, [session, ...values], (row) => ({
      session,
      key: numberOf(row, 'key'),
      events: numberOf(row, 'events'),
      head: this.#database.seal.openBytes(bytesOf(row, 'head'), placeOf('sessions.head', row)),
      signature: row.signature === null ? null : bytesOf(row, 'signature'),
      isAcknowledged: isSet(row, 'acknowledged'),
    }));
  }

  /** The columns that keep a head: sealed, and signed where there is a key. */
  closedHead(signed: SignedHead): { readonly head: Uint8Array; readonly signature: Uint8Array | null } {
    const { session, head, isAcknowledged } = signed;
    const place = placeOf('sessions.head', { id: session, acknowledged: Number(isAcknowledged) });
    return {
      head: this.#database.seal.closeBytes(head, place),
      signature: this.#parts.chainKey?.sign(signed) ?? null,
    };
  }

  /** Lets go of everything, at the end of the process. */
  close(): void {
    this.#parts.acknowledgements.close();
    const lock = this.#lock;
    if (lock === null) return;
    this.#lock = null;
    try {
      this.#database.write(() => {
        this.#database.run('UPDATE sessions SET claim = NULL, claim_pid = NULL WHERE claim = ?', lock.token);
      });
    } catch (error) {
      // Whoever gave the store another key meanwhile finds the lock given up, and that is what a claim is worth.
      if (!(error instanceof StoreFailure) || error.fault.kind !== 'key-changed') throw error;
    } finally {
      lock.release();
    }
  }

  /** Inside a write transaction: the token of this process, with its lock taken on first use. */
  #token(): string {
    if (this.#lock === null) {
      sweepClaims(this.#parts.claims);
      this.#lock = ProcessLock.acquire(this.#parts.claims, this.#parts.randomId());
    }
    return this.#lock.token;
  }

  #signatureFault(stored: StoredHead): SessionFault | null {
    const { chainKey } = this.#parts;
    const { session, signature } = stored;
    if (chainKey === null) return signature === null ? null : signedElsewhere(session);
    if (signature === null) return unsigned(session);
    return chainKey.isSignature(signature, stored)
      ? null
      : damagedSession(session, 'it is not signed with this key as it stands');
  }

  #claimOf(session: SessionId): string | null {
    const sql = 'SELECT claim FROM sessions WHERE id = ?';
    return this.#database.first(sql, [session], (row) => textOrNull(row, 'claim'));
  }

  /** Users find a changed session in the list of sessions, so an unreadable row is reported as such. */
  #queryOf(session: SessionId, stored: string, tell: TellBroken | null): string {
    try {
      return unquoteText(this.#database.seal.open(stored, placeOf('sessions.first_query', { id: session })));
    } catch (error) {
      if (!(error instanceof MalformedRow)) throw error;
      tell?.({ id: session, why: 'unreadable' });
      return '(cannot be read)';
    }
  }

  #record(row: Row, tell: TellBroken | null = null): SessionRecord {
    const claim = textOrNull(row, 'claim');
    const isRunning = claim !== null && (claim === this.#lock?.token || isHeld(this.#parts.claims, claim));
    const firstQuery = textOrNull(row, 'first_query');
    return {
      id: id(textOf(row, 'id')),
      status: numberOrNull(row, 'ended_at') !== null ? 'ended' : isRunning ? 'running' : 'interrupted',
      startedAt: numberOf(row, 'started_at'),
      lastAt: numberOf(row, 'last_at'),
      firstQuery: firstQuery === null ? null : this.#queryOf(id(textOf(row, 'id')), firstQuery, tell),
      events: numberOf(row, 'events'),
      holder: isRunning ? numberOrNull(row, 'claim_pid') : null,
    };
  }
}

interface Counted {
  readonly events: number;
  readonly acknowledged: Acknowledged;
  /** There was a file, as long as it had not ended. */
  readonly isCounted: boolean;
  readonly hasEnded: boolean;
}

function lossOf({ events, acknowledged, isCounted, hasEnded }: Counted): Loss | null {
  if (acknowledged === 'none')
    return isCounted && !hasEnded && events > 0 ? { events, acknowledged: null } : null;
  if (acknowledged === 'unreadable') return isCounted ? { events, acknowledged: null } : null;
  return acknowledged.events > events ? { events, acknowledged: acknowledged.events } : null;
}

/** What a head that cannot be opened shows. */
export const HEAD_CHANGED = 'the newest hash is not what was sealed';

const COLUMNS = 'id, started_at, last_at, ended_at, first_query, events, claim, claim_pid';

export function unknown(session: SessionId): SessionFault {
  return {
    kind: 'session-unknown',
    message: `there is no session ${shown(session)}`,
    help: '`cordon sessions` lists those that exist',
  };
}

function held(session: SessionId, holder: number | null): SessionFault {
  return {
    kind: 'session-held',
    message: `the session ${shown(session)} is in use by another process${holder === null ? '' : ` (${holder})`}`,
    help: 'end that process first, or start a new session; both may use the same data folder',
  };
}

function ended(session: SessionId): SessionFault {
  return {
    kind: 'session-ended',
    message: `the session ${shown(session)} has ended`,
    help: 'start a new one; facts and permanent grants are kept',
  };
}

function signedElsewhere(session: SessionId): SessionFault {
  return {
    kind: 'session-unsigned',
    message: `the session ${shown(session)} is signed, and this process has no key of the journal`,
    help: 'give it the key that the session was written with, or start a new session',
  };
}

function unsigned(session: SessionId): SessionFault {
  return {
    kind: 'session-unsigned',
    message: `the session ${shown(session)} is not signed: it was written without the key, or its signature was taken away`,
    help: '`cordon audit sign` vouches for it as it is; or start a new session',
  };
}

function shortened(session: SessionId, { events, acknowledged }: Loss): SessionFault {
  const what =
    acknowledged === null
      ? `it has ${events} events, and the file that says how many there must be is missing or was changed`
      : `${acknowledged} of its events were acknowledged, and it has ${events}`;
  return {
    kind: 'session-shortened',
    message: `events of the session ${shown(session)} may be lost: ${what}`,
    help: 'restore the data folder from a backup, or `cordon resume` it at a terminal, which asks; what was lost may have happened',
  };
}

/** A session whose journal is not what was appended: what it says happened is no ground to go on from. */
export function damagedSession(session: SessionId, reason: string): SessionFault {
  return {
    kind: 'session-damaged',
    message: `the journal of the session ${shown(session)} was changed: ${reason}`,
    help: '`cordon audit verify` says where; restore it from a backup, or start a new session',
  };
}

/** The id may come from a command line. */
export function shown(session: SessionId): string {
  return `\`${JSON.stringify(session.slice(0, 64)).slice(1, -1)}\``;
}
