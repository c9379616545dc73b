/** Requests of a login: what they leave open, and where they may not lead. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { type Fault, id, type Result, SILENT_MANIFEST } from '@cordon/core';
import { HERE } from '@cordon/dialler';
import type { Send } from '@cordon/oauth';
import { Context } from '../../src/context/context.ts';
import { authorizationSend } from '../../src/egress/authorization-requests.ts';
import type { Gate } from '../../src/mediation/gate.ts';

/** Allows everything. */
const OPEN_GATE = {
  spend: () => undefined,
  carryOut: async (...[, , , act]: [unknown, unknown, unknown, () => Promise<Result<Response, Fault>>]) => {
    const made = await act();
    return made.ok ? { kind: 'done', value: made.value } : { kind: 'failed', fault: made.fault };
  },
} as unknown as Gate;

interface Setting {
  readonly url: URL;
  readonly got: IncomingMessage[];
  readonly sendFor: (issuer: string | null) => Send;
}

async function issuerOf(t: TestContext): Promise<Setting> {
  const got: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    got.push(request);
    response.end(request.url === '/long' ? 'x'.repeat(256 * 1024 + 1) : '{}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/token`);
  const source = { kind: 'url', url: 'https://mcp.example.com/mcp', headers: {} } as const;
  const app = { id: id<'app'>('notes'), source, manifest: SILENT_MANIFEST, model: null };
  const context = new Context({ id: id('notes#1'), kind: 'errand', app: app.id, model: 'none' });
  const sendFor = (issuer: string | null) =>
    authorizationSend({ app, gate: OPEN_GATE, context, dialler: HERE, issuer });
  return { url, got, sendFor };
}

// Attack: tokens that end at once, each renewed over a connection that stays for minutes.
test('a request for tokens leaves no connection open', async (t) => {
  const { url, got, sendFor } = await issuerOf(t);
  const sent = await sendFor(url.origin)({ url, method: 'POST', headers: {}, body: 'a=b' });
  assert.ok(sent.ok);
  assert.deepEqual(
    got.map(({ headers }) => headers.connection),
    ['close'],
  );
});

test('an address that is not public is asked only where the user named its host', async (t) => {
  const { url, got, sendFor } = await issuerOf(t);
  const refused = await sendFor(null)({ url, method: 'GET', headers: {}, body: '' });
  assert.equal(
    refused.ok ? null : refused.fault.message,
    `the login to \`notes\` stops: \`${url.host}\` cannot be reached: its address is not public, and you did not name this host`,
  );
  assert.equal(got.length, 0);
  assert.equal((await sendFor(url.origin)({ url, method: 'GET', headers: {}, body: '' })).ok, true);
});

// Attack: an authorization server whose answer fills the memory of the hub.
test('an answer that is too long is not kept', async (t) => {
  const { url, sendFor } = await issuerOf(t);
  const long = new URL('/long', url);
  const refused = await sendFor(url.origin)({ url: long, method: 'GET', headers: {}, body: '' });
  assert.equal(
    refused.ok ? null : refused.fault.message,
    `the login to \`notes\` stops: \`${url.host}\` sends too much`,
  );
});
