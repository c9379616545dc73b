/**
 * The durable state of Cordon: sessions and their journals, grants, memory, in one SQLite file of the data folder.
 * Several processes may open the same folder at the same time.
 */
import { randomBytes } from 'node:crypto';

import { type Clock, failed, ok, type Result, type SessionId } from '@cordon/core';
import { Grants } from './consent/grant.ts';
import { Logins } from './consent/login.ts';
import { Pins } from './consent/pin.ts';
import { Prompts } from './consent/prompt.ts';
import { ChainKey } from './database/chain-key.ts';
import { openDatabase } from './database/database.ts';
import { StoreFailure, type StoreFault } from './database/fault.ts';
import { KeyedDigest } from './database/keyed-digest.ts';
import type { StoreParts } from './database/parts.ts';
import { type AuthenticityCount, RowTags, TABLES, type TaggedTable } from './database/row-tag.ts';
import type { StoreKey } from './database/seal.ts';
import { WHOLE_ROW } from './database/sealed-column.ts';
import { prepareFolder } from './folder.ts';
import { Acknowledgements, currentMachineRun } from './journal/acknowledged.ts';
import { eraseSession } from './journal/erasure.ts';
import { Journal } from './journal/journal.ts';
import { type SessionFault, type SessionRecord, Sessions } from './journal/session.ts';
import { Memory } from './memory/memory.ts';
import { MemoryArchive } from './memory/memory-archive.ts';
import type { MemoryOwner } from './memory/memory-item.ts';
import { type KeyedParts, reseal, unlock } from './store-key.ts';

/** The port behind which the state stands. Operations that cannot be carried out throw `StoreFailure`. */
export interface Store {
  /** The database file. */
  readonly file: string;
  readonly sessions: Sessions;
  readonly journal: Journal;
  readonly grants: Grants;
  /** Questions that wait for the user's answer, from whichever process it comes. */
  readonly prompts: Prompts;
  /** What the user agreed to of apps and of configuration files. */
  readonly pins: Pins;
  /** Tokens of apps that run elsewhere. */
  readonly logins: Logins;
  /** The memory of one owner, and of nobody else. */
  memory(owner: MemoryOwner): Memory;
  /** All memories, for the user to see, correct and delete; for no context. */
  readonly memories: MemoryArchive;
  /** Deletes a session with its journal, history, grants and questions; facts stay. Refused while a process holds it. */
  eraseSession(session: SessionId): Result<SessionRecord, SessionFault>;
  /** Rows that would give a right and give none, by table: the key says that they are not what was written with it. */
  rightsWithoutEffect(): readonly (AuthenticityCount & { readonly table: TaggedTable })[];
  /** Whether texts are encrypted in the file. */
  readonly isSealed: boolean;
  /**
   * Encrypts all texts anew with another key, or (null) writes them in the clear. Other processes that use the store can
   * write nothing from then on. What stood there before is in the file until `scrub`.
   */
  reseal(key: StoreKey | null): void;
  /** What `work` writes to memories is one transaction: on the disk as a whole, or not at all. */
  together(work: () => void): void;
  /** Takes deleted and replaced texts out of the file and its log; false: another process reads it at this moment. */
  scrub(): boolean;
  /** For whoever will write for long: from then on, waiting for the disk is shorter. Rejects where that cannot be had. */
  makeRoom(): Promise<void>;
  /** Lets go of the sessions that have not ended (they can be resumed) and closes the file. */
  close(): void;
}

export interface StoreOptions {
  /** Names events, sessions, grants and claims: unguessable, never the same twice, letters and digits only. */
  readonly randomId?: () => string;
  /** How long to wait for another process's write, in milliseconds. */
  readonly busyMs?: number;
  /** Largest size of the database; null: what the disk holds. */
  readonly maxBytes?: number | null;
  /** Encrypts all texts in the file; null: they stand there as they are. See docs/decisions/0017-encryption-at-rest.md. */
  readonly key?: StoreKey | null;
  /** Signs the journal: at least 32 bytes that nobody can read who can write the folder. */
  readonly journalKey?: Uint8Array | null;
  /** For tests: another text after each start of the machine; null: it is not known. */
  readonly machineRun?: string | null;
}

/** Opens the store in `folder`, creating what is missing. On a fault nothing that was there has been changed. */
export function openStore(
  folder: string,
  clock: Clock,
  options: StoreOptions = {},
): Result<Store, StoreFault> {
  const prepared = prepareFolder(folder);
  if (!prepared.ok) return prepared;
  const { file, claims, acknowledged } = prepared.value;
  const limits = { busyMs: options.busyMs ?? 5000, maxBytes: options.maxBytes ?? null };
  const opened = openDatabase(file, limits);
  if (!opened.ok) return opened;

  const database = opened.value;
  const { journalKey = null } = options;
  const chainKey = journalKey === null ? null : new ChainKey(journalKey);
  const digest = new KeyedDigest(database, chainKey);
  const tags = new RowTags(database, digest);
  const { machineRun = currentMachineRun() } = options;
  const acknowledgements = new Acknowledgements({ folder: acknowledged, digest, machineRun, now: clock });
  const keyed = { database, tags, acknowledgements };
  const refusal = unlockOrClose(keyed, options.key ?? null);
  if (refusal !== null) return failed(refusal);
  const parts: StoreParts = { database, tags, now: clock, randomId: options.randomId ?? randomNames() };
  const sessions = new Sessions({ ...parts, claims, chainKey, acknowledgements, processId: process.pid });
  const journal = new Journal({ ...parts, sessions, chainKey, acknowledgements });
  return ok({
    file,
    sessions,
    journal,
    grants: new Grants(parts),
    prompts: new Prompts({ ...parts, eventsFrom: (session, event) => journal.eventsFrom(session, event) }),
    pins: new Pins(parts),
    logins: new Logins(parts),
    memory: (owner) => new Memory(owner, { ...parts, sessions }),
    memories: new MemoryArchive(parts),
    eraseSession: (session) => eraseSession({ database, sessions, acknowledgements }, session),
    get isSealed() {
      return database.seal.mark !== '';
    },
    rightsWithoutEffect: () => TABLES.map((table) => ({ table, ...tags.count(table) })),
    reseal: (key) => reseal(keyed, key, { binding: WHOLE_ROW, vouches: true }),
    together: (work) => database.write(work),
    scrub: () => database.scrub(),
    makeRoom: () => database.makeRoom(),
    close: () => {
      try {
        sessions.close();
      } finally {
        database.close();
      }
    },
  });
}

function unlockOrClose(keyed: KeyedParts, key: StoreKey | null): StoreFault | null {
  const { database } = keyed;
  let refusal: StoreFault | null = null;
  try {
    refusal = unlock(keyed, key);
  } catch (error) {
    database.close();
    if (error instanceof StoreFailure) return error.fault;
    throw error;
  }
  if (refusal !== null) database.close();
  return refusal;
}

const NAME_BYTES = 12;
/** Asking the system for bytes takes longer than writing an event. */
const NAMES_AT_ONCE = 128;

/** 96 random bits each. */
function randomNames(): () => string {
  let bytes = Buffer.alloc(0);
  return () => {
    if (bytes.length === 0) bytes = randomBytes(NAME_BYTES * NAMES_AT_ONCE);
    const name = bytes.toString('hex', 0, NAME_BYTES);
    bytes = bytes.subarray(NAME_BYTES);
    return name;
  };
}
