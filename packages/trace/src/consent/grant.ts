/**
 * Grants: what the user has agreed to, for how long, and what is left of it. A grant is found by its whole
 * subject, never by a part; every question goes to the database, so a revocation by another process holds at once.
 *
 * INVARIANT (over is over): a grant that was seen to have reached its end is marked, and time never runs backwards here:
 * a clock that is put back revives nothing. Upheld by `#sweep`, which every question passes.
 */
import {
  type AppId,
  canonicalJsonOf,
  type EventId,
  failed,
  type Grant,
  type GrantId,
  type GrantTerm,
  id,
  isJsonObject,
  ok,
  PERMISSION_SCOPES,
  type PermissionScope,
  type PermissionSubject,
  type Result,
  type SessionId,
} from '@cordon/core';

import type { Database, TellBroken } from '../database/database.ts';
import type { Refusal } from '../database/fault.ts';
import type { StoreParts } from '../database/parts.ts';
import {
  MalformedRow,
  numberOf,
  numberOrNull,
  parseStored,
  type Row,
  textOf,
  textOrNull,
  wordOf,
} from '../database/row.ts';
import type { RowTags } from '../database/row-tag.ts';
import type { Seal } from '../database/seal.ts';
import { placeOf } from '../database/sealed-column.ts';

export type GrantRequest = GrantTerm & {
  readonly subject: PermissionSubject;
  /** The session in which it was asked; grants that outlive it do not keep it. */
  readonly session: SessionId;
  /** Of the question, and of what the apps in it are. */
  readonly digest: string;
  /** What the apps of the subject are, for people who wonder why a grant no longer serves; absent: not told. */
  readonly binding?: string;
  /** The question that the user answered. */
  readonly prompt?: EventId;
  /** Digests that each stand for a source and a recipient of data; see `hasFlowed`. */
  readonly flows?: readonly string[];
};

export interface GrantRecord extends Grant {
  /** Once-grants: when their one action was authorised. */
  readonly usedAt: number | null;
  /** When it was first seen to have reached its end. */
  readonly expiredAt: number | null;
  /** What the apps were when it was given; null: not told. */
  readonly binding: string | null;
  /** The question that the user answered: an event of the journal; null: not told. */
  readonly prompt: EventId | null;
  /** False: the key says that it is not what was given, and it authorises nothing. */
  readonly isAuthentic: boolean;
}

export type GrantFault = Refusal<'never-permanent' | 'session-unknown' | 'over-already'>;

export interface GrantFilter {
  /** Only grants that can still authorise something. */
  readonly live?: boolean;
  readonly scope?: PermissionScope;
  readonly duration?: Grant['duration'];
  /** Grants in which this app acts or receives. */
  readonly app?: AppId;
  readonly session?: SessionId;
}

export class Grants {
  readonly #database: Database;
  readonly #tags: RowTags;
  readonly #parts: StoreParts;
  /** The latest time that was seen here or in the journal; null: nobody has asked yet. */
  #latest: number | null = null;

  constructor(parts: StoreParts) {
    this.#parts = parts;
    this.#database = parts.database;
    this.#tags = parts.tags;
  }

