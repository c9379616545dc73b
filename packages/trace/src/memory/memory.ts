/**
 * Memory: what was said (history, by session), what became of the older part of it (one rolling summary for each
 * session), and what was learnt (facts, over all sessions), for the system and for each spoke (paper, Appendix A-C).
 *
 * INVARIANT (kept apart): a `Memory` is bound to its owner when it is made; none of its operations takes an owner or the
 * key of a row, and each of its statements names the owner's rows only. What crosses owners is in memory-archive.ts,
 * which is the user's and never a context's.
 */
import type { AppId, EventId, SessionId } from '@cordon/core';
import type { Database } from '../database/database.ts';
import type { StoreParts } from '../database/parts.ts';
import { numberOf, quoteText, type Row } from '../database/row.ts';
import { placeOf } from '../database/sealed-column.ts';
import type { Sessions, StoredHead } from '../journal/session.ts';
import type {
  FactKind,
  MemoryFact,
  MemoryOwner,
  NewSummary,
  OpenTurn,
  Provenance,
  Summary,
  Turn,
  TurnRole,
} from './memory-item.ts';
import {
  byName,
  FACT_ORDER,
  factOf,
  ownerText,
  replaceFact,
  SELECT_FACTS,
  SELECT_SUMMARIES,
  SELECT_TURNS,
  summaryOf,
  turnOf,
} from './memory-row.ts';

export interface MemoryParts extends StoreParts {
  readonly sessions: Sessions;
}

export class Memory {
  readonly #database: Database;
  readonly #parts: MemoryParts;
  readonly #owner: string;

  constructor(owner: MemoryOwner, parts: MemoryParts) {
    this.#owner = ownerText(owner);
    this.#parts = parts;
    this.#database = parts.database;
  }

