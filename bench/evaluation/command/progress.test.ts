/** How far a benchmark is, on a terminal and elsewhere. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BenchProgress, type ProgressOptions } from './progress.ts';

class Trial {
  time = 0;
  written = '';

  progress(options: Partial<ProgressOptions> = {}): BenchProgress {
    return new BenchProgress(
      {
        write: (text) => {
          this.written += text;
        },
        isTerminal: true,
        columns: () => 80,
        now: () => this.time,
        style: (_style, text) => text,
        hasUnicode: false,
        ...options,
      },
      'overhead',
    );
  }
}

const half = { done: 2, units: 4, work: 8, workDone: 4 };

test('a terminal has a bar with the time that is left, by the work and not by the number of units', () => {
  const trial = new Trial();
  const progress = trial.progress();
  trial.time = 6000;
  progress.update({ done: 3, units: 4, work: 8, workDone: 2 });
  assert.equal(trial.written, '\r\u001b[Koverhead  ######------------------ 25 %  3 of 4, about 18 s left');
  progress.clear();
  assert.ok(trial.written.endsWith('left\r\u001b[K'));
});

test('a narrow terminal has the line without a bar, and never more than its width', () => {
  for (const columns of [30, 12, 0]) {
    const trial = new Trial();
    trial.time = 1000;
    trial.progress({ columns: () => columns }).update(half);
    assert.ok(trial.written.replace('\r\u001b[K', '').length <= Math.max(10, columns - 1), trial.written);
  }
});

test('a log has a line at each tenth, once, and nothing that a terminal obeys', () => {
  const trial = new Trial();
  const progress = trial.progress({ isTerminal: false });
  trial.time = 4000;
  for (const workDone of [0, 0.5, 1, 1.1, 4, 4.1])
    progress.update({ done: Math.floor(workDone), units: 4, work: 8, workDone });
  progress.clear();
  assert.equal(
    trial.written,
    'overhead: 10 %  1 of 4, about 28 s left\noverhead: 50 %  4 of 4, about 4 s left\n',
  );
});

test('a run in which nothing is left to do is done', () => {
  const trial = new Trial();
  trial.progress({ isTerminal: false }).update({ done: 4, units: 4, work: 0, workDone: 0 });
  assert.equal(trial.written, 'overhead: 100 %  4 of 4\n');
});
