/**
 * Grants: what the user has agreed to, for how long, and what is left of it. A grant is found by its whole
 * subject, never by a part; every question goes to the database, so a revocation by another process holds at once.
 *
 * Ring 0.
 */
import {
  type AppId,
  canonicalJson,
  failed,
  type Grant,
  type GrantDuration,
  type GrantId,
  id,
  isJsonObject,
  ok,
  type PermissionScope,
  type PermissionSubject,
  type Result,
  type SessionId,
} from '@cordon/core';

import type { Database } from './database.ts';
import {
  MalformedRow,
  numberOf,
  numberOrNull,
  parseStored,
  type Row,
  textOf,
  textOrNull,
  wordOf,
} from './row.ts';

export interface GrantRequest {
  readonly subject: PermissionSubject;
  readonly duration: GrantDuration;
  /** The session in which it was asked; permanent grants do not keep it. */
  readonly session: SessionId;
  /** Of what was shown. */
  readonly digest: string;
}

export interface GrantRecord extends Grant {
  /** Once-grants: when their one action was authorised. */
  readonly usedAt: number | null;
}

export interface GrantFault {
  readonly kind: 'never-permanent' | 'session-unknown';
  readonly message: string;
  readonly help: string;
}

export interface GrantFilter {
  /** Only grants that can still authorise something. */
  readonly live?: boolean;
  readonly scope?: PermissionScope;
  /** Grants in which this app acts or receives. */
  readonly app?: AppId;
  readonly session?: SessionId;
}

export interface GrantsOptions {
  readonly database: Database;
  readonly now: () => number;
  readonly randomId: () => string;
}

export class Grants {
  readonly #database: Database;
  readonly #options: GrantsOptions;

  constructor(options: GrantsOptions) {
    this.#options = options;
    this.#database = options.database;
  }

  /** Records what the user agreed to. Irreversible actions and rules that ask are refused as permanent. */
  give(request: GrantRequest): Result<Grant, GrantFault> {
    const { duration, digest } = request;
    const subject = plainSubject(request.subject);
    if (duration === 'permanent' && !mayBePermanent(subject.scope)) return failed(NEVER_PERMANENT);
    const session = duration === 'permanent' ? null : request.session;
    const grant: Grant = {
      id: id(this.#options.randomId()),
      subject,
      duration,
      session,
      digest,
      givenAt: this.#options.now(),
      revokedAt: null,
    };
    return this.#database.write(() => {
      const key = this.#sessionKey(request.session);
      if (key === null) return failed(SESSION_UNKNOWN);
      this.#database.run(
        `INSERT INTO grants (id, subject, scope, duration, session, digest, given_at) VALUES (?, ?, ?, ?, ?, ?, ?)`,
        grant.id,
        subjectText(subject),
        subject.scope,
        duration,
        session === null ? null : key,
        digest,
        grant.givenAt,
      );
      return ok(grant);
    });
  }

  /**
   * A grant that authorises an action of exactly this subject in this session now, or null. A once-grant was given
   * for what was shown, so its digest must be the given one. Of several, one with the given digest comes first (a
   * caller that wants nothing else then finds it), then the longest, which spares a once-grant.
   */
  find(subject: PermissionSubject, session: SessionId, digest: string): Grant | null {
    const sql = `${SELECT} WHERE g.subject = ? AND (g.duration <> 'once' OR g.digest = ?) AND ${LIVE_IN_SESSION}
      ORDER BY g.digest <> ?, CASE g.duration WHEN 'permanent' THEN 0 WHEN 'session' THEN 1 ELSE 2 END, g.key LIMIT 1`;
    return this.#database.first(sql, [subjectText(plainSubject(subject)), digest, session, digest], grantOf);
  }

  /**
   * Spends the grant for one action in this session; true: the action is authorised. Of all calls for a once-grant,
   * in whatever process, exactly one gets true, and it is on the disk first, so that a crash cannot give it back.
   */
  consume(grant: GrantId, session: SessionId): boolean {
    return this.#database.write(() => {
      const sql = `${SELECT} WHERE g.id = ? AND ${LIVE_IN_SESSION}`;
      const live = this.#database.first(sql, [grant, session], grantOf);
      if (live === null) return false;
      if (live.duration !== 'once') return true;
      return (
        this.#database.run('UPDATE grants SET used_at = ? WHERE id = ?', this.#options.now(), grant) === 1
      );
    });
  }

  /** True: it was not revoked before. From now on it authorises nothing. */
  revoke(grant: GrantId): boolean {
    return this.#database.write(() => {
      const sql = 'UPDATE grants SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL';
      return this.#database.run(sql, this.#options.now(), grant) === 1;
    });
  }

  /** Newest first; revoked and used ones too unless the filter says otherwise. */
  list(filter: GrantFilter = {}): readonly GrantRecord[] {
    const sql = `${SELECT} WHERE (? IS NULL OR g.scope = ?) AND (? IS NULL OR s.id = ?) AND (? = 0 OR ${LIVE})
      ORDER BY g.key DESC`;
    const scope = filter.scope ?? null;
    const session = filter.session ?? null;
    const values = [scope, scope, session, session, filter.live === true ? 1 : 0];
    const { app } = filter;
    return this.#database
      .all(sql, values, recordOf)
      .filter(({ subject }) => app === undefined || subject.from === app || subject.to === app);
  }

  #sessionKey(session: SessionId): number | null {
    return this.#database.first('SELECT key FROM sessions WHERE id = ?', [session], (row) =>
      numberOf(row, 'key'),
    );
  }
}

