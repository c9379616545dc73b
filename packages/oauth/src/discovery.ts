/**
 * Who issues tokens for an app: what the app's server says of itself (RFC 9728), and what the authorization server that it names
 * says of itself (RFC 8414, OpenID Connect Discovery).
 */
import { type Fault, failed, isThisMachine, ok, type Result } from '@cordon/core';
import type { AuthorizationServerMetadata } from '@modelcontextprotocol/client';
import { isSameSite, shownHost, usableUrl } from './addresses.ts';
import { attempted, fetchThrough, refusal, type Send } from './requests.ts';
import { scopeOf } from './scope.ts';
import { sdk } from './sdk.ts';

/** What an answer 401 or 403 asked for (RFC 6750, RFC 9728). */
export interface Challenge {
  readonly resourceMetadata: string | null;
  readonly scope: string | null;
  /** Whether the token that was shown lacks a scope. */
  readonly lacksScope: boolean;
}

/** Null: the server asks for no token of this kind. */
export async function challengeIn(response: Response): Promise<Challenge | null> {
  if (!/^(bearer|dpop)\b/i.test(response.headers.get('www-authenticate') ?? '')) return null;
  const { extractWWWAuthenticateParams } = await sdk();
  const { resourceMetadataUrl, scope, error } = extractWWWAuthenticateParams(response);
  return {
    resourceMetadata: resourceMetadataUrl?.href ?? null,
    scope: scopeOf(scope),
    lacksScope: error === 'insufficient_scope',
  };
}

/** Where the user of an app logs in. */
export interface Directions {
  /** The app's own address. */
  readonly url: URL;
  readonly issuer: string;
  /** Whether the user wrote the issuer. */
  readonly isNamed: boolean;
  /** What tokens are for. */
  readonly resource: string;
  /** What the app's server asks for; null: nothing in particular. */
  readonly scope: string | null;
}

/**
 * Asks the app's own server, and no other.
 * @param named the issuer that the user wrote; null: the first that the app's server names
 */
export async function directionsOf(
  app: URL,
  challenge: Challenge | null,
  named: string | null,
  send: Send,
): Promise<Result<Directions, Fault>> {
  const said = challenge?.resourceMetadata ?? null;
  // Attack: the app's server has Cordon ask a machine in the user's network.
  if (said !== null && new URL(said).origin !== app.origin)
    return failed(refusal(`the app keeps its metadata on another host, \`${shownHost(new URL(said))}\``));
  const { checkResourceAllowed, discoverOAuthProtectedResourceMetadata } = await sdk();
  const own = { url: app, isNamed: named !== null };
  let isAbsent = false;
  const metadata = await attempted('what the app says of its logins', () =>
    discoverOAuthProtectedResourceMetadata(
      app,
      said === null ? {} : { resourceMetadataUrl: said },
      async (...asked) => {
        const response = await fetchThrough(send)(...asked);
        isAbsent = response.status === 404;
        return response;
      },
    ),
  );
  // The first revision of MCP with logins: the app's own host issues the tokens.
  if (!metadata.ok && isAbsent)
    return ok({ ...own, issuer: named ?? app.origin, resource: app.href, scope: challenge?.scope ?? null });
  if (!metadata.ok) return metadata;
  const { resource, authorization_servers: servers = [], scopes_supported: scopes = [] } = metadata.value;
  // Attack: an app has the user get tokens for another app, and receives them.
  if (
    !URL.canParse(resource) ||
    !checkResourceAllowed({ requestedResource: app, configuredResource: resource })
  )
    return failed(refusal('the app asks for tokens of another address than its own'));
  if (!usableUrl(resource, '').ok)
    return failed(refusal('the app does not say properly what tokens are for'));
  const issuer = servers.find((server) => named === null || isSameIssuer(server, named));
  if (issuer === undefined) {
    const which = named === null ? 'an' : `\`${named}\` as its`;
    return failed(refusal(`the app does not name ${which} authorization server`, namesOf(servers)));
  }
  const usable = usableUrl(issuer, 'the authorization server');
  if (!usable.ok) return failed(refusal(usable.fault));
  return ok({ ...own, issuer, resource, scope: challenge?.scope ?? scopeOf(scopes.join(' ')) });
}

