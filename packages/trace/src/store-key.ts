/**
 * The key of a store: found to be the right one when the store is opened, and given, changed or taken away later. With
 * the wrong key, or without the one that is needed, nothing is read and nothing is written.
 */
import type { SessionId } from '@cordon/core';
import type { Database } from './database/database.ts';
import { StoreFailure, type StoreFault, storeFault } from './database/fault.ts';
import { bytesOf, MalformedRow, numberOf, type Row, textOf, wordOf } from './database/row.ts';
import type { RowTags } from './database/row-tag.ts';
import {
  CLEAR,
  newParameters,
  type Place,
  type Seal,
  type SealParameters,
  type StoreKey,
  sealOf,
} from './database/seal.ts';
import {
  type Binding,
  boundColumns,
  boundRow,
  OWNER_ONLY,
  placeOf,
  SEALED_COLUMNS,
  type SealedColumn,
  WHOLE_ROW,
} from './database/sealed-column.ts';
import type { Acknowledgements } from './journal/acknowledged.ts';

const CHECK_TEXT = '"cordon"';

interface StoredSeal {
  readonly parameters: SealParameters;
  readonly check: string;
  readonly binding: Binding;
}

/**
 * From here on `database` reads and writes with this key. A store that holds nothing yet is given the key; one that
 * holds texts in the clear is refused (`key-unused`), because whoever gives a key believes them to be encrypted.
 */
export function unlock(parts: KeyedParts, key: StoreKey | null): StoreFault | null {
  const { database } = parts;
  const stored = storedSeal(database);
  const { file } = database;
  if (stored === null) {
    if (key === null) return null;
    if (!isUnused(database)) return storeFault('key-unused', file);
    return resealOrMeet(parts, key, WHOLE_ROW);
  }
  if (key === null) return storeFault('key-missing', file);
  const opened = openSeal(key, stored);
  if (opened === null) return storeFault('key-wrong', file);
  database.useSeal(opened);
  return stored.binding === WHOLE_ROW ? null : resealOrMeet(parts, key, stored.binding);
}

/** Two processes may open a new store, or an old one, at the same moment: the second finds what the first has done. */
function resealOrMeet(parts: KeyedParts, key: StoreKey, binding: Binding): StoreFault | null {
  try {
    reseal(parts, key, { binding, vouches: false });
    return null;
  } catch (error) {
    if (error instanceof StoreFailure && error.fault.kind === 'key-changed') return unlock(parts, key);
    throw error;
  }
}

/** What depends on the key: the texts, and what stands beside them. */
export interface KeyedParts {
  readonly database: Database;
  readonly tags: RowTags;
  readonly acknowledgements: Acknowledgements;
}

export interface ResealOptions {
  /** Of the texts as they are. */
  readonly binding: Binding;
  /** The user stands for the rows of a store that has no key yet. */
  readonly vouches: boolean;
}

/**
 * Seals every text of the store anew, with another key or (null) with none, in one transaction. The caller has unlocked
 * the store, and takes what stood there before out of the file with `scrub`.
 */
export function reseal(parts: KeyedParts, key: StoreKey | null, { binding, vouches }: ResealOptions): void {
  const { database, tags, acknowledgements } = parts;
  const parameters = key === null ? null : newParameters(key);
  const after = key === null || parameters === null ? CLEAR : sealOf(key, parameters);
  const before = database.seal;
  const tables = [...new Set(SEALED_COLUMNS.map(({ table }) => table))];
  database.write(() => {
    const kept = tags.kept(vouches);
    acknowledgements.rekey(after, (session, events) => hashOf(database, session, events));
    keep(database, after, parameters);
    database.withoutTriggers(tables, () => {
      for (const column of SEALED_COLUMNS) resealColumn(database, column, { before, after, binding });
    });
    tags.tagAnew(kept, after);
  });
  database.useSeal(after);
}

/** Of the event that is the newest of so many; null: there are not so many. */
function hashOf(database: Database, session: SessionId, events: number): Uint8Array | null {
  if (events === 0) return new Uint8Array(32);
  const sql = `SELECT hash FROM events WHERE session = (SELECT key FROM sessions WHERE id = ?) AND sequence = ?`;
  return database.first(sql, [session, events - 1], (row) =>
    database.seal.openBytes(bytesOf(row, 'hash'), placeOf('events.hash', { session, sequence: events - 1 })),
  );
}

