/**
 * All that is remembered, as the user sees, corrects, deletes and exports it. It crosses owners, so it is for the user's
 * own commands and never for a context.
 */
import { failed, ok, type Result, type SessionId, USER_LABEL } from '@cordon/core';

import type { Database, TellBroken } from '../database/database.ts';
import type { Refusal } from '../database/fault.ts';
import type { StoreParts } from '../database/parts.ts';
import { numberOf, numberOrNull, quoteText, type Row } from '../database/row.ts';
import { placeOf } from '../database/sealed-column.ts';
import type { ItemId, MemoryFact, MemoryOwner, Summary, Turn } from './memory-item.ts';
import {
  byName,
  FACT_ORDER,
  factOf,
  ownerOf,
  ownerText,
  replaceFact,
  SELECT_FACTS,
  SELECT_SUMMARIES,
  SELECT_TURNS,
  summaryOf,
  turnOf,
} from './memory-row.ts';

export type MemoryItem =
  | ({ readonly kind: 'turn'; readonly owner: MemoryOwner } & Turn)
  | ({ readonly kind: 'summary'; readonly owner: MemoryOwner } & Summary)
  | ({ readonly kind: 'fact'; readonly owner: MemoryOwner } & MemoryFact);

export interface OwnerOverview {
  readonly owner: MemoryOwner;
  readonly turns: number;
  readonly sessions: number;
  readonly summaries: number;
  readonly facts: number;
  /** Of texts as they are kept. */
  readonly bytes: number;
  /** When something was last added, in milliseconds since the epoch. */
  readonly lastAt: number | null;
}

export interface ItemFilter {
  readonly owner?: MemoryOwner | undefined;
  readonly session?: SessionId | undefined;
  readonly kind?: MemoryItem['kind'] | undefined;
}

export type ItemFault = Refusal<'item-unknown' | 'item-ambiguous'>;

/** How long and how much is kept; null: no limit. */
export interface Retention {
  /** Milliseconds; turns, summaries, and facts that were not learnt again since. */
  readonly age: number | null;
  /** Of the turns of one owner, as they are kept; the oldest go first. */
  readonly bytes: number | null;
}

export interface Deleted {
  readonly turns: number;
  readonly summaries: number;
  readonly facts: number;
}

export class MemoryArchive {
  readonly #database: Database;
  readonly #now: () => number;

  constructor({ database, now }: StoreParts) {
    this.#database = database;
    this.#now = now;
  }

  /** Who has a memory, apps last. */
  owners(): readonly MemoryOwner[] {
    return this.overview().map(({ owner }) => owner);
  }

  /** What each owner has, apps last. */
  overview(tell: TellBroken | null = null): readonly OwnerOverview[] {
    const of = (table: string, what: string) => `(SELECT ${what} FROM ${table} x WHERE x.owner = o.owner)`;
    const size = (table: string, column: string) => of(table, `coalesce(sum(octet_length(${column})), 0)`);
    const sql = `SELECT o.owner, ${of('turns', 'count(*)')} AS turns, ${of('turns', 'count(DISTINCT session)')} AS sessions,
      ${of('summaries', 'count(*)')} AS summaries, ${of('facts', 'count(*)')} AS facts,
      ${size('turns', 'text')} + ${size('summaries', 'text')} + ${size('facts', 'name')} + ${size('facts', 'value')} AS bytes,
      max(coalesce(${of('turns', 'max(time)')}, ${of('facts', 'max(time)')}),
        coalesce(${of('facts', 'max(time)')}, ${of('turns', 'max(time)')})) AS last_at
      FROM (SELECT owner FROM turns UNION SELECT owner FROM facts UNION SELECT owner FROM summaries) o
      ORDER BY substr(o.owner, 1, 1) = char(34), o.owner`;
    const overviewOf = (row: Row): OwnerOverview => ({
      owner: ownerOf(row),
      turns: numberOf(row, 'turns'),
      sessions: numberOf(row, 'sessions'),
      summaries: numberOf(row, 'summaries'),
      facts: numberOf(row, 'facts'),
      bytes: numberOf(row, 'bytes'),
      lastAt: numberOrNull(row, 'last_at'),
    });
    return this.#database.listed(sql, [], overviewOf, tell);
  }

