import assert from 'node:assert/strict';
import { test } from 'node:test';
import { destination, destinationOfAuthority, isPublicAddress, oneAtATime } from '../src/index.ts';
import { isPrivateAddress } from '../src/reach.ts';

const site = (host: string) => {
  const parsed = destination(host, 443);
  return parsed.ok ? `${parsed.value.host} of ${parsed.value.site}` : parsed.fault;
};

test('names get one spelling and their registrable domain', () => {
  assert.equal(site('API.Example.CO.UK.'), 'api.example.co.uk of example.co.uk');
  assert.equal(site('bücher.example.com'), 'xn--bcher-kva.example.com of example.com');
  assert.equal(site('alice.github.io'), 'alice.github.io of alice.github.io');
});

test('an address has one spelling', () => {
  assert.equal(site('127.0.0.1'), '127.0.0.1 of 127.0.0.1');
  assert.equal(site('[::1]'), '[::1] of [::1]');
  const others =
    '2130706433 0x7f.1 0177.0.0.1 127.1 127.0.0.1. [0::1] [::ffff:127.0.0.1] [::1%25lo] ::1 [::1';
  for (const host of others.split(' ')) assert.match(site(host), /spelled oddly|is not a name/, host);
});

test('public suffixes, local names and malformed names belong to no site', () => {
  for (const host of ['github.io', 'co.uk', 'localhost', 'com'])
    assert.match(site(host), /no registrable domain/, host);
  for (const host of [
    '',
    'a b.com',
    'user@example.com',
    'example.com/x',
    'example.com:80',
    'ex%61mple.com',
    'a..com',
    'example.com..',
  ])
    assert.match(site(host), /not a name|no registrable domain/, host);
});

test('a name of one label has a site where the user lists it, and a public suffix has none', () => {
  const own = new Set(['nexus', 'co.uk']);
  const listed = (host: string) => {
    const parsed = destination(host, 8081, own);
    return parsed.ok ? parsed.value.site : parsed.fault;
  };
  assert.equal(listed('nexus'), 'nexus');
  assert.equal(listed('NEXUS.'), 'nexus');
  assert.match(listed('nexus2'), /no registrable domain/);
  assert.match(listed('co.uk'), /no registrable domain/);
});

test('an authority needs its port', () => {
  assert.deepEqual(destinationOfAuthority('example.com:443'), {
    ok: true,
    value: { host: 'example.com', port: 443, site: 'example.com' },
  });
  for (const text of [
    'example.com',
    'example.com:',
    ':443',
    'example.com:99999',
    'a@example.com:443',
    '::1:443',
    '[::1]',
  ])
    assert.equal(destinationOfAuthority(text).ok, false, text);
});

test('only addresses of the open internet are public', () => {
  const open = `1.1.1.1 8.8.8.8 93.184.215.14 100.63.255.255 172.15.255.255 172.32.0.1 169.253.1.1 168.63.129.15
    192.0.1.1 198.17.255.255 198.20.0.1 223.255.255.255 2606:2800:21f:cb07:6820:80da:af6b:8b2c 2a00:1450:4001::5efe
    2001:4860:4860::8888`;
  for (const address of open.split(/\s+/)) assert.equal(isPublicAddress(address), true, address);
  const closed = {
    loopback: '127.0.0.1 127.255.255.254 ::1',
    unspecified: '0.0.0.0 0.1.2.3 ::',
    private: '10.0.0.1 10.255.255.255 172.16.0.1 172.31.255.255 192.168.0.1 192.168.255.255',
    'unique local and site local': 'fc00::1 fd00:ec2::254 fdff::1 fec0::1',
    'link-local': '169.254.0.1 169.254.169.254 fe80::1 fe80::1%lo febf::1',
    carrier: '100.64.0.1 100.100.100.200 100.127.255.255',
    metadata: '169.254.169.254 168.63.129.16 fd00:ec2::254 192.0.0.192 100.100.100.200',
    multicast: '224.0.0.1 239.255.255.255 ff02::1 ff0e::1',
    reserved:
      '240.0.0.1 255.255.255.255 192.0.0.1 192.31.196.1 192.52.193.1 192.88.99.1 192.175.48.1 2620:4f:8000::1',
    documentation: '192.0.2.1 198.51.100.1 203.0.113.1 2001:db8::1 3fff::1',
    benchmark: '198.18.0.1 198.19.255.255 2001:2::1',
    'v4-mapped and v4-compatible': '::ffff:8.8.8.8 ::ffff:808:808 ::8.8.8.8 ::ffff:0:808:808',
    NAT64: '64:ff9b::808:808 64:ff9b:1::808:808',
    '6to4 and Teredo': '2002:808:808:: 2002:7f00:1:: 2001::1 2001:0:1::1',
    ISATAP: '2a00:1450::5efe:7f00:1 2a00:1450::200:5efe:a00:1',
    ORCHID: '2001:10::1 2001:20::1',
    'discard and others': '100::1 5f00::1 4000::1 e000::1',
    'no addresses': 'nonsense 8.8.8 08.8.8.8 0x8.8.8.8 134744072 [::1] 1.1.1.1/8',
  };
  for (const [kind, addresses] of Object.entries(closed))
    for (const address of addresses.split(' '))
      assert.equal(isPublicAddress(address), false, `${kind}: ${address}`);
});

test('look-ups of one app wait for one another, also for one that fails', async () => {
  const started: string[] = [];
  const first = Promise.withResolvers<readonly string[]>();
  const find = oneAtATime((host) => {
    started.push(host);
    return host === 'a' ? first.promise : Promise.resolve(['8.8.8.8']);
  });
  const [a, b] = [find('a'), find('b')];
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(started, ['a']);
  first.reject(new Error('no such name'));
  await assert.rejects(a);
  assert.deepEqual(await b, ['8.8.8.8']);
});

test('addresses of private networks and of this machine are private, and no others', () => {
  for (const address of [
    '10.0.0.1',
    '172.31.255.255',
    '192.168.1.1',
    '100.64.0.1',
    '127.0.0.1',
    '203.0.113.80',
    '::1',
    'fd00::15',
  ])
    assert.equal(isPrivateAddress(address), true, address);
  const others = [
    '169.254.169.254',
    '100.100.100.200',
    'fd00:ec2::23',
    '0.0.0.0',
    '8.8.8.8',
    '168.63.129.16',
    '224.0.0.1',
    '::ffff:10.0.0.1',
    'fe80::1',
    '2001:4860:4860::8888',
    'FD00::15',
    'fd00:0::15',
    'fd00::15%eth0',
    'a',
  ];
  for (const address of others) assert.equal(isPrivateAddress(address), false, address);
});
