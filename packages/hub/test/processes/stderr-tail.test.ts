import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { StderrTail } from '../../src/processes/stderr-tail.ts';

async function heard(...pieces: readonly (string | Buffer)[]) {
  const stream = new PassThrough();
  let floods = 0;
  const words = new StderrTail(stream, () => void floods++);
  for (const piece of pieces) {
    if (stream.destroyed) break;
    stream.write(piece);
    await new Promise((resolve) => setImmediate(resolve));
  }
  return { text: words.text, floods, isRead: !stream.destroyed };
}

test('the end of what was said is kept', async () => {
  const { text, floods } = await heard('x'.repeat(100_000), 'line one\n', 'out of paper\n');
  assert.equal(text.length, 4000);
  assert.match(text, /line one\nout of paper\n$/);
  assert.equal(floods, 0);
});

test('a program that logs much at its start is left alone, one that floods is told of once and read no more', async () => {
  const piece = Buffer.alloc(64 * 1024, 'x');
  const busy = await heard(...Array.from({ length: 60 }, () => piece));
  assert.deepEqual([busy.floods, busy.isRead], [0, true]);
  const flooding = await heard(...Array.from({ length: 200 }, () => piece));
  assert.deepEqual([flooding.floods, flooding.isRead], [1, false]);
});
