/** Logins: sealed or not kept, one for each app of a place, renewed by one process at a time. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { type AppId, id } from '@cordon/core';
import { parseStoreKey, type StoreKey } from '@cordon/trace';
import { openOrThrow, storeIn, temporaryFolder } from '../fixture.ts';

const MAIL: AppId = id('mail');
const SECRET = 'T0KEN-7c1e';
const [KEY, OTHER] = ['6f', '70'].map((byte): StoreKey => {
  const key = parseStoreKey(byte.repeat(32));
  assert.ok(key.ok);
  return key.value;
});
assert.ok(KEY !== undefined && OTHER !== undefined);

test('a login is found again for its app and place, and for no other, and no file has it in the clear', (t) => {
  const folder = temporaryFolder(t);
  const store = openOrThrow(folder, { key: KEY });
  store.logins.put('/here', MAIL, SECRET);
  assert.deepEqual(store.logins.find('/here', MAIL), { secret: SECRET, since: 1_700_000_000_000 });
  assert.equal(store.logins.find('/there', MAIL), null);
  assert.equal(store.logins.find('/here', id('drive')), null);
  assert.deepEqual(store.logins.list(), [{ place: '/here', app: 'mail' }]);
  store.close();
  for (const name of readdirSync(folder, { recursive: true, withFileTypes: true }))
    if (name.isFile())
      assert.ok(!readFileSync(join(name.parentPath, name.name)).includes(SECRET), `${name.name} has it`);
  const again = storeIn(t, folder, { key: KEY });
  assert.equal(again.logins.find('/here', MAIL)?.secret, SECRET);
  assert.equal(again.logins.remove('/here', MAIL), true);
  assert.equal(again.logins.remove('/here', MAIL), false);
  assert.equal(again.logins.find('/here', MAIL), null);
});

test('a store without a key keeps no login', (t) => {
  const store = storeIn(t, temporaryFolder(t));
  assert.equal(store.logins.canKeep, false);
  assert.throws(() => store.logins.put('/here', MAIL, SECRET), /keeps no login/);
  assert.equal(store.logins.find('/here', MAIL), null);
});

test('a login survives another key', (t) => {
  const store = storeIn(t, temporaryFolder(t), { key: KEY });
  store.logins.put('/here', MAIL, SECRET);
  store.reseal(OTHER);
  assert.equal(store.logins.find('/here', MAIL)?.secret, SECRET);
});

// Attack: who can write the file gives one app the tokens of another.
test('a login that was moved to another app or place does not open', (t) => {
  const folder = temporaryFolder(t);
  const store = storeIn(t, folder, { key: KEY });
  store.logins.put('/here', MAIL, SECRET);
  const raw = new DatabaseSync(store.file);
  raw.exec("UPDATE logins SET app = 'evil'");
  raw.close();
  assert.throws(() => store.logins.find('/here', id('evil')), { message: /damaged/ });
});

test('one caller at a time may renew a login, until it has or its time is over', (t) => {
  let now = 1000;
  const store = storeIn(t, temporaryFolder(t), { key: KEY }, () => now);
  const { logins } = store;
  assert.equal(logins.claim('/here', MAIL, 100), null);
  logins.put('/here', MAIL, SECRET);
  const first = logins.claim('/here', MAIL, 100);
  assert.ok(first !== null);
  assert.equal(logins.claim('/here', MAIL, 100), null);
  now = 1100;
  const second = logins.claim('/here', MAIL, 100);
  assert.ok(second !== null);
  // The one that took too long changes nothing any more.
  assert.equal(logins.renew('/here', MAIL, first, 'old'), false);
  assert.equal(logins.renew('/here', MAIL, second, 'new'), true);
  assert.equal(logins.find('/here', MAIL)?.secret, 'new');
  const third = logins.claim('/here', MAIL, 100);
  assert.ok(third !== null);
  logins.release('/here', MAIL, third);
  const fourth = logins.claim('/here', MAIL, 100);
  assert.ok(fourth !== null);
  // The user has logged in again, or out, meanwhile.
  logins.put('/here', MAIL, 'again');
  assert.equal(logins.renew('/here', MAIL, fourth, 'late'), false);
  assert.equal(logins.find('/here', MAIL)?.secret, 'again');
});

test('a claim of a hub that was killed does not outlive a clock that is put back', (t) => {
  let now = 1_000_000;
  const store = storeIn(t, temporaryFolder(t), { key: KEY }, () => now);
  store.logins.put('/here', MAIL, SECRET);
  assert.notEqual(store.logins.claim('/here', MAIL, 100), null);
  now = 999_950;
  assert.equal(store.logins.claim('/here', MAIL, 100), null);
  now = 999_000;
  assert.notEqual(store.logins.claim('/here', MAIL, 100), null);
  assert.equal(store.logins.claim('/here', MAIL, 100), null);
});
