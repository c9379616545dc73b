/** The limits of an app's standard streams, in both directions. Streams in memory; every fault has its allowed twin. */
import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { type MessageLimits, StreamTransport, UnsentMessage } from '../../src/apps/mcp-transport.ts';

const NOTE = '{"jsonrpc":"2.0","method":"notifications/cancelled"}\n';

async function opened(limits: Partial<MessageLimits> = {}, stdin = new PassThrough()) {
  const stdout = new PassThrough();
  const all = { lineBytes: 1024, messagesPerSecond: 1, ...limits };
  const transport = new StreamTransport({ stdin, stdout }, all);
  const received: JSONRPCMessage[] = [];
  transport.onmessage = (message) => void received.push(message);
  await transport.start();
  const say = async (text: string | Buffer) => {
    stdout.write(text);
    await new Promise((resolve) => setImmediate(resolve));
  };
  /** Enough for what is left of long lines. */
  const turns = async () => {
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
  };
  return { transport, say, turns, received, stdin, stdout };
}

const call = (id: number, text = ''): JSONRPCMessage => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name: 'echo', arguments: { text } },
});
const answer = (id: number, text = '') => `{"jsonrpc":"2.0","id":${id},"result":{"text":"${text}"}}\n`;

test('an app that sends more messages than its rate is cut off, one within it is not', async () => {
  const { transport, say, received } = await opened();
  await say(NOTE.repeat(10));
  assert.equal(transport.violation, null);
  await say(NOTE.repeat(2));
  assert.equal(transport.violation, 'it sends more than 1 messages a second');
  assert.equal(received.length, 10);
});

test('requests of the app count as four messages', async () => {
  const { transport, say, received } = await opened();
  await say('{"jsonrpc":"2.0","id":7,"method":"ping"}\n'.repeat(3));
  assert.match(transport.violation ?? '', /messages a second/);
  assert.equal(received.length, 2);
});

test('notifications that nobody listens to are counted and go no further', async () => {
  const { transport, say, received } = await opened();
  await say('{"jsonrpc":"2.0","method":"notifications/message"}\n'.repeat(6));
  await say('{"jsonrpc":"2.0","id":7,"method":"ping"}\n');
  assert.deepEqual(received, [{ jsonrpc: '2.0', id: 7, method: 'ping' }]);
  await say('{"jsonrpc":"2.0","method":"notifications/progress"}\n');
  assert.match(transport.violation ?? '', /messages a second/);
});

test('answers that are waited for count against no rate, and each only once', async () => {
  const { transport, say, received } = await opened();
  for (let id = 1; id <= 8; id++) await transport.send(call(id));
  await say(answer(1).repeat(10));
  assert.equal(transport.violation, null, 'nine of ten were not waited for');
  await say([2, 3, 4, 5, 6, 7, 8].map((id) => answer(id)).join(''));
  assert.equal(transport.violation, null);
  assert.equal(received.length, 17);
  await say(answer(2).repeat(2));
  assert.match(transport.violation ?? '', /messages a second/);
});

test('many values are for results that are waited for; in anything else they end the app', async () => {
  const lineBytes = 512 * 1024;
  const list = (count: number) => `[${'1,'.repeat(count)}1]`;
  const result = (count: number) =>
    `{"jsonrpc":"2.0","id":1,"result":{"structuredContent":{"list":${list(count)}}}}\n`;
  const note = (count: number) =>
    `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9,"list":${list(count)}}}\n`;
  const asked = await opened({ lineBytes });
  await asked.transport.send(call(1));
  await asked.say(result(100_000));
  await asked.say(note(5_000));
  await asked.turns();
  assert.deepEqual([asked.transport.violation, asked.received.length], [null, 2]);
  for (const unasked of [note(20_000), result(20_000)]) {
    const { transport, say, turns, received } = await opened({ lineBytes });
    await say(unasked);
    await turns();
    assert.equal(transport.violation, 'it sends a message of more than 10000 values that nobody asked for');
    assert.deepEqual(received, []);
  }
});

