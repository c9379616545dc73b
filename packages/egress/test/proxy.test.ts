import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, request } from 'node:http';
import { connect, createServer as createTcpServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { connect as connectTls } from 'node:tls';
import {
  DEFAULT_EGRESS_LIMITS,
  type EgressOptions,
  type EgressRequest,
  openEgressProxy,
} from '../src/index.ts';

interface Setting {
  readonly socket: string;
  readonly asked: EgressRequest[];
  readonly lookedUp: string[];
  readonly dialled: string[];
  readonly refused: string[];
}

/** A proxy for an app that may reach good.com on 80 and 443; every connection leads to `upstream`. */
async function open(
  context: TestContext,
  upstream: Server,
  changes: Partial<EgressOptions> = {},
): Promise<Setting> {
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
  const folder = mkdtempSync(join(tmpdir(), 'cordon-egress-'));
  const setting: Setting = {
    socket: join(folder, 'egress.sock'),
    asked: [],
    lookedUp: [],
    dialled: [],
    refused: [],
  };
  const address = upstream.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const proxy = await openEgressProxy(setting.socket, {
    reach: { sites: ['good.com'], ports: [80, 443] },
    decide: async (asked) => setting.asked.push(asked) > 0,
    decideMs: 500,
    lookup: async (host) => {
      setting.lookedUp.push(host);
      return ['93.184.215.14'];
    },
    dial: (to, at) => {
      setting.dialled.push(`${to}:${at}`);
      return connect(port, '127.0.0.1');
    },
    limits: { ...DEFAULT_EGRESS_LIMITS, headersMs: 500 },
    onRefused: (host, why) => setting.refused.push(`${host}: ${why}`),
    ...changes,
  });
  assert.equal(proxy.ok, true);
  context.after(async () => {
    upstream.close();
    if (proxy.ok) await proxy.value.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return setting;
}

function get(
  setting: Setting,
  url: string,
  headers: Record<string, string> = {},
  body = '',
): Promise<string> {
  return new Promise((resolve) => {
    const outgoing = request(
      {
        socketPath: setting.socket,
        path: url,
        method: body === '' ? 'GET' : 'POST',
        headers: { host: new URL(url).host, ...headers },
      },
      async (answer) => {
        let text = '';
        try {
          for await (const chunk of answer) text += chunk;
        } catch {
          text += ' cut';
        }
        resolve(`${answer.statusCode} ${text.trim()}`);
      },
    );
    outgoing.on('error', () => resolve('cut'));
    outgoing.end(body);
  });
}

/** Opens a tunnel, then sends what `after` says; resolves with all that came back. */
function tunnel(setting: Setting, authority: string, after: string | Buffer): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(setting.socket);
    let text = '';
    let isOpen = false;
    socket.on('data', (data) => {
      text += data.toString('latin1');
      if (!isOpen && text.startsWith('HTTP/1.1 200')) socket.write(after);
      isOpen = true;
    });
    socket.on('close', () => resolve(text)).on('error', () => {});
    socket.write(`CONNECT ${authority} HTTP/1.1\r\nhost: ${authority}\r\n\r\n`);
  });
}

/** The first bytes that a TLS client sends for this server name. */
function clientHello(servername: string): Promise<Buffer> {
  return new Promise((resolve) => {
    const server = createTcpServer((socket) =>
      socket.once('data', (data) => {
        resolve(data);
        socket.destroy();
        server.close();
      }),
    );
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      const port = typeof address === 'object' && address !== null ? address.port : 0;
      connectTls({ host: '127.0.0.1', port, ...(servername === '' ? {} : { servername }) }).on(
        'error',
        () => {},
      );
    });
  });
}

const web = () =>
  createServer((incoming, response) =>
    response.end(`${incoming.method} ${incoming.url} ${incoming.headers.host}`),
  );
const echo = () =>
  createTcpServer((socket) =>
    socket.on('error', () => {}).once('data', (data) => socket.end(`got ${data[0]}`)),
  );

test('an allowed request passes, and the monitor saw it first', async (context) => {
  const setting = await open(context, web());
  assert.equal(await get(setting, 'http://api.good.com/a?b=1'), '200 GET /a?b=1 api.good.com');
  assert.deepEqual(setting.asked, [
    { host: 'api.good.com', port: 80, site: 'good.com', method: 'GET', path: '/a?b=1' },
  ]);
  assert.deepEqual(setting.dialled, ['93.184.215.14:80']);
});

