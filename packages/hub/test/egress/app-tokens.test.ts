/** Tokens of apps that run elsewhere: renewed once however many need them, and shown to the app's own address alone. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { type InstalledApp, id, ok, SILENT_MANIFEST } from '@cordon/core';
import { AppLogins } from '@cordon/hub';
import {
  authorizationServer,
  beginAuthorization,
  directionsOf,
  finishAuthorization,
  type Login,
  type Send,
} from '@cordon/oauth';
import { RemoteApp, type RemoteAppOptions } from '@cordon/testkit/remote-app/remote-app.ts';
import { openStore, parseStoreKey } from '@cordon/trace';
import { AppTokens } from '../../src/egress/app-tokens.ts';
import { logIn, logOut } from '../../src/egress/log-in.ts';

const anywhere: Send = async ({ url, method, headers, body }) =>
  ok(await fetch(url, { method, headers, redirect: 'manual', ...(method === 'POST' ? { body } : {}) }));

const REDIRECT = 'http://127.0.0.1:4711/callback';

async function login(remote: RemoteApp): Promise<Login> {
  const app = new URL(remote.url);
  const directions = await directionsOf(app, null, null, anywhere);
  assert.ok(directions.ok);
  const server = await authorizationServer(directions.value, anywhere);
  assert.ok(server.ok);
  const client = { id: null, secret: null, document: null };
  const wish = { client, redirectUrl: REDIRECT, scope: directions.value.scope, state: 's' };
  const begun = await beginAuthorization(directions.value, server.value, wish, anywhere);
  assert.ok(begun.ok);
  const page = await fetch(begun.value.url, { redirect: 'manual' });
  const { searchParams } = new URL(page.headers.get('location') ?? '');
  const finished = await finishAuthorization(begun.value, searchParams, anywhere, Date.now());
  assert.ok(finished.ok);
  return finished.value;
}

interface Fixture {
  readonly remote: RemoteApp;
  readonly app: InstalledApp;
  /** The logins as another process has them. */
  readonly openLogins: () => AppLogins;
  readonly tokensOf: (logins: AppLogins) => AppTokens;
}

