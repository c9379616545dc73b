/**
 * Requests that two readers could understand differently. The upstream writes down every byte: nothing may reach it but
 * requests that were decided as they stand.
 */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { test } from 'node:test';
import { converse, open, recorder, type Setting } from './setting.ts';

const HIDDEN = 'GET /hidden HTTP/1.1\r\nhost: good.com\r\n\r\n';
const TO = 'http://good.com/open';

/** How many requests the upstream has seen, by their start lines. */
function requests(bytes: string): readonly string[] {
  return bytes.match(/^[A-Z]+ \S+ HTTP\/1\.1/gm) ?? [];
}

async function sent(setting: Setting, raw: string): Promise<string> {
  const answer = await Promise.race([
    converse(setting, [raw], [/ 200 OK[\s\S]*ok$/]),
    new Promise<string>((resolve) => setTimeout(() => resolve('nothing'), 30_000).unref()),
  ]);
  await new Promise((resolve) => setTimeout(resolve, 20));
  return answer;
}

const REFUSED: Readonly<Record<string, string>> = {
  'a length and chunks': `POST ${TO} HTTP/1.1\r\nhost: good.com\r\ncontent-length: 4\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n${HIDDEN}`,
  'two lengths': `POST ${TO} HTTP/1.1\r\nhost: good.com\r\ncontent-length: 0\r\ncontent-length: ${HIDDEN.length}\r\n\r\n${HIDDEN}`,
  'two equal lengths': `POST ${TO} HTTP/1.1\r\nhost: good.com\r\ncontent-length: 2\r\ncontent-length: 2\r\n\r\nhi`,
  'a list of lengths': `POST ${TO} HTTP/1.1\r\nhost: good.com\r\ncontent-length: 2, 2\r\n\r\nhi`,
  'a length with a sign': `POST ${TO} HTTP/1.1\r\nhost: good.com\r\ncontent-length: +2\r\n\r\nhi`,
  'a length in hexadecimal': `POST ${TO} HTTP/1.1\r\nhost: good.com\r\ncontent-length: 0x2\r\n\r\nhi`,
  'a folded header': `GET ${TO} HTTP/1.1\r\nhost: good.com\r\nx: a\r\n b\r\n\r\n`,
  'a folded length': `POST ${TO} HTTP/1.1\r\nhost: good.com\r\ncontent-length:\r\n 2\r\n\r\nhi`,
  'line feeds alone': `GET ${TO} HTTP/1.1\nhost: good.com\n\n`,
  'one line feed alone': `GET ${TO} HTTP/1.1\r\nhost: good.com\nx: y\r\n\r\n`,
  'a carriage return in a value': `GET ${TO} HTTP/1.1\r\nhost: good.com\r\nx: a\rb\r\n\r\n`,
  'a null byte in a value': `GET ${TO} HTTP/1.1\r\nhost: good.com\r\nx: a\0b\r\n\r\n`,
  'a space before the colon': `POST ${TO} HTTP/1.1\r\nhost: good.com\r\ncontent-length : 2\r\n\r\nhi`,
  'another coding': `POST ${TO} HTTP/1.1\r\nhost: good.com\r\ntransfer-encoding: gzip, chunked\r\n\r\n0\r\n\r\n`,
  'chunked twice': `POST ${TO} HTTP/1.1\r\nhost: good.com\r\ntransfer-encoding: chunked, chunked\r\n\r\n0\r\n\r\n`,
  'two codings': `POST ${TO} HTTP/1.1\r\nhost: good.com\r\ntransfer-encoding: chunked\r\ntransfer-encoding: identity\r\n\r\n0\r\n\r\n`,
  'a coding that only looks like chunked': `POST ${TO} HTTP/1.1\r\nhost: good.com\r\ntransfer-encoding: xchunked\r\n\r\n0\r\n\r\n`,
  'chunks in HTTP/1.0': `POST ${TO} HTTP/1.0\r\nhost: good.com\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`,
  'a chunk size that is no number': `POST ${TO} HTTP/1.1\r\nhost: good.com\r\ntransfer-encoding: chunked\r\n\r\n0x2\r\nhi\r\n0\r\n\r\n`,
  'a chunk longer than its size': `POST ${TO} HTTP/1.1\r\nhost: good.com\r\ntransfer-encoding: chunked\r\n\r\n1\r\nhi\r\n0\r\n\r\n`,
  'another Host': `GET ${TO} HTTP/1.1\r\nhost: evil.net\r\n\r\n`,
  'two Hosts': `GET ${TO} HTTP/1.1\r\nhost: good.com\r\nhost: good.com\r\n\r\n`,
  'no Host': `GET ${TO} HTTP/1.1\r\n\r\n`,
  'user info': 'GET http://good.com@evil.net/ HTTP/1.1\r\nhost: good.com\r\n\r\n',
  'a path alone': 'GET /open HTTP/1.1\r\nhost: good.com\r\n\r\n',
  'a space in the target': 'GET http://good.com/a b HTTP/1.1\r\nhost: good.com\r\n\r\n',
  'another version': `GET ${TO} HTTP/2.0\r\nhost: good.com\r\n\r\n`,
};

for (const [what, raw] of Object.entries(REFUSED)) {
  test(`a request is refused for ${what}`, async (context) => {
    const { server, got } = recorder();
    const setting = await open(context, server);
    assert.doesNotMatch(await sent(setting, raw), / 200 OK/);
    assert.ok(!got().includes('/hidden') && !got().includes('evil.net'));
    assert.ok(requests(got()).length <= 1);
    assert.equal(setting.refused.length >= 1, true);
  });
}

