/**
 * Memory: what was said (history, by session) and what was learnt (facts, over all sessions), for the system and
 * for each spoke (paper, Appendix A-C). A `Memory` is bound to its owner when it is made; no argument of any of its
 * operations can name another owner's rows.
 *
 * Ring 0.
 */

import type { SQLInputValue } from 'node:sqlite';
import { type AppId, type EventId, id, type Label, type SessionId } from '@cordon/core';

import type { Database } from './database.ts';
import { numberOf, quoteText, type Row, textOf, textOrNull, unquoteText, wordOf } from './row.ts';
import type { Sessions } from './session.ts';

/** `vanilla`: the contexts without app. `shared`: the one context of `--isolation none`. `spoke`: those of an app. */
export type MemoryOwner =
  | { readonly kind: 'system' | 'vanilla' | 'shared' }
  | { readonly kind: 'spoke'; readonly app: AppId };

/** Where something comes from. */
export interface Provenance {
  /** The app whose words it is or in whose context it was learnt; null: the user or the hub. */
  readonly origin: AppId | null;
  /** The event that carried it; null: none. */
  readonly source: EventId | null;
  readonly label: Label;
}

export type TurnRole = 'user' | 'assistant' | 'tool';

export interface Turn extends Provenance {
  readonly session: SessionId;
  readonly role: TurnRole;
  readonly text: string;
  /** Milliseconds since the epoch. */
  readonly time: number;
}

export interface MemoryFact extends Provenance {
  readonly name: string;
  readonly value: string;
  /** When it was last learnt. */
  readonly time: number;
}

export interface MemoryOptions {
  readonly database: Database;
  readonly sessions: Sessions;
  readonly now: () => number;
}

export class Memory {
  readonly #database: Database;
  readonly #options: MemoryOptions;
  readonly #owner: string;

  constructor(owner: MemoryOwner, options: MemoryOptions) {
    this.#owner = ownerText(owner);
    this.#options = options;
    this.#database = options.database;
  }