  /** The same, but keeps a turn of the same role from the same event once: a session that resumes after a crash records it again. */
  recordOnce(session: SessionId, role: TurnRole, text: string, provenance: EventProvenance): void {
    const sql = `SELECT 1 AS one ${SAID_BEFORE}`;
    this.#database.write(() => {
      const said = [provenance.source, this.#owner, session, role];
      if (!(this.#database.first(sql, said, () => true) ?? false))
        this.record(session, role, text, provenance);
    });
  }

  /** The same, but replaces what stands there: work that was given up may have continued and ended differently. */
  recordInstead(session: SessionId, role: TurnRole, text: string, provenance: EventProvenance): void {
    this.#database.write(() => {
      this.#database.run(`DELETE ${SAID_BEFORE}`, provenance.source, this.#owner, session, role);
      this.record(session, role, text, provenance);
    });
  }

  /** The user's words of one event, as they stand now; null: the user deleted them, or nothing was kept of the event. */
  saidBy(session: SessionId, source: EventId): string | null {
    const sql = `${SELECT_TURNS} WHERE t.source = ? AND t.owner = ? AND s.id = ? AND t.role = 'user'`;
    const where = [source, this.#owner, session];
    return this.#database.first(sql, where, turnOf(this.#database.seal))?.text ?? null;
  }

  /** Adds to the history of a session that this process holds. */
  record(session: SessionId, role: TurnRole, text: string, provenance: Provenance): void {
    const row = {
      ...this.#begun(provenance),
      role,
      origin: provenance.origin === null ? null : quoteText(provenance.origin),
      others_values: Number(provenance.holdsOthersValues ?? false),
    };
    this.#database.write(() => this.#insertText('turns', this.#parts.sessions.require(session), row, text));
  }

  /** What was said in this session, oldest first. */
  history(session: SessionId): readonly Turn[] {
    const sql = `${SELECT_TURNS} WHERE t.owner = ? AND s.id = ? ORDER BY t.key`;
    return this.#database.all(sql, [this.#owner, session], turnOf(this.#database.seal));
  }

  /** The last messages of the user with all that followed each, oldest first; at most so many, and none that the summary covers. */
  recent(session: SessionId, interactions: number): readonly OpenTurn[] {
    if (!(interactions >= 1)) return [];
    const here = `t.owner = ? AND t.session = ${SESSION_KEY}`;
    const first = this.#placeOfQuery(here, [this.#owner, session], interactions) ?? 1;
    return this.#after(session, Math.max(first - 1, this.#covered(session)));
  }

  /**
   * The last messages of the user in other sessions, each with all that followed it there, oldest first; at most so many, and
   * none that was said after `until`, so that it is the same when the query that asks resumes after a crash. However much there
   * is, no more is read.
   */
  elsewhere(session: SessionId, until: number, interactions: number): readonly Turn[] {
    if (!(interactions >= 1)) return [];
    const others = `t.owner = ? AND t.session <> ${SESSION_KEY} AND t.time <= ?`;
    const where = [this.#owner, session, until];
    const first = this.#placeOfQuery(others, where, interactions) ?? 0;
    const sql = `${SELECT_TURNS} WHERE ${others} AND t.key >= ? ORDER BY t.key`;
    return this.#database.all(sql, [...where, first], turnOf(this.#database.seal));
  }

  /** The place of one message of the user among these turns: 1 is the last, 2 the one before it; null: there are fewer. */
  #placeOfQuery(where: string, values: readonly (string | number)[], number: number): number | null {
    const sql = `SELECT t.key FROM turns t WHERE ${where} AND t.role = 'user' ORDER BY t.key DESC LIMIT 1 OFFSET ?`;
    const offset = Math.min(Math.floor(number), Number.MAX_SAFE_INTEGER) - 1;
    return this.#database.first(sql, [...values, offset], (row) => numberOf(row, 'key'));
  }

  /** The summary of the newest other session that has one, if it was made by then; null: it was not, or there is none. */
  summaryElsewhere(session: SessionId, until: number): Summary | null {
    const sql = `${SELECT_SUMMARIES} WHERE t.owner = ? AND t.session <> ${SESSION_KEY} ORDER BY t.session DESC LIMIT 1`;
    const newest = this.#database.first(sql, [this.#owner, session], summaryOf(this.#database.seal));
    return newest === null || newest.time > until ? null : newest;
  }

  /** The turns that the summary does not cover, oldest first: all of them where there is none. */
  open(session: SessionId): readonly OpenTurn[] {
    return this.#after(session, this.#covered(session));
  }

  #after(session: SessionId, place: number): readonly OpenTurn[] {
    const sql = `${SELECT_TURNS} WHERE t.owner = ? AND t.session = ${SESSION_KEY} AND t.key > ? ORDER BY t.key`;
    const turn = turnOf(this.#database.seal);
    return this.#database.all(sql, [this.#owner, session, place], (row) => ({
      ...turn(row),
      place: numberOf(row, 'key'),
    }));
  }

  /** Place of the last turn that the summary covers; 0: there is none. */
  #covered(session: SessionId): number {
    const sql = `SELECT through FROM summaries WHERE owner = ? AND session = ${SESSION_KEY}`;
    return this.#database.first(sql, [this.#owner, session], (row) => numberOf(row, 'through')) ?? 0;
  }

  summary(session: SessionId): Summary | null {
    const sql = `${SELECT_SUMMARIES} WHERE t.owner = ? AND s.id = ?`;
    return this.#database.first(sql, [this.#owner, session], summaryOf(this.#database.seal));
  }

  /** Replaces the last summary, which the new one contains. */
  summarise(session: SessionId, made: NewSummary): void {
    const row = {
      ...this.#begun(made),
      through: made.through,
      made_by: made.madeBy,
      others_values: Number(made.holdsOthersValues ?? false),
    };
    this.#database.write(() => {
      const held = this.#parts.sessions.require(session);
      this.#database.run('DELETE FROM summaries WHERE owner = ? AND session = ?', this.#owner, held.key);
      this.#insertText('summaries', held, row, made.text);
    });
  }

  /**
   * Keeps a fact; a newer value of the same name replaces the older one of the same kind, origin and integrity only. So
   * what an app says, or what untrusted text says, never takes the place of what the user said: both stand.
   */
  learn(name: string, value: string, provenance: Provenance, learnt: FactKind = 'stated'): void {
    const origin = provenance.origin === null ? '' : quoteText(provenance.origin);
    const row = { ...this.#begun(provenance), name, origin, learnt };
    this.#database.write(() => replaceFact(this.#database, row, value));
  }

  /** What every new row of memory begins with. */
  #begun({ source, label: { integrity, confidentiality } }: Omit<Provenance, 'origin'>) {
    const { randomId, now } = this.#parts;
    const named = { id: randomId(), owner: this.#owner, time: now() };
    return { ...named, source, integrity, confidentiality, corrected: 0 };
  }

  #insertText(table: 'turns' | 'summaries', { session, key }: StoredHead, row: Row, text: string): void {
    const place = placeOf(`${table}.text`, { ...row, session });
    const sealed = this.#database.seal.close(quoteText(text), place);
    this.#database.insert(table, { ...row, session: key, text: sealed });
  }

  /** All facts by name; of one name the user's and trusted ones first. */
  facts(): readonly MemoryFact[] {
    const sql = `${SELECT_FACTS} WHERE t.owner = ? ${FACT_ORDER}`;
    return byName(this.#database.all(sql, [this.#owner], factOf(this.#database.seal)));
  }

  /** Deletes what this app's outputs stated under this name. */
  forgetObserved(name: string, origin: AppId): void {
    const sql = "DELETE FROM facts WHERE owner = ? AND name = ? AND learnt = 'observed' AND origin = ?";
    const closed = this.#database.seal.closeAlike(
      quoteText(name),
      placeOf('facts.name', { owner: this.#owner }),
    );
    this.#database.write(() => {
      this.#database.run(sql, this.#owner, closed, quoteText(origin));
    });
  }

  /** Deletes what this app's outputs stated, but for the newest so many. */
  trimObserved(origin: AppId, most: number): void {
    const of = "FROM facts WHERE owner = ? AND learnt = 'observed' AND origin = ?";
    const sql = `DELETE ${of} AND key NOT IN (SELECT key ${of} ORDER BY key DESC LIMIT ?)`;
    const whose = [this.#owner, quoteText(origin)];
    this.#database.write(() => {
      this.#database.run(sql, ...whose, ...whose, most);
    });
  }
}

const SESSION_KEY = '(SELECT key FROM sessions WHERE id = ?)';
const SAID_BEFORE = `FROM turns WHERE source = ? AND owner = ? AND session = ${SESSION_KEY} AND role = ?`;

/** Of what one event led to. */
type EventProvenance = Provenance & { readonly source: EventId };
