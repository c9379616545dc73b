/**
 * Names of the user's own network. The manifest lists the addresses to which such a name may lead; it leads to no other, and no
 * other name leads there.
 */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { test } from 'node:test';
import { openDirect } from './direct-setting.ts';
import { converse, echo, get, open, tunnel } from './setting.ts';

const NOT_PUBLIC = '403 cordon: the name leads to an address that is not public';
const NOT_LISTED = '403 cordon: the name leads to an address that is not listed for it';

const web = () => createServer((_, response) => response.end('ok'));

test('a name leads to a listed address, through the proxy, in a tunnel and directly', async (context) => {
  const network = ['wiki.corp.example:80@10.1.2.3', 'db.corp.example:993@10.1.2.4', 'nexus:8080@[fd00::15]'];
  const places: Readonly<Record<string, string>> = {
    'wiki.corp.example': '10.1.2.3',
    'db.corp.example': '10.1.2.4',
    nexus: 'fd00::15',
  };
  const lookup = async (host: string) => [places[host] ?? '8.8.8.8'];
  const proxy = await open(context, web(), { network, lookup });
  assert.equal(await get(proxy, 'http://wiki.corp.example/'), '200 ok');
  assert.equal(await get(proxy, 'http://nexus:8080/'), '200 ok');
  const request = 'GET / HTTP/1.1\r\nhost: nexus:8080\r\nconnection: close\r\n\r\n';
  assert.match(await tunnel(proxy, 'nexus:8080', request), /200 OK/);
  assert.deepEqual(proxy.dialled, ['10.1.2.3:80', 'fd00::15:8080', 'fd00::15:8080']);
  const direct = await openDirect(context, echo(), { network, lookup });
  assert.equal(await converse(await direct.to('db.corp.example', 993), ['x\n']), 'got 120');
  assert.deepEqual(direct.dialled, ['10.1.2.4:993']);
  const own = await openDirect(context, web(), { network, lookup });
  assert.match(await converse(await own.to('nexus', 8080), [request]), /200 OK/);
  assert.deepEqual([proxy.refused, direct.refused, own.refused], [[], [], []]);
});

test('a name that leads to a private address is refused with the entry to add, which the app does not read', async (context) => {
  const network = ['wiki.corp.example:80', 'corp.example:8080'];
  const answers = [['10.1.2.3'], ['fd00::15', '10.1.2.3']];
  const setting = await open(context, web(), { network, lookup: async () => answers.shift() ?? [] });
  assert.equal(await get(setting, 'http://wiki.corp.example/'), NOT_PUBLIC);
  assert.equal(await get(setting, 'http://a.corp.example:8080/'), NOT_PUBLIC);
  assert.deepEqual(setting.refused, [
    'wiki.corp.example: the name leads to an address that is not public',
    'a.corp.example: the name leads to an address that is not public',
  ]);
  assert.deepEqual(setting.lacking, [
    'wiki.corp.example:80@10.1.2.3',
    'a.corp.example:8080@10.1.2.3,[fd00::15]',
  ]);
  assert.deepEqual(setting.dialled, []);
  const allowed = await open(context, web(), {
    network: [...network, ...setting.lacking],
    lookup: async () => ['10.1.2.3'],
  });
  assert.equal(await get(allowed, 'http://wiki.corp.example/'), '200 ok');
  assert.equal(await get(allowed, 'http://a.corp.example:8080/'), '200 ok');
});

test('at another port a name of one word is refused with an entry that can be read, which the app does not read', async (context) => {
  const network = ['nexus:8081@10.20.0.15', 'nexus:8082@[fd00::15]', 'wiki.corp.example:80@10.1.2.3'];
  const lookup = async () => ['10.20.0.15'];
  const setting = await open(context, web(), { network, lookup });
  const reason = 'the app may not reach this host and port';
  assert.equal(await get(setting, 'http://nexus:9000/'), `403 cordon: ${reason}`);
  const lacks = 'wiki.corp.example:8080';
  assert.equal(
    await get(setting, `http://${lacks}/`),
    `403 cordon: ${reason}; \`network\` in its manifest lacks "${lacks}"`,
  );
  assert.deepEqual(setting.lacking, ['nexus:9000@10.20.0.15,[fd00::15]', lacks]);
  const allowed = await open(context, web(), { network: [...network, ...setting.lacking], lookup });
  assert.equal(await get(allowed, 'http://nexus:9000/'), '200 ok');
  const many = (at: number) => Array.from({ length: 8 }, (_, number) => `10.0.${at}.${number}`).join(',');
  const full = await open(context, web(), { network: [`nexus:8081@${many(0)}`, `nexus:8082@${many(1)}`] });
  assert.equal(await get(full, 'http://nexus:9000/'), `403 cordon: ${reason}`);
  assert.deepEqual([full.refused, full.lacking], [[`nexus: ${reason}`], []]);
});

