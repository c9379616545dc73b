/** Connections that a program makes by itself, without the proxy: to loopback addresses that stand for names of its manifest. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer as createWebServer } from 'node:http';
import { createServer, type Server } from 'node:net';
import { type TestContext, test } from 'node:test';
import { connect as connectTls } from 'node:tls';
import { failed, ok } from '@cordon/core';
import { type DirectSetting, openDirect, question } from './direct-setting.ts';
import {
  type Changes,
  clientHello,
  connectTo,
  converse,
  echo,
  listening,
  recorder,
  until,
} from './setting.ts';

/** Greets, answers each line, and says farewell when the client has said all. */
function mailServer(): Server {
  return createServer({ allowHalfOpen: true }, (client) => {
    client.on('error', () => undefined).write('* OK ready\r\n');
    client.on('data', (data) => client.write(`got ${data}`)).on('end', () => client.end('bye\r\n'));
  });
}

const open = (context: TestContext, upstream = mailServer(), changes: Changes = {}): Promise<DirectSetting> =>
  openDirect(context, upstream, changes);

/** A client that waits for the server is known as such at once. */
const WAITING = { limits: { patienceMs: 1 } };

test('a name of the manifest has an address inside, always the same, and no other name has one', async (context) => {
  const setting = await open(context);
  const address = await setting.resolve('mail.org');
  assert.match(address, /^127\.64\./);
  assert.equal(await setting.resolve('mail.org'), address);
  assert.equal(await setting.resolve('MAIL.org'), address);
  assert.notEqual(await setting.resolve('imap.mail.org'), address);
  for (const name of ['evil.net', 'org', 'mail.org.evil.net', 'deeper.smtp.mail.net', '127.0.0.1'])
    assert.equal(await setting.resolve(name), 'unknown', name);
  assert.equal(await setting.resolve('localhost'), '127.0.0.1');
  // Attack: a name that is looked up outside carries words to whoever serves it.
  assert.deepEqual([setting.lookedUp, setting.asked], [[], []]);
  const reason = 'no entry of `network` in its manifest has this name; add the name with its port';
  const names = ['evil.net', 'mail.org.evil.net', 'deeper.smtp.mail.net'];
  // Of a name that no manifest can have nothing is said: many programs ask for that of their machine.
  assert.equal(await setting.resolve('spoke'), 'unknown');
  assert.equal(await setting.resolve('1.64.127.in-addr.arpa', 12), 'unknown');
  assert.deepEqual(
    setting.refused,
    names.map((name) => `${name}: ${reason}`),
  );
});

test('a name has no record but its address, and an alias leads nowhere', async (context) => {
  const setting = await open(context);
  for (const type of [5, 15, 16, 28, 33]) assert.equal(await setting.resolve('mail.org', type), 'none');
  assert.equal(await setting.resolve('evil.net', 5), 'unknown');
});

test('an app that asks for names without end gets no more, and the ones it has still hold', async (context) => {
  const setting = await open(context, mailServer(), { limits: { connectionsPerMinute: 10_000 } });
  const first = await setting.resolve('n0.mail.org');
  for (let number = 1; number < 1_000; number++) await setting.resolve(`n${number}.mail.org`);
  assert.equal(await setting.resolve('one-more.mail.org'), 'failure');
  assert.equal(await setting.resolve('n0.mail.org'), first);
});

test('the name server answers over UDP, too, and any other datagram is refused and reported once', async (context) => {
  const setting = await open(context);
  const answer = await setting.sendTo(53, question('mail.org', 1));
  assert.ok(answer instanceof Buffer);
  assert.equal(answer.subarray(-4).join('.'), await setting.resolve('mail.org'));
  // HTTP/3 and its like find out soon, and take another way.
  assert.equal(await setting.sendTo(443, Buffer.from('QUIC')), 'ECONNREFUSED');
  assert.equal(await setting.sendTo(443, Buffer.from('QUIC')), 'ECONNREFUSED');
  const reason = 'it sent a datagram (UDP); only TCP leaves the sandbox';
  assert.deepEqual(setting.refused, [`good.com: ${reason}`]);
  assert.deepEqual(setting.asked, []);
});