test('members have twelve thousand different names at most, and as many values as others with the same names', async () => {
  const lineBytes = 1024 * 1024;
  const members = (count: number) => Array.from({ length: count }, (_, at) => `"k${at}" : 1`).join();
  const answered = async (content: string) => {
    const { transport, say, turns } = await opened({ lineBytes });
    await transport.send(call(1));
    await say(`{"jsonrpc":"2.0","id":1,"result":{"structuredContent":{"list":[${content}]}}}\n`);
    await turns();
    return transport.violation;
  };
  const fault = 'it sends a message that the hub does not read: members have more than 12000 different names';
  assert.equal(await answered(`{${members(13_000)}}`), fault);
  assert.equal(await answered(Array.from({ length: 13_000 }, (_, at) => `{"k${at}":1}`).join()), fault);
  assert.equal(await answered(`{${members(11_000)}}`), null);
  assert.equal(
    await answered(Array.from({ length: 13_000 }, (_, at) => `{"k${at % 9}":"k${at}"}`).join()),
    null,
  );
});

test('a long line is read in several turns of the loop, and what comes behind it waits', async () => {
  const { transport, say, received, turns, stdout } = await opened({
    lineBytes: 1024 * 1024,
    messagesPerSecond: 100,
  });
  const ids = () => received.map((message) => ('id' in message ? message.id : null));
  for (const id of [1, 2, 3]) await transport.send(call(id));
  await say(`${answer(1)}${answer(2, 'x'.repeat(512 * 1024))}${answer(3)}`);
  assert.deepEqual(ids(), [1], 'neither looked through nor parsed where it is received');
  stdout.write(answer(4));
  await turns();
  assert.deepEqual(ids(), [1, 2, 3, 4]);
  assert.equal(transport.violation, null);
});

/** Node resumes the streams of a process that has ended. */
test('what an app says before it ends is heard in its order, and before its end', async () => {
  const { transport, say, turns, stdout } = await opened({ lineBytes: 1024 * 1024, messagesPerSecond: 100 });
  const order: unknown[] = [];
  transport.onmessage = (message) => void order.push('id' in message ? message.id : null);
  transport.onclose = () => void order.push('end');
  for (const id of [1, 2, 3]) await transport.send(call(id));
  await say(answer(1, 'x'.repeat(512 * 1024)));
  stdout.resume();
  await say(answer(2));
  stdout.end(answer(3));
  stdout.resume();
  await turns();
  await turns();
  assert.deepEqual(order, [1, 2, 3, 'end']);

  const closed = await opened({ lineBytes: 1024 * 1024, messagesPerSecond: 100 });
  await closed.transport.send(call(1));
  await closed.say(answer(1, 'x'.repeat(512 * 1024)));
  await closed.transport.close();
  await closed.turns();
  assert.deepEqual(closed.received, [], 'nobody is told of it any more');
});

test('a line that is too long for any text that is read is cut off while it arrives', async () => {
  const piece = '\u4e00'.repeat(1024 * 1024);
  const bytesAfter = async (pieces: number) => {
    const { transport, say } = await opened({ lineBytes: 64 * 1024 * 1024 });
    await say('{"jsonrpc":"2.0","id":1,"result":{"text":"');
    for (let at = 0; at < pieces; at++) await say(piece);
    return transport.violation;
  };
  assert.equal(await bytesAfter(3), null);
  assert.equal(await bytesAfter(4), 'a line is longer than 12582912 bytes');
});

