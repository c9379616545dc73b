// biome-ignore-all lint/suspicious/noTemplateCurlyInString: a placeholder as people write it
/**
 * `cordon/fetch` from an app's side: the official client answers it, over the same lines as everything else. What goes
 * out is a server of the test; TLS is named and not spoken.
 */
import assert from 'node:assert/strict';
import { createServer, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { PassThrough } from 'node:stream';
import { type TestContext, test } from 'node:test';
import {
  type Credential,
  DEFAULT_APP_LIMITS,
  failed,
  fault,
  isJsonObject,
  type Json,
  type JsonObject,
  ok,
} from '@cordon/core';
import { Budget, DEFAULT_EGRESS_LIMITS, type EgressRequest, parseReach } from '@cordon/egress';
import { LineDecoder } from '@cordon/protocol';
import { Client } from '@modelcontextprotocol/client';
import { StreamTransport } from '../../src/apps/mcp-transport.ts';
import { type FetchParts, serveFetch } from '../../src/egress/hub-fetch.ts';

const SECRET = 'secret-of-the-user';
const TOKEN: Credential = {
  name: 'token',
  header: 'authorization',
  format: 'Bearer ${secret}',
  hosts: ['api.good.com'],
  secret: { kind: 'variable', name: 'TOKEN' },
};

interface App {
  /** What the hub said that it can do. */
  readonly capabilities: Json;
  /** The answer to one `cordon/fetch`. */
  readonly fetch: (params: JsonObject) => Promise<JsonObject>;
  readonly asked: EgressRequest[];
  readonly refused: string[];
  readonly got: IncomingMessage[];
}

async function start(context: TestContext, changes: Partial<FetchParts> = {}): Promise<App> {
  const got: IncomingMessage[] = [];
  const upstream = createServer((incoming, response) => {
    got.push(incoming);
    if (incoming.url === '/bytes') return response.end(Buffer.from([0xff, 0xfe, 0]));
    response.setHeader('x-echo', incoming.headers.authorization ?? 'none');
    return response.end(`you sent ${incoming.headers.authorization}`);
  });
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
  const address = upstream.address();
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
  const told = { asked: [] as EgressRequest[], refused: [] as string[] };
  const reach = parseReach(['good.com', 'other.org']);
  assert.ok(reach.ok);
  const client = new Client({ name: 'cordon', version: '1' });
  serveFetch(client, {
    way: {
      reach: reach.value,
      decide: async (request) => told.asked.push(request) > 0,
      decideMs: 60_000,
      lookup: async () => ['93.184.215.14'],
      dial: async () => ok(connect(port, '127.0.0.1')),
      budget: new Budget(DEFAULT_EGRESS_LIMITS, () => performance.now()),
      onRefused: ({ host, reason }) => told.refused.push(`${host}: ${reason}`),
      onClosed: () => {},
    },
    credentials: [TOKEN],
    readSecret: () => ok(SECRET),
    messageBytes: DEFAULT_APP_LIMITS.lineBytes,
    ending: new AbortController().signal,
    secure: async (socket) => socket,
    ...changes,
  });
  const streams = { stdin: new PassThrough(), stdout: new PassThrough() };
  const send = (message: JsonObject) => void streams.stdout.write(`${JSON.stringify(message)}\n`);
  const waiting = new Map<Json, (answer: JsonObject) => void>();
  let capabilities: Json = null;
  const decoder = new LineDecoder({ lineBytes: 1 << 24 });
  streams.stdin.on('data', (chunk: Buffer) => {
    const lines = decoder.push(chunk);
    for (const line of lines.ok ? lines.value : []) {
      const message: Json = JSON.parse(line);
      if (!isJsonObject(message)) continue;
      const { id = null, method, params } = message;
      if (method === 'initialize' && isJsonObject(params)) {
        capabilities = params.capabilities ?? null;
        const serverInfo = { name: 'app', version: '1' };
        const { protocolVersion = '' } = params;
        send({ jsonrpc: '2.0', id, result: { protocolVersion, capabilities: {}, serverInfo } });
      } else if (method === undefined) waiting.get(id)?.(message);
    }
  });
  await client.connect(new StreamTransport(streams, DEFAULT_APP_LIMITS));
  context.after(async () => {
    await client.close();
    upstream.close();
    upstream.closeAllConnections();
  });
  let count = 0;
  const fetch = (params: JsonObject) => {
    const id = `f${++count}`;
    send({ jsonrpc: '2.0', id, method: 'cordon/fetch', params });
    return new Promise<JsonObject>((resolve) => waiting.set(id, resolve));
  };
  return { capabilities, fetch, got, ...told };
}

function result(message: JsonObject): JsonObject {
  assert.ok(isJsonObject(message.result), JSON.stringify(message));
  return message.result;
}

function refusal(message: JsonObject): string {
  assert.ok(isJsonObject(message.error), JSON.stringify(message));
  return `${message.error.code} ${message.error.message}`;
}

const URL = 'https://api.good.com/mail?box=in';

test('the capability is announced, and a request is made with method, path and length decided', async (t) => {
  const { capabilities, fetch, asked } = await start(t);
  assert.deepEqual(capabilities, { experimental: { 'cordon/fetch': {} } });
  const answer = result(await fetch({ url: URL, method: 'POST', body: 'four' }));
  assert.deepEqual([answer.status, answer.body, answer.encoding], [200, 'you sent undefined', 'utf8']);
  assert.deepEqual(asked, [
    { host: 'api.good.com', port: 443, site: 'good.com', method: 'POST', path: '/mail?box=in', bytes: 4 },
  ]);
});

test('a credential is added here, and what comes back does not hold it', async (t) => {
  const { fetch, got } = await start(t);
  const answer = result(await fetch({ url: URL, credential: 'token' }));
  assert.equal(got[0]?.headers.authorization, `Bearer ${SECRET}`);
  assert.equal(answer.body, 'you sent [secret]');
  assert.ok(!JSON.stringify(answer).includes(SECRET));
});

test('a credential that the manifest does not have is of no use, whoever has it', async (t) => {
  const { fetch, got, refused } = await start(t, { credentials: [] });
  assert.equal(
    refusal(await fetch({ url: URL, credential: 'token' })),
    '-32001 the manifest has no such credential',
  );
  assert.deepEqual(refused, ['null: the manifest has no such credential']);
  assert.equal(got.length, 0);
  assert.equal(result(await fetch({ url: URL })).status, 200);
});

test('a credential does not go to another host', async (t) => {
  const { fetch, got } = await start(t);
  const message = await fetch({ url: 'https://other.org/', credential: 'token' });
  assert.equal(refusal(message), '-32001 the credential is not for this host');
  assert.equal(result(await fetch({ url: 'https://other.org/' })).body, 'you sent undefined');
  assert.equal(got.length, 1);
});

test('a secret that cannot be read stops the request, and why is not told to the app', async (t) => {
  const { fetch, got } = await start(t, {
    readSecret: () => failed(fault('app-unavailable', 'the file /home/me/keys/token is missing')),
  });
  assert.equal(
    refusal(await fetch({ url: URL, credential: 'token' })),
    '-32001 the credential cannot be read',
  );
  assert.equal(got.length, 0);
});

test('bytes come back as Base64 and go as Base64', async (t) => {
  const { fetch, asked } = await start(t);
  const answer = result(
    await fetch({ url: 'https://good.com/bytes', method: 'PUT', body: '//4A', encoding: 'base64' }),
  );
  assert.deepEqual([answer.body, answer.encoding], ['//4A', 'base64']);
  assert.equal(asked[0]?.bytes, 3);
});

test('parameters that are no request are refused with what is wrong', async (t) => {
  const { fetch, asked } = await start(t);
  const wrong: readonly (readonly [JsonObject, RegExp])[] = [
    [{}, /`url` is a string/],
    [{ url: 5 }, /`url` is a string/],
    [{ url: URL, method: null }, /`method` is a string/],
    [{ url: URL, headers: { a: 1 } }, /`headers` holds strings/],
    [{ url: URL, headers: [] }, /`headers` holds strings/],
    [{ url: URL, body: {} }, /`body` is a string/],
    [{ url: URL, encoding: 'utf16' }, /`encoding`/],
    [{ url: URL, credential: ['token'] }, /`credential` is a name/],
    [{ url: URL, redirect: 'follow' }, /not known/],
  ];
  for (const [params, shown] of wrong) assert.match(refusal(await fetch(params)), shown);
  assert.equal(asked.length, 0);
  assert.equal(result(await fetch({ url: URL })).status, 200);
});

test('when the session ends a request under way is stopped', async (t) => {
  const ending = new AbortController();
  const [secured, decided] = [Promise.withResolvers<void>(), Promise.withResolvers<boolean>()];
  const { fetch, got } = await start(t, {
    ending: ending.signal,
    secure: () => {
      secured.resolve();
      return decided.promise.then(() => Promise.reject(new Error('stopped')));
    },
  });
  const answer = fetch({ url: URL });
  await secured.promise;
  ending.abort();
  decided.resolve(true);
  assert.match(refusal(await answer), /-32001 the request was stopped/);
  assert.equal(got.length, 0);
});
