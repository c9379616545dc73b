/** The logins of the apps of one configuration, sealed in the store. */
import type { AppId, InstalledApp } from '@cordon/core';
import { type Login, loginText, readLogin } from '@cordon/oauth';
import type { Logins } from '@cordon/trace';

/** Whether the user wrote what the app is reached with, so that no login is used. */
export function hasOwnCredentials({ source }: InstalledApp): boolean {
  return (
    source.kind === 'url' &&
    Object.keys(source.headers).some((name) => name.toLowerCase() === 'authorization')
  );
}

export interface AppLoginsParts {
  readonly logins: Logins;
  /** The folder of the configuration: the same name in another folder is another app. */
  readonly place: string;
}

export class AppLogins {
  readonly #parts: AppLoginsParts;

  constructor(parts: AppLoginsParts) {
    this.#parts = parts;
  }

  /** Whether the store has the key that a login needs. */
  get canKeep(): boolean {
    return this.#parts.logins.canKeep;
  }

  /** Null: nobody is logged in to the app at this address. */
  find({ id, source }: Pick<InstalledApp, 'id' | 'source'>): (Login & { readonly since: number }) | null {
    const { logins, place } = this.#parts;
    const stored = source.kind === 'url' ? logins.find(place, id) : null;
    const login = stored === null ? null : readLogin(stored.secret);
    // Attack: the address of an app is changed, and its tokens go to another server.
    if (stored === null || login === null || source.kind !== 'url') return null;
    return login.url === new URL(source.url).href ? { ...login, since: stored.since } : null;
  }

  /** Where the user logged in to an app, also one that has another address now, or that is not there any more; null: nowhere. */
  addressOf(app: AppId): string | null {
    const stored = this.#parts.logins.find(this.#parts.place, app);
    return stored === null ? null : (readLogin(stored.secret)?.url ?? null);
  }

  put(app: AppId, login: Login): void {
    this.#parts.logins.put(this.#parts.place, app, loginText(login));
  }

  /** True: there was one, of whatever address. */
  remove(app: AppId): boolean {
    return this.#parts.logins.remove(this.#parts.place, app);
  }

  /** As of `Logins`. */
  claim(app: AppId, milliseconds: number): string | null {
    return this.#parts.logins.claim(this.#parts.place, app, milliseconds);
  }

  renew(app: AppId, claim: string, login: Login): boolean {
    return this.#parts.logins.renew(this.#parts.place, app, claim, loginText(login));
  }

  release(app: AppId, claim: string): void {
    this.#parts.logins.release(this.#parts.place, app, claim);
  }
}
