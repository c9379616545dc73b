/** What happens to tokens later: new ones replace those that ended (RFC 6749, 6), or they are revoked (RFC 7009). */
import { type Fault, failed, ok, type Result } from '@cordon/core';
import { informationOf, readTokens } from './authorization.ts';
import type { Login } from './login.ts';
import { attempted, fetchThrough, type Refusal, refusal, type Send } from './requests.ts';
import { sdk } from './sdk.ts';

/** Asks the authorization server that issued the login, and no other: nothing is discovered again. */
export async function renewed(login: Login, send: Send, now: number): Promise<Result<Login, Fault>> {
  const { issuer, tokenEndpoint, client, resource, tokens } = login;
  const { refresh } = tokens;
  if (refresh === null) return failed(refusal('the login has ended'));
  const { refreshAuthorization } = await sdk();
  const answered = await attempted('the renewal of the login', () =>
    refreshAuthorization(issuer, {
      metadata: {
        issuer,
        token_endpoint: tokenEndpoint,
        authorization_endpoint: tokenEndpoint,
        response_types_supported: ['code'],
      },
      clientInformation: informationOf(client),
      refreshToken: refresh,
      resource,
      fetchFn: fetchThrough(send),
    }),
  );
  if (!answered.ok) return answered;
  const read = readTokens(answered.value, tokens.scope, now);
  return read.ok ? ok({ ...login, tokens: read.value }) : read;
}

/** Whether the authorization server said that this login renews nothing any more. */
export function hasEnded(fault: Refusal): boolean {
  return (
    fault.code === 'invalid_grant' || fault.code === 'invalid_client' || fault.code === 'unauthorized_client'
  );
}

/** Has the authorization server forget the tokens. The refresh token first: with it all others usually go. */
export async function revoked(login: Login, send: Send): Promise<Result<'revoked' | 'not-offered', Fault>> {
  const { revocationEndpoint, tokens } = login;
  if (revocationEndpoint === null) return ok('not-offered');
  const all = [
    ...(tokens.refresh === null ? [] : [{ token: tokens.refresh, hint: 'refresh_token' }]),
    { token: tokens.access, hint: 'access_token' },
  ];
  for (const { token, hint } of all) {
    const answered = await send({
      url: new URL(revocationEndpoint),
      method: 'POST',
      ...revocationOf(login, token, hint),
    });
    if (!answered.ok) return answered;
    if (!answered.value.ok) return failed(refusal(`the revocation was refused (${answered.value.status})`));
  }
  return ok('revoked');
}

function revocationOf({ client }: Login, token: string, hint: string) {
  const { id, secret, method } = client;
  const body = new URLSearchParams({ token, token_type_hint: hint });
  const headers = { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' };
  if (method === 'client_secret_basic')
    return {
      headers: { ...headers, authorization: `Basic ${btoa(`${id}:${secret}`)}` },
      body: body.toString(),
    };
  body.set('client_id', id);
  if (method === 'client_secret_post') body.set('client_secret', secret ?? '');
  return { headers, body: body.toString() };
}