test('questions that cannot be read end the connection', async (context) => {
  const setting = await open(context);
  for (const name of ['a b.org', `${'x'.repeat(64)}.org`, ''])
    assert.equal(await setting.resolve(name), 'closed');
});

test('a server that speaks first is heard, after one decision and one look-up', async (context) => {
  const setting = await open(context, mailServer(), WAITING);
  const talk = converse(await setting.to('mail.org', 993), ['', 'A1 NOOP\r\n'], ['ready\r\n', 'NOOP\r\n']);
  assert.equal(await talk, '* OK ready\r\ngot A1 NOOP\r\n');
  assert.deepEqual(setting.asked, [
    { host: 'mail.org', port: 993, site: 'mail.org', method: 'CONNECT', path: null, bytes: null },
  ]);
  assert.deepEqual(setting.lookedUp, ['mail.org']);
  assert.deepEqual(setting.dialled, ['93.184.215.14:993']);
  await until(() => setting.closed.length === 1);
  assert.deepEqual([setting.closed[0]?.bytesUp, setting.closed[0]?.cut], [9, null]);
});

test('a client that has said all hears the rest', async (context) => {
  const setting = await open(context);
  const client = connectTo(await setting.to('mail.org', 993));
  let heard = '';
  client.on('data', (data) => {
    heard += data;
  });
  client.end('A1 LOGOUT\r\n');
  await new Promise((resolve) => client.on('close', resolve));
  assert.match(heard, /got A1 LOGOUT\r\nbye\r\n$/);
});

test('another port of a granted name is refused, in the words of its protocol and with the key to add', async (context) => {
  const setting = await open(context, mailServer(), WAITING);
  const lacks = '; `network` in its manifest lacks "=mail.org:';
  const reason = 'cordon: the app may not reach this host and port';
  assert.equal(
    await converse(await setting.to('mail.org', 143), ['']),
    `* BYE [ALERT] ${reason}${lacks}143"\r\n`,
  );
  assert.equal(await converse(await setting.to('mail.org', 587), ['']), `554 ${reason}${lacks}587"\r\n`);
  assert.match(
    await converse(await setting.to('mail.org', 80), ['GET / HTTP/1.1\r\n\r\n']),
    /^HTTP\/1.1 403 .*:80"\n$/s,
  );
  assert.equal(await converse(await setting.to('mail.org', 443), ['\x16']), '\x15\x03\x01\x00\x02\x02\x31');
  assert.deepEqual([setting.asked, setting.lookedUp, setting.dialled], [[], [], []]);
  assert.equal(setting.refused.length, 4);
});

test('an address is reached only where the manifest lists it, and one that stands for no name never', async (context) => {
  const setting = await open(context, mailServer(), {
    ...WAITING,
    network: ['127.0.0.1:993', 'mail.org:587'],
  });
  assert.match(await converse(setting.at('127.0.0.1', 993), [''], ['ready\r\n']), /ready/);
  for (const [address, port] of [
    ['127.0.0.1', 587],
    ['127.0.0.2', 993],
    ['127.64.9.9', 587],
  ] as const)
    assert.doesNotMatch(await converse(setting.at(address, port), ['']), /ready/, address);
  assert.deepEqual(setting.dialled, ['127.0.0.1:993']);
});

