/**
 * From an authorization server to a login: the client becomes known there, the user's browser gets an address, and the code that
 * comes back is exchanged for tokens (OAuth 2.1 with PKCE, RFC 7591, RFC 8707, RFC 9207).
 */
import { type Fault, failed, ok, type Result } from '@cordon/core';
import type { OAuthClientInformationMixed, OAuthTokens } from '@modelcontextprotocol/client';
import type { AuthorizationServer, Directions } from './discovery.ts';
import { CLIENT_METHODS, type ClientMethod, type Login, type OAuthClient, type Tokens } from './login.ts';
import { attempted, fetchThrough, REGISTER_BY_HAND, refusal, type Send } from './requests.ts';
import { scopeOf, unionOf } from './scope.ts';
import { sdk } from './sdk.ts';

/** How the client becomes known, as far as the user said. */
export interface ClientWish {
  /** Registered by hand before; null: not. */
  readonly id: string | null;
  readonly secret: string | null;
  /** The address of a document that describes the client (Client ID Metadata Document); null: there is none. */
  readonly document: string | null;
}

/** A login that is under way. */
export interface Authorization {
  /** Where the user logs in. */
  readonly url: URL;
  /** What the answer of the authorization server gives back. */
  readonly state: string;
  readonly directions: Directions;
  readonly server: AuthorizationServer;
  readonly client: OAuthClient;
  readonly verifier: string;
  readonly redirectUrl: string;
  readonly scope: string | null;
}

export interface AuthorizationWish {
  readonly client: ClientWish;
  readonly redirectUrl: string;
  /** What the user is to grant; null: whatever the server gives unasked. */
  readonly scope: string | null;
  /** Unguessable. */
  readonly state: string;
}

/** Makes the client known, and the address for the user's browser. */
export async function beginAuthorization(
  directions: Directions,
  server: AuthorizationServer,
  { client: wish, redirectUrl, scope: wanted, state }: AuthorizationWish,
  send: Send,
): Promise<Result<Authorization, Fault>> {
  const scope = withRenewal(wanted, server);
  const client = await knownClient(server, wish, redirectUrl, scope, send);
  if (!client.ok) return client;
  const { startAuthorization } = await sdk();
  const { metadata, issuer } = server;
  const started = await attempted('the page for logging in', () =>
    startAuthorization(issuer, {
      metadata,
      clientInformation: informationOf(client.value),
      redirectUrl,
      state,
      resource: directions.resource,
      ...(scope === null ? {} : { scope }),
    }),
  );
  if (!started.ok) return started;
  const { authorizationUrl: url, codeVerifier: verifier } = started.value;
  return ok({ url, state, directions, server, client: client.value, verifier, redirectUrl, scope });
}

/** A server that gives refresh tokens for a scope of that name gets asked for it. */
function withRenewal(wanted: string | null, { metadata }: AuthorizationServer): string | null {
  const isKnown = metadata.scopes_supported?.includes('offline_access') === true;
  return wanted === null || !isKnown ? wanted : unionOf(wanted, 'offline_access');
}

async function knownClient(
  { metadata, issuer }: AuthorizationServer,
  { id, secret, document }: ClientWish,
  redirectUrl: string,
  scope: string | null,
  send: Send,
): Promise<Result<OAuthClient, Fault>> {
  if (id !== null)
    return clientOf({ client_id: id, ...(secret === null ? {} : { client_secret: secret }) }, metadata);
  const { client_id_metadata_document_supported: takesDocuments } = metadata;
  if (document !== null && takesDocuments === true) return ok({ id: document, secret: null, method: 'none' });
  if (metadata.registration_endpoint === undefined)
    return failed(refusal('the authorization server lets no client register itself', REGISTER_BY_HAND));
  const { registerClient } = await sdk();
  const method = methodToRegister(metadata.token_endpoint_auth_methods_supported);
  const registered = await attempted('the registration of Cordon', () =>
    registerClient(issuer, {
      metadata,
      clientMetadata: {
        client_name: 'Cordon',
        redirect_uris: [redirectUrl],
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        application_type: 'native',
        ...(method === null ? {} : { token_endpoint_auth_method: method }),
      },
      ...(scope === null ? {} : { scope }),
      fetchFn: fetchThrough(send),
    }),
  );
  return registered.ok ? clientOf(registered.value, metadata) : registered;
}