const SELECT = `SELECT g.id, g.subject, g.duration, s.id AS session, g.digest, g.given_at, g.revoked_at, g.used_at
  FROM grants g LEFT JOIN sessions s ON s.key = g.session`;

/** INVARIANT (live): not revoked, not spent, and its session, if it has one, has not ended. */
const LIVE = `g.revoked_at IS NULL AND g.used_at IS NULL AND (g.duration = 'permanent' OR s.ended_at IS NULL)`;
const LIVE_IN_SESSION = `${LIVE} AND (g.duration = 'permanent' OR s.id = ?)`;

const NEVER_PERMANENT: GrantFault = {
  kind: 'never-permanent',
  message: 'irreversible actions and rules that ask are never permitted permanently',
  help: 'permit it once or for this session',
};

const SESSION_UNKNOWN: GrantFault = {
  kind: 'session-unknown',
  message: 'there is no such session to give the grant in',
  help: 'give the grant in the session that asked',
};

function mayBePermanent(scope: PermissionScope): boolean {
  switch (scope) {
    case 'irreversible-action':
    case 'policy':
      return false;
    case 'app-selection':
    case 'exchange':
    case 'response':
    case 'data-release':
    case 'egress':
      return true;
  }
}

/** Only the four fields: what else hangs on the object must not make two equal questions differ. */
function plainSubject({ scope, from, to, what }: PermissionSubject): PermissionSubject {
  return { scope, from, to, what };
}

function subjectText({ scope, from, to, what }: PermissionSubject): string {
  return canonicalJson({ scope, from, to, what });
}

function grantOf(row: Row): Grant {
  const session = textOrNull(row, 'session');
  return {
    id: id(textOf(row, 'id')),
    subject: subjectOf(textOf(row, 'subject')),
    duration: wordOf(row, 'duration', ['once', 'session', 'permanent']),
    session: session === null ? null : id(session),
    digest: textOf(row, 'digest'),
    givenAt: numberOf(row, 'given_at'),
    revokedAt: numberOrNull(row, 'revoked_at'),
  };
}

function recordOf(row: Row): GrantRecord {
  return { ...grantOf(row), usedAt: numberOrNull(row, 'used_at') };
}

const SCOPES = [
  'app-selection',
  'exchange',
  'response',
  'data-release',
  'irreversible-action',
  'egress',
  'policy',
] as const satisfies readonly PermissionScope[];

function subjectOf(text: string): PermissionSubject {
  const value = parseStored(text);
  if (!isJsonObject(value)) throw new MalformedRow('a stored subject is not an object');
  const { from, to, what } = value;
  const scope = SCOPES.find((candidate) => candidate === value.scope);
  if (scope === undefined || typeof what !== 'string')
    throw new MalformedRow('a stored subject is incomplete');
  return { scope, from: appOf(from), to: appOf(to), what };
}

function appOf(value: unknown): AppId | null {
  if (value === null) return null;
  if (typeof value !== 'string') throw new MalformedRow('a stored app is not text');
  return id(value);
}