test('a port without a listener is reported with the entry to add, and UDP with none', async (context) => {
  const setting = await open(context, mailServer(), { network: ['mail.org:993', 'mail.org:3128'] });
  const address = await setting.resolve('mail.org');
  for (const [protocol, at, port] of [
    ['tcp', address, 5432],
    ['tcp', '10.0.0.5', 6379],
    ['tcp', 'fd00::20', 22],
    ['tcp', '127.0.0.1', 3000],
    ['tcp', '::1', 3000],
    ['tcp', address, 3128],
    ['tcp', '127.64.9.9', 22],
    ['udp', address, 53],
    ['udp', '127.64.9.9', 123],
  ] as const)
    setting.unheard({ protocol, address: at, port });
  const lacks = 'the app may not reach this host and port';
  const nobody = 'no program in its sandbox listens there, nor may it reach this machine';
  const udp = 'it sent a datagram (UDP); only TCP leaves the sandbox';
  assert.deepEqual(setting.refused, [
    `mail.org: ${lacks}`,
    `10.0.0.5: ${lacks}`,
    `[fd00::20]: ${lacks}`,
    `127.0.0.1: ${nobody}`,
    `[::1]: ${nobody}`,
    'mail.org: the sandbox has no listener at this port; the entry is for the proxy only',
    'null: the address stands for no name',
    `mail.org: ${udp}`,
    `null: ${udp}`,
  ]);
  assert.deepEqual(setting.lacking, [
    '=mail.org:5432',
    '10.0.0.5:6379',
    '[fd00::20]:22',
    '127.0.0.1:3000',
    '[::1]:3000',
  ]);
  assert.deepEqual([setting.asked, setting.lookedUp, setting.dialled], [[], [], []]);
});

test('where the network of a sandbox cannot be set up, the entries that only the proxy reaches are reported', async (context) => {
  const network = ['127.0.0.1:993', '[::1]:993', '10.0.0.5:6379', '[fd00::20]:22', 'mail.org:587'];
  const reason =
    'this machine does not let Cordon lead the address into the sandbox; only programs that use the proxy reach it';
  const setting = await openDirect(context, mailServer(), { network }, false);
  assert.deepEqual(setting.refused, [`10.0.0.5: ${reason}`, `[fd00::20]: ${reason}`]);
  const whole = await openDirect(context, mailServer(), { network });
  assert.deepEqual(whole.refused, []);
});

test('a denial, a rejection and no answer all refuse, and the client reads that', async (context) => {
  for (const changes of [
    { decide: async () => false },
    { decide: () => Promise.reject(new Error('broken')) },
    { decide: () => new Promise<boolean>(() => {}), decideMs: 20 },
  ]) {
    const setting = await open(context, mailServer(), { ...WAITING, ...changes });
    assert.match(
      await converse(await setting.to('smtp.mail.org', 587), ['']),
      /^554 cordon: (the request|nobody)/,
    );
    assert.deepEqual([setting.dialled, setting.lookedUp], [[], []]);
  }
});

test('a client that begins with TLS reads at any port that access was denied', async (context) => {
  const network = ['web.org:8080', 'a.org:6379', 'b.org:5432'];
  const setting = await open(context, mailServer(), { decide: async () => false });
  // One that is denied, one that the manifest does not list.
  for (const name of ['web.org', 'good.com']) {
    const place = await setting.to(name, 8080);
    assert.ok('host' in place);
    const client = connectTls({ ...place, servername: name, rejectUnauthorized: false });
    const [error] = await once(client, 'error');
    assert.equal(Object(error).code, 'ERR_SSL_TLSV1_ALERT_ACCESS_DENIED', name);
  }
  assert.deepEqual(setting.dialled, []);
  const places = await open(context, mailServer(), { network: [...network, 'good.com'] });
  for (const port of [80, 143, 5432, 6379]) {
    const hello = await clientHello('good.com');
    assert.equal(
      await converse(await places.to('good.com', port), [hello]),
      '\x15\x03\x01\x00\x02\x02\x31',
      `${port}`,
    );
  }
  // In the clear each reads the words of its protocol.
  const clear = await converse(await places.to('good.com', 6379), ['PING\r\n']);
  assert.match(clear, /^-ERR cordon: .*lacks "=good\.com:6379"\r\n$/);
  assert.match(await converse(await places.to('good.com', 5432), ['\0\0\0\x08']), /^E.*SFATAL.*cordon: /s);
  assert.deepEqual(places.dialled, []);
  const waits = await open(context, mailServer(), { ...WAITING, decide: async () => false });
  const reason = 'cordon: the request was denied\r\n';
  assert.equal(await converse(await waits.to('web.org', 8080), ['']), reason);
  // Not HTTP, which is answered in its own words.
  assert.equal(await converse(await waits.to('web.org', 8080), ['SSH-2.0-x\r\n']), reason);
});

