/** Between the steps of a long text, timers run: also where the step began when a stream had something to read. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs';
import { test } from 'node:test';
import { yieldIfLong } from '../../src/context/event-loop-turn.ts';

const LONG_LENGTH = 1024 * 1024;

/** Whether a timer that is due has run when `step` resolves, which begins where streams are read. */
function runsTimers(step: () => Promise<void>): Promise<boolean> {
  return new Promise((resolve, reject) => {
    readFile(import.meta.filename, () => {
      let hasRun = false;
      setTimeout(() => {
        hasRun = true;
      }, 1);
      const due = performance.now() + 5;
      while (performance.now() < due);
      step().then(() => resolve(hasRun), reject);
    });
  });
}

test('timers that are due run before the next step of a long text', async () => {
  assert.equal(await runsTimers(() => yieldIfLong(LONG_LENGTH)), true);
});

test('a short text goes on at once', async () => {
  assert.equal(await runsTimers(() => yieldIfLong(10)), false);
});
