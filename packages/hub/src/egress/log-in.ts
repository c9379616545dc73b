/**
 * Logs the user in to an app that runs elsewhere. The app's own server says who issues its tokens; no other server gets a
 * request before the user has agreed to that issuer.
 */
import { type Clock, type Fault, failed, fault, type InstalledApp, ok, type Result } from '@cordon/core';
import {
  authorizationServer,
  beginAuthorization,
  type Challenge,
  type ClientWish,
  type Directions,
  directionsOf,
  finishAuthorization,
  isSameIssuer,
  type Login,
  revoked,
  type Send,
  scopeOf,
  unionOf,
  usableUrl,
} from '@cordon/oauth';
import { type AppLogins, hasOwnCredentials } from './app-logins.ts';

/** What the user said of a login beforehand. */
export interface LoginWish {
  /** The issuer, where the user wrote it; null: whoever the app's server names. */
  readonly issuer: string | null;
  /** Scopes besides those that the app's server asks for, and that were granted before. */
  readonly scope: string | null;
  readonly client: ClientWish;
}

/** Where the user is about to log in, and what they are about to grant: with what they granted there before. */
export interface LoginPlace extends Directions {
  readonly app: InstalledApp;
  /** The issuer of the login that is there; null: there is none. */
  readonly before: string | null;
}

/** Whoever stands between a login and the user. */
export interface LoginSteps {
  /** Shows where the user is about to log in. What does not answer, declines. */
  agrees(place: LoginPlace): Promise<boolean>;
  /** Where the authorization server sends the browser back to. */
  readonly redirectUrl: string;
  /** Has the user open the address, and waits for the query with which the browser comes back. */
  answerTo(url: URL, state: string): Promise<Result<URLSearchParams, Fault>>;
}

export interface LogInParts {
  readonly logins: AppLogins;
  /** Reaches the app without a token: what its server asks for then. */
  readonly challengeOf: (app: InstalledApp) => Promise<Result<Challenge | null, Fault>>;
  readonly send: (app: InstalledApp, issuer: string | null) => Send;
  readonly random: () => string;
  readonly now: Clock;
}

/** Null: the user did not agree. */
export async function logIn(
  { logins, challengeOf, send, random, now }: LogInParts,
  app: InstalledApp,
  wish: LoginWish,
  steps: LoginSteps,
): Promise<Result<Login | null, Fault>> {
  const address = addressFor(app, logins);
  if (!address.ok) return address;
  if (wish.scope !== null && scopeOf(wish.scope) === null) return failed(NO_SCOPE);
  const challenge = await challengeOf(app);
  if (!challenge.ok) return challenge;
  const request = send(app, wish.issuer);
  const directions = await directionsOf(address.value, challenge.value, wish.issuer, request);
  if (!directions.ok) return stopped(app, directions.fault);
  const before = logins.find(app);
  // Scopes are words of the issuer that granted them.
  const granted =
    before !== null && isSameIssuer(before.issuer, directions.value.issuer) ? before.tokens.scope : null;
  const scopes = [directions.value.scope, granted, wish.scope];
  const scope = unionOf(...scopes);
  // Else it would ask for whatever the server gives unasked.
  if (scope === null && scopes.some((each) => each !== null)) return stopped(app, TOO_MANY_SCOPES);
  if (!(await steps.agrees({ ...directions.value, app, scope, before: before?.issuer ?? null })))
    return ok(null);
  const server = await authorizationServer(directions.value, request);
  if (!server.ok) return stopped(app, server.fault);
  const begun = await beginAuthorization(
    directions.value,
    server.value,
    {
      client: wish.client,
      redirectUrl: steps.redirectUrl,
      scope,
      state: `${random()}${random()}`,
    },
    request,
  );
  if (!begun.ok) return stopped(app, begun.fault);
  const answer = await steps.answerTo(begun.value.url, begun.value.state);
  if (!answer.ok) return answer;
  const login = await finishAuthorization(begun.value, answer.value, request, now());
  if (!login.ok) return stopped(app, login.fault);
  logins.put(app.id, login.value);
  return login;
}

/** Null: there was no login. The tokens are gone here whatever the authorization server says. */
export async function logOut(
  { logins, send }: Pick<LogInParts, 'logins' | 'send'>,
  app: InstalledApp,
): Promise<Result<'revoked' | 'not-offered', Fault> | null> {
  const login = logins.find(app);
  const isRemoved = logins.remove(app.id);
  if (login === null) return isRemoved ? failed(ELSEWHERE) : null;
  return revoked(login, send(app, login.isNamed ? login.issuer : null));
}

const NO_SCOPE = fault('usage', '`--scope` is no scope', 'write words with a space between them, in quotes');
const TOO_MANY_SCOPES = fault(
  'app-unavailable',
  'the app wants more scopes than one login can have',
  'log out first: what was granted before is asked for again',
);
const ELSEWHERE = fault('app-unavailable', 'you had logged in at another address than the app has now');

/** Fails for an app that takes no token, or a store that cannot keep one, before any server gets a request. */
function addressFor(app: InstalledApp, logins: AppLogins): Result<URL, Fault> {
  const { id, source } = app;
  if (source.kind !== 'url')
    return failed(fault('usage', `\`${id}\` runs on this machine`, 'only an app with a `url` has a login'));
  if (hasOwnCredentials(app))
    return failed(
      fault(
        'usage',
        `the \`headers\` of \`${id}\` hold an \`Authorization\``,
        'remove it to log in, or keep it and do not',
      ),
    );
  const url = usableUrl(source.url, `the address of \`${id}\``);
  if (!url.ok) return failed(fault('usage', url.fault, 'a token goes over https, or to this machine'));
  if (logins.canKeep) return ok(url.value);
  return failed(
    fault(
      'journal-unavailable',
      'tokens are kept encrypted or not at all, and the store has no key',
      'make one (`openssl rand -hex 32 > FILE; chmod 600 FILE`), set `CORDON_KEY_FILE=FILE` from now on, and run `cordon memory rekey`',
    ),
  );
}

function stopped({ id }: InstalledApp, { message, ...rest }: Fault): Result<never, Fault> {
  const own = message.startsWith('the login to') || message.startsWith('the request of');
  return failed({ ...rest, message: own ? message : `the login to \`${id}\` stops: ${message}` });
}
