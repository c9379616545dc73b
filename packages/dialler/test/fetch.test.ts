/** `fetch` over connections that somebody else opens: what passes, and what a hostile server can make of it. */
import assert from 'node:assert/strict';
import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo, Server } from 'node:net';
import { type TestContext, test } from 'node:test';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { CERTIFICATE, CERTIFICATE_KEY } from '@cordon/testkit/certificate.ts';
import { fetchOver } from '../src/fetch.ts';
import { type Dial, HERE } from '../src/index.ts';
import { listening } from './fixture.ts';

async function portOf(context: TestContext, server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  context.after(() => void server.close());
  return (server.address() as AddressInfo).port;
}

const answering = (context: TestContext, listener: RequestListener) =>
  portOf(context, createHttpServer(listener));

test('a request arrives as it was made, and each connection serves the next request', async (context) => {
  let dials = 0;
  const dial: Dial = (host, port, signal) => {
    dials++;
    return HERE.dial(host, port, signal);
  };
  const port = await answering(context, async (incoming, response) => {
    const body = (await incoming.toArray()).join('');
    response.setHeader('x-heard', `${incoming.method} ${incoming.headers['x-one']} ${body}`);
    response.end('well');
  });
  const fetch = fetchOver(dial);
  for (const _ of [1, 2]) {
    const options = { method: 'POST', headers: { 'x-one': '1' }, body: 'hello' };
    const response = await fetch(`http://127.0.0.1:${port}/a?b`, options);
    assert.deepEqual([response.status, response.headers.get('x-heard')], [200, 'POST 1 hello']);
    assert.equal(await response.text(), 'well');
  }
  assert.equal(dials, 1);
});

test('what comes in pieces is read in pieces', async (context) => {
  const go = Promise.withResolvers<void>();
  const port = await answering(context, async (_incoming, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write('data: 1\n\n');
    await go.promise;
    response.end('data: 2\n\n');
  });
  const response = await fetchOver(HERE.dial)(`http://127.0.0.1:${port}/`);
  const pieces: string[] = [];
  for await (const piece of response.body ?? []) {
    pieces.push(Buffer.from(piece).toString());
    go.resolve();
  }
  assert.deepEqual(pieces, ['data: 1\n\n', 'data: 2\n\n']);
});

test('a request that is stopped ends its body', async (context) => {
  const port = await answering(context, (_incoming, response) => void response.write('x'));
  const stop = new AbortController();
  const response = await fetchOver(HERE.dial)(`http://127.0.0.1:${port}/`, { signal: stop.signal });
  stop.abort();
  await assert.rejects(response.text());
});

test('why there is no connection is the cause, with its code', async () => {
  await assert.rejects(fetchOver(HERE.dial)('http://127.0.0.1:1/'), (error: Error) => {
    assert.equal(error.message, 'fetch failed');
    assert.equal(Object(error.cause).code, 'ECONNREFUSED');
    return true;
  });
});

test('a certificate is believed for its host, by authorities that are known, and not otherwise', async (context) => {
  const server = createHttpsServer({ cert: CERTIFICATE, key: CERTIFICATE_KEY }, (_incoming, response) =>
    response.end('secret'),
  );
  const port = await portOf(context, server);
  const get = (host: string) => fetchOver(() => HERE.dial('127.0.0.1', port))(`https://${host}/`);
  const before = getCACertificates('default');
  const codeOf = (host: string) =>
    get(host).then(
      () => 'answered',
      (error: Error) => Object(error.cause).code,
    );
  assert.equal(await codeOf('api.good.com'), 'DEPTH_ZERO_SELF_SIGNED_CERT');
  try {
    setDefaultCACertificates([...before, CERTIFICATE]);
    assert.equal(await (await get('api.good.com')).text(), 'secret');
    assert.equal(await codeOf('other.org'), 'ERR_TLS_CERT_ALTNAME_INVALID');
  } finally {
    setDefaultCACertificates(before);
  }
});

for (const [what, ms, expected] of [
  ['is ended', 50, 'fetch failed'],
  ['may still answer', 60_000, 'at last'],
] as const) {
  test(`a request on whose connection nothing comes ${what}`, { timeout: 10_000 }, async (context) => {
    const { port } = await listening(context, (socket) => {
      context.after(() => socket.destroy());
      const answer = 'HTTP/1.1 200 OK\r\ncontent-length: 7\r\n\r\nat last';
      socket.once('data', () => setTimeout(() => socket.writable && socket.end(answer), 300));
    });
    const answered = fetchOver(HERE.dial, ms)(`http://127.0.0.1:${port}/`);
    assert.equal(
      await answered.then(
        (one) => one.text(),
        (error: Error) => error.message,
      ),
      expected,
    );
  });
}

test('a redirect is an answer', async (context) => {
  const port = await answering(context, (_incoming, response) => {
    response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end();
  });
  const response = await fetchOver(HERE.dial)(`http://127.0.0.1:${port}/`);
  assert.deepEqual([response.status, response.headers.get('location')], [302, 'http://127.0.0.1:1/']);
});

for (const [answer, status] of [
  ['HTTP/1.1 204 No Content\r\n\r\n', 204],
  ['HTTP/1.1 205 Reset Content\r\ncontent-length: 0\r\n\r\n', 205],
  ['HTTP/1.1 304 Not Modified\r\n\r\n', 304],
  ['HTTP/1.1 599 Odd\r\ncontent-length: 0\r\n\r\n', 599],
  ['HTTP/1.1 000 \r\ncontent-length: 0\r\n\r\n', null],
  ['HTTP/1.1 600 Odd\r\ncontent-length: 0\r\n\r\n', null],
  ['HTTP/1.1 999 Odd\r\ncontent-length: 0\r\n\r\n', null],
  ['HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n', null],
  ['nonsense\r\n\r\n', null],
] as const) {
  test(`${JSON.stringify(answer)} is ${status ?? 'a failure, and ends nothing else'}`, async (context) => {
    const { port } = await listening(context, (socket) => void socket.once('data', () => socket.end(answer)));
    const fetched = fetchOver(HERE.dial)(`http://127.0.0.1:${port}/`);
    if (status === null) return assert.rejects(fetched, /fetch failed/);
    assert.equal((await fetched).status, status);
  });
}