async function loggedIn(t: TestContext, options?: RemoteAppOptions): Promise<Fixture> {
  const remote = await RemoteApp.start(options);
  const folder = mkdtempSync(join(tmpdir(), 'cordon-tokens-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  t.after(() => remote[Symbol.asyncDispose]());
  const app: InstalledApp = {
    id: id('notes'),
    source: { kind: 'url', url: remote.url, headers: {} },
    manifest: SILENT_MANIFEST,
    model: null,
  };
  const key = parseStoreKey('6f'.repeat(32));
  assert.ok(key.ok);
  const openLogins = () => {
    const store = openStore(folder, Date.now, { key: key.value });
    assert.ok(store.ok);
    t.after(() => store.value.close());
    return new AppLogins({ logins: store.value.logins, place: '/here' });
  };
  openLogins().put(app.id, await login(remote));
  const tokensOf = (logins: AppLogins) =>
    new AppTokens({ app, logins, send: () => anywhere, now: Date.now, pause: (ms) => wait(ms) });
  return { remote, app, openLogins, tokensOf };
}

test('of many requests of several processes whose token was refused one renews it, and all get the new one', async (t) => {
  const { remote, app, openLogins, tokensOf } = await loggedIn(t);
  const processes = [openLogins(), openLogins(), openLogins()].map(tokensOf);
  const old = openLogins().find(app)?.tokens.access ?? '';
  remote.expire();
  const got = await Promise.all(processes.flatMap((tokens) => [1, 2, 3].map(() => tokens.insteadOf(old))));
  const fresh = openLogins().find(app)?.tokens.access;
  assert.notEqual(fresh, old);
  assert.deepEqual(got, Array(9).fill(ok(fresh)));
  assert.equal(remote.grants('refresh_token').length, 1);
});

test('a token that is over is renewed before it is shown, and one that is not is shown as it is', async (t) => {
  const over = await loggedIn(t, { seconds: 1 });
  const first = over.openLogins().find(over.app)?.tokens.access;
  const renewed = await over.tokensOf(over.openLogins()).current();
  assert.ok(renewed.ok && renewed.value !== first);
  const fresh = await loggedIn(t);
  const shown = await fresh.tokensOf(fresh.openLogins()).current();
  assert.deepEqual(shown, ok(fresh.openLogins().find(fresh.app)?.tokens.access));
  assert.deepEqual(fresh.remote.grants('refresh_token'), []);
});

test('a login that the server has taken back ends with the command that logs in again', async (t) => {
  const { remote, app, openLogins, tokensOf } = await loggedIn(t);
  remote.forget();
  const got = await tokensOf(openLogins()).insteadOf(openLogins().find(app)?.tokens.access ?? '');
  assert.deepEqual(got.ok ? null : [got.fault.message, got.fault.help], [
    'your login to `notes` has ended',
    'log in again: `cordon apps login notes`',
  ]);
  // The claim is over too: the next request does not wait.
  assert.notEqual(openLogins().claim(app.id, 1), null);
});

test('a user who logs out while the token is renewed stays logged out', async (t) => {
  const { app, openLogins } = await loggedIn(t);
  const logins = openLogins();
  const leaving: Send = async (request) => {
    openLogins().remove(app.id);
    return anywhere(request);
  };
  const tokens = new AppTokens({ app, logins, send: () => leaving, now: Date.now, pause: (ms) => wait(ms) });
  // Nor is the token shown that came too late.
  assert.deepEqual(await tokens.insteadOf(logins.find(app)?.tokens.access ?? ''), ok(null));
  assert.equal(logins.find(app), null);
});

test('a scope that cannot be asked for ends the login before anybody is asked', async (t) => {
  const { app, openLogins } = await loggedIn(t);
  const parts = {
    logins: openLogins(),
    challengeOf: async () => ok(null),
    send: () => anywhere,
    random: () => 'r',
    now: Date.now,
  };
  const shown: (string | null)[] = [];
  const steps = {
    redirectUrl: REDIRECT,
    agrees: async ({ scope }: { readonly scope: string | null }) => shown.push(scope) < 0,
    answerTo: () => Promise.reject(new Error('nobody agreed')),
  };
  const client = { id: null, secret: null, document: null };
  const wish = (scope: string) => ({ issuer: null, scope, client });
  for (const scope of ['notes:"all"', '', 'x'.repeat(1_001)]) {
    const refused = await logIn(parts, app, wish(scope), steps);
    assert.match(refused.ok ? '' : refused.fault.message, /no scope/, scope);
  }
  assert.deepEqual(await logIn(parts, app, wish('notes:all'), steps), ok(null));
  assert.deepEqual(shown, ['notes:read offline_access notes:all']);
});

test('a logout deletes the tokens, also where the server does not revoke them, which it says', async (t) => {
  const revoking = await loggedIn(t);
  const parts = { send: () => anywhere };
  const ended = await logOut({ ...parts, logins: revoking.openLogins() }, revoking.app);
  assert.deepEqual(ended, ok('revoked'));
  assert.equal(revoking.openLogins().find(revoking.app), null);
  assert.equal(await logOut({ ...parts, logins: revoking.openLogins() }, revoking.app), null);
  const refusing = await loggedIn(t, {
    instead: ({ path }, response) => {
      if (path === '/revoke') response.writeHead(503).end();
      return path === '/revoke';
    },
  });
  const refused = await logOut({ ...parts, logins: refusing.openLogins() }, refusing.app);
  assert.equal(refused?.ok === false ? refused.fault.message : null, 'the revocation was refused (503)');
  assert.equal(refusing.openLogins().find(refusing.app), null);
});

test('a logout from an app whose address was changed deletes the tokens, and does not say that it revoked them', async (t) => {
  const { remote, app, openLogins } = await loggedIn(t);
  const moved: InstalledApp = { ...app, source: { kind: 'url', url: `${remote.url}/other`, headers: {} } };
  const ended = await logOut({ send: () => anywhere, logins: openLogins() }, moved);
  assert.equal(
    ended?.ok === false ? ended.fault.message : null,
    'you had logged in at another address than the app has now',
  );
  assert.equal(openLogins().find(app), null);
  assert.deepEqual(
    remote.heard.filter(({ path }) => path === '/revoke'),
    [],
  );
});

// Attack: the address of an app is changed in the configuration, and its tokens go to another server.
test('a login is for the address at which the user logged in, and for no other', async (t) => {
  const { remote, app, openLogins, tokensOf } = await loggedIn(t);
  const logins = openLogins();
  const moved: InstalledApp = { ...app, source: { kind: 'url', url: `${remote.url}/other`, headers: {} } };
  assert.equal(logins.find(moved), null);
  assert.notEqual(logins.find(app), null);
  assert.equal(logins.find({ ...app, id: id('others') }), null);
  assert.equal((await tokensOf(logins).current()).ok, true);
});
