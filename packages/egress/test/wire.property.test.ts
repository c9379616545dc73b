/** Bytes of protocols that the hub reads and writes for direct connections. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { nameAnswer, readNameQuestion, TYPE_A } from '../src/wire/dns-message.ts';
import { farewell } from '../src/wire/farewell.ts';
import { openingOf } from '../src/wire/opening.ts';
import { question } from './direct-setting.ts';
import '../../../tools/seed.ts';

test('no bytes make the reader of questions throw, and what it reads is in them', () => {
  const good = [...question('imap.example.com', TYPE_A)];
  const start = fc.constantFrom([], good.slice(0, 12), good.slice(0, 20), good);
  fc.assert(
    fc.property(start, fc.uint8Array({ maxLength: 300 }), (prefix, rest) => {
      const bytes = Buffer.from([...prefix, ...rest]);
      const read = readNameQuestion(bytes);
      assert.ok(read === null || (read.name.length <= 253 && bytes.includes(read.bytes)));
    }),
    { numRuns: 500, verbose: 1 },
  );
});

test('a question is read, and one with a pointer, two questions, another class or an answer is not', () => {
  const asked = question('IMAP.example.com', TYPE_A);
  assert.equal(readNameQuestion(asked)?.name, 'imap.example.com');
  const changed = (at: number, value: number) => {
    const bytes = Buffer.from(asked);
    bytes[at] = value;
    return readNameQuestion(bytes);
  };
  assert.equal(changed(12, 0xc0), null);
  assert.equal(changed(5, 2), null);
  assert.equal(changed(asked.length - 1, 3), null);
  assert.equal(changed(2, 0x81), null);
  assert.equal(readNameQuestion(asked.subarray(0, asked.length - 1)), null);
});

test('an answer holds the question and the address', () => {
  const read = readNameQuestion(question('a.org', TYPE_A));
  assert.ok(read);
  const answer = nameAnswer(read, { kind: 'address', address: '127.64.3.232' });
  assert.equal(
    answer.toString('hex'),
    '1234818000010001000000000161036f72670000010001c00c000100010000012c00047f4003e8',
  );
  assert.equal(nameAnswer(read, { kind: 'unknown-name' }).readUInt16BE(2), 0x8183);
});

test('the first bytes tell TLS, HTTP and the rest, also when they come one by one', () => {
  for (const [text, opening] of [
    ['\x16\x03\x01', 'tls'],
    ['GET / HTTP/1.1\r\n', 'http'],
    ['\r\n\r\nPOST /x HTTP/1.0\r\n', 'http'],
    ['get\t/ http/1.1\r\n', 'http'],
    ['PRI * HTTP/2.0\r\n', 'http'],
    ['GET /old\r\n', 'http'],
    ['EHLO me\r\n', 'other'],
    ['A1 LOGIN x y\r\n', 'other'],
    ['get key\r\n', 'other'],
    ['SSH-2.0-OpenSSH\r\n', 'other'],
    ['*1\r\n$4\r\nPING\r\n', 'other'],
    ['\x00\x00\x00\x08\x04\xd2\x16\x2f', 'other'],
  ] as const) {
    const bytes = Buffer.from(text, 'latin1');
    assert.equal(openingOf(bytes), opening, text);
    // No beginning of them is taken for another protocol.
    for (let end = 1; end < bytes.length; end++)
      assert.ok([null, opening].includes(openingOf(bytes.subarray(0, end))), `${end} of ${text}`);
  }
  assert.equal(openingOf(Buffer.from(`VERB /${'x'.repeat(9_000)}`)), 'http');
});

test('a refusal is said in the words of the port', () => {
  assert.equal(farewell(25, 'no').toString(), '554 cordon: no\r\n');
  assert.equal(farewell(143, 'no').toString(), '* BYE [ALERT] cordon: no\r\n');
  assert.equal(farewell(110, 'no').toString(), '-ERR cordon: no\r\n');
  assert.equal(farewell(22, 'no').toString(), 'cordon: no\r\n');
  assert.equal(farewell(5432, 'no').toString('latin1'), 'E\0\0\0\x26SFATAL\0VFATAL\0C28000\0Mcordon: no\0\0');
  assert.equal(farewell(3306, 'no').toString('latin1'), '\x0d\0\0\0\xff\x6a\x04cordon: no');
  assert.equal(farewell(993, 'no').toString('hex'), '15030100020231');
  // Whoever has begun TLS reads nothing else.
  for (const port of [25, 22, 5432, 8443])
    assert.equal(farewell(port, 'no', Buffer.from([22, 3])).toString('hex'), '15030100020231');
  assert.match(farewell(80, 'no').toString(), /^HTTP\/1.1 403 .*content-length: 11\r\n\r\ncordon: no\n$/s);
});
