/** Apps and servers that stall, flood or mislead the proxy, each beside one that behaves. */

import assert from 'node:assert/strict';
import { createServer as createHttpServer } from 'node:http';
import { connect, createServer as createTcpServer, type Server } from 'node:net';
import { constants } from 'node:os';
import { type TestContext, test } from 'node:test';
import { createServer as createTlsServer, getCACertificates, setDefaultCACertificates } from 'node:tls';
import { ok } from '@cordon/core';
import { CERTIFICATE, CERTIFICATE_KEY } from '@cordon/testkit/certificate.ts';
import {
  Budget,
  DEFAULT_EGRESS_LIMITS,
  type FetchOptions,
  fetchFor,
  openEgressProxy,
  parseReach,
  secureByAuthorities,
  type WayOut,
} from '../src/index.ts';
import { converse, get, OPENED, open, recorder, type Setting } from './setting.ts';

/** Answers every connection with this head. */
const answering = (head: string) =>
  createTcpServer((socket) =>
    socket
      .on('error', () => {})
      .once('data', () => socket.end(`HTTP/1.1 ${head}\r\ncontent-length: 2\r\n\r\nok`)),
  );

test('a status that no answer can have ends the request and not the hub; an uncommon one passes', async (context) => {
  for (const status of ['000', '001', '099', '101']) {
    const setting = await open(context, answering(`${status} x`));
    assert.equal(await get(setting, 'http://good.com/'), '502 cordon: the answer has no status', status);
    assert.deepEqual(
      setting.closed.map(({ cut }) => cut),
      ['the answer has no status'],
    );
  }
  for (const status of ['203', '999']) {
    const setting = await open(context, answering(`${status} x`));
    assert.equal(await get(setting, 'http://good.com/'), `${status} ok`);
  }
});

test('a head that dribbles into a tunnel is cut; one that comes at once passes', async (context) => {
  const setting = await open(context, recorder().server, {
    network: ['good.com:8080'],
    limits: { headersMs: 100 },
  });
  const tunnel = 'CONNECT good.com:8080 HTTP/1.1\r\nhost: good.com:8080\r\n\r\n';
  const slow = await converse(setting, [tunnel, 'GET / HTTP/1.1\r\nhost: good'], [OPENED]);
  assert.doesNotMatch(slow, / 200 OK/);
  assert.match(setting.refused.join(), /^good.com: .*too slow/);
  const whole = 'GET / HTTP/1.1\r\nhost: good.com:8080\r\n\r\n';
  const patient = await open(context, recorder().server, { network: ['good.com:8080'] });
  assert.match(await converse(patient, [tunnel, whole], [OPENED, /ok$/]), / 200 OK/);
});

test('an app that floods its proxy has none any more; as many requests at its own pace pass', async (context) => {
  const limits = { connectionsPerMinute: 20 };
  let minutes = 0;
  const patient = await open(context, recorder().server, { limits, clock: () => minutes++ * 60_000 });
  const flooding = await open(context, recorder().server, { limits, clock: () => 0 });
  const answers = { patient: [] as string[], flooding: [] as string[] };
  for (let time = 0; time < 22; time++) {
    answers.patient.push(await get(patient, 'http://bad.com/'));
    answers.flooding.push(await get(flooding, 'http://bad.com/'));
  }
  const refused =
    '403 cordon: the app may not reach this host and port; `network` in its manifest lacks "=bad.com:80"';
  assert.deepEqual(answers.patient, Array(22).fill(refused));
  assert.deepEqual(answers.flooding, [...Array(20).fill(refused), 'cut', 'cut']);
  assert.equal(flooding.refused.at(-1), 'null: it floods the proxy, which is closed');
});

test('a server that only announces its answer is cut; one that announces it a few times answers', async (context) => {
  const hinting = (times: number, isAnswering = true) =>
    createTcpServer((socket) =>
      socket
        .on('error', () => {})
        .once('data', () => {
          socket.write('HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n'.repeat(times));
          if (isAnswering) socket.end('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok');
        }),
    );
  // Also where the answer comes in the same piece.
  for (const isAnswering of [false, true]) {
    const endless = await open(context, hinting(20, isAnswering));
    assert.equal(await get(endless, 'http://good.com/'), '502 cordon: the server only announces an answer');
    assert.equal(endless.closed[0]?.cut, 'the server only announces an answer');
  }
  assert.equal(await get(await open(context, hinting(3)), 'http://good.com/'), '200 ok');
});

