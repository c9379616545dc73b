/**
 * The tables, and the steps from one version of them to the next. A step is never edited once it is released.
 *
 * Ring 0.
 */

/** `PRAGMA application_id`: "Crdn". Tells our file from any other database. */
export const APPLICATION_ID = 0x4372646e;

/** Step n leads from `user_version` n to n + 1. */
export const SCHEMA_STEPS: readonly string[] = [
  `
  CREATE TABLE sessions (
    key INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    started_at REAL NOT NULL,
    last_at REAL NOT NULL,
    ended_at REAL,
    first_query TEXT,
    -- The end of the hash chain: how many events there are and the hash of the last.
    events INTEGER NOT NULL DEFAULT 0,
    head BLOB NOT NULL,
    -- The lock file of the process that holds the session, see claim.ts.
    claim TEXT,
    claim_pid INTEGER
  ) STRICT;

  CREATE TABLE events (
    session INTEGER NOT NULL REFERENCES sessions (key),
    sequence INTEGER NOT NULL,
    id TEXT NOT NULL UNIQUE,
    event TEXT NOT NULL,
    hash BLOB NOT NULL,
    PRIMARY KEY (session, sequence)
  ) STRICT;
  CREATE TRIGGER events_are_never_changed BEFORE UPDATE ON events
    BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END;
  CREATE TRIGGER events_are_never_deleted BEFORE DELETE ON events
    BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END;

  CREATE TABLE grants (
    key INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    -- Canonical JSON of the whole subject: equal subjects are equal text.
    subject TEXT NOT NULL,
    scope TEXT NOT NULL CHECK (scope IN ('app-selection', 'exchange', 'response', 'data-release',
      'irreversible-action', 'egress', 'policy')),
    duration TEXT NOT NULL CHECK (duration IN ('once', 'session', 'permanent')),
    session INTEGER REFERENCES sessions (key),
    digest TEXT NOT NULL,
    given_at REAL NOT NULL,
    revoked_at REAL,
    -- Once-grants: when the one action was authorised.
    used_at REAL,
    CHECK ((duration = 'permanent') = (session IS NULL)),
    CHECK (duration <> 'permanent' OR scope NOT IN ('irreversible-action', 'policy'))
  ) STRICT;
  CREATE INDEX grants_by_subject ON grants (subject);
  CREATE TRIGGER grants_keep_their_meaning
    BEFORE UPDATE OF id, subject, scope, duration, session, digest, given_at ON grants
    BEGIN SELECT RAISE(ABORT, 'a grant is never changed'); END;
  CREATE TRIGGER grants_stay_revoked BEFORE UPDATE OF revoked_at ON grants WHEN OLD.revoked_at IS NOT NULL
    BEGIN SELECT RAISE(ABORT, 'a grant is revoked for good'); END;
  CREATE TRIGGER grants_stay_used BEFORE UPDATE OF used_at ON grants WHEN OLD.used_at IS NOT NULL
    BEGIN SELECT RAISE(ABORT, 'a once-grant is used once'); END;

  CREATE TABLE turns (
    key INTEGER PRIMARY KEY,
    owner TEXT NOT NULL,
    session INTEGER NOT NULL REFERENCES sessions (key),
    role TEXT NOT NULL CHECK (role IN ('user', 'assistant', 'tool')),
    text TEXT NOT NULL,
    origin TEXT,
    source TEXT,
    integrity TEXT NOT NULL CHECK (integrity IN ('trusted', 'untrusted')),
    confidentiality TEXT NOT NULL CHECK (confidentiality IN ('public', 'private')),
    time REAL NOT NULL
  ) STRICT;
  CREATE INDEX turns_by_session ON turns (owner, session);

  CREATE TABLE facts (
    key INTEGER PRIMARY KEY,
    owner TEXT NOT NULL,
    name TEXT NOT NULL,
    value TEXT NOT NULL,
    -- Empty: the user or the hub. Part of the key, which NULL cannot be.
    origin TEXT NOT NULL,
    source TEXT,
    integrity TEXT NOT NULL CHECK (integrity IN ('trusted', 'untrusted')),
    confidentiality TEXT NOT NULL CHECK (confidentiality IN ('public', 'private')),
    time REAL NOT NULL,
    UNIQUE (owner, name, origin, integrity)
  ) STRICT;
  `,
  // Keyed digest of how many events there are and of the newest hash (chain-key.ts); NULL: written without a key.
  'ALTER TABLE sessions ADD COLUMN signature BLOB',
  `
  -- What the user agreed to of an app, with the texts, so that a difference can be shown.
  CREATE TABLE pins (
    key INTEGER PRIMARY KEY,
    -- The folder of the configuration: the same words in another folder start another program.
    place TEXT NOT NULL,
    app TEXT NOT NULL,
    configured TEXT NOT NULL,
    description TEXT NOT NULL,
    digest TEXT NOT NULL,
    given_by TEXT NOT NULL CHECK (given_by IN ('user', 'configuration', 'option')),
    pinned_at REAL NOT NULL,
    replaced_at REAL,
    -- The first text that differed; the app is stopped since then.
    found_configured TEXT,
    found_description TEXT,
    found_digest TEXT,
    stopped_at REAL,
    CHECK ((stopped_at IS NULL) = (found_digest IS NULL)),
    CHECK ((stopped_at IS NULL) = (found_configured IS NULL)),
    CHECK ((stopped_at IS NULL) = (found_description IS NULL))
  ) STRICT;
  CREATE UNIQUE INDEX pins_in_force ON pins (place, app) WHERE replaced_at IS NULL;
  CREATE TRIGGER pins_keep_their_meaning
    BEFORE UPDATE OF place, app, configured, description, digest, given_by, pinned_at ON pins
    BEGIN SELECT RAISE(ABORT, 'a pin is never changed'); END;
  CREATE TRIGGER pins_stay_replaced BEFORE UPDATE ON pins WHEN OLD.replaced_at IS NOT NULL
    BEGIN SELECT RAISE(ABORT, 'a pin is replaced for good'); END;
  CREATE TRIGGER pins_stay_stopped
    BEFORE UPDATE OF found_configured, found_description, found_digest, stopped_at ON pins
    WHEN OLD.stopped_at IS NOT NULL
    BEGIN SELECT RAISE(ABORT, 'the first difference is kept'); END;

  CREATE TABLE agreed_files (
    file TEXT PRIMARY KEY,
    -- Of its bytes.
    digest TEXT NOT NULL,
    agreed_at REAL NOT NULL
  ) STRICT;
  `,
];

export const SCHEMA_VERSION = SCHEMA_STEPS.length;