test('no part of a message that every reader looks through has members without end', async () => {
  const lineBytes = 512 * 1024;
  const members = (count: number) => Array.from({ length: count }, (_, at) => `"k${at}":1`).join();
  const wide = (count: number) => [
    `{"jsonrpc":"2.0","id":1,"result":{${members(count)}}}\n`,
    `{"jsonrpc":"2.0","id":1,"result":{"_meta":{${members(count)}}}}\n`,
    `{"jsonrpc":"2.0","id":1,${members(count)},"result":{}}\n`,
    `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{${members(count)}}}\n`,
    `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"_meta":{${members(count)}}}}\n`,
  ];
  for (const [count, violation] of [
    [1_001, 'a message of it has more than 1000 members'],
    [900, null],
  ] as const)
    for (const message of wide(count)) {
      const { transport, say } = await opened({ lineBytes });
      await transport.send(call(1));
      await say(message);
      assert.equal(transport.violation, violation, message.slice(0, 60));
    }
  const { transport, say } = await opened({ lineBytes });
  await transport.send(call(1));
  await say(`{"jsonrpc":"2.0","id":1,"result":{"structuredContent":{${members(5_000)}}}}\n`);
  assert.equal(transport.violation, null, 'what a tool returns is its own');
});

test('an answer that is none cuts the app off, and one that nobody waits for changes nothing', async () => {
  for (const rest of ['"result":5', '"result":null', '"error":"no"', '"error":{"code":1}', '"meta":1']) {
    const { transport, say, received } = await opened();
    await transport.send(call(1));
    await say(`{"jsonrpc":"2.0","id":2,${rest}}\n`);
    assert.equal(transport.violation, null);
    const before = received.length;
    await say(`{"jsonrpc":"2.0","id":1,${rest}}\n`);
    assert.equal(transport.violation, 'it answered with neither a result nor an error of MCP');
    assert.equal(received.length, before);
  }
  const pinged = await opened();
  await pinged.transport.send({ jsonrpc: '2.0', id: 1, method: 'ping' });
  await pinged.say('{"jsonrpc":"2.0","id":1,"result":null}\n');
  assert.equal(pinged.transport.violation, null);
  for (const rest of ['"result":{}', '"error":{"code":-32601,"message":"no"}']) {
    const { transport, say, received } = await opened();
    await transport.send(call(1));
    await say(`{"jsonrpc":"2.0","id":1,${rest}}\n`);
    assert.equal(transport.violation, null);
    assert.equal(received.length, 1);
  }
});

test('long results of many calls at once pass, the same bytes unasked do not', async () => {
  const lineBytes = 512 * 1024;
  const text = 'x'.repeat(lineBytes - 100);
  const asked = await opened({ lineBytes });
  for (let id = 1; id <= 6; id++) await asked.transport.send(call(id));
  for (let id = 1; id <= 6; id++) await asked.say(answer(id, text));
  await asked.turns();
  assert.equal(asked.transport.violation, null);
  assert.equal(asked.received.length, 6);

  const unasked = await opened({ lineBytes });
  for (let id = 1; id <= 6; id++) await unasked.say(answer(id, text));
  await asked.turns();
  assert.equal(unasked.transport.violation, 'it sends more than 524288 bytes a second that nobody asked for');
  assert.ok(unasked.received.length < 6);
});

test('a message that the app may not get is not sent, and the app goes on', async () => {
  const { transport, stdin } = await opened({ lineBytes: 200 });
  await assert.rejects(transport.send(call(1, 'x'.repeat(200))), (error) => {
    assert.ok(error instanceof UnsentMessage);
    assert.equal(error.message, 'the message would be longer than 200 bytes');
    return true;
  });
  await transport.send(call(2, 'x'.repeat(50)));
  assert.equal(transport.violation, null);
  assert.deepEqual(JSON.parse(String(stdin.read())), call(2, 'x'.repeat(50)));
});

test('bytes are what counts, not characters', async () => {
  const { transport } = await opened({ lineBytes: 200 });
  await assert.rejects(transport.send(call(1, 'ä'.repeat(80))), UnsentMessage);
  await transport.send(call(1, 'a'.repeat(80)));
});

test('the hub keeps to the rate too', async () => {
  const { transport } = await opened();
  for (let id = 1; id <= 10; id++) await transport.send(call(id));
  await assert.rejects(transport.send(call(11)), /more than 1 messages a second/);
  await transport.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } });
  assert.equal(transport.violation, null);
});

