// biome-ignore-all lint/suspicious/noTemplateCurlyInString: a placeholder as people write it
/** Requests that the hub makes itself: where a credential goes, and that it never comes back. */

import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import { connect, createServer as createTcpServer, type Server } from 'node:net';
import { type TestContext, test } from 'node:test';
import { ok } from '@cordon/core';
import fc from 'fast-check';
import { masked } from '../src/credential.ts';
import {
  Budget,
  DEFAULT_EGRESS_LIMITS,
  type EgressRequest,
  type FetchOptions,
  type FetchRequest,
  fetchFor,
  parseReach,
  type Reach,
  readyCredential,
  secureByAuthorities,
  type Traffic,
} from '../src/index.ts';
import '../../../tools/seed.ts';

const SECRET = 'k3y/of+the=user&1';

interface Setting {
  readonly fetch: (asked: Partial<FetchRequest>, options?: Partial<FetchOptions>) => Promise<string>;
  readonly asked: EgressRequest[];
  readonly dialled: string[];
  readonly refused: string[];
  readonly closed: Traffic[];
  readonly got: IncomingMessage[];
  /** For api.good.com, in `authorization`. */
  readonly credential: FetchOptions['credential'];
  readonly secured: string[];
  readonly budget: Budget;
}

const reach = (...network: readonly string[]): Reach => {
  const parsed = parseReach(network);
  assert.ok(parsed.ok);
  return parsed.value;
};

/** TLS is only named, not spoken: what is checked about it stands in `secured`. */
async function open(context: TestContext, listener: RequestListener, server?: Server): Promise<Setting> {
  const got: IncomingMessage[] = [];
  const upstream =
    server ??
    createServer((incoming, response) => {
      got.push(incoming);
      listener(incoming, response);
    });
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
  context.after(() => upstream.close());
  const address = upstream.address();
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
  const told = {
    asked: [] as EgressRequest[],
    dialled: [] as string[],
    refused: [] as string[],
    closed: [] as Traffic[],
    secured: [] as string[],
  };
  const way: FetchOptions['way'] = {
    reach: reach('good.com', 'good.com:80', 'other.org', '127.0.0.1:8080'),
    decide: async (asked) => told.asked.push(asked) > 0,
    decideMs: 60_000,
    lookup: async () => ['93.184.215.14'],
    dial: async (to, at) => {
      told.dialled.push(`${to}:${at}`);
      return ok(connect(port, '127.0.0.1'));
    },
    budget: new Budget(DEFAULT_EGRESS_LIMITS, () => performance.now()),
    onRefused: ({ host, reason }) => told.refused.push(`${host}: ${reason}`),
    onClosed: (_, traffic) => told.closed.push(traffic),
  };
  const credential = {
    hosts: reach('api.good.com'),
    header: 'authorization',
    ready: () => readyCredential('authorization', 'Bearer ${secret}', SECRET),
  };
  const fetch: Setting['fetch'] = async (asked, options = {}) => {
    const fetched = await fetchFor(
      { method: 'GET', url: 'https://api.good.com/a?b=1', headers: {}, body: Buffer.alloc(0), ...asked },
      {
        way,
        credential: null,
        answerBytes: 10_000,
        answerMs: 5_000,
        signal: new AbortController().signal,
        secure: async (socket, host) => {
          told.secured.push(host);
          return socket;
        },
        ...options,
      },
    );
    if (!fetched.ok) return `refused: ${fetched.fault}`;
    const { status, headers, body } = fetched.value;
    return `${status} ${JSON.stringify(headers)} ${body}`;
  };
  return { ...told, fetch, got, credential, budget: way.budget };
}

const says: RequestListener = (_, response) => response.end('hello');

test('a request is decided with method, path and length, and made over TLS for its host', async (context) => {
  const { fetch, asked, secured, got, closed, dialled } = await open(context, says);
  assert.match(
    await fetch({ method: 'POST', body: Buffer.from('four'), headers: { 'X-A': 'b' } }),
    /^200 .* hello$/,
  );
  assert.deepEqual(asked, [
    { host: 'api.good.com', port: 443, site: 'good.com', method: 'POST', path: '/a?b=1', bytes: 4 },
  ]);
  assert.deepEqual([secured, dialled], [['api.good.com'], ['93.184.215.14:443']]);
  const { host, 'x-a': own, 'content-length': length, 'accept-encoding': coding } = got[0]?.headers ?? {};
  assert.deepEqual([host, own, length, coding], ['api.good.com', 'b', '4', 'identity']);
  assert.equal(closed[0]?.cut, null);
});