/** People leave out the slash at the end, or write it. */
export function isSameIssuer(one: string, other: string): boolean {
  return one.replace(/\/$/, '') === other.replace(/\/$/, '');
}

function namesOf(servers: readonly string[]): string | undefined {
  const usable = servers.filter((server) => usableUrl(server, '').ok).slice(0, 3);
  return usable.length === 0
    ? undefined
    : `it names \`${usable.map((server) => server.slice(0, 100)).join('`, `')}\``;
}

/** What Cordon needs of an authorization server. */
export interface AuthorizationServer {
  readonly issuer: string;
  readonly metadata: AuthorizationServerMetadata;
  readonly revocationEndpoint: string | null;
}

/** Asks the issuer. The user has agreed to it before. */
export async function authorizationServer(
  { issuer, isNamed }: Directions,
  send: Send,
): Promise<Result<AuthorizationServer, Fault>> {
  const url = usableUrl(issuer, 'the authorization server');
  if (!url.ok) return failed(refusal(url.fault));
  if (url.value.search !== '') return failed(refusal('the authorization server has a query in its name'));
  const { discoverAuthorizationServerMetadata } = await sdk();
  const found = await attempted('the metadata of the authorization server', () =>
    discoverAuthorizationServerMetadata(issuer, { fetchFn: fetchThrough(send) }),
  );
  if (!found.ok) return found;
  if (found.value === undefined)
    return failed(refusal(`\`${shownHost(url.value)}\` publishes no metadata of an authorization server`));
  const problem = problemOf(found.value, url.value, isNamed);
  if (problem !== null) return failed(problem);
  // OpenID Connect Discovery does not know it, and its servers name it all the same.
  const revocation: unknown = new Map(Object.entries(found.value)).get('revocation_endpoint');
  const revocationUrl = typeof revocation === 'string' ? usableUrl(revocation, '') : null;
  const isUsable =
    revocationUrl?.ok === true && (isNamed || !isElsewhereHere(revocationUrl.value, url.value));
  return ok({
    issuer: found.value.issuer,
    metadata: found.value,
    revocationEndpoint: isUsable ? revocationUrl.value.href : null,
  });
}

function problemOf(metadata: AuthorizationServerMetadata, issuer: URL, isNamed: boolean): Fault | null {
  const { authorization_endpoint, token_endpoint, registration_endpoint } = metadata;
  for (const [endpoint, what] of [
    [authorization_endpoint, 'the page for logging in'],
    [token_endpoint, 'the address for tokens'],
    [registration_endpoint, 'the address for registration'],
  ] as const) {
    const url = endpoint === undefined ? null : usableUrl(endpoint, what);
    if (url?.ok === false) return refusal(url.fault);
    // Attack: an app on this machine, whose host the user named, has Cordon speak to other programs there.
    if (url !== null && !isNamed && isElsewhereHere(url.value, issuer))
      return refusal(`${what} is another on this machine, \`${shownHost(url.value)}\``, nameIt(issuer));
  }
  // OAuth 2.1, and MCP: without PKCE whoever sees the code can use it.
  if (metadata.code_challenge_methods_supported?.includes('S256') !== true)
    return refusal(
      'the authorization server does not support PKCE with S256, without which a code can be stolen',
    );
  // Attack (mix-up): a hostile issuer sends the user to the page of an honest one, and has the code sent to itself.
  const page = new URL(authorization_endpoint);
  if (isNamed || isSameSite(page, issuer)) return null;
  return refusal(
    `\`${shownHost(issuer)}\` has you log in on another site, \`${shownHost(page)}\``,
    nameIt(issuer),
  );
}

/** On this machine, and at another address than the one that the user agreed to. */
function isElsewhereHere(url: URL, issuer: URL): boolean {
  return isThisMachine(url.hostname) && url.origin !== issuer.origin;
}

function nameIt(issuer: URL): string {
  return `if you trust \`${shownHost(issuer)}\`, name it: \`--issuer ${issuer.href.slice(0, 200)}\``;
}