  /** Adds to the history of a session that this process holds. */
  record(session: SessionId, role: TurnRole, text: string, provenance: Provenance): void {
    this.#database.write(() => {
      const { key } = this.#options.sessions.require(session);
      this.#database.run(
        `INSERT INTO turns (owner, session, role, text, origin, source, integrity, confidentiality, time)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
        this.#owner,
        key,
        role,
        quoteText(text),
        provenance.origin === null ? null : quoteText(provenance.origin),
        provenance.source,
        provenance.label.integrity,
        provenance.label.confidentiality,
        this.#options.now(),
      );
    });
  }

  /** What was said in this session, oldest first. */
  history(session: SessionId): readonly Turn[] {
    return this.#database.all(`${SELECT_TURNS} ORDER BY t.key`, [this.#owner, session], turnOf);
  }

  /** Working memory: the last `interactions` messages of the user with all that followed each, oldest first. */
  recent(session: SessionId, interactions: number): readonly Turn[] {
    if (!(interactions >= 1)) return [];
    const first = `SELECT u.key FROM turns u WHERE u.owner = t.owner AND u.session = t.session AND u.role = 'user'
      ORDER BY u.key DESC LIMIT 1 OFFSET ?`;
    const sql = `${SELECT_TURNS} AND t.key >= coalesce((${first}), 0) ORDER BY t.key`;
    return this.#database.all(
      sql,
      [this.#owner, session, Math.min(Math.floor(interactions), Number.MAX_SAFE_INTEGER) - 1],
      turnOf,
    );
  }

  /**
   * Keeps a fact; a newer value of the same name replaces the older one of the same origin and integrity only. So
   * what an app says, or what untrusted text says, never takes the place of what the user said: both stand.
   */
  learn(name: string, value: string, provenance: Provenance): void {
    const values: readonly SQLInputValue[] = [
      this.#owner,
      quoteText(name),
      quoteText(value),
      provenance.origin === null ? '' : quoteText(provenance.origin),
      provenance.source,
      provenance.label.integrity,
      provenance.label.confidentiality,
      this.#options.now(),
    ];
    this.#database.write(() => {
      this.#database.run(
        `INSERT INTO facts (owner, name, value, origin, source, integrity, confidentiality, time)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?)
         ON CONFLICT (owner, name, origin, integrity) DO UPDATE SET value = excluded.value, source = excluded.source,
           confidentiality = excluded.confidentiality, time = excluded.time`,
        ...values,
      );
    });
  }

  /** All facts by name; of one name the user's and trusted ones first. */
  facts(): readonly MemoryFact[] {
    return this.#database.all(`${SELECT_FACTS} WHERE owner = ? ${FACT_ORDER}`, [this.#owner], factOf);
  }

  /** All that is known under a name, the user's and trusted ones first. */
  factsNamed(name: string): readonly MemoryFact[] {
    const sql = `${SELECT_FACTS} WHERE owner = ? AND name = ? ${FACT_ORDER}`;
    return this.#database.all(sql, [this.#owner, quoteText(name)], factOf);
  }

  /** Deletes every fact of this name, whatever its origin; returns how many there were. */
  forget(name: string): number {
    return this.#database.write(() =>
      this.#database.run('DELETE FROM facts WHERE owner = ? AND name = ?', this.#owner, quoteText(name)),
    );
  }

  /** Deletes the history of one session; returns how many turns there were. */
  forgetSession(session: SessionId): number {
    const sql = 'DELETE FROM turns WHERE owner = ? AND session = (SELECT key FROM sessions WHERE id = ?)';
    return this.#database.write(() => this.#database.run(sql, this.#owner, session));
  }
}

/** The owners that have anything, for the user to see; apps last. */
export function memoryOwners(database: Database): readonly MemoryOwner[] {
  const apps = 'substr(owner, 1, 1) = char(34)';
  const sql = `SELECT owner FROM (SELECT owner FROM turns UNION SELECT owner FROM facts) ORDER BY ${apps}, owner`;
  return database.all(sql, [], (row): MemoryOwner => {
    const owner = textOf(row, 'owner');
    const kind = WITHOUT_APP.find((candidate) => candidate === owner);
    return kind === undefined ? { kind: 'spoke', app: id(unquoteText(owner)) } : { kind };
  });
}

const WITHOUT_APP = ['system', 'vanilla', 'shared'] as const;

/** An app's is quoted, so no name of an app is one of the words. */
function ownerText(owner: MemoryOwner): string {
  switch (owner.kind) {
    case 'system':
    case 'vanilla':
    case 'shared':
      return owner.kind;
    case 'spoke':
      return quoteText(owner.app);
  }
}

const SELECT_TURNS = `SELECT s.id AS session, t.role, t.text, t.origin, t.source, t.integrity, t.confidentiality, t.time
  FROM turns t JOIN sessions s ON s.key = t.session WHERE t.owner = ? AND s.id = ?`;
const SELECT_FACTS = 'SELECT name, value, origin, source, integrity, confidentiality, time FROM facts';
const FACT_ORDER = 'ORDER BY name, origin, integrity';

function turnOf(row: Row): Turn {
  const origin = textOrNull(row, 'origin');
  return {
    session: id(textOf(row, 'session')),
    role: wordOf(row, 'role', ['user', 'assistant', 'tool']),
    text: unquoteText(textOf(row, 'text')),
    origin: origin === null ? null : id(unquoteText(origin)),
    ...sourceAndLabel(row),
    time: numberOf(row, 'time'),
  };
}

function factOf(row: Row): MemoryFact {
  const origin = textOf(row, 'origin');
  return {
    name: unquoteText(textOf(row, 'name')),
    value: unquoteText(textOf(row, 'value')),
    origin: origin === '' ? null : id(unquoteText(origin)),
    ...sourceAndLabel(row),
    time: numberOf(row, 'time'),
  };
}

function sourceAndLabel(row: Row): Omit<Provenance, 'origin'> {
  const source = textOrNull(row, 'source');
  return {
    source: source === null ? null : id(source),
    label: {
      integrity: wordOf(row, 'integrity', ['trusted', 'untrusted']),
      confidentiality: wordOf(row, 'confidentiality', ['public', 'private']),
    },
  };
}