test('a denied request makes no connection and reads no secret', async (context) => {
  const { fetch, credential, dialled } = await open(context, says);
  let reads = 0;
  const counted = credential && {
    ...credential,
    ready: () => {
      reads++;
      return credential.ready();
    },
  };
  const denied = await fetch(
    {},
    { credential: counted, way: { ...(await wayOf(context)), decide: async () => false } },
  );
  assert.equal(denied, 'refused: the request was denied');
  assert.deepEqual([reads, dialled], [0, []]);
  assert.match(await fetch({}, { credential: counted }), /^200 /);
  assert.equal(reads, 1);
});

async function wayOf(_context: TestContext): Promise<FetchOptions['way']> {
  return {
    reach: reach('good.com'),
    decide: async () => true,
    decideMs: 60_000,
    lookup: async () => ['93.184.215.14'],
    dial: () => assert.fail('dialled'),
    budget: new Budget(DEFAULT_EGRESS_LIMITS, () => performance.now()),
    onRefused: () => {},
    onClosed: () => {},
  };
}

test('the credential goes to its host, and to no other that the app may reach', async (context) => {
  const { fetch, credential, got, asked } = await open(context, says);
  assert.match(await fetch({}, { credential }), /^200 /);
  assert.equal(got[0]?.headers.authorization, `Bearer ${SECRET}`);
  for (const url of [
    'https://good.com/',
    'https://v2.api.good.com/',
    'https://other.org/',
    'http://127.0.0.1:8080/',
  ])
    assert.equal(await fetch({ url }, { credential }), 'refused: the credential is not for this host', url);
  assert.match(await fetch({ url: 'https://other.org/' }), /^200 /);
  assert.equal(got[1]?.headers.authorization, undefined);
  assert.equal(asked.length, 2);
});

test('the credential never goes in the clear', async (context) => {
  const { fetch, credential, got } = await open(context, says);
  const clear = credential && { ...credential, hosts: reach('good.com:80') };
  assert.equal(
    await fetch({ url: 'http://good.com/' }, { credential: clear }),
    'refused: the credential goes over https only',
  );
  assert.match(await fetch({ url: 'http://good.com/' }), /^200 /);
  assert.equal(got.length, 1);
});

test('a redirect is an answer: nothing follows it, and the credential does not', async (context) => {
  const { fetch, credential, got } = await open(context, (_, response) =>
    response.writeHead(302, { location: 'https://other.org/take' }).end(),
  );
  assert.match(await fetch({}, { credential }), /^302 .*https:\/\/other\.org\/take/);
  assert.equal(got.length, 1);
  assert.match(
    await fetch({ url: 'https://other.org/take' }, { credential }),
    /^refused: the credential is not/,
  );
});

test('headers of the app cannot begin others, frame the request, or stand where the credential does', async (context) => {
  const { fetch, credential, got } = await open(context, says);
  const wrong: Record<string, string>[] = [
    { 'x-a': 'b\r\nx-evil: 1' },
    { 'x-a': 'b\nx-evil: 1' },
    { 'x-a\r\nx-evil': '1' },
    { 'x-a': 'b\0' },
    { 'x-a': 'ä' },
    { 'x a': 'b' },
    { Host: 'other.org' },
    { 'Content-Length': '0' },
    { 'transfer-encoding': 'chunked' },
    { connection: 'upgrade', upgrade: 'websocket' },
    { 'Accept-Encoding': 'gzip' },
    { expect: '100-continue' },
    { 'proxy-authorization': 'x' },
    { 'x-a': '1', 'X-A': '2' },
    { 'x-a': 'y'.repeat(20_000) },
  ];
  for (const headers of wrong) assert.match(await fetch({ headers }), /^refused: /, JSON.stringify(headers));
  assert.match(
    await fetch({ headers: { Authorization: 'Bearer mine' } }, { credential }),
    /^refused: the header of/,
  );
  assert.equal(got.length, 0);
  assert.match(await fetch({ headers: { Authorization: 'Bearer mine' } }), /^200 /);
  assert.equal(got[0]?.headers.authorization, 'Bearer mine');
});

test('other methods and addresses are refused before they are decided', async (context) => {
  const { fetch, asked, refused } = await open(context, says);
  const wrong: Partial<FetchRequest>[] = [
    { method: 'CONNECT' },
    { method: 'TRACE' },
    { method: 'GET / HTTP/1.1\r\nx: y' },
    { url: 'https://evil.net/' },
    { url: 'https://good.com:25/' },
    { url: 'https://good.com:80/' },
    { url: 'http://good.com:443/' },
    { url: 'https://user:pass@good.com/' },
    { url: 'https://2130706433/' },
    { url: 'ftp://good.com/' },
    { url: 'file:///etc/passwd' },
    { url: 'https://good.com/a\r\nx: y' },
    { url: '/a' },
    { url: `https://good.com/${'a'.repeat(10_000)}` },
  ];
  for (const asked of wrong)
    assert.match(await fetch(asked), /^refused: /, JSON.stringify(asked).slice(0, 80));
  assert.equal(asked.length, 0);
  assert.equal(refused.length, wrong.length);
});