test('a name that leads to an address that is not public is refused, also once it has changed', async (context) => {
  const answers = [['93.184.215.14'], ['169.254.169.254'], ['93.184.215.15', '10.0.0.1'], ['::1'], []];
  const setting = await open(context, mailServer(), {
    ...WAITING,
    lookup: async () => answers.shift() ?? [],
  });
  const place = await setting.to('smtp.mail.org', 587);
  assert.match(await converse(place, [''], ['ready']), /ready/);
  for (let time = 0; time < 4; time++) assert.match(await converse(place, ['']), /^554 cordon: the name /);
  assert.deepEqual(setting.dialled, ['93.184.215.14:587']);
});

test('TLS has to name the host or nobody; on port 443 it names the host', async (context) => {
  const setting = await open(context, echo());
  const says = async (name: string, port: number, hello: Promise<Buffer>) =>
    converse(await setting.to(name, port), [await hello]);
  assert.equal(await says('mail.org', 993, clientHello('mail.org')), 'got 22');
  assert.equal(await says('mail.org', 993, clientHello('')), 'got 22');
  assert.equal(await says('good.com', 443, clientHello('good.com')), 'got 22');
  // Attack: what was allowed for one host is used for another behind the same front.
  assert.equal(await says('mail.org', 993, clientHello('other.org')), '');
  assert.equal(await says('good.com', 443, clientHello('other.org')), '');
  assert.equal(await says('good.com', 443, clientHello('')), '');
  assert.equal(await says('good.com', 443, Promise.resolve(Buffer.from('SSH-2.0-x\r\n'))), '');
  assert.equal(setting.dialled.length, 3);
});

test('TLS that names another host is refused also when the client has waited', async (context) => {
  const setting = await open(context, mailServer(), WAITING);
  const place = await setting.to('mail.org', 993);
  const hello = async (name: string) => [Buffer.alloc(0), await clientHello(name)];
  assert.match(await converse(place, await hello('mail.org'), ['ready\r\n', 'got ']), /got /);
  assert.equal(await converse(place, await hello('other.org'), ['ready\r\n']), '* OK ready\r\n');
  await until(() => setting.closed.length === 2);
  assert.equal(setting.closed[1]?.cut, 'the server name in TLS differs from the host');
});

test('HTTP is decided request by request, with method and path, on port 80 and on others', async (context) => {
  const web = createWebServer((incoming, response) => response.end(`${incoming.method} ${incoming.url}`));
  const setting = await open(context, web);
  const get = (host: string, path: string) =>
    `GET ${path} HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`;
  assert.match(
    await converse(await setting.to('good.com', 80), [get('good.com', '/a')]),
    /200 OK.*GET \/a$/s,
  );
  assert.match(await converse(await setting.to('web.org', 8080), [get('web.org:8080', '/b')]), /GET \/b$/s);
  assert.match(await converse(await setting.to('web.org', 8080), [get('evil.net', '/c')]), / 400 /);
  // Attack: blank lines, which servers skip, hide what follows.
  assert.match(
    await converse(await setting.to('web.org', 8080), [`\r\n${get('web.org:8080', '/d')}`]),
    /GET \/d$/s,
  );
  assert.deepEqual(
    setting.asked.map(({ method, path }) => `${method} ${path}`),
    ['GET /a', 'GET /b', 'GET /d'],
  );
});

