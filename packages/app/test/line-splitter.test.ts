import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type Line, LineSplitter } from '../src/line-splitter.ts';
import '../../../tools/seed.ts';

function split(longest: number, ...chunks: readonly (string | Uint8Array)[]): readonly Line[] {
  const splitter = new LineSplitter(longest);
  return chunks.flatMap((chunk) => [
    ...splitter.push(typeof chunk === 'string' ? Buffer.from(chunk) : chunk),
  ]);
}
const line = (text: string): Line => ({ kind: 'line', text });

test('lines are found however the bytes are cut', () => {
  assert.deepEqual(split(10, 'a\nb', 'c', '\n', '\n', 'd'), [line('a'), line('bc'), line('')]);
  assert.deepEqual(split(10, Uint8Array.of(0xe2), Uint8Array.of(0x82), Uint8Array.of(0xac, 0x0a)), [
    line('€'),
  ]);
});

test('a line of the limit is a line, one byte more is not, and the next line is whole', () => {
  assert.deepEqual(split(3, 'abc\n'), [line('abc')]);
  assert.deepEqual(split(3, 'abcd\nef\n'), [{ kind: 'too-long' }, line('ef')]);
  assert.deepEqual(split(3, 'abcd', 'efgh', 'ijk\nl\n'), [{ kind: 'too-long' }, line('l')]);
  assert.deepEqual(split(3, 'ab', 'c', '\nabc', 'd\n'), [line('abc'), { kind: 'too-long' }]);
});

test('bytes that are not UTF-8 spoil their own line only', () => {
  assert.deepEqual(split(9, Uint8Array.of(0xff, 0x0a, 0x61, 0x0a)), [{ kind: 'not-utf8' }, line('a')]);
});

test('the lines of any text do not depend on how its bytes are cut', () => {
  const text = fc.array(fc.string({ unit: fc.constantFrom('a', '\n', '€', '😀'), maxLength: 12 }), {
    maxLength: 6,
  });
  fc.assert(
    fc.property(text, fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1 }), (parts, sizes) => {
      const bytes = Buffer.from(parts.join(''));
      const chunks: Uint8Array[] = [];
      for (let at = 0, n = 0; at < bytes.length; n++) {
        const size = sizes[n % sizes.length] ?? 1;
        chunks.push(bytes.subarray(at, at + size));
        at += size;
      }
      assert.deepEqual(split(16, ...chunks), split(16, bytes));
    }),
  );
});