test('a body in chunks of one byte passes, as slowly as the hub can bear', async (context) => {
  const bodies: string[] = [];
  const upstream = createHttpServer(async (incoming, answer) => {
    let body = '';
    for await (const chunk of incoming) body += chunk;
    bodies.push(body);
    for (const letter of 'b'.repeat(body === '' ? 30 : 1)) answer.write(letter);
    answer.end();
  });
  const limits = { smallPiecesPerSecond: 10 };
  // Time stands still for the budget: of 20 pieces at once nothing comes back.
  const took = async (ask: (setting: Setting) => Promise<string>, wanted: RegExp) => {
    const setting = await open(context, upstream, { limits, clock: () => 0 });
    const began = performance.now();
    assert.match(await ask(setting), wanted);
    return performance.now() - began;
  };
  assert.ok((await took((setting) => get(setting, 'http://good.com/'), /^200 b{30}$/)) > 9 * 20);
  const head =
    'POST http://good.com/ HTTP/1.1\r\nhost: good.com\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n';
  const chunks = `${'1\r\na\r\n'.repeat(30)}0\r\n\r\n`;
  assert.ok((await took((setting) => converse(setting, [head + chunks]), /^HTTP\/1.1 200 OK/)) > 9 * 20);
  assert.deepEqual(bodies, ['', 'a'.repeat(30)]);
});

test('what comes with requests that are refused counts as a flood; small ones pass', async (context) => {
  const limits = { connectionsPerMinute: 200 };
  const head = 'POST http://bad.com/ HTTP/1.1\r\nhost: bad.com\r\ntransfer-encoding: chunked\r\n\r\n';
  const refusedWith = async (body: string) => {
    const setting = await open(context, recorder().server, { limits, clock: () => 0 });
    for (let time = 0; time < 30; time++) await converse(setting, [head + body]);
    return setting.refused.at(-1);
  };
  assert.equal(await refusedWith('1\r\na\r\n'.repeat(20_000)), 'null: it floods the proxy, which is closed');
  assert.equal(await refusedWith('1\r\na\r\n'), 'bad.com: the app may not reach this host and port');
});

test('what came with earlier requests of a connection does not count with one that is refused', async (context) => {
  const upstream = createHttpServer((incoming, answer) => {
    incoming.resume().on('end', () => answer.end('ok'));
  });
  const limits = { connectionsPerMinute: 200 };
  const setting = await open(context, upstream, { limits, clock: () => 0 });
  const upload = `POST http://good.com/ HTTP/1.1\r\nhost: good.com\r\ncontent-length: 70000\r\n\r\n${'a'.repeat(70_000)}`;
  const forbidden = 'GET http://bad.com/ HTTP/1.1\r\nhost: bad.com\r\n\r\n';
  for (let time = 0; time < 3; time++)
    assert.match(await converse(setting, [upload, forbidden], [/ok/]), /HTTP\/1.1 403/);
  assert.deepEqual(setting.refused, Array(3).fill('bad.com: the app may not reach this host and port'));
});

test('small pieces of all requests of an app count together, large ones never, and a slowed one as many requests', () => {
  let now = 0;
  const limits = { ...DEFAULT_EGRESS_LIMITS, requestsPerMinute: 24, smallPiecesPerSecond: 5 };
  const budget = new Budget(limits, () => now);
  const contact = () => {
    const begun = budget.begin(null);
    return begun.ok ? begun.value : null;
  };
  const [one, other] = [contact(), contact()];
  const taken = Array.from({ length: 12 }, (_, at) => (at % 2 === 0 ? one : other)?.takePiece(127));
  assert.deepEqual(taken, [...Array(10).fill(true), false, false]);
  assert.equal(one?.takePiece(128), true);
  assert.equal(contact(), null); // of 24 requests two are made, and two slowed ones count for 20 each
  now = 1_000;
  assert.equal(one?.takePiece(1), true);
  now = 60_000;
  assert.notEqual(contact(), null);
});