  /** Records what the user agreed to. What cannot be undone and what a rule asks are refused beyond the session. */
  give(request: GrantRequest): Result<Grant, GrantFault> {
    const { duration, digest } = request;
    const subject = plainSubject(request.subject);
    const outlives = duration === 'permanent' || duration === 'until';
    if (outlives && !mayOutliveSession(subject.scope)) return failed(NEVER_PERMANENT);
    const givenAt = this.#time();
    const endsAt = duration === 'until' ? request.until : null;
    // Also what is no number: nothing is later than that.
    if (endsAt !== null && !(endsAt > givenAt && endsAt <= LATEST_TIME)) return failed(OVER_ALREADY);
    const session = outlives ? null : request.session;
    const grant: Grant = {
      id: id(this.#parts.randomId()),
      subject,
      duration,
      session,
      endsAt,
      digest,
      givenAt,
      revokedAt: null,
    };
    return this.#database.write(() => {
      const key = this.#database.keyOf('sessions', request.session);
      if (key === null) return failed(SESSION_UNKNOWN);
      const granted = this.#tags.insert('grants', {
        id: grant.id,
        subject: this.#closedSubject(subject),
        scope: subject.scope,
        duration,
        session: session === null ? null : key,
        ends_at: endsAt,
        digest: this.#closedDigest(digest),
        binding: request.binding ?? null,
        prompt: request.prompt ?? null,
        given_at: givenAt,
      });
      for (const flow of new Set(request.flows ?? []))
        this.#tags.insert('grant_flows', { flow: this.#closedFlow(flow), granted });
      return ok(grant);
    });
  }

  /** Whether anything was ever permitted under this digest of a source and a recipient, and not taken back. */
  hasFlowed(flow: string): boolean {
    const sql = `SELECT f.rowid AS flow, g.key AS granted FROM grant_flows f JOIN grants g ON g.key = f.granted
      WHERE f.flow = ? AND g.revoked_at IS NULL`;
    const flowed = this.#database.all(sql, [this.#closedFlow(flow)], (row) => ({
      flow: numberOf(row, 'flow'),
      granted: numberOf(row, 'granted'),
    }));
    return flowed.some(
      (row) =>
        this.#tags.isAuthentic('grant_flows', row.flow) && this.#tags.isAuthentic('grants', row.granted),
    );
  }

  /**
   * A grant that authorises an action of exactly this subject in this session now, or null. A once-grant was given
   * for what was shown, so its digest must be the given one. Of several, one with the given digest comes first (a
   * caller that wants nothing else then finds it), then the longest, which spares a once-grant.
   */
  find(subject: PermissionSubject, session: SessionId, digest: string): Grant | null {
    this.#sweep();
    const sql = `${SELECT} WHERE g.subject = ? AND (g.duration <> 'once' OR g.digest = ?) AND ${LIVE_IN_SESSION}
      ORDER BY g.digest <> ?, CASE g.duration
        WHEN 'permanent' THEN 0 WHEN 'session' THEN 1 WHEN 'until' THEN 2 ELSE 3 END, g.key`;
    const closed = this.#closedDigest(digest);
    const values = [this.#closedSubject(subject), closed, session, closed];
    return this.#firstServing(sql, values);
  }

  /**
   * Spends the grant for one action in this session; true: the action is authorised. Of all calls for a once-grant,
   * in whatever process, exactly one gets true, and it is on the disk first, so that a crash cannot give it back.
   */
  consume(grant: GrantId, session: SessionId): boolean {
    this.#sweep();
    return this.#database.write(() => {
      const sql = `${SELECT} WHERE g.id = ? AND ${LIVE_IN_SESSION}`;
      const live = this.#firstServing(sql, [grant, session]);
      if (live === null) return false;
      if (live.duration !== 'once') return true;
      return this.#change(grant, 'UPDATE grants SET used_at = ? WHERE id = ?', this.#time(), grant) === 1;
    });
  }

  /** True: it was not revoked before. From now on it authorises nothing. */
  revoke(grant: GrantId): boolean {
    return this.#database.write(() => {
      const sql = 'UPDATE grants SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL';
      return this.#change(grant, sql, this.#time(), grant) === 1;
    });
  }

  /** Sets an end, or an earlier one; true: it was in force and ends then. A grant never lasts longer than it was given for. */
  expire(grant: GrantId, endsAt: number): boolean {
    this.#sweep();
    const isSet = this.#database.write(() => {
      const live = `SELECT g.key FROM grants g LEFT JOIN sessions s ON s.key = g.session WHERE g.id = ? AND ${LIVE}`;
      const sql = `UPDATE grants SET ends_at = ? WHERE key = (${live}) AND (ends_at IS NULL OR ends_at > ?)`;
      return Number.isFinite(endsAt) && this.#change(grant, sql, endsAt, grant, endsAt) === 1;
    });
    this.#sweep();
    return isSet;
  }

  /** Whether a lasting grant of this subject is in force that was given when its apps were something else. */
  isOutdated(subject: PermissionSubject, binding: string): boolean {
    const sql = `SELECT g.key FROM grants g LEFT JOIN sessions s ON s.key = g.session
      WHERE g.subject = ? AND g.binding <> ? AND g.duration <> 'once' AND ${LIVE}`;
    const values = [this.#closedSubject(subject), binding];
    return this.#database
      .all(sql, values, (row) => numberOf(row, 'key'))
      .some((key) => this.#tags.isAuthentic('grants', key));
  }

  /**
   * Newest first; revoked and used ones too unless the filter says otherwise.
   *
   * @param tell takes the rows that cannot be read, and those that were changed without the key; null: the former throw
   */
  list(filter: GrantFilter = {}, tell: TellBroken | null = null): readonly GrantRecord[] {
    this.#sweep();
    const sql = `${SELECT} WHERE (? IS NULL OR g.scope = ?) AND (? IS NULL OR s.id = ?) AND (? IS NULL OR g.duration = ?)
      AND (? = 0 OR ${LIVE}) ORDER BY g.key DESC`;
    const { scope = null, session = null, duration = null } = filter;
    const live = filter.live === true ? 1 : 0;
    const values = [scope, scope, session, session, duration, duration, live];
    const { app } = filter;
    return this.#database
      .listed(sql, values, (row) => this.#record(row, tell), tell)
      .filter((grant) => filter.live !== true || (grant.isAuthentic && mayServe(grant)))
      .filter(({ subject }) => app === undefined || subject.from === app || subject.to === app);
  }

  #record(row: Row, tell: TellBroken | null): GrantRecord {
    const { seal } = this.#database;
    const prompt = textOrNull(row, 'prompt');
    return {
      ...grantOf(row, seal),
      usedAt: numberOrNull(row, 'used_at'),
      expiredAt: numberOrNull(row, 'expired_at'),
      binding: textOrNull(row, 'binding'),
      prompt: prompt === null ? null : id(prompt),
      // Last: a row that cannot be read is reported as such, and not as changed besides.
      isAuthentic: this.#tags.report('grants', row, tell),
    };
  }

  /** Never earlier than what was seen before, by this process or by the journal. */
  #time(): number {
    this.#latest ??= this.#database.first('SELECT max(last_at) AS latest FROM sessions', [], (row) =>
      numberOrNull(row, 'latest'),
    );
    this.#latest = Math.max(this.#latest ?? Number.NEGATIVE_INFINITY, this.#parts.now());
    return this.#latest;
  }

  /** Marks what has reached its end. */
  #sweep(): void {
    const time = this.#time();
    const due = 'SELECT id FROM grants WHERE ends_at <= ? AND expired_at IS NULL';
    if (this.#database.first(due, [time], () => true) === null) return;
    this.#database.write(() => {
      const sql = 'UPDATE grants SET expired_at = ? WHERE id = ? AND expired_at IS NULL';
      for (const grant of this.#database.all(due, [time], (row) => textOf(row, 'id')))
        this.#change(grant, sql, time, grant);
    });
  }

  /** The first that is what was given, and may be given at all. Attack: a row that somebody wrote without the key. */
  #firstServing(sql: string, values: readonly string[]): Grant | null {
    const keys = this.#database.all(sql, values, (row) => numberOf(row, 'key'));
    for (const key of keys) {
      if (!this.#tags.isAuthentic('grants', key)) continue;
      const grant = this.#database.first(`${SELECT} WHERE g.key = ?`, [key], (row) =>
        grantOf(row, this.#database.seal),
      );
      if (grant !== null && mayServe(grant)) return grant;
    }
    return null;
  }

  /** Inside `write`: returns how many rows were changed. */
  #change(grant: string, sql: string, ...values: readonly (string | number)[]): number {
    return this.#tags.change('grants', this.#database.keyOf('grants', grant), sql, ...values);
  }

  #closedSubject(subject: PermissionSubject): string {
    return this.#database.seal.closeAlike(
      canonicalJsonOf(plainSubject(subject)),
      placeOf('grants.subject', {}),
    );
  }

  #closedDigest(digest: string): string {
    return this.#database.seal.closeAlike(digest, placeOf('grants.digest', {}));
  }

  #closedFlow(flow: string): string {
    return this.#database.seal.closeAlike(flow, placeOf('grant_flows.flow', {}));
  }
}