test('a secret that comes back is masked, however it is spelled', async (context) => {
  const inside = Buffer.from(`user:${SECRET}`).toString('base64');
  const spelled = [
    SECRET,
    encodeURIComponent(SECRET),
    JSON.stringify(SECRET),
    SECRET.replaceAll('/', '\\/'),
    SECRET.replaceAll('&', '&amp;'),
    Buffer.from(SECRET).toString('hex'),
    Buffer.from(SECRET).toString('base64'),
    Buffer.from(SECRET).toString('base64url'),
    inside,
  ];
  const { fetch, credential } = await open(context, (incoming, response) => {
    response.setHeader('x-echo', `${incoming.headers.authorization}`);
    response.setHeader('set-cookie', 'session=1');
    response.end(spelled.join('\n'));
  });
  const answer = await fetch({}, { credential });
  assert.match(answer, /^200 .*"x-echo":"\[secret\]"/);
  for (const spelling of spelled.slice(0, -1)) assert.ok(!answer.includes(spelling), spelling);
  assert.ok(!answer.includes(inside.slice(8, -4)));
  assert.doesNotMatch(answer, /set-cookie/);
  assert.match(await fetch({}), /set-cookie/);
});

test('an answer that cannot be searched for the secret is refused', async (context) => {
  const { fetch, credential } = await open(context, (_, response) =>
    response.writeHead(200, { 'content-encoding': 'gzip' }).end('x'),
  );
  assert.match(await fetch({}, { credential }), /^refused: the answer is compressed/);
  assert.match(await fetch({}), /^200 /);
});

test('an answer that is too long, too slow or cut short is refused', async (context) => {
  const { fetch, closed } = await open(context, (incoming, response) => {
    if (incoming.url === '/long') response.end('y'.repeat(20_000));
    else if (incoming.url === '/cut')
      response.writeHead(200, { 'content-length': 9 }).write('y', () => response.destroy());
    else if (incoming.url !== '/slow') response.end('y');
  });
  assert.match(await fetch({ url: 'https://good.com/long' }), /^refused: the answer has more/);
  assert.match(await fetch({ url: 'https://good.com/cut' }), /^refused: there was no answer/);
  assert.match(
    await fetch({ url: 'https://good.com/slow' }, { answerMs: 50 }),
    /^refused: there was no answer/,
  );
  assert.match(await fetch({ url: 'https://good.com/' }), /^200 /);
  assert.equal(closed.filter(({ cut }) => cut !== null).length, 3);
});

test('what is open when its query ends is cut', async (context) => {
  const { fetch, closed, budget } = await open(context, (_, response) =>
    response.write('y', () => budget.cutAll('the query is over')),
  );
  assert.match(await fetch({}), /^refused: there was no answer/);
  assert.deepEqual(
    closed.map(({ cut }) => cut),
    ['the query is over'],
  );
});

test('a server without the certificate for its name gets nothing', async (context) => {
  let bytes = '';
  const server = createTcpServer((socket) => {
    socket
      .on('error', () => {})
      .on('data', (data) => {
        bytes += data.toString('latin1');
        socket.end('no TLS');
      });
  });
  const { fetch, credential } = await open(context, says, server);
  assert.match(await fetch({}, { credential, secure: secureByAuthorities }), /^refused: there was no answer/);
  assert.ok(bytes.length > 0 && !bytes.includes(SECRET) && !bytes.includes('GET'));
});

test('a secret that is no header value is never sent', () => {
  for (const secret of ['short', 'with\r\nx-evil: 1', 'with\0null', 'ümlaut-key', 'x'.repeat(5000)])
    assert.equal(readyCredential('a', '${secret}', secret).ok, false);
  const ready = readyCredential('a', 'x ${secret}', '$& and $1 are text');
  assert.deepEqual(ready.ok && ready.value.value, 'x $& and $1 are text');
});

test('whatever stands around it, the secret does not come back', () => {
  const secret = fc.stringMatching(/^[ -~]{8,40}$/);
  fc.assert(
    fc.property(secret, fc.string(), fc.string(), (text, before, after) => {
      const ready = readyCredential('authorization', '${secret}', text);
      assert.ok(ready.ok);
      const around = (spelling: string) =>
        masked(Buffer.from(`${before}${spelling}${after}`), ready.value).toString();
      // What the mask itself spells is no leak.
      fc.pre(!'[secret]'.includes(text) && !before.includes(text) && !after.includes(text));
      assert.ok(!around(text).includes(text));
      assert.ok(!around(encodeURIComponent(text)).includes(encodeURIComponent(text)));
    }),
    { numRuns: 300, verbose: 1 },
  );
});
