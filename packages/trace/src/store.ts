/**
 * The durable state of Cordon: sessions and their journals, grants, memory, in one SQLite file of the data folder.
 * Several processes may open the same folder at the same time.
 *
 * Ring 0.
 */
import { randomBytes } from 'node:crypto';

import { type Clock, ok, type Result } from '@cordon/core';

import { ChainKey } from './chain-key.ts';
import { openDatabase } from './database.ts';
import type { StoreFault } from './fault.ts';
import { prepareFolder } from './folder.ts';
import { Grants } from './grant.ts';
import { Journal } from './journal.ts';
import { Memory, type MemoryOwner, memoryOwners } from './memory.ts';
import { Pins } from './pin.ts';
import { Sessions } from './session.ts';

/** The port behind which the state stands. Operations that cannot be carried out throw `StoreFailure`. */
export interface Store {
  /** The database file. */
  readonly file: string;
  readonly sessions: Sessions;
  readonly journal: Journal;
  readonly grants: Grants;
  /** What the user agreed to of apps and of configuration files. */
  readonly pins: Pins;
  /** The memory of one owner, and of nobody else. */
  memory(owner: MemoryOwner): Memory;
  /** Who has a memory; for the user to see. */
  memoryOwners(): readonly MemoryOwner[];
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
  /** Signs the journal: at least 32 bytes that nobody can read who can write the folder. */
  readonly journalKey?: Uint8Array | null;
}

/** Opens the store in `folder`, creating what is missing. On a fault nothing that was there has been changed. */
export function openStore(
  folder: string,
  clock: Clock,
  options: StoreOptions = {},
): Result<Store, StoreFault> {
  const prepared = prepareFolder(folder);
  if (!prepared.ok) return prepared;
  const { file, claims } = prepared.value;
  const limits = { busyMs: options.busyMs ?? 5000, maxBytes: options.maxBytes ?? null };
  const opened = openDatabase(file, limits);
  if (!opened.ok) return opened;

  const database = opened.value;
  const parts = { database, now: clock, randomId: options.randomId ?? randomNames() };
  const { journalKey = null } = options;
  const chainKey = journalKey === null ? null : new ChainKey(journalKey);
  const sessions = new Sessions({ ...parts, claims, chainKey, processId: process.pid });
  return ok({
    file,
    sessions,
    journal: new Journal({ ...parts, sessions, chainKey }),
    grants: new Grants(parts),
    pins: new Pins(parts),
    memory: (owner) => new Memory(owner, { ...parts, sessions }),
    memoryOwners: () => memoryOwners(database),
    close: () => {
      try {
        sessions.close();
      } finally {
        database.close();
      }
    },
  });
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
