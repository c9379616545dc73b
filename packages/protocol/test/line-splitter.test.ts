import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { LineSplitter } from '../src/line-splitter.ts';
import '../../../tools/seed.ts';

/** What comes of the pieces: texts, and the words for what is wrong. */
function linesOf(pieces: readonly Uint8Array[], longest = 100): readonly string[] {
  const splitter = new LineSplitter(longest);
  const found = pieces.flatMap((piece) => {
    const lines = [...splitter.push(piece)];
    piece.fill(0x78); // the stream uses its buffer again
    return lines;
  });
  const last = splitter.end();
  return [...found, ...(last === null ? [] : [last])].map((line) => (line.ok ? line.value : line.fault));
}

const pieces = (...texts: readonly string[]) => texts.map((text) => new TextEncoder().encode(text));

test('lines come as they were sent, however they are cut', () => {
  assert.deepEqual(linesOf(pieces('a', 'b\n\nc\r', '\nd')), ['ab', '', 'c', 'd']);
  assert.deepEqual(linesOf(pieces('a\n')), ['a']);
  assert.deepEqual(linesOf(pieces('')), []);
});

test('a line that is too long is said once, and the next one is read', () => {
  assert.deepEqual(linesOf(pieces('12', '34', '56\nab\n'), 3), ['too-long', 'ab']);
  assert.deepEqual(linesOf(pieces('1234\n123\n'), 3), ['too-long', '123']);
  assert.deepEqual(linesOf(pieces('12', '34'), 3), ['too-long']);
});

test('bytes that are no text are said, and the next line is read', () => {
  assert.deepEqual(linesOf([new Uint8Array([0xff, 0x0a, 0x61, 0x0a])]), ['not-utf8', 'a']);
});

test('the lines are the same in whatever pieces they come', () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ maxLength: 60 }).map((bytes) => bytes.map((byte) => (byte % 7 === 0 ? 0x0a : byte))),
      fc.array(fc.nat(60), { maxLength: 6 }),
      (bytes, cuts) => {
        const places = [0, ...cuts.filter((cut) => cut < bytes.length), bytes.length].sort((a, b) => a - b);
        const cut = places.slice(1).map((end, index) => bytes.slice(places[index] ?? 0, end));
        assert.deepEqual(linesOf(cut, 8), linesOf([bytes.slice()], 8));
      },
    ),
  );
});