test('an app that reads nothing is cut off after 8 MiB, one that reads is not', async () => {
  const text = 'x'.repeat(1024 * 1024 - 200);
  const limits = { lineBytes: 1024 * 1024, messagesPerSecond: 100 };
  const deaf = await opened(limits);
  for (let id = 1; id <= 12; id++) await deaf.transport.send(call(id, text));
  assert.equal(deaf.transport.violation, 'it does not read what it is sent');

  const reading = await opened(limits);
  reading.stdin.resume();
  for (let id = 1; id <= 12; id++) {
    await reading.transport.send(call(id, text));
    await new Promise((resolve) => setImmediate(resolve));
  }
  assert.equal(reading.transport.violation, null);
});

const BOMBS: Readonly<Record<string, readonly [text: string | Buffer, reason: string]>> = {
  'line ends and nothing else': ['\n'.repeat(65_536), 'there are more than 8192 lines at once'],
  'very short lines': ['1\n'.repeat(32_768), 'there are more than 8192 lines at once'],
  'a line without end': ['x'.repeat(1025), 'a line is longer than 1024 bytes'],
  'bytes that are no text': [Buffer.from([0x22, 0xff, 0xfe, 0x22, 0x0a]), 'a line is not UTF-8'],
  'half a character': [Buffer.from([0x22, 0xc3, 0x22, 0x0a]), 'a line is not UTF-8'],
};
for (const [name, [text, reason]] of Object.entries(BOMBS)) {
  test(`${name}: cut off before anything is parsed`, async () => {
    const { transport, say, received } = await opened({ messagesPerSecond: 10_000 });
    await say(text);
    assert.equal(transport.violation, reason);
    assert.deepEqual(received, []);
  });
}

const LARGE = { lineBytes: 16 * 1024 * 1024, messagesPerSecond: 10_000 };
const DROPPED: Readonly<Record<string, string>> = {
  'five million brackets': `${'['.repeat(5_000_000)}\n`,
  'a million keys': `{"jsonrpc":"2.0","method":"m","params":{${Array.from({ length: 1_000_000 }, (_, at) => `"${at}":0`).join(',')}}}\n`,
  'a key that reaches a prototype': '{"jsonrpc":"2.0","method":"m","params":{"__proto__":{"admin":true}}}\n',
  'the same, spelt with escapes':
    '{"jsonrpc":"2.0","method":"m","params":{"\\u005F\\u005fproto__":{"admin":true}}}\n',
};
for (const [name, text] of Object.entries(DROPPED)) {
  test(`${name}: the line is dropped unparsed, and the next one is heard`, async () => {
    const { transport, say, turns, received } = await opened(LARGE);
    await say(text);
    await say(NOTE);
    await turns();
    assert.equal(transport.violation, null);
    assert.equal(received.length, 1);
  });
}

test('many lines in one piece are taken a few at a time, in their order, and those that come later wait', async () => {
  const { transport, say, received, stdout } = await opened({ lineBytes: 64 * 1024, messagesPerSecond: 100 });
  const ids = () => received.map((message) => ('id' in message ? message.id : null));
  await say(Array.from({ length: 100 }, (_, id) => answer(id)).join(''));
  // `say` waits for one turn of the event loop.
  assert.ok(received.length < 100, `${received.length} at once`);
  stdout.write(answer(100));
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(
    ids(),
    Array.from({ length: 101 }, (_, id) => id),
  );
  assert.equal(transport.violation, null);
});

test('what is left of a piece is not read after the connection was closed', async () => {
  const { transport, say, received } = await opened({ lineBytes: 64 * 1024, messagesPerSecond: 100 });
  await say(Array.from({ length: 100 }, (_, id) => answer(id)).join(''));
  await transport.close();
  const before = received.length;
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
  assert.ok(before < 100);
  assert.equal(received.length, before);
});