/** Requests that pass, and the one request that may be seen of each. */
const PASSED: Readonly<Record<string, readonly [raw: string, seen: RegExp]>> = {
  'a length': [
    `POST ${TO} HTTP/1.1\r\nhost: good.com\r\ncontent-length: 2\r\n\r\nhi`,
    /content-length: 2\r\n[\s\S]*\r\n\r\nhi$/,
  ],
  chunks: [
    `POST ${TO} HTTP/1.1\r\nhost: good.com\r\ntransfer-encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n`,
    /transfer-encoding: chunked\r\n[\s\S]*2\r\nhi\r\n0\r\n\r\n$/,
  ],
  'a GET whose body is in chunks and looks like a request': [
    `GET ${TO} HTTP/1.1\r\nhost: good.com\r\ntransfer-encoding: chunked\r\n\r\n${HIDDEN.length.toString(16)}\r\n${HIDDEN}\r\n0\r\n\r\n`,
    /transfer-encoding: chunked\r\n/,
  ],
  'a GET whose body is a request': [
    `GET ${TO} HTTP/1.1\r\nhost: good.com\r\ncontent-length: ${HIDDEN.length}\r\n\r\n${HIDDEN}`,
    new RegExp(`content-length: ${HIDDEN.length}\r\n`),
  ],
  'a length that the app calls hop-by-hop': [
    `GET ${TO} HTTP/1.1\r\nhost: good.com\r\nconnection: content-length\r\ncontent-length: ${HIDDEN.length}\r\n\r\n${HIDDEN}`,
    new RegExp(`content-length: ${HIDDEN.length}\r\n`),
  ],
  'a Host that the app calls hop-by-hop': [
    `GET ${TO} HTTP/1.1\r\nhost: good.com\r\nconnection: host\r\n\r\n`,
    /host: good\.com\r\n/,
  ],
  'trailers, which are dropped': [
    `POST ${TO} HTTP/1.1\r\nhost: good.com\r\ntransfer-encoding: chunked\r\ntrailer: x-evil\r\n\r\n2\r\nhi\r\n0\r\nx-evil: 1\r\n\r\n`,
    /^(?![\s\S]*x-evil)/,
  ],
};

for (const [what, [raw, seen]] of Object.entries(PASSED)) {
  test(`a request passes with ${what}, framed as it was decided`, async (context) => {
    const { server, got } = recorder();
    const setting = await open(context, server);
    assert.match(await sent(setting, raw), / 200 OK/);
    assert.match(got(), seen);
    assert.equal(setting.asked.length, 1);
    // What a strict server makes of these bytes: one request, framed, and a body.
    const [head = '', ...body] = got().split('\r\n\r\n');
    assert.equal(requests(head).length, 1);
    if (body.join('').length > 0) assert.match(head, /content-length: [1-9]|transfer-encoding: chunked/);
  });
}

test('dots in a path are gone before it is decided', async (context) => {
  const { server, got } = recorder();
  const setting = await open(context, server);
  await sent(setting, 'GET http://good.com/open/..%2f%2e%2e/../secret HTTP/1.1\r\nhost: good.com\r\n\r\n');
  assert.deepEqual(requests(got()), [`GET ${setting.asked[0]?.path} HTTP/1.1`]);
  assert.doesNotMatch(setting.asked[0]?.path ?? '', /\/\.\.\//);
});

test('a request that does not wait for the answer to the one before is refused', async (context) => {
  const { server, got } = recorder();
  const setting = await open(context, server);
  const one = `GET ${TO} HTTP/1.1\r\nhost: good.com\r\n\r\n`;
  await sent(setting, one + HIDDEN.replace('/hidden', 'http://good.com/hidden'));
  assert.ok(!got().includes('/hidden'));
  assert.match(setting.refused.join(), /before the answer/);
});

test('a head that is too long is refused, and one that is long passes', async (context) => {
  const { server } = recorder();
  const setting = await open(context, server);
  const head = (size: number) => `GET ${TO} HTTP/1.1\r\nhost: good.com\r\nx: ${'y'.repeat(size)}\r\n\r\n`;
  assert.doesNotMatch(await sent(setting, head(20_000)), /200/);
  assert.match(await sent(setting, head(10_000)), /200 OK/);
  assert.match(setting.refused.join(), /HPE_HEADER_OVERFLOW/);
});

test('a head that dribbles in is cut', async (context) => {
  const { server, got } = recorder();
  const setting = await open(context, server, { limits: { headersMs: 100 } });
  const talk = converse(setting, [`GET ${TO} HTTP/1.1\r\nhost: good`]);
  assert.doesNotMatch(await talk, /200/);
  assert.equal(got(), '');
  assert.match(setting.refused.join(), /too slow/);
});

test('a body that dribbles in is cut, and the closing says why', async (context) => {
  const patient = createServer((incoming, response) => incoming.on('end', () => response.end('ok')).resume());
  const setting = await open(context, patient, { limits: { bodyMs: 100 } });
  const raw = `POST ${TO} HTTP/1.1\r\nhost: good.com\r\ncontent-length: 10\r\n\r\nhi`;
  assert.match(await converse(setting, [raw]), /^HTTP\/1.1 502 /);
  assert.deepEqual(
    setting.closed.map(({ cut }) => cut),
    ['the body of the request came too slowly'],
  );
});
