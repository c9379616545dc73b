/**
 * The access token of one app, and its renewal. However many requests, sessions and processes need another token, only one of them
 * renews it: a server that sees a refresh token twice may end the login.
 */
import { type Clock, type Fault, failed, fault, type InstalledApp, ok, type Result } from '@cordon/core';
import { hasEnded, type Login, renewed, type Send } from '@cordon/oauth';
import type { AppLogins } from './app-logins.ts';

export interface AppTokensParts {
  readonly app: InstalledApp;
  readonly logins: AppLogins;
  /** Requests to where the login came from. */
  readonly send: (login: Login) => Send;
  readonly now: Clock;
  readonly pause: (milliseconds: number) => Promise<void>;
}

/** A token that ends while its request is on the way. */
const EARLY_MS = 5_000;
/** Longer than a renewal may take. */
const CLAIM_MS = 60_000;
const LOOK_MS = 50;

export class AppTokens {
  readonly #parts: AppTokensParts;
  #renewing: Promise<Result<string | null, Fault>> | null = null;

  constructor(parts: AppTokensParts) {
    this.#parts = parts;
  }

  /** What to show the app's server; null: nobody is logged in. */
  async current(): Promise<Result<string | null, Fault>> {
    const login = this.#parts.logins.find(this.#parts.app);
    if (login === null) return ok(null);
    const { access, endsAt, refresh } = login.tokens;
    const isOver = endsAt !== null && endsAt <= this.#parts.now() + EARLY_MS;
    return isOver && refresh !== null ? this.insteadOf(access) : ok(access);
  }

  /** A token to replace one that has ended, or that the app's server refused. */
  insteadOf(refused: string): Promise<Result<string | null, Fault>> {
    this.#renewing ??= this.#renewed(refused).finally(() => {
      this.#renewing = null;
    });
    return this.#renewing;
  }

  async #renewed(refused: string): Promise<Result<string | null, Fault>> {
    const { app, logins, pause } = this.#parts;
    for (;;) {
      const login = logins.find(app);
      if (login === null) return ok(null);
      // Another process got it.
      if (login.tokens.access !== refused) return ok(login.tokens.access);
      if (login.tokens.refresh === null) return failed(this.#ended());
      const claim = logins.claim(app.id, CLAIM_MS);
      if (claim !== null) {
        const settled = await this.#renewedWith(claim, refused);
        if (settled !== null) return settled;
      } else await pause(LOOK_MS);
    }
  }

  /** Null: the login is another by now, or gone. */
  async #renewedWith(claim: string, refused: string): Promise<Result<string | null, Fault> | null> {
    const { app, logins, send, now } = this.#parts;
    try {
      const login = logins.find(app);
      if (login === null || login.tokens.access !== refused) return null;
      const { since: _, ...kept } = login;
      const answered = await renewed(kept, send(kept), now());
      if (!answered.ok) return failed(hasEnded(answered.fault) ? this.#ended() : answered.fault);
      return logins.renew(app.id, claim, answered.value) ? ok(answered.value.tokens.access) : null;
    } finally {
      logins.release(app.id, claim);
    }
  }

  #ended(): Fault {
    const { id } = this.#parts.app;
    return fault(
      'app-unavailable',
      `your login to \`${id}\` has ended`,
      `log in again: \`cordon apps login ${id}\``,
    );
  }
}