  /** Facts by name, then summaries and turns in the order in which they were made; owner by owner. */
  items({ owner, session, kind }: ItemFilter = {}, tell: TellBroken | null = null): readonly MemoryItem[] {
    const owners = owner === undefined ? this.overview(tell).map((one) => one.owner) : [owner];
    const wants = (one: MemoryItem['kind']) => (kind ?? one) === one;
    const ofSession = session === undefined ? '' : 'AND s.id = ?';
    const where = `t.owner = ? ${ofSession} ORDER BY t.key`;
    return owners.map(ownerText).flatMap((one) => {
      const values = session === undefined ? [one] : [one, session];
      return [
        ...(wants('fact') && session === undefined ? this.#factsOf(one, tell) : []),
        ...(wants('summary') ? this.#summaries(where, values, tell) : []),
        ...(wants('turn') ? this.#turns(where, values, tell) : []),
      ];
    });
  }

  /** By its id or by how the id begins. */
  find(item: ItemId): Result<MemoryItem, ItemFault> {
    // An id has none of GLOB's special characters.
    const found = /^[0-9A-Za-z]{4,64}$/.test(item) ? this.#named(`${item}*`) : [];
    const [first] = found;
    if (first === undefined) return failed(UNKNOWN);
    return found.length > 1 ? failed(AMBIGUOUS) : ok(first);
  }

  /**
   * Replaces the text of an item: of a fact its value. A corrected fact is the user's own statement, also
   * where an app's value stood before, and is corrected for all owners that have it from the same source. A turn or a
   * summary keeps its label: that a text was corrected does not tell that all of it was read.
   */
  correct(item: ItemId, text: string): Result<MemoryItem, ItemFault> {
    const found = this.find(item);
    if (!found.ok) return found;
    const { value } = found;
    this.#database.write(() => {
      if (value.kind !== 'fact') this.#replaceText(value, text);
      else for (const copy of this.#copies(value)) this.#correctFact(copy, text);
    });
    return this.find(value.id);
  }

  /** A fact goes with its copies: the system's, and that of the conversation in which it was learnt. */
  deleteItem(item: ItemId): Result<Deleted, ItemFault> {
    const found = this.find(item);
    if (!found.ok) return found;
    const { value } = found;
    return ok(
      this.#counted(() => {
        const sql = `DELETE FROM ${TABLE_OF[value.kind]} WHERE id = ?`;
        for (const { id } of value.kind === 'fact' ? this.#copies(value) : [value])
          this.#database.run(sql, id);
      }),
    );
  }

  /** What was said in one session, of all owners; facts belong to no session and stay. */
  deleteSession(session: SessionId): Deleted {
    return this.#counted(() => {
      for (const table of ['summaries', 'turns'])
        this.#database.run(
          `DELETE FROM ${table} WHERE session = (SELECT key FROM sessions WHERE id = ?)`,
          session,
        );
    });
  }

  deleteOwner(owner: MemoryOwner): Deleted {
    return this.#counted(() => {
      for (const table of TABLES)
        this.#database.run(`DELETE FROM ${table} WHERE owner = ?`, ownerText(owner));
    });
  }

  deleteEverything(): Deleted {
    return this.#counted(() => {
      for (const table of TABLES) this.#database.run(`DELETE FROM ${table}`);
    });
  }

  /** Deletes what is older or more than is kept. */
  prune({ age, bytes }: Retention): Deleted {
    return this.#counted(() => {
      if (age !== null)
        for (const table of TABLES)
          this.#database.run(`DELETE FROM ${table} WHERE time < ?`, this.#now() - age);
      if (bytes !== null) {
        const sizes = `SELECT key, sum(octet_length(text)) OVER (PARTITION BY owner ORDER BY key DESC) AS kept FROM turns`;
        this.#database.run(
          `DELETE FROM turns WHERE key IN (SELECT key FROM (${sizes}) WHERE kept > ?)`,
          bytes,
        );
      }
    });
  }

  #factsOf(owner: string, tell: TellBroken | null): readonly FactItem[] {
    return byName(this.#facts(`t.owner = ? ${FACT_ORDER}`, [owner], tell));
  }

  #facts(where: string, values: readonly string[], tell: TellBroken | null = null): readonly FactItem[] {
    const fact = factOf(this.#database.seal);
    const itemOf = (row: Row): FactItem => ({ kind: 'fact', owner: ownerOf(row), ...fact(row) });
    return this.#database.listed(`${SELECT_FACTS} WHERE ${where}`, values, itemOf, tell);
  }

  #summaries(
    where: string,
    values: readonly string[],
    tell: TellBroken | null = null,
  ): readonly MemoryItem[] {
    const summary = summaryOf(this.#database.seal);
    const itemOf = (row: Row): MemoryItem => ({ kind: 'summary', owner: ownerOf(row), ...summary(row) });
    return this.#database.listed(`${SELECT_SUMMARIES} WHERE ${where}`, values, itemOf, tell);
  }

  #turns(where: string, values: readonly string[], tell: TellBroken | null = null): readonly MemoryItem[] {
    const turn = turnOf(this.#database.seal);
    const itemOf = (row: Row): MemoryItem => ({ kind: 'turn', owner: ownerOf(row), ...turn(row) });
    return this.#database.listed(`${SELECT_TURNS} WHERE ${where}`, values, itemOf, tell);
  }

  #named(pattern: string): readonly MemoryItem[] {
    const where = 't.id GLOB ? LIMIT 2';
    return [
      ...this.#facts(where, [pattern]),
      ...this.#summaries(where, [pattern]),
      ...this.#turns(where, [pattern]),
    ];
  }

  /** The fact itself, and those that other owners have of the same name from the same event. */
  #copies(fact: FactItem): readonly FactItem[] {
    if (fact.source === null) return [fact];
    const others = this.#facts('t.source = ? AND t.learnt = ?', [fact.source, fact.learnt]);
    return others.filter(({ name, origin }) => name === fact.name && origin === fact.origin);
  }

  #correctFact(fact: FactItem, value: string): void {
    const { integrity, confidentiality } = USER_LABEL;
    const row = {
      id: fact.id,
      owner: ownerText(fact.owner),
      name: fact.name,
      // What an app said becomes what the user said; in whose conversation the user stated a fact stays with it.
      origin: fact.learnt === 'observed' || fact.origin === null ? '' : quoteText(fact.origin),
      source: fact.source,
      integrity,
      confidentiality,
      learnt: 'stated',
      time: this.#now(),
      corrected: 1,
    };
    this.#database.run('DELETE FROM facts WHERE id = ?', fact.id);
    replaceFact(this.#database, row, value);
  }

  #replaceText({ kind, id }: Exclude<MemoryItem, FactItem>, text: string): void {
    const table = TABLE_OF[kind];
    const select = kind === 'turn' ? SELECT_TURNS : SELECT_SUMMARIES;
    const sealed = this.#database.first(`${select} WHERE t.id = ?`, [id], (row) =>
      this.#database.seal.close(quoteText(text), placeOf(`${table}.text`, { ...row, corrected: 1 })),
    );
    this.#database.run(`UPDATE ${table} SET text = ?, corrected = 1 WHERE id = ?`, sealed, id);
  }

  /** Counted before and after: a summary goes with its turns, by a trigger. */
  #counted(work: () => void): Deleted {
    return this.#database.write(() => {
      const before = this.#counts();
      work();
      const after = this.#counts();
      return {
        turns: before.turns - after.turns,
        summaries: before.summaries - after.summaries,
        facts: before.facts - after.facts,
      };
    });
  }

  #counts(): Deleted {
    const of = (table: string) =>
      this.#database.first(`SELECT count(*) AS n FROM ${table}`, [], (row) => numberOf(row, 'n')) ?? 0;
    return { turns: of('turns'), summaries: of('summaries'), facts: of('facts') };
  }
}

type FactItem = Extract<MemoryItem, { readonly kind: 'fact' }>;

const TABLE_OF = { fact: 'facts', summary: 'summaries', turn: 'turns' } as const;

/** Summaries before the turns that they are made of. */
const TABLES = ['summaries', 'turns', 'facts'] as const;

const UNKNOWN: ItemFault = {
  kind: 'item-unknown',
  message: 'nothing is remembered under this id',
  help: '`cordon memory show` lists what is, with ids',
};

const AMBIGUOUS: ItemFault = {
  kind: 'item-ambiguous',
  message: 'several ids begin like this',
  help: 'write more of it',
};
