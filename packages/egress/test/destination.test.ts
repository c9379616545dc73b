import assert from 'node:assert/strict';
import { test } from 'node:test';
import { destination, destinationOfAuthority, isPublicAddress, isWithinReach } from '../src/index.ts';

const site = (host: string) => {
  const parsed = destination(host, 443);
  return parsed.ok ? `${parsed.value.host} of ${parsed.value.site}` : parsed.fault;
};

test('names get one spelling and their registrable domain', () => {
  assert.equal(site('API.Example.CO.UK.'), 'api.example.co.uk of example.co.uk');
  assert.equal(site('bücher.example.com'), 'xn--bcher-kva.example.com of example.com');
  assert.equal(site('alice.github.io'), 'alice.github.io of alice.github.io');
});

test('addresses are refused in every spelling', () => {
  for (const host of [
    '127.0.0.1',
    '2130706433',
    '0x7f.1',
    '0177.0.0.1',
    '127.1',
    '[::1]',
    '[::ffff:127.0.0.1]',
  ])
    assert.match(site(host), /is an address|is not a name/, host);
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
    '[::1]:443',
  ])
    assert.equal(destinationOfAuthority(text).ok, false, text);
});

test('reach is by site and port, and an empty list reaches nothing', () => {
  const to = { host: 'api.good.com', port: 443, site: 'good.com' };
  assert.equal(isWithinReach(to, { sites: ['good.com'], ports: [443] }), true);
  assert.equal(isWithinReach(to, { sites: ['good.com'], ports: [80] }), false);
  assert.equal(isWithinReach(to, { sites: [], ports: [443] }), false);
  assert.equal(isWithinReach(to, { sites: ['com', 'api.good.com'], ports: [443] }), false);
  const lookalike = destination('good.com.evil.net', 443);
  assert.equal(lookalike.ok && isWithinReach(lookalike.value, { sites: ['good.com'], ports: [443] }), false);
});

test('only addresses of the open internet are public', () => {
  for (const address of ['93.184.215.14', '8.8.8.8', '2606:2800:21f:cb07:6820:80da:af6b:8b2c'])
    assert.equal(isPublicAddress(address), true, address);
  const closed = `0.0.0.0 10.1.2.3 100.64.0.1 127.0.0.1 169.254.169.254 172.31.0.1 192.168.1.1 198.18.0.1 224.0.0.1
    255.255.255.255 168.63.129.16 ::1 :: fe80::1 fc00::1 ff02::1 ::ffff:8.8.8.8 64:ff9b::808:808 2002:7f00:1::
    2001:0:1::1 2001:db8::1 nonsense`;
  for (const address of closed.split(/\s+/)) assert.equal(isPublicAddress(address), false, address);
});
