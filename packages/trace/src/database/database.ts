/**
 * One connection to the database file: opening and upgrading it, short write transactions, errors as faults.
 *
 * Uses `node:sqlite`.
 */
import {
  DatabaseSync,
  type SQLInputValue,
  type StatementResultingChanges,
  type StatementSync,
} from 'node:sqlite';
import { setImmediate } from 'node:timers/promises';

import { failed, ok, type Result } from '@cordon/core';

import { faultOfSqlite, StoreFailure, type StoreFault, storeFault } from './fault.ts';
import { extendLog, syncLog } from './log-room.ts';
import { MalformedRow, type NewRow, numberOf, type Row, textOf } from './row.ts';
import { APPLICATION_ID, SCHEMA_STEPS, SCHEMA_VERSION } from './schema.ts';
import { CLEAR, type Seal } from './seal.ts';
import { sealGuards } from './sealed-column.ts';

export interface DatabaseLimits {
  /** How long to wait for another process's write, in milliseconds. */
  readonly busyMs: number;
  /** Largest size of the file; null: as large as the disk allows. */
  readonly maxBytes: number | null;
}

/** A row that a list cannot show as what it should be. `changed`: somebody changed it, or made it, without the key. */
export interface BrokenRow {
  /** Its id or name, as far as that can be read. */
  readonly id: string;
  readonly why: 'unreadable' | 'changed';
}

export type TellBroken = (broken: BrokenRow) => void;

/** What a row calls itself. */
export function nameOf({ id, app, owner, key }: Row): string {
  const name = [id, app, owner].find((one) => typeof one === 'string');
  return String(name ?? `row ${String(key)}`);
}

/**
 * `synced`: the transaction, and every one before it, has reached the disk before it is over. `ordered`: it reaches the
 * disk with the next one that is synced, in order; the end of this process, however it ends, loses nothing of it, but a
 * failure of the machine may (https://sqlite.org/pragma.html#pragma_synchronous, NORMAL in WAL mode).
 */
export type Durability = 'synced' | 'ordered';

const SYNCHRONOUS: Readonly<Record<Durability, string>> = {
  synced: 'PRAGMA synchronous = FULL',
  ordered: 'PRAGMA synchronous = NORMAL',
};

/** The log of a transaction of more characters is copied into the file later. */
const LARGE = 256 * 1024;
/** Later than the work that follows upon a large event. */
const CHECKPOINT_MS = 100;
/** Characters after which the copying is postponed no further: the timer gets no turn where writing never pauses. */
const MOST_POSTPONED = 32 * 1024 * 1024;
/** When SQLite copies the log by itself: its own default. */
const PAGES_OF_LOG = 1_000;

export class Database {
  readonly file: string;
  readonly #connection: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();
  #durability: Durability = 'synced';
  #seal: Seal = CLEAR;
  /** Characters of this transaction, and of all whose log is still to be copied into the file. */
  #written = 0;
  #postponed = 0;
  #checkpointing: NodeJS.Timeout | undefined;

  constructor(file: string, connection: DatabaseSync) {
    this.file = file;
    this.#connection = connection;
  }

  /**
   * Runs `work` in one write transaction, so that no other process writes between its reads and its writes. When
   * this returns, everything is committed, and on the disk unless `durability` says otherwise; when it throws, nothing
   * of it happened. Inside another `write` it is a part of that.
   */
  write<T>(work: () => T, durability: Durability = 'synced'): T {
    return this.#mapErrors(() => {
      if (this.#connection.isTransaction) return work();
      this.#demand(durability);
      this.#statement('BEGIN IMMEDIATE').run();
      try {
        this.#requireSeal();
        this.#written = 0;
        const value = work();
        if (this.#written > LARGE) this.#checkpointLater();
        this.#statement('COMMIT').run();
        return value;
      } catch (error) {
        // SQLite has already rolled back after some errors (disk full).
        if (this.#connection.isTransaction) this.#connection.exec('ROLLBACK');
        throw error;
      }
    });
  }

  /** Whether a transaction is open, so that nothing of it is committed yet. */
  get isWriting(): boolean {
    return this.#connection.isTransaction;
  }

  /** All rows; `decode` throws `MalformedRow` for what the schema does not promise. */
  all<T>(sql: string, values: readonly SQLInputValue[], decode: (row: Row) => T): readonly T[] {
    return this.#mapErrors(() =>
      this.#statement(sql)
        .all(...values)
        .map(decode),
    );
  }