const SELECT = `SELECT g.key, g.id, g.subject, g.duration, s.id AS session, g.ends_at, g.digest, g.binding, g.prompt,
  g.given_at, g.revoked_at, g.used_at, g.expired_at
  FROM grants g LEFT JOIN sessions s ON s.key = g.session`;

/** INVARIANT (live): not revoked, not spent, not over, and its session, if it has one, has not ended. */
const LIVE = `g.revoked_at IS NULL AND g.used_at IS NULL AND g.expired_at IS NULL
  AND (g.session IS NULL OR s.ended_at IS NULL)`;
const LIVE_IN_SESSION = `${LIVE} AND (g.session IS NULL OR s.id = ?)`;

/** The last moment that a date can name. */
const LATEST_TIME = 8.64e15;

const NEVER_PERMANENT: GrantFault = {
  kind: 'never-permanent',
  message: 'irreversible actions and rules that ask are never permitted for longer than a session',
  help: 'permit it once or for this session',
};

const OVER_ALREADY: GrantFault = {
  kind: 'over-already',
  message: 'the time until which it was to hold is over, or is none',
  help: 'name a time that is still to come',
};

const SESSION_UNKNOWN: GrantFault = {
  kind: 'session-unknown',
  message: 'there is no such session to give the grant in',
  help: 'give the grant in the session that asked',
};

