/** The notation of a manifest's `network`: what each entry means, and what is refused with which remedy. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  destination,
  directPorts,
  isWithinReach,
  parseNetworkEntry,
  parseReach,
  printNetworkEntry,
} from '../src/index.ts';
import { coversEntry, coversName, entryOf } from '../src/reach.ts';
import '../../../tools/seed.ts';

const MEANINGS = {
  'example.com': ['site', 'example.com', 443],
  'Example.COM': ['site', 'example.com', 443],
  'example.co.uk': ['site', 'example.co.uk', 443],
  'alice.github.io': ['site', 'alice.github.io', 443],
  'api.example.com': ['host', 'api.example.com', 443],
  '=example.com': ['host', 'example.com', 443],
  'example.com:8443': ['site', 'example.com', 8443],
  'example.com:80': ['site', 'example.com', 80],
  '=example.com:80': ['host', 'example.com', 80],
  '127.0.0.1:8080': ['address', '127.0.0.1', 8080],
  '[::1]:8080': ['address', '[::1]', 8080],
  '169.254.169.254:80': ['address', '169.254.169.254', 80],
  '[fe80::1]:443': ['address', '[fe80::1]', 443],
  '[::ffff:7f00:1]:80': ['address', '[::ffff:7f00:1]', 80],
  '8.8.8.8:443': ['address', '8.8.8.8', 443],
} as const;

for (const [text, [kind, host, port]] of Object.entries(MEANINGS)) {
  test(`\`${text}\` is a ${kind}`, () => {
    assert.deepEqual(parseNetworkEntry(text), { ok: true, value: { kind, host, port } });
  });
}

const LEADING = {
  'mail.corp.example:993@10.1.2.3': ['host', 'mail.corp.example', 993, ['10.1.2.3']],
  'corp.example@10.1.2.3': ['site', 'corp.example', 443, ['10.1.2.3']],
  '=corp.example:5432@192.168.1.4,10.1.2.3': ['host', 'corp.example', 5432, ['10.1.2.3', '192.168.1.4']],
  'Mail.Corp.Example@[FD00::15],10.1.2.3,10.1.2.3': [
    'host',
    'mail.corp.example',
    443,
    ['10.1.2.3', 'fd00::15'],
  ],
  'nexus:8081@10.20.0.15': ['host', 'nexus', 8081, ['10.20.0.15']],
  'nexus:443@10.20.0.15': ['host', 'nexus', 443, ['10.20.0.15']],
} as const;

for (const [text, [kind, host, port, at]] of Object.entries(LEADING)) {
  test(`\`${text}\` is a ${kind} with the addresses that it may lead to`, () => {
    assert.deepEqual(parseNetworkEntry(text), { ok: true, value: { kind, host, port, at } });
  });
}

const REFUSALS: Readonly<Record<string, RegExp>> = {
  '': /no host|not a name/,
  '*': /everywhere/,
  '*.example.com': /no wildcards.*`example\.com`; its subdomains are included/,
  'api.*.com': /write a host like/,
  'https://example.com': /only a host and a port.*`example\.com`/,
  'https://example.com:8443/x': /write `example\.com:8443`/,
  'example.com/path': /only a host and a port.*`example\.com`/,
  'example.com?x': /write `example\.com`/,
  'corp.example@127.0.0.1': /cannot lead to a loopback address.*127\.0\.0\.1:8080/,
  'corp.example@10.1.2.3,[::1]': /cannot lead to a loopback address/,
  'corp.example@169.254.169.254':
    /single addresses of private networks.*`mail\.example\.com:993@10\.1\.2\.3`/,
  'corp.example@100.100.100.200': /single addresses of private networks/,
  'corp.example@192.0.0.192': /single addresses of private networks/,
  'corp.example@[fd00:ec2::254]': /single addresses of private networks/,
  'corp.example@[fd00:ec2::23]': /single addresses of private networks/,
  'corp.example@[fd20:ce::254]': /single addresses of private networks/,
  'corp.example@[fd00:42::42]': /single addresses of private networks/,
  'corp.example@[fd00:c1::a9fe:a9fe]': /single addresses of private networks/,
  'corp.example@[fe80::1]': /single addresses of private networks/,
  'corp.example@[::ffff:10.1.2.3]': /single addresses of private networks/,
  'corp.example@0.0.0.0': /single addresses of private networks/,
  'corp.example@8.8.8.8': /single addresses of private networks/,
  'corp.example@10.0.0.0/8': /single addresses of private networks/,
  'corp.example@10.1.2.3:993': /single addresses of private networks/,
  'corp.example@10.1.2.3,': /single addresses of private networks/,
  'corp.example@010.1.2.3': /single addresses of private networks/,
  'corp.example@[10.1.2.3]': /single addresses of private networks/,
  'corp.example@10.0.0.1,10.0.0.2,10.0.0.3,10.0.0.4,10.0.0.5,10.0.0.6,10.0.0.7,10.0.0.8,10.0.0.9':
    /more than 8/,
  '10.1.2.3:80@10.1.2.4': /only a name leads to addresses/,
  'localhost:80@10.1.2.3': /localhost/,
  'co.uk@10.1.2.3': /everybody can have a name/,
  'nexus:8081': /everybody can have a name/,
  'admin@10.1.2.3': /needs a port.*without a user, like `10\.1\.2\.3:22`/,
  'admin@10.1.2.3:22': /needs a port.*without a user/,
  'nexus@10.20.0.15': /needs a port.*`nexus:443@10\.1\.2\.3`/,
  'user@example.com': /write `example\.com`/,
  'example.com.': /write `example\.com`/,
  com: /everybody can have a name/,
  'co.uk': /everybody can have a name/,
  'github.io': /everybody can have a name.*name\.github\.io/,
  localhost: /127\.0\.0\.1:8080/,
  'localhost:3000': /127\.0\.0\.1:8080/,
  '127.0.0.1': /needs a port.*`127\.0\.0\.1:8080`/,
  '[::1]': /needs a port.*`\[::1\]:8080`/,
  '::1': /write a host like/,
  '=127.0.0.1:80': /`=` has no meaning/,
  '2130706433:80': /spelled oddly.*127\.0\.0\.1/,
  '0x7f.1:80': /spelled oddly/,
  '0177.0.0.1:80': /spelled oddly/,
  '[0:0::1]:80': /spelled oddly.*\[::1\]/,
  '[::ffff:127.0.0.1]:80': /spelled oddly.*\[::ffff:7f00:1\]/,
  '[fe80::1%eth0]:80': /not a name/,
  '0.0.0.0:80': /address of nobody/,
  '[::]:80': /address of nobody/,
  'example.com:0': /port/,
  'example.com:65536': /port/,
  'example.com:https': /write a host like/,
  'exa mple.com': /no host/,
  'bücher.example': /xn--/,
  'a..example.com': /write a host like|not a name/,
  '=.example.com': /not a name/,
  '10.0.0.0/8': /write a host like|only a host/,
};

for (const [text, shown] of Object.entries(REFUSALS)) {
  test(`\`${text}\` is refused with a remedy`, () => {
    const entry = parseNetworkEntry(text);
    assert.match(entry.ok ? 'accepted' : `${entry.fault.message}; ${entry.fault.help}`, shown);
  });
}

const reaches = (network: readonly string[], host: string, port: number): boolean => {
  const reach = parseReach(network);
  const to = destination(host, port);
  return reach.ok && to.ok && isWithinReach(to.value, reach.value);
};

test('a site has all its hosts, a host only itself, and both one port', () => {
  const cases: [string, string, number, boolean][] = [
    ['example.com', 'example.com', 443, true],
    ['example.com', 'a.b.example.com', 443, true],
    ['example.com', 'example.com', 80, false],
    ['example.com', 'example.com.evil.net', 443, false],
    ['example.com', 'notexample.com', 443, false],
    ['=example.com', 'example.com', 443, true],
    ['=example.com', 'www.example.com', 443, false],
    ['api.example.com', 'api.example.com', 443, true],
    ['api.example.com', 'v2.api.example.com', 443, false],
    ['api.example.com', 'example.com', 443, false],
    ['example.com:8443', 'example.com', 8443, true],
    ['example.com:8443', 'example.com', 443, false],
    ['127.0.0.1:8080', '127.0.0.1', 8080, true],
    ['127.0.0.1:8080', '127.0.0.1', 8081, false],
    ['127.0.0.1:8080', '127.0.0.2', 8080, false],
    ['alice.github.io', 'bob.github.io', 443, false],
  ];
  for (const [entry, host, port, expected] of cases)
    assert.equal(reaches([entry], host, port), expected, `${entry} ${host}:${port}`);
  assert.equal(reaches([], 'example.com', 443), false);
});

test('an entry with addresses covers the same name with fewer of them, and one without covers none', () => {
  const covers = (wide: string, narrow: string, how = coversEntry) => {
    const entries = [parseNetworkEntry(wide), parseNetworkEntry(narrow)] as const;
    return entries[0].ok && entries[1].ok && how(entries[0].value, entries[1].value);
  };
  const two = 'corp.example@10.1.2.3,10.1.2.4';
  assert.equal(covers(two, 'corp.example@10.1.2.3'), true);
  assert.equal(covers('corp.example@10.1.2.3', two), false);
  assert.equal(covers('corp.example', 'mail.corp.example@10.1.2.3'), false);
  // With addresses it leads to no public ones.
  assert.equal(covers(two, 'mail.corp.example'), false);
  assert.equal(covers('corp.example', 'mail.corp.example'), true);
  // Of a credential: it goes wherever the name leads.
  assert.equal(covers(two, 'mail.corp.example', coversName), true);
  assert.equal(covers(two, 'mail.corp.example:8443', coversName), false);
});

test('an entry is printed as it is read, also of a name of one word at port 443', () => {
  for (const text of ['nexus:443@10.20.0.15', 'corp.example@10.1.2.3', 'nexus:8081@10.20.0.15']) {
    const entry = parseNetworkEntry(text);
    assert.equal(entry.ok && printNetworkEntry(entry.value), text);
  }
});

test('one bad entry spoils the list', () => {
  assert.equal(parseReach(['example.com', 'com']).ok, false);
});

test('what is printed is read as the same, and no text makes the reader throw', () => {
  const label = fc.stringMatching(/^[a-z0-9.:=*/@[\]-]{0,12}$/);
  const text = fc.oneof(
    fc.string({ maxLength: 40 }),
    fc
      .array(
        fc.oneof(
          label,
          fc.constantFrom(
            'example',
            '.',
            'com',
            ':',
            '8080',
            '=',
            '[',
            ']',
            '127.0.0.1',
            '@',
            '10.1.2.3',
            ',',
          ),
        ),
        {
          maxLength: 8,
        },
      )
      .map((parts) => parts.join('')),
  );
  fc.assert(
    fc.property(text, (written) => {
      const entry = parseNetworkEntry(written);
      if (entry.ok) assert.deepEqual(parseNetworkEntry(printNetworkEntry(entry.value)), entry);
    }),
    { numRuns: 2000, verbose: 1 },
  );
});

