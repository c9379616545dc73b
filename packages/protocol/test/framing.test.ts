import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { LineDecoder } from '../src/index.ts';
import '../../../tools/seed.ts';

const bytes = (text: string) => new TextEncoder().encode(text);

function linesOf(decoder: LineDecoder, ...chunks: Uint8Array[]): readonly string[] {
  return chunks.flatMap((chunk) => {
    const lines = decoder.push(chunk);
    assert.ok(lines.ok, lines.ok ? '' : lines.fault);
    return lines.value;
  });
}

test('lines arrive whole however they were cut, also inside a character', () => {
  const text = bytes('{"a":"größe"}\n{"b":2}\r\n\n{"c"');
  for (let cut = 0; cut <= text.length; cut++) {
    const lines = linesOf(new LineDecoder({ lineBytes: 100 }), text.subarray(0, cut), text.subarray(cut));
    assert.deepEqual(lines, ['{"a":"größe"}', '{"b":2}']);
  }
});

test('a line that never ends is refused before it is kept', () => {
  const decoder = new LineDecoder({ lineBytes: 10 });
  assert.deepEqual(decoder.push(bytes('0123456789')), { ok: true, value: [] });
  assert.deepEqual(decoder.push(bytes('a')), { ok: false, fault: 'a line is longer than 10 bytes' });
});

test('a line of exactly the limit passes', () => {
  assert.deepEqual(linesOf(new LineDecoder({ lineBytes: 10 }), bytes('0123456789\n')), ['0123456789']);
});

test('bytes that are not UTF-8 are refused', () => {
  const decoded = new LineDecoder({ lineBytes: 10 }).push(new Uint8Array([0x22, 0xff, 0x22, 0x0a]));
  assert.deepEqual(decoded, { ok: false, fault: 'a line is not UTF-8' });
});

test('any text cut anywhere gives the same lines', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'grapheme' })), fc.array(fc.nat(200)), (texts, cuts) => {
      const lines = texts.map((text) => text.replace(/[\r\n]/g, '')).filter((text) => text !== '');
      const all = bytes(lines.map((line) => `${line}\n`).join(''));
      const decoder = new LineDecoder({ lineBytes: 1000 });
      const got: string[] = [];
      let at = 0;
      for (const cut of [...cuts, all.length]) {
        const end = Math.min(all.length, at + cut);
        got.push(...linesOf(decoder, all.subarray(at, end)));
        at = end;
      }
      got.push(...linesOf(decoder, all.subarray(at)));
      assert.deepEqual(
        got,
        lines.map((line) => new TextDecoder().decode(bytes(line))),
      );
    }),
    { verbose: 1 },
  );
});

test('a piece of thousands of lines is refused, the same lines one by one are not', () => {
  const line = bytes('1\n');
  const decoder = new LineDecoder({ lineBytes: 10 });
  assert.equal(linesOf(decoder, ...Array.from({ length: 9000 }, () => line)).length, 9000);
  assert.equal(decoder.push(bytes('1\n'.repeat(8192))).ok, true);
  assert.deepEqual(decoder.push(bytes('1\n'.repeat(8193))), {
    ok: false,
    fault: 'there are more than 8192 lines at once',
  });
});
