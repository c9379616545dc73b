/**
 * The tables, and the steps from one version of them to the next. A step is never edited once it is released.
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
  // Grants that end at a time, and questions that wait for an answer. A table cannot change its CHECKs, so it is copied.
  // What was granted before is over: it does not say which program stood behind the name of an app.
  `
  DROP TRIGGER grants_keep_their_meaning;
  DROP TRIGGER grants_stay_revoked;
  DROP TRIGGER grants_stay_used;
  DROP INDEX grants_by_subject;
  ALTER TABLE grants RENAME TO grants_before;
  CREATE TABLE grants (
    key INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    -- Canonical JSON of the whole subject: equal subjects are equal text.
    subject TEXT NOT NULL,
    scope TEXT NOT NULL CHECK (scope IN ('app-selection', 'exchange', 'response', 'data-release',
      'irreversible-action', 'egress', 'policy')),
    duration TEXT NOT NULL CHECK (duration IN ('once', 'session', 'until', 'permanent')),
    session INTEGER REFERENCES sessions (key),
    -- From when on it authorises nothing.
    ends_at REAL,
    digest TEXT NOT NULL,
    -- What the apps of the subject were.
    binding TEXT,
    -- The event of the question.
    prompt TEXT,
    given_at REAL NOT NULL,
    revoked_at REAL,
    -- Once-grants: when the one action was authorised.
    used_at REAL,
    -- When it was first seen that the end had come.
    expired_at REAL,
    CHECK ((duration IN ('until', 'permanent')) = (session IS NULL)),
    CHECK (duration <> 'until' OR ends_at IS NOT NULL),
    CHECK (session IS NOT NULL OR scope NOT IN ('irreversible-action', 'policy'))
  ) STRICT;
  INSERT INTO grants (key, id, subject, scope, duration, session, ends_at, digest, given_at, revoked_at, used_at, expired_at)
    SELECT key, id, subject, scope, duration, session, given_at, digest, given_at, revoked_at, used_at, given_at
    FROM grants_before;
  DROP TABLE grants_before;
  CREATE INDEX grants_by_subject ON grants (subject);
  CREATE INDEX grants_that_end ON grants (ends_at) WHERE ends_at IS NOT NULL AND expired_at IS NULL;
  CREATE TRIGGER grants_keep_their_meaning
    BEFORE UPDATE OF id, subject, scope, duration, session, digest, binding, prompt, given_at ON grants
    BEGIN SELECT RAISE(ABORT, 'a grant is never changed'); END;
  CREATE TRIGGER grants_stay_revoked BEFORE UPDATE OF revoked_at ON grants WHEN OLD.revoked_at IS NOT NULL
    BEGIN SELECT RAISE(ABORT, 'a grant is revoked for good'); END;
  CREATE TRIGGER grants_stay_used BEFORE UPDATE OF used_at ON grants WHEN OLD.used_at IS NOT NULL
    BEGIN SELECT RAISE(ABORT, 'a once-grant is used once'); END;
  CREATE TRIGGER grants_stay_expired BEFORE UPDATE OF expired_at ON grants WHEN OLD.expired_at IS NOT NULL
    BEGIN SELECT RAISE(ABORT, 'a grant is over for good'); END;
  CREATE TRIGGER grants_end_no_later BEFORE UPDATE OF ends_at ON grants
    WHEN OLD.ends_at IS NOT NULL AND (NEW.ends_at IS NULL OR NEW.ends_at > OLD.ends_at)
    BEGIN SELECT RAISE(ABORT, 'a grant never lasts longer than it was given for'); END;

  -- Which grants let data go from a source to a recipient; each flow is a digest of both.
  CREATE TABLE grant_flows (
    flow TEXT NOT NULL,
    granted INTEGER NOT NULL REFERENCES grants (key),
    PRIMARY KEY (flow, granted)
  ) STRICT;

  CREATE TABLE prompts (
    key INTEGER PRIMARY KEY,
    -- The event of the question when it was first asked.
    id TEXT NOT NULL UNIQUE,
    session INTEGER NOT NULL REFERENCES sessions (key),
    -- Digest of the question and of the data that were shown: the same question, asked again after a crash, is this one.
    fingerprint TEXT NOT NULL,
    -- Canonical JSON.
    question TEXT NOT NULL,
    asked_at REAL NOT NULL,
    answer TEXT,
    answered_at REAL,
    -- From when on an answer counts for nothing.
    over_at REAL,
    CHECK ((answer IS NULL) = (answered_at IS NULL))
  ) STRICT;
  CREATE UNIQUE INDEX prompts_that_wait ON prompts (session, fingerprint) WHERE over_at IS NULL;
  CREATE TRIGGER prompts_keep_their_words BEFORE UPDATE OF id, session, fingerprint, question, asked_at ON prompts
    BEGIN SELECT RAISE(ABORT, 'a question is never changed'); END;
  CREATE TRIGGER prompts_are_answered_once BEFORE UPDATE OF answer, answered_at ON prompts
    WHEN OLD.answer IS NOT NULL OR OLD.over_at IS NOT NULL
    BEGIN SELECT RAISE(ABORT, 'a question is answered once, and in time'); END;
  CREATE TRIGGER prompts_stay_over BEFORE UPDATE OF over_at ON prompts WHEN OLD.over_at IS NOT NULL
    BEGIN SELECT RAISE(ABORT, 'a question is over for good'); END;
  `,
  // Memory: names for items, summaries, and the key of the store.
  `
  CREATE TABLE seal (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    -- With what every sealed text begins; empty: there is no key, and texts stand in the clear.
    mark TEXT NOT NULL,
    derivation TEXT CHECK (derivation IN ('hkdf', 'scrypt')),
    salt BLOB,
    -- A known text, sealed: opens with the right key only.
    check_value TEXT,
    CHECK ((mark = '') = (derivation IS NULL) AND (mark = '') = (salt IS NULL) AND (mark = '') = (check_value IS NULL))
  ) STRICT;
  INSERT INTO seal (only, mark) VALUES (1, '');

  ALTER TABLE turns RENAME TO old_turns;
  DROP INDEX turns_by_session;
  CREATE TABLE turns (
    -- Never used again, because a summary says up to which turn it goes.
    key INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
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
  INSERT INTO turns (key, id, owner, session, role, text, origin, source, integrity, confidentiality, time)
    SELECT key, lower(hex(randomblob(12))), owner, session, role, text, origin, source, integrity, confidentiality, time
    FROM old_turns ORDER BY key;
  DROP TABLE old_turns;
  CREATE INDEX turns_by_session ON turns (owner, session);
  CREATE INDEX turns_by_time ON turns (time);
  CREATE INDEX turns_by_source ON turns (source) WHERE source IS NOT NULL;

  ALTER TABLE facts RENAME TO old_facts;
  CREATE TABLE facts (
    key INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    owner TEXT NOT NULL,
    name TEXT NOT NULL,
    value TEXT NOT NULL,
    -- Empty: the user or the hub. Part of the key, which NULL cannot be.
    origin TEXT NOT NULL,
    source TEXT,
    integrity TEXT NOT NULL CHECK (integrity IN ('trusted', 'untrusted')),
    confidentiality TEXT NOT NULL CHECK (confidentiality IN ('public', 'private')),
    -- stated: the user's words. observed: a value of an app's output, as its manifest says.
    learnt TEXT NOT NULL CHECK (learnt IN ('stated', 'observed')),
    time REAL NOT NULL,
    UNIQUE (owner, name, learnt, origin, integrity)
  ) STRICT;
  INSERT INTO facts (key, id, owner, name, value, origin, source, integrity, confidentiality, learnt, time)
    SELECT key, lower(hex(randomblob(12))), owner, name, value, origin, source, integrity, confidentiality, 'stated', time
    FROM old_facts ORDER BY key;
  DROP TABLE old_facts;

  CREATE TABLE summaries (
    key INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    owner TEXT NOT NULL,
    session INTEGER NOT NULL REFERENCES sessions (key),
    text TEXT NOT NULL,
    -- The last turn that it covers.
    through INTEGER NOT NULL,
    made_by TEXT NOT NULL CHECK (made_by IN ('model', 'extract')),
    source TEXT,
    integrity TEXT NOT NULL CHECK (integrity IN ('trusted', 'untrusted')),
    confidentiality TEXT NOT NULL CHECK (confidentiality IN ('public', 'private')),
    time REAL NOT NULL,
    UNIQUE (owner, session)
  ) STRICT;

  -- What is kept for one owner never becomes another's.
  CREATE TRIGGER turns_keep_their_owner BEFORE UPDATE OF id, owner, session ON turns
    BEGIN SELECT RAISE(ABORT, 'a turn keeps its owner'); END;
  CREATE TRIGGER facts_keep_their_owner BEFORE UPDATE OF id, owner ON facts
    BEGIN SELECT RAISE(ABORT, 'a fact keeps its owner'); END;
  CREATE TRIGGER summaries_keep_their_owner BEFORE UPDATE OF id, owner, session ON summaries
    BEGIN SELECT RAISE(ABORT, 'a summary keeps its owner'); END;

  -- A summary says what its turns said: it goes when one of them goes or is corrected, and is made anew from the rest.
  CREATE TRIGGER summaries_go_with_their_turns AFTER DELETE ON turns
    BEGIN DELETE FROM summaries WHERE owner = OLD.owner AND session = OLD.session AND through >= OLD.key; END;
  CREATE TRIGGER summaries_go_with_corrected_turns AFTER UPDATE OF text ON turns
    BEGIN DELETE FROM summaries WHERE owner = OLD.owner AND session = OLD.session AND through >= OLD.key; END;
  `,
  // What sealed texts of memory are bound to (sealed-column.ts). 1, the owner only: sealed anew when it is next opened.
  'ALTER TABLE seal ADD COLUMN binding INTEGER NOT NULL DEFAULT 1 CHECK (binding IN (1, 2))',
  // Whether closed values stood in the context, or may stand in the text, that others may have chosen.
  `
  ALTER TABLE turns ADD COLUMN others_values INTEGER NOT NULL DEFAULT 0 CHECK (others_values IN (0, 1));
  ALTER TABLE summaries ADD COLUMN others_values INTEGER NOT NULL DEFAULT 0 CHECK (others_values IN (0, 1));
  `,
  // Keyed digests of whole rows that give a right (row-tag.ts); NULL: written without a key, or before there were any.
  `
  ALTER TABLE grants ADD COLUMN tag BLOB;
  ALTER TABLE grant_flows ADD COLUMN tag BLOB;
  ALTER TABLE pins ADD COLUMN tag BLOB;
  ALTER TABLE agreed_files ADD COLUMN tag BLOB;
  ALTER TABLE prompts ADD COLUMN tag BLOB;
  DROP TRIGGER IF EXISTS pins_stay_replaced;
  CREATE TRIGGER pins_stay_replaced
    BEFORE UPDATE OF place, app, configured, description, digest, given_by, pinned_at, replaced_at, found_configured,
      found_description, found_digest, stopped_at ON pins
    WHEN OLD.replaced_at IS NOT NULL
    BEGIN SELECT RAISE(ABORT, 'a pin is replaced for good'); END;
  `,
  // Whether a file beside the store says how many events were acknowledged (acknowledged.ts). 0: written before there were any.
  'ALTER TABLE sessions ADD COLUMN acknowledged INTEGER NOT NULL DEFAULT 0 CHECK (acknowledged IN (0, 1))',
  // Whether the user has put another text there: what stands in the journal is another then.
  `
  ALTER TABLE turns ADD COLUMN corrected INTEGER NOT NULL DEFAULT 0 CHECK (corrected IN (0, 1));
  ALTER TABLE summaries ADD COLUMN corrected INTEGER NOT NULL DEFAULT 0 CHECK (corrected IN (0, 1));
  ALTER TABLE facts ADD COLUMN corrected INTEGER NOT NULL DEFAULT 0 CHECK (corrected IN (0, 1));
  `,
  // The newest turns of an owner, over all sessions, are found without reading the others.
  'CREATE INDEX turns_by_owner ON turns (owner)',
  // Tokens of apps that run elsewhere.
  `
  CREATE TABLE logins (
    key INTEGER PRIMARY KEY,
    -- The folder of the configuration: the same name in another folder is another app.
    place TEXT NOT NULL,
    app TEXT NOT NULL,
    -- Sealed, or not kept at all: a store without a key takes none.
    secret TEXT NOT NULL CHECK (secret GLOB '~*'),
    since REAL NOT NULL,
    -- Who renews it, and until when nobody else does.
    claimed_by TEXT,
    claimed_until REAL,
    UNIQUE (place, app),
    CHECK ((claimed_by IS NULL) = (claimed_until IS NULL))
  ) STRICT;
  `,
  // Permission for the calls that a text asks for. A table cannot change its CHECKs, so it is copied, and with it what refers to it.
  `
  DROP TRIGGER grants_keep_their_meaning;
  DROP TRIGGER grants_stay_revoked;
  DROP TRIGGER grants_stay_used;
  DROP TRIGGER grants_stay_expired;
  DROP TRIGGER grants_end_no_later;
  DROP INDEX grants_by_subject;
  DROP INDEX grants_that_end;
  ALTER TABLE grant_flows RENAME TO grant_flows_before;
  ALTER TABLE grants RENAME TO grants_before;
  CREATE TABLE grants (
    key INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    -- Canonical JSON of the whole subject: equal subjects are equal text.
    subject TEXT NOT NULL,
    scope TEXT NOT NULL CHECK (scope IN ('app-selection', 'exchange', 'response', 'data-release',
      'irreversible-action', 'egress', 'policy', 'delegation')),
    duration TEXT NOT NULL CHECK (duration IN ('once', 'session', 'until', 'permanent')),
    session INTEGER REFERENCES sessions (key),
    -- From when on it authorises nothing.
    ends_at REAL,
    digest TEXT NOT NULL,
    -- What the apps of the subject were.
    binding TEXT,
    -- The event of the question.
    prompt TEXT,
    given_at REAL NOT NULL,
    revoked_at REAL,
    -- Once-grants: when the one action was authorised.
    used_at REAL,
    -- When it was first seen that the end had come.
    expired_at REAL,
    tag BLOB,
    CHECK ((duration IN ('until', 'permanent')) = (session IS NULL)),
    CHECK (duration <> 'until' OR ends_at IS NOT NULL),
    CHECK (session IS NOT NULL OR scope NOT IN ('irreversible-action', 'policy', 'delegation'))
  ) STRICT;
  INSERT INTO grants (key, id, subject, scope, duration, session, ends_at, digest, binding, prompt, given_at, revoked_at,
      used_at, expired_at, tag)
    SELECT key, id, subject, scope, duration, session, ends_at, digest, binding, prompt, given_at, revoked_at, used_at,
      expired_at, tag
    FROM grants_before;
  CREATE TABLE grant_flows (
    flow TEXT NOT NULL,
    granted INTEGER NOT NULL REFERENCES grants (key),
    tag BLOB,
    PRIMARY KEY (flow, granted)
  ) STRICT;
  -- Its tag says in which row it stands.
  INSERT INTO grant_flows (rowid, flow, granted, tag) SELECT rowid, flow, granted, tag FROM grant_flows_before;
  DROP TABLE grant_flows_before;
  DROP TABLE grants_before;
  CREATE INDEX grants_by_subject ON grants (subject);
  CREATE INDEX grants_that_end ON grants (ends_at) WHERE ends_at IS NOT NULL AND expired_at IS NULL;
  CREATE TRIGGER grants_keep_their_meaning
    BEFORE UPDATE OF id, subject, scope, duration, session, digest, binding, prompt, given_at ON grants
    BEGIN SELECT RAISE(ABORT, 'a grant is never changed'); END;
  CREATE TRIGGER grants_stay_revoked BEFORE UPDATE OF revoked_at ON grants WHEN OLD.revoked_at IS NOT NULL
    BEGIN SELECT RAISE(ABORT, 'a grant is revoked for good'); END;
  CREATE TRIGGER grants_stay_used BEFORE UPDATE OF used_at ON grants WHEN OLD.used_at IS NOT NULL
    BEGIN SELECT RAISE(ABORT, 'a once-grant is used once'); END;
  CREATE TRIGGER grants_stay_expired BEFORE UPDATE OF expired_at ON grants WHEN OLD.expired_at IS NOT NULL
    BEGIN SELECT RAISE(ABORT, 'a grant is over for good'); END;
  CREATE TRIGGER grants_end_no_later BEFORE UPDATE OF ends_at ON grants
    WHEN OLD.ends_at IS NOT NULL AND (NEW.ends_at IS NULL OR NEW.ends_at > OLD.ends_at)
    BEGIN SELECT RAISE(ABORT, 'a grant never lasts longer than it was given for'); END;
  `,
];

export const SCHEMA_VERSION = SCHEMA_STEPS.length;
