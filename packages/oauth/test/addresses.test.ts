/** Where a login may lead: public addresses, and hosts that the user named. */
import assert from 'node:assert/strict';
import { Socket } from 'node:net';
import { test } from 'node:test';
import { failed, ok } from '@cordon/core';
import { checkedDial, usableUrl } from '@cordon/oauth';

/** Dials and look-ups, written down. */
function network(addresses: Readonly<Record<string, readonly string[]>>) {
  const dialled: string[] = [];
  const lookedUp: string[] = [];
  return {
    dialled,
    lookedUp,
    dialler: {
      lookup: async (host: string) => {
        lookedUp.push(host);
        return addresses[host] ?? [];
      },
      dial: async (host: string, port: number) => {
        dialled.push(`${host} ${port}`);
        return ok(new Socket());
      },
    },
  };
}

// Attack: metadata point into the user's network (SSRF), also by a name, or by a name with two answers (rebinding).
for (const host of [
  '10.0.0.1',
  '127.0.0.1',
  '169.254.169.254',
  '::1',
  'fd00::1',
  'inside.example',
  'both.example',
  'gone.example',
])
  test(`a host that nobody named is not dialled at ${host}`, async () => {
    const { dialled, dialler } = network({
      'inside.example': ['192.168.0.7'],
      'both.example': ['93.184.216.34', '10.0.0.1'],
    });
    const dial = checkedDial(dialler, new Set(['app.example']));
    assert.equal((await dial(host, 443)).ok, false);
    assert.deepEqual(dialled, []);
  });

test('a public host is looked up once, and dialled at the address that was checked', async () => {
  const { dialled, lookedUp, dialler } = network({ 'login.example': ['93.184.216.34'] });
  const dial = checkedDial(dialler, new Set());
  assert.equal((await dial('login.example', 443)).ok, true);
  assert.equal((await dial('93.184.216.34', 8443)).ok, true);
  assert.deepEqual([dialled, lookedUp], [['93.184.216.34 443', '93.184.216.34 8443'], ['login.example']]);
});

test('a host that the user named is dialled wherever it is', async () => {
  const { dialled, dialler } = network({});
  const dial = checkedDial(dialler, new Set(['127.0.0.1', '[::1]', 'sso.corp.example']));
  for (const host of ['127.0.0.1', '::1', 'sso.corp.example']) assert.equal((await dial(host, 443)).ok, true);
  assert.deepEqual(dialled, ['127.0.0.1 443', '::1 443', 'sso.corp.example 443']);
});

test('tokens go over https, or to this machine', () => {
  for (const url of [
    'https://login.example/a',
    'http://127.0.0.1:80/',
    'http://localhost:8080/a?b',
    'http://[::1]/',
  ])
    assert.equal(usableUrl(url, 'it').ok, true, url);
  for (const [url, why] of [
    ['http://login.example/', 'it is not encrypted (http at `login.example`)'],
    ['http://localhost.evil.example/', 'it is not encrypted (http at `localhost.evil.example`)'],
    ['https://me:secret@login.example/', 'it is no web address'],
    ['ftp://login.example/', 'it is no web address'],
    ['https://login.example/#a', 'it has a fragment'],
    ['login', 'it is no web address'],
    [`https://login.example/${'a'.repeat(3000)}`, 'it is no web address'],
  ] as const)
    assert.deepEqual(usableUrl(url, 'it'), failed(why));
});
