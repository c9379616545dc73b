/**
 * Logins: what an app that runs elsewhere is reached with, its tokens among it, as one sealed text for each app of a place. A
 * store without a key keeps none.
 */
import { type AppId, id } from '@cordon/core';
import type { Database } from '../database/database.ts';
import type { StoreParts } from '../database/parts.ts';
import { numberOf, quoteText, type Row, textOf, unquoteText } from '../database/row.ts';
import { placeOf } from '../database/sealed-column.ts';

export interface StoredLogin {
  /** Whatever the keeper of the login wrote. */
  readonly secret: string;
  /** When the user logged in. Milliseconds since the epoch. */
  readonly since: number;
}

export class Logins {
  readonly #database: Database;
  readonly #now: () => number;
  readonly #randomId: () => string;

  constructor({ database, now, randomId }: StoreParts) {
    this.#database = database;
    this.#now = now;
    this.#randomId = randomId;
  }

  /** Whether the store has the key without which it keeps no login. */
  get canKeep(): boolean {
    return this.#database.seal.mark !== '';
  }

  find(place: string, app: AppId): StoredLogin | null {
    const sql = 'SELECT place, app, secret, since FROM logins WHERE place = ? AND app = ?';
    return this.#database.first(sql, [quoteText(place), app], (row) => ({
      secret: unquoteText(this.#database.seal.open(textOf(row, 'secret'), placeOf('logins.secret', row))),
      since: numberOf(row, 'since'),
    }));
  }

  /** All apps of all places with a login. */
  list(): readonly { readonly place: string; readonly app: AppId }[] {
    return this.#database.all('SELECT place, app FROM logins ORDER BY key', [], (row) => ({
      place: unquoteText(textOf(row, 'place')),
      app: id<'app'>(textOf(row, 'app')),
    }));
  }

  /** Replaces the login that was there, and ends a claim on it. */
  put(place: string, app: AppId, secret: string): void {
    if (!this.canKeep) throw new Error('a store without a key keeps no login');
    const row = { place: quoteText(place), app };
    this.#database.write(() => {
      this.remove(place, app);
      this.#database.insert('logins', { ...row, secret: this.#closed(row, secret), since: this.#now() });
    });
  }

  /**
   * Who may renew the login: one caller of all processes at a time, until it has or its time is over. Null: another has the
   * claim, or there is no login. A claim that ends after twice the time was made before the clock was put back, and is over: a clock
   * that is only adjusted lets nobody renew twice.
   */
  claim(place: string, app: AppId, milliseconds: number): string | null {
    const now = this.#now();
    const claim = this.#randomId();
    const sql = `UPDATE logins SET claimed_by = ?, claimed_until = ?
      WHERE place = ? AND app = ? AND (claimed_until IS NULL OR claimed_until <= ? OR claimed_until > ?)`;
    const until = now + milliseconds;
    const changed = this.#database.write(() =>
      this.#database.run(sql, claim, until, quoteText(place), app, now, until + milliseconds),
    );
    return changed === 1 ? claim : null;
  }

  /** Ends the claim. False: the login was removed or replaced since, or somebody else has the claim, and nothing changes. */
  renew(place: string, app: AppId, claim: string, secret: string): boolean {
    const row = { place: quoteText(place), app };
    const sql = `UPDATE logins SET secret = ?, claimed_by = NULL, claimed_until = NULL
      WHERE place = ? AND app = ? AND claimed_by = ?`;
    const changed = this.#database.write(() =>
      this.#database.run(sql, this.#closed(row, secret), row.place, app, claim),
    );
    return changed === 1;
  }

  /** Ends the claim, and leaves the login as it is. */
  release(place: string, app: AppId, claim: string): void {
    const sql = `UPDATE logins SET claimed_by = NULL, claimed_until = NULL
      WHERE place = ? AND app = ? AND claimed_by = ?`;
    this.#database.write(() => this.#database.run(sql, quoteText(place), app, claim));
  }

  /** True: there was one. */
  remove(place: string, app: AppId): boolean {
    const sql = 'DELETE FROM logins WHERE place = ? AND app = ?';
    return this.#database.write(() => this.#database.run(sql, quoteText(place), app)) === 1;
  }

  #closed(row: Row, secret: string): string {
    return this.#database.seal.close(quoteText(secret), placeOf('logins.secret', row));
  }
}