/**
 * INVARIANT (irreversible is short): upheld here too, where a grant is read. Attack: whoever writes the file makes a grant of
 * the session a permanent one, in a store without a key.
 */
function mayServe({ subject, duration, session }: Grant): boolean {
  if (mayOutliveSession(subject.scope)) return true;
  return session !== null && (duration === 'once' || duration === 'session');
}

/** What is no scope may not, also where every object has a property of that name. */
function mayOutliveSession(scope: PermissionScope): boolean {
  return MAY_OUTLIVE_SESSION[scope] === true;
}

const MAY_OUTLIVE_SESSION: Readonly<Record<PermissionScope, boolean>> = {
  'app-selection': true,
  exchange: true,
  response: true,
  'data-release': true,
  'irreversible-action': false,
  egress: true,
  policy: false,
  delegation: false,
};

/** Only the four fields: what else hangs on the object must not make two equal questions differ. */
function plainSubject({ scope, from, to, what }: PermissionSubject): PermissionSubject {
  return { scope, from, to, what };
}

function grantOf(row: Row, seal: Seal): Grant {
  const session = textOrNull(row, 'session');
  return {
    id: id(textOf(row, 'id')),
    subject: subjectOf(seal.open(textOf(row, 'subject'), placeOf('grants.subject', {}))),
    duration: wordOf(row, 'duration', ['once', 'session', 'until', 'permanent']),
    session: session === null ? null : id(session),
    endsAt: numberOrNull(row, 'ends_at'),
    digest: seal.open(textOf(row, 'digest'), placeOf('grants.digest', {})),
    givenAt: numberOf(row, 'given_at'),
    revokedAt: numberOrNull(row, 'revoked_at'),
  };
}

function subjectOf(text: string): PermissionSubject {
  const value = parseStored(text);
  if (!isJsonObject(value)) throw new MalformedRow('a stored subject is not an object');
  const { from, to, what } = value;
  const scope = PERMISSION_SCOPES.find((candidate) => candidate === value.scope);
  if (scope === undefined || typeof what !== 'string')
    throw new MalformedRow('a stored subject is incomplete');
  return { scope, from: appOf(from), to: appOf(to), what };
}

function appOf(value: unknown): AppId | null {
  if (value === null) return null;
  if (typeof value !== 'string') throw new MalformedRow('a stored app is not text');
  return id(value);
}