/** Null: the server's own default. A client on the user's machine keeps no secret where it need not. */
function methodToRegister(supported: readonly string[] | undefined): ClientMethod | null {
  if (supported === undefined) return null;
  return (
    (['none', 'client_secret_basic', 'client_secret_post'] as const).find((method) =>
      supported.includes(method),
    ) ?? null
  );
}

async function clientOf(
  information: OAuthClientInformationMixed,
  { token_endpoint_auth_methods_supported: supported = [] }: AuthorizationServer['metadata'],
): Promise<Result<OAuthClient, Fault>> {
  const { client_id: id, client_secret: secret = null } = information;
  const { selectClientAuthMethod } = await sdk();
  const method = CLIENT_METHODS.find((known) => known === selectClientAuthMethod(information, supported));
  if (method === undefined || (method !== 'none' && secret === null))
    return failed(
      refusal(
        'the authorization server wants a secret of its clients',
        'pass `--client-id` and `--client-secret-file`',
      ),
    );
  return ok({ id, secret, method });
}

export function informationOf({ id, secret, method }: OAuthClient): OAuthClientInformationMixed {
  return {
    client_id: id,
    ...(secret === null ? {} : { client_secret: secret }),
    // Not in the type of what a server answers, but read from it.
    ...{ token_endpoint_auth_method: method },
  };
}

/**
 * Exchanges the code of the redirect for tokens. The state is compared before anything else is read, and the issuer before the
 * code is shown to anybody.
 * @param answer the query of the redirect
 */
export async function finishAuthorization(
  authorization: Authorization,
  answer: URLSearchParams,
  send: Send,
  now: number,
): Promise<Result<Login, Fault>> {
  const { directions, server, client, verifier, redirectUrl, scope } = authorization;
  if (answer.get('state') !== authorization.state)
    return failed(refusal('the answer belongs to another login'));
  const { exchangeAuthorization, validateAuthorizationResponseIssuer } = await sdk();
  const iss = answer.get('iss') ?? undefined;
  const { metadata, issuer, revocationEndpoint } = server;
  const issued = await attempted('the answer to the login', () => {
    const issParameterSupported = metadata.authorization_response_iss_parameter_supported === true;
    validateAuthorizationResponseIssuer({ iss, expectedIssuer: issuer, issParameterSupported });
    return Promise.resolve();
  });
  if (!issued.ok) return issued;
  const code = answer.get('code');
  if (code === null) return failed(deniedBy(answer.get('error')));
  const tokens = await attempted('the exchange of the code', () =>
    exchangeAuthorization(issuer, {
      metadata,
      clientInformation: informationOf(client),
      authorizationCode: code,
      ...(iss === undefined ? {} : { iss }),
      codeVerifier: verifier,
      redirectUri: redirectUrl,
      resource: directions.resource,
      fetchFn: fetchThrough(send),
    }),
  );
  if (!tokens.ok) return tokens;
  const read = readTokens(tokens.value, scope, now);
  if (!read.ok) return read;
  return ok({
    url: directions.url.href,
    resource: directions.resource,
    issuer,
    isNamed: directions.isNamed,
    tokenEndpoint: metadata.token_endpoint,
    revocationEndpoint,
    client,
    tokens: read.value,
  });
}

function deniedBy(error: string | null): Fault {
  if (error === 'access_denied')
    return refusal('the login was denied on the page of the authorization server');
  const shown = /^[a-z_]{1,40}$/.test(error ?? '') ? `: ${error}` : '';
  return refusal(`the authorization server gave no code${shown}`);
}

const LONGEST_TOKEN = 16_384;

/** @param asked what the tokens were asked for: a server that gives just that need not say so */
export function readTokens(said: OAuthTokens, asked: string | null, now: number): Result<Tokens, Fault> {
  const { access_token: access, refresh_token: refresh = null, token_type, expires_in, scope } = said;
  if (token_type.toLowerCase() !== 'bearer')
    return failed(
      refusal('the authorization server gave tokens that Cordon cannot use (not of the type Bearer)'),
    );
  // Attack: a token with a line break in it adds a header to every request.
  if (
    ![access, refresh ?? 'none'].every(
      (token) => token.length <= LONGEST_TOKEN && /^[\x21-\x7e]+$/.test(token),
    )
  )
    return failed(
      refusal(
        'the authorization server gave a token that Cordon cannot use (it is too long, or has characters that no header may have)',
      ),
    );
  const endsAt = expires_in === undefined || !Number.isFinite(expires_in) ? null : now + expires_in * 1_000;
  return ok({ access, refresh, endsAt, scope: scopeOf(scope) ?? asked });
}