  /** For lists that are shown: without `tell` like `all`; with it, an unreadable row is reported and left out. */
  listed<T>(
    sql: string,
    values: readonly SQLInputValue[],
    decode: (row: Row) => T,
    tell: TellBroken | null,
  ): readonly T[] {
    if (tell === null) return this.all(sql, values, decode);
    const rows = this.all(sql, values, (row) => row);
    return rows.flatMap((row) => {
      const one = () => [this.#mapErrors(() => decode(row))];
      return this.unlessMalformed(one, () => tell({ id: nameOf(row), why: 'unreadable' })) ?? [];
    });
  }

  /** The first row, or null. */
  first<T>(sql: string, values: readonly SQLInputValue[], decode: (row: Row) => T): T | null {
    return this.#mapErrors(() => {
      const row = this.#statement(sql).get(...values);
      return row === undefined ? null : decode(row);
    });
  }

  /**
   * For whoever looks whether rows were changed: what is not what it should be is told to `otherwise` and is null. A file
   * that SQLite cannot read is a failure all the same.
   */
  unlessMalformed<T>(read: () => T, otherwise: () => void): T | null {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof StoreFailure) || !(error.cause instanceof MalformedRow)) throw error;
      otherwise();
      return null;
    }
  }

  /**
   * SQLite copies a long log into the file within a commit. That takes as long as the commit of a large event itself, so
   * behind such an event a timer does it. What is committed is in the log, and a crash before the timer loses nothing.
   */
  #checkpointLater(): void {
    this.#postponed += this.#written;
    if (this.#postponed > MOST_POSTPONED) return this.#checkpoint();
    this.#connection.exec('PRAGMA wal_autocheckpoint = 0');
    this.#checkpointing ??= setTimeout(() => this.#checkpoint(), CHECKPOINT_MS).unref();
  }

  /** SQLite may copy within commits again. It does so for what cannot be copied now, as within a transaction. */
  #checkpoint(): void {
    clearTimeout(this.#checkpointing);
    this.#checkpointing = undefined;
    this.#postponed = 0;
    if (!this.#connection.isOpen) return;
    this.#connection.exec(`PRAGMA wal_autocheckpoint = ${PAGES_OF_LOG}`);
    if (this.#connection.isTransaction) return;
    try {
      this.#connection.exec('PRAGMA wal_checkpoint(PASSIVE)');
    } catch {
      // The disk is full, or somebody else reads.
    }
  }

  /** Returns how many rows were changed. Call it inside `write`. */
  run(sql: string, ...values: readonly SQLInputValue[]): number {
    return Number(this.#run(sql, values).changes);
  }

  /** Returns the number of the new row. Call it inside `write`. */
  insert(table: string, row: NewRow): number {
    const columns = Object.keys(row);
    const sql = `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`;
    return Number(this.#run(sql, Object.values(row)).lastInsertRowid);
  }

  #run(sql: string, values: readonly SQLInputValue[]): StatementResultingChanges {
    for (const value of values) if (typeof value === 'string') this.#written += value.length;
    return this.#mapErrors(() => this.#statement(sql).run(...values));
  }

  /** The number of the row with this id; null: there is none. */
  keyOf(table: 'sessions' | 'grants' | 'prompts', id: string): number | null {
    return this.first(`SELECT key FROM ${table} WHERE id = ?`, [id], (row) => numberOf(row, 'key'));
  }

  /** How texts stand in the file; see sealed-column.ts for which. */
  get seal(): Seal {
    return this.#seal;
  }

  useSeal(seal: Seal): void {
    this.#seal = seal;
  }

  /**
   * Attack: a process that opened the store before it was given a key writes what only it can read; nobody can give the store
   * a key any more then. Triggers see texts only, and a hash has no mark.
   */
  #requireSeal(): void {
    const row = this.#statement('SELECT mark FROM seal WHERE only = 1').get() ?? {};
    if (row.mark !== this.#seal.mark) throw new StoreFailure(storeFault('key-changed', this.file));
  }

  /**
   * Inside `write`: `work` may change what triggers of these tables keep from being changed. They stand again when this
   * returns, and also when it throws, since then the transaction is taken back.
   */
  withoutTriggers(tables: readonly string[], work: () => void): void {
    this.#mapErrors(() => {
      const sql = 'SELECT name, sql FROM sqlite_schema WHERE type = ? AND tbl_name = ?';
      const triggers = tables.flatMap((table) =>
        this.#connection
          .prepare(sql)
          .all('trigger', table)
          .map((row) => ({ name: textOf(row, 'name'), sql: textOf(row, 'sql') })),
      );
      for (const { name } of triggers) this.#connection.exec(`DROP TRIGGER "${name}"`);
      work();
      for (const trigger of triggers) this.#connection.exec(trigger.sql);
    });
  }

  /**
   * Takes what was deleted or replaced out of the file and out of the log beside it. False: another process reads the
   * store at this moment, and it is still there.
   */
  scrub(): boolean {
    return this.#mapErrors(() => {
      this.#statements.clear();
      try {
        this.#connection.exec('VACUUM');
      } catch (error) {
        if (faultOfSqlite(error, this.file)?.kind !== 'busy') throw error;
        return false;
      }
      const row = this.#connection.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get() ?? {};
      return numberOf(row, 'busy') === 0;
    });
  }

  /**
   * Gives the log its whole size in advance, a little at a time, so that who waits for the disk waits half as long. It
   * changes nothing else; rejects where it cannot be done.
   */
  async makeRoom(): Promise<void> {
    while (this.#connection.isOpen && this.#extendLog()) await setImmediate();
    await syncLog(this.file);
  }

  #extendLog(): boolean {
    return this.#mapErrors(() => {
      this.#connection.exec('BEGIN IMMEDIATE');
      try {
        return extendLog(this.file);
      } finally {
        this.#connection.exec('ROLLBACK');
      }
    });
  }

  close(): void {
    clearTimeout(this.#checkpointing);
    this.#statements.clear();
    if (this.#connection.isOpen) this.#connection.close();
  }

  /** SQLite ignores this inside a transaction, so it is said before each that differs from the last. */
  #demand(durability: Durability): void {
    if (durability === this.#durability) return;
    this.#connection.exec(SYNCHRONOUS[durability]);
    this.#durability = durability;
  }

  #statement(sql: string): StatementSync {
    const known = this.#statements.get(sql);
    if (known !== undefined) return known;
    const statement = this.#connection.prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
  }

  #mapErrors<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      if (error instanceof MalformedRow)
        throw new StoreFailure(storeFault('corrupt', this.file, error.message), { cause: error });
      const fault = faultOfSqlite(error, this.file);
      throw fault === null ? error : new StoreFailure(fault);
    }
  }
}