// Attack: the rest of the request comes when nobody looks any more.
for (const [what, beginning] of [
  ['its first letters', 'GE'],
  ['blank lines, which servers skip', '\r\n\r\n'],
  ['more blank lines than a line may hold', '\n'.repeat(9_000)],
  ['a line longer than any', `POST /${'x'.repeat(9_000)}`],
] as const)
  for (const [when, patienceMs] of [
    ['at once', 60_000],
    ['late', 1],
  ] as const)
    test(`what may begin a request of HTTP reaches no server undecided: ${what}, ${when}`, async (context) => {
      const { server, got } = recorder();
      const setting = await open(context, server, { limits: { patienceMs, headersMs: 100 } });
      const client = connectTo(await setting.to('web.org', 8080)).on('error', () => undefined);
      if (when === 'late') await until(() => setting.dialled.length === 1);
      client.write(beginning);
      await until(() => client.closed || got() !== '');
      assert.equal(got(), '');
      client.destroy();
    });

test('a request of HTTP that the client holds back is decided, too, and none follows words of the server', async (context) => {
  const { server, got } = recorder();
  const setting = await open(context, server, WAITING);
  const client = connectTo(await setting.to('web.org', 8080));
  await until(() => setting.dialled.length === 1);
  client.write('GET /late HTTP/1.1\r\nhost: web.org:8080\r\n\r\n');
  await until(() => setting.asked.length === 2);
  client.destroy();
  assert.deepEqual(
    setting.asked.map(({ method, path }) => `${method} ${path}`),
    ['CONNECT null', 'GET /late'],
  );
  await until(() => got() !== '');
  assert.match(got(), /^GET \/late HTTP\/1.1\r\n/);

  const greeting = await open(context, mailServer(), WAITING);
  const place = await greeting.to('web.org', 8080);
  const talk = await converse(place, ['', 'GET /x HTTP/1.1\r\nhost: web.org:8080\r\n\r\n'], ['ready\r\n']);
  assert.equal(talk, '* OK ready\r\n');
  await until(() => greeting.closed.length === 1);
  assert.equal(greeting.closed[0]?.cut, 'a request of HTTP follows words of the server');
});

test('connections at once, connections a minute and bytes of a session have limits', async (context) => {
  const setting = await open(context, mailServer(), {
    limits: { ...WAITING.limits, connections: 2, sessionBytesUp: 40 },
  });
  const place = await setting.to('smtp.mail.org', 587);
  const kept = [connectTo(place), connectTo(place)];
  await until(() => setting.dialled.length === 2);
  assert.match(await converse(place, ['']), /^554 cordon: the app has too many connections at once/);
  for (const client of kept) client.destroy();
  await until(() => setting.closed.length === 2);
  assert.match(await converse(place, ['', 'x'.repeat(30)], ['ready\r\n', 'xxx']), /got x/);
  await converse(place, ['', 'y'.repeat(30)], ['ready\r\n']);
  await until(() => setting.closed.length === 4);
  assert.equal(setting.closed[3]?.cut, 'more bytes were sent than the app may send');

  const few = await open(context, mailServer(), {
    limits: { ...WAITING.limits, requestsPerMinute: 1 },
    clock: () => 0,
  });
  const there = await few.to('smtp.mail.org', 587);
  assert.match(await converse(there, [''], ['ready']), /ready/);
  assert.match(await converse(there, ['']), /^554 cordon: the app makes too many requests a minute/);
});

test('connections to all ports together have a limit, so that the hub keeps its descriptors', async (context) => {
  const setting = await open(context, mailServer(), { limits: { connections: 2 } });
  const place = await setting.to('mail.org', 993);
  // Nothing is said: each waits for its first word.
  const clients = [993, 993, 443, 80, 8080].map((port) =>
    connectTo(port === 993 ? place : setting.at('127.0.0.1', port)).on('error', () => undefined),
  );
  await until(() => setting.refused.includes('null: too many connections to the proxy'));
  for (const client of clients) client.destroy();
  let answer = 'closed';
  while (answer === 'closed') answer = await setting.resolve('mail.org');
  assert.equal(answer, '127.64.0.1');
});

test('an app that floods its ports or its name server loses all of them', async (context) => {
  const limits = { ...WAITING.limits, connectionsPerMinute: 3 };
  const setting = await open(context, mailServer(), { limits, clock: () => 0 });
  const place = await setting.to('mail.org', 143);
  await converse(place, ['']);
  assert.equal(await setting.resolve('mail.org'), 'closed');
  assert.equal(await converse(place, ['']), '');
  assert.ok(setting.refused.includes('null: it floods the proxy, which is closed'));
});