/** Everything leads to this port. */
function wayOut(port: number): WayOut {
  const reach = parseReach(['good.com', 'good.com:80', 'other.org']);
  assert.ok(reach.ok);
  return {
    reach: reach.value,
    decide: async () => true,
    decideMs: 5_000,
    lookup: async () => ['93.184.215.14'],
    dial: async () => ok(connect(port, '127.0.0.1')),
    budget: new Budget(DEFAULT_EGRESS_LIMITS, () => performance.now()),
    onRefused: () => undefined,
    onClosed: () => undefined,
  };
}

test('connections that cannot be accepted are told, and the next one is served', async (context) => {
  const listener = createTcpServer();
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  const address = listener.address();
  const refused: string[] = [];
  const onRefused = ({ reason }: { readonly reason: string }) => void refused.push(reason);
  const proxy = await openEgressProxy(listener, { ...wayOut(0), onRefused });
  assert.ok(proxy.ok);
  context.after(() => proxy.value.close());
  const handle: unknown = Reflect.get(listener, '_handle');
  assert.ok(typeof handle === 'object' && handle !== null);
  const accept: unknown = Reflect.get(handle, 'onconnection');
  assert.ok(typeof accept === 'function');
  for (let time = 0; time < 3; time++) Reflect.apply(accept, handle, [-constants.errno.ENFILE]);
  assert.equal(refused.length, 3);
  assert.match(String(refused[0]), /^no connection: .*ENFILE/);
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
  const answer = await fetch(`http://127.0.0.1:${port}/`, { headers: { connection: 'close' } });
  assert.equal(answer.status, 400);
});

/** What becomes of a request that the hub makes, to whatever host, at this server. */
async function fetched(
  context: TestContext,
  server: Server,
  url: string,
  {
    way = {},
    ...changes
  }: { readonly way?: Partial<FetchOptions['way']> } & Partial<Omit<FetchOptions, 'way'>>,
): Promise<string> {
  if (!server.listening) await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  context.after(() => server.close());
  const address = server.address();
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
  const outcome = await fetchFor(
    { method: 'GET', url, headers: {}, body: Buffer.alloc(0) },
    {
      way: { ...wayOut(port), ...way },
      credential: null,
      answerBytes: 10_000,
      answerMs: 5_000,
      signal: new AbortController().signal,
      secure: secureByAuthorities,
      ...changes,
    },
  );
  return outcome.ok ? `${outcome.value.status} ${outcome.value.body}` : `refused: ${outcome.fault}`;
}

test('a request whose app ended while it was decided is not made, and its secret not read', async (context) => {
  const { server, got } = recorder();
  for (const isOver of [true, false]) {
    const ending = new AbortController();
    const decide = async () => {
      if (isOver) ending.abort();
      return true;
    };
    const said = await fetched(context, server, 'http://good.com/', {
      way: { decide },
      signal: ending.signal,
    });
    assert.equal(said, isOver ? 'refused: the request was stopped' : '200 ok');
    assert.equal(got().length > 0, !isOver);
  }
  const reads: string[] = [];
  const ending = new AbortController();
  const decide = async () => {
    ending.abort();
    return true;
  };
  const ready = () => {
    reads.push('read');
    return { ok: false, fault: 'no secret' } as const;
  };
  const hosts = parseReach(['good.com']);
  assert.ok(hosts.ok);
  const credential = { hosts: hosts.value, header: 'authorization', ready };
  await fetched(context, server, 'https://good.com/', { way: { decide }, signal: ending.signal, credential });
  assert.deepEqual(reads, []);
});

test('only a certificate of the authorities for that very name will do, whatever the environment says', async (context) => {
  const before = { authorities: getCACertificates(), variable: process.env.NODE_TLS_REJECT_UNAUTHORIZED };
  context.after(() => {
    setDefaultCACertificates(before.authorities);
    if (before.variable === undefined) delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
    else process.env.NODE_TLS_REJECT_UNAUTHORIZED = before.variable;
  });
  const server = createTlsServer({ key: CERTIFICATE_KEY, cert: CERTIFICATE }, (socket) =>
    socket
      .on('error', () => {})
      .once('data', () => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok')),
  ).on('tlsClientError', () => {});
  const to = (host: string) => fetched(context, server, `https://${host}/`, {});
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
  assert.equal(await to('api.good.com'), 'refused: there was no answer');
  setDefaultCACertificates([...before.authorities, CERTIFICATE]);
  assert.equal(await to('api.good.com'), '200 ok');
  assert.equal(await to('other.org'), 'refused: there was no answer');
});