/** Opens `file`, which exists (it may be empty), and brings it to the newest schema. */
export function openDatabase(file: string, limits: DatabaseLimits): Result<Database, StoreFault> {
  let connection: DatabaseSync | null = null;
  try {
    connection = new DatabaseSync(file, { timeout: limits.busyMs, enableForeignKeyConstraints: true });
    connection.exec('BEGIN');
    const refusal = refuseFile(connection, file);
    connection.exec('COMMIT');
    if (refusal === null) configure(connection, limits);
    const lateRefusal = refusal ?? upgrade(connection, file);
    if (lateRefusal === null) {
      connection.exec(sealGuards());
      return ok(new Database(file, connection));
    }
    connection.close();
    return failed(lateRefusal);
  } catch (error) {
    connection?.close();
    const fault = faultOfSqlite(error, file);
    if (fault === null) throw error;
    return failed(fault);
  }
}

/** Before anything is written: another program's file stays as it is. Inside a transaction, for one consistent view. */
function refuseFile(connection: DatabaseSync, file: string): StoreFault | null {
  const application = pragma(connection, 'application_id');
  const version = pragma(connection, 'user_version');
  const tables = connection.prepare('SELECT count(*) AS n FROM sqlite_schema').get() ?? {};
  const isEmpty = application === 0 && version === 0 && numberOf(tables, 'n') === 0;
  if (application !== APPLICATION_ID && !isEmpty) return storeFault('foreign-file', file);
  if (version < 0) return storeFault('other-schema', file, `schema ${version}`);
  if (version > SCHEMA_VERSION) {
    return storeFault('newer-schema', file, `schema ${version}, this version knows ${SCHEMA_VERSION}`);
  }
  return null;
}

function configure(connection: DatabaseSync, limits: DatabaseLimits): void {
  useWriteAheadLog(connection, limits.busyMs);
  // secure_delete: what the user deletes is overwritten.
  connection.exec(`${SYNCHRONOUS.synced}; PRAGMA secure_delete = ON; PRAGMA trusted_schema = OFF`);
  // What sorting and VACUUM put aside must not reach another file.
  connection.exec('PRAGMA temp_store = MEMORY');
  if (limits.maxBytes !== null) {
    const pages = Math.max(1, Math.floor(limits.maxBytes / pragma(connection, 'page_size')));
    connection.exec(`PRAGMA max_page_count = ${pages}`);
  }
}

/** SQLite does not wait for locks while it changes the mode, and two new processes may try at the same moment. */
function useWriteAheadLog(connection: DatabaseSync, busyMs: number): void {
  const pauseMs = 10;
  for (let waited = 0; ; waited += pauseMs) {
    try {
      connection.exec('PRAGMA journal_mode = WAL');
      return;
    } catch (error) {
      if (waited >= busyMs || faultOfSqlite(error, '')?.kind !== 'busy') throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pauseMs);
    }
  }
}

function upgrade(connection: DatabaseSync, file: string): StoreFault | null {
  if (pragma(connection, 'user_version') === SCHEMA_VERSION) return null;
  connection.exec('BEGIN IMMEDIATE');
  // Again: another process, perhaps of a newer version, may have upgraded it while this one waited for the lock.
  const refusal = refuseFile(connection, file);
  if (refusal === null) {
    for (const step of SCHEMA_STEPS.slice(pragma(connection, 'user_version'))) connection.exec(step);
    connection.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${SCHEMA_VERSION}`);
  }
  connection.exec('COMMIT');
  return refusal;
}

function pragma(connection: DatabaseSync, name: 'application_id' | 'user_version' | 'page_size'): number {
  return numberOf(connection.prepare(`PRAGMA ${name}`).get() ?? {}, name);
}
