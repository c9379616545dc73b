/**
 * Tags of rows that give a right: grants and their flows, pins, agreed files, questions with their answers. In a store with
 * a key each such row carries a keyed digest of all its columns, its id included. A row that somebody changed, copied or
 * made without the key gives no right: the user is asked again (docs/decisions/0031-changes-of-the-store-are-found.md).
 */
import { isSameDigest } from './chain-key.ts';
import { type Database, nameOf, type TellBroken } from './database.ts';
import type { KeyedDigest } from './keyed-digest.ts';
import { bytesOf, type NewRow, numberOf, type Row } from './row.ts';
import type { Seal } from './seal.ts';

const FROM_SESSION = 'LEFT JOIN sessions s ON s.key = t.session';

/** Every column of each table but `key` and `tag`; a session by its id. A test holds this against the schema. */
export const TAGGED_TABLES = {
  grants: {
    join: FROM_SESSION,
    columns: [
      ...['t.id', 't.subject', 't.scope', 't.duration', 's.id', 't.ends_at', 't.digest', 't.binding'],
      ...['t.prompt', 't.given_at', 't.revoked_at', 't.used_at', 't.expired_at'],
    ],
  },
  grant_flows: { join: 'JOIN grants g ON g.key = t.granted', columns: ['t.flow', 'g.id'] },
  pins: {
    join: '',
    columns: [
      ...['t.place', 't.app', 't.configured', 't.description', 't.digest', 't.given_by', 't.pinned_at'],
      ...['t.replaced_at', 't.found_configured', 't.found_description', 't.found_digest', 't.stopped_at'],
    ],
  },
  agreed_files: { join: '', columns: ['t.file', 't.digest', 't.agreed_at'] },
  prompts: {
    join: FROM_SESSION,
    columns: [
      ...['t.id', 's.id', 't.fingerprint', 't.question', 't.asked_at', 't.answer', 't.answered_at'],
      't.over_at',
    ],
  },
} as const;

export type TaggedTable = keyof typeof TAGGED_TABLES;

/** `untagged`: written without a key, or by a version that had no tags. */
export type Authenticity = 'authentic' | 'untagged' | 'changed';

export type AuthenticityCount = Readonly<Record<Exclude<Authenticity, 'authentic'>, number>>;

export class RowTags {
  readonly #database: Database;
  readonly #digest: KeyedDigest;

  constructor(database: Database, digest: KeyedDigest) {
    this.#database = database;
    this.#digest = digest;
  }

  /** Whether this row is what was written with the key; without a key every row counts. */
  isAuthentic(table: TaggedTable, rowid: number): boolean {
    return this.#digest.isKeyed ? this.#look(table, rowid) === 'authentic' : true;
  }

  /** Whether somebody changed this row, or copied a tag into it, without the key. */
  isChanged(table: TaggedTable, rowid: number): boolean {
    return this.#digest.isKeyed && this.#look(table, rowid) === 'changed';
  }

  /** Inside a write transaction: a new row, with its tag. Returns its number. */
  insert(table: TaggedTable, row: NewRow): number {
    const rowid = this.#database.insert(table, row);
    this.#add(table, rowid);
    return rowid;
  }

  /**
   * Inside a write transaction: `sql` changes this row. A row that was not authentic before does not become so. Returns how
   * many rows were changed; null as the row: there is none to change.
   */
  change(
    table: TaggedTable,
    rowid: number | null,
    sql: string,
    ...values: readonly (string | number | null)[]
  ): number {
    if (rowid === null) return 0;
    const wasAuthentic = this.isAuthentic(table, rowid);
    const changed = this.#database.run(sql, ...values);
    if (wasAuthentic) this.#add(table, rowid);
    return changed;
  }

  #add(table: TaggedTable, rowid: number): void {
    if (this.#digest.isKeyed) this.#write(table, rowid, this.#database.seal);
  }

  /** For lists that are shown: reports a row that somebody changed. Returns whether it counts. */
  report(table: TaggedTable, row: Row, tell: TellBroken | null): boolean {
    const rowid = numberOf(row, 'key');
    if (this.isChanged(table, rowid)) tell?.({ id: nameOf(row), why: 'changed' });
    return this.isAuthentic(table, rowid);
  }

  /** How many rows give no right, because the key says so; none without a key. */
  count(table: TaggedTable): AuthenticityCount {
    const count = { untagged: 0, changed: 0 };
    if (!this.#digest.isKeyed) return count;
    for (const rowid of this.#rowids(table)) {
      const found = this.#look(table, rowid);
      if (found !== 'authentic') count[found]++;
    }
    return count;
  }

  /**
   * The rows that keep their right when the store's texts are sealed anew. `vouches`: the user gives a key to a store that had
   * none, and so stands for what it holds; a store that gets its key by being opened is not vouched for by anybody.
   */
  kept(vouches: boolean): ReadonlyMap<TaggedTable, readonly number[]> {
    const keeps = vouches || this.#digest.isKeyed;
    return new Map(
      TABLES.map((table) => [
        table,
        keeps ? this.#rowids(table).filter((rowid) => this.isAuthentic(table, rowid)) : [],
      ]),
    );
  }

  /** Tags the rows that keep their right, as they are sealed now. */
  tagAnew(kept: ReadonlyMap<TaggedTable, readonly number[]>, seal: Seal): void {
    for (const [table, rowids] of kept) for (const rowid of rowids) this.#write(table, rowid, seal);
  }

  #look(table: TaggedTable, rowid: number): Authenticity {
    const row = this.#read(table, rowid);
    if (row === null || row.tag === null) return 'untagged';
    const right = this.#tagOf(table, row, this.#database.seal);
    return right !== null && isSameDigest(bytesOf(row, 'tag'), right) ? 'authentic' : 'changed';
  }

  #write(table: TaggedTable, rowid: number, seal: Seal): void {
    const row = this.#read(table, rowid);
    if (row === null) return;
    this.#database.run(`UPDATE ${table} SET tag = ? WHERE rowid = ?`, this.#tagOf(table, row, seal), rowid);
  }

  #tagOf(table: TaggedTable, row: Row, seal: Seal): Uint8Array | null {
    const values = TAGGED_TABLES[table].columns.map((_, index) => row[`c${index}`]);
    const text = JSON.stringify(['cordon-row-1', table, ...values]);
    return this.#digest.of(text, seal);
  }

  #read(table: TaggedTable, rowid: number): Row | null {
    const { columns, join } = TAGGED_TABLES[table];
    const named = columns.map((column, index) => `${column} AS c${index}`).join(', ');
    const sql = `SELECT ${named}, t.tag AS tag FROM ${table} t ${join} WHERE t.rowid = ?`;
    return this.#database.first(sql, [rowid], (row) => row);
  }

  #rowids(table: TaggedTable): readonly number[] {
    return this.#database.all(`SELECT rowid AS rowid FROM ${table}`, [], (row) => numberOf(row, 'rowid'));
  }
}

export const TABLES: readonly TaggedTable[] = ['grants', 'grant_flows', 'pins', 'agreed_files', 'prompts'];
