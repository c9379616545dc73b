import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ProgressBar } from '../src/report/progress-bar.ts';

const CLEAR = '\r\u001b[K';

class Drawn {
  readonly written: string[] = [];
  time = 0;
  columns = 100;

  bar(taken = 0): ProgressBar {
    return new ProgressBar(
      {
        write: (text) => this.written.push(text),
        columns: () => this.columns,
        now: () => this.time,
        style: (_, text) => text,
        hasUnicode: false,
      },
      taken,
    );
  }
}

const HALF = { taken: 50_000_000, total: 100_000_000, bytes: 50_000_000, violations: 3 };

test('it shows the share, the speed, the time left and what was found, and is gone at the end', () => {
  const drawn = new Drawn();
  const bar = drawn.bar();
  drawn.time = 500;
  bar.update(HALF);
  bar.clear();
  bar.clear();
  assert.deepEqual(drawn.written, [
    `${CLEAR}############------------ 50 %  50.0 MB, 100 MB/s, 1 s left, 3 violations`,
    CLEAR,
  ]);
});

test('it is drawn at most ten times a second', () => {
  const drawn = new Drawn();
  const bar = drawn.bar();
  for (drawn.time = 0; drawn.time < 1000; drawn.time += 7) bar.update(HALF);
  assert.equal(drawn.written.length, 10);
});

test('what an earlier scan has done says nothing about the speed', () => {
  const drawn = new Drawn();
  const bar = drawn.bar(40_000_000);
  drawn.time = 1000;
  bar.update(HALF);
  assert.match(drawn.written[0] ?? '', /10\.0 MB\/s, 5 s left/);
});

test('where nobody knows how much there is, and on a narrow terminal, it has no bar; a share that is known is told', () => {
  const drawn = new Drawn();
  const bar = drawn.bar();
  drawn.time = 1000;
  bar.update({ ...HALF, total: 0, violations: 1 });
  assert.equal(drawn.written[0], `${CLEAR}50.0 MB, 50.0 MB/s, 1 violation`);
  drawn.columns = 21;
  drawn.time = 2000;
  bar.update(HALF);
  assert.equal(drawn.written[1], `${CLEAR}50 %  50.0 MB, 25.0 `);
});
