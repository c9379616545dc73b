/**
 * What the user agreed to of each app: its command and manifest, and what it says of itself, with the texts, so that
 * a difference can be shown. And which configuration files, found in a folder of somebody, may start programs.
 *
 * A pin is never changed: a new agreement is a new row, which replaces the old one.
 */
import { type AppId, canonicalJson, id, type Json, parseJson } from '@cordon/core';

import type { Database, TellBroken } from '../database/database.ts';
import type { StoreParts } from '../database/parts.ts';
import {
  MalformedRow,
  numberOf,
  quoteText,
  type Row,
  textOf,
  textOrNull,
  unquoteText,
  wordOf,
} from '../database/row.ts';
import type { RowTags } from '../database/row-tag.ts';

/** `user`: it was shown. `configuration`: its digest stands there. `option`: unseen, as the command line said. */
export type PinnedBy = 'user' | 'configuration' | 'option';

export interface PinText {
  /** Command and manifest, without values of secrets. */
  readonly configured: Json;
  /** What the app says of itself. */
  readonly description: Json;
  /** Of both, computed by the caller. */
  readonly digest: string;
}

export interface PinRequest extends PinText {
  /** The folder of the configuration. */
  readonly place: string;
  readonly app: AppId;
  readonly by: PinnedBy;
}

export interface Pin extends PinRequest {
  readonly pinnedAt: number;
  /** The first other text that the app said; it is stopped since then. Null: it is not. */
  readonly stopped: (PinText & { readonly at: number }) | null;
}

export class Pins {
  readonly #database: Database;
  readonly #tags: RowTags;
  readonly #now: () => number;

  constructor({ database, tags, now }: StoreParts) {
    this.#database = database;
    this.#tags = tags;
    this.#now = now;
  }

  /** The agreement in force, stopped or not; null: there is none. */
  find(place: string, app: AppId): Pin | null {
    const [pin = null] = this.#authentic('AND place = ? AND app = ?', [quoteText(place), app]);
    return pin;
  }

  /** All that are in force in a place, or everywhere; by app. */
  list(place: string | null = null, tell: TellBroken | null = null): readonly Pin[] {
    const quoted = place === null ? null : quoteText(place);
    return this.#authentic('AND (? IS NULL OR place = ?) ORDER BY app, key', [quoted, quoted], tell);
  }

  /** Only what was pinned with the key: any other row is no agreement, and the app counts as never seen. */
  #authentic(
    where: string,
    values: readonly (string | null)[],
    tell: TellBroken | null = null,
  ): readonly Pin[] {
    const pinIn = (row: Row) => (this.#tags.report('pins', row, tell) ? [pinOf(row)] : []);
    return this.#database.listed(`${SELECT} ${where}`, values, pinIn, tell).flat();
  }

  /** Replaces what was agreed to before. Ends a stop. */
  pin({ place, app, configured, description, digest, by }: PinRequest): void {
    this.#database.write(() => {
      const now = this.#now();
      this.#replace(place, app, now);
      this.#tags.insert('pins', {
        place: quoteText(place),
        app,
        configured: canonicalJson(configured),
        description: JSON.stringify(description),
        digest,
        given_by: by,
        pinned_at: now,
      });
    });
  }

  /** True: the app was not stopped before, and is now. The first difference is kept. A pin that was replaced meanwhile stays as it is. */
  stop({ place, app, digest }: Pick<Pin, 'place' | 'app' | 'digest'>, found: PinText): boolean {
    const sql = `UPDATE pins SET found_configured = ?, found_description = ?, found_digest = ?, stopped_at = ?
      WHERE key = ? AND digest = ? AND stopped_at IS NULL`;
    const texts = [canonicalJson(found.configured), JSON.stringify(found.description), found.digest];
    return this.#database.write(() => {
      const key = this.#inForce(place, app);
      return this.#tags.change('pins', key, sql, ...texts, this.#now(), key, digest) === 1;
    });
  }

  /** True: there was an agreement. From now on the app counts as never seen. */
  remove(place: string, app: AppId): boolean {
    return this.#database.write(() => this.#replace(place, app, this.#now()) > 0);
  }

  /** Whether the user has agreed to this very file, by its path and the digest of its bytes. */
  hasAgreedTo(file: string, digest: string): boolean {
    const sql = 'SELECT rowid AS rowid, digest FROM agreed_files WHERE file = ?';
    const agreed = this.#database.first(sql, [quoteText(file)], (row) =>
      this.#tags.isAuthentic('agreed_files', numberOf(row, 'rowid')) ? textOf(row, 'digest') : null,
    );
    return agreed === digest;
  }

  /** Whether the user has ever agreed to a file of this path. */
  knowsFile(file: string): boolean {
    const sql = 'SELECT digest FROM agreed_files WHERE file = ?';
    return this.#database.first(sql, [quoteText(file)], (row) => textOf(row, 'digest')) !== null;
  }

  /** The user agrees to this file, and no longer to what stood under this path before. */
  agreeTo(file: string, digest: string): void {
    this.#database.write(() => {
      this.#database.run('DELETE FROM agreed_files WHERE file = ?', quoteText(file));
      this.#tags.insert('agreed_files', { file: quoteText(file), digest, agreed_at: this.#now() });
    });
  }

  #replace(place: string, app: AppId, now: number): number {
    const key = this.#inForce(place, app);
    return this.#tags.change('pins', key, 'UPDATE pins SET replaced_at = ? WHERE key = ?', now, key);
  }

  /** The row that is in force, whether or not it counts as an agreement; null: there is none. */
  #inForce(place: string, app: AppId): number | null {
    const sql = 'SELECT key FROM pins WHERE place = ? AND app = ? AND replaced_at IS NULL';
    return this.#database.first(sql, [quoteText(place), app], (row) => numberOf(row, 'key'));
  }
}

const SELECT = `SELECT key, place, app, configured, description, digest, given_by, pinned_at, found_configured,
  found_description, found_digest, stopped_at FROM pins WHERE replaced_at IS NULL`;

function pinOf(row: Row): Pin {
  return {
    place: unquoteText(textOf(row, 'place')),
    app: id(textOf(row, 'app')),
    configured: jsonOf(row, 'configured'),
    description: jsonOf(row, 'description'),
    digest: textOf(row, 'digest'),
    by: wordOf(row, 'given_by', ['user', 'configuration', 'option']),
    pinnedAt: numberOf(row, 'pinned_at'),
    stopped: stoppedOf(row),
  };
}

function stoppedOf(row: Row): Pin['stopped'] {
  const digest = textOrNull(row, 'found_digest');
  if (digest === null) return null;
  return {
    configured: jsonOf(row, 'found_configured'),
    description: jsonOf(row, 'found_description'),
    digest,
    at: numberOf(row, 'stopped_at'),
  };
}

function jsonOf(row: Row, column: string): Json {
  const parsed = parseJson(textOf(row, column));
  if (!parsed.ok) throw new MalformedRow(`column \`${column}\` is not JSON`);
  return parsed.value;
}