function openSeal(key: StoreKey, { parameters, check, binding }: StoredSeal): Seal | null {
  const isSlow = parameters.derivation === 'scrypt';
  if (isSlow !== (key.kind === 'passphrase')) return null;
  const seal = sealOf(key, parameters);
  try {
    return seal.open(check, checkPlace(binding)) === CHECK_TEXT ? seal : null;
  } catch (error) {
    if (error instanceof MalformedRow) return null;
    throw error;
  }
}

function checkPlace(binding: Binding): Place {
  return binding === OWNER_ONLY ? ['seal.check_value'] : ['seal.check_value', binding];
}

function keep(database: Database, seal: Seal, parameters: SealParameters | null): void {
  database.run(
    'UPDATE seal SET mark = ?, derivation = ?, salt = ?, check_value = ?, binding = ? WHERE only = 1',
    seal.mark,
    parameters?.derivation ?? null,
    parameters?.salt ?? null,
    parameters === null ? null : seal.close(CHECK_TEXT, checkPlace(WHOLE_ROW)),
    WHOLE_ROW,
  );
}

const AT_ONCE = 500;

/** From which seal to which, and what the texts are bound to as they are. */
interface Change {
  readonly before: Seal;
  readonly after: Seal;
  readonly binding: Binding;
}

function resealColumn(database: Database, sealed: SealedColumn, change: Change): void {
  const { table, column } = sealed;
  const select = `SELECT ${boundColumns(sealed)} FROM ${table} t
    WHERE t.rowid > ? AND t.${column} IS NOT NULL ORDER BY t.rowid LIMIT ${AT_ONCE}`;
  for (let last = 0; ; ) {
    const values = database.all(select, [last], (read) => ({
      at: numberOf(read, 'sealed_at'),
      value: closedAnew(sealed, read, change),
    }));
    for (const { at, value } of values)
      database.run(`UPDATE ${table} SET ${column} = ? WHERE rowid = ?`, value, at);
    const end = values.at(-1);
    if (end === undefined) return;
    last = end.at;
  }
}

function closedAnew(sealed: SealedColumn, row: Row, { before, after, binding }: Change): string | Uint8Array {
  const bound = boundRow(sealed, row, before);
  const at = placeOf(sealed.name, bound);
  const was = placeOf(sealed.name, bound, binding);
  switch (sealed.how) {
    case 'bytes':
      return after.closeBytes(before.openBytes(bytesOf(row, 'sealed_value'), was), at);
    case 'alike':
      return after.closeAlike(before.open(textOf(row, 'sealed_value'), was), at);
    case 'fresh':
      return after.close(before.open(textOf(row, 'sealed_value'), was), at);
  }
}

function storedSeal(database: Database): StoredSeal | null {
  const sql = 'SELECT mark, derivation, salt, check_value, binding FROM seal WHERE only = 1';
  const stored = database.first(sql, [], (row): StoredSeal | 'clear' =>
    textOf(row, 'mark') === ''
      ? 'clear'
      : {
          parameters: {
            mark: textOf(row, 'mark'),
            derivation: wordOf(row, 'derivation', ['hkdf', 'scrypt']),
            salt: bytesOf(row, 'salt'),
          },
          check: textOf(row, 'check_value'),
          binding: numberOf(row, 'binding') === OWNER_ONLY ? OWNER_ONLY : WHOLE_ROW,
        },
  );
  // Attack: without its row a store would count as one without a key.
  if (stored === null)
    throw new StoreFailure(storeFault('corrupt', database.file, 'the row of its key is missing'));
  return stored === 'clear' ? null : stored;
}

/** Nothing has been said here yet. */
function isUnused(database: Database): boolean {
  const held = SEALED_COLUMNS.map(({ table }) => `EXISTS (SELECT 1 FROM ${table})`).join(' OR ');
  return database.first(`SELECT (${held}) AS held`, [], (row) => numberOf(row, 'held')) === 0;
}
