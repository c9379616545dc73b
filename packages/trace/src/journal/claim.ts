/**
 * Which process is alive. A process that holds sessions keeps a kernel lock on its own file in
 * `claims/`, and its sessions name that file. The kernel gives the lock up when the process dies, however it dies,
 * so a claim is stale exactly when nobody holds its lock. (Process ids are used again, also across containers that
 * share the folder, and start times differ between systems; the lock needs neither.) SQLite does the locking,
 * because Node has no call for it; the files stay empty.
 *
 * Uses the file system and `node:sqlite`.
 */
import { closeSync, openSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

import { faultOfSqlite, StoreFailure, storeFault } from '../database/fault.ts';

/** Token of a claim, also the name of its file. */
const TOKEN = /^[0-9a-zA-Z_-]{1,80}$/;

export class ProcessLock {
  readonly token: string;
  readonly #folder: string;
  readonly #lock: DatabaseSync;

  private constructor(folder: string, token: string, lock: DatabaseSync) {
    this.#folder = folder;
    this.token = token;
    this.#lock = lock;
  }

  /**
   * INVARIANT (tokens): called inside a write transaction of the store, so that no other process can take the new
   * file, not locked yet, for one that a dead process left.
   */
  static acquire(folder: string, token: string): ProcessLock {
    if (!TOKEN.test(token)) throw new Error('a claim token must be a plain file name');
    const path = join(folder, token);
    try {
      closeSync(openSync(path, 'wx', 0o600));
    } catch (error) {
      throw new StoreFailure(storeFault('folder-unavailable', path, String(error)));
    }
    const lock = new DatabaseSync(path, { timeout: 0 });
    // Nothing is ever written, so no journal file is needed beside it.
    lock.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
    return new ProcessLock(folder, token, lock);
  }

  release(): void {
    if (this.#lock.isOpen) this.#lock.close();
    rmSync(join(this.#folder, this.token), { force: true });
  }
}

/** Does a living process hold the lock of this token? A lock that cannot be examined counts as held. */
export function isHeld(folder: string, token: string): boolean {
  if (!TOKEN.test(token)) return false;
  const path = join(folder, token);
  if (statSync(path, { throwIfNoEntry: false }) === undefined) return false;
  let probe: DatabaseSync | null = null;
  try {
    probe = new DatabaseSync(path, { readOnly: true, timeout: 0 });
    // Reading takes a shared lock, so that several processes may ask at once without seeing each other.
    probe.prepare('SELECT count(*) FROM sqlite_schema').get();
    return false;
  } catch (error) {
    const fault = faultOfSqlite(error, path);
    if (fault === null) throw error;
    // Somebody wrote into the file; that it could be read means that nobody holds the lock.
    return fault.kind !== 'corrupt';
  } finally {
    probe?.close();
  }
}

/** Removes the files that dead processes left. Called inside a write transaction, as `acquire` is. */
export function sweepClaims(folder: string): void {
  for (const name of readdirSync(folder)) {
    if (TOKEN.test(name) && !isHeld(folder, name)) rmSync(join(folder, name), { force: true });
  }
}
