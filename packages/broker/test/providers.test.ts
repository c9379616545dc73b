/** Each provider's library, with all that it needs, loads in a process and speaks through the relay. */

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { test } from 'node:test';
import type { ProviderConfig } from '@cordon/core';
import { HERE } from '@cordon/dialler';
import { providerAccess } from '@cordon/llm';
import { CERTIFICATE, CERTIFICATE_KEY } from '@cordon/testkit/certificate.ts';
import { openBroker } from '../src/index.ts';
import { accessTo, ask, CODE_ROOT, KEY, LIMITS, never, watchedSandbox } from './fixture.ts';

const KINDS: readonly (readonly [ProviderConfig['kind'], string])[] = [
  ['openai', '/v1/chat/completions'],
  ['openai-compatible', '/v1/chat/completions'],
  ['anthropic', '/v1/messages'],
  ['google', '/v1/models/qwen:streamGenerateContent?alt=sse'],
];

for (const [kind, path] of KINDS) {
  test(`${kind}: the request arrives with its key, and the refusal comes back`, async () => {
    const asked: string[] = [];
    let headers = '';
    const server = createServer((incoming, response) => {
      asked.push(incoming.url ?? '');
      headers = JSON.stringify(incoming.headers);
      response.writeHead(403, { 'content-type': 'application/json' });
      response.end('{"error": {"message": "not you"}}');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : 0;
    const broker = openBroker({ sandbox: watchedSandbox().sandbox, dial: HERE.dial, codeRoot: CODE_ROOT });
    try {
      const access = accessTo({ kind, baseUrl: `http://127.0.0.1:${port}/v1`, key: KEY });
      const answer = await broker.provider('local', access).complete(ask('hello'), { signal: never() });
      assert.match(answer.ok ? '' : answer.fault.message, /answered 403: `not you`/);
      assert.deepEqual(asked, [path]);
      assert.ok(headers.includes(KEY));
    } finally {
      await broker.close();
      server.closeAllConnections();
      server.close();
    }
  });
}

test('a provider that cannot be reached is said with the reason', async () => {
  const broker = openBroker({ sandbox: watchedSandbox().sandbox, dial: HERE.dial, codeRoot: CODE_ROOT });
  try {
    const access = accessTo({ kind: 'openai-compatible', baseUrl: 'http://127.0.0.1:1/v1' });
    const answer = await broker.provider('local', access).complete(ask('hello'), { signal: never() });
    assert.equal(!answer.ok && answer.fault.kind, 'unavailable');
    assert.match(
      answer.ok ? '' : answer.fault.message,
      /cannot be reached: `connect ECONNREFUSED 127\.0\.0\.1:1`/,
    );
  } finally {
    await broker.close();
  }
});

test('TLS ends in the process, which believes the authorities of the hub and no others', async () => {
  const server = createTlsServer({ key: CERTIFICATE_KEY, cert: CERTIFICATE }, (incoming, response) => {
    incoming.resume();
    response.writeHead(403).end('no');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const target = { host: '127.0.0.1', port: typeof address === 'object' ? (address?.port ?? 0) : 0 };
  const said = async (host: string, authorities: readonly string[]) => {
    const broker = openBroker({ sandbox: watchedSandbox().sandbox, dial: HERE.dial, codeRoot: CODE_ROOT });
    const config = { kind: 'openai-compatible', baseUrl: `https://${host}/v1` } as const;
    const access = providerAccess({ name: 'local', modelId: 'm', config }, LIMITS, authorities);
    const answer = await broker
      .provider('local', { ...access, target })
      .complete(ask('hello'), { signal: never() });
    await broker.close();
    return answer.ok ? '' : answer.fault.message;
  };
  try {
    assert.match(await said('api.good.com', [CERTIFICATE]), /answered 403/);
    assert.match(await said('api.good.com', []), /cannot be reached: `self-signed certificate/);
    assert.match(await said('other.org', [CERTIFICATE]), /cannot be reached: .*altnames/);
  } finally {
    server.closeAllConnections();
    server.close();
  }
});