test('a slow reader holds up the server and not the memory of the hub', async (context) => {
  let written = 0;
  const flood = createServer((client) => {
    const more = () => {
      while (client.write(Buffer.alloc(65_536))) written += 65_536;
    };
    client.on('error', () => undefined).on('drain', more);
    more();
  });
  const setting = await open(context, flood, { limits: { ...WAITING.limits, quietMs: 200 } });
  const client = connectTo(await setting.to('mail.org', 993)).pause();
  client.on('error', () => undefined);
  // Nobody reads: it stands still until it counts as silent.
  await until(() => setting.closed.length === 1);
  assert.equal(setting.closed[0]?.cut, 'nothing came for too long');
  assert.ok(written < 32 * 1024 * 1024, `${written}`);
  client.destroy();
});

test('a server that cannot be reached ends the connection', async (context) => {
  const setting = await open(context, mailServer(), {
    ...WAITING,
    dial: async () => failed({ code: 'ECONNREFUSED', message: 'refused' }),
  });
  assert.equal(await converse(await setting.to('mail.org', 993), ['']), '');
  assert.deepEqual(
    setting.closed.map(({ cut }) => cut),
    ['no connection'],
  );
});

test('what is open can be cut, and others can be opened afterwards', async (context) => {
  const setting = await open(context, mailServer(), WAITING);
  const place = await setting.to('mail.org', 993);
  const client = connectTo(place);
  await new Promise((resolve) => client.once('data', resolve));
  setting.budget.cutAll('the query is over');
  await new Promise((resolve) => client.on('close', resolve).resume());
  assert.deepEqual(
    setting.closed.map(({ cut }) => cut),
    ['the query is over'],
  );
  assert.match(await converse(place, [''], ['ready']), /ready/);
});

test('a request of HTTP that waits for its answer can be cut, too', async (context) => {
  const setting = await open(context, createServer(), WAITING);
  const request = 'GET /slow HTTP/1.1\r\nhost: good.com\r\n\r\n';
  const answer = converse(await setting.to('good.com', 80), [request]);
  await until(() => setting.dialled.length === 1);
  // From the dial to the request it is still on its way.
  while (setting.closed.length === 0) {
    setting.budget.cutAll('the query is over');
    await new Promise((resolve) => setImmediate(resolve));
  }
  assert.match(await answer, /^HTTP\/1.1 502 .*the query is over/s);
  assert.deepEqual(
    setting.closed.map(({ cut }) => cut),
    ['the query is over'],
  );
});

test('what is cut before there is a connection gets none', async (context) => {
  const dialled = Promise.withResolvers<void>();
  const server = mailServer();
  const setting = await open(context, server, {
    ...WAITING,
    dial: async () => {
      setting.budget.cutAll('the query is over');
      await dialled.promise;
      return ok(connectTo({ host: '127.0.0.1', port: await listening(server) }));
    },
  });
  const conversation = converse(await setting.to('mail.org', 993), ['']);
  await until(() => setting.closed.length === 1);
  dialled.resolve();
  assert.equal(await conversation, '');
  assert.deepEqual(
    setting.closed.map(({ cut, bytesDown }) => [cut, bytesDown]),
    [['the query is over', 0]],
  );
});

test('when the hub closes, connections end and nothing listens any more', async (context) => {
  const setting = await open(context, mailServer(), WAITING);
  const place = await setting.to('mail.org', 993);
  const client = connectTo(place);
  await new Promise((resolve) => client.once('data', resolve));
  const ended = new Promise((resolve) => client.on('close', resolve).resume());
  await setting.close();
  await ended;
  assert.equal(
    await new Promise((resolve) =>
      connectTo(place).on('error', ({ code }: NodeJS.ErrnoException) => resolve(code)),
    ),
    'ECONNREFUSED',
  );
});