// Attack: whoever serves a name changes its answer, so that the app reaches a machine of the user's network under a name that was granted.
test('a name leads nowhere else once it has changed, and the entry for both addresses is named', async (context) => {
  const answers = [
    ['10.1.2.3'],
    ['10.1.2.9'],
    ['10.1.2.3', '10.1.2.9'],
    ['127.0.0.1'],
    ['169.254.169.254'],
    ['::ffff:10.1.2.3'],
    ['100.100.100.200'],
    ['10.1.2.3', '93.184.215.14'],
    ['93.184.215.14'],
    ['10.1.2.3'],
  ];
  const setting = await open(context, web(), {
    network: ['wiki.corp.example:80@10.1.2.3'],
    lookup: async () => answers.shift() ?? [],
  });
  const said: string[] = [];
  for (let time = 0; time < 10; time++) said.push(await get(setting, 'http://wiki.corp.example/'));
  assert.deepEqual(said, ['200 ok', ...Array<string>(8).fill(NOT_LISTED), '200 ok']);
  assert.deepEqual(setting.lacking, Array<string>(2).fill('wiki.corp.example:80@10.1.2.3,10.1.2.9'));
  assert.deepEqual(setting.dialled, ['10.1.2.3:80', '10.1.2.3:80']);
});

// Attack: a site of the attacker leads to an address that the user listed for another name, or granted as an address.
test('an address that is listed for one name, or by itself, is no place for another name', async (context) => {
  const network = [
    'wiki.corp.example:80@10.1.2.3',
    '10.1.2.3:80',
    'evil.net:80',
    'corp.example:80',
    'wiki.corp.example:8080',
  ];
  const setting = await open(context, web(), { network, lookup: async () => ['10.1.2.3'] });
  assert.equal(await get(setting, 'http://evil.net/'), NOT_PUBLIC);
  assert.equal(await get(setting, 'http://www.corp.example/'), NOT_PUBLIC);
  assert.equal(await get(setting, 'http://wiki.corp.example:8080/'), NOT_PUBLIC);
  assert.deepEqual(setting.dialled, []);
  assert.equal(await get(setting, 'http://wiki.corp.example/'), '200 ok');
  assert.equal(await get(setting, 'http://10.1.2.3/'), '200 ok');
});

test('a name with an entry for each leads to public addresses and to listed ones, and never to both at once', async (context) => {
  const answers = [['93.184.215.14'], ['10.1.2.3'], ['93.184.215.14', '10.1.2.3']];
  const setting = await open(context, web(), {
    network: ['corp.example:80', 'corp.example:80@10.1.2.3'],
    lookup: async () => answers.shift() ?? [],
  });
  assert.equal(await get(setting, 'http://corp.example/'), '200 ok');
  assert.equal(await get(setting, 'http://corp.example/'), '200 ok');
  assert.equal(await get(setting, 'http://corp.example/'), NOT_LISTED);
  assert.deepEqual([setting.dialled, setting.lacking], [['93.184.215.14:80', '10.1.2.3:80'], []]);
});

test('a name that leads to many private addresses, to loopback or to a metadata service is refused without an entry', async (context) => {
  const many = Array.from({ length: 9 }, (_, number) => `10.0.0.${number}`);
  const clouds = ['fd00:ec2::254', 'fd00:ec2::23', 'fd20:ce::254', 'fd00:42::42', 'fd00:c1::a9fe:a9fe'];
  const answers = [
    many,
    ['127.0.0.1'],
    ['::1'],
    ['10.1.2.3', '169.254.169.254'],
    ['10.1.2.3', '100.100.100.200'],
    ...clouds.map((address) => [address]),
  ];
  const count = answers.length;
  const setting = await open(context, web(), { lookup: async () => answers.shift() ?? [] });
  for (let time = 0; time < count; time++) assert.equal(await get(setting, 'http://good.com/'), NOT_PUBLIC);
  assert.deepEqual([setting.lacking, setting.dialled], [[], []]);
  assert.deepEqual(
    setting.refused,
    Array<string>(count).fill(`good.com: ${NOT_PUBLIC.slice('403 cordon: '.length)}`),
  );
  const near = ['fd00:ec1::254', 'fd00:ec3::254', 'fd20:cf::254', 'fd00:42::43', 'fd00:c1::a9fe:a9ff'];
  const own = await open(context, web(), { lookup: async () => [near.shift() ?? ''] });
  for (let time = 0; time < 5; time++) assert.equal(await get(own, 'http://good.com/'), NOT_PUBLIC);
  assert.equal(own.lacking.length, 5);
});
