/**
 * A real app process against raw bytes: what a host sends that is not as it should be, and what comes back.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { RawHost, TemporaryFolder } from '@cordon/testkit/app-process.ts';

const MANY_TOOLS = join(import.meta.dirname, 'fixture/many-tools.ts');
const ADD = { name: 'add', arguments: { a: 2, b: 3 } };
const FIVE = { content: [{ type: 'text', text: '{"sum":5}' }], structuredContent: { sum: 5 } };

test('garbage of every kind is answered or ignored, and the next call works', async () => {
  using folder = new TemporaryFolder();
  using host = new RawHost(MANY_TOOLS, folder.path);
  const refused = (id: number | string | null, code: number, message: string) => ({
    jsonrpc: '2.0',
    id,
    error: { code, message },
  });
  const cases: readonly (readonly [string | Uint8Array, unknown])[] = [
    ['hello\n', refused(null, -32700, 'the line is not JSON')],
    ['{"jsonrpc":"2.0","id":1,"method"\n', refused(null, -32700, 'the line is not JSON')],
    [new Uint8Array([0x22, 0xff, 0xfe, 0x22, 0x0a]), refused(null, -32700, 'the line is not UTF-8')],
    ['null\n', refused(null, -32600, 'a message must be an object')],
    ['"text"\n', refused(null, -32600, 'a message must be an object')],
    ['{}\n', refused(null, -32600, '`jsonrpc` must be "2.0"')],
    ['{"jsonrpc":"1.0","id":7,"method":"ping"}\n', refused(7, -32600, '`jsonrpc` must be "2.0"')],
    ['{"jsonrpc":"2.0","id":7,"method":5}\n', refused(7, -32600, '`method` must be a string')],
    [
      '{"jsonrpc":"2.0","id":null,"method":"ping"}\n',
      refused(null, -32600, '`id` must be a string or a number'),
    ],
    [
      '{"jsonrpc":"2.0","id":{},"method":"ping"}\n',
      refused(null, -32600, '`id` must be a string or a number'),
    ],
    [
      '{"jsonrpc":"2.0","id":"x","method":"ping","params":[1]}\n',
      refused('x', -32600, '`params` must be an object'),
    ],
    ['{"jsonrpc":"2.0","id":7,"method":"no/such"}\n', refused(7, -32601, 'unknown method')],
    ['{"jsonrpc":"2.0","id":7,"method":"__proto__"}\n', refused(7, -32601, 'unknown method')],
    [
      '{"jsonrpc":"2.0","id":1e999,"method":"ping"}\n',
      refused(null, -32600, '`id` must be a string or a number'),
    ],
    [
      `{"jsonrpc":"2.0","id":"${'i'.repeat(257)}","method":"ping"}\n`,
      refused(null, -32600, '`id` must be a string or a number'),
    ],
    ['[]\n', refused(null, -32600, 'a batch must hold 1 to 64 messages')],
    [`[${'0,'.repeat(64)}0]\n`, refused(null, -32600, 'a batch must hold 1 to 64 messages')],
    [`${'['.repeat(100_000)}\n`, refused(null, -32700, 'the line is not JSON')],
  ];
  for (const [bytes, expected] of cases) {
    host.send(bytes);
    assert.deepEqual(await host.reply(), expected);
  }
  host.send(
    '\n \r\n{"jsonrpc":"2.0","method":"notifications/initialized"}\n{"jsonrpc":"2.0","id":3,"result":{}}\n',
  );
  host.request(8, 'tools/call', ADD);
  assert.deepEqual(await host.reply(), { jsonrpc: '2.0', id: 8, result: FIVE });
  assert.equal((await host.end()).code, 0);
});

test('a line over the limit is refused once and its rest is dropped', async () => {
  using folder = new TemporaryFolder();
  using host = new RawHost(MANY_TOOLS, folder.path);
  const message = 'a line must not be longer than 1048576 bytes';
  for (let part = 0; part < 5; part++) host.send('x'.repeat(1024 * 1024));
  assert.deepEqual(await host.reply(), { jsonrpc: '2.0', id: null, error: { code: -32600, message } });
  host.send('the end\n');
  host.request(1, 'ping');
  assert.deepEqual(await host.reply(), { jsonrpc: '2.0', id: 1, result: {} });
});

test('a line of exactly the limit is read', async () => {
  using folder = new TemporaryFolder();
  using host = new RawHost(MANY_TOOLS, folder.path);
  const ping = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
  host.send(`${ping}${' '.repeat(1024 * 1024 - ping.length)}\n`);
  assert.deepEqual(await host.reply(), { jsonrpc: '2.0', id: 1, result: {} });
});

test('a message may arrive byte by byte, and several may arrive at once', async () => {
  using folder = new TemporaryFolder();
  using host = new RawHost(MANY_TOOLS, folder.path);
  const line = Buffer.from(`${JSON.stringify({ jsonrpc: '2.0', id: 'ü€', method: 'ping' })}\n`);
  for (const byte of line) host.send(Uint8Array.of(byte));
  assert.deepEqual(await host.reply(), { jsonrpc: '2.0', id: 'ü€', result: {} });
  host.send(Buffer.concat([line, line]));
  assert.deepEqual(await host.reply(), { jsonrpc: '2.0', id: 'ü€', result: {} });
  assert.deepEqual(await host.reply(), { jsonrpc: '2.0', id: 'ü€', result: {} });
});

test('half a message at the end of the input is dropped', async () => {
  using folder = new TemporaryFolder();
  using host = new RawHost(MANY_TOOLS, folder.path);
  host.send('{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"count"}}');
  const { code } = await host.end();
  assert.equal(code, 0);
  assert.equal(await host.reply(), null);
});

test('a batch gets one answer for each request in it, and none for what needs none', async () => {
  using folder = new TemporaryFolder();
  using host = new RawHost(MANY_TOOLS, folder.path);
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: ADD };
  const notification = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } };
  host.send(`${JSON.stringify([call, notification, 7])}\n`);
  const message = 'a message must be an object';
  assert.deepEqual(await host.reply(), [
    { jsonrpc: '2.0', id: 1, result: FIVE },
    { jsonrpc: '2.0', id: null, error: { code: -32600, message } },
  ]);
  host.send(`${JSON.stringify([notification])}\n`);
  host.request(2, 'ping');
  assert.deepEqual(await host.reply(), { jsonrpc: '2.0', id: 2, result: {} });
});

test('a slow call does not hold up the next one, and is answered though the input ends', async () => {
  using folder = new TemporaryFolder();
  using host = new RawHost(MANY_TOOLS, folder.path);
  host.request(1, 'tools/call', { name: 'wait' });
  host.request(2, 'ping');
  assert.deepEqual(await host.reply(), { jsonrpc: '2.0', id: 2, result: {} });
  host.request(3, 'tools/call', { name: 'go' });
  const ended = host.end();
  const ids = [await host.reply(), await host.reply()].map((reply) => Object(reply).id);
  assert.deepEqual(ids.toSorted(), [1, 3]);
  assert.equal((await ended).code, 0);
});

test('what the app prints goes to its log and never between the messages', async () => {
  using folder = new TemporaryFolder();
  using host = new RawHost(MANY_TOOLS, folder.path);
  host.request(5, 'tools/call', { name: 'chatter' });
  assert.deepEqual(await host.reply(), {
    jsonrpc: '2.0',
    id: 5,
    result: { content: [{ type: 'text', text: 'done' }] },
  });
  assert.match((await host.end()).log, /forged/);
});

test('an answer over the limit becomes an error of that call only', async () => {
  using folder = new TemporaryFolder();
  using host = new RawHost(MANY_TOOLS, folder.path);
  host.request(1, 'tools/call', { name: 'fill', arguments: { letters: 2_000_000 } });
  const message = 'the answer would be longer than 1048576 bytes';
  assert.deepEqual(await host.reply(), { jsonrpc: '2.0', id: 1, error: { code: -32603, message } });
  host.request(2, 'tools/call', { name: 'fill', arguments: { letters: 3 } });
  assert.deepEqual(await host.reply(), {
    jsonrpc: '2.0',
    id: 2,
    result: { content: [{ type: 'text', text: 'xxx' }] },
  });
});

test('a bug of a tool is told to the log in full and to the host without its text', async () => {
  using folder = new TemporaryFolder();
  using host = new RawHost(MANY_TOOLS, folder.path);
  host.request(1, 'tools/call', { name: 'fail' });
  assert.deepEqual(await host.reply(), {
    jsonrpc: '2.0',
    id: 1,
    result: { content: [{ type: 'text', text: 'the tool failed' }], isError: true },
  });
  assert.match((await host.end()).log, /fail: Error: secret detail/);
});

test('an app whose host has vanished ends by itself', async () => {
  using folder = new TemporaryFolder();
  using host = new RawHost(MANY_TOOLS, folder.path);
  host.request(1, 'ping');
  await host.reply();
  host.vanish();
  for (let id = 2; id < 10; id++) host.request(id, 'ping');
  assert.equal((await host.exit()).code, 0);
});

test('without STATE the app ends with a reason', async () => {
  using host = new RawHost(MANY_TOOLS, '');
  const { code, log } = await host.exit();
  assert.equal(code, 1);
  assert.match(log, /the environment variable STATE must name the folder for the state/);
});