test('the entry that a refusal names reaches its destination and no other host', () => {
  for (const [host, port, entry] of [
    ['imap.example.com', 993, 'imap.example.com:993'],
    ['example.com', 443, '=example.com'],
    ['example.com', 25, '=example.com:25'],
    ['127.0.0.1', 443, '127.0.0.1:443'],
    ['[::1]', 8080, '[::1]:8080'],
  ] as const) {
    const to = destination(host, port);
    assert.ok(to.ok);
    assert.equal(entryOf(to.value), entry);
    const reach = parseReach([entry]);
    assert.ok(reach.ok && isWithinReach(to.value, reach.value), entry);
    const below = destination(`deeper.${host}`, port);
    assert.ok(!below.ok || !isWithinReach(below.value, reach.value), entry);
  }
});

test('a sandbox listens on usual ports of servers and on those of the manifest, and never on its own', () => {
  const ports = (...network: readonly string[]) => {
    const reach = parseReach(network);
    assert.ok(reach.ok);
    return directPorts(reach.value);
  };
  const usual = [22, 25, 80, 110, 143, 443, 465, 587, 993, 995];
  assert.deepEqual(ports(), usual);
  assert.deepEqual(
    ports('mail.org:993', 'imap.mail.org:993', 'db.org:5432', 'dns.org:53', 'proxy.org:3128'),
    [...usual, 5432],
  );
});