test('other sites, ports and addresses are refused without a look-up or a question', async (context) => {
  const setting = await open(context, web());
  for (const url of [
    'http://evil.net/',
    'http://good.com.evil.net/',
    'http://good.com:8080/',
    'http://127.0.0.1/',
    'http://localhost/',
  ])
    assert.match(await get(setting, url), /^403 /, url);
  assert.deepEqual([setting.asked, setting.lookedUp, setting.dialled], [[], [], []]);
  assert.equal(setting.refused.length, 5);
});

test('a denial, a thrown error and no answer all deny', async (context) => {
  for (const decide of [
    async () => false,
    () => Promise.reject(new Error('broken')),
    () => new Promise<boolean>(() => {}),
  ]) {
    const setting = await open(context, web(), { decide });
    assert.equal(await get(setting, 'http://good.com/'), '403 the request was denied');
    assert.deepEqual(setting.dialled, []);
  }
});

test('a name with one private answer is refused as a whole', async (context) => {
  for (const answers of [['169.254.169.254'], ['93.184.215.14', '10.0.0.1'], []]) {
    const setting = await open(context, web(), { lookup: async () => answers });
    assert.match(await get(setting, 'http://good.com/'), /^403 the name/);
    assert.deepEqual(setting.dialled, []);
  }
});

test('a Host header that differs from the URL is refused', async (context) => {
  const setting = await open(context, web());
  assert.match(await get(setting, 'http://good.com/', { host: 'evil.net' }), /^403 `Host` differs/);
});

test('credentials for the proxy and hop-by-hop headers go no further', async (context) => {
  const server = createServer((incoming, response) =>
    response.end(Object.keys(incoming.headers).sort().join()),
  );
  const setting = await open(context, server);
  const headers = { 'proxy-authorization': 'x', connection: 'x-secret', 'x-secret': '1', 'x-kept': '1' };
  assert.equal(await get(setting, 'http://good.com/', headers), '200 connection,host,x-kept');
});

test('an upload over its limit is cut', async (context) => {
  const server = createServer((incoming, response) => incoming.resume().on('end', () => response.end('all')));
  const setting = await open(context, server, { limits: { ...DEFAULT_EGRESS_LIMITS, bytesUp: 1000 } });
  assert.equal(await get(setting, 'http://good.com/', {}, 'x'.repeat(900)), '200 all');
  assert.match(await get(setting, 'http://good.com/', {}, 'x'.repeat(100_000)), /^502|^cut/);
});

test('a tunnel opens for TLS to the very name, also when the hello comes in pieces', async (context) => {
  const setting = await open(context, echo());
  assert.match(
    await tunnel(setting, 'api.good.com:443', await clientHello('api.good.com')),
    /^HTTP\/1.1 200 .*got 22$/s,
  );
  assert.deepEqual(setting.asked, [
    { host: 'api.good.com', port: 443, site: 'good.com', method: 'CONNECT', path: null },
  ]);
});

test('another server name, none, or no TLS at all never reaches the upstream', async (context) => {
  const setting = await open(context, echo());
  const hellos = [
    await clientHello('other.good.com'),
    await clientHello(''),
    'GET / HTTP/1.1\r\n\r\n',
    Buffer.from([22, 3, 1, 0, 0]),
  ];
  for (const hello of hellos)
    assert.equal((await tunnel(setting, 'good.com:443', hello)).includes('got'), false);
  assert.deepEqual(setting.dialled, []);
  assert.equal(setting.refused.length, 4);
});

test('a silent tunnel is closed', async (context) => {
  const setting = await open(context, echo());
  assert.equal((await tunnel(setting, 'good.com:443', '')).includes('got'), false);
  assert.deepEqual(setting.refused, ['good.com: the tunnel stayed silent']);
});

test('tunnels to other ports and sites are refused', async (context) => {
  const setting = await open(context, echo());
  for (const authority of ['good.com:25', 'evil.net:443', '127.0.0.1:443', 'good.com', '[::1]:443'])
    assert.match(await tunnel(setting, authority, ''), /^HTTP\/1.1 40[03] /, authority);
  assert.deepEqual(setting.dialled, []);
});
