/**
 * A login: the tokens of one user for one app that runs elsewhere, bound to the server that issued them and to the address that
 * they are for. It stands sealed in the store and nowhere else.
 */
import { isJsonObject, type Json, parseJson } from '@cordon/core';

export const CLIENT_METHODS = ['client_secret_basic', 'client_secret_post', 'none'] as const;
/** How the client shows who it is. */
export type ClientMethod = (typeof CLIENT_METHODS)[number];

/** How the authorization server knows Cordon. Known to this server alone. */
export interface OAuthClient {
  readonly id: string;
  readonly secret: string | null;
  readonly method: ClientMethod;
}

export interface Tokens {
  readonly access: string;
  /** Null: the server gave none, and the user has to log in again when the access token ends. */
  readonly refresh: string | null;
  /** When the access token ends, as far as the server said so. Milliseconds since the epoch. */
  readonly endsAt: number | null;
  /** What the user granted, in the server's words; null: the server did not say. */
  readonly scope: string | null;
}

export interface Login {
  /** The `url` of the app: with another one it is another app, and the login is not used. */
  readonly url: string;
  /** What the tokens are for, as the app's server names itself. */
  readonly resource: string;
  /** Who issued the tokens. The user agreed to it. */
  readonly issuer: string;
  /** Whether the user wrote the issuer: only then may it have a private address. */
  readonly isNamed: boolean;
  readonly tokenEndpoint: string;
  /** Null: tokens cannot be revoked there. */
  readonly revocationEndpoint: string | null;
  readonly client: OAuthClient;
  readonly tokens: Tokens;
}

export function loginText(login: Login): string {
  return JSON.stringify(login);
}

/** Null: it is none, for example of another version. */
export function readLogin(text: string): Login | null {
  const parsed = parseJson(text);
  if (!parsed.ok || !isJsonObject(parsed.value)) return null;
  const { url, resource, issuer, isNamed, tokenEndpoint, revocationEndpoint } = parsed.value;
  const [client, tokens] = [readClient(parsed.value.client), readTokens(parsed.value.tokens)];
  if (!isText(url) || !isText(resource) || !isText(issuer) || !isText(tokenEndpoint)) return null;
  if (typeof isNamed !== 'boolean' || !isTextOrNull(revocationEndpoint)) return null;
  if (client === null || tokens === null) return null;
  return { url, resource, issuer, isNamed, tokenEndpoint, revocationEndpoint, client, tokens };
}

function readClient(value: Json | undefined): OAuthClient | null {
  if (!isJsonObject(value)) return null;
  const { id, secret } = value;
  const method = CLIENT_METHODS.find((known) => known === value.method);
  return isText(id) && isTextOrNull(secret) && method !== undefined ? { id, secret, method } : null;
}

function readTokens(value: Json | undefined): Tokens | null {
  if (!isJsonObject(value)) return null;
  const { access, refresh, endsAt, scope } = value;
  if (!isText(access) || !isTextOrNull(refresh) || !isTextOrNull(scope)) return null;
  return endsAt === null || typeof endsAt === 'number' ? { access, refresh, endsAt, scope } : null;
}

function isText(value: Json | undefined): value is string {
  return typeof value === 'string';
}

function isTextOrNull(value: Json | undefined): value is string | null {
  return value === null || isText(value);
}
